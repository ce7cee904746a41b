package hostfile

import (
	"strconv"
	"strings"
)

// maxName is the longest name of a server of heddle's.
const maxName = 32

// plainName returns name as heddle.yml allows it: ^[a-z][a-z0-9_-]{0,31}$. What
// has no letter or digit becomes "server".
func plainName(name string) string {
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
	switch {
	case s == "":
		s = "server"
	case s[0] <= '9':
		s = "s-" + s
	}
	return shorten(s, maxName)
}

// shorten cuts a name without leaving a separator at its end.
func shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.TrimRight(s[:n], "-_")
}

// reserved are names that heddle keeps for itself.
func reserved(name string) bool { return name == "heddle" || name == "loom" || name == "mesh" }

// freeName returns name, with the host's behind it if it is taken, and then with
// the first number that makes it free.
func freeName(name, host string, taken func(string) bool) string {
	free := func(s string) bool { return !taken(s) && !reserved(s) }
	if free(name) {
		return name
	}
	if s := shorten(name, maxName-len(host)-1) + "-" + host; free(s) {
		return s
	}
	for i := 2; ; i++ {
		suffix := "-" + strconv.Itoa(i)
		if s := shorten(name, maxName-len(suffix)) + suffix; free(s) {
			return s
		}
	}
}
