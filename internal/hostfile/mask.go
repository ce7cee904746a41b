package hostfile

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"heddle/internal/config"
)

const masked = "***"

var (
	// secretKey is in the names of keys and flags whose values are secrets.
	secretKey = regexp.MustCompile(`(?i)token|secret|passw|pwd|api[-_]?key|auth(?:$|[^o]|oriz)|credential|cookie|session|private|bearer|signature|[-_]key$|^key$`)
	// wholeRef is a value that is a reference alone, which says more than it gives
	// away.
	wholeRef = regexp.MustCompile(`^(Bearer )?(\$\{[A-Za-z_:][A-Za-z0-9_:]*\}|\$[A-Za-z_][A-Za-z0-9_]*|\{env:[A-Za-z0-9_]+\})$`)
	// assigned finds secrets in comments, which are no values to the parser.
	assigned = regexp.MustCompile(`(?i)("?[\w-]*(?:token|secret|passw|pwd|api[-_]?key|auth(?:[^o\w]|oriz)|credential|cookie|bearer|[-_]key)[\w-]*"?\s*[:=]\s*)("(?:[^"\\]|\\.)*"|'[^']*'|(?:bearer\s+)?[^\s",}]+)`)
	longWord = regexp.MustCompile(`[A-Za-z0-9_=+.-]{20,}`)
	issued   = regexp.MustCompile(`\b(?:sk-|gh[a-z]_|github_pat_|xox[a-z]-|AKIA|eyJ)[A-Za-z0-9_=+.-]{6,}`)
	letter   = regexp.MustCompile(`[A-Za-z]`)
	digit    = regexp.MustCompile(`[0-9]`)
)

// private are the keys of an entry under which everything is masked.
var private = map[string]bool{"env": true, "environment": true, "headers": true, "http_headers": true, "requestInit": true}

// mask returns data with the same lines and, in the ranges that are shown,
// without the values that may be secrets: all variables and headers of servers,
// and what looks like one anywhere else.
func mask(data []byte, f format, shown []span) []byte {
	if data == nil {
		return nil
	}
	d, err := parse("", f, data)
	if err != nil { // cannot be: what is shown was read before
		return []byte(strike(string(data)))
	}
	m := &masker{data: data, shown: shown}
	m.walk(d.root, "", false)
	for _, c := range comments(data, f) {
		m.comment(c)
	}
	return apply(data, m.splices...)
}

type masker struct {
	data    []byte
	shown   []span
	splices []splice
}

// walk masks below n, which stands under key; everything if all is set.
func (m *masker) walk(n *node, key string, all bool) {
	if n.end > n.start && !slices.ContainsFunc(m.shown, func(s span) bool { return n.start < s.end && s.start < n.end }) {
		return
	}
	switch n.kind {
	case object:
		for _, x := range n.members {
			m.walk(x.value, x.key, all || private[x.key])
		}
	case array:
		flag := false // the argument before asks for a secret
		found := secretsOf(n.items)
		for i, item := range n.items {
			if item.kind == str && !all && !flag && found[i] != nil {
				m.replace(item, quote(starred(found[i])))
			} else {
				m.walk(item, key, all || flag)
			}
			flag = item.kind == str && strings.HasPrefix(item.text, "-") && secretKey.MatchString(item.text) && !strings.Contains(item.text, "=")
		}
	case str:
		if (all || secretKey.MatchString(key)) && !wholeRef.MatchString(n.text) {
			m.hide(n)
		} else {
			m.text(n, key)
		}
	case scalar:
		if all && n.text != "null" {
			m.hide(n)
		}
	}
}

// text masks a text by what it looks like, and then as init would cut it.
func (m *masker) text(n *node, key string) {
	shown := maskText(n.text)
	if found := config.SecretsUnder(key, escape(shown)); found != nil {
		shown = starred(found)
	}
	if shown != n.text {
		m.replace(n, quote(shown))
	}
}

// secretsOf cuts a command's arguments as init does.
func secretsOf(items []*node) [][]config.Piece {
	texts := make([]string, len(items))
	for i, item := range items {
		texts[i] = escape(maskText(item.text))
	}
	return config.SecretsOfArgs(texts)
}

