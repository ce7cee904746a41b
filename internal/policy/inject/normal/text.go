package normal

import (
	"slices"
	"sort"
)

// Kind says how a part of a text was hidden.
type Kind string

// The kinds.
const (
	Comment   Kind = "comment"             // an HTML or Markdown comment
	Unseen    Kind = "unseen"              // markup that shows its text to nobody: display:none, white on white
	Disguised Kind = "disguised"           // letters written so that they are not found: escapes, lookalikes, gaps
	Tags      Kind = "tags"                // Unicode tag characters
	Selectors Kind = "variation-selectors" // variation selectors that select nothing
	ZeroWidth Kind = "zero-width"          // characters without width within a word
	Bidi      Kind = "bidi"                // overrides, and embeddings that are not closed
	ANSI      Kind = "ansi"                // terminal escape sequences
	Control   Kind = "control"             // other control characters
	Base64    Kind = "base64"
	Hex       Kind = "hex"
	Codes     Kind = "codes" // characters as numbers, one by one
	Spaced    Kind = "spaced"
)

// Span is a stretch of a text, in bytes.
type Span struct {
	Kind       Kind
	Start, End int
}

// Text is a text as guards look at it. It may share memory with what it was made of.
type Text struct {
	// Folded is the text in lower case without accents, escapes and invisible
	// characters. Positions in it lead back by Source.
	Folded string
	// Hidden lists stretches of Folded that a reader of the original does not see, or
	// that were written to be overlooked: Comment, Unseen and Disguised, in order of
	// their start.
	Hidden []Span
	// Invisible lists what [Invisible] finds, in the original.
	Invisible []Span
	// Parts are texts that were encoded within this one.
	Parts []Part

	layers []layer // from Folded back to the original
}

// Part is a text that was found encoded within another.
type Part struct {
	// Span is where it was, in the original of the text that it was found in.
	Span
	Text Text
}

// Source returns the place in the original that byte i of Folded comes from.
func (t *Text) Source(i int) int {
	for _, l := range t.layers {
		i = l.source(i)
	}
	return i
}

// levels is how often a text within a text is decoded.
const levels = 2

// Normalise returns s as guards look at it.
func Normalise(s string) Text { return normalise(s, levels) }

func normalise(s string, levels int) Text {
	f := scan(s)
	if f&^upper == 0 {
		return Text{Folded: lower(s, f)}
	}
	if f&(beyond|control|escape|spaced|long|codes) == 0 { // markup alone
		t := Text{Folded: lower(s, f)}
		t.markup()
		return t
	}
	var t Text
	plain := s
	for range levels {
		if f&escape == 0 {
			break
		}
		text, l, disguised := decode(plain)
		if l == nil {
			break
		}
		t.push(l, disguised)
		plain = text
		f = scan(plain) | f&control
	}
	escapes := slices.Clone(t.layers)
	if f&(beyond|control) != 0 {
		text, l, disguised, found := fold(plain)
		t.push(l, disguised)
		t.Folded = text
		if found {
			t.Invisible = Invisible(s)
		}
	} else {
		t.Folded = lower(plain, f)
	}
	if f&markup != 0 {
		t.markup()
	}
	if levels > 0 {
		t.parts(s, plain, f, escapes, levels)
	}
	t.sort()
	return t
}

// push adds a layer that was made from the newest text. What is known of that one is
// moved to the new text.
func (t *Text) push(l layer, disguised []Span) {
	for i := range t.Hidden {
		t.Hidden[i].Start, t.Hidden[i].End = l.target(t.Hidden[i].Start), l.target(t.Hidden[i].End)
	}
	t.Hidden = append(t.Hidden, disguised...)
	t.layers = slices.Insert(t.layers, 0, l)
}

func (t *Text) sort() {
	slices.SortStableFunc(t.Hidden, func(a, b Span) int { return a.Start - b.Start })
}

// mark says that the text from byte to of a copy on comes from byte from on.
type mark struct{ to, from int }

// layer leads from a changed copy of a text back to it. Marks are in order of both.
type layer []mark

func (l layer) source(i int) int {
	n := sort.Search(len(l), func(n int) bool { return l[n].to > i })
	if n == 0 {
		return i
	}
	at := l[n-1].from + i - l[n-1].to
	if n < len(l) {
		at = min(at, l[n].from)
	}
	return at
}

// target is the way back of source.
func (l layer) target(i int) int {
	n := sort.Search(len(l), func(n int) bool { return l[n].from > i })
	if n == 0 {
		return i
	}
	at := l[n-1].to + i - l[n-1].from
	if n < len(l) {
		at = min(at, l[n].to)
	}
	return at
}

// writer makes a changed copy and its layer.
type writer struct {
	out       []byte
	layer     layer
	disguised []Span
}

// at says that what is written next comes from byte from on.
func (w *writer) at(from int) {
	if n := len(w.layer); n == 0 || len(w.out)-w.layer[n-1].to != from-w.layer[n-1].from {
		w.layer = append(w.layer, mark{len(w.out), from})
	}
}

// near is how far two disguised letters may be apart to count as one stretch.
const near = 16

// disguise says that what was written from byte start of the copy on was disguised.
func (w *writer) disguise(start int) {
	if n := len(w.disguised); n > 0 && w.disguised[n-1].Kind == Disguised && start-w.disguised[n-1].End <= near {
		w.disguised[n-1].End = len(w.out)
		return
	}
	w.disguised = append(w.disguised, Span{Disguised, start, len(w.out)})
}
