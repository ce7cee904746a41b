package definition

import (
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// plain returns the text as a model reads it: compatible forms of letters are the plain
// ones, and what is not seen does not part words.
func plain(s string) string {
	if isASCII(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && r != '\r' && invisible(r) {
			return -1
		}
		return r
	}, norm.NFKC.String(s))
}

// maxLayers is how often a text may be encoded one over the other.
const maxLayers = 3

// decoded returns what is encoded in a text: in invisible characters, as escapes, as
// binary numbers, base64 or hexadecimal digits. What each layer gives is no longer than
// what it was made of.
func decoded(s string) (out []string) {
	layer := []string{s}
	for range maxLayers {
		var next []string
		for _, s := range layer {
			next = append(next, decodeOnce(s)...)
		}
		if len(next) == 0 {
			break
		}
		out, layer = append(out, next...), next
	}
	return out
}

func decodeOnce(s string) (out []string) {
	add := func(text string) {
		if readable(text) {
			out = append(out, text)
		}
	}
	if !isASCII(s) {
		add(smuggled(s))
	}
	if strings.ContainsAny(s, `\%`) || strings.Contains(s, "&#") {
		if text := escapes().ReplaceAllStringFunc(s, unescape); text != s {
			add(text)
		}
	}
	bits, bytes, longest := runs(s)
	if bits >= 8 {
		for _, m := range octets().FindAllString(s, maxTokens) {
			var b []byte
			for _, octet := range strings.Fields(m) {
				n, _ := strconv.ParseUint(octet, 2, 8)
				b = append(b, byte(n))
			}
			add(string(b))
		}
	}
	if bytes >= 8 {
		for _, m := range pairs().FindAllString(s, maxTokens) {
			b, _ := hex.DecodeString(separators.Replace(m))
			add(string(b))
		}
	}
	if longest < minToken {
		return out
	}
	for _, m := range tokens(s) {
		if b, err := hex.DecodeString(m); err == nil {
			add(string(b))
			continue
		}
		m = strings.TrimRight(strings.NewReplacer("-", "+", "_", "/").Replace(m), "=")
		for _, from := range []int{0, strings.IndexByte(m, '/') + 1} { // a path may stand before it
			if b, err := base64.RawStdEncoding.DecodeString(m[from:]); err == nil {
				add(string(b))
				break
			}
		}
	}
	return out
}

// runs returns the length of the longest run of binary digits in a text, of the longest
// row of words that are two hexadecimal digits, or four with 0x, and of the longest run
// of characters that base64 is written with. Few texts have any that need a closer look.
func runs(s string) (bits, bytes, longest int) {
	b, l, h, row := 0, 0, 0, 1 // the last word of a row ends with the text
	for i := range len(s) {
		c := s[i]
		if class[c] == 0 && c != '+' || c == '.' {
			if h == l && l == 2 || h == 3 && l == 4 {
				row++
				bytes = max(bytes, row)
			} else if l > 0 {
				row = 1
			}
			b, l, h = 0, 0, 0
			continue
		}
		l++
		if c == '0' || c == '1' {
			b++
		} else {
			b = 0
		}
		if c <= '9' && c >= '0' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' {
			h++
		}
		bits, longest = max(bits, b), max(longest, l)
	}
	return bits, bytes, longest
}

// tokens returns the words of a text that are long enough to be an encoded sentence.
func tokens(s string) (out []string) {
	start := 0
	for i := 0; i <= len(s) && len(out) < maxTokens; i++ {
		if i < len(s) && (class[s[i]] != 0 && s[i] != '.' || s[i] == '+') {
			continue
		}
		if i-start >= minToken {
			out = append(out, s[start:i])
		}
		start = i + 1
	}
	return out
}

// maxTokens bounds how many encoded words of a text are read.
const maxTokens = 64

var (
	pairs = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\b(?:0x)?[0-9A-Fa-f]{2}(?:[\s:,]+(?:0x)?[0-9A-Fa-f]{2}){7,}\b`)
	})
	octets  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b[01]{8}(?:\s+[01]{8}){7,}\b`) })
	escapes = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\\u\{?[0-9A-Fa-f]{4}\}?|\\x[0-9A-Fa-f]{2}|(?:%[0-9A-Fa-f]{2})+|&#[0-9]{2,6};|&#[xX][0-9A-Fa-f]{2,5};`)
	})
)

// separators stand between pairs of digits.
var separators = strings.NewReplacer(" ", "", "\n", "", "\t", "", "\r", "", ":", "", ",", "", "0x", "")

// unescape returns what one escape stands for, itself if it stands for none.
func unescape(e string) string {
	digits, base := strings.Trim(e[2:], "{};"), 16
	switch {
	case e[0] == '%':
		if s, err := url.PathUnescape(e); err == nil {
			return s
		}
		return e
	case e[0] == '&' && (e[2] == 'x' || e[2] == 'X'):
		digits = strings.Trim(e[3:], ";")
	case e[0] == '&':
		base = 10
	}
	n, err := strconv.ParseUint(digits, base, 32)
	if err != nil || !utf8.ValidRune(rune(n)) {
		return e
	}
	return string(rune(n))
}

// smuggled returns the ASCII that is written in tag characters or variation selectors,
// which nothing shows.
func smuggled(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r > 0xE0000 && r < 0xE007F:
			b.WriteByte(byte(r - 0xE0000))
		case r >= 0xE0100 && r <= 0xE01EF: // 16 and up
			b.WriteByte(byte(r-0xE0100) + 16)
		}
	}
	return b.String()
}

// readable says that decoded bytes are text.
func readable(s string) bool {
	const shortest = 8
	if len(s) < shortest || !utf8.ValidString(s) {
		return false
	}
	for _, r := range s {
		if unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r' {
			return false
		}
	}
	return true
}
