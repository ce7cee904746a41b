package project

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// table is records that stand in a text: CSV, TSV, a Markdown table.
type table struct {
	what    string
	head    [][]byte // the first line of cells: the columns' names, or a row
	columns []string
	named   bool // the columns' names are the table's own
	shapes  []*shape
	first   [][]string // the first rows
	lines   [][]byte   // in place of these: the header and the first rows as they are written, aligned
	rows    int
	before  []byte // text before the table
	after   []byte
	size    int
	torn    int // cells that look cut out of code or of a table by width
	spaced  int // cells behind a space, as words are behind a comma
	ended   int // rows that end as sentences do
}

const fewestLines = 10 // below, a text with separators is no table

// tableIn finds the table that most of text is.
func tableIn(text []byte) (*table, bool) {
	if bytes.Count(text, []byte("\n")) < fewestLines {
		return nil, false
	}
	if t, ok := markdownTable(text); ok {
		return t, true
	}
	if t, ok := delimited(text, '\t'); ok {
		return t, true
	}
	if t, ok := alignedTable(text); ok {
		return t, true
	}
	for _, d := range []byte{',', ';', '|'} {
		if t, ok := delimited(text, d); ok {
			return t, true
		}
	}
	return nil, false
}

// delimited reads text as lines of cells with the separator d. Any line that has
// another number of cells than the others makes it no table, but for a few lines
// before the first row and after the last.
func delimited(text []byte, d byte) (*table, bool) {
	fewest := 3
	if d == '\t' {
		fewest = 2
	}
	n := usualCells(text, d)
	if n < fewest {
		return nil, false
	}
	t := &table{what: map[byte]string{',': "CSV", '\t': "TSV", ';': "CSV with semicolons", '|': "table with bars"}[d], size: len(text)}
	var cells [][]byte
	rest, before, ruled := text, 0, false
	for len(rest) > 0 {
		var line []byte
		line, cells, rest = record(rest, d, cells[:0])
		if len(cells) != n {
			switch {
			case t.head == nil && before < 4:
				before++
				t.before = text[:len(text)-len(rest)]
			case t.head != nil && t.rows == 0 && !ruled && dashes(line):
				ruled = true
			case len(rest) <= 300 && bytes.Count(rest, []byte("\n")) <= 3:
				t.after = text[len(text)-len(rest)-len(line):]
				rest = nil
			case len(bytes.TrimSpace(line)) > 0:
				return nil, false
			}
			continue
		}
		if d == '|' {
			trim(cells)
		}
		if t.head == nil {
			t.start(cells)
			continue
		}
		t.row(cells)
	}
	return t, t.head != nil && t.name(ruled) && t.rows >= fewestLines-1 && t.plausible(d)
}

// dashes reports whether a line is a rule below a header.
func dashes(line []byte) bool {
	return bytes.Contains(line, []byte("--")) && len(bytes.Trim(line, "-+=| \r\n")) == 0
}

func trim(cells [][]byte) {
	for i, c := range cells {
		cells[i] = bytes.TrimSpace(c)
	}
}

// usualCells returns how many cells most of the first lines have, 0 if they do
// not agree.
func usualCells(text []byte, d byte) int {
	seen := map[int]int{}
	lines := 0
	var cells [][]byte
	for rest := text[:min(len(text), 64<<10)]; len(rest) > 0 && lines < 60; lines++ {
		_, cells, rest = record(rest, d, cells[:0])
		seen[len(cells)]++
	}
	for n, c := range seen {
		if n > 1 && c*10 >= lines*8 {
			return n
		}
	}
	return 0
}

// record returns the first line of b, its cells without quotes, and the rest.
// A line break within quotes is part of a cell.
func record(b []byte, d byte, cells [][]byte) (line []byte, _ [][]byte, rest []byte) {
	start := 0
	for i := 0; i <= len(b); i++ {
		if i == start && i < len(b) && b[i] == '"' && d != '|' {
			if n := quoted(b[i:], d); n > 0 {
				cells = append(cells, unquoteCell(b[i+1:i+n-1]))
				if i += n; i < len(b) && b[i] == '\r' {
					i++
				}
				if i >= len(b) || b[i] == '\n' {
					return b[:min(len(b), i+1)], cells, b[min(len(b), i+1):]
				}
				start = i + 1
				continue
			}
		}
		switch {
		case i == len(b) || b[i] == '\n':
			cells = append(cells, bytes.TrimSuffix(b[start:i], []byte("\r")))
			return b[:min(len(b), i+1)], cells, b[min(len(b), i+1):]
		case b[i] == d:
			cells = append(cells, b[start:i])
			start = i + 1
		}
	}
	return b, cells, nil
}

