package audit

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// maxText is the longest text of a line in bytes, before it is escaped.
	maxText = 256
	// maxHeld is the longest text that the queue holds: more than maxText, so that a
	// secret is masked before its end is cut off.
	maxHeld = 4096

	ellipsis = "…"
)

// hold returns s, or a copy of its beginning, so that what waits does not hold on to a
// message that a host or a server sent.
func hold[S ~string](s S) S {
	if len(s) <= maxHeld {
		return s
	}
	return S(strings.Clone(string(s[:maxHeld])))
}

// cut returns s in at most maxText bytes; one that is longer ends in an ellipsis, and
// not within a rune.
func cut(s string) string {
	if len(s) <= maxText {
		return s
	}
	n := maxText - len(ellipsis)
	for least := n - utf8.UTFMax; n > least && !utf8.RuneStart(s[n]); n-- {
		// a rune may begin before
	}
	return s[:n] + ellipsis
}

// appendQuoted appends s as a JSON string in which everything is escaped that does not
// show as one mark in its place: control characters, line ends, what turns the
// direction of writing, what is invisible. Broken UTF-8 becomes U+FFFD, escaped as well.
func appendQuoted(b []byte, s string) []byte {
	b = append(b, '"')
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == utf8.RuneError && size == 1, !shows(r):
			b = appendEscape(b, r)
		default:
			b = append(b, s[i:i+size]...)
		}
		i += size
	}
	return append(b, '"')
}

// shows reports whether a character shows by itself.
func shows(r rune) bool {
	if r < utf8.RuneSelf {
		return ' ' <= r && r <= '~'
	}
	const blankBraille = 0x2800 // a symbol without dots
	return strconv.IsPrint(r) && r != blankBraille && !unicode.In(r, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// appendEscape appends r as \u202e, or as a surrogate pair.
func appendEscape(b []byte, r rune) []byte {
	if r >= 0x10000 {
		r -= 0x10000
		b = appendUnit(b, 0xd800+r>>10)
		r = 0xdc00 + r&0x3ff
	}
	return appendUnit(b, r)
}

func appendUnit(b []byte, u rune) []byte {
	const hex = "0123456789abcdef"
	return append(b, '\\', 'u', hex[u>>12&15], hex[u>>8&15], hex[u>>4&15], hex[u&15])
}
