package records

import (
	"bytes"
	"unicode/utf8"
)

// survey is the first pass over rows in JSON: which keys there are, and what values
// they have.
type survey struct {
	reader
	duplicate string // a key that an object has twice
	broken    bool   // a text cannot be UTF-8
}

// object reads the object at i, which is the value of the place o and has depth
// objects around it.
func (s *survey) object(o *object, i, depth int) (int, error) {
	if i = s.space(i + 1); s.at(i) == '}' {
		return i + 1, nil
	}
	guess := &o.first
	for {
		f, value, err := s.find(o, *guess, i)
		if err != nil {
			return 0, err
		}
		*guess = f
		guess = &f.after
		if f.row == s.row {
			s.duplicate = f.key
			f.forget(s.row)
		}
		f.row, f.filled = s.row, true
		if value, err = s.field(f, value, depth); err != nil {
			return 0, err
		}
		if f.filled {
			f.values++
		}
		var more bool
		if i, more, err = s.next(value, '}'); err != nil || !more {
			return i, err
		}
	}
}

// forget takes back what the row has said of f: its last value is the one that counts.
func (f *field) forget(row int) {
	if f.row != row {
		return
	}
	if f.filled {
		f.values--
	}
	f.row = 0
	for _, sub := range f.sub.fields {
		sub.forget(row)
	}
}

// field notes the value at i, and returns the index behind it.
func (s *survey) field(f *field, i, depth int) (end int, err error) {
	switch s.at(i) {
	case '"':
		end, what, err := s.text(i + 1)
		if err != nil {
			return 0, err
		}
		f.holds |= hasText
		s.string(f, s.b[i+1:end-1], what)
		return end, nil
	case '{':
		f.holds |= hasObject
		if depth < maxFlat && len(f.sub.fields) <= maxKeys {
			return s.object(&f.sub, i, depth+1)
		}
		f.holds |= hasWhole
		return s.value(i)
	case '[':
		f.holds |= hasArray
		return s.value(i)
	case 't':
		f.holds |= hasBool
		return s.literal(i, "true")
	case 'f':
		f.holds |= hasBool
		return s.literal(i, "false")
	case 'n':
		f.filled = false
		return s.literal(i, "null")
	}
	end, integer, err := s.number(i)
	if err != nil {
		return 0, err
	}
	f.holds |= numberKind(s.b[i:end], integer)
	return end, nil
}

// string notes what a text looks like, while all before it looked so too.
func (s *survey) string(f *field, text []byte, what uint8) {
	if f.looks != 0 {
		f.looks &= look(text)
	}
	switch {
	case s.broken || what == 0:
	case what&nonASCII != 0 && !utf8.Valid(text):
		s.broken = true
	case what&escapes != 0 && bytes.Contains(text, []byte(`\u`)):
		s.broken = loneSurrogate(text)
	}
}

// loneSurrogate reports whether text, inside a literal, has half a surrogate pair,
// which UTF-8 cannot have.
func loneSurrogate(text []byte) bool {
	for i := 0; i < len(text); {
		switch {
		case text[i] != '\\':
			i++
		case text[i+1] != 'u':
			i += 2
		case !surrogate(text[i:], '8', 'f'):
			i += 6
		case surrogate(text[i:], '8', 'b') && surrogate(text[i+6:], 'c', 'f'):
			i += 12
		default:
			return true
		}
	}
	return false
}

// surrogate reports whether b starts with an escape \uDx.. where x is in a range.
func surrogate(b []byte, from, to byte) bool {
	return len(b) >= 6 && b[0] == '\\' && b[1] == 'u' && b[2]|0x20 == 'd' && b[3]|0x20 >= from|0x20 && b[3]|0x20 <= to|0x20
}
