package wire

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// MaxDepth is how deep JSON may nest, as in encoding/json: beyond it hosts and
// upstreams in other languages overflow their stacks.
const MaxDepth = 10000

// Errors of the scanner.
var (
	ErrSyntax = errors.New("not valid JSON")
	ErrDepth  = errors.New("nested too deeply, over 10000 levels")
)

// space skips white space from b[i].
func space(b []byte, i int) int {
	for i < len(b) {
		switch b[i] {
		case ' ', '\t', '\r', '\n':
			i++
		default:
			return i
		}
	}
	return i
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// skipString takes the index after an opening quote and returns the one after
// the closing quote. It looks at eight bytes at a time: results are mostly
// strings, and this is where a megabyte spends its time.
func skipString(b []byte, i int) (int, error) {
	for {
		for i+8 <= len(b) {
			x := binary.LittleEndian.Uint64(b[i:])
			quote := x ^ ones*'"'
			slash := x ^ ones*'\\'
			m := ((quote - ones) &^ quote) | ((slash - ones) &^ slash) | ((x - ones*0x20) &^ x)
			if m &= highs; m != 0 {
				i += bits.TrailingZeros64(m) / 8
				break
			}
			i += 8
		}
		if i >= len(b) {
			return 0, ErrSyntax
		}
		switch c := b[i]; {
		case c == '"':
			return i + 1, nil
		case c == '\\':
			n := escape(b[i:])
			if n == 0 {
				return 0, ErrSyntax
			}
			i += n
		case c < 0x20:
			return 0, ErrSyntax
		default:
			i++
		}
	}
}

// escape returns the length of the escape sequence at the start of b, or 0.
func escape(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(b) < 6 {
			return 0
		}
		for _, c := range b[2:6] {
			if !hex(c) {
				return 0
			}
		}
		return 6
	}
	return 0
}

func hex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

func digit(b []byte, i int) bool { return i < len(b) && b[i] >= '0' && b[i] <= '9' }

// skipNumber returns the index after the number at b[i], or an error.
func skipNumber(b []byte, i int) (int, error) {
	if i < len(b) && b[i] == '-' {
		i++
	}
	switch {
	case !digit(b, i):
		return 0, ErrSyntax
	case b[i] == '0':
		i++
	default:
		for digit(b, i) {
			i++
		}
	}
	if i < len(b) && b[i] == '.' {
		if i++; !digit(b, i) {
			return 0, ErrSyntax
		}
		for digit(b, i) {
			i++
		}
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		if i++; i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		if !digit(b, i) {
			return 0, ErrSyntax
		}
		for digit(b, i) {
			i++
		}
	}
	return i, nil
}

// skipScalar returns the index after the string, number or literal at b[i].
func skipScalar(b []byte, i int) (int, error) {
	lit := ""
	switch b[i] {
	case '"':
		return skipString(b, i+1)
	case 't':
		lit = "true"
	case 'f':
		lit = "false"
	case 'n':
		lit = "null"
	default:
		return skipNumber(b, i)
	}
	if len(b)-i < len(lit) || string(b[i:i+len(lit)]) != lit {
		return 0, ErrSyntax
	}
	return i + len(lit), nil
}

// nesting remembers for each open level whether it is an object. It is a bit a
// level, so that 10,000 levels cost 1.2 kB of heap and no stack.
type nesting struct {
	inline [4]uint64
	more   []uint64
	depth  int
}

func (n *nesting) push(object bool) bool {
	if n.depth >= MaxDepth {
		return false
	}
	w := n.word(n.depth)
	bit := uint64(1) << (n.depth % 64)
	if object {
		*w |= bit
	} else {
		*w &^= bit
	}
	n.depth++
	return true
}

func (n *nesting) object() bool {
	d := n.depth - 1
	return *n.word(d)&(1<<(d%64)) != 0
}

func (n *nesting) word(d int) *uint64 {
	i := d / 64
	if i < len(n.inline) {
		return &n.inline[i]
	}
	i -= len(n.inline)
	for i >= len(n.more) {
		n.more = append(n.more, 0)
	}
	return &n.more[i]
}

// skipKey skips `"key" :` and the white space after it.
func skipKey(b []byte, i int) (int, error) {
	if i >= len(b) || b[i] != '"' {
		return 0, ErrSyntax
	}
	i, err := skipString(b, i+1)
	if err != nil {
		return 0, err
	}
	if i = space(b, i); i >= len(b) || b[i] != ':' {
		return 0, ErrSyntax
	}
	return space(b, i+1), nil
}

// skipValue checks the JSON value that starts at b[i] and returns the index
// after it. It does not recurse.
func skipValue(b []byte, i int) (int, error) {
	var (
		open nesting
		err  error
	)
	for {
		if i >= len(b) {
			return 0, ErrSyntax
		}
		if c := b[i]; c == '{' || c == '[' {
			if !open.push(c == '{') {
				return 0, ErrDepth
			}
			i = space(b, i+1)
			if i < len(b) && b[i] == c+2 { // '}' and ']' are two after their openers
				i++
				open.depth--
			} else {
				if c == '{' {
					if i, err = skipKey(b, i); err != nil {
						return 0, err
					}
				}
				continue
			}
		} else if i, err = skipScalar(b, i); err != nil {
			return 0, err
		}
		if i, err = skipClosers(b, i, &open); err != nil || open.depth == 0 {
			return i, err
		}
	}
}

// skipClosers goes on after a value: over closing brackets, up to the start of
// the next value or, with nothing open, the end.
func skipClosers(b []byte, i int, open *nesting) (int, error) {
	for open.depth > 0 {
		i = space(b, i)
		if i >= len(b) {
			return 0, ErrSyntax
		}
		object := open.object()
		switch {
		case b[i] == ',':
			i = space(b, i+1)
			if object {
				return skipKey(b, i)
			}
			return i, nil
		case b[i] == '}' && object, b[i] == ']' && !object:
			i++
			open.depth--
		default:
			return 0, ErrSyntax
		}
	}
	return i, nil
}

