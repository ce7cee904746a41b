package lock

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf16"
)

// ErrInvalid says that a definition is no JSON.
var ErrInvalid = errors.New("the definition is not valid JSON")

// The canonical form is compact JSON: members sorted by the bytes of their names,
// strings with the escapes that JSON needs and no others, numbers without exponent
// where that is short. Equal values have one form. Nothing that a reader could take
// for another value shares it: digits are kept, all members of the same name are, in
// their order, and so are halves of surrogate pairs.

// Canonical returns the canonical form of a definition, or [ErrInvalid].
func Canonical(definition json.RawMessage) (json.RawMessage, error) {
	n, ok := parse(definition)
	if !ok {
		return nil, ErrInvalid
	}
	return n.append(nil, plain), nil
}

// Hash returns the hex SHA-256 of a definition's canonical form. Key order, white
// space, escapes and how a number is spelled do not count. Bytes that are no JSON have
// a hash too, which no definition shares.
func Hash(definition json.RawMessage) string {
	form, err := Canonical(definition)
	if err != nil {
		form = append([]byte("not JSON: "), definition...)
	}
	return sum(form)
}

func sum(form []byte) string {
	h := sha256.Sum256(form)
	return hex.EncodeToString(h[:])
}

// escaping says which characters of a string are escaped beyond what JSON needs.
type escaping func(r rune) bool

// plain is the canonical form's. It must never change, and so it asks no table of
// Unicode, which does.
func plain(rune) bool { return false }

// append appends the value as compact JSON.
func (n *node) append(b []byte, escaped escaping) []byte {
	switch n.kind {
	case text:
		return appendText(b, n.text, escaped)
	case object:
		b = append(b, '{')
		for i := range n.members {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendText(b, n.members[i].name, escaped)
			b = append(b, ':')
			b = n.members[i].value.append(b, escaped)
		}
		return append(b, '}')
	case array:
		b = append(b, '[')
		for i := range n.elements {
			if i > 0 {
				b = append(b, ',')
			}
			b = n.elements[i].append(b, escaped)
		}
		return append(b, ']')
	}
	return append(b, n.text...)
}

// appendText appends a string literal.
func appendText(b []byte, s string, escaped escaping) []byte {
	b = append(b, '"')
	for len(s) > 0 {
		r, size := decode(s)
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, `\n`...)
		case r == '\t':
			b = append(b, `\t`...)
		case r == '\r':
			b = append(b, `\r`...)
		case r > 0xFFFF && escaped(r):
			high, low := utf16.EncodeRune(r)
			b = fmt.Appendf(b, `\u%04x\u%04x`, high, low)
		case r < ' ' || utf16.IsSurrogate(r) || escaped(r):
			b = fmt.Appendf(b, `\u%04x`, r)
		default:
			b = append(b, s[:size]...)
		}
		s = s[size:]
	}
	return append(b, '"')
}

// compareText orders names.
func compareText(a, b string) int { return strings.Compare(a, b) }
