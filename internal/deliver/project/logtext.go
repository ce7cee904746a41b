package project

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// log projects a log: levels, times, every kind of error and warning with an
// example, other kinds by their number, the first and last lines.
func (in Input) log(text []byte, look outlook) Projection {
	var l logbook
	l.read(text, look.stamped*10 >= look.outer()*7)
	p := in.page(Budget)
	p.add(show([]byte(fmt.Sprintf("log: %s, %d bytes%s", count(l.lines, "line"), len(text), l.span())), 300))
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

// errors adds the kinds of errors and warnings, each with an example as long as
// they all fit, and says what it shows. It leaves spare, and more where it can.
func (p *page) errors(bad []*template, spare, more int) string {
	const head = "errors and warnings, an example each (times, lines, the first one's text):"
	texts := tell(bad, (*template).first, false)
	at := apart(texts)
	for _, c := range []struct{ chars, stack, spare int }{
		{240, 6, spare + more}, {200, 4, spare + more}, {160, 3, spare + more}, {120, 2, spare + more}, {100, 1, spare + more},
		{80, 1, spare}, {80, 0, spare}, {60, 0, spare}, {60, 0, left},
	} {
		if c.stack == 0 {
			texts = tell(bad, (*template).first, true)
			at = apart(texts)
		}
		lines := []string{head}
		for i, t := range bad {
			lines = append(lines, t.lines(texts[i], at[i], c.chars, c.stack)...)
		}
		if p.putLeaving(c.spare, lines) {
			return fmt.Sprintf("all %s of errors and warnings shown", count(len(bad), "kind"))
		}
	}
	alike := together(bad)
	for _, set := range [][]*template{bad, alike} {
		for _, chars := range []int{80, 60, 48, 36} {
			if p.putLeaving(left, terse(set, chars)) {
				if len(set) < len(bad) {
					return fmt.Sprintf("all %d kinds of errors and warnings shown, %d where they are alike", len(bad), len(set))
				}
				return fmt.Sprintf("all %s of errors and warnings shown, without an example", count(len(bad), "kind"))
			}
		}
	}
	return p.someErrors(alike, len(bad))
}

// someErrors adds as many kinds as fit.
func (p *page) someErrors(set []*template, all int) string {
	lo, hi := 0, len(set)
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; p.fits(3*left, terse(set[:mid], 36)) {
			lo = mid
		} else {
			hi = mid
		}
	}
	if lo > 0 {
		p.put(terse(set[:lo], 36))
	}
	text := fmt.Sprintf("%d of %d kinds of errors and warnings are not shown", len(set)-lo, len(set))
	p.add("… " + text)
	if all > len(set) {
		text += fmt.Sprintf(" (%d before alike ones were put together)", all)
	}
	return text
}

// terse lists kinds without examples, below the names of their levels, without
// what all of them begin with.
func terse(set []*template, chars int) []string {
	head := "errors and warnings (times, line of the first, * varies, … cut"
	texts := tell(set, (*template).masked, true)
	tagged := true
	for _, t := range texts {
		tagged = tagged && tag(t) > 0
	}
	if tagged {
		for i, t := range texts {
			texts[i] = t[tag(t):]
		}
		head += ", without the […] in front"
	}
	common := shared(texts)
	if len(common) > 0 {
		head += fmt.Sprintf(", each begins with %q", common)
	}
	for i, t := range texts {
		texts[i] = t[len(common):]
	}
	lines := []string{head + "):"}
	last, at := -1, apart(texts)
	for i, t := range set {
		if t.level != last {
			last = t.level
			lines = append(lines, levelNames[last]+":")
		}
		text := around(texts[i], chars, at[i])
		if k := strings.LastIndex(text, "… (+"); k >= 0 && strings.HasSuffix(text, " chars)") {
			text = text[:k] + "…"
		}
		if t.kinds > 1 {
			text += fmt.Sprintf(" (%d alike)", t.kinds)
		}
		lines = append(lines, fmt.Sprintf("×%d L%d %s", t.count, t.line, text))
	}
	return lines
}

// tell returns a text for each template. Where no stack is shown and only the
// exceptions in it tell two apart, they are part of the text.
func tell(set []*template, text func(*template) []byte, exceptions bool) [][]byte {
	out := make([][]byte, len(set))
	seen := map[string]int{}
	for i, t := range set {
		out[i] = bytes.TrimSpace(told(text(t)))
		if exceptions {
			seen[string(formOf(out[i]).text)]++
		}
	}
	for i, t := range set {
		if !exceptions || seen[string(formOf(out[i]).text)] < 2 {
			continue
		}
		for _, s := range t.stack {
			if exception(s) || hasPrefix(s, "Caused by") {
				out[i] = append(append(slices.Clip(out[i]), " | "...), bytes.TrimSpace(s)...)
			}
		}
	}
	return out
}

// tag returns the length of the name in brackets that text begins with, a thread
// or a component, and the space behind it.
func tag(text []byte) int {
	if len(text) == 0 || text[0] != '[' {
		return 0
	}
	i := bytes.Index(text[:min(len(text), 60)], []byte("] "))
	if i < 0 {
		return 0
	}
	return i + 2
}

// shared returns the words that all texts begin with.
func shared(texts [][]byte) []byte {
	common := texts[0]
	for _, t := range texts[1:] {
		common = prefix(common, t)
	}
	common = common[:bytes.LastIndexByte(common, ' ')+1]
	if len(common) < 4 || len(common) > 200 || len(texts) < 2 {
		return nil
	}
	return common
}

// lines shows a template by the text of its first line, which other ones share up
// to a place, and the start of its stack.
func (t *template) lines(text []byte, at, chars, stack int) []string {
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
	out := []string{fmt.Sprintf("%s ×%d %s%s: %s", levelNames[t.level], t.count, where, kinds, around(text, chars, at))}
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
