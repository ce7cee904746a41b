package lock

import (
	"bytes"
	"slices"
	"unicode/utf16"
	"unicode/utf8"

	"heddle/internal/wire"
)

// node is a value of a definition, in canonical form: members sorted by name, strings
// unescaped, numbers in one spelling.
type node struct {
	kind kind
	// text is a string's text, or what else is no object and no array, as it is written.
	// Half a surrogate pair, which JSON can say and UTF-8 cannot, is three bytes of its
	// own that are no UTF-8 elsewhere.
	text     string
	members  []member
	elements []node
	start    int // offset in what was parsed
}

type kind uint8

const (
	scalar kind = iota // a number, true, false, null
	text
	object
	array
)

// member is a member of an object. Members of the same name are all kept, in their
// order: which of them counts depends on who reads.
type member struct {
	name  string
	value node
}

// parse returns the value that b holds. ok is false if it holds none.
func parse(b []byte) (n node, ok bool) {
	if !wire.Valid(b) {
		return node{}, false
	}
	p := parser{b: b}
	return p.value(), true
}

// parser reads JSON that is valid and not deeper than [wire.MaxDepth].
type parser struct {
	b []byte
	i int
}

// next returns the next byte that is no white space.
func (p *parser) next() byte {
	for {
		switch c := p.b[p.i]; c {
		case ' ', '\t', '\n', '\r':
			p.i++
		default:
			return c
		}
	}
}

func (p *parser) value() node {
	switch c := p.next(); {
	case c == '{':
		return p.object()
	case c == '[':
		return p.array()
	case c == '"':
		n := node{kind: text, start: p.i}
		n.text = p.text()
		return n
	}
	start := p.i
	for p.i < len(p.b) && bytes.IndexByte([]byte(" \t\r\n,]}"), p.b[p.i]) < 0 {
		p.i++
	}
	return node{kind: scalar, text: number(string(p.b[start:p.i])), start: start}
}

func (p *parser) object() node {
	n := node{kind: object, start: p.i}
	p.i++
	for p.next() != '}' {
		name := p.text()
		p.next()
		p.i++ // the colon
		n.members = append(n.members, member{name, p.value()})
		if p.next() == ',' {
			p.i++
		}
	}
	p.i++
	slices.SortStableFunc(n.members, func(a, b member) int { return compareText(a.name, b.name) })
	return n
}

func (p *parser) array() node {
	n := node{kind: array, start: p.i}
	p.i++
	for p.next() != ']' {
		n.elements = append(n.elements, p.value())
		if p.next() == ',' {
			p.i++
		}
	}
	p.i++
	return n
}

// text reads the string literal that comes next. Bytes that are no UTF-8 are U+FFFD,
// as for everybody who reads them.
func (p *parser) text() string {
	p.next()
	p.i++
	var out []byte
	for {
		end := p.i + bytes.IndexAny(p.b[p.i:], `"\`)
		plain, _ := wire.Clean(p.b[p.i:end])
		out = append(out, plain...)
		p.i = end + 1
		if p.b[end] == '"' {
			return string(out)
		}
		out = p.escape(out)
	}
}

// escape appends what the escape stands for whose backslash was read.
func (p *parser) escape(out []byte) []byte {
	c := p.b[p.i]
	p.i++
	switch c {
	case 'b':
		return append(out, '\b')
	case 'f':
		return append(out, '\f')
	case 'n':
		return append(out, '\n')
	case 'r':
		return append(out, '\r')
	case 't':
		return append(out, '\t')
	case 'u':
		r := p.hex4()
		if utf16.IsSurrogate(r) && p.i+6 <= len(p.b) && p.b[p.i] == '\\' && p.b[p.i+1] == 'u' {
			back := p.i
			p.i += 2
			if pair := utf16.DecodeRune(r, p.hex4()); pair != utf8.RuneError {
				return utf8.AppendRune(out, pair)
			}
			p.i = back
		}
		if utf16.IsSurrogate(r) {
			return append(out, 0xE0|byte(r>>12), 0x80|byte(r>>6)&0x3F, 0x80|byte(r)&0x3F)
		}
		return utf8.AppendRune(out, r)
	}
	return append(out, c)
}

func (p *parser) hex4() (r rune) {
	for _, c := range p.b[p.i : p.i+4] {
		if c > '9' {
			c = c | 0x20 - 'a' + 10
		} else {
			c -= '0'
		}
		r = r<<4 | rune(c)
	}
	p.i += 4
	return r
}

// decode is utf8.DecodeRuneInString that knows half surrogate pairs, which it returns
// as what they are.
func decode(s string) (rune, int) {
	r, n := utf8.DecodeRuneInString(s)
	if r == utf8.RuneError && n == 1 && len(s) >= 3 && s[0] == 0xED {
		return rune(s[0]&0x0F)<<12 | rune(s[1]&0x3F)<<6 | rune(s[2]&0x3F), 3
	}
	return r, n
}