// starred returns a text without its secrets.
func starred(found []config.Piece) string {
	var b strings.Builder
	for _, p := range found {
		if p.Secret {
			b.WriteString(masked)
		} else {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

// quotedText finds texts in a comment, which may be an entry that was taken out: those in
// double quotes, and those in single ones that stand where a value does. What a colon
// follows is a key.
var quotedText = regexp.MustCompile(`("(?:[^"\\\n]|\\.)*")(\s*[:=])?|([:=,\[{(]\s*)'[^'\n]*'`)

// comment masks the texts in a comment.
func (m *masker) comment(c span) {
	if !slices.ContainsFunc(m.shown, func(s span) bool { return c.start < s.end && s.start < c.end }) {
		return
	}
	for _, at := range quotedText.FindAllSubmatchIndex(m.data[c.start:c.end], -1) {
		switch {
		case at[4] >= 0: // a key
		case at[2] >= 0:
			m.splices = append(m.splices, splice{span{c.start + at[2], c.start + at[3]}, `"` + masked + `"`})
		default:
			m.splices = append(m.splices, splice{span{c.start + at[7], c.start + at[1]}, `'` + masked + `'`})
		}
	}
}

// comments returns where a file has comments.
func comments(data []byte, f format) []span {
	var out []span
	for i := 0; i < len(data); {
		end := i
		switch {
		case f == tomlFormat && data[i] == '#':
			end = lineOf(data, i)
		case f == jsonFormat:
			end = jsonComment(data, i)
		}
		switch {
		case end > i:
			out = append(out, span{i, end})
			i = end
		case data[i] == '"', f == tomlFormat && data[i] == '\'':
			i = textEnd(data, i, f)
		default:
			i++
		}
	}
	return out
}

// textEnd returns the offset after the text that begins at i.
func textEnd(data []byte, i int, f format) int {
	mark, escapes := data[i:i+1], data[i] == '"'
	if triple := bytes.Repeat(mark, 3); f == tomlFormat && bytes.HasPrefix(data[i:], triple) {
		mark = triple
	}
	for i += len(mark); i < len(data); i++ {
		switch {
		case escapes && data[i] == '\\':
			i++
		case bytes.HasPrefix(data[i:], mark):
			return i + len(mark)
		}
	}
	return len(data)
}

func (m *masker) hide(n *node) { m.replace(n, `"`+masked+`"`) }

// replace shows something else for a literal, in as many lines.
func (m *masker) replace(n *node, shown string) {
	if n.end <= n.start {
		return
	}
	lines := strings.Count(string(m.data[n.start:n.end]), "\n")
	m.splices = append(m.splices, splice{span{n.start, n.end}, shown + strings.Repeat("\n"+masked, lines)})
}

var (
	// named is an argument with a name: --key=v, KEY=v for a container, Header: v.
	named     = regexp.MustCompile(`(?s)^(-{0,2}[\w.-]+\s*[:=]\s*)(.+)$`)
	urlSecret = regexp.MustCompile(`(://)[^/@\s]+@|([?&][\w.~-]+=)[^&#\s]+`)
)

// maskText masks what looks like a secret in a text.
func maskText(s string) string {
	if m := named.FindStringSubmatch(s); m != nil && secretKey.MatchString(strings.TrimRight(m[1], " :=")) && !wholeRef.MatchString(m[2]) {
		return m[1] + masked
	}
	if strings.Contains(s, "://") {
		s = urlSecret.ReplaceAllStringFunc(s, func(part string) string {
			if strings.HasPrefix(part, "://") {
				return "://" + masked + "@"
			}
			key, _, _ := strings.Cut(part, "=")
			return key + "=" + masked
		})
	}
	return maskWords(s)
}

// maskWords masks words that begin as issued keys do, and long ones of letters
// and digits, as others are. Paths and names of packages have such words too.
func maskWords(s string) string {
	s = issued.ReplaceAllString(s, masked)
	if strings.ContainsAny(s, `/\`) {
		return s
	}
	return longWord.ReplaceAllStringFunc(s, func(word string) string {
		if letter.MatchString(word) && digit.MatchString(word) {
			return masked
		}
		return word
	})
}

// maskLine masks what is left in a line that is shown, which may be a comment.
func maskLine(s string) string {
	return assigned.ReplaceAllStringFunc(s, func(part string) string {
		m := assigned.FindStringSubmatch(part)
		if value := strings.Trim(m[2], `"'`); wholeRef.MatchString(value) || strings.Contains(value, masked) || strings.ContainsAny(m[2][:1], "{[") || value == "true" || value == "false" {
			return part
		}
		return m[1] + `"` + masked + `"`
	})
}
