package deliver

import (
	"bytes"
	"encoding/json"
	"strings"

	"heddle/internal/wire"
)

// item is one block of a result. What it has aliases the result, but for text.
type item struct {
	raw json.RawMessage
	// text is what a model reads of it: of a block of text, of an embedded resource,
	// and of what later protocols have with a member of that name.
	text   []byte
	places []place // of the text in raw, as a literal: several where a member is there twice
	isText bool    // it is a block of text,
	bare   bool    // and says nothing else
}

// place is where a value stands.
type place struct{ from, to int }

// itemOf takes a block apart.
func itemOf(raw json.RawMessage) item {
	b := item{raw: raw}
	kind, members := "", 0
	var own, inside []place
	_ = wire.Spans(raw, func(key string, from, to int) bool { // what is no object has no members
		members++
		switch key {
		case "type":
			kind, _ = wire.Unquote(raw[from:to])
		case "text":
			own = append(own, place{from, to})
		case "resource":
			inside = append(inside, textsInside(raw, from, to)...)
		}
		return true
	})
	switch kind {
	case "image", "audio":
		return b
	case "resource":
		own = inside
	}
	if len(own) == 0 {
		return b
	}
	last := own[len(own)-1] // as most readers take it
	text, ok := wire.Text(raw[last.from:last.to])
	if ok {
		b.text, b.places, b.isText = text, own, kind == "text"
		b.bare = b.isText && members == 2
	}
	return b
}

// textsInside returns where the texts of an embedded resource are. One that a host
// draws, as its uri says, is not for the model and has none.
func textsInside(raw json.RawMessage, from, to int) (texts []place) {
	_ = wire.Spans(raw[from:to], func(key string, i, j int) bool {
		switch key {
		case "text":
			texts = append(texts, place{from + i, from + j})
		case "uri":
			if uri, _ := wire.Unquote(raw[from+i : from+j]); strings.HasPrefix(uri, "ui://") {
				texts = nil
				return false
			}
		}
		return true
	})
	return texts
}

// with returns the block with another text; all else keeps its bytes.
func (b *item) with(text string) json.RawMessage {
	var out []byte
	at, quoted := 0, wire.Quote(text)
	for _, p := range b.places {
		out = append(append(out, b.raw[at:p.from]...), quoted...)
		at = p.to
	}
	return append(out, b.raw[at:]...)
}

// exact reports whether the text is all that the block says as its text: half a
// surrogate pair is fine as an escape and has no place in a text, and of two texts
// a host may take either.
func (b *item) exact() bool {
	if len(b.places) != 1 {
		return false
	}
	return !bytes.Contains(b.text, replacement) || !halfPair(b.raw[b.places[0].from:b.places[0].to])
}

// replacement is the character that stands for bytes that are no UTF-8.
var replacement = []byte("\uFFFD")

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

func textBlock(text string) json.RawMessage {
	out := append([]byte(`{"type":"text","text":`), wire.Quote(text)...)
	return append(out, '}')
}
