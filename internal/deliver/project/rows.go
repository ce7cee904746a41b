package project

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"heddle/internal/wire"
)

// fewestRows is from how many records on an array is a table.
const fewestRows = 5

// records returns the array of objects that makes up most of a document of size
// bytes, and its path; nil if there is none to depth 2.
func (s *shape) records(size int) (string, *shape) {
	path, best := "", (*shape)(nil)
	consider := func(p string, a *shape) {
		if a.n == 1 && a.items != nil && a.total >= fewestRows && a.items.kinds[kindObject]*10 >= a.total*8 &&
			a.items.each == nil && a.size*2 >= size && (best == nil || a.size > best.size) {
			path, best = p, a
		}
	}
	consider("the whole", s)
	for _, f := range s.fields {
		consider(show(f.key, 60), f.value)
		for _, g := range f.value.fields {
			if f.value.n == 1 && f.value.kinds[kindObject] == 1 {
				consider(show(f.key, 60)+"."+show(g.key, 60), g.value)
			}
		}
	}
	return path, best
}

// columns returns the dotted paths of the scalars in an array's items, to depth 2
// of them.
func (s *shape) columns() (out []string) {
	for _, f := range s.items.fields {
		v := f.value
		if len(v.fields) == 0 {
			out = append(out, unescaped(f.key))
			continue
		}
		for _, g := range v.fields {
			out = append(out, unescaped(f.key)+"."+unescaped(g.key))
		}
	}
	return out
}

// cells returns a record's values by dotted path.
func cells(row []byte) map[string]string {
	out := map[string]string{}
	const longest = 40
	_ = wire.Members(row, func(key string, v json.RawMessage) bool {
		out[key] = cell(v, longest)
		if v[0] == '{' {
			_ = wire.Members(v, func(inner string, w json.RawMessage) bool {
				out[key+"."+inner] = cell(w, longest)
				return true
			})
		}
		return true
	})
	return out
}

// cell shows a value in a row: strings without quotes, what is nested by its
// size.
func cell(v []byte, longest int) string {
	switch v[0] {
	case '"':
		t, _ := wire.Unquote(v)
		return tidy(t, longest)
	case '{', '[':
		if len(v) <= 24 {
			return show(bytes.Join(bytes.Fields(v), []byte(" ")), longest)
		}
		if v[0] == '[' {
			return fmt.Sprintf("[%d bytes]", len(v))
		}
		return fmt.Sprintf("{%d bytes}", len(v))
	}
	return show(v, 80)
}

// tidy makes a cell of t: no tabs, no line breaks, not long.
func tidy(t string, longest int) string {
	return show([]byte(strings.NewReplacer("\t", " ", "\n", `\n`, "\r", "").Replace(t)), longest)
}

// rows adds the first objects of an array as a table, as many columns as fit, and
// says how much that is.
func (p *page) rows(array *shape) string {
	var table []map[string]string
	for _, row := range array.sample {
		if row[0] == '{' {
			table = append(table, cells(row))
		}
	}
	all := count(array.items.kinds[kindObject], "object")
	if array.items.kinds[kindObject] == array.items.n {
		all = count(array.total, "row")
	}
	return p.grid(array.columns(), table, all)
}

// grid adds a header and the first of all rows, tab-separated.
func (p *page) grid(columns []string, table []map[string]string, all string) string {
	for n := len(table); n > 0; n-- {
		for _, c := range []int{len(columns), 40, 24, 16, 12, 8, 5} {
			if c > len(columns) {
				continue
			}
			if c*2 < len(columns) && c < 8 && n > 1 {
				continue // rather fewer rows
			}
			if lines := grid(columns[:c], table[:n], len(columns), all); p.put(lines) {
				return fmt.Sprintf("the first %d shown", n)
			}
		}
	}
	return "none shown"
}

func grid(columns []string, table []map[string]string, of int, all string) []string {
	head := fmt.Sprintf("first %d of %s", len(table), all)
	if len(columns) < of {
		head += fmt.Sprintf(", first %d of %d columns", len(columns), of)
	}
	var names []string
	for _, c := range columns {
		names = append(names, tidy(c, 60))
	}
	lines := []string{head + ":", strings.Join(names, "\t")}
	for _, row := range table {
		var line []string
		for _, c := range columns {
			line = append(line, row[c])
		}
		lines = append(lines, strings.Join(line, "\t"))
	}
	return lines
}

// unescaped returns the key that is written as key.
func unescaped(key []byte) string {
	s, _ := wire.Unquote([]byte(`"` + string(key) + `"`))
	return s
}
