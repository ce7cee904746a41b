package config

import (
	"strconv"
	"strings"
)

// MaxName is the longest name of a server.
const MaxName = 32

// reserved names are heddle's own in tool names and references.
var reserved = map[string]bool{"heddle": true, "loom": true, "mesh": true}

// Normalise returns name in the form ^[a-z][a-z0-9_-]{0,31}$: lower case, and a
// dash for every run of other characters. A name that begins with a digit gets
// "s-" in front. It returns "" if nothing is left.
func Normalise(name string) string {
	var b strings.Builder
	gap := false
	for _, r := range strings.ToLower(name) {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			if gap && b.Len() > 0 {
				b.WriteByte('-')
			}
			gap = false
			b.WriteRune(r)
			continue
		}
		gap = true
	}
	s := strings.TrimLeft(b.String(), "-_")
	if s == "" {
		return ""
	}
	if s[0] >= '0' && s[0] <= '9' {
		s = "s-" + s
	}
	return CutName(s, MaxName)
}

// Reserved reports whether a name is heddle's own.
func Reserved(name string) bool { return reserved[name] }

// CutName shortens a name without leaving a separator at its end.
func CutName(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.TrimRight(s[:n], "-_")
}

// unique returns name, or name with the first of -2, -3, … that is not taken.
func unique(name string, taken func(string) bool) string {
	if !taken(name) {
		return name
	}
	for i := 2; ; i++ {
		suffix := "-" + strconv.Itoa(i)
		if s := CutName(name, MaxName-len(suffix)) + suffix; !taken(s) {
			return s
		}
	}
}
