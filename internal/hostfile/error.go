package hostfile

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Error says what is wrong with a host's file and what to do. It quotes nothing
// that may be a secret.
type Error struct {
	// Path is the file's; "" if it is not about one.
	Path string
	// Line and Column count from 1; 0 if there is no place. A column counts
	// characters.
	Line, Column int
	// Message says what is wrong.
	Message string
	// Hint says what to do; may be "".
	Hint string
	// Excerpt is the line of the place, with all that may be a value struck out, and
	// a caret below; "" if there is no place.
	Excerpt string
	// Err is the cause; may be nil.
	Err error
}

// Error returns "path:line:column: message".
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Path)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", e.Line, e.Column)
	}
	if e.Path != "" {
		b.WriteString(": ")
	}
	b.WriteString(e.Message)
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

var (
	// ErrChanged is the cause when a file is not any more what the plan saw: plan
	// again.
	ErrChanged = errors.New("the file changed since it was planned")
	// ErrOurs is the cause when a rollback finds heddle's own part changed.
	ErrOurs = errors.New("heddle's part of the file was changed")
	// ErrNotInstalled is the cause when there is nothing to roll back.
	ErrNotInstalled = errors.New("heddle is not installed there")
)

// at returns an error about the offset off of data.
func at(path string, data []byte, off int, message, hint string) *Error {
	line, col := place(data, off)
	return &Error{Path: path, Line: line, Column: col, Message: message, Hint: hint, Excerpt: excerpt(data, line, col)}
}

// place returns line and column of an offset. A byte order mark is no character.
func place(data []byte, off int) (line, col int) {
	off = min(max(off, 0), len(data))
	before := string(data[:off])
	start := strings.LastIndexByte(before, '\n') + 1
	line = strings.Count(before, "\n") + 1
	col = utf8.RuneCountInString(strings.TrimPrefix(before[start:], bom)) + 1
	return line, col
}

// bom is the byte order mark.
const bom = "\ufeff"

// plain are words that an excerpt may show: keys that every host has.
var plain = map[string]bool{
	"mcpServers": true, "servers": true, "mcp_servers": true, "command": true, "args": true, "env": true, "url": true,
	"headers": true, "type": true, "true": true, "false": true, "null": true,
}

// excerpt returns one line and a caret. In a file that cannot be parsed nothing
// tells a value from a key, so that all words but a few are struck out.
func excerpt(data []byte, line, col int) string {
	lines := strings.SplitN(strings.TrimPrefix(string(data), bom), "\n", line+1)
	if line > len(lines) {
		return ""
	}
	text := strings.TrimRight(lines[line-1], "\r")
	const width = 60
	from := max(0, col-1-width/2)
	runes := []rune(strike(text))
	runes = runes[min(from, len(runes)):]
	runes = runes[:min(width, len(runes))]
	return string(runes) + "\n" + strings.Repeat(" ", col-1-from) + "^"
}

// strike replaces every letter and digit of the words that are not plain.
func strike(s string) string {
	var b strings.Builder
	word := []rune{}
	flush := func() {
		if plain[string(word)] {
			b.WriteString(string(word))
		} else {
			b.WriteString(strings.Repeat("x", len(word)))
		}
		word = word[:0]
	}
	for _, r := range s {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_':
			word = append(word, r)
			continue
		case unicode.IsControl(r) || r > unicode.MaxASCII:
			r = ' '
		}
		flush()
		b.WriteRune(r)
	}
	flush()
	return b.String()
}

// reason turns an error of the file system into one with a hint.
func reason(path string, err error) *Error {
	e := &Error{Path: path, Message: err.Error(), Err: err}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		e.Message = pe.Err.Error()
	}
	switch {
	case errors.Is(err, fs.ErrPermission):
		e.Hint = "give yourself access to it, or run heddle as the user whose file it is"
	case errors.Is(err, fs.ErrNotExist):
		e.Hint = "check the path"
	}
	return e
}
