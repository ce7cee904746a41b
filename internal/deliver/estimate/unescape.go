package estimate

import (
	"unicode/utf16"
	"unicode/utf8"
)

// unescape writes what the escape sequence at the start of b stands for to
// buf[n:], where there is room, and returns the new n and the sequence's length.
func unescape(buf []byte, n int, b []byte) (end, used int) {
	if len(b) < 2 {
		return n, len(b)
	}
	switch b[1] {
	case 'n':
		buf[n] = '\n'
	case 't':
		buf[n] = '\t'
	case 'r':
		buf[n] = '\r'
	case 'b', 'f':
		buf[n] = ' '
	case 'u':
		r, size := unicodeEscape(b)
		return n + utf8.EncodeRune(buf[n:n+utf8.UTFMax], r), size
	default:
		buf[n] = b[1]
	}
	return n + 1, 2
}

// unicodeEscape reads \uXXXX, or two of them that make one rune.
func unicodeEscape(b []byte) (r rune, size int) {
	if len(b) < 6 {
		return utf8.RuneError, len(b)
	}
	r = hexRune(b[2:6])
	if utf16.IsSurrogate(r) && len(b) >= 12 && b[6] == '\\' && b[7] == 'u' {
		if both := utf16.DecodeRune(r, hexRune(b[8:12])); both != utf8.RuneError {
			return both, 12
		}
	}
	return r, 6
}

func hexRune(b []byte) rune {
	var r rune
	for _, c := range b {
		r <<= 4
		switch {
		case c >= 'a':
			r |= rune(c-'a') + 10
		case c >= 'A':
			r |= rune(c-'A') + 10
		default:
			r |= rune(c - '0')
		}
	}
	return r
}
