package config

import (
	"errors"
	"fmt"
	"sort"
	"strings"
)

// Problem is one thing that is wrong, or worth a look, in a file.
type Problem struct {
	// Path is the file's.
	Path string
	// Line and Column count from 1; 0 if the place is not known.
	Line, Column int
	// Field is the dotted path of the key, for example servers.github.timeout; ""
	// for the file as a whole.
	Field string
	// Message says what is wrong. It holds no value of a reference, an argument or
	// an environment entry.
	Message string
	// Hint says what to do where the message does not; may be "".
	Hint string
}

// String returns "file:line:column: field: message", without what is empty.
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.Path)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", p.Line, p.Column)
	}
	if p.Field != "" {
		b.WriteString(": " + p.Field)
	}
	b.WriteString(": " + p.Message)
	return b.String()
}

// ProblemsError lists everything that is wrong with a file, in its order.
type ProblemsError struct {
	File     string
	Problems []Problem
}

// Error returns one line per problem.
func (e *ProblemsError) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// report collects what is wrong with a file, and what is worth a look.
type report struct {
	file               string
	problems, warnings []Problem
}

// problem reports a violation at the place of at, which may be nil.
func (r *report) problem(at *node, path, format string, args ...any) {
	r.problems = append(r.problems, r.newProblem(at, path, fmt.Sprintf(format, args...)))
}

// hint adds what to do to the latest problem.
func (r *report) hint(format string, args ...any) {
	r.problems[len(r.problems)-1].Hint = fmt.Sprintf(format, args...)
}

// warn notes what does not stop heddle.
func (r *report) warn(at *node, path, format string, args ...any) {
	r.warnings = append(r.warnings, r.newProblem(at, path, fmt.Sprintf(format, args...)))
}

func (r *report) newProblem(at *node, path, message string) Problem {
	p := Problem{Path: r.file, Field: path, Message: message}
	if at != nil {
		p.Line, p.Column = at.line, at.col
	}
	return p
}

// Reasons why a file is not read.
var (
	errDirectory  = errors.New("is a directory")
	errTooLarge   = errors.New("is too large")
	errNotRegular = errors.New("is not a regular file")
	errNoFiles    = errors.New("files are not read here")
	errPattern    = errors.New("the engine cannot compile it")
)

// sortProblems orders problems by file, then place; those of one place keep
// their order.
func sortProblems(ps []Problem) {
	sort.SliceStable(ps, func(i, j int) bool {
		a, b := ps[i], ps[j]
		if a.Path != b.Path {
			return a.Path < b.Path
		}
		if a.Line != b.Line {
			return a.Line < b.Line
		}
		return a.Column < b.Column
	})
}
