package schema

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth is how deep arguments may nest. It bounds the stack of everything that
// walks them.
const maxDepth = 1000

// maxValues is how many values arguments may hold. It bounds the memory of a tree
// to about 150 MB.
const maxValues = 4 << 20

// types is a set of JSON types. A node has exactly one of them, never typeInteger.
type types uint8

const (
	typeNull types = 1 << iota
	typeBoolean
	typeNumber
	typeInteger
	typeString
	typeArray
	typeObject

	typeAny = typeNull | typeBoolean | typeNumber | typeInteger | typeString | typeArray | typeObject
)

// node is one value of a tree. Links are indexes, 0 for none: the root is nobody's
// child.
type node struct {
	start, end  uint32 // the value's bytes
	key, keyEnd uint32 // the bytes between the quotes of its member name
	child, next uint32
	n           uint32 // children, without dead ones
	typ         types
	escaped     bool // the string has escapes
	keyEscaped  bool
	dead        bool // a later member of the same object has the same name
}

// tree is JSON text and where its values stand, so that values can be compared,
// numbers keep their digits, and repairs leave every other byte alone.
type tree struct {
	text  string
	nodes []node
}

// syntaxError says what is wrong with JSON text, without any of it.
type syntaxError struct {
	at  int
	msg string
	// limit is "depth" or "size" where the text goes beyond a bound, which is no fault
	// of syntax.
	limit string
}

// parse fills t from text, which must hold exactly one JSON value. It is as strict
// as encoding/json.
func (t *tree) parse(text string, depth int) *syntaxError {
	t.text, t.nodes = text, t.nodes[:0]
	if len(text) > 4096 {
		// Every value but the root follows one of these. Text in strings may hold many
		// more, hence the bound.
		n := 1 + strings.Count(text, ",") + strings.Count(text, "{") + strings.Count(text, "[")
		t.nodes = slices.Grow(t.nodes, min(n, len(text)/6, maxValues))
	}
	p := parser{t: t, s: text, limit: depth}
	p.space()
	if _, err := p.value(0); err != nil {
		return err
	}
	p.space()
	if p.i != len(p.s) {
		return p.fail("there is text after the value")
	}
	return nil
}

// raw returns the exact bytes of n.
func (t *tree) raw(n uint32) string { return t.text[t.nodes[n].start:t.nodes[n].end] }

// str returns the value of the string n.
func (t *tree) str(n uint32) string {
	nd := &t.nodes[n]
	s := t.text[nd.start+1 : nd.end-1]
	if nd.escaped {
		return unescape(s)
	}
	return s
}

// key returns the member name of n.
func (t *tree) key(n uint32) string {
	nd := &t.nodes[n]
	s := t.text[nd.key:nd.keyEnd]
	if nd.keyEscaped {
		return unescape(s)
	}
	return s
}

// first and after walk the children of a value that count.
func (t *tree) first(n uint32) uint32 { return t.alive(t.nodes[n].child) }
func (t *tree) after(c uint32) uint32 { return t.alive(t.nodes[c].next) }

func (t *tree) alive(c uint32) uint32 {
	for c != 0 && t.nodes[c].dead {
		c = t.nodes[c].next
	}
	return c
}

// member returns the member of the object n with that name, 0 if it has none.
func (t *tree) member(n uint32, name string) uint32 {
	for c := t.first(n); c != 0; c = t.after(c) {
		if t.key(c) == name {
			return c
		}
	}
	return 0
}

// parser is a recursive descent over s; its depth is bounded by limit.
type parser struct {
	t     *tree
	s     string
	i     int
	limit int
}

func (p *parser) fail(msg string) *syntaxError { return &syntaxError{at: p.i, msg: msg} }

func (p *parser) space() {
	for p.i < len(p.s) {
		switch p.s[p.i] {
		case ' ', '\t', '\r', '\n':
			p.i++
		default:
			return
		}
	}
}

func (p *parser) peek() byte {
	if p.i < len(p.s) {
		return p.s[p.i]
	}
	return 0
}

