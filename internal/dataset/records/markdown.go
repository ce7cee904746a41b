package records

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
)

// style is how a table with bars is drawn.
type style struct {
	outer   bool // bars at both ends of a line
	border  bool // as MySQL: lines of +---+ above the header, below it and at the end
	escapes bool // as Markdown: \| is a bar in a cell
}

// barReader splits lines with bars into cells.
type barReader struct {
	style
	cells []Cell
	arena []byte
}

// split returns the cells of a line, as they are between the bars.
func (r *barReader) split(text []byte) ([]Cell, error) {
	r.cells, r.arena = r.cells[:0], r.arena[:0]
	if r.outer {
		text = bytes.TrimSpace(text)
		if len(text) < 2 || text[0] != '|' || text[len(text)-1] != '|' || r.escapes && text[len(text)-2] == '\\' {
			return nil, errRecord
		}
		text = text[1 : len(text)-1]
	}
	escaped := r.escapes && bytes.Contains(text, []byte(`\|`))
	for {
		n := bytes.IndexByte(text, '|')
		for escaped && n > 0 && text[n-1] == '\\' {
			next := bytes.IndexByte(text[n+1:], '|')
			if next < 0 {
				n = -1
			} else {
				n += 1 + next
			}
		}
		cell := text
		if n >= 0 {
			cell = text[:n]
		}
		r.cells = append(r.cells, Cell{Text: cell})
		if n < 0 {
			return r.cells, nil
		}
		text = text[n+1:]
	}
}

// trim takes the padding from cells; an empty one is null.
func (r *barReader) trim(cells []Cell) {
	for i := range cells {
		c := &cells[i]
		c.Text = bytes.Trim(c.Text, " \t")
		c.Null = len(c.Text) == 0
		if r.escapes && bytes.Contains(c.Text, []byte(`\|`)) {
			start := len(r.arena)
			for part := range bytes.SplitSeq(c.Text, []byte(`\|`)) {
				if len(r.arena) > start {
					r.arena = append(r.arena, '|')
				}
				r.arena = append(r.arena, part...)
			}
			c.Text = r.arena[start:len(r.arena):len(r.arena)]
		}
	}
}

// barLines calls f with the cells of each line of a table with bars, the header first.
func barLines(data []byte, f func(cells []Cell) error) error {
	p := newPage(data)
	if len(p.lines) < 2 {
		return errRecord
	}
	style, first := styleOf(p.lines)
	r := barReader{style: style}
	for i := first; i < len(p.lines); i++ {
		text := p.lines[i].text
		if r.border && bytes.HasPrefix(text, []byte("+")) || i == first+1 {
			continue
		}
		cells, err := r.split(text)
		if err != nil {
			return err
		}
		r.trim(cells)
		if err := f(cells); err != nil {
			return err
		}
	}
	return nil
}

// styleOf returns how a table is drawn, and which of its lines is the header.
func styleOf(lines []line) (s style, header int) {
	if bytes.HasPrefix(lines[0].text, []byte("+-")) {
		return style{outer: true, border: true}, 1
	}
	rule := bytes.TrimSpace(lines[1].text)
	return style{outer: bytes.HasPrefix(rule, []byte("|")), escapes: !rulePsql.Match(rule)}, 0
}

var (
	// ruleMarkdown is the line below a header: |:--|--:| or ---|---, and ----+---- of psql.
	ruleMarkdown = regexp.MustCompile(`^\s*\|?(\s*:?-+:?\s*\|)*\s*:?-+:?\s*\|?\s*$`)
	rulePsql     = regexp.MustCompile(`^-+(\+-+)+$`)
	ruleMySQL    = regexp.MustCompile(`^\+(-+\+)+$`)
	// footer says how many rows there were.
	footer = regexp.MustCompile(`^\(?(\d+) rows?(\)| in set)`)
)

// bars finds a table with bars: the one with most rows.
func bars(p *page) (best match, ok bool) {
	for i := 0; i+1 < len(p.lines); i++ {
		m, found := p.bars(i)
		if !found {
			continue
		}
		if m.table.Count < 0 { // malformed: then none is to be trusted
			return best, false
		}
		if ok && min(m.table.Count, best.table.Count) >= minMain { // two tables: which one is meant?
			return best, false
		}
		if m.table.Count > best.table.Count {
			best, ok = m, true
		}
		i = m.to - 1
	}
	return best, ok && best.table.Count >= minMain
}

