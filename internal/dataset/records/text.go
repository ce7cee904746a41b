package records

import (
	"bytes"
	"fmt"
	"slices"
)

// Sources of tables in text.
const (
	sourceMarkdown  = "text:markdown-table"
	sourceDelimited = "text:delimited"
	sourceBlocks    = "text:record-blocks"
)

// minText is how many records a text must have where no line says that it is a table.
const minText = 5

// maxAround is how many lines of text may be before a table, and after it.
const maxAround = 20

// page is a text in lines, which have no line ends.
type page struct {
	text  []byte
	lines []line
}

// line is one line, and where it starts in the text.
type line struct {
	text []byte
	at   int
}

func newPage(text []byte) *page {
	p := &page{text: text, lines: make([]line, 0, bytes.Count(text, []byte("\n"))+1)}
	for at := 0; at < len(text); {
		end := bytes.IndexByte(text[at:], '\n')
		if end < 0 {
			end = len(text) - at
		}
		p.lines = append(p.lines, line{bytes.TrimSuffix(text[at:at+end], []byte("\r")), at})
		at += end + 1
	}
	return p
}

// blank reports whether a line ends what is before it: it is empty, or a fence.
func (l line) blank() bool {
	t := bytes.TrimSpace(l.text)
	return len(t) == 0 || bytes.HasPrefix(t, []byte("```"))
}

// end is where the line ends in the text, before its line end.
func (l line) end() int { return l.at + len(l.text) }

// span is the text of the lines from and before to.
func (p *page) span(from, to int) []byte {
	end := p.lines[to-1].end()
	return p.text[p.lines[from].at:end:end]
}

// match is a table in lines of a text.
type match struct {
	table    Table
	from, to int // lines
	others   []Part
}

// tiers are the ways in which text can be a table. Each looks at all of the text, and
// finds one table that it is sure of, or none.
var tiers = []func(p *page) (match, bool){
	bars, delimited, aligned, longListing, sizeListing, blocks, yamlList, accessibility,
}

// findPlain looks for a table in text that is not JSON.
func findPlain(text []byte) (found Found, why string) {
	if len(text) > MaxBytes {
		return found, fmt.Sprintf("text of %d MB, more than %d", len(text)>>20, MaxBytes>>20)
	}
	text = bytes.TrimPrefix(text, []byte("\uFEFF"))
	if len(text) > long && !promising(text) {
		return found, "text without a table"
	}
	p := newPage(text)
	var matches []match
	for _, tier := range tiers {
		if m, ok := tier(p); ok {
			matches = append(matches, m)
		}
	}
	switch len(matches) {
	case 0:
		return found, "text without a table"
	case 1:
	default: // each is sure, so none can be
		return found, "text that reads as different tables"
	}
	m := matches[0]
	before, table, after := p.around(m)
	if len(before)+len(after) > len(table) {
		return found, "a table that is less than half of the text"
	}
	if why := m.table.limit(); why != "" {
		return found, why
	}
	found = Found{Main: m.table, Others: m.others}
	found.addResidue(before)
	found.addResidue(after)
	return found, ""
}

// A long text is looked at as a whole only if its beginning is a table: what is none
// takes half as much memory again as the text, only to say so.
const (
	long = 1 << 20
	head = 256 << 10
)

// promising reports whether the beginning of a long text is a table. It ends with a
// line, and not within quotes.
func promising(text []byte) bool {
	begin := text[:head]
	for {
		end := bytes.LastIndexByte(begin, '\n')
		if end < 0 {
			return true // one line: nobody knows
		}
		begin = begin[:end]
		if bytes.Count(begin, []byte{'"'})%2 == 0 {
			break
		}
	}
	p := newPage(begin)
	return slices.ContainsFunc(tiers, func(tier func(*page) (match, bool)) bool {
		_, ok := tier(p)
		return ok
	})
}

// around splits the text into a table and what is before and after it, without the
// white space at their ends.
func (p *page) around(m match) (before, table, after []byte) {
	table = p.span(m.from, m.to)
	start := p.lines[m.from].at
	return bytes.TrimSpace(p.text[:start]), table, bytes.TrimSpace(p.text[start+len(table):])
}

// top is the lines on which a table with few lines before it may begin.
func (p *page) top() []line { return p.lines[:min(len(p.lines), maxAround+1)] }

// few reports whether a table from one line to another has few lines around it.
func (p *page) few(from, to int) bool { return from <= maxAround && len(p.lines)-to <= maxAround }

// numbered makes names for the columns of a table that has none.
func numbered(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("column%d", i+1)
	}
	return names
}
