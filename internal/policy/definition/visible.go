package definition

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// hasControl says that a text has control characters which are no layout: those of
// terminals, and a return that is no line's end, after which a terminal writes over
// what it has written.
func hasControl(s string) bool {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= ' ' && c != 0x7F && c != 0xC2 || c == '\n' || c == '\t':
		case c == '\r':
			rest := strings.TrimLeft(s[i:], "\r")
			if rest != "" && rest[0] != '\n' {
				return true
			}
		case c == 0xC2: // the first byte of U+0080 to U+00BF
			if i+1 < len(s) && s[i+1] < 0xA0 {
				return true
			}
		default:
			return true
		}
	}
	return false
}

// What follows is stricter than normal.Invisible: a definition has no use for a
// character without width at the edge of a word either, nor for a lone return.

// hasInvisible says that a text has characters that a person does not see, or that
// move what is seen. Emoji are joined by some, and some scripts are written with them:
// those are left alone where they have a use.
func hasInvisible(s string) bool {
	rs := []rune(s)
	for i, r := range rs {
		if r < utf8.RuneSelf || !invisible(r) {
			continue
		}
		if !useful(rs, i) {
			return true
		}
	}
	return false
}

// invisible says that nothing is seen of a character, or nothing that means something to
// all: formats, private use, fillers.
func invisible(r rune) bool {
	const softHyphen, blankBraille = 0xAD, 0x2800
	return r == blankBraille || r != softHyphen &&
		(unicode.In(r, unicode.Cf, unicode.Co, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) || r >= 0x80 && r < 0xA0 || r == 0x2028 || r == 0x2029)
}

// useful says that the invisible character at i belongs to what stands around it.
func useful(rs []rune, i int) bool {
	const (
		zwnj, zwj, lrm, rlm, alm = 0x200C, 0x200D, 0x200E, 0x200F, 0x61C
		bom, flag, tagEnd        = 0xFEFF, 0x1F3F4, 0xE007F
	)
	before, after := rune(0), rune(0)
	if i > 0 {
		before = rs[i-1]
	}
	if i+1 < len(rs) {
		after = rs[i+1]
	}
	switch r := rs[i]; {
	case r == bom:
		return i == 0
	case r == zwj || r == zwnj:
		return joining(before) && (joining(after) || after == 0) || r == zwj && pictured(before) && pictured(after)
	case r == lrm || r == rlm || r == alm:
		return rightToLeft(rs)
	case r >= 0xFE00 && r <= 0xFE0F: // one, behind what has forms
		return i > 0 && !invisible(before) && before > 0x20
	case r >= 0xE0020 && r <= tagEnd:
		return ofFlag(rs, i, flag, tagEnd)
	case unicode.Is(unicode.Prepended_Concatenation_Mark, r):
		return true
	}
	return false
}

// joining says that a letter is of a script which is written with joiners.
func joining(r rune) bool {
	return unicode.In(r, unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati,
		unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar, unicode.Tibetan)
}

// pictured says that a character may be part of an emoji.
func pictured(r rune) bool {
	return unicode.Is(unicode.So, r) || unicode.Is(unicode.Sk, r) || r == 0xFE0F || r == 0x2640 || r == 0x2642
}

func rightToLeft(rs []rune) bool {
	for _, r := range rs {
		if unicode.In(r, unicode.Arabic, unicode.Hebrew, unicode.Syriac, unicode.Thaana) {
			return true
		}
	}
	return false
}

// ofFlag says that a tag character belongs to the flag of a region: a black flag, at
// most six letters or digits, and the end.
func ofFlag(rs []rune, i int, flag, end rune) bool {
	const longest = 6
	start := i
	for start > 0 && rs[start] >= 0xE0020 && i-start <= longest {
		start--
	}
	if rs[start] != flag {
		return false
	}
	n := 0
	for k := start + 1; k < len(rs) && n <= longest; k++ {
		if rs[k] == end {
			return n >= 3
		}
		if c := rs[k] - 0xE0000; (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
		n++
	}
	return false
}

// disguised says that a name is not what it looks like: it has characters that nobody
// sees, letters of another alphabet among Latin ones, or forms of Latin letters that
// are not the plain ones. A name all in its own alphabet is none of these.
func disguised(name string) bool {
	if isASCII(name) {
		return false
	}
	if plain := norm.NFKC.String(name); isASCII(plain) && plain != name {
		return true
	}
	return hasInvisible(name) || mixed(name)
}

// mixed says that a word joins Latin letters with ones that look like them.
func mixed(s string) bool {
	latin, other := false, false
	for _, r := range s {
		switch {
		case r < utf8.RuneSelf && unicode.IsLetter(r):
			latin = true
		case unicode.In(r, unicode.Cyrillic, unicode.Greek, unicode.Armenian, unicode.Cherokee):
			other = true
		case !unicode.IsLetter(r) && !unicode.IsMark(r) && r != '_' && r != '-':
			latin, other = false, false
		}
		if latin && other {
			return true
		}
	}
	return false
}
