package normal

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxParts is how many parts of one text are decoded.
const maxParts = 64

// parts finds what is encoded as a whole. s is the original, plain what is left of it
// when escapes are undone.
func (t *Text) parts(s, plain string, f features, escapes []layer, levels int) {
	t.smuggled(s, levels)
	source := func(i int) int {
		for _, l := range escapes {
			i = l.source(i)
		}
		return i
	}
	add := func(kind Kind, start, end int, text string) {
		if readable(text) {
			t.Parts = append(t.Parts, Part{Span{kind, source(start), source(end)}, normalise(text, levels-1)})
		}
	}
	if f&long != 0 {
		words(plain, func(start, end int) {
			if kind, text := decodeWord(plain[start:end]); text != "" {
				add(kind, start, end, text)
			}
		})
	}
	if f&spaced != 0 {
		spacedLetters(plain, func(start, end int, text string) { add(Spaced, start, end, text) })
	}
	if f&codes != 0 {
		numbers(plain, func(start, end int, text string) { add(Codes, start, end, text) })
	}
}

// smuggled adds what invisible characters and overrides say.
func (t *Text) smuggled(s string, levels int) {
	for _, span := range t.Invisible {
		if len(t.Parts) >= maxParts {
			return
		}
		text := ""
		switch span.Kind {
		case Tags, Selectors:
			text = strings.ToValidUTF8(unseenRun(s[span.Start:span.End]), "")
		case Bidi:
			if r, n := utf8.DecodeRuneInString(s[span.Start:]); r == 0x202e {
				// Up to the next override, so that all of them together are read once.
				end := strings.IndexAny(s[span.Start+n:], "\u202c\u202d\u202e\n")
				if end < 0 {
					end = len(s) - span.Start - n
				}
				text = reversed(s[span.Start+n : span.Start+n+end])
				span.End = span.Start + n + end
			}
		}
		if len(t.Parts) < maxParts && readable(text) {
			t.Parts = append(t.Parts, Part{span, normalise(text, levels-1)})
		}
	}
}

// unseenRun returns what the tag characters and selectors of s say.
func unseenRun(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		u := unseenAt(s, i)
		b.WriteString(u.text)
		i += max(1, u.size)
	}
	return b.String()
}

func reversed(s string) string {
	r := []rune(s)
	for i, j := 0, len(r)-1; i < j; i, j = i+1, j-1 {
		r[i], r[j] = r[j], r[i]
	}
	return string(r)
}

// words calls f for the words of s that are long enough to hold a text.
func words(s string, f func(start, end int)) {
	start := 0
	for i := 0; i <= len(s); i++ {
		if i < len(s) && class[s[i]]&word != 0 {
			continue
		}
		if i-start >= minWord {
			f(start, i)
		}
		start = i + 1
	}
}

// decodeWord returns the text that a word is the base64 or hex of; "" if it is none.
func decodeWord(w string) (Kind, string) {
	if text, ok := hexText(w); ok {
		return Hex, text
	}
	if !mixedCase(w) {
		return "", ""
	}
	for _, from := range [...]int{0, strings.IndexByte(w, '=') + 1, strings.LastIndexByte(w, '/') + 1} { // name=value, and a path
		if from == 0 || from < len(w)-minWord {
			if text, ok := base64Text(w[from:]); ok {
				return Base64, text
			}
		}
	}
	return "", ""
}

func hexText(w string) (string, bool) {
	w = strings.TrimPrefix(w, "0x")
	for i := range len(w) {
		if digit(w[i]) < 0 {
			return "", false
		}
	}
	b, err := hex.DecodeString(w[:len(w)&^1])
	return string(b), err == nil
}

