// Package walk goes through the texts of a JSON value: its strings, its numbers and
// the names of its members, in order, without building the value.
//
// Guards look at every text of a call, however deep. What they find they name by a
// JSON pointer, and what they change they change in the bytes, so that everything
// else keeps its own. Start at [Texts].
package walk

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"
	"unsafe"

	"heddle/internal/wire"
)

// Kind is what a text is in its JSON value.
type Kind uint8

// The kinds of text.
const (
	String Kind = iota // a string that is a value
	Number             // a number, as it is written
	Name               // the name of a member
)

// Text is one text of a JSON value. It must not be kept: Value and Name may be
// views of the walked bytes.
type Text struct {
	Kind Kind
	// Value is the text itself, unescaped, valid UTF-8. Half a surrogate pair is
	// U+FFFD.
	Value string
	// Name is the name of the member that the text is the value of, or in whose array
	// it stands; for a name the one around it. "" at the top.
	Name string
	// Start and End are the place of the literal in the walked bytes, its quotes
	// included.
	Start, End int

	path []segment
}

// segment is a step from a value to one in it.
type segment struct {
	name  string
	index int // in an array; -1 in an object
}

// Pointer is the place of the text as a JSON pointer; for a name, that of the member.
// It is made when asked for.
func (t *Text) Pointer() string {
	var b strings.Builder
	for _, s := range t.path {
		b.WriteByte('/')
		if s.index >= 0 {
			b.WriteString(strconv.Itoa(s.index))
		} else {
			b.WriteString(escaper.Replace(s.name))
		}
	}
	return b.String()
}

var escaper = strings.NewReplacer("~", "~0", "/", "~1")

// Depth is how many objects and arrays are around the text.
func (t *Text) Depth() int { return len(t.path) }

// ErrSyntax says that the bytes are no JSON value. What was walked before the fault
// has been seen.
var ErrSyntax = errors.New("walk: not valid JSON")

// Texts calls f for each text of the JSON value raw, in the order in which they are
// written, until f returns false. Names come before their values. raw must not be
// changed meanwhile. Values nested deeper than [wire.MaxDepth] are an error.
func Texts(raw []byte, f func(t *Text) bool) error {
	w := walker{b: raw, f: f}
	w.space()
	if err := w.value(""); err != nil {
		if errors.Is(err, errStop) {
			return nil
		}
		return err
	}
	if w.space(); w.i != len(raw) {
		return ErrSyntax
	}
	return nil
}

// errStop ends a walk that its caller has seen enough of.
var errStop = errors.New("stop")

type walker struct {
	b []byte
	i int
	f func(*Text) bool
	t Text // the one that f gets: one allocation a walk
}

func (w *walker) space() {
	for w.i < len(w.b) {
		switch w.b[w.i] {
		case ' ', '\t', '\n', '\r':
			w.i++
		default:
			return
		}
	}
}

// next returns the next byte that is no white space, 0 at the end.
func (w *walker) next() byte {
	if w.space(); w.i < len(w.b) {
		return w.b[w.i]
	}
	return 0
}

// value walks the value at i. name is that of the member around it.
func (w *walker) value(name string) error {
	if len(w.t.path) > wire.MaxDepth {
		return ErrSyntax
	}
	switch c := w.next(); {
	case c == '{':
		return w.object(name)
	case c == '[':
		return w.array(name)
	case c == '"':
		start := w.i
		text, err := w.literal()
		if err != nil {
			return err
		}
		return w.emit(String, text, name, start)
	case c == '-' || c >= '0' && c <= '9':
		start := w.i
		for w.i < len(w.b) && strings.IndexByte("+-.0123456789eE", w.b[w.i]) >= 0 {
			w.i++
		}
		return w.emit(Number, view(w.b[start:w.i]), name, start)
	}
	for _, word := range [...]string{"true", "false", "null"} {
		if bytes.HasPrefix(w.b[w.i:], []byte(word)) {
			w.i += len(word)
			return nil
		}
	}
	return ErrSyntax
}

func (w *walker) object(around string) error {
	w.i++
	if w.next() == '}' {
		w.i++
		return nil
	}
	for {
		if w.next() != '"' {
			return ErrSyntax
		}
		start := w.i
		name, err := w.literal()
		if err != nil {
			return err
		}
		w.t.path = append(w.t.path, segment{name, -1})
		if err := w.emit(Name, name, around, start); err != nil {
			return err
		}
		if w.next() != ':' {
			return ErrSyntax
		}
		w.i++
		if err := w.value(name); err != nil {
			return err
		}
		w.t.path = w.t.path[:len(w.t.path)-1]
		if more, err := w.more('}'); !more {
			return err
		}
	}
}

func (w *walker) array(around string) error {
	w.i++
	if w.next() == ']' {
		w.i++
		return nil
	}
	w.t.path = append(w.t.path, segment{})
	for n := 0; ; n++ {
		w.t.path[len(w.t.path)-1] = segment{index: n}
		if err := w.value(around); err != nil {
			return err
		}
		if more, err := w.more(']'); !more {
			w.t.path = w.t.path[:len(w.t.path)-1]
			return err
		}
	}
}

// more skips a comma, or the closer of what is being walked.
func (w *walker) more(closer byte) (bool, error) {
	switch w.next() {
	case ',':
		w.i++
		return true, nil
	case closer:
		w.i++
		return false, nil
	}
	return false, ErrSyntax
}

// literal reads the string literal at i and returns its text.
func (w *walker) literal() (string, error) {
	start := w.i
	escaped := false
	quote := -1 // the next one, escaped or not
	for w.i++; ; {
		if quote < w.i {
			n := bytes.IndexByte(w.b[w.i:], '"')
			if n < 0 {
				return "", ErrSyntax
			}
			quote = w.i + n
		}
		e := bytes.IndexByte(w.b[w.i:quote], '\\')
		if e < 0 {
			w.i = quote + 1
			break
		}
		escaped = true
		if w.i += e + 2; w.i > len(w.b) {
			return "", ErrSyntax
		}
	}
	lit := w.b[start:w.i]
	if !escaped && utf8.Valid(lit) {
		return view(lit[1 : len(lit)-1]), nil
	}
	text, ok := wire.Text(lit)
	if !ok {
		return "", ErrSyntax
	}
	return view(text), nil
}

func (w *walker) emit(kind Kind, value, name string, start int) error {
	w.t.Kind, w.t.Value, w.t.Name, w.t.Start, w.t.End = kind, value, name, start, w.i
	if !w.f(&w.t) {
		return errStop
	}
	return nil
}

// view returns b as a string without a copy: a large result is one text, which is
// looked at and not kept.
func view(b []byte) string {
	return unsafe.String(unsafe.SliceData(b), len(b))
}
