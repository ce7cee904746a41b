package deliver

import (
	"bytes"
	"encoding/json"

	"heddle/internal/wire"
)

// parts are a result taken apart. All raw members alias the result.
type parts struct {
	items      []item
	structured json.RawMessage // nil if there is none
	// rest are the members that are neither content nor structuredContent, as
	// `"key":value,…`: they pass as they are.
	rest   json.RawMessage
	failed bool // the tool says so itself
	mixed  bool // there are blocks that are not text
}

// takeApart reads a result; false if it has not the form of one.
func takeApart(raw json.RawMessage) (p parts, ok bool) {
	var content json.RawMessage
	twice := false
	err := wire.Members(raw, func(key string, v json.RawMessage) bool {
		switch key {
		case "content":
			twice = twice || content != nil
			content = v
			return true
		case "structuredContent":
			if v[0] == '{' || v[0] == '[' {
				twice = twice || p.structured != nil
				p.structured = v
				return true
			}
		case "isError":
			p.failed = string(v) == "true"
		}
		if len(p.rest) > 0 {
			p.rest = append(p.rest, ',')
		}
		p.rest = append(append(append(p.rest, wire.Quote(key)...), ':'), v...)
		return true
	})
	if err != nil || twice { // which of two counts is the host's choice
		return p, false
	}
	var blocks []json.RawMessage
	if content != nil {
		if blocks, err = wire.Elements(content); err != nil {
			return p, false
		}
	}
	for _, b := range blocks {
		i := itemOf(b)
		p.items = append(p.items, i)
		p.mixed = p.mixed || !i.isText
	}
	return p, true
}

// all chooses all blocks.
func (p *parts) all() []bool {
	out := make([]bool, len(p.items))
	for i := range out {
		out[i] = true
	}
	return out
}

// text is the texts of these blocks.
func (p *parts) text(of []bool) []byte {
	var texts [][]byte
	for i, on := range of {
		if on {
			texts = append(texts, p.items[i].text)
		}
	}
	if len(texts) == 1 {
		return texts[0]
	}
	return bytes.Join(texts, newline)
}

var newline = []byte{'\n'}

// exact reports whether these blocks say nothing but their texts. What else the
// first block of text says stays in its place, as all does of what is no text.
func (p *parts) exact(of []bool) bool {
	first := true
	for i, on := range of {
		if !on {
			continue
		}
		it := &p.items[i]
		if !it.exact() || it.isText && !it.bare && !first {
			return false
		}
		first = first && !it.isText
	}
	return true
}

// repeats reports whether the structure is nothing but the texts again: the value
// that the text has as JSON, or what frameworks make of a tool that returns a text
// or a list, an object with that as its one member.
func (p *parts) repeats() bool {
	if p.structured == nil || p.mixed || len(p.items) == 0 {
		return false
	}
	if p.wraps() || len(p.items) == 1 && says(p.structured, p.items[0].text) {
		return true
	}
	value, ok := onlyMember(p.structured)
	if !ok {
		return false
	}
	if len(p.items) == 1 && says(value, p.items[0].text) {
		return true
	}
	values, err := wire.Elements(value)
	if err != nil || len(values) != len(p.items) {
		return false
	}
	for i, v := range values {
		if !says(v, p.items[i].text) {
			return false
		}
	}
	return true
}

// wraps reports whether the structure is one text again, as a string.
func (p *parts) wraps() bool {
	if p.structured == nil || len(p.items) != 1 || p.mixed {
		return false
	}
	value, ok := onlyMember(p.structured)
	return ok && value[0] == '"' && says(value, p.items[0].text)
}

// onlyMember returns the value of an object's one member.
func onlyMember(object json.RawMessage) (value json.RawMessage, ok bool) {
	members := 0
	err := wire.Members(object, func(_ string, v json.RawMessage) bool { value = v; members++; return members == 1 })
	return value, err == nil && members == 1
}

// says reports whether a value is this text: as a string, or as what the text has
// as JSON.
func says(value json.RawMessage, text []byte) bool {
	if value[0] != '"' {
		return wire.Valid(text) && sameJSON(value, text)
	}
	const escape = 6 // bytes at most, of a character that has one
	if len(value) > escape*len(text)+2 || len(text) > escape*len(value) || halfPair(value) {
		return false
	}
	s, ok := wire.Text(value)
	return ok && bytes.Equal(s, text)
}

// sameJSON reports whether two valid values are the same but for spaces and for
// how strings are written.
func sameJSON(a, b []byte) bool {
	const spaces = " \t\r\n"
	for {
		a, b = bytes.TrimLeft(a, spaces), bytes.TrimLeft(b, spaces)
		switch {
		case len(a) == 0 || len(b) == 0:
			return len(a) == len(b)
		case a[0] != b[0]:
			return false
		case a[0] != '"':
			a, b = a[1:], b[1:]
			continue
		}
		s, t := literal(a), literal(b)
		if !bytes.Equal(s, t) {
			x, _ := wire.Text(s)
			y, _ := wire.Text(t)
			if !bytes.Equal(x, y) || halfPair(s) || halfPair(t) {
				return false
			}
		}
		a, b = a[len(s):], b[len(t):]
	}
}

// literal returns the string literal that valid JSON begins with.
func literal(b []byte) []byte {
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return b[:i+1]
		}
	}
	return b
}
