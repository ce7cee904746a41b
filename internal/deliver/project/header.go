package project

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// start takes the first line of cells, which name judges once the rows are read.
func (t *table) start(cells [][]byte) {
	t.head = slices.Clone(cells)
	for range cells {
		t.shapes = append(t.shapes, &shape{})
	}
}

// name makes names of columns of the first line, or a row where it is one, and
// returns false if nobody can tell. marked says that the text itself marks it as
// the header.
func (t *table) name(marked bool) bool {
	switch header, sure := t.header(); {
	case marked || header && sure:
		t.named = true
	case !sure:
		return false
	default:
		rest := t.first
		t.first = nil
		t.row(t.head)
		t.first = append(t.first, rest[:min(len(rest), sampled-1)]...)
	}
	seen := map[string]bool{}
	for i, c := range t.head {
		name, place := string(bytes.TrimSpace(c)), fmt.Sprintf("column %d", i+1)
		switch {
		case !t.named || name == "":
			name = place
		case seen[name]:
			name += " (" + place + ")"
		}
		seen[name] = true
		t.columns = append(t.columns, name)
	}
	return true
}

// header judges the first line by the rows: names are above values of another
// kind, differ from each other and do not come again below.
func (t *table) header() (header, sure bool) {
	var above, numbers, odd, again, unnamed bool
	seen := map[string]bool{}
	for i, c := range t.head {
		name, column := string(bytes.TrimSpace(c)), t.shapes[i]
		kind := number(c)
		values := column.numeric()
		switch {
		case name == "" || seen[name]:
			unnamed = true
		case kind != kindString:
			numbers = true
		case len(name) > 80 || dated(name) || missing(name) || strings.Count(name, ".") > 1 || strings.ContainsAny(name, "/@{}\""):
			odd = true
		case values:
			above = true
		}
		again = again || kind == kindString && !values && column.has(c)
		seen[name] = true
	}
	switch {
	case numbers && years(t.head): // of years as names or as values?
		return true, !slices.ContainsFunc(t.shapes, (*shape).inYears)
	case numbers || again:
		return false, true
	case above:
		return true, true
	case odd:
		return false, true
	}
	return true, !unnamed
}

// dated reports whether s has many digits, as dates, versions and sizes do.
func dated(s string) bool {
	n := 0
	for i := range len(s) {
		if s[i] >= '0' && s[i] <= '9' {
			n++
		}
	}
	return n >= 3 && n*3 >= len(s)
}

// missing reports whether a cell stands for a value that is not there.
func missing(s string) bool {
	switch strings.ToLower(s) {
	case "-", "na", "n/a", "nan", "null", "none", "nil", "?":
		return true
	}
	return false
}

// numeric reports whether a column has numbers alone.
func (s *shape) numeric() bool {
	n := s.kinds[kindInt] + s.kinds[kindFloat]
	return n > 0 && n+s.kinds[kindNull] == s.n
}

// inYears reports whether a column has years alone.
func (s *shape) inYears() bool {
	return s.numeric() && s.lowest >= firstYear && s.highest <= lastYear && s.kinds[kindFloat] == 0
}

const firstYear, lastYear = 1800, 2200

// years reports whether the numbers among cells are three years or more that rise.
func years(cells [][]byte) bool {
	n, last := 0, firstYear
	for _, c := range cells {
		if number(c) == kindString || len(bytes.TrimSpace(c)) == 0 {
			continue
		}
		var y int
		if _, err := fmt.Sscanf(string(bytes.TrimSpace(c)), "%d", &y); err != nil || y <= last || y > lastYear {
			return false
		}
		n, last = n+1, y
	}
	return n >= 3
}

// has reports whether v is one of the scalars that were seen.
func (s *shape) has(v []byte) bool {
	if s.seen == nil {
		return bytes.Equal(s.first, v)
	}
	return s.seen.has(v)
}
