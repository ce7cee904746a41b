package records

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"heddle/internal/wire"
)

// eachText calls f with the cells of each record of a table in text; the first is the
// header, if first is true.
func (t *Table) eachText(f func(cells []Cell, first bool) error) error {
	first := true
	record := func(cells []Cell) error {
		err := f(cells, first && t.Header == nil)
		first = false
		return err
	}
	switch t.Form {
	case FormMarkdown:
		return barLines(t.Data, record)
	case FormDelimited:
		return delimitedLines(t.Data, t.Delimiter, record)
	case FormCells, FormSnapshot:
		return cellLines(t.Data, record)
	}
	return fmt.Errorf("unknown form %q", t.Form)
}

// textColumn is what the first pass notes of a column of texts.
type textColumn struct {
	values int
	holds  holds
	looks  looks
	scale  int // digits after the point that all values have; -1 if they differ
}

// textSchema reads a table in text for its columns.
func (t *Table) textSchema() (*Schema, error) {
	schema := &Schema{table: *t}
	header := t.Header
	columns := make([]textColumn, len(header))
	broken := false
	err := t.eachText(func(cells []Cell, first bool) error {
		if first {
			for _, c := range cells {
				header = append(header, string(c.Text))
			}
			columns = make([]textColumn, len(header))
			return nil
		}
		if len(cells) != len(columns) {
			return fmt.Errorf("row %d has %s of %d", schema.Count+1, counted(len(cells), "cell"), len(columns))
		}
		if schema.Count++; schema.Count > MaxRows {
			return &LimitError{"rows", MaxRows}
		}
		for i := range cells {
			if c := &cells[i]; !c.Null {
				columns[i].see(c.Text)
				broken = broken || !utf8.Valid(c.Text)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(header) > MaxColumns {
		return nil, &LimitError{"columns", MaxColumns}
	}
	paths := make([][]string, len(header))
	for i, name := range header {
		paths[i] = []string{name}
	}
	schema.Columns = names(paths)
	for i := range columns {
		columns[i].describe(&schema.Columns[i], schema)
	}
	if broken {
		schema.Notes = append(schema.Notes, noteBroken)
	}
	return schema, nil
}

// describe says what was seen of a column. Those of a snapshot are texts, as their
// types are known from before.
func (c *textColumn) describe(to *SchemaColumn, s *Schema) {
	to.Nulls = s.Count - c.values
	switch to.Type = c.typ(); {
	case s.table.Form == FormSnapshot && to.Type != Null:
		to.Type = Text
	case to.Type == Text:
		to.Note = c.note()
	}
}

// see notes a text, which is the first if there was none before.
func (c *textColumn) see(text []byte) {
	scale := scaleOf(text)
	if c.values++; c.values == 1 {
		c.looks, c.scale = allLooks, scale
	}
	if scale != c.scale {
		c.scale = -1
	}
	if c.holds&hasText == 0 {
		c.holds |= textKind(text)
	}
	if c.looks != 0 {
		c.looks &= look(text)
	}
}

// typ is the type that prints as all of the texts. Unlike numbers in JSON texts with
// and without a fraction have none in common, as a double prints both alike. Decimals
// with a fixed number of places, as money has, are texts whether or not one of them
// ends in the zero that a double drops.
func (c *textColumn) typ() Type {
	switch typ := c.holds.typ(); {
	case typ == Double && (c.holds != hasDouble || c.scale > 1), typ == Number, typ == JSON:
		return Text
	default:
		return typ
	}
}

// note is a hint for whoever queries a column of texts.
func (c *textColumn) note() string {
	if c.looks == looksNumber && c.scale > 1 {
		return fmt.Sprintf("decimals as text: cast to DECIMAL(18,%d)", c.scale)
	}
	return c.looks.note()
}

// scaleOf is how many digits follow the point of a decimal.
func scaleOf(text []byte) int {
	if point := bytes.LastIndexByte(text, '.'); point >= 0 {
		return len(text) - point - 1
	}
	return 0
}

// textKind says what a text is the printed form of.
func textKind(text []byte) holds {
	if s := string(text); s == "true" || s == "false" {
		return hasBool
	}
	s := scanner{b: text}
	end, integer, err := s.number(0)
	switch {
	case err != nil || end != len(text):
		return hasText
	case integer:
		if kind := numberKind(text, true); kind != hasOdd {
			return kind
		}
		return hasText
	case printsAlike(text):
		return hasDouble
	}
	return hasText
}

// printsAlike reports whether a double prints as text: with the fewest digits, at
// least one of them after the point, and without an exponent.
func printsAlike(text []byte) bool {
	f, err := strconv.ParseFloat(string(text), 64)
	if err != nil || math.Abs(f) >= 1e15 || f != 0 && math.Abs(f) < 1e-4 {
		return false
	}
	var buf [32]byte
	printed := strconv.AppendFloat(buf[:0], f, 'f', -1, 64)
	if f == math.Trunc(f) {
		printed = append(printed, '.', '0')
	}
	return bytes.Equal(printed, text)
}

// textRows reads a table in text for its rows.
func (s *Schema) textRows(f func(cells []Cell) error) error {
	return s.table.eachText(func(cells []Cell, first bool) error {
		if first {
			return nil
		}
		if len(cells) != len(s.Columns) {
			return errSyntax // Schema has accepted other data
		}
		for i := range cells {
			if err := cells[i].convert(s.Columns[i].Type); err != nil {
				return err
			}
		}
		return f(cells)
	})
}

// convert fills in the value of a type that prints as the cell's text.
func (c *Cell) convert(typ Type) (err error) {
	if c.Null {
		return nil
	}
	switch typ {
	case Integer:
		c.Int, err = strconv.ParseInt(string(c.Text), 10, 64)
	case Double:
		c.Float, err = strconv.ParseFloat(string(c.Text), 64)
	case Boolean:
		c.Bool = string(c.Text) == "true"
	case Text:
		c.Text, _ = wire.Clean(c.Text)
	}
	return err
}
