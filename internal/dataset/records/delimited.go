package records

import (
	"bytes"
	"errors"
	"regexp"
	"slices"
)

var errRecord = errors.New("malformed record")

// fieldReader reads records of fields with a delimiter, quoted as in RFC 4180.
type fieldReader struct {
	b         []byte
	delimiter byte
	cells     []Cell
	arena     []byte // quoted texts with doubled quotes, of the record at hand
}

// record reads the record at i into cells, and returns the index of the next one. An
// empty field is null; "" is an empty text.
func (r *fieldReader) record(i int) (next int, err error) {
	r.cells, r.arena = r.cells[:0], r.arena[:0]
	for {
		var c Cell
		if i < len(r.b) && r.b[i] == '"' {
			c.Text, i, err = r.quoted(i + 1)
		} else {
			c.Text, i, err = r.plain(i)
			c.Null = len(c.Text) == 0
		}
		if err != nil {
			return 0, err
		}
		r.cells = append(r.cells, c)
		switch {
		case i == len(r.b):
			return i, nil
		case r.b[i] == r.delimiter:
			i++
		case r.b[i] == '\n':
			return i + 1, nil
		case r.b[i] == '\r' && i+1 == len(r.b):
			return i + 1, nil
		case r.b[i] == '\r' && r.b[i+1] == '\n':
			return i + 2, nil
		default: // after a closing quote
			return 0, errRecord
		}
	}
}

// plain reads a field without quotes. A quote amidst it is none where fields are
// mostly not quoted, but malformed where commas ask for quotes.
func (r *fieldReader) plain(i int) (text []byte, end int, err error) {
	end = i
	for end < len(r.b) && r.b[end] != r.delimiter && r.b[end] != '\n' {
		if r.b[end] == '"' && r.delimiter == ',' {
			return nil, 0, errRecord
		}
		end++
	}
	if end > i && r.b[end-1] == '\r' && (end == len(r.b) || r.b[end] == '\n') {
		end--
	}
	return r.b[i:end:end], end, nil
}

// quoted takes the index after an opening quote and returns that after the closing one.
func (r *fieldReader) quoted(i int) (text []byte, end int, err error) {
	start, copied := i, len(r.arena)
	for {
		n := bytes.IndexByte(r.b[i:], '"')
		if n < 0 {
			return nil, 0, errRecord
		}
		i += n + 1
		if i == len(r.b) || r.b[i] != '"' {
			break
		}
		i++ // a doubled quote: the text has one
		r.arena = append(r.arena, r.b[start:i-1]...)
		start = i
	}
	if len(r.arena) == copied {
		return r.b[start : i-1 : i-1], i, nil
	}
	r.arena = append(r.arena, r.b[start:i-1]...)
	return r.arena[copied:len(r.arena):len(r.arena)], i, nil
}

// delimitedLines calls f with the fields of each record.
func delimitedLines(data []byte, delimiter string, f func(cells []Cell) error) error {
	if len(delimiter) != 1 {
		return errors.New("a delimiter is one byte")
	}
	r := fieldReader{b: data, delimiter: delimiter[0]}
	for i := 0; i < len(data); {
		next, err := r.record(i)
		if err != nil {
			return err
		}
		if err := f(r.cells); err != nil {
			return err
		}
		i = next
	}
	return nil
}

// delimiters in the order in which they are trusted: a comma is the one that texts and
// numbers have most.
var delimiters = []byte{'\t', ';', '|', ','}

// delimited finds lines with a delimiter.
func delimited(p *page) (m match, ok bool) {
	if slices.ContainsFunc(p.top(), func(l line) bool { return bytes.HasPrefix(l.text, []byte("@@ -")) }) {
		return m, false // a diff, of a table perhaps
	}
	for _, d := range delimiters {
		if m, ok = p.delimited(d); ok {
			return m, true
		}
	}
	return m, false
}

// fields notes what a column has, below a header if there is one.
type fields struct {
	first           heading // of the first record
	values, numbers int     // of the others
	spaced          bool    // a cell has white space at an end
}

// heading is what a cell of the first record would be as the name of a column.
type heading uint8

const (
	noName heading = iota // it is empty
	aName
	aYear   // which often is a name
	aNumber // no name
)

