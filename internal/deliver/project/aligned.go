package project

import (
	"bytes"
	"fmt"
	"slices"
)

// cutter cuts a line of a space-aligned table into cells; nil says that it is no
// row.
type cutter func(line []byte, cells [][]byte) [][]byte

// mostBefore is how many lines may stand above a space-aligned table.
const mostBefore = 8

// alignedTable reads a table whose columns are aligned by spaces, as ls -l, ps and
// kubectl write them. Each row must fit the columns, or it is no table.
func alignedTable(text []byte) (*table, bool) {
	if bytes.IndexByte(text, '\t') >= 0 {
		return nil, false
	}
	for at, n := 0, 0; at < len(text) && n < mostBefore; n++ {
		line, _, _ := bytes.Cut(text[at:], []byte("\n"))
		next := min(len(text), at+len(line)+1)
		if names := listing(line); names != nil {
			return readAligned(text, "text of ls -l", names, listed, at, at)
		}
		body := next
		rule, _, _ := bytes.Cut(text[next:], []byte("\n"))
		ruled := dashes(rule)
		if ruled {
			body = min(len(text), next+len(rule)+1)
		}
		if names, cut := columnsOf(line, text[body:], ruled); names != nil {
			t, ok := readAligned(text, "text table aligned by spaces", names, cut, at, body)
			return t, ok && (ruled || t.headed())
		}
		at = next
	}
	return nil, false
}

// readAligned reads the rows from body on; the table begins at top.
func readAligned(text []byte, what string, names [][]byte, cut cutter, top, body int) (*table, bool) {
	t := &table{what: what, size: len(text), before: text[:top]}
	t.start(names)
	if head, _, _ := bytes.Cut(text[top:body], []byte("\n")); len(head) > 0 {
		t.lines = append(t.lines, head)
	}
	most := len(t.lines) + sampled
	var cells [][]byte
	for at := body; at < len(text); {
		line, rest, _ := bytes.Cut(text[at:], []byte("\n"))
		if cells = cut(bytes.TrimRight(line, " \r"), cells[:0]); len(cells) != len(names) {
			if t.after = text[at:]; len(t.after) > 300 || bytes.Count(rest, []byte("\n")) > 3 {
				return nil, false
			}
			break
		}
		t.row(cells)
		if len(t.lines) < most {
			t.lines = append(t.lines, line)
		}
		at = len(text) - len(rest)
	}
	again := 0
	for i, c := range names {
		if t.shapes[i].has(c) {
			again++
		}
	}
	return t, t.rows >= fewestLines-1 && again < 2 && t.name(true)
}

// aligned adds the first lines of a table as they are written, so that what is read
// of the others can be laid below, and says how many rows that is.
func (p *page) aligned(lines [][]byte, all string) string {
	head := len(lines) - sampled
	for n := len(lines); n >= head && n > 0; n-- {
		said, note := fmt.Sprintf("first %d of %s:", n-head, all), fmt.Sprintf("the first %d shown", n-head)
		if n == head {
			said, note = "header:", "none shown"
		}
		out := []string{said}
		for _, l := range lines[:n] {
			out = append(out, show(l, maxLine/4))
		}
		if p.put(out) {
			return note
		}
	}
	return "none shown"
}

// headed reports whether the first line is a header for certain: in capitals, or
// without a figure where all rows begin with one.
func (t *table) headed() bool {
	capitals := true
	for _, c := range t.head {
		capitals = capitals && bytes.Equal(c, bytes.ToUpper(c))
	}
	return capitals || slices.ContainsFunc(t.shapes, func(s *shape) bool { return s.figures == s.n })
}

// span is where a word or a name is in a line.
type span struct{ start, end int }

// spans returns the parts of line that at least gap spaces are between.
func spans(line []byte, gap int) (out []span) {
	for i := 0; i < len(line); {
		if line[i] == ' ' {
			i++
			continue
		}
		start, end := i, i
		for blank := 0; i < len(line) && blank < gap; i++ {
			if line[i] == ' ' {
				blank++
			} else {
				blank, end = 0, i+1
			}
		}
		out = append(out, span{start, end})
	}
	return out
}

