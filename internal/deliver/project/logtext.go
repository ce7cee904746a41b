package project

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// log projects a log: levels, times, every kind of error and warning with an
// example, other kinds by their number, the first and last lines. what says what
// it is where it is no text of lines.
func (in Input) log(text []byte, look outlook, what string) Projection {
	var l logbook
	l.read(text, look.stamped*10 >= look.outer()*7)
	p := in.page(Budget)
	if what == "" {
		what = fmt.Sprintf("log: %s, %d bytes", count(l.lines, "line"), len(text))
	}
	p.add(show([]byte(what+l.span()), 300))
	p.add(l.levelLine())
	bad, other := l.sorted()
	edges := l.edges(text, p.tokens/4)
	spare := cost(strings.Join(edges, "\n"))
	if len(other) > 0 {
		spare += left
	}
	if l.beyond > 0 {
		spare += 2 * left
	}
	note := fmt.Sprintf("%s of %s", count(l.lines, "line"), count(len(bad)+len(other), "kind"))
	if len(bad) > 0 {
		note += ", " + p.errors(bad, spare, min(120, 30*len(other)))
	}
	if len(other) > 0 { // its own line is part's to keep
		spare -= left
	}
	part := p.part(p.tokens - spare)
	had := part.tokens
	shown := part.others(other)
	p.join(part, had)
	if shown < len(other) {
		note += fmt.Sprintf(", %d of %d other kinds shown", shown, len(other))
	}
	if l.beyond > 0 {
		beyond := fmt.Sprintf("%d more lines (%d errors and warnings) are of further kinds, not counted", l.beyond, l.beyondBad)
		p.add("… " + beyond)
		note += ", " + beyond
	}
	p.put(edges)
	return Projection{Kind: KindLog, Text: p.b.String(), Note: note}
}

func (l *logbook) span() string {
	if l.from == nil {
		return ""
	}
	return fmt.Sprintf(", %s to %s", l.from, l.to)
}

// levelLine counts the lines of each level, the worst first.
func (l *logbook) levelLine() string {
	var list []string
	for lv := levels - 1; lv >= 0; lv-- {
		if n := l.levels[lv]; n > 0 {
			list = append(list, fmt.Sprintf("%s %d", levelNames[lv], n))
		}
	}
	text := strings.Join(list, ", ")
	if belong := l.lines - l.events; belong > 0 {
		text += fmt.Sprintf("; %d more lines belong to these or are empty", belong)
	}
	return text
}

// sorted returns the templates of errors and warnings, the worst first, and the
// others, the most frequent first.
func (l *logbook) sorted() (bad, other []*template) {
	for _, t := range l.templates {
		if t.level >= levelBad {
			bad = append(bad, t)
		} else {
			other = append(other, t)
		}
	}
	slices.SortStableFunc(bad, func(a, b *template) int { return b.level - a.level })
	slices.SortStableFunc(other, func(a, b *template) int { return cmp.Compare(b.count, a.count) })
	return bad, other
}

// edges are the first and last lines, as many as tokens allow.
func (l *logbook) edges(text []byte, tokens int) []string {
	lines := [][]byte{}
	first, rest, _ := bytes.Cut(text, []byte("\n"))
	lines = append(lines, first)
	rest = bytes.TrimRight(rest, "\r\n")
	for range 2 {
		i := bytes.LastIndexByte(rest, '\n')
		if len(rest) == 0 {
			break
		}
		lines = slices.Insert(lines, 1, rest[i+1:])
		rest = rest[:max(0, i)]
	}
	for _, c := range []struct{ last, chars int }{{2, 200}, {2, 120}, {1, 160}, {1, 100}, {1, 60}} {
		out := []string{"first line: " + show(lines[0], c.chars)}
		if last := lines[max(1, len(lines)-c.last):]; len(last) == 1 {
			out = append(out, "last line: "+show(last[0], c.chars))
		} else if len(last) > 1 {
			out = append(out, "last lines:", show(last[0], c.chars), show(last[1], c.chars))
		}
		if cost(strings.Join(out, "\n")) <= tokens {
			return out
		}
	}
	return nil
}

// left is what a line that says how many are left out may cost.
const left = 24

// lines shows a template by the text of its first line, cut already, and the start
// of its stack.
func (t *template) lines(text string, chars, stack int) []string {
	kinds := ""
	if t.kinds > 1 {
		kinds = fmt.Sprintf(", %d kinds alike", t.kinds)
	}
	where := fmt.Sprintf("L%d", t.line)
	if chars >= 160 {
		for _, l := range t.also {
			where += fmt.Sprintf(" L%d", l)
		}
		if t.count > len(t.also)+1 {
			where += " …"
		}
	}
	out := []string{fmt.Sprintf("%s ×%d %s%s: %s", levelNames[t.level], t.count, where, kinds, text)}
	shown := 0
	for _, i := range telltale(t.stack, stack) {
		out = append(out, "  "+show(bytes.TrimSpace(t.stack[i]), min(chars, 120)))
		shown++
	}
	if more := t.stacked - shown; more > 0 {
		out[len(out)-1] += fmt.Sprintf(" … +%d lines", more)
	}
	return out
}

// told puts what logfmt has from msg= on to the front, so that cutting it costs
// the name of a file and not the reason.
func told(example []byte) []byte {
	i := bytes.Index(example, []byte(" msg="))
	if i <= 0 {
		return example
	}
	return append(append(append([]byte{}, example[i+1:]...), ' '), example[:i]...)
}

// telltale picks at most n of the lines below an error: those that name
// exceptions first, then the first ones.
func telltale(stack [][]byte, n int) []int {
	var out []int
	for i, s := range stack {
		if len(out) < n && (exception(bytes.TrimSpace(s)) || hasPrefix(bytes.TrimSpace(s), "Caused by") || bad(s)) {
			out = append(out, i)
		}
	}
	for i := range stack {
		if len(out) < n && !slices.Contains(out, i) {
			out = append(out, i)
		}
	}
	slices.Sort(out)
	return out
}

// together joins templates of one level that differ in quoted strings, paths and
// values alone.
func together(all []*template) (out []*template) {
	have := map[uint64]*template{}
	for _, t := range all {
		h := coarse(t.example[:t.fixed])*31 + uint64(t.level)
		for _, s := range t.stack {
			if exception(s) {
				h = h*31 + coarse(s)
			}
		}
		if old := have[h]; old != nil {
			old.absorb(t)
			continue
		}
		have[h] = t.clone()
		out = append(out, have[h])
	}
	return out
}

// others adds the other kinds of lines by how many there are, and returns how
// many kinds it shows.
func (p *page) others(set []*template) int {
	if len(set) == 0 {
		return 0
	}
	n, lines := 0, 0
	p.tokens -= left
	head := p.add("other lines (times, line of the first, * varies):")
	for _, t := range set {
		if !head || !p.addf("%s ×%d L%d: %s", levelNames[t.level], t.count, t.line, show(bytes.TrimSpace(t.masked()), 140)) {
			break
		}
		n++
	}
	for _, t := range set[n:] {
		lines += t.count
	}
	p.tokens += left
	if n < len(set) {
		p.addf("… %d more kinds of other lines (%d times)", len(set)-n, lines)
	}
	return n
}
