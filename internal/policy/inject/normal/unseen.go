package normal

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Invisible returns what of s shows nothing and has no business in a text: tag
// characters but those of the three flags that have some, variation selectors that
// select nothing, characters without width within words, bidirectional overrides and
// what is not closed of embeddings, terminal escapes, control characters.
//
// Not found is what writing needs: joiners in Persian, Hindi and emoji, directional
// marks, a selector behind its character, a byte order mark at the start, a soft
// hyphen.
func Invisible(s string) []Span {
	var out []Span
	var open []Span // embeddings and isolates that are not closed yet
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf && class[c]&control == 0 {
			if c == '\n' {
				out, open = append(out, open...), nil
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r >= utf8.RuneSelf && !hidden(r) {
			i += n
			continue
		}
		u := unseenAt(s, i)
		span := Span{u.kind, i, i + u.size}
		switch {
		case opens(r):
			open = append(open, span)
		case closes(r) && len(open) > 0:
			open = open[:len(open)-1]
		case u.kind != "":
			out = appendSpan(out, span)
		}
		i += u.size
	}
	out = append(out, open...)
	slices.SortFunc(out, func(a, b Span) int { return a.Start - b.Start })
	return out
}

func appendSpan(out []Span, s Span) []Span {
	if n := len(out); n > 0 && out[n-1].Kind == s.Kind && out[n-1].End == s.Start {
		out[n-1].End = s.End
		return out
	}
	return append(out, s)
}

// unseen is a run of invisible characters of one kind.
type unseen struct {
	kind Kind // "" for what writing needs
	size int
	text string // what it says, if anything
}

func (u unseen) inWord() bool { return u.kind == ZeroWidth }

// unseenAt returns the invisible characters at byte i of s.
func unseenAt(s string, i int) unseen {
	r, n := utf8.DecodeRuneInString(s[i:])
	switch {
	case r == 0x1b:
		return unseen{kind: ANSI, size: ansi(s[i:])}
	case r == 0x9b:
		return unseen{kind: ANSI, size: n + csi(s[i+n:])}
	case r == 0x85 || r == 0xad:
		return unseen{size: n}
	case r < 0xa0 || r >= 0x206a && r <= 0x206f || r >= 0xfff9 && r <= 0xfffb:
		return unseen{kind: Control, size: n}
	case r >= 0xe0000 && r <= 0xe007f:
		return tags(s, i)
	case selector(r):
		return selectors(s, i)
	case r == 0x202d || r == 0x202e || opens(r) || closes(r):
		return unseen{kind: Bidi, size: n}
	case r == 0x200e || r == 0x200f || r == 0x61c || r == 0xfeff && i == 0:
		return unseen{size: n}
	}
	end := i + n
	for end < len(s) {
		r, n := utf8.DecodeRuneInString(s[end:])
		if !zeroWidth(r) {
			break
		}
		end += n
	}
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	after, _ := utf8.DecodeRuneInString(s[end:])
	u := unseen{size: end - i}
	if joins(before) && (end-i) <= 3 {
		return u
	}
	const message = 8 * 3 // as many of them are a message
	if written(before) && written(after) || end-i >= message {
		u.kind = ZeroWidth
	}
	return u
}

// hidden reports whether r shows nothing, wherever it stands.
func hidden(r rune) bool {
	return r >= 0x7f && r < 0xa0 || r == 0xad || zeroWidth(r) || selector(r) || r >= 0xe0000 && r <= 0xe007f ||
		r >= 0x200e && r <= 0x200f || r == 0x61c || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x206f || r >= 0xfff9 && r <= 0xfffb
}

func zeroWidth(r rune) bool {
	switch {
	case r >= 0x200b && r <= 0x200d, r >= 0x2060 && r <= 0x2065, r == 0xfeff, r == 0x34f, r == 0x180e, r == 0x115f, r == 0x3164, r == 0xffa0, r >= 0x1d173 && r <= 0x1d17a:
		return true
	}
	return false
}

func selector(r rune) bool {
	return r >= 0xfe00 && r <= 0xfe0f || r >= 0xe0100 && r <= 0xe01ef
}

func opens(r rune) bool  { return r == 0x202a || r == 0x202b || r >= 0x2066 && r <= 0x2068 }
func closes(r rune) bool { return r == 0x202c || r == 0x2069 }

// written reports whether r is a letter or digit of a script that needs no characters
// without width between its own.
func written(r rune) bool {
	if r < utf8.RuneSelf {
		return class[byte(r)]&letter != 0 || r >= '0' && r <= '9'
	}
	return unicode.In(r, unicode.Latin, unicode.Cyrillic, unicode.Greek, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

// joins reports whether r takes joiners: emoji, and scripts whose letters join.
func joins(r rune) bool {
	if r < 0x600 {
		return false
	}
	return r >= 0x2190 && unicode.Is(unicode.So, r) || r >= 0x1f3fb && r <= 0x1f3ff || r == 0xfe0f ||
		unicode.In(r, unicode.Arabic, unicode.Devanagari, unicode.Bengali, unicode.Tamil, unicode.Telugu, unicode.Malayalam, unicode.Kannada,
			unicode.Gujarati, unicode.Gurmukhi, unicode.Sinhala, unicode.Syriac, unicode.Mongolian, unicode.Oriya)
}

// tags reads tag characters. England, Scotland and Wales have flags made of them.
func tags(s string, i int) unseen {
	var b strings.Builder
	end := i
	for end < len(s) {
		r, n := utf8.DecodeRuneInString(s[end:])
		if r < 0xe0000 || r > 0xe007f {
			break
		}
		end += n
		if r >= 0xe0020 && r < 0xe007f {
			b.WriteByte(byte(r - 0xe0000))
		}
		if r == 0xe007f {
			break
		}
	}
	u := unseen{Tags, end - i, b.String()}
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	if before == 0x1f3f4 && (u.text == "gbeng" || u.text == "gbsct" || u.text == "gbwls") && strings.HasSuffix(s[:end], "\U000e007f") {
		return unseen{size: u.size}
	}
	return u
}

// selectors reads variation selectors. One behind a character chooses its look; more
// of them are bytes.
func selectors(s string, i int) unseen {
	var b []byte
	end := i
	for end < len(s) {
		r, n := utf8.DecodeRuneInString(s[end:])
		if !selector(r) {
			break
		}
		end += n
		if r >= 0xe0100 {
			b = append(b, byte(r-0xe0100+16))
		} else {
			b = append(b, byte(r-0xfe00))
		}
	}
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	if len(b) == 1 && before > ' ' && !unicode.Is(unicode.Latin, before) {
		return unseen{size: end - i}
	}
	return unseen{Selectors, end - i, string(b)}
}

// ansi returns the size of the terminal escape at the beginning of s.
func ansi(s string) int {
	if len(s) < 2 {
		return len(s)
	}
	switch s[1] {
	case '[':
		return 2 + csi(s[2:])
	case ']', 'P', '_', '^': // a string up to BEL or ESC \
		const longest = 4096
		for i := 2; i < min(len(s), longest); i++ {
			if s[i] == 7 {
				return i + 1
			}
			if s[i] == 0x1b {
				return i
			}
		}
		return 2
	}
	return 1
}

func csi(s string) int {
	for i := range min(len(s), 64) {
		if s[i] >= 0x40 && s[i] <= 0x7e {
			return i + 1
		}
		if s[i] < 0x20 || s[i] > 0x3f {
			return i
		}
	}
	return 0
}

// conceals reports whether a terminal escape hides the text behind it: by the conceal
// attribute, or by one colour for text and background.
func conceals(escape string) bool {
	params, ok := strings.CutPrefix(escape, "\x1b[")
	if !ok || !strings.HasSuffix(params, "m") {
		return false
	}
	text, back := "", ""
	for _, p := range strings.Split(params[:len(params)-1], ";") {
		switch {
		case p == "8":
			return true
		case len(p) == 2 && p[0] == '3' || len(p) == 2 && p[0] == '9':
			text = p[1:]
		case len(p) == 2 && p[0] == '4' || len(p) == 3 && strings.HasPrefix(p, "10"):
			back = p[len(p)-1:]
		}
	}
	return text != "" && text == back
}
