package records

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// cellWriter writes FormCells.
type cellWriter struct {
	bytes.Buffer
	rows int
}

// header writes the names of the columns.
func (w *cellWriter) header(names []string) {
	for i, name := range names {
		w.cell(i, []byte(name))
	}
	w.WriteString("]\n")
}

// row writes a row of which every cell is a text.
func (w *cellWriter) row(cells ...[]byte) {
	for i, c := range cells {
		if c == nil {
			w.null(i)
		} else {
			w.cell(i, c)
		}
	}
	w.end()
}

func (w *cellWriter) end() {
	w.WriteString("]\n")
	w.rows++
}

func (w *cellWriter) null(i int) {
	w.separate(i)
	w.WriteString("null")
}

func (w *cellWriter) cell(i int, text []byte) {
	w.separate(i)
	if bytes.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == '"' || r == '\\' || r == utf8.RuneError }) {
		quoted, _ := json.Marshal(string(text)) // a string is never refused
		w.Write(quoted)
		return
	}
	w.WriteByte('"')
	w.Write(text)
	w.WriteByte('"')
}

// separate writes what comes before the cell i.
func (w *cellWriter) separate(i int) {
	if i == 0 {
		w.WriteByte('[')
	} else {
		w.WriteByte(',')
	}
}

// table is what was written.
func (w *cellWriter) table(source string) Table {
	return Table{Form: FormCells, Source: source, Count: w.rows, Data: w.Bytes()}
}

// cellLines calls f with the cells of each line of FormCells and FormSnapshot, from
// the header on.
func cellLines(data []byte, f func(cells []Cell) error) error {
	s := scanner{b: data}
	var cells []Cell
	for i := s.space(0); i < len(data); i = s.space(i) {
		if s.at(i) != '[' {
			return errSyntax
		}
		cells = cells[:0]
		i = s.space(i + 1)
		for more := s.at(i) != ']'; more; {
			c, end, err := s.cell(i)
			if err != nil {
				return err
			}
			cells = append(cells, c)
			if i, more, err = s.next(end, ']'); err != nil {
				return err
			}
		}
		if len(cells) == 0 { // no column at all
			i++
		}
		if err := f(cells); err != nil {
			return err
		}
	}
	return nil
}

// cell reads the text or null at i, and returns the index behind it.
func (s *scanner) cell(i int) (c Cell, end int, err error) {
	if s.at(i) == 'n' {
		c.Null = true
		end, err = s.literal(i, "null")
		return c, end, err
	}
	c.Text, end, err = s.unquote(i)
	return c, end, err
}
