package normal

import (
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// fold writes s in lower case, in compatibility form, without accents and invisible
// characters, and Latin letters for those that stand in for them. It reports whether
// it found any that [Invisible] lists.
func fold(s string) (text string, l layer, disguised []Span, found bool) {
	f := folder{writer: writer{out: make([]byte, 0, len(s))}, s: s}
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf && class[c]&control == 0 {
			i = f.ascii(i)
			continue
		}
		i = f.rune(i)
	}
	f.terminal(len(s), "")
	f.at(len(s))
	return view(f.out), f.layer, f.disguised, f.found
}

type folder struct {
	writer
	s string
	// wordEnd is the end of the word that was looked at last, and mixed whether its
	// lookalikes are read as Latin letters.
	wordEnd int
	mixed   bool
	found   bool   // something that shows nothing and should not be there
	scripts script // of the whole text, if known
	unseen  int    // where text begins that a terminal does not show, plus 1; 0 if it shows
	scanned bool
}

// ascii writes the ASCII run at i and returns its end.
func (f *folder) ascii(i int) int {
	end := i
	for end < len(f.s) && f.s[end] < utf8.RuneSelf && class[f.s[end]]&control == 0 {
		end++
	}
	f.at(i)
	start := len(f.out)
	f.out = append(f.out, f.s[i:end]...)
	lowerBytes(f.out[start:])
	return end
}

// rune writes the character at i, or more that belong together, and returns the end.
func (f *folder) rune(i int) int {
	r, n := utf8.DecodeRuneInString(f.s[i:])
	switch {
	case ideographic(r):
		if r < 0xac00 || r > 0xd7a3 { // Korean has spaces
			f.closeUp()
		}
		f.at(i)
		f.out = append(f.out, f.s[i:i+n]...)
		return i + n
	case r < ' ' || r >= 0x7f && hidden(r):
		u := unseenAt(f.s, i)
		f.found = f.found || u.kind != ""
		switch {
		case u.inWord():
			f.disguise(len(f.out))
		case u.kind == ANSI:
			f.terminal(i, f.s[i:i+u.size])
		}
		return i + u.size
	case accent(r):
		return i + n
	case r == utf8.RuneError && n == 1:
		f.at(i)
		f.out = append(f.out, ' ')
		return i + 1
	}
	f.at(i)
	if size := f.composite(i, n); size > 0 {
		return i + size
	}
	if latin, ok := confusable(r); ok && f.standsIn(i) {
		start := len(f.out)
		f.out = append(f.out, latin...)
		f.disguise(start)
		return i + n
	}
	f.out = appendFolded(f.out, r)
	return i + n
}

// terminal takes note of an escape at byte i that hides what follows, or that ends that.
func (f *folder) terminal(i int, escape string) {
	if f.unseen > 0 && f.unseen-1 < len(f.out) {
		f.disguised = append(f.disguised, Span{Unseen, f.unseen - 1, len(f.out)})
	}
	f.unseen = 0
	if !conceals(escape) {
		return
	}
	f.at(i)
	f.out = append(f.out, '\n')
	f.unseen = len(f.out) + 1
}

// closeUp takes out a single space between two ideographs: Chinese has none, and
// letters with gaps are not found.
func (f *folder) closeUp() {
	n := len(f.out)
	if n < 4 || f.out[n-1] != ' ' {
		return
	}
	if r, _ := utf8.DecodeLastRune(f.out[:n-1]); ideographic(r) {
		f.out = f.out[:n-1]
	}
}

// composite writes the characters at i that are one with those behind them, as
// Korean syllables in parts, and returns their size; 0 if the one at i stands alone.
func (f *folder) composite(i, n int) int {
	next, _ := utf8.DecodeRuneInString(f.s[i+n:])
	if !(next >= 0x1160 && next <= 0x11ff || next == 0x3099 || next == 0x309a || next >= 0xff9e && next <= 0xff9f) {
		return 0
	}
	size := norm.NFKC.NextBoundaryInString(f.s[i:], true)
	if size <= n {
		return 0
	}
	f.out = norm.NFKC.AppendString(f.out, f.s[i:i+size])
	return size
}

// standsIn reports whether the lookalike at i stands for a Latin letter: its word has
// Latin letters as well, or the text none but lookalikes of its script.
func (f *folder) standsIn(i int) bool {
	if i < f.wordEnd {
		return f.mixed
	}
	found, end := wordAt(f.s, i)
	f.wordEnd = end
	switch {
	case found&latinLetters != 0:
		f.mixed = true
	case found&native != 0:
		f.mixed = false
	default:
		if !f.scanned {
			f.scanned = true
			for _, r := range f.s {
				f.scripts |= scriptOf(r)
			}
		}
		f.mixed = f.scripts&native == 0 && f.scripts&latinLetters != 0
	}
	return f.mixed
}