// quoted returns the length of the quoted cell that b begins with, or 0.
func quoted(b []byte, d byte) int {
	for i := 1; i < len(b) && i < 64<<10; i++ {
		if b[i] != '"' {
			continue
		}
		if i+1 < len(b) && b[i+1] == '"' {
			i++
			continue
		}
		if i+1 == len(b) || b[i+1] == d || b[i+1] == '\n' || b[i+1] == '\r' {
			return i + 1
		}
		return 0
	}
	return 0
}

func unquoteCell(c []byte) []byte {
	if bytes.IndexByte(c, '"') < 0 {
		return c
	}
	return bytes.ReplaceAll(c, []byte(`""`), []byte(`"`))
}

func (t *table) row(cells [][]byte) {
	t.rows++
	for i, c := range cells {
		s := t.shapes[i]
		s.n++
		if i > 0 && len(c) > 1 && c[0] == ' ' && c[1] != ' ' {
			t.spaced++
		}
		if digits(c) > 0 {
			s.figures++
		}
		k := number(c)
		s.kinds[k]++
		switch k {
		case kindNull:
			continue
		case kindInt, kindFloat:
			s.number(bytes.TrimSpace(c))
		case kindString:
			if bytes.Count(c, []byte("(")) != bytes.Count(c, []byte(")")) || bytes.Contains(bytes.TrimSpace(c), []byte("   ")) {
				t.torn++
			}
		}
		s.scalar(c)
	}
	if sentence(cells[len(cells)-1]) {
		t.ended++
	}
	if len(t.first) < sampled {
		t.first = append(t.first, words(cells))
	}
}

// words copies a row.
func words(cells [][]byte) (row []string) {
	for _, c := range cells {
		row = append(row, string(c))
	}
	return row
}

// number returns the kind of a cell. A number with a leading zero is a string: an
// id or a code.
func number(c []byte) int {
	c = bytes.TrimSpace(c)
	if len(c) == 0 {
		return kindNull
	}
	kind, i := kindInt, 0
	if c[0] == '-' {
		i++
	}
	if i == len(c) || c[i] == '0' && i+1 < len(c) && c[i+1] != '.' {
		return kindString
	}
	dot := false
	for ; i < len(c); i++ {
		if c[i] == '.' && !dot && i+1 < len(c) {
			kind, dot = kindFloat, true
		} else if c[i] < '0' || c[i] > '9' {
			return kindString
		}
	}
	return kind
}

// plausible reports whether the rows, which d separates, look like data: the
// cells are short, and it is not prose with as many commas in each line.
func (t *table) plausible(d byte) bool {
	if t.size >= t.rows*len(t.columns)*200 || t.torn >= t.rows {
		return false
	}
	if d != ',' && d != ';' || t.spaced*10 < t.rows*(len(t.columns)-1)*9 {
		return true
	}
	return t.ended*2 < t.rows && slices.ContainsFunc(t.shapes, (*shape).numeric)
}

// sentence reports whether a cell ends as a sentence does.
func sentence(c []byte) bool {
	c = bytes.TrimRight(c, " \r\"'")
	for _, end := range [...]string{".", "!", "?", "。", "！", "？"} {
		if bytes.HasSuffix(c, []byte(end)) {
			return true
		}
	}
	return false
}

