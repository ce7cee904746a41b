package secret

import (
	b64 "encoding/base64"
	"strconv"
	"strings"
	"unicode/utf8"
)

// deepest is how often a text is decoded: an encoded text within one.
const deepest = 3

// codedKeys are the beginnings of credentials that are also looked for in base64, where
// a whole credential was encoded.
const codedKeys = "ghp_ gho_ ghs_ github_pat_ glpat- sk-ant- sk-proj- sk_live_ rk_live_ AKIA xoxb- xoxp- AIza npm_ -----BEGIN hf_ SG. postgres:// postgresql:// mysql:// mongodb redis:// amqp:// https:// Bearer {\"type"

// codedPrefixes returns what base64 of the beginnings begins with.
func codedPrefixes() (out []string) {
	for _, k := range strings.Fields(codedKeys) {
		out = append(out, b64.RawStdEncoding.EncodeToString([]byte(k))[:len(k)*8/6])
	}
	return out
}

// coded looks into base64, and takes all of it for a secret if there is one in it.
func (s *scan) coded(start int) {
	if s.depth >= deepest || s.seen(codedForm, start) || !border(s.text, start, false) {
		return
	}
	stop := (alnum | plusSlash | dash | underscore).run(s.text, start, longestBlock)
	if stop-start < 20 {
		return
	}
	s.see(codedForm, stop)
	v := s.text[start:stop]
	b, err := base64Of(v).DecodeString(v)
	if err != nil || !utf8.Valid(b) {
		return
	}
	if len(find(string(b), s.depth+1)) > 0 {
		s.add("base64", start, equals.run(s.text, stop, 2))
	}
}

func liveEncoded(text string, start, end int) bool {
	if text[start] != '\\' || text[end-1] == 'x' {
		return true
	}
	// Of \u00XX those that can be part of a credential or a name. What separates them is
	// live by what it separates.
	if end+2 > len(text) || !anyHex.all(text[end:end+2]) {
		return false
	}
	n, _ := strconv.ParseUint(text[end:end+2], 16, 8)
	return (path | colon).has(byte(n)) || n == '@'
}

// longestRun is how long a text without blanks may be to be decoded.
const longestRun = 16 << 10

// encoded decodes the text without blanks around an escape, and looks into it.
func (s *scan) encoded(start, end int) {
	if s.depth >= deepest || start < s.runs {
		return
	}
	from := start
	for from > s.runs && start-from < longestRun && s.text[from-1] > ' ' {
		from--
	}
	to := end
	for to < len(s.text) && to-start < longestRun && s.text[to] > ' ' {
		to++
	}
	s.runs = to
	// The name before a value may be one blank away: password: a%3Db.
	text, at := decode(s.text[from:to])
	if text == "" {
		return
	}
	for _, f := range find(text, s.depth+1) {
		s.add(f.Rule, from+at[f.Start], from+at[f.End])
	}
}

var entities = map[string]string{"&quot;": `"`, "&amp;": "&", "&lt;": "<", "&gt;": ">", "&apos;": "'"}

// decode undoes one layer of %XX, \uXXXX, \xXX, and entities of HTML. at[i] is where the i-th
// byte of the result comes from, and the last one the end. The result is "" where there
// is nothing to undo.
func decode(text string) (string, []int) {
	var b []byte
	var at []int
	changed := false
	for i := 0; i < len(text); {
		r, n := escaped(text[i:])
		if n == 0 {
			b, at = append(b, text[i]), append(at, i)
			i++
			continue
		}
		changed = true
		b = append(b, r...)
		for range len(r) {
			at = append(at, i)
		}
		i += n
	}
	if !changed {
		return "", nil
	}
	return string(b), append(at, len(text))
}

// escaped returns what the escape at the start of a text stands for, and its length.
func escaped(text string) (string, int) {
	number := func(digits string, base, n int) (string, int) {
		v, err := strconv.ParseUint(digits, base, 21)
		if err != nil {
			return "", 0
		}
		return string(rune(v)), n
	}
	switch {
	case text[0] == '%' && len(text) >= 3:
		v, err := strconv.ParseUint(text[1:3], 16, 8)
		if err != nil {
			return "", 0
		}
		return string([]byte{byte(v)}), 3
	case strings.HasPrefix(text, `\u`) && len(text) >= 6:
		return number(text[2:6], 16, 6)
	case strings.HasPrefix(text, `\x`) && len(text) >= 4:
		return number(text[2:4], 16, 4)
	case text[0] == '&':
		semi := strings.IndexByte(text[:min(len(text), 9)], ';')
		if semi < 0 {
			return "", 0
		}
		name := text[:semi+1]
		if r, ok := entities[name]; ok {
			return r, semi + 1
		}
		if hex, ok := strings.CutPrefix(name, "&#x"); ok {
			return number(hex[:len(hex)-1], 16, semi+1)
		}
		if dec, ok := strings.CutPrefix(name, "&#"); ok {
			return number(dec[:len(dec)-1], 10, semi+1)
		}
	}
	return "", 0
}