// base64Text decodes w, or what of it decodes before it ends in the middle. A look at
// the beginning saves the work for what is no text.
func base64Text(w string) (string, bool) {
	w = strings.TrimRight(w, "=")
	encoding := base64.RawStdEncoding
	if strings.ContainsAny(w, "-_") {
		encoding = base64.RawURLEncoding
	}
	const look = 64
	if len(w) > look {
		var head [look]byte
		if n, err := encoding.Decode(head[:], []byte(w[:look])); err != nil || !printable(head[:n]) {
			return "", false
		}
	}
	if len(w)%4 == 1 {
		w = w[:len(w)-1]
	}
	b, err := encoding.DecodeString(w)
	return string(b), err == nil
}

func mixedCase(w string) bool {
	var f features
	for i := range len(w) {
		c := w[i]
		f |= class[c]
		if c >= 'a' && c <= 'z' {
			f |= maybe
		}
	}
	return f&upper != 0 && f&maybe != 0
}

func printable(b []byte) bool {
	for _, c := range b {
		if c < ' ' && c != '\n' && c != '\r' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

// shortest is the shortest text that says anything, in bytes.
const shortest = 8

// readable reports whether s is a text: words, mostly.
func readable(s string) bool {
	if len(s) < shortest || !utf8.ValidString(s) || !printable([]byte(s)) {
		return false
	}
	letters, all := 0, 0
	for _, r := range s {
		all++
		if unicode.IsLetter(r) || r == ' ' {
			letters++
		}
	}
	return letters*4 >= all*3
}

// spacedLetters calls f for rows of single letters, with a space where the gap is
// wider.
func spacedLetters(s string, f func(start, end int, text string)) {
	var b strings.Builder
	start, end, n := 0, 0, 0
	flush := func() {
		if n >= fewestLetters {
			f(start, end, b.String())
		}
		b.Reset()
		n = 0
	}
	for i := 0; i < len(s); i++ {
		alone := class[s[i]]&letter != 0 && (i == 0 || class[s[i-1]]&letter == 0) && (i+1 == len(s) || class[s[i+1]]&letter == 0 && s[i+1] < utf8.RuneSelf)
		switch gap := i - end; {
		case !alone:
			if class[s[i]]&letter != 0 || gap > 4 {
				flush()
			}
			continue
		case n == 0:
			start = i
		case gap > 1:
			b.WriteByte(' ')
		}
		b.WriteByte(s[i])
		end = i + 1
		n++
	}
	flush()
}

// numbers calls f for rows of characters that are written as numbers: 8 bits, two
// hexadecimal digits, or decimal codes of ASCII.
func numbers(s string, f func(start, end int, text string)) {
	var row struct {
		b          []byte
		base       int
		start, end int
	}
	flush := func() {
		if len(row.b) >= fewestCodes {
			f(row.start, row.end, string(row.b))
		}
		row.b = row.b[:0]
	}
	const widestGap = 4
	for i := 0; i < len(s); {
		if digit(s[i]) < 0 {
			i++
			continue
		}
		start := i
		for i < len(s) && digit(s[i]) >= 0 {
			i++
		}
		c, ok := code(s[start:i], row.base)
		if len(row.b) == 0 || !ok || start-row.end > widestGap {
			flush()
			row.base = base(s[start:i])
			if c, ok = code(s[start:i], row.base); !ok {
				continue
			}
			row.start = start
		}
		row.b, row.end = append(row.b, c), i
	}
	flush()
}

// base returns the base that a row of characters is written in which begins with w; 0
// if none does.
func base(w string) int {
	switch {
	case len(w) == 8 && strings.Trim(w, "01") == "":
		return 2
	case len(w) == 2:
		return 16
	case len(w) == 3:
		return 10
	}
	return 0
}

// code reads a character that is written as a number.
func code(w string, base int) (byte, bool) {
	if base == 2 && len(w) != 8 || base == 16 && len(w) != 2 || base == 10 && len(w) != 2 && len(w) != 3 || base == 0 {
		return 0, false
	}
	v := 0
	for i := range len(w) {
		d := digit(w[i])
		if d >= base {
			return 0, false
		}
		v = v*base + d
	}
	return byte(v), v >= ' ' && v < 0x7f || v == '\n'
}
