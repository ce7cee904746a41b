// Package estimate says how many tokens a text costs a model, in the encoding
// o200k_base and without its table: one pass that cuts a text where the encoding
// does and adds what a piece of that kind and length costs on average.
//
// It runs on the path of every call, so it allocates nothing, and its tables stay
// in a processor's first caches. Exact counts, for reports, are in internal/tokens.
//
// Start reading at [Text]; scan.go has the pass, costs.go the averages. [Below] is a
// cheaper answer for what is clearly small.
package estimate

import (
	"bytes"
	"encoding/json"
)

// Text returns the tokens of s, which may be no valid UTF-8.
func Text(s []byte) int {
	var m meter
	m.scan(s)
	return m.tokens()
}

// Result returns the tokens of all that a model receives of a tools/call result:
// the text of its blocks, embedded resources' text and links' names, and
// structuredContent as it stands. Images, audio and blobs count as nothing,
// because a host either turns them into a picture or drops them. What is not a
// result's JSON counts as text.
func Result(raw json.RawMessage) int {
	var m meter
	m.result(raw)
	return m.tokens()
}

// unit is what a token is in the meter's sum.
const unit = 64

// meter adds up costs, in parts of a token.
type meter struct {
	sum      int
	strange  int // see [meter.tongue]
	slavonic int // see [meter.cyrillic]; Russian is at 0 or below
}

func (m *meter) tokens() int { return (m.sum + unit/2) / unit }

// result adds what a model receives of a result. raw is JSON that others have
// checked; of anything else the sum is some number.
func (m *meter) result(raw []byte) {
	found := false
	members(raw, func(key, v []byte) bool {
		switch {
		case string(key) == "content" && v[0] == '[':
			found = true
			m.blocks(v)
		case string(key) == "structuredContent" && v[0] != 'n':
			found = true
			m.scan(v)
		}
		return true
	})
	if !found && (len(raw) == 0 || raw[0] != '{') {
		m.scan(raw)
	}
}

// blocks adds the content blocks of the array b.
func (m *meter) blocks(b []byte) {
	for i := 1; i < len(b); {
		if b[i] != '{' {
			i++
			continue
		}
		i += m.block(b[i:])
	}
}

// block adds the content block or resource that b starts with and returns its
// length.
func (m *meter) block(b []byte) int {
	return members(b, func(key, v []byte) bool {
		switch string(key) {
		case "text", "uri", "name", "description":
			if v[0] == '"' {
				m.literal(v)
			}
		case "resource":
			if v[0] == '{' {
				m.block(v)
			}
		}
		return true
	})
}

// literal adds the text of a JSON string literal, a stretch at a time so that
// nothing is allocated. A stretch ends behind a line where it can, since the
// encoding cuts there as well.
func (m *meter) literal(lit []byte) {
	var buf [4096]byte
	const room = len(buf) - 16 // an escape sequence fits behind it
	n := 0
	for b := lit[1:max(1, len(lit)-1)]; len(b) > 0; {
		if b[0] == '\\' {
			var used int
			n, used = unescape(buf[:], n, b)
			b = b[used:]
		}
		plain := b[:min(len(b), max(0, room-n))]
		if k := bytes.IndexByte(plain, '\\'); k >= 0 {
			plain = plain[:k]
		}
		n += copy(buf[n:], plain)
		b = b[len(plain):]
		if n < room && len(b) > 0 {
			continue
		}
		cut := n
		if i := bytes.LastIndexByte(buf[:n], '\n'); i >= 0 && len(b) > 0 {
			cut = i + 1
		}
		m.scan(buf[:cut])
		n = copy(buf[:], buf[cut:n])
	}
	m.scan(buf[:n])
}
