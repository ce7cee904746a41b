//go:build cgo

package worker

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"heddle/internal/dataset/protocol"
)

// class is what an error of the engine means for a request.
type class int

const (
	classFailed  class = iota // it failed while it ran
	classInvalid              // the engine does not accept the statement
	classMemory               // over the engine's limit
	classProcess              // over that of the process
	classInterrupt
	classFatal // the engine is of no use any more
)

// engineError is an error that the engine has put in words.
type engineError struct {
	class class
	text  string
}

func (e *engineError) Error() string { return e.text }

// classes tells the class by the word that the engine puts before its errors. Its C
// interface has a code beside the text only for what has run, not for what it does
// not accept.
var classes = map[string]class{
	"Parser": classInvalid, "Syntax": classInvalid, "Binder": classInvalid, "Catalog": classInvalid,
	"Not implemented": classInvalid, "Permission": classInvalid, "Planner": classInvalid,
	"Out of Memory": classMemory, "Interrupt": classInterrupt, "INTERRUPT": classInterrupt,
	"FATAL": classFatal, "Fatal": classFatal, "INTERNAL": classFatal, "Internal": classFatal,
}

func newEngineError(text string) *engineError {
	e := &engineError{text: text}
	if word, _, ok := strings.Cut(text, " Error:"); ok {
		e.class = classes[word]
	}
	switch { // which come under several words, or none
	case strings.Contains(text, "database has been invalidated"):
		e.class = classFatal
	case strings.Contains(text, "bad allocation"), strings.Contains(text, "std::bad_alloc"), strings.Contains(text, "Allocation failure"):
		e.class = classProcess
	}
	return e
}

// fault is an error of a request whose kind is known.
type fault struct {
	kind  protocol.Kind
	text  string
	names []string // of tables that are missing
	last  bool     // the worker is of no use after it
}

func (f *fault) Error() string { return f.text }

func tooLarge(format string, args ...any) error {
	return &fault{kind: protocol.TooLarge, text: fmt.Sprintf(format, args...)}
}

// asFault says what an error means to who asked. ctx is the request's.
func asFault(ctx context.Context, err error, memory int64) *fault {
	var f *fault
	var e *engineError
	switch {
	case errors.As(err, &f):
		return f
	case errors.As(err, &e) && e.class == classFatal:
		return &fault{kind: protocol.Broken, text: public(e.text), last: true}
	case errors.As(err, &e) && e.class == classProcess:
		// What is freed after that is in pieces: the next large value would not fit
		// either, or end the process in the midst of it.
		return &fault{kind: protocol.Memory, text: needsMemory(memory), last: true}
	case ctx.Err() != nil: // whatever the engine calls it
		if errors.Is(context.Cause(ctx), errCancelled) {
			return &fault{kind: protocol.Cancelled, text: "cancelled"}
		}
		return &fault{kind: protocol.Timeout, text: "it took longer than it may"}
	case e == nil:
		return &fault{kind: protocol.Failed, text: public(err.Error())}
	case e.class == classMemory:
		return &fault{kind: protocol.Memory, text: needsMemory(memory)}
	case e.class == classInvalid:
		return &fault{kind: protocol.Invalid, text: public(e.text)}
	}
	return &fault{kind: protocol.Failed, text: public(e.text)}
}

func needsMemory(memory int64) string {
	return fmt.Sprintf("it needs more memory than SQL has here (%d MB)", memory>>20)
}

// errCancelled is the cause of the end of a request that was cancelled.
var errCancelled = errors.New("cancelled")

const (
	maxError = 400 // bytes
	maxQuote = 40  // bytes of a value that an error repeats
)

var (
	// longer are values of more than a few characters.
	longer = regexp.MustCompile(`'[^'\n]{7,}'|"[^"\n]{7,}"`)
	// quoted is what the engine's errors repeat of values.
	quoted = regexp.MustCompile(`'[^'\n]{40,}'|"[^"\n]{40,}"`)
	// paths are file names of this machine. The engine is sealed off from files, but
	// its errors may have one: of its own temporary files.
	paths = regexp.MustCompile(`/(?:tmp|var|home|root|private|Users|proc|etc|usr|opt|run|dev|sys|mnt|srv|lib)(?:/[\w.+-]+)+/?|\b[A-Za-z]:\\[\w.\\+~-]+`)
	// position is where in a statement an error is. A query is wrapped, and begins in
	// the second line.
	position = regexp.MustCompile(`LINE (\d+):`)
	// trailers are lines for people at a terminal.
	trailers = regexp.MustCompile(`(?s)\n+(Stack Trace:|This error signals an assertion).*`)
)

// public is text as a model may see it: short, and without paths of this machine.
// Long values that it repeats are cut.
func public(text string) string {
	text = position.ReplaceAllStringFunc(text, func(p string) string {
		n, _ := strconv.Atoi(position.FindStringSubmatch(p)[1])
		return "LINE " + strconv.Itoa(max(1, n-1)) + ":"
	})
	text = trailers.ReplaceAllString(text, "")
	text = quoted.ReplaceAllStringFunc(text, func(q string) string {
		return q[:1] + cut(q[1:len(q)-1], maxQuote) + q[len(q)-1:]
	})
	if strings.HasPrefix(text, "Conversion Error") { // it says the value, which may be a secret
		text = longer.ReplaceAllStringFunc(text, func(q string) string { return q[:1] + "…" + q[len(q)-1:] })
	}
	text = paths.ReplaceAllString(text, "(path)")
	return cut(strings.TrimSpace(strings.ToValidUTF8(text, "\uFFFD")), maxError)
}

// cut cuts s at n bytes between runes, and then ends it with an ellipsis.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