// markdownTable reads a table with bars and a line of dashes below its header.
func markdownTable(text []byte) (*table, bool) {
	if !bytes.Contains(text, []byte("---")) {
		return nil, false
	}
	t := &table{what: "Markdown table", size: len(text)}
	var header []byte // the line before, until the table has begun
	at, top, inside := 0, 0, 0
	for raw := range bytes.Lines(text) {
		start := at
		at += len(raw)
		line := bytes.TrimSpace(raw)
		switch {
		case t.head == nil && !rule(line):
			header, top = line, start
		case t.head == nil:
			if !hasPrefix(header, "|") {
				return nil, false
			}
			t.before = text[:top]
			t.start(bars(header))
		case !hasPrefix(line, "|"):
			t.after = text[start:]
			return t, t.name(true) && t.mostOf(inside)
		default:
			c := bars(line)
			if len(c) != len(t.head) {
				return nil, false
			}
			t.row(c)
			inside += len(raw)
		}
	}
	return t, t.head != nil && t.name(true) && t.mostOf(inside)
}

// mostOf reports whether the rows, which take size bytes, are most of the text.
func (t *table) mostOf(size int) bool { return t.rows >= fewestRows && size*2 >= t.size }

// rule reports whether a line is the one below a Markdown table's header.
func rule(line []byte) bool {
	return len(line) > 4 && line[0] == '|' && bytes.Contains(line, []byte("---")) && len(bytes.Trim(line, "|-: ")) == 0
}

// bars splits a line of a Markdown table.
func bars(line []byte) [][]byte {
	line = bytes.TrimSuffix(bytes.TrimPrefix(line, []byte("|")), []byte("|"))
	cells := bytes.Split(line, []byte("|"))
	trim(cells)
	return cells
}

// table projects a table: its columns and first rows.
func (in Input) table(t *table) Projection {
	p := in.page(Budget)
	p.addf("%s: %s, %s, %d bytes", t.what, count(t.rows, "row"), count(len(t.columns), "column"), t.size)
	if !t.named {
		p.add("no line with the columns' names")
	}
	p.quote("before it: ", t.before, 200)
	p.quote("after it: ", t.after, 200)
	part := p.part(p.tokens * 3 / 5)
	had := part.tokens
	note := part.profile(t)
	p.join(part, had)
	shown := p.first(t)
	return Projection{Kind: KindTable, Text: p.b.String(), Note: fmt.Sprintf("%s, %s%s", count(t.rows, "row"), shown, note)}
}

// first adds the first rows, and says how many.
func (p *page) first(t *table) string {
	all := count(t.rows, "row")
	if t.lines != nil {
		return p.aligned(t.lines, all)
	}
	var rows []map[string]string
	for _, r := range t.first {
		row := map[string]string{}
		for i, c := range r {
			row[t.columns[i]] = tidy(c, 40)
		}
		rows = append(rows, row)
	}
	return p.grid(t.columns, rows, all)
}

// profile adds a line a column, or all on one where there are too many.
func (p *page) profile(t *table) string {
	for _, chars := range []int{40, 20, 12} {
		var lines []string
		for i, c := range t.columns {
			lines = append(lines, tidy(c, 60)+t.shapes[i].cells(chars))
		}
		if p.put(lines) {
			return ""
		}
	}
	var names []string
	for i, c := range t.columns {
		names = append(names, tidy(c, 40)+" "+t.shapes[i].types())
	}
	if p.add(strings.Join(names, ", ")) {
		return ""
	}
	n := 0
	for n < len(names) && p.add(names[n]) {
		n++
	}
	return fmt.Sprintf("; %d of %d columns not named", len(names)-n, len(names))
}

// cells describes a column.
func (s *shape) cells(chars int) string {
	empty := s.kinds[kindNull]
	if empty == s.n {
		return ": empty"
	}
	text := ": "
	if s.seen == nil || s.seen.n == 1 {
		text += "always " + show(s.first, chars)
		if empty > 0 {
			text = ": " + show(s.first, chars)
		}
	} else {
		text += s.texts(chars)
	}
	if empty > 0 {
		text += fmt.Sprintf(", empty ×%d", empty)
	}
	return text
}

// texts is values for cells, which have no quotes.
func (s *shape) texts(chars int) string {
	q := *s
	d := *s.seen
	d.values = nil
	for _, v := range s.seen.values {
		d.values = append(d.values, []byte(tidy(string(v), chars)))
	}
	q.seen = &d
	return q.values(chars)
}
