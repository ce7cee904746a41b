package deliver

import (
	"bytes"
	"encoding/json"

	"heddle/internal/wire"
)

// parts are a result taken apart. All raw members alias the result.
type parts struct {
	blocks     []json.RawMessage
	texts      [][]byte        // of the blocks that are plain text, nil for the others
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
	if content != nil {
		if p.blocks, err = wire.Elements(content); err != nil {
			return p, false
		}
	}
	for _, b := range p.blocks {
		text, isText := textOf(b)
		p.texts = append(p.texts, text)
		p.mixed = p.mixed || !isText
	}
	return p, true
}

// text is all texts of the result.
func (p *parts) text() []byte {
	if len(p.texts) == 1 {
		return p.texts[0]
	}
	return bytes.Join(p.texts, []byte{'\n'})
}

// textOf returns the text of a block of text.
func textOf(block json.RawMessage) ([]byte, bool) {
	if kind, _ := wire.Unquote(wire.Member(block, "type")); kind != "text" {
		return nil, false
	}
	return wire.Text(wire.Member(block, "text"))
}

// withText returns a block of text with another text; what else it says stays.
func withText(block json.RawMessage, text string) json.RawMessage {
	out := []byte{'{'}
	_ = wire.Members(block, func(key string, v json.RawMessage) bool { // it was read before
		if len(out) > 1 {
			out = append(out, ',')
		}
		if key == "text" {
			v = wire.Quote(text)
		}
		out = append(append(append(out, wire.Quote(key)...), ':'), v...)
		return true
	})
	return append(out, '}')
}

// plain reports whether the result says nothing but one text: then the text is
// what is captured, and read back without the JSON around it.
func (p *parts) plain() bool {
	if len(p.blocks) != 1 || p.mixed || p.structured != nil || !p.exact(0) {
		return false
	}
	members := 0
	_ = wire.Members(p.blocks[0], func(string, json.RawMessage) bool { members++; return true })
	return members == 2
}

// exact reports whether the i-th text has all that its block says: half a
// surrogate pair is fine as an escape and has no place in a text.
func (p *parts) exact(i int) bool {
	return !bytes.Contains(p.texts[i], []byte("\uFFFD")) || !halfPair(wire.Member(p.blocks[i], "text"))
}

// halfPair reports whether a string literal has an escape that is half a surrogate
// pair.
func halfPair(lit []byte) bool {
	for {
		i := bytes.IndexByte(lit, '\\')
		if i < 0 || i+2 > len(lit) {
			return false
		}
		lit = lit[i:]
		switch kind := surrogate(lit); {
		case kind == 'h' && surrogate(lit[6:]) == 'l':
			lit = lit[12:]
		case kind != 0:
			return true
		default:
			lit = lit[2:]
		}
	}
}

// surrogate says whether b begins with the escape of a high (h) or a low (l)
// surrogate; 0 is neither.
func surrogate(b []byte) byte {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' || b[2]|0x20 != 'd' {
		return 0
	}
	switch {
	case b[3] == '8' || b[3] == '9' || b[3]|0x20 == 'a' || b[3]|0x20 == 'b':
		return 'h'
	case b[3]|0x20 >= 'c' && b[3]|0x20 <= 'f':
		return 'l'
	}
	return 0
}

// wraps reports whether the structure is nothing but the text again, as one member
// of an object: what some frameworks make of a tool that returns a text.
func (p *parts) wraps() bool {
	if p.structured == nil || len(p.blocks) != 1 || p.mixed {
		return false
	}
	var value json.RawMessage
	members := 0
	if wire.Members(p.structured, func(_ string, v json.RawMessage) bool { value = v; members++; return members == 1 }) != nil || members != 1 {
		return false
	}
	text := wire.Member(p.blocks[0], "text")
	if value[0] != '"' || len(value) > 7*len(text) || len(text) > 7*len(value) { // an escape is six bytes
		return false
	}
	if bytes.Equal(value, text) {
		return true
	}
	s, ok := wire.Text(value)
	return ok && bytes.Equal(s, p.texts[0])
}
