package records

import (
	"bytes"
	"strconv"

	"heddle/internal/wire"
)

// rows is the second pass over rows in JSON.
type rows struct {
	reader
	cells []Cell
}

// object fills in the cells of the object at i.
func (r *rows) object(o *object, i int) (int, error) {
	if i = r.space(i + 1); r.at(i) == '}' {
		return i + 1, nil
	}
	guess := &o.first
	for {
		f, value, err := r.find(o, *guess, i)
		if err != nil {
			return 0, err
		}
		*guess = f
		guess = &f.after
		switch {
		case f.role == leaf:
			value, err = r.cell(&r.cells[f.column], f.typ, value)
		case r.at(value) == '{':
			if f.row == r.row {
				r.clear(f)
			}
			f.row = r.row
			value, err = r.object(&f.sub, value)
		default: // null
			r.clear(f)
			value, err = r.value(value)
		}
		if err != nil {
			return 0, err
		}
		var more bool
		if i, more, err = r.next(value, '}'); err != nil || !more {
			return i, err
		}
	}
}

// clear empties the cells of an object that the row has twice: the last one counts.
func (r *rows) clear(f *field) {
	if f.role == leaf {
		r.cells[f.column].Null = true
	}
	for _, sub := range f.sub.fields {
		if f.role == branch {
			r.clear(sub)
		}
	}
}

// cell reads the value at i, which the type keeps, and returns the index behind it.
func (r *rows) cell(c *Cell, typ Type, i int) (end int, err error) {
	first := r.at(i)
	if c.Null = first == 'n'; c.Null {
		return r.literal(i, "null")
	}
	switch typ {
	case Text:
		c.Text, end, err = r.unquote(i)
		return end, err
	case Integer:
		c.Int, end, err = r.integer(i)
		return end, err
	case Double:
		if end, _, err = r.number(i); err != nil {
			return 0, err
		}
		c.Float, err = double(r.b[i:end])
		return end, err
	case Boolean:
		c.Bool = first == 't'
	}
	if end, err = r.value(i); err != nil {
		return 0, err
	}
	if c.Text = r.b[i:end:end]; typ == JSON {
		c.Text, _ = wire.Clean(c.Text)
	}
	return end, nil
}

// integer reads an integer that fits.
func (r *rows) integer(i int) (n int64, end int, err error) {
	negative := r.at(i) == '-'
	if negative {
		i++
	}
	start := i
	var u uint64
	for i < len(r.b) && isDigit(r.b[i]) {
		u = u*10 + uint64(r.b[i]-'0')
		i++
	}
	if i == start {
		return 0, 0, errSyntax
	}
	if negative {
		return -int64(u), i, nil
	}
	return int64(u), i, nil
}

// tens are the powers of ten that a double holds exactly.
var tens = [...]float64{
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
}

// double reads a number. Up to 15 digits without an exponent are a division of two
// numbers that doubles hold exactly, which rounds once and so right.
func double(n []byte) (float64, error) {
	digits, negative := n, n[0] == '-'
	if negative {
		digits = n[1:]
	}
	if len(digits) > 16 || bytes.ContainsAny(digits, "eE") {
		return strconv.ParseFloat(string(n), 64)
	}
	var m uint64
	fraction := 0
	for i, c := range digits {
		if c == '.' {
			fraction = len(digits) - i - 1
		} else {
			m = m*10 + uint64(c-'0')
		}
	}
	if m > 1<<53 {
		return strconv.ParseFloat(string(n), 64)
	}
	f := float64(m) / tens[fraction]
	if negative {
		f = -f
	}
	return f, nil
}
