// Package project makes a short text of a long result: enough for a model to
// know what is there and to ask for more of it.
//
// It is pure functions from bytes to a bounded text. It stores nothing, knows no
// refs and no results' envelopes: whoever calls it keeps the original and says
// where it can be read.
//
// A projection never claims what is not in the original, says what it leaves
// out, and is the same for the same input. Start reading at [Project].
package project

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"heddle/internal/deliver/estimate"
	"heddle/internal/wire"
)

// Bounds of a projection where its input says nothing else.
const (
	// Budget is what a projection may cost, in tokens.
	Budget = 700
	// OutlineBudget is what one of nested JSON may cost: naming every key takes more.
	OutlineBudget = 1400
	// MaxBytes is how long it may be.
	MaxBytes = 10 << 10
	// maxLine is how many characters a line may have.
	maxLine = 2000
)

// Kinds of a projection. Values may be stored: append only.
const (
	KindOutline  = "json-outline"
	KindRecords  = "records"
	KindLog      = "log"
	KindTable    = "table"
	KindCode     = "code"
	KindDiff     = "diff"
	KindMarkdown = "markdown"
	KindError    = "error"
	KindHeadTail = "head-tail"
)

// Input is what to project: a text or a JSON value, one of them.
type Input struct {
	// Text is the unescaped text of a result.
	Text []byte
	// JSON is a JSON value, as it stands in a result.
	JSON []byte
	// IsError says that Text is what a failed call said.
	IsError bool
	// Budget is how many tokens the projection may cost, by estimate; 0 is
	// [OutlineBudget] for JSON that is no table, else [Budget].
	Budget int
	// Most is what no budget may exceed; 0 is no such bound.
	Most int
	// MaxBytes is how long it may be; 0 is [MaxBytes].
	MaxBytes int
}

// Projection is a short text in place of a long one.
type Projection struct {
	// Kind is what the input was taken for.
	Kind string
	// Text is the projection: lines, the last one ended.
	Text string
	// Note says in one line what was shown of how much.
	Note string
}

// Project returns the projection of in, and false if none costs less than in
// itself.
func Project(in Input) (Projection, bool) {
	if in.MaxBytes <= 0 {
		in.MaxBytes = MaxBytes
	}
	source := in.Text
	if in.JSON != nil {
		source = in.JSON
	}
	if len(source) == 0 {
		return Projection{}, false
	}
	p := in.project()
	if p.Text == "" || len(p.Text) >= len(source) || len(p.Text) > in.MaxBytes {
		return Projection{}, false
	}
	cost := estimate.Text([]byte(p.Text))
	if len(source) < 32*cost && cost >= estimate.Text(source) { // no token is longer than that on average
		return Projection{}, false
	}
	return p, true
}

// project takes the first kind that the input can be read as.
func (in Input) project() Projection {
	if in.JSON != nil {
		if !wire.Valid(in.JSON) {
			return in.headTail(in.JSON)
		}
		return in.json(document{value: in.JSON, size: len(in.JSON)})
	}
	text := plain(in.Text)
	if in.IsError {
		return in.failure(text)
	}
	look := survey(text)
	if look.jsonLog() {
		return in.log(text, look, "")
	}
	if doc, ok := documentIn(text); ok {
		return in.json(doc)
	}
	if look.hasLevels() {
		return in.log(text, look, "")
	}
	if t, ok := tableIn(text); ok {
		return in.table(t)
	}
	if look.log() {
		return in.log(text, look, "")
	}
	switch kindOf(text) {
	case KindDiff:
		return in.diff(text)
	case KindMarkdown:
		return in.markdown(text)
	case KindCode:
		return in.code(text)
	}
	return in.headTail(text)
}

// budget returns the tokens to spend, usual where the caller says nothing.
func (in Input) budget(usual int) int {
	if in.Budget > 0 {
		usual = in.Budget
	}
	if in.Most > 0 {
		usual = min(usual, in.Most)
	}
	return usual
}

// plain returns text without byte order mark, colour codes and invalid UTF-8.
func plain(text []byte) []byte {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	if bytes.IndexByte(text, 0x1b) >= 0 {
		text = stripANSI(text)
	}
	if !utf8.Valid(text) {
		text, _ = wire.Clean(text)
	}
	return text
}

// stripANSI returns text without the sequences that colour and move.
func stripANSI(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for {
		i := bytes.IndexByte(text, 0x1b)
		if i < 0 {
			return append(out, text...)
		}
		out = append(out, text[:i]...)
		text = text[i+ansi(text[i:]):]
	}
}

// ansi returns the length of the escape sequence at the start of b.
func ansi(b []byte) int {
	if len(b) < 2 {
		return len(b)
	}
	switch b[1] {
	case '[': // parameters, then a letter
		for i := 2; i < len(b) && i < 40; i++ {
			if b[i] >= 0x40 && b[i] <= 0x7e {
				return i + 1
			}
			if b[i] < 0x20 || b[i] > 0x3f {
				return i
			}
		}
	case ']': // a title or a link, up to a bell or the terminator
		for i := 2; i < len(b) && i < 2000; i++ {
			if b[i] == 7 {
				return i + 1
			}
			if b[i] == 0x1b {
				return min(len(b), i+2)
			}
		}
	}
	return 1
}

// count is n with the word for it: "1 line", "2 lines".
func count(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}