// script says what letters a word or a text has.
type script uint8

const (
	latinLetters script = 1 << iota
	native              // letters of other alphabets that look like no Latin letter
)

func scriptOf(r rune) script {
	switch {
	case r < utf8.RuneSelf:
		if class[byte(r)]&letter != 0 {
			return latinLetters
		}
		return 0
	case r >= 0x370 && r < 0x590 || r >= 0x13a0 && r < 0x1400:
		if _, ok := confusable(r); !ok && unicode.IsLetter(r) {
			return native
		}
	}
	return 0
}

// reach is how far around a letter the ends of its word are looked for.
const reach = 64

// wordAt returns what letters the word around byte i of s has, and its end.
func wordAt(s string, i int) (found script, end int) {
	start := i
	for start > 0 && i-start < reach {
		r, n := utf8.DecodeLastRuneInString(s[:start])
		if !unicode.IsLetter(r) && !hidden(r) && !accent(r) {
			break
		}
		found |= scriptOf(r)
		start -= n
	}
	for end = i; end < len(s) && end-i < reach; {
		r, n := utf8.DecodeRuneInString(s[end:])
		if !unicode.IsLetter(r) && !hidden(r) && !accent(r) {
			break
		}
		found |= scriptOf(r)
		end += n
	}
	return found, end
}

// appendFolded adds r in compatibility form and lower case, without accents.
func appendFolded(b []byte, r rune) []byte {
	switch {
	case r < endOfLatin:
		return append(b, latinForms()[r]...)
	case r >= 0x400 && r < 0x530: // Cyrillic, where a mark makes another letter
		if r == 'ё' || r == 'Ё' {
			r = 'е'
		}
		return utf8.AppendRune(b, unicode.ToLower(r))
	}
	return appendForm(b, r)
}

const endOfLatin = 0x250

// latinForms are the folded forms of all Latin letters.
var latinForms = sync.OnceValue(func() *[endOfLatin]string {
	var t [endOfLatin]string
	for r := range t {
		t[r] = string(appendForm(nil, rune(r)))
	}
	return &t
})

// appendForm is appendFolded, looked up.
func appendForm(b []byte, r rune) []byte {
	if s, ok := plainForms[r]; ok {
		return append(b, s...)
	}
	if r >= 0x1f110 && r <= 0x1f189 { // letters in boxes
		return append(b, byte('a'+(r-0x1f110)%32%26))
	}
	var buf [utf8.UTFMax]byte
	n := utf8.EncodeRune(buf[:], r)
	d := norm.NFKD.Properties(buf[:n]).Decomposition()
	if d == nil || unicode.Is(unicode.Devanagari, r) {
		return utf8.AppendRune(b, unicode.ToLower(r))
	}
	for len(d) > 0 {
		r, n := utf8.DecodeRune(d)
		if !accent(r) {
			b = utf8.AppendRune(b, unicode.ToLower(r))
		}
		d = d[n:]
	}
	return b
}

// plainForms are letters that have no decomposition and are read as others.
var plainForms = map[rune]string{
	'ß': "ss", 'ẞ': "ss", 'æ': "ae", 'Æ': "ae", 'œ': "oe", 'Œ': "oe", 'ø': "o", 'Ø': "o", 'đ': "d", 'Đ': "d", 'ð': "d", 'Ð': "d",
	'ł': "l", 'Ł': "l", 'ħ': "h", 'ı': "i", 'İ': "i", 'þ': "th", 'Þ': "th", 'ŋ': "n",
	'’': "'", '‘': "'", 'ʼ': "'", '“': `"`, '”': `"`, '„': `"`, '«': `"`, '»': `"`, '‐': "-", '‑': "-", '‒': "-", '–': "-", '—': "-", '−': "-",
}

// accent reports whether r is a mark on a letter that is read without it.
func accent(r rune) bool {
	return r >= 0x300 && r <= 0x36f || r >= 0x1ab0 && r <= 0x1aff || r >= 0x1dc0 && r <= 0x1dff || r >= 0x20d0 && r <= 0x20ff || r >= 0xfe20 && r <= 0xfe2f ||
		r >= 0x64b && r <= 0x652 || r == 0x640 // Arabic vowels, and the line that lengthens a word
}

// ideographic reports whether r is a character of a script that is folded already:
// Chinese, Japanese, Korean.
func ideographic(r rune) bool {
	return r >= 0x3041 && r <= 0x30ff && r != 0x3099 && r != 0x309a || r >= 0x3400 && r <= 0x9fff || r >= 0xac00 && r <= 0xd7a3 || r >= 0x20000 && r <= 0x323af
}