// columnsOf returns the columns' names if line looks like a header, and how the rows
// below are cut: by words that each stand below their column's name, or by where
// names begin, whichever fits the first rows.
func columnsOf(line, below []byte, ruled bool) ([][]byte, cutter) {
	const looked = 40
	line = bytes.TrimRight(line, " \r")
	words, names := spans(line, 1), spans(line, 2)
	if len(words) < 3 || len(names) < 2 || len(line) > maxLine {
		return nil, nil
	}
	for i, w := range words {
		if !ruled && !titled(line[w.start:w.end]) && (i == 0 || w.end-w.start > 3) { // Mounted on
			return nil, nil
		}
	}
	var rows [][]byte
	fewest := len(words)
	for row := range bytes.Lines(below) {
		row = bytes.TrimRight(row, " \r\n")
		if len(rows) == looked || len(row) == 0 {
			break
		}
		rows = append(rows, row)
		fewest = min(fewest, len(spans(row, 1)))
	}
	if len(rows) < 3 {
		return nil, nil
	}
	rows = rows[:max(3, len(rows)-3)] // the last ones may stand below the table
	for _, row := range rows {
		fewest = min(fewest, len(spans(row, 1)))
	}
	if fewest >= 3 {
		words = words[:fewest]
		words[fewest-1].end = len(line)
		if cut := byWords(words); fits(cut, rows) {
			return pick(line, words), cut
		}
	}
	if len(names) >= 3 {
		if cut := byPlace(names); fits(cut, rows) {
			return pick(line, names), cut
		}
	}
	return nil, nil
}

// titled reports whether a word may stand in a header: it begins with a capital, a
// sign or the size of what is counted, as 1K-blocks, and does not end a sentence.
func titled(w []byte) bool {
	letters := 0
	for _, c := range w {
		if letter(c) {
			letters++
		}
	}
	switch c := w[0]; {
	case c >= 'A' && c <= 'Z', c == '%' || c == '#', c >= '1' && c <= '9' && letters >= 4 && !dated(string(w)):
		return bytes.IndexByte([]byte(".,;:!?"), w[len(w)-1]) < 0
	}
	return false
}

func fits(cut cutter, rows [][]byte) bool {
	var cells [][]byte
	for _, row := range rows {
		if cells = cut(row, cells[:0]); cells == nil {
			return false
		}
	}
	return true
}

func pick(line []byte, at []span) (out [][]byte) {
	for _, s := range at {
		out = append(out, bytes.TrimSpace(line[s.start:s.end]))
	}
	return out
}

// byWords cuts rows into words, the last column being the rest of the line. Every
// cell must stand below its column's name, at least in part.
func byWords(columns []span) cutter {
	last := len(columns) - 1
	return func(line []byte, cells [][]byte) [][]byte {
		i := 0
		for at := 0; at < len(line) && i <= last; i++ {
			for at < len(line) && line[at] == ' ' {
				at++
			}
			end := len(line)
			if n := bytes.IndexByte(line[at:], ' '); n >= 0 && i < last {
				end = at + n
			}
			if at >= columns[i].end || end <= columns[i].start {
				return nil
			}
			cells = append(cells, line[at:end])
			at = end
		}
		if i <= last {
			return nil
		}
		return cells
	}
}

// byPlace cuts rows where the columns' names begin. Cells begin there too, or are
// empty.
func byPlace(columns []span) cutter {
	return func(line []byte, cells [][]byte) [][]byte {
		for i, c := range columns {
			end := len(line)
			if i+1 < len(columns) {
				end = min(end, columns[i+1].start)
			}
			cell := bytes.TrimRight(line[min(c.start, end):end], " ")
			switch {
			case i == 0 && (len(cell) == 0 || len(bytes.TrimSpace(line[:min(c.start, end)])) > 0):
				return nil
			case len(cell) > 0 && (cell[0] == ' ' || c.start > 0 && line[c.start-1] != ' '):
				return nil
			case i+1 < len(columns) && bytes.ContainsFunc(cell, func(r rune) bool { return r >= 0x80 }): // may be wider than it is long
				return nil
			}
			cells = append(cells, cell)
		}
		return cells
	}
}