// bars reads a table whose first line is from; its count is negative if it is
// malformed.
func (p *page) bars(from int) (m match, ok bool) {
	columns, ok := p.rule(from)
	if !ok {
		return m, false
	}
	malformed := match{table: Table{Count: -1}}
	style, first := styleOf(p.lines[from:])
	r := barReader{style: style}
	var sides []padding
	to, count, closed := from+first, -1, !r.border
	for ; to < len(p.lines) && !p.lines[to].blank(); to++ {
		text := p.lines[to].text
		if to == from+first+1 {
			continue
		}
		if r.border && ruleMySQL.Match(text) {
			to++
			closed = true
			break
		}
		if footer.Match(text) && !bytes.Contains(text, []byte("|")) {
			break
		}
		cells, err := r.split(text)
		if err != nil || len(cells) != columns || count >= 0 && noRecord(cells) {
			return malformed, true
		}
		if sides = seePadding(sides, cells); !r.outer && continued(cells) {
			return malformed, true
		}
		count++
	}
	if n, ok := p.footer(to); ok && n != count || !closed || !r.escapes && !aligns(sides) {
		return malformed, true
	}
	return match{from: from, to: to, table: Table{Form: FormMarkdown, Source: sourceMarkdown, Count: count, Data: p.span(from, to)}}, true
}

// rule reports whether a table begins at the line i, and how many columns the line
// below its header has.
func (p *page) rule(i int) (columns int, ok bool) {
	first, second := p.lines[i].text, p.lines[i+1].text
	switch {
	case bytes.HasPrefix(first, []byte("+-")) && ruleMySQL.Match(first):
		return bytes.Count(first, []byte("+")) - 1, i+2 < len(p.lines) && bytes.Equal(first, p.lines[i+2].text)
	case !bytes.Contains(first, []byte("|")):
	case rulePsql.Match(second):
		return bytes.Count(second, []byte("+")) + 1, true
	case bytes.Contains(second, []byte("|")) && ruleMarkdown.Match(second):
		inner := bytes.Trim(bytes.TrimSpace(second), "|")
		return bytes.Count(inner, []byte("|")) + 1, true
	}
	return 0, false
}

// footer returns how many rows the line at i says that there were.
func (p *page) footer(i int) (n int, ok bool) {
	if i == len(p.lines) {
		return 0, false
	}
	m := footer.FindSubmatch(p.lines[i].text)
	if m == nil {
		return 0, false
	}
	n, err := strconv.Atoi(string(m[1]))
	return n, err == nil
}

// continued reports whether psql goes on with a cell in the next line.
func continued(cells []Cell) bool {
	return slices.ContainsFunc(cells, func(c Cell) bool { return bytes.HasSuffix(c.Text, []byte(" +")) })
}

// padding is how the cells of a column stand between their bars. A program aligns a
// column to one side; a cell that stands off the other has white space of its own,
// which would be lost.
type padding struct{ left, right bool }

// seePadding notes the cells of a row; a header is often centred.
func seePadding(columns []padding, cells []Cell) []padding {
	if columns == nil {
		return make([]padding, len(cells))
	}
	for i, c := range cells {
		if len(bytes.TrimSpace(c.Text)) > 0 {
			columns[i].left = columns[i].left || bytes.HasPrefix(c.Text, []byte("  "))
			columns[i].right = columns[i].right || bytes.HasSuffix(c.Text, []byte("  "))
		}
	}
	return columns
}

// aligns reports whether each column is aligned to one side.
func aligns(columns []padding) bool {
	return !slices.ContainsFunc(columns, func(c padding) bool { return c.left && c.right })
}

// noRecord reports whether a row is a rule between two tables, or says that rows are
// left out.
func noRecord(cells []Cell) bool {
	for _, c := range cells {
		if len(bytes.TrimSpace(c.Text)) < len("...") || len(bytes.Trim(c.Text, " -:.…")) > 0 {
			return false
		}
	}
	return true
}