// value parses one value and returns its index.
func (p *parser) value(depth int) (uint32, *syntaxError) {
	if len(p.t.nodes) >= maxValues {
		return 0, &syntaxError{at: p.i, msg: "it holds too many values", limit: "size"}
	}
	id := uint32(len(p.t.nodes))
	p.t.nodes = append(p.t.nodes, node{start: uint32(p.i)})
	var typ types
	var err *syntaxError
	switch c := p.peek(); {
	case c == '{':
		typ, err = typeObject, p.object(id, depth)
	case c == '[':
		typ, err = typeArray, p.array(id, depth)
	case c == '"':
		typ = typeString
		p.t.nodes[id].escaped, err = p.quoted()
	case c == '-' || c >= '0' && c <= '9':
		typ, err = typeNumber, p.number()
	case c == 't':
		typ, err = typeBoolean, p.literal("true")
	case c == 'f':
		typ, err = typeBoolean, p.literal("false")
	case c == 'n':
		typ, err = typeNull, p.literal("null")
	default:
		err = p.fail("a value is missing")
	}
	nd := &p.t.nodes[id]
	nd.typ, nd.end = typ, uint32(p.i)
	return id, err
}

func (p *parser) literal(want string) *syntaxError {
	if !strings.HasPrefix(p.s[p.i:], want) {
		return p.fail("a value is misspelt")
	}
	p.i += len(want)
	return nil
}

// quoted passes over a string and says whether it has escapes.
func (p *parser) quoted() (escaped bool, err *syntaxError) {
	p.i++
	for p.i < len(p.s) {
		switch c := p.s[p.i]; {
		case c == '"':
			p.i++
			return escaped, nil
		case c < 0x20:
			return escaped, p.fail("a string holds a control character")
		case c == '\\':
			escaped = true
			if !p.escape() {
				return escaped, p.fail("a string holds a bad escape")
			}
		default:
			p.i++
		}
	}
	return escaped, p.fail("a string does not end")
}

func (p *parser) escape() bool {
	p.i++
	switch p.peek() {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		p.i++
		return true
	case 'u':
		if p.i+5 > len(p.s) {
			return false
		}
		_, ok := hex4(p.s[p.i+1:])
		p.i += 5
		return ok
	}
	return false
}

func (p *parser) digits() bool {
	from := p.i
	for p.i < len(p.s) && p.s[p.i] >= '0' && p.s[p.i] <= '9' {
		p.i++
	}
	return p.i > from
}

func (p *parser) number() *syntaxError {
	if p.peek() == '-' {
		p.i++
	}
	if p.peek() == '0' {
		p.i++
	} else if !p.digits() {
		return p.fail("a number is malformed")
	}
	if p.peek() == '.' {
		p.i++
		if !p.digits() {
			return p.fail("a number is malformed")
		}
	}
	if c := p.peek(); c == 'e' || c == 'E' {
		p.i++
		if c := p.peek(); c == '+' || c == '-' {
			p.i++
		}
		if !p.digits() {
			return p.fail("a number is malformed")
		}
	}
	return nil
}

func (p *parser) array(id uint32, depth int) *syntaxError {
	if depth >= p.limit {
		return &syntaxError{at: p.i, msg: "it nests too deeply", limit: "depth"}
	}
	p.i++
	p.space()
	if p.peek() == ']' {
		p.i++
		return nil
	}
	for last := uint32(0); ; {
		c, err := p.value(depth + 1)
		if err != nil {
			return err
		}
		last = p.link(id, last, c)
		p.space()
		switch p.peek() {
		case ',':
			p.i++
			p.space()
		case ']':
			p.i++
			return nil
		default:
			return p.fail("an array does not end")
		}
	}
}

func (p *parser) object(id uint32, depth int) *syntaxError {
	if depth >= p.limit {
		return &syntaxError{at: p.i, msg: "it nests too deeply", limit: "depth"}
	}
	p.i++
	p.space()
	if p.peek() == '}' {
		p.i++
		return nil
	}
	for last := uint32(0); ; {
		c, err := p.pair(depth)
		if err != nil {
			return err
		}
		last = p.link(id, last, c)
		p.space()
		switch p.peek() {
		case ',':
			p.i++
			p.space()
		case '}':
			p.i++
			p.t.bury(id)
			return nil
		default:
			return p.fail("an object does not end")
		}
	}
}

