package records

import (
	"fmt"
	"slices"
)

const noteBroken = "what is no valid Unicode in a text is U+FFFD here"

// jsonSchema reads a table in JSON for its columns.
func (t *Table) jsonSchema() (*Schema, error) {
	s := survey{reader: reader{scanner: scanner{b: t.Data}}}
	root := &object{}
	if err := s.each(t.Form, func(i int) (int, error) { return s.object(root, i, 0) }); err != nil {
		return nil, err
	}
	var leaves []*field
	var paths [][]string
	collect(root, nil, func(f *field, path []string) {
		f.column = len(leaves)
		leaves, paths = append(leaves, f), append(paths, path)
	})
	if len(leaves) > MaxColumns {
		return nil, &LimitError{"columns", MaxColumns}
	}
	schema := &Schema{Columns: names(paths), Count: s.row, table: *t, root: root}
	for i, f := range leaves {
		f.typ = f.holds.typ()
		c := &schema.Columns[i]
		c.Type, c.Nulls = f.typ, s.row-f.values
		c.Note = note(f.typ, f.holds, f.looks)
	}
	if s.duplicate != "" {
		schema.Notes = append(schema.Notes, fmt.Sprintf("a row has the key %q twice: the last value counts", cut(s.duplicate, maxName)))
	}
	if s.broken {
		schema.Notes = append(schema.Notes, noteBroken)
	}
	return schema, nil
}

// collect decides which fields are columns and calls f for each, in the order in
// which the keys came.
func collect(o *object, path []string, f func(f *field, path []string)) {
	for _, field := range o.fields {
		path := append(slices.Clip(path), field.key)
		if field.holds == hasObject && len(field.sub.fields) > 0 {
			field.role = branch
			collect(&field.sub, path, f)
		} else {
			f(field, path)
		}
	}
}

// note says what a type does not.
func note(typ Type, holds holds, looks looks) string {
	switch typ {
	case Text:
		return looks.note()
	case Number:
		return "numbers that no numeric type holds exactly: their text"
	case JSON:
		switch {
		case holds&^(hasObject|hasWhole) == 0 && holds&hasWhole != 0:
			return "objects with many keys or levels: JSON of each"
		case holds != hasArray && holds != hasObject:
			return "mixed: JSON of each value"
		}
	}
	return ""
}

// jsonRows reads a table in JSON for its rows.
func (s *Schema) jsonRows(f func(cells []Cell) error) error {
	r := rows{reader: reader{scanner: scanner{b: s.table.Data}}, cells: make([]Cell, len(s.Columns))}
	return r.each(s.table.Form, func(i int) (int, error) {
		for i := range r.cells {
			r.cells[i].Null = true
		}
		end, err := r.object(s.root, i)
		if err != nil {
			return 0, err
		}
		return end, f(r.cells)
	})
}
