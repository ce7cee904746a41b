package normal

import (
	"html"
	"strings"
	"unicode"
	"unicode/utf8"
	"unsafe"
)

// view returns b, which nobody changes any more, as a string.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// decode undoes percent-encoding, \u and \x escapes and HTML entities once. The layer
// is nil if there was none.
func decode(s string) (string, layer, []Span) {
	w := writer{out: make([]byte, 0, len(s))}
	done, changed := 0, false
	for i := strings.IndexAny(s, `%\&`); i >= 0 && i < len(s); {
		text, n := escaped(s[i:])
		if n > 0 {
			w.at(done)
			w.out = append(w.out, s[done:i]...)
			w.at(i)
			start := len(w.out)
			w.out = append(w.out, text...)
			if needless(text) {
				w.disguise(start)
			}
			changed = true
			i += n
			done = i
		} else {
			i++
		}
		next := nextEscape(s[i:])
		if next < 0 {
			break
		}
		i += next
	}
	if !changed {
		return s, nil, nil
	}
	w.at(done)
	w.out = append(w.out, s[done:]...)
	return view(w.out), w.layer, w.disguised
}

func nextEscape(s string) int {
	for i := range len(s) {
		if class[s[i]]&maybe != 0 {
			return i
		}
	}
	return -1
}

// needless reports whether text need not have been escaped: letters never need to be
// within ASCII.
func needless(text string) bool {
	for i := range len(text) {
		if class[text[i]]&letter != 0 {
			return true
		}
	}
	return false
}

// escaped returns what the escapes at the beginning of s stand for, and how long they
// are; 0 if there is none, or if it stands for no character of a text.
func escaped(s string) (string, int) {
	switch s[0] {
	case '%':
		return percent(s)
	case '\\':
		return backslash(s)
	case '&':
		return entity(s)
	}
	return "", 0
}

// percent reads a character in percent-encoding.
func percent(s string) (string, int) {
	var b [utf8.UTFMax]byte
	want := 1
	for n := 0; n < want; n++ {
		v, ok := hexValue(s, 3*n+1, 2)
		if !ok || s[3*n] != '%' {
			return "", 0
		}
		b[n] = byte(v)
		if n == 0 {
			switch {
			case v >= 0xf0:
				want = 4
			case v >= 0xe0:
				want = 3
			case v >= 0xc0:
				want = 2
			}
		}
	}
	return character(b[:want], 3*want)
}

// backslash reads \xXX, \uXXXX (a pair of them for a surrogate pair), \u{X…} and
// \UXXXXXXXX.
func backslash(s string) (string, int) {
	if len(s) < 4 {
		return "", 0
	}
	var r rune
	n, ok := 0, false
	switch s[1] {
	case 'x':
		r, ok = hexValue(s, 2, 2)
		n = 4
	case 'U':
		r, ok = hexValue(s, 2, 8)
		n = 10
	case 'u':
		if s[2] == '{' {
			end := strings.IndexByte(s[:min(len(s), 11)], '}')
			if end < 4 {
				return "", 0
			}
			r, ok = hexValue(s, 3, end-3)
			n = end + 1
			break
		}
		r, ok = hexValue(s, 2, 4)
		n = 6
		if low, pair := hexValue(s, 8, 4); pair && r >= 0xd800 && r < 0xdc00 && s[6] == '\\' && s[7] == 'u' && low >= 0xdc00 && low < 0xe000 {
			r = (r-0xd800)<<10 + (low - 0xdc00) + 0x10000
			n = 12
		}
	}
	if !ok {
		return "", 0
	}
	return character(utf8.AppendRune(nil, r), n)
}

// entity reads an HTML character reference.
func entity(s string) (string, int) {
	const longest = 10
	end := strings.IndexByte(s[:min(len(s), longest)], ';')
	if end < 3 {
		return "", 0
	}
	text := html.UnescapeString(s[:end+1])
	if strings.HasPrefix(text, "&") && text != "&" {
		return "", 0
	}
	return character([]byte(text), end+1)
}

// character returns what was read if it belongs in a text.
func character(b []byte, n int) (string, int) {
	r, size := utf8.DecodeRune(b)
	if size == 0 || r == utf8.RuneError || unicode.IsControl(r) && !strings.ContainsRune("\t\n\r\x1b", r) {
		return "", 0
	}
	return string(b), n
}

// hexValue reads n hexadecimal digits of s from byte i on.
func hexValue(s string, i, n int) (rune, bool) {
	if n < 1 || n > 8 || i+n > len(s) {
		return 0, false
	}
	var v rune
	for _, c := range []byte(s[i : i+n]) {
		d := digit(c)
		if d < 0 {
			return 0, false
		}
		v = v<<4 | rune(d)
	}
	return v, v >= 0
}

// digit returns the value of a hexadecimal digit, or -1.
func digit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}
