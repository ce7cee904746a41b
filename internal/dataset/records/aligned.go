package records

import (
	"bytes"
	"regexp"
	"slices"
	"unicode/utf8"
)

// aligned finds a table whose columns start below names in capitals, two spaces apart
// at least, as kubectl and docker print it.
func aligned(p *page) (m match, ok bool) {
	from := slices.IndexFunc(p.top(), func(l line) bool { return capitals.Match(l.text) })
	if from < 0 {
		return m, false
	}
	return p.aligned(from)
}

var (
	capitals = regexp.MustCompile(`^[A-Z][A-Z0-9_()/%-]*( [A-Z0-9_()/%-]+)*( {2,}[A-Z][A-Z0-9_()/%-]*( [A-Z0-9_()/%-]+)*){2,} *$`)
	gap      = regexp.MustCompile(` {2,}`)
)

// aligned reads the table with a header at the line from.
func (p *page) aligned(from int) (m match, ok bool) {
	head := bytes.TrimRight(p.lines[from].text, " ")
	starts, names := []int{0}, []string{}
	last := 0
	for _, g := range gap.FindAllIndex(head, -1) {
		names = append(names, string(head[last:g[0]]))
		last = g[1]
		starts = append(starts, last)
	}
	names = append(names, string(head[last:]))
	var w cellWriter
	w.header(names)
	to := from + 1
	cells := make([][]byte, len(names))
	for ; to < len(p.lines) && !p.lines[to].blank(); to++ {
		if !columnsAt(p.lines[to].text, starts, cells) {
			return m, false
		}
		w.row(cells...)
	}
	m = match{from: from, to: to, table: w.table(sourceDelimited)}
	return m, m.table.Count >= minText && p.few(from, to)
}

// columnsAt cuts a line before each of the starts, which count runes. A cell must begin
// exactly there, with two spaces before it, or be empty.
func columnsAt(text []byte, starts []int, cells [][]byte) bool {
	at := 0
	for k := range starts {
		cells[k] = nil
		end := len(text)
		if k+1 < len(starts) {
			end = skipRunes(text, at, starts[k+1]-starts[k])
		}
		cell := text[at:end]
		trimmed := bytes.TrimRight(cell, " ")
		switch {
		case len(trimmed) == 0:
			if k == 0 {
				return false // an indented line goes on with the one before
			}
		case trimmed[0] == ' ', end < len(text) && len(cell)-len(trimmed) < 2:
			return false
		default:
			cells[k] = trimmed
		}
		at = end
	}
	return true
}

// skipRunes returns the index n runes after at, or the end.
func skipRunes(b []byte, at, n int) int {
	for ; n > 0 && at < len(b); n-- {
		_, size := utf8.DecodeRune(b[at:])
		at += size
	}
	return at
}
