package config

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"runtime"
	"strings"
)

// dotenv is the .env beside the configuration. It is read when a variable is
// first missing from the environment: many a .env belongs to another program,
// and is no business of heddle's as long as nothing is looked for in it.
type dotenv struct {
	path     string
	files    files
	state    dotenvState
	values   map[string]string
	refusal  string // why it was not read, when it is open to others
	warnings []Problem
}

type dotenvState int

const (
	dotenvUntried dotenvState = iota
	dotenvAbsent
	dotenvRead
	// dotenvOpen is one that others can read, and that is therefore not used.
	dotenvOpen
)

// maxDotEnv bounds the file.
const maxDotEnv = 1 << 20

// ParseDotEnv returns what a .env of these contents holds. Lines that are no
// KEY=VALUE are passed over.
func ParseDotEnv(data string) map[string]string {
	e := &dotenv{}
	e.parse(data)
	return e.values
}

func (e *dotenv) lookup(name string) (string, bool) {
	if e.state == dotenvUntried {
		e.state = e.load()
	}
	v, ok := e.values[name]
	return v, ok
}

func (e *dotenv) load() dotenvState {
	info, err := e.files.stat(e.path)
	if err != nil || info.IsDir() {
		return dotenvAbsent
	}
	// Windows has no such bits; its files are private to the user by inheritance.
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		e.refusal = ".env is readable by others: chmod 600 " + shellQuote(e.path)
		e.warn(0, e.refusal+"; it was not read")
		return dotenvOpen
	}
	data, err := e.files.read(e.path, maxDotEnv)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			e.warn(0, fmt.Sprintf("cannot be read: %v", cause(err)))
		}
		return dotenvAbsent
	}
	e.parse(string(data))
	return dotenvRead
}

func (e *dotenv) warn(line int, message string) {
	p := Problem{Path: e.path, Line: line, Message: message}
	if line > 0 {
		p.Column = 1
	}
	e.warnings = append(e.warnings, p)
}

var dotenvLine = regexp.MustCompile(`^(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*)$`)

// parse reads KEY=VALUE lines. A line that is none of these is a warning with
// its number, and never shown: it may be the rest of a secret.
func (e *dotenv) parse(data string) {
	e.values = map[string]string{}
	data = strings.TrimPrefix(data, "\ufeff")
	for i, line := range strings.Split(data, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		m := dotenvLine.FindStringSubmatch(line)
		if m == nil {
			e.warn(i+1, "is not KEY=VALUE; the line is ignored")
			continue
		}
		value, ok := dotenvValue(m[2])
		if !ok {
			e.warn(i+1, fmt.Sprintf("the quotes of %s do not close on its line; the line is ignored", m[1]))
			continue
		}
		e.values[m[1]] = value
	}
}

// dotenvValue reads what follows the equals sign: 'as it is', "with \n and the
// like", or plain up to a # after a space.
func dotenvValue(s string) (string, bool) {
	switch {
	case strings.HasPrefix(s, "'"):
		value, rest, ok := strings.Cut(s[1:], "'")
		return value, ok && onlyComment(rest)
	case strings.HasPrefix(s, `"`):
		value, rest, ok := doubleQuoted(s[1:])
		return value, ok && onlyComment(rest)
	case strings.HasPrefix(s, "#"):
		return "", true
	}
	if i := strings.Index(s, " #"); i >= 0 {
		s = s[:i]
	}
	if i := strings.Index(s, "\t#"); i >= 0 {
		s = s[:i]
	}
	return strings.TrimSpace(s), true
}

func onlyComment(s string) bool {
	s = strings.TrimSpace(s)
	return s == "" || s[0] == '#'
}

// doubleQuoted reads up to the closing quote and returns what follows it.
func doubleQuoted(s string) (value, rest string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			return b.String(), s[i+1:], true
		case c == '\\' && i+1 < len(s):
			i++
			b.WriteString(unescape(s[i]))
		default:
			b.WriteByte(c)
		}
	}
	return "", "", false
}

func unescape(c byte) string {
	switch c {
	case 'n':
		return "\n"
	case 'r':
		return "\r"
	case 't':
		return "\t"
	case '"', '\\', '$', '\'':
		return string(c)
	}
	return `\` + string(c)
}

var shellPlain = regexp.MustCompile(`^[A-Za-z0-9_./+:@%=,-]+$`)

// shellQuote returns path as it can be pasted into a shell.
func shellQuote(path string) string {
	if shellPlain.MatchString(path) {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
