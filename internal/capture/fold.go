package capture

import (
	"sort"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// folder turns bytes into the form in which texts are compared: without case, full
// width letters as narrow ones, ligatures as their letters, a letter and the marks
// on it as one (NFC), and escapes of JSON as what they stand for. It knows where everything was.
//
// \u4e2d is decoded wherever it stands, behind any number of backslashes: JSON in
// JSON in JSON has more than one. \n, \" and the like are decoded once, and only
// where the text is JSON: elsewhere C:\new is a path.
//
// It is reused from window to window and is not safe for concurrent use.
type folder struct {
	json bool

	out   []byte
	marks []mark
	shift int // raw position less position in out, at the end of out
	unit  int // where the last letter begins in out
	hint  int // how many marks are before the position that raw was asked for last
	tmp   []byte
	pairs map[pair]string // in NFC, of those that have been met
	cases [0x2000]uint16  // folded runes that have been met; 0 is unknown
}

// unitMost bounds a letter with its marks, so that a heap of marks takes no longer
// than any text.
const unitMost = 12

// pairsMost bounds what a folder remembers.
const pairsMost = 4096

// mark is where positions stop running in step: from out on they are raw + what
// is beyond.
type mark struct{ out, raw int }

// fold folds raw. The result is valid until the next call.
func (f *folder) fold(raw []byte) []byte {
	f.out, f.marks, f.shift, f.unit = f.out[:0], f.marks[:0], 0, 0
	f.hint = 0
	for i := 0; i < len(raw); {
		c := raw[i]
		switch {
		case c == '\\':
			i = f.escape(raw, i)
		case c < utf8.RuneSelf:
			i = f.plain(raw, i)
		default:
			r, n := utf8.DecodeRune(raw[i:])
			if r == utf8.RuneError && n == 1 { // stays what it is
				f.at(i)
				f.out = append(f.out, c)
			} else {
				f.put(r, i)
			}
			i += n
		}
	}
	f.at(len(raw))
	return f.out
}

// raw returns where a position in the result of fold was. It is quick when asked
// in order.
func (f *folder) raw(out int) int {
	if f.hint > len(f.marks) || f.hint > 0 && f.marks[f.hint-1].out > out {
		f.hint = sort.Search(len(f.marks), func(i int) bool { return f.marks[i].out > out })
	}
	for f.hint < len(f.marks) && f.marks[f.hint].out <= out {
		f.hint++
	}
	at := out
	if f.hint > 0 {
		m := f.marks[f.hint-1]
		at += m.raw - m.out
	}
	if f.hint < len(f.marks) { // a letter that became longer ends where the next begins
		at = min(at, f.marks[f.hint].raw)
	}
	return at
}

// at notes that what is put next was at a raw position.
func (f *folder) at(raw int) {
	if raw-len(f.out) != f.shift {
		f.shift = raw - len(f.out)
		f.marks = append(f.marks, mark{len(f.out), raw})
	}
}

// plain folds ASCII from i on, up to the next backslash.
func (f *folder) plain(raw []byte, i int) int {
	f.at(i)
	from := len(f.out)
	j := i
	for j < len(raw) && raw[j] < utf8.RuneSelf && raw[j] != '\\' {
		j++
	}
	f.out = append(f.out, raw[i:j]...)
	for k, c := range f.out[from:] {
		if c-'A' <= 'Z'-'A' {
			f.out[from+k] = c + 'a' - 'A'
		}
	}
	f.unit = len(f.out) - 1
	return j
}

// put folds a rune that was at a raw position.
func (f *folder) put(r rune, raw int) {
	if combines(r) && f.open() {
		f.combine(r)
		return
	}
	if letters := written(r); letters != "" {
		for i := range letters {
			f.at(raw)
			f.unit = len(f.out)
			f.out = append(f.out, letters[i])
		}
		return
	}
	f.at(raw)
	f.unit = len(f.out)
	f.out = utf8.AppendRune(f.out, f.rune(r))
}

// written returns the letters of a rune that stands for several, "" for others.
func written(r rune) string {
	if r == 'ß' || r == 'ẞ' {
		return "ss"
	}
	if r >= 'ﬀ' && r <= 'ﬆ' {
		return [...]string{"ff", "fi", "fl", "ffi", "ffl", "st", "st"}[r-'ﬀ']
	}
	return ""
}

// open reports whether a mark would be on a letter, and not on a heap of marks.
func (f *folder) open() bool {
	if n := len(f.out) - f.unit; n == 0 || n > unitMost {
		return false
	}
	first, _ := utf8.DecodeRune(f.out[f.unit:])
	return !combines(first)
}

// combines reports whether a rune may become one with those before it.
func combines(r rune) bool {
	return r >= 0x300 && r <= 0x36f || // marks
		r >= 0x1161 && r <= 0x11c2 || // parts of Korean syllables
		r == 0x3099 || r == 0x309a // voiced kana
}

// pair is a letter and a mark on it.
type pair struct{ letter, mark rune }

// combine puts r on the letter before it.
func (f *folder) combine(r rune) {
	letter, n := utf8.DecodeRune(f.out[f.unit:])
	p := pair{letter, r}
	if f.unit+n < len(f.out) { // it has a mark already that did not become one with it
		p = pair{}
	}
	whole, known := f.pairs[p]
	if !known {
		f.tmp = norm.NFC.Append(f.tmp[:0], utf8.AppendRune(f.out, r)[f.unit:]...)
		whole = string(f.tmp)
		if f.pairs == nil {
			f.pairs = map[pair]string{}
		}
		if p != (pair{}) && len(f.pairs) < pairsMost {
			f.pairs[p] = whole
		}
	}
	f.out = append(f.out[:f.unit], whole...)
	for len(f.marks) > 0 && f.marks[len(f.marks)-1].out > f.unit {
		f.marks = f.marks[:len(f.marks)-1]
	}
	f.shift = 0
	if n := len(f.marks); n > 0 {
		f.shift = f.marks[n-1].raw - f.marks[n-1].out
	}
}

// rune folds case and width.
func (f *folder) rune(r rune) rune {
	switch {
	case r < 0x2000:
		if f.cases[r] == 0 {
			f.cases[r] = uint16(unicode.ToLower(unicode.ToUpper(r)))
		}
		return rune(f.cases[r])
	case r >= 0x2e80 && r < 0xa640, r >= 0xac00 && r < 0xff01, r >= 0x1f000: // no cases here
		return r
	case r >= 0xff01 && r <= 0xff5e:
		return unicode.ToLower(r - 0xff01 + '!')
	}
	return unicode.ToLower(unicode.ToUpper(r))
}

// escape folds what begins with the backslash at i and returns where it ends.
func (f *folder) escape(raw []byte, i int) int {
	n := 1
	for i+n < len(raw) && raw[i+n] == '\\' {
		n++
	}
	if r, end, ok := unicodeEscape(raw, i+n); ok {
		f.put(r, i)
		return end
	}
	if !f.json {
		f.at(i)
		f.out = append(f.out, raw[i:i+n]...)
		f.unit = len(f.out) - 1
		return i + n
	}
	f.at(i)
	f.unit = len(f.out)
	if i+1 < len(raw) {
		if c := letterEscape(raw[i+1]); c != 0 {
			f.out = append(f.out, c)
			return i + 2
		}
	}
	f.out = append(f.out, '\\')
	return i + 1
}

// letterEscape returns what a backslash and c stand for in JSON, 0 if nothing.
func letterEscape(c byte) byte {
	switch c {
	case '"', '\\', '/':
		return c
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	}
	return 0
}

// unicodeEscape decodes the rest of an escape, from its u at i on, and a second
// one that makes a pair of surrogates with it.
func unicodeEscape(raw []byte, i int) (r rune, end int, ok bool) {
	hi, ok := hexEscape(raw, i)
	if !ok {
		return 0, 0, false
	}
	end = i + 5
	if hi < 0xd800 || hi > 0xdfff {
		return hi, end, true
	}
	next := end
	for next < len(raw) && raw[next] == '\\' {
		next++
	}
	if lo, ok := hexEscape(raw, next); ok && next > end && hi < 0xdc00 && lo >= 0xdc00 && lo <= 0xdfff {
		return 0x10000 + (hi-0xd800)<<10 + (lo - 0xdc00), next + 5, true
	}
	return utf8.RuneError, end, true
}

func hexEscape(raw []byte, i int) (rune, bool) {
	if i+5 > len(raw) || raw[i] != 'u' {
		return 0, false
	}
	r := rune(0)
	for _, c := range raw[i+1 : i+5] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}
