package project

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// errors adds the kinds of errors and warnings, each with an example as long as
// they all fit, and says what it shows. It leaves spare, and more where it can. It
// rather shows less of each than two that look the same.
func (p *page) errors(bad []*template, spare, more int) string {
	head := p.failures() + ", an example each (times, lines, the first one's text):"
	var alike []string // the longest that fits, but in which some look the same
	texts := tell(bad, (*template).first, false)
	for _, c := range []struct{ chars, stack, spare int }{
		{240, 6, spare + more}, {200, 4, spare + more}, {160, 3, spare + more}, {120, 2, spare + more}, {100, 1, spare + more},
		{80, 1, spare}, {80, 0, spare}, {60, 0, spare}, {60, 0, left},
	} {
		if c.stack == 0 {
			texts = tell(bad, (*template).first, true)
		}
		lines := []string{head}
		seen := make([]string, len(bad))
		cut := cutApart(texts, c.chars)
		for i, t := range bad {
			own := t.lines(cut[i], c.chars, c.stack)
			lines = append(lines, own...)
			seen[i] = t.mark() + cut[i] + strings.Join(own[1:], "")
		}
		switch {
		case !p.fits(c.spare, lines):
		case len(lookalikes(seen)) > 0:
			if alike == nil {
				alike = lines
			}
		default:
			p.put(lines)
			return fmt.Sprintf("all %s of %s shown", count(len(bad), "kind"), p.failures())
		}
	}
	few := together(bad)
	for _, set := range [][]*template{bad, few} {
		for _, chars := range []int{80, 60, 48, 36, 26, 18} {
			lines, same := p.terse(set, chars)
			if same > 0 || !p.putLeaving(left, lines) {
				continue
			}
			if len(set) < len(bad) {
				return fmt.Sprintf("all %d kinds of %s shown, %d where they are alike", len(bad), p.failures(), len(set))
			}
			return fmt.Sprintf("all %s of %s shown, without an example", count(len(bad), "kind"), p.failures())
		}
	}
	if alike != nil && p.put(alike) {
		return fmt.Sprintf("%s of %s listed, some of which look alike here", count(len(bad), "kind"), p.failures())
	}
	return p.someErrors(few, len(bad))
}

// mark tells levels apart in what is compared: of their names, digits would not.
func (t *template) mark() string { return string(rune('a'+t.level)) + ": " }

// failures is what errors calls what it lists.
func (p *page) failures() string {
	if p.loose {
		return "lines that speak of a failure"
	}
	return "errors and warnings"
}

// someErrors adds as many kinds as fit.
func (p *page) someErrors(set []*template, all int) string {
	const chars = 36
	lo, hi := 0, len(set)+1
	for hi-lo > 1 {
		mid := (lo + hi) / 2
		if lines, _ := p.terse(set[:mid], chars); p.fits(3*left, lines) {
			lo = mid
		} else {
			hi = mid
		}
	}
	same := 0
	if lo > 0 {
		var lines []string
		lines, same = p.terse(set[:lo], chars)
		p.put(lines)
	}
	text := fmt.Sprintf("%d of %d kinds of %s are not shown", len(set)-lo, len(set), p.failures())
	if same > 0 {
		text += fmt.Sprintf(", %d of those shown look alike", same)
	}
	p.add("… " + text)
	if all > len(set) {
		text += fmt.Sprintf(" (%d before alike ones were put together)", all)
	}
	return text
}

// terse lists kinds without examples, below the names of their levels, without
// what all of them begin with. It says how many look like another.
func (p *page) terse(set []*template, chars int) (lines []string, same int) {
	head := p.failures() + " (times, line of the first, * varies, … cut"
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
		head += fmt.Sprintf(", each begins with %q", show(common, 200))
	}
	for i, t := range texts {
		texts[i] = t[len(common):]
	}
	lines = []string{head + "):"}
	last, cut := -1, cutApart(texts, chars)
	seen := make([]string, len(set))
	for i, t := range set {
		if t.level != last {
			last = t.level
			lines = append(lines, levelNames[last]+":")
		}
		text := cut[i]
		if k := strings.LastIndex(text, "… (+"); k >= 0 && strings.HasSuffix(text, " chars)") {
			text = text[:k] + "…"
		}
		seen[i] = t.mark() + text
		if t.kinds > 1 {
			text += fmt.Sprintf(" (%d alike)", t.kinds)
		}
		lines = append(lines, fmt.Sprintf("×%d L%d %s", t.count, t.line, text))
	}
	for _, g := range lookalikes(seen) {
		same += len(g)
	}
	return lines, same
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
	if len(common) < 4 || len(texts) < 2 {
		return nil
	}
	return common
}
