package ssrf

import (
	"encoding/base64"
	"html"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// decoders are the ways in which a text may hide a URL that a tool still finds. Each
// reports whether it changed anything.
var decoders = [...]func(text string) (string, bool){percentURL, percentTwice, unescape, entities, wide, base64URL}

// percentURL undoes percent-encoding once where it hides the colon or the slashes of a
// URL. Other parts of one are decoded where they are judged.
func percentURL(text string) (string, bool) {
	rest := text
	for i := strings.IndexByte(rest, '%'); i >= 0; i = strings.IndexByte(rest, '%') {
		rest = rest[i+1:]
		if v, ok := hexByte(rest); ok && (v == ':' || v == '/' || v == '\\') {
			return percentDecode(text)
		}
	}
	return "", false
}

// percentDecode undoes percent-encoding once; what is no encoding stays.
func percentDecode(text string) (string, bool) {
	if strings.IndexByte(text, '%') < 0 {
		return "", false
	}
	var b strings.Builder
	b.Grow(len(text))
	changed := false
	for i := strings.IndexByte(text, '%'); i >= 0; i = strings.IndexByte(text, '%') {
		b.WriteString(text[:i])
		if v, ok := hexByte(text[i+1:]); ok {
			b.WriteByte(v)
			text, changed = text[i+3:], true
		} else {
			b.WriteByte('%')
			text = text[i+1:]
		}
	}
	b.WriteString(text)
	return b.String(), changed
}

// percentTwice undoes what a URL within a URL's query has been through.
func percentTwice(text string) (string, bool) {
	if !strings.Contains(text, "%25") { // an encoded %
		return "", false
	}
	text, _ = percentDecode(text)
	return percentDecode(text)
}

func hexByte(text string) (byte, bool) {
	r, ok := hexRune(text, 2)
	return byte(r), ok
}

func hexRune(text string, n int) (rune, bool) {
	if len(text) < n {
		return 0, false
	}
	var v rune
	for i := range n {
		switch c := text[i]; {
		case digit(c):
			v = v<<4 | rune(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			v = v<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return v, true
}

// unescape undoes \/, \xHH and \uHHHH, as strings of JSON and of programs have them.
func unescape(text string) (string, bool) {
	if !strings.Contains(text, `\/`) && !strings.Contains(text, `\u`) && !strings.Contains(text, `\x`) {
		return "", false
	}
	var b strings.Builder
	b.Grow(len(text))
	for i := strings.IndexByte(text, '\\'); i >= 0; i = strings.IndexByte(text, '\\') {
		b.WriteString(text[:i])
		text = text[i+1:]
		if text == "" {
			b.WriteByte('\\')
			break
		}
		n := 0
		switch text[0] {
		case 'x':
			n = 2
		case 'u':
			n = 4
		}
		if r, ok := hexRune(text[1:], n); n > 0 && ok {
			b.WriteRune(r)
			text = text[1+n:]
		} else if text[0] == '/' {
			b.WriteByte('/')
			text = text[1:]
		} else {
			b.WriteByte('\\')
		}
	}
	b.WriteString(text)
	return b.String(), true
}

// entities undoes HTML's.
func entities(text string) (string, bool) {
	if !strings.Contains(text, "&#") && !strings.Contains(text, "&colon;") && !strings.Contains(text, "&sol;") {
		return "", false
	}
	plain := html.UnescapeString(text)
	return plain, plain != text
}

// wide undoes full-width colons and slashes, which look like a URL's.
func wide(text string) (string, bool) {
	if !strings.Contains(text, "：") && !strings.Contains(text, "／") {
		return "", false
	}
	return norm.NFKC.String(text), true
}

// maxBase64 bounds a URL in base64.
const maxBase64 = 4096

// visible undoes compatibility forms of a host, and leaves out characters that nobody
// sees.
func visible(host string) string {
	return strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cf, unicode.Mn, unicode.Cc) {
			return -1
		}
		return r
	}, norm.NFKC.String(host))
}

// base64URL decodes a text that is nothing but a URL in base64.
func base64URL(text string) (string, bool) {
	if len(text) < 12 || len(text) > maxBase64 {
		return "", false
	}
	var head [9]byte
	if _, err := base64.RawStdEncoding.Decode(head[:], []byte(text[:12])); err != nil {
		return "", false
	}
	if i := strings.Index(string(head[:]), ":/"); i < 0 || !isScheme(string(head[:i])) {
		return "", false
	}
	text = strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(text, "="))
	plain, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil || !utf8.Valid(plain) {
		return "", false
	}
	return string(plain), true
}