// Valid reports whether b is one JSON value, white space around it allowed.
func Valid(b []byte) bool {
	i, err := skipValue(b, space(b, 0))
	return err == nil && space(b, i) == len(b)
}

// Members calls f for each member of the JSON object b, in order, until f
// returns false. key is unescaped; value aliases b. An error says that b is not
// an object or not valid JSON.
func Members(b []byte, f func(key string, value json.RawMessage) bool) error {
	return Spans(b, func(key string, start, end int) bool { return f(key, b[start:end:end]) })
}

// Spans is [Members] with the place of each value in b.
func Spans(b []byte, f func(key string, start, end int) bool) error {
	i := space(b, 0)
	if i >= len(b) || b[i] != '{' {
		return ErrSyntax
	}
	if i = space(b, i+1); i < len(b) && b[i] == '}' {
		return end(b, i+1)
	}
	for {
		k := i
		v, err := skipKey(b, i)
		if err != nil {
			return err
		}
		if i, err = skipValue(b, v); err != nil {
			return err
		}
		if !f(keyAt(b, k), v, i) {
			return nil
		}
		if i = space(b, i); i >= len(b) {
			return ErrSyntax
		}
		switch b[i] {
		case ',':
			i = space(b, i+1)
		case '}':
			return end(b, i+1)
		default:
			return ErrSyntax
		}
	}
}

func end(b []byte, i int) error {
	if space(b, i) != len(b) {
		return ErrSyntax
	}
	return nil
}

// keyAt returns the unescaped string literal that starts at b[i].
func keyAt(b []byte, i int) string {
	e, err := skipString(b, i+1)
	if err != nil {
		return ""
	}
	return intern(b[i:e])
}

// known are strings that nearly every message has; returning them costs no
// allocation.
var known = map[string]string{
	"jsonrpc": "jsonrpc", "id": "id", "method": "method", "params": "params", "result": "result", "error": "error",
	"name": "name", "arguments": "arguments", "_meta": "_meta", "progressToken": "progressToken", "progress": "progress",
	"total": "total", "message": "message", "tools/call": "tools/call", "notifications/progress": "notifications/progress",
	"tool": "tool", "content": "content", "isError": "isError", "requestId": "requestId", "text": "text",
}

// intern unquotes a string literal.
func intern(lit []byte) string {
	if s, ok := known[string(lit[1:len(lit)-1])]; ok {
		return s
	}
	s, _ := Unquote(lit)
	return s
}

// Unquote returns the text of a JSON string literal, and false if lit is none.
// lit must be part of valid JSON.
func Unquote(lit []byte) (string, bool) {
	if len(lit) < 2 || lit[0] != '"' {
		return "", false
	}
	if bytes.IndexByte(lit, '\\') < 0 && utf8.Valid(lit) { // nothing to unescape
		return string(lit[1 : len(lit)-1]), true
	}
	var s string
	if json.Unmarshal(lit, &s) != nil {
		return "", false
	}
	return s, true
}

// Text is [Unquote] for what may be long: the text as bytes, in memory of its own
// only where something in it is escaped. Do not change them.
func Text(lit []byte) (text []byte, ok bool) {
	if len(lit) < 2 || lit[0] != '"' || !Valid(lit) {
		return nil, false
	}
	lit = bytes.TrimSpace(lit)
	lit = lit[1 : len(lit)-1]
	if bytes.IndexByte(lit, '\\') < 0 {
		text, _ = Clean(lit)
		return text, true
	}
	text = make([]byte, 0, len(lit))
	for len(lit) > 0 {
		i := bytes.IndexByte(lit, '\\')
		if i < 0 {
			i = len(lit)
		}
		if plain := lit[:i]; utf8.Valid(plain) {
			text = append(text, plain...)
		} else {
			plain, _ = Clean(plain)
			text = append(text, plain...)
		}
		if lit = lit[i:]; len(lit) > 0 {
			r, n := unescape(lit)
			text, lit = utf8.AppendRune(text, r), lit[n:]
		}
	}
	return text, true
}

// unescape returns what the escape at the start of b stands for, and its length.
// Half a surrogate pair is U+FFFD.
func unescape(b []byte) (rune, int) {
	switch b[1] {
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
		r := hex4(b)
		if !utf16.IsSurrogate(r) {
			return r, 6
		}
		if len(b) >= 12 && b[6] == '\\' && b[7] == 'u' {
			if pair := utf16.DecodeRune(r, hex4(b[6:])); pair != utf8.RuneError {
				return pair, 12
			}
		}
		return utf8.RuneError, 6
	}
	return rune(b[1]), 2
}

// hex4 returns the number of an escape \uXXXX, which is valid.
func hex4(b []byte) (r rune) {
	for _, c := range b[2:6] {
		switch {
		case c <= '9':
			c -= '0'
		default:
			c = c | 0x20 - 'a' + 10
		}
		r = r<<4 | rune(c)
	}
	return r
}

// Clean returns b with every byte that is not part of valid UTF-8 replaced by
// U+FFFD, and how many there were. Valid input is returned as it is.
func Clean(b []byte) ([]byte, int) {
	if utf8.Valid(b) {
		return b, 0
	}
	out := make([]byte, 0, len(b)+16)
	bad := 0
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n == 1 {
			bad++
			out = utf8.AppendRune(out, utf8.RuneError)
		} else {
			out = append(out, b[:n]...)
		}
		b = b[n:]
	}
	return out, bad
}
