package hostfile

import (
	"regexp"
	"slices"
	"strings"
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
		for _, item := range n.items {
			m.walk(item, key, all || flag)
			flag = item.kind == str && strings.HasPrefix(item.text, "-") && secretKey.MatchString(item.text) && !strings.Contains(item.text, "=")
		}
	case str:
		if (all || secretKey.MatchString(key)) && !wholeRef.MatchString(n.text) {
			m.hide(n)
		} else if shown := maskText(n.text); shown != n.text {
			m.replace(n, quote(shown))
		}
	case scalar:
		if all && n.text != "null" {
			m.hide(n)
		}
	}
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
