package deliver

import (
	"encoding/json"

	"heddle/internal/wire"
)

// Warned returns a result with a line of heddle's own as its first text block; with
// no line the result itself. All else keeps its bytes.
func Warned(raw json.RawMessage, line string) json.RawMessage {
	if line == "" {
		return raw
	}
	block := textBlock(line)
	content, start, end := span(raw, "content")
	switch {
	case content && raw[start] == '[':
		if inner := wire.Member(raw, "content"); len(inner) > 2 && !empty(inner) {
			block = append(block, ',')
		}
		return splice(raw, start+1, start+1, block)
	case content: // no list, which no host shows
		return splice(raw, start, end, append(append([]byte{'['}, block...), ']'))
	case len(raw) > 0 && raw[0] == '{':
		list := append(append([]byte(`"content":[`), block...), ']')
		if !empty(raw) {
			list = append(list, ',')
		}
		return splice(raw, 1, 1, list)
	}
	return raw
}

// WarnedRead is [Warned] for an answer of read_result: where that begins with a
// block of heddle's own, the line goes into it, so that the block of exact bytes
// stays the second.
func WarnedRead(raw json.RawMessage, line string) json.RawMessage {
	blocks, err := wire.Elements(wire.Member(raw, "content"))
	if line == "" || err != nil || len(blocks) != 2 {
		return Warned(raw, line)
	}
	own, ok := wire.Unquote(wire.Member(blocks[0], "text"))
	if !ok {
		return Warned(raw, line)
	}
	return answer(textBlock(line+"\n"+own), blocks[1])
}

// span returns where a member's value stands.
func span(raw json.RawMessage, name string) (found bool, start, end int) {
	_ = wire.Spans(raw, func(key string, a, b int) bool {
		if key == name {
			found, start, end = true, a, b
		}
		return true // of equal names the last one counts
	})
	return found, start, end
}

// empty reports whether an object or array has nothing in it.
func empty(raw json.RawMessage) bool {
	for _, c := range raw[1:] {
		switch c {
		case ' ', '\t', '\n', '\r':
		case ']', '}':
			return true
		default:
			return false
		}
	}
	return false
}

func splice(raw json.RawMessage, start, end int, with []byte) json.RawMessage {
	out := make([]byte, 0, len(raw)+len(with))
	return append(append(append(out, raw[:start]...), with...), raw[end:]...)
}
