package project

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"heddle/internal/deliver/estimate"
)

// page gathers lines within bounds: tokens, bytes, and characters of a line.
type page struct {
	b             strings.Builder
	tokens, bytes int  // what is left
	loose         bool // of a text that is no log: its errors are so by their words
}

// page returns an empty page of in's bounds.
func (in Input) page(usual int) *page {
	return &page{tokens: in.budget(usual), bytes: in.MaxBytes}
}

// add adds a line if it fits.
func (p *page) add(line string) bool {
	if len(line) > maxLine {
		line = show([]byte(line), maxLine-40)
	}
	cost := cost(line)
	if cost > p.tokens || len(line)+1 > p.bytes {
		return false
	}
	p.tokens -= cost
	p.bytes -= len(line) + 1
	p.b.WriteString(line)
	p.b.WriteByte('\n')
	return true
}

// addf adds a formatted line if it fits.
func (p *page) addf(format string, args ...any) bool { return p.add(fmt.Sprintf(format, args...)) }

// put adds all of lines or none.
func (p *page) put(lines []string) bool { return p.putLeaving(0, lines) }

// putLeaving adds all of lines if that leaves some tokens, or none.
func (p *page) putLeaving(some int, lines []string) bool {
	if !p.fits(some, lines) {
		return false
	}
	for _, l := range lines {
		p.add(l)
	}
	return true
}

// fits reports whether all of lines fit and leave some tokens.
func (p *page) fits(some int, lines []string) bool {
	tokens, size := 0, 0
	for _, l := range lines {
		tokens += cost(l)
		size += len(l) + 1
	}
	return tokens+some <= p.tokens && size <= p.bytes
}

// part returns a page of at most tokens out of what is left of p.
func (p *page) part(tokens int) *page {
	return &page{tokens: min(tokens, p.tokens), bytes: p.bytes}
}

// join adds what is on part.
func (p *page) join(part *page, had int) {
	p.tokens -= had - part.tokens
	p.bytes -= part.b.Len()
	p.b.WriteString(part.b.String())
}

// cost is what a line costs with its end.
func cost(line string) int { return estimate.Text([]byte(line)) + 1 }

// show returns s on one line for people and models: control characters and
// invalid bytes replaced, at most limit characters, and how many were cut.
func show(s []byte, limit int) string {
	s = bytes.TrimRight(s, " \t\r\n")
	cut, n := len(s), 0
	for i := 0; i < len(s); n++ {
		if n == limit {
			cut = i
			break
		}
		_, size := utf8.DecodeRune(s[i:])
		i += size
	}
	out := strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return r
		case unicode.IsControl(r), r == '\u2028', r == '\u2029':
			return ' '
		}
		return r
	}, strings.ToValidUTF8(string(s[:cut]), "\uFFFD"))
	if cut < len(s) {
		out += fmt.Sprintf("… (+%d chars)", utf8.RuneCount(s[cut:]))
	}
	return out
}

// split returns the lines of text without their ends.
func split(text []byte) [][]byte {
	text = bytes.TrimRight(text, "\r\n")
	lines := bytes.Split(text, []byte("\n"))
	for i, l := range lines {
		lines[i] = bytes.TrimSuffix(l, []byte("\r"))
	}
	return lines
}

// lineCount returns how many lines text has.
func lineCount(text []byte) int {
	n := bytes.Count(text, []byte("\n"))
	if len(text) > 0 && text[len(text)-1] != '\n' {
		n++
	}
	return n
}