// delimited reads the lines from the first on that the delimiter d splits.
func (p *page) delimited(d byte) (m match, ok bool) {
	least := 3
	if d == '\t' { // which prose has not
		least = 2
	}
	from := slices.IndexFunc(p.top(), func(l line) bool { return bytes.Count(l.text, []byte{d})+1 >= least && !l.blank() })
	if from < 0 {
		return m, false
	}
	start := p.lines[from].at
	r := fieldReader{b: p.text, delimiter: d}
	var columns []fields
	end, count, rivals := start, 0, rivalsOf(d)
	for end < len(p.text) {
		next, err := r.record(end)
		if err != nil {
			return m, false
		}
		if len(r.cells) == 1 && (line{text: p.text[end:next]}).blank() {
			break
		}
		if columns == nil {
			columns = make([]fields, len(r.cells))
		}
		if len(r.cells) != len(columns) {
			return m, false
		}
		for i := range r.cells {
			columns[i].see(&r.cells[i], count == 0)
		}
		for i := range rivals {
			rivals[i].see(p.text[end:next], count == 0)
		}
		count++
		end = next
	}
	to, _ := slices.BinarySearchFunc(p.lines, end, func(l line, end int) int { return l.at - end })
	headed, sure := header(columns)
	ambiguous := slices.ContainsFunc(rivals, func(r rival) bool { return r.count > 0 })
	if !sure || ambiguous || !p.plainAround(from, to, d, len(columns)) {
		return m, false
	}
	m = match{from: from, to: to, table: Table{Form: FormDelimited, Source: sourceDelimited, Count: count, Delimiter: string(d)}}
	m.table.Data = p.span(from, to)
	if headed {
		m.table.Count--
	} else {
		m.table.Header = numbered(len(columns))
	}
	return m, m.table.Count >= minText && tidy(columns, d)
}

// see notes a cell.
func (f *fields) see(c *Cell, first bool) {
	if c.Null {
		return
	}
	numeric := isNumeric(c.Text) || decimalComma(c.Text)
	if n := len(c.Text); n > 0 && (c.Text[0] == ' ' || c.Text[n-1] == ' ') {
		f.spaced = true
	}
	switch {
	case first && numeric && len(c.Text) == 4 && allDigits(c.Text):
		f.first = aYear
	case first && (numeric || missing.Match(c.Text)):
		f.first = aNumber
	case first:
		f.first = aName
	default:
		f.values++
		if numeric {
			f.numbers++
		}
	}
}

// missing is what stands for a number that is not there.
var missing = regexp.MustCompile(`(?i)^(n/?a|nan|null|none|unknown|-+|\?)$`)

// header reports whether the first record is a header: a column has numbers but for
// there. sure is false if no column has numbers, which a table must have to be told
// from prose, or if the columns disagree.
func header(columns []fields) (headed, sure bool) {
	var named, counted, empty int
	for _, c := range columns {
		numeric := c.numbers > 0 && c.numbers == c.values
		switch {
		case c.first == noName:
			empty++
		case c.first == aName && numeric:
			named++
		case c.first == aNumber && numeric:
			counted++
		}
	}
	if named > 0 {
		return true, counted == 0 && empty <= 1 // an index often has no name
	}
	return false, counted > 0
}

// tidy reports whether the cells are as a program writes them. Bars with spaces around
// the cells are another form.
func tidy(columns []fields, d byte) bool {
	return d != '|' || !slices.ContainsFunc(columns, func(c fields) bool { return c.spaced })
}

// decimalComma reports whether text is a number as much of Europe writes it.
func decimalComma(text []byte) bool {
	return bytes.Count(text, []byte(",")) == 1 && isNumeric(bytes.Replace(text, []byte(","), []byte("."), 1))
}

// rival is another delimiter. One that all records have equally often might be the
// true one.
type rival struct {
	delimiter byte
	count     int // of each record; -1 if they differ
}

// rivalsOf returns those that are to be counted: a comma might be part of a number
// between semicolons, but nothing is part of a tab.
func rivalsOf(d byte) []rival {
	if d == ',' {
		return []rival{{delimiter: ';'}, {delimiter: '\t'}}
	}
	return nil
}

func (r *rival) see(record []byte, first bool) {
	if r.count < 0 {
		return
	}
	if n := bytes.Count(record, []byte{r.delimiter}); n > 0 && (first || n == r.count) {
		r.count = n
	} else {
		r.count = -1
	}
}

// plainAround reports whether the lines around a table are none of its rows: they have
// fewer delimiters, and none unless an empty line is between.
func (p *page) plainAround(from, to int, d byte, columns int) bool {
	if !p.few(from, to) {
		return false
	}
	apart := false
	for i := from - 1; i >= 0; i-- {
		apart = apart || p.lines[i].blank()
		if n := bytes.Count(p.lines[i].text, []byte{d}); n > 0 && !apart || n >= columns-1 {
			return false
		}
	}
	for _, l := range p.lines[to:] {
		if bytes.Count(l.text, []byte{d}) >= columns-1 {
			return false
		}
	}
	return true
}