func (p *parser) pair(depth int) (uint32, *syntaxError) {
	if p.peek() != '"' {
		return 0, p.fail("a member name is missing")
	}
	key := p.i + 1
	escaped, err := p.quoted()
	if err != nil {
		return 0, err
	}
	keyEnd := p.i - 1
	p.space()
	if p.peek() != ':' {
		return 0, p.fail("a colon is missing")
	}
	p.i++
	p.space()
	c, err := p.value(depth + 1)
	if err != nil {
		return 0, err
	}
	nd := &p.t.nodes[c]
	nd.key, nd.keyEnd, nd.keyEscaped = uint32(key), uint32(keyEnd), escaped
	return c, nil
}

func (p *parser) link(parent, last, c uint32) uint32 {
	if last == 0 {
		p.t.nodes[parent].child = c
	} else {
		p.t.nodes[last].next = c
	}
	p.t.nodes[parent].n++
	return c
}

// bury marks the members of n that a later one of the same name replaces.
func (t *tree) bury(n uint32) {
	if t.nodes[n].n <= 12 {
		t.buryFew(n)
		return
	}
	seen := make(map[string]uint32, t.nodes[n].n)
	for c := t.nodes[n].child; c != 0; c = t.nodes[c].next {
		k := t.key(c)
		if old := seen[k]; old != 0 {
			t.nodes[old].dead = true
			t.nodes[n].n--
		}
		seen[k] = c
	}
}

func (t *tree) buryFew(n uint32) {
	for c := t.nodes[n].child; c != 0; c = t.nodes[c].next {
		k := t.key(c)
		for d := t.nodes[c].next; d != 0; d = t.nodes[d].next {
			if t.key(d) == k {
				t.nodes[c].dead = true
				t.nodes[n].n--
				break
			}
		}
	}
}

func hex4(s string) (rune, bool) {
	if len(s) < 4 {
		return 0, false
	}
	var r rune
	for i := range 4 {
		c := s[i]
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unescape returns the value of the inside of a valid JSON string. A lone
// surrogate counts as one U+FFFD.
func unescape(s string) string {
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		j := strings.IndexByte(s[i:], '\\')
		if j < 0 {
			b = append(b, s[i:]...)
			break
		}
		b = append(b, s[i:i+j]...)
		i += j
		if s[i+1] != 'u' {
			b = append(b, escapes[s[i+1]])
			i += 2
			continue
		}
		r, _ := hex4(s[i+2:])
		i += 6
		if utf16.IsSurrogate(r) {
			pair := rune(utf8.RuneError)
			if strings.HasPrefix(s[i:], `\u`) {
				low, _ := hex4(s[i+2:])
				pair = utf16.DecodeRune(r, low)
			}
			if r = pair; r != utf8.RuneError {
				i += 6
			}
		}
		b = utf8.AppendRune(b, r)
	}
	return string(b)
}

// pointerToken escapes a name for a JSON pointer.
func pointerToken(s string) string {
	if !strings.ContainsAny(s, "~/") {
		return s
	}
	return strings.ReplaceAll(strings.ReplaceAll(s, "~", "~0"), "/", "~1")
}

func itoa(i int) string { return strconv.Itoa(i) }

// named appends the children of n with that name, also dead ones and with fold
// those in another case, or the item with that index.
func (t *tree) named(to []uint32, n uint32, name string, fold bool) []uint32 {
	i := 0
	for c := t.nodes[n].child; c != 0; c = t.nodes[c].next {
		switch t.nodes[n].typ {
		case typeObject:
			if k := t.key(c); k == name || fold && strings.EqualFold(k, name) {
				to = append(to, c)
			}
		case typeArray:
			if itoa(i) == name {
				to = append(to, c)
			}
			i++
		}
	}
	return to
}
