package records

import (
	"encoding/binary"
	"errors"
	"math/bits"
	"unicode/utf8"

	"heddle/internal/wire"
)

var (
	errSyntax = errors.New("not valid JSON")
	errDepth  = errors.New("JSON nested too deeply")
)

// scanner finds the ends of JSON values. Unlike package wire's it works in the midst of
// a text, where what follows is not known yet.
type scanner struct {
	b    []byte
	open []byte // closing brackets that are still to come
}

// space returns the index of what follows white space.
func (s *scanner) space(i int) int {
	for i < len(s.b) {
		switch s.b[i] {
		case ' ', '\n', '\r', '\t':
			i++
		default:
			return i
		}
	}
	return i
}

// at returns the byte at i, 0 at the end.
func (s *scanner) at(i int) byte {
	if i < len(s.b) {
		return s.b[i]
	}
	return 0
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// What a string literal holds beside plain ASCII.
const (
	escapes  = 1 << iota // a backslash
	nonASCII             // bytes from 0x80
)

// text takes the index after an opening quote and returns that after the closing one.
func (s *scanner) text(i int) (end int, holds uint8, err error) {
	b := s.b
	for {
		for i+8 <= len(b) {
			x := binary.LittleEndian.Uint64(b[i:])
			quote, slash := x^ones*'"', x^ones*'\\'
			stop := ((quote - ones) &^ quote) | ((slash - ones) &^ slash) | ((x - ones*0x20) &^ x)
			if stop &= highs; stop != 0 {
				n := bits.TrailingZeros64(stop)
				if x&highs&(1<<n-1) != 0 {
					holds |= nonASCII
				}
				i += n / 8
				break
			}
			if x&highs != 0 {
				holds |= nonASCII
			}
			i += 8
		}
		switch c := s.at(i); {
		case c == '"':
			return i + 1, holds, nil
		case c == '\\':
			n := escape(b[i:])
			if n == 0 {
				return 0, 0, errSyntax
			}
			holds |= escapes
			i += n
		case c < 0x20: // also the end
			return 0, 0, errSyntax
		default:
			if c >= 0x80 {
				holds |= nonASCII
			}
			i++
		}
	}
}

// unquote returns the text of the string literal at i, and the index behind it.
func (s *scanner) unquote(i int) (text []byte, end int, err error) {
	if s.at(i) != '"' {
		return nil, 0, errSyntax
	}
	end, holds, err := s.text(i + 1)
	if err != nil {
		return nil, 0, err
	}
	if text = s.b[i+1 : end-1 : end-1]; holds != 0 && (holds&escapes != 0 || !utf8.Valid(text)) {
		text, _ = wire.Text(s.b[i:end])
	}
	return text, end, nil
}

// escape returns the length of the escape sequence at the start of b, or 0.
func escape(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(b) < 6 {
			return 0
		}
		for _, c := range b[2:6] {
			if !isDigit(c) && (c|0x20 < 'a' || c|0x20 > 'f') {
				return 0
			}
		}
		return 6
	}
	return 0
}

func isDigit(c byte) bool { return c-'0' <= 9 }

// digits returns the index of what follows digits; there must be one.
func (s *scanner) digits(i int) (int, error) {
	if !isDigit(s.at(i)) {
		return 0, errSyntax
	}
	for i < len(s.b) && isDigit(s.b[i]) {
		i++
	}
	return i, nil
}

// number returns the index after the number at i, and whether it is written as an
// integer.
func (s *scanner) number(i int) (end int, integer bool, err error) {
	if s.at(i) == '-' {
		i++
	}
	if s.at(i) == '0' {
		i++
	} else if i, err = s.digits(i); err != nil {
		return 0, false, err
	}
	integer = true
	if s.at(i) == '.' {
		integer = false
		if i, err = s.digits(i + 1); err != nil {
			return 0, false, err
		}
	}
	if s.at(i)|0x20 == 'e' {
		integer = false
		if i++; s.at(i) == '+' || s.at(i) == '-' {
			i++
		}
		if i, err = s.digits(i); err != nil {
			return 0, false, err
		}
	}
	return i, integer, nil
}

// literal returns the index after word, which must be at i.
func (s *scanner) literal(i int, word string) (int, error) {
	if len(s.b)-i < len(word) || string(s.b[i:i+len(word)]) != word {
		return 0, errSyntax
	}
	return i + len(word), nil
}

// scalar returns the index after the string, number or word at i.
func (s *scanner) scalar(i int) (end int, err error) {
	switch s.at(i) {
	case '"':
		end, _, err = s.text(i + 1)
	case 't':
		end, err = s.literal(i, "true")
	case 'f':
		end, err = s.literal(i, "false")
	case 'n':
		end, err = s.literal(i, "null")
	default:
		end, _, err = s.number(i)
	}
	return end, err
}

// colon returns the index of a member's value, from that after its key.
func (s *scanner) colon(i int) (int, error) {
	if s.at(i) != ':' {
		if i = s.space(i); s.at(i) != ':' {
			return 0, errSyntax
		}
	}
	if i++; s.at(i) <= ' ' {
		i = s.space(i)
	}
	return i, nil
}

// key returns the index of the value of the member at i.
func (s *scanner) key(i int) (int, error) {
	if s.at(i) != '"' {
		return 0, errSyntax
	}
	i, _, err := s.text(i + 1)
	if err != nil {
		return 0, err
	}
	return s.colon(i)
}

// value returns the index after the value at i. It does not recurse, so that deep
// nesting costs a byte a level and no stack.
func (s *scanner) value(i int) (end int, err error) {
	s.open = s.open[:0]
	for {
		switch c := s.at(i); c {
		case '{', '[':
			if len(s.open) == wire.MaxDepth {
				return 0, errDepth
			}
			i = s.space(i + 1)
			if s.at(i) == c+2 { // '}' and ']' are two after their openers
				i++
				break
			}
			s.open = append(s.open, c+2)
			if c == '{' {
				if i, err = s.key(i); err != nil {
					return 0, err
				}
			}
			continue
		default:
			if i, err = s.scalar(i); err != nil {
				return 0, err
			}
		}
		if i, err = s.after(i); err != nil || len(s.open) == 0 {
			return i, err
		}
	}
}

// after goes on behind a value: over closing brackets, to the next value or the end.
func (s *scanner) after(i int) (int, error) {
	for len(s.open) > 0 {
		i = s.space(i)
		closer := s.open[len(s.open)-1]
		switch s.at(i) {
		case ',':
			if i = s.space(i + 1); closer == '}' {
				return s.key(i)
			}
			return i, nil
		case closer:
			i++
			s.open = s.open[:len(s.open)-1]
		default:
			return 0, errSyntax
		}
	}
	return i, nil
}

// next goes from behind a member or an element to the next one; more is false behind
// the closing bracket.
func (s *scanner) next(i int, closer byte) (to int, more bool, err error) {
	if s.at(i) <= ' ' {
		i = s.space(i)
	}
	switch s.at(i) {
	case ',':
		if i++; s.at(i) <= ' ' {
			i = s.space(i)
		}
		return i, true, nil
	case closer:
		return i + 1, false, nil
	}
	return 0, false, errSyntax
}
