package config

import (
	"regexp"
	"strings"
)

var (
	// heddleName allows for a version or a platform in the name of a download. It
	// does not match heddle-sql.
	heddleName = regexp.MustCompile(`^heddle(?:[-_.]?v?[0-9][0-9a-z._-]*|[-_.](?:linux|darwin|macos|windows|freebsd)[0-9a-z._-]*)?$`)
	wordBreak  = regexp.MustCompile("[\\s\"'`;&|()]+")
	serving    = words("start serve sse")
)

// IsHeddle reports whether a server's command starts heddle itself: by name, in
// any spelling, or through a wrapper like npx, a shell or a container in whose
// words "heddle" is followed by start, serve or sse.
func IsHeddle(command string, args []string) bool {
	if isHeddleName(command) {
		return true
	}
	all := wordBreak.Split(strings.Join(append([]string{command}, args...), " "), -1)
	for i, word := range all {
		if !isHeddleName(word) {
			continue
		}
		if starts(all[i+1:]) {
			return true
		}
	}
	return false
}

// isHeddleName takes a path, or the name of a package with its version.
func isHeddleName(word string) bool {
	name := commandName(word)
	if i := strings.LastIndexByte(name, '@'); i > 0 {
		name = name[:i]
	}
	return heddleName.MatchString(name)
}

// starts reports whether the words after heddle's name make it a server; flags
// and their values may come first.
func starts(rest []string) bool {
	flag := false
	for _, word := range rest {
		switch {
		case serving[strings.ToLower(word)]:
			return true
		case strings.HasPrefix(word, "-"):
			flag = !strings.Contains(word, "=")
		case flag:
			flag = false
		default:
			return false
		}
	}
	return false
}
