package project

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"heddle/internal/deliver/estimate"
)

// headTail shows the beginning and the end of text, and of the lines between them
// every kind that speaks of a failure.
func (in Input) headTail(text []byte) Projection {
	p := in.page(Budget)
	lines := lineCount(text)
	p.addf("text: %s, %d bytes", count(lines, "line"), len(text))
	ends := p.part(p.tokens)
	note := ends.ends(text)
	if note == "" {
		return Projection{}
	}
	if bad := failing(text); !allIn(bad, ends.b.String()) {
		part := p.part(p.tokens * 9 / 20)
		part.loose = true
		had := part.tokens
		told := part.errors(bad, 0, 0)
		p.join(part, had)
		ends = p.part(p.tokens)
		if note = ends.ends(text); note == "" { // the rest fits beside them
			note = "nothing left out"
		}
		note += ", " + told
	}
	p.join(ends, p.tokens)
	return Projection{Kind: KindHeadTail, Text: p.b.String(), Note: note}
}

// failing returns the kinds of lines in text, which is no log, that have the level
// of an error or a warning or speak of a failure.
func failing(text []byte) []*template {
	const prose = 400 // longer lines have such words for other reasons
	l := logbook{byHash: map[uint64]*template{}}
	if lineCount(text) < 8 {
		return nil
	}
	var slots []slot
	n := 0
	for line := range bytes.Lines(text) {
		n++
		line = bytes.TrimRight(line, "\r\n")
		t := bytes.TrimSpace(line)
		if len(t) == 0 || frame(t) {
			continue
		}
		e := plainEvent(line[:min(len(line), 4096)])
		if e.level < levelBad && (e.level != levelNone || len(line) > prose || !bad(t) && !crash(t)) {
			continue
		}
		e.message = t // a word that is no level by rule belongs to what is said
		slots = l.add(e, nil, 0, n, slots[:0])
	}
	bad, _ := l.sorted()
	return bad
}

// allIn reports whether shown has each line of set already.
func allIn(set []*template, shown string) bool {
	for _, t := range set {
		if t.count > 1 || !strings.Contains(shown, string(t.example)) {
			return false
		}
	}
	return true
}

// ends fills p with the first and last lines of text and a line between them
// that says how much is missing. It returns that line, or "" if nothing is
// missing.
func (p *page) ends(text []byte) string {
	const between = 30 // tokens of the line between
	body := bytes.TrimRight(text, "\r\n")
	tokens, size := max(0, p.tokens-between), max(0, p.bytes-120)
	head := window(body, tokens*3/5, size*3/5, false)
	tail := window(body[head:], tokens*2/5, size*2/5, true)
	if head+tail >= len(body) {
		return ""
	}
	middle := body[head : len(body)-tail]
	for _, l := range split(body[:head]) {
		p.add(show(l, maxLine-100))
	}
	// The break before the tail belongs to the middle, so it is no line of its own.
	n := lineCount(bytes.Trim(middle, "\n"))
	note := fmt.Sprintf("%s (%d bytes) left out", count(n, "line"), len(middle))
	if bytes.IndexByte(bytes.Trim(middle, "\n"), '\n') < 0 && (head > 0 && body[head-1] != '\n') {
		note = fmt.Sprintf("%d bytes of this line left out", len(middle))
	}
	p.add("… " + note + " …")
	if tail > 0 {
		for _, l := range split(body[len(body)-tail:]) {
			p.add(show(l, maxLine-100))
		}
	}
	return note
}

// window returns how many bytes of b, from its start or its end, cost at most
// the given tokens and bytes: whole lines if that is at least a third of what
// would fit, else up to a rune.
func window(b []byte, tokens, size int, end bool) int {
	lo, hi := 0, min(len(b), size, tokens*8)
	part := func(n int) []byte {
		if end {
			return b[len(b)-n:]
		}
		return b[:n]
	}
	hi = runeCut(b, hi, end)
	if spent(part(hi)) <= tokens {
		lo = hi
	}
	for hi-lo > 16 {
		mid := runeCut(b, (lo+hi)/2, end)
		if mid <= lo {
			break
		}
		if spent(part(mid)) <= tokens {
			lo = mid
		} else {
			hi = mid
		}
	}
	if lo == len(b) {
		return lo
	}
	if end {
		if i := bytes.IndexByte(part(lo), '\n'); i >= 0 && lo-i-1 >= lo/3 {
			return lo - i - 1
		}
		return min(lo, maxLine/2)
	}
	if i := bytes.LastIndexByte(part(lo), '\n'); i >= lo/3 {
		return i + 1
	}
	return runeCut(b, min(lo, maxLine/2), end)
}

// spent is what b costs when it is shown line by line.
func spent(b []byte) (tokens int) {
	for line := range bytes.Lines(b) {
		tokens += estimate.Text(line) + 1
	}
	return tokens
}

// runeCut returns the largest number of bytes up to n that splits no rune.
func runeCut(b []byte, n int, end bool) int {
	for n > 0 && n < len(b) {
		at := n
		if end {
			at = len(b) - n
		}
		if utf8.RuneStart(b[at]) {
			break
		}
		n--
	}
	return n
}
