package project

import (
	"bytes"

	"heddle/internal/wire"
)

// document is JSON that stands in a text, and the text around it.
type document struct {
	value, before, after []byte
	size                 int // of the value as it stands in the text
}

// mostTries is how often what looks like the beginning of JSON may be none.
const mostTries = 4

// documentIn finds the JSON that text is, or that most of it is: a value, maybe in
// a Markdown fence or behind a few words, or objects one after the other, which
// are read as an array.
func documentIn(text []byte) (document, bool) {
	t := bytes.TrimSpace(text)
	if len(t) > 0 && begins(t) && wire.Valid(t) {
		return document{value: t, size: len(text)}, true
	}
	half := (len(t) + 1) / 2 // what begins behind it is not most of the text
	for at, tries := 0, 0; at < half && tries < mostTries; {
		n := nextValue(t[at:], half-at)
		if n < 0 {
			break
		}
		at += n
		value, end := values(t[at:])
		if end*2 >= len(t) {
			size := end
			if end == len(t) { // the text is nothing else, and its last line's end is part of it
				size = len(text)
			}
			return document{value, unfenced(t[:at]), unfenced(t[at+end:]), size}, true
		}
		if end == 0 {
			tries, end = tries+1, 1
		}
		at += end
	}
	return document{}, false
}

// nextValue returns where in the first n bytes of b an object or array may begin,
// at the beginning of a line or behind a space, or -1.
func nextValue(b []byte, n int) int {
	for i, c := range b[:n] {
		if (c == '{' || c == '[') && (i == 0 || b[i-1] == ' ' || b[i-1] == '\n' || b[i-1] == '\t') && begins(b[i:]) {
			return i
		}
	}
	return -1
}

// begins reports whether b begins as objects and arrays do.
func begins(b []byte) bool {
	next := bytes.TrimLeft(b[1:min(len(b), 200)], " \t\r\n")
	switch {
	case len(next) == 0:
		return false
	case b[0] == '{':
		return next[0] == '"' || next[0] == '}'
	case b[0] == '[':
		return bytes.IndexByte([]byte(`{["]-0123456789`), next[0]) >= 0
	}
	return false
}

// values returns the value that b begins with, or an array of the objects that do,
// and where they end; 0 if there is no valid one.
func values(b []byte) (value []byte, end int) {
	var joined []byte
	for at := 0; at < len(b); {
		n := extent(b[at:])
		if n == 0 || !wire.Valid(b[at:at+n]) {
			break
		}
		switch {
		case end == 0:
			value = b[:n]
		case joined == nil:
			joined = append(append(append(make([]byte, 0, len(b)+2), '['), value...), ',')
			fallthrough
		default:
			joined = append(append(joined, b[at:at+n]...), ',')
		}
		end = at + n
		at = len(b) - len(bytes.TrimLeft(b[end:], " \t\r\n"))
		if b[0] != '{' || at == len(b) || b[at] != '{' {
			break
		}
	}
	if joined != nil {
		joined[len(joined)-1] = ']'
		value = joined
	}
	return value, end
}

// extent returns the length of the object or array at the start of b by its
// brackets, or 0 if it does not end.
func extent(b []byte) int {
	for i, depth := 0, 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			for i++; i < len(b) && b[i] != '"'; i++ {
				if b[i] == '\n' { // no string of JSON goes over lines
					return 0
				}
				if b[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}

// unfenced returns text without the lines that fence code in.
func unfenced(text []byte) []byte {
	if !bytes.Contains(text, []byte("```")) {
		return text
	}
	var out []byte
	for line := range bytes.Lines(text) {
		if !hasPrefix(bytes.TrimSpace(line), "```") {
			out = append(out, line...)
		}
	}
	return out
}
