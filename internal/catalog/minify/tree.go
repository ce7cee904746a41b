package minify

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// value is one JSON value. Scalars and keys keep the bytes that they were read
// from, so that numbers keep their digits and strings their escapes.
type value struct {
	kind    byte   // '{', '[', '"', or 'n' for what has no parts
	raw     []byte // of strings and of what has no parts
	members []*member
	items   []*value
	// pinned is a value that a reference leads to or through: it stays where it is.
	pinned bool
}

// member is one member of an object.
type member struct {
	key    string
	rawKey []byte
	v      *value
}

// value returns the value of a member, nil for no member.
func (m *member) value() *value {
	if m == nil {
		return nil
	}
	return m.v
}

// parse reads raw. It returns nil for what is not JSON, too large, nests too deep,
// or has an object that uses a key twice, of which readers make different things.
func parse(raw []byte) *value {
	if len(raw) > maxBytes || !json.Valid(raw) { // which bounds the depth as well
		return nil
	}
	p := parser{b: raw}
	p.space()
	v := p.value(0)
	if p.odd {
		return nil
	}
	return v
}

// parser reads what is known to be valid.
type parser struct {
	b   []byte
	i   int
	odd bool
}

func (p *parser) space() {
	for p.i < len(p.b) && strings.IndexByte(" \t\r\n", p.b[p.i]) >= 0 {
		p.i++
	}
}

func (p *parser) value(depth int) *value {
	if depth > maxDepth {
		p.odd = true
	}
	if p.odd {
		return &value{}
	}
	switch p.b[p.i] {
	case '{':
		return p.object(depth)
	case '[':
		v := &value{kind: '['}
		for p.enter(); p.b[p.i] != ']' && !p.odd; p.comma() {
			v.items = append(v.items, p.value(depth+1))
		}
		p.i++
		return v
	case '"':
		return &value{kind: '"', raw: p.quoted()}
	}
	start := p.i
	for p.i < len(p.b) && strings.IndexByte(" \t\r\n,]}", p.b[p.i]) < 0 {
		p.i++
	}
	return &value{kind: 'n', raw: p.b[start:p.i]}
}

func (p *parser) object(depth int) *value {
	v := &value{kind: '{'}
	seen := map[string]bool{}
	for p.enter(); p.b[p.i] != '}' && !p.odd; p.comma() {
		m := &member{rawKey: p.quoted()}
		m.key = unquote(m.rawKey)
		p.odd = p.odd || seen[m.key]
		seen[m.key] = true
		p.space()
		p.enter() // the colon
		m.v = p.value(depth + 1)
		v.members = append(v.members, m)
	}
	p.i++
	return v
}

func (p *parser) enter() { p.i++; p.space() }

func (p *parser) comma() {
	p.space()
	if !p.odd && p.b[p.i] == ',' {
		p.enter()
	}
}

func (p *parser) quoted() []byte {
	start := p.i
	for p.i++; p.b[p.i] != '"'; p.i++ {
		if p.b[p.i] == '\\' {
			p.i++
		}
	}
	p.i++
	return p.b[start:p.i]
}

func unquote(raw []byte) (s string) {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1])
	}
	_ = json.Unmarshal(raw, &s)
	return s
}

// quote writes a JSON string with as few escapes as there may be.
func quote(s string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string always encodes
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// textValue returns text as a value, old itself where that says the same.
func textValue(old *value, text string) *value {
	if unquote(old.raw) == text {
		return old
	}
	return &value{kind: '"', raw: quote(text)}
}

// append writes v without white space.
func (v *value) append(b []byte) []byte {
	switch v.kind {
	case '{':
		b = append(b, '{')
		for i, m := range v.members {
			if i > 0 {
				b = append(b, ',')
			}
			b = m.v.append(append(append(b, m.rawKey...), ':'))
		}
		return append(b, '}')
	case '[':
		b = append(b, '[')
		for i, item := range v.items {
			if i > 0 {
				b = append(b, ',')
			}
			b = item.append(b)
		}
		return append(b, ']')
	}
	return append(b, v.raw...)
}

// member returns the member of an object with that key, nil if it has none.
func (v *value) member(key string) *member {
	for _, m := range v.members {
		if m.key == key {
			return m
		}
	}
	return nil
}

// get returns the value of that member, nil if there is none.
func (v *value) get(key string) *value { return v.member(key).value() }

// text returns the string of that member, "" if it is none.
func (v *value) text(key string) string {
	if s := v.get(key); s != nil && s.kind == '"' {
		return unquote(s.raw)
	}
	return ""
}

func (v *value) add(rawKey []byte, of *value) {
	v.members = append(v.members, &member{unquote(rawKey), rawKey, of})
}

func (v *value) isTrue() bool { return v != nil && string(v.raw) == "true" }

// step returns what a token of a JSON pointer leads to, nil if to nothing.
func (v *value) step(token string) *value {
	token = strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
	if v.kind == '{' {
		return v.get(token)
	}
	if i, err := strconv.Atoi(token); err == nil && i >= 0 && i < len(v.items) && v.kind == '[' {
		return v.items[i]
	}
	return nil
}
