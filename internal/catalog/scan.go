package catalog

import (
	"bytes"
	"iter"
	"unicode/utf16"
	"unicode/utf8"
)

// The scanner finds spans in JSON that is valid by contract. It never recurses
// and never reads outside its bytes: broken input yields short spans, not a
// panic. encoding/json is not used here because it loses what must survive:
// exact spans, duplicate keys, the case of keys and lone surrogates.

// maxDepth is the deepest nesting that definitions may have. Real ones stay
// below 30; recursion over definitions in this and other packages relies on it.
const maxDepth = 512

// member is one key and value of an object, as offsets.
type member struct {
	key        []byte // unescaped
	keyStart   int    // of the key's opening quote
	start, end int    // of the value
	depth      int    // of the value: 0 for a scalar, 1 for {}
}

// members yields the members of the object that starts at b[i], in order,
// duplicates included.
func members(b []byte, i int) iter.Seq[member] {
	return func(yield func(member) bool) {
		for i = skipSpace(b, i+1); i < len(b) && b[i] == '"'; {
			m := member{keyStart: i}
			keyEnd := skipString(b, i)
			m.key = unquote(b[i:keyEnd])
			m.start = skipColon(b, keyEnd)
			m.end, m.depth = skipValue(b, m.start)
			if !yield(m) {
				return
			}
			i = skipComma(b, m.end)
		}
	}
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// skipColon returns where the value starts whose key ended at i.
func skipColon(b []byte, i int) int { return skipPunctuation(b, i, ':') }

// skipComma returns where the next element or the closing bracket starts after a
// value that ended at i.
func skipComma(b []byte, i int) int { return skipPunctuation(b, i, ',') }

func skipPunctuation(b []byte, i int, c byte) int {
	i = skipSpace(b, i)
	if i < len(b) && b[i] == c {
		i = skipSpace(b, i+1)
	}
	return i
}

// skipString returns the end of the string whose opening quote is b[i].
func skipString(b []byte, i int) int {
	for i++; i < len(b); i++ {
		switch b[i] {
		case '"':
			return i + 1
		case '\\':
			i++
		}
	}
	return len(b)
}

// skipValue returns the end and the nesting depth of the value at b[i]. It
// counts brackets instead of recursing, so that no nesting can exhaust the
// stack.
func skipValue(b []byte, i int) (end, depth int) {
	open := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			i = skipString(b, i)
		case '{', '[':
			open++
			depth = max(depth, open)
			i++
			continue
		case '}', ']':
			if open == 0 {
				return i, depth
			}
			open--
			i++
		case ',', ':', ' ', '\n', '\t', '\r':
			if open == 0 {
				return i, depth
			}
			i++
			continue
		default:
			i = skipScalar(b, i)
		}
		if open == 0 {
			return i, depth
		}
	}
	return len(b), depth
}

// skipScalar returns the end of the number or literal at b[i], at least i+1.
func skipScalar(b []byte, i int) int {
	for i++; i < len(b); i++ {
		switch b[i] {
		case '{', '}', '[', ']', ',', ':', '"', ' ', '\n', '\t', '\r':
			return i
		}
	}
	return i
}

// isString reports whether raw is a JSON string.
func isString(raw []byte) bool { return len(raw) >= 2 && raw[0] == '"' && raw[len(raw)-1] == '"' }

// unquote returns the content of a JSON string. Without escapes it shares raw's
// bytes. Lone surrogates become the three bytes that UTF-8 forbids, so that
// different strings stay different; utf8.Valid tells whether there were any.
func unquote(raw []byte) []byte {
	if !isString(raw) {
		return nil
	}
	raw = raw[1 : len(raw)-1]
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw
	}
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' || i+1 == len(raw) {
			out = append(out, raw[i])
			continue
		}
		i++
		if raw[i] != 'u' {
			out = append(out, unescape(raw[i]))
			continue
		}
		r := hex4(raw, i+1)
		i += 4
		if utf16.IsSurrogate(r) && i+2 < len(raw) && raw[i+1] == '\\' && raw[i+2] == 'u' {
			if pair := utf16.DecodeRune(r, hex4(raw, i+3)); pair != utf8.RuneError {
				r = pair
				i += 6
			}
		}
		out = appendRune(out, r)
	}
	return out
}

func unescape(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c
}

// hex4 reads the four hex digits at b[i]; 0xFFFD if they are not there.
func hex4(b []byte, i int) rune {
	if i+4 > len(b) {
		return utf8.RuneError
	}
	var r rune
	for _, c := range b[i : i+4] {
		switch {
		case '0' <= c && c <= '9':
			r = r<<4 | rune(c-'0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return utf8.RuneError
		}
	}
	return r
}

func appendRune(out []byte, r rune) []byte {
	if utf16.IsSurrogate(r) {
		return append(out, 0xE0|byte(r>>12), 0x80|byte(r>>6)&0x3F, 0x80|byte(r)&0x3F)
	}
	return utf8.AppendRune(out, r)
}
