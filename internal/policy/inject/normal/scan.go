package normal

import (
	"encoding/binary"
	"strings"
	"unsafe"
)

// features say what of a text must be undone.
type features uint16

const (
	upper   features = 1 << iota // letters A to Z
	beyond                       // bytes beyond ASCII
	control                      // control characters but tab and line ends
	escape                       // %, \ or & that begins an escape
	markup                       // < or [ that may begin what is not shown
	spaced                       // letters one by one
	long                         // a word long enough to hold a text
	codes                        // characters written as numbers, perhaps

	letter // for the table alone
	word
	maybe
)

// class is what a byte says of a text.
var class = func() (t [256]features) {
	for c := range t {
		switch {
		case c >= 0x80:
			t[c] = beyond
		case c < ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\f' || c == 0x7f:
			t[c] = control
		case c >= 'A' && c <= 'Z':
			t[c] = upper | letter | word
		case c >= 'a' && c <= 'z':
			t[c] = letter | word
		case c >= '0' && c <= '9' || c == '+' || c == '/' || c == '=' || c == '_' || c == '-':
			t[c] = word
		case c == '%' || c == '\\' || c == '&':
			t[c] = maybe
		}
	}
	return t
}()

const minWord = 20 // bytes of the shortest word that is decoded

// scan looks at s once: at all bytes for what is no plain ASCII, and at some for what
// is long enough to be met there.
func scan(s string) features {
	f := bytes(s)
	if hasEscape(s) {
		f |= escape
	}
	if hasMarkup(s) {
		f |= markup
	}
	return f | shapes(s)
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// atLeast has the high bit of each byte of v that is c or more; v must be ASCII.
func atLeast(v, c uint64) uint64 { return v + (0x80-c)*ones }

// bytes returns which of upper, beyond and control s has; eight bytes at a time.
func bytes(s string) features {
	var f features
	b := unsafe.Slice(unsafe.StringData(s), len(s))
	for len(b) >= 8 {
		v := binary.LittleEndian.Uint64(b)
		if v&highs != 0 || ^atLeast(v, ' ')&highs != 0 {
			for _, c := range b[:8] {
				f |= class[c] & (upper | beyond | control)
			}
		} else if (atLeast(v, 'A')&^atLeast(v, 'Z'+1))&highs != 0 {
			f |= upper
		}
		if atLeast(v&^highs, 0x7f)&highs != 0 && v&highs == 0 {
			f |= control
		}
		b = b[8:]
	}
	for _, c := range b {
		f |= class[c] & (upper | beyond | control)
	}
	return f
}

// shapes looks for long words, and for rows of single letters and of numbers, at
// places so near to each other that none of them fits between two.
func shapes(s string) features {
	const step = 8
	var f features
	for i := 0; i+step <= len(s); i += step {
		k, next := class[s[i]], class[s[i+1]]
		if f&long == 0 && k&class[s[i+step-1]]&class[s[i+step/2]]&word != 0 && wordAround(s, i) >= minWord {
			f |= long
		}
		if f&spaced == 0 && (k^next)&letter != 0 && (k^class[s[i+2]])&letter == 0 && rowAround(s, i+int(next&letter/letter), 1, isLetter) >= fewestLetters {
			f |= spaced
		}
		if f&codes == 0 && ((k|next)&(word|letter) == word || k&next&word == 0) && rowAround(s, i+int(next&word/word), 8, isDigit) >= fewestCodes {
			f |= codes
		}
	}
	return f
}

// wordAround returns the size of the word around byte i of s, or enough of it.
func wordAround(s string, i int) int {
	start, end := i, i
	for start > 0 && i-start < minWord && class[s[start-1]]&word != 0 {
		start--
	}
	for end < len(s) && end-start < minWord && class[s[end]]&word != 0 {
		end++
	}
	return end - start
}

const (
	fewestLetters = 6  // letters of the shortest row that is read as words
	fewestCodes   = 10 // numbers of the shortest row that is read as characters
)

func isLetter(c byte) bool { return class[c]&letter != 0 }
func isDigit(c byte) bool  { return digit(c) >= 0 }

// rowAround counts the runs of at most size bytes that are in, in a row around byte i
// of s, at most three others apart.
func rowAround(s string, i, size int, in func(byte) bool) int {
	const widestGap = 3
	n := 1
	for _, step := range [...]int{1, -1} {
		run, gap := 0, 0
		for j := i; j >= 0 && j < len(s) && n < fewestCodes && run <= size && gap <= widestGap; j += step {
			switch {
			case !in(s[j]):
				if class[s[j]]&letter != 0 && s[j] != 'x' {
					gap = widestGap // a word between
				}
				run, gap = 0, gap+1
			case gap > 0:
				n++
				run, gap = 1, 0
			default:
				run++
			}
		}
	}
	return n
}

// hasEscape reports whether an escape is in s.
func hasEscape(s string) bool {
	for _, c := range [...]byte{'%', '\\', '&'} {
		for rest := s; ; {
			i := strings.IndexByte(rest, c)
			if i < 0 {
				break
			}
			if _, n := escaped(rest[i:]); n > 0 {
				return true
			}
			rest = rest[i+1:]
		}
	}
	return false
}

// lower returns s in lower case; it must be ASCII.
func lower(s string, f features) string {
	if f&upper == 0 {
		return s
	}
	b := []byte(s)
	lowerBytes(b)
	return view(b)
}

// lowerBytes turns ASCII to lower case, eight bytes at a time.
func lowerBytes(b []byte) {
	for len(b) >= 8 {
		v := binary.LittleEndian.Uint64(b)
		big := atLeast(v, 'A') &^ atLeast(v, 'Z'+1) & highs
		binary.LittleEndian.PutUint64(b, v|big>>2)
		b = b[8:]
	}
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
}
