package deliver

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"

	"heddle"
	"heddle/internal/capture"
	"heddle/internal/deliver/estimate"
	"heddle/internal/deliver/project"
)

// shaper makes the short delivery of one result.
type shaper struct {
	d         *Deliverer
	call      *heddle.Call
	tool      *heddle.Tool
	raw       json.RawMessage
	parts     parts
	threshold int
	tokens    int                // of the result
	note      string             // a line that goes before whatever is delivered
	flat      string             // why the result is no table, once that was looked at
	kept      []*capture.Capture // so far
}

const (
	// maxText is how long what heddle writes in place of a result may be: the least
	// that hosts show of one.
	maxText = 10 << 10
	// headRoom is what the line above a projection takes.
	headRoom = 600
	// smallText is how many tokens a text beside structured content may have to be
	// shown with it, or the structure beside a text; introRoom is how long that text
	// may be.
	smallText = 200
	introRoom = 1200
	// maxOwn is how many texts of a result have a projection each.
	maxOwn = 6
	// extremeBudget is what a projection may cost in extreme mode, leastBudget what
	// one of several may at least, in tokens.
	extremeBudget = 350
	leastBudget   = 150
	// fairShare is what part of a result's tokens a projection may cost, where that is
	// more than fairBudget.
	fairShare  = 3
	fairBudget = 600
)

// shorten returns a short delivery in place of the result, and false if there is
// none. What it captured for one is in kept, also if it fails.
func (s *shaper) shorten(ctx context.Context) (heddle.Delivery, bool) {
	p, ok := takeApart(s.raw)
	if !ok {
		return heddle.Delivery{}, false
	}
	s.parts = p
	if p.failed || p.mixed {
		return s.blocks()
	}
	if m, _ := s.tables(ctx); m != nil {
		return s.described(m), true
	}
	if len(s.raw) >= vast {
		runtime.GC() // what was made to look for tables
	}
	return s.single()
}

// discard gives up the captures of a delivery that is not made.
func (s *shaper) discard(ctx context.Context) {
	for _, c := range s.kept {
		if s.d.SQL() {
			s.d.o.Datasets.Forget(ctx, s.call.Principal, c.Ref)
		}
		s.d.o.Captures.Drop(s.call.Principal, c.Ref)
	}
	s.kept = nil
}

// input is what one of so many projections may take.
func (s *shaper) input(of int) project.Input {
	in := project.Input{IsError: s.parts.failed, MaxBytes: maxText/of - headRoom, Most: max(fairBudget, s.tokens/fairShare)}
	if s.call.Mode == "extreme" {
		in.Budget = extremeBudget
	}
	if of > 1 {
		in.Budget = max(leastBudget, min(project.Budget, max(in.Budget, project.Budget))/of)
	}
	return in
}

// single shortens a result of text and structured content alone to one text.
func (s *shaper) single() (heddle.Delivery, bool) {
	p := &s.parts
	text := p.text(p.all())
	in, intro, beside := s.input(1), "", json.RawMessage(nil)
	words, form := estimate.Text(text), estimate.Text(p.structured)
	switch {
	case p.structured == nil || p.wraps():
		if words <= whole*s.threshold && project.Keep(text) {
			return heddle.Delivery{}, false
		}
		in.Text = text
	case words > 2*form: // the text says more
		in.Text = text
		if form <= smallText {
			beside = p.structured
		}
	default:
		in.JSON = p.structured
		// A text that says something else than the structure is worth showing.
		if words > 0 && words <= smallText && words < form/2 && len(text) <= introRoom {
			intro = string(text) + "\n\n"
			in.MaxBytes -= len(intro)
		}
	}
	return s.short(in, intro, p.all(), beside)
}

// blocks shortens the large texts of a failure or of a result with other blocks:
// each keeps its place, and what has no text passes as it is.
func (s *shaper) blocks() (heddle.Delivery, bool) {
	p := &s.parts
	large, n, limit := make([]bool, len(p.items)), 0, s.threshold/max(1, len(p.items))
	for i := range p.items {
		if text := p.items[i].text; len(text) > limit && estimate.Text(text) > limit {
			large[i] = true
			n++
		}
	}
	structured := p.structured != nil && estimate.Text(p.structured) > s.threshold
	switch {
	case structured || n > maxOwn:
		return s.together(large, n, structured)
	case n == 0:
		return heddle.Delivery{}, false
	}
	var out []json.RawMessage
	for i := range p.items {
		b := p.items[i].raw
		if large[i] {
			short, ok := s.own(&p.items[i], n)
			if !ok {
				return heddle.Delivery{}, false
			}
			b = short
		}
		out = append(out, b)
	}
	return s.delivery(out, p.structured), true
}

// together makes one text of n large ones, or of large structured content.
func (s *shaper) together(large []bool, n int, structured bool) (heddle.Delivery, bool) {
	in, beside := s.input(1), s.parts.structured
	if n > 0 {
		in.Text = s.parts.text(large)
	} else {
		in.JSON, in.IsError = s.parts.structured, false
	}
	if structured {
		beside = nil
	}
	return s.short(in, "", large, beside)
}

// short puts one short text in place of the texts of these blocks, and of the
// structured content unless that stays beside it.
func (s *shaper) short(in project.Input, intro string, of []bool, beside json.RawMessage) (heddle.Delivery, bool) {
	p, ok := s.d.project(in)
	if !ok {
		return heddle.Delivery{}, false
	}
	left := s.left(of, s.parts.structured != nil && beside == nil)
	c, ok := s.keep(left.kind, left.content)
	if !ok {
		return heddle.Delivery{}, false
	}
	text := s.head(c, s.tokens, left.note, p.Note) + "\n\n" + intro + strings.TrimRight(p.Text, "\n")
	return s.delivery(s.place(of, text, c.Ref), beside), true
}

// place returns the blocks with one text for those of these. It stands in the
// first block of text, or at the end where there is none; the other texts go, and
// what embeds one keeps its place and says where that is.
func (s *shaper) place(of []bool, text, ref string) (out []json.RawMessage) {
	said := false
	for i := range s.parts.items {
		switch it := &s.parts.items[i]; {
		case !of[i]:
			out = append(out, it.raw)
		case !it.isText:
			out = append(out, it.with("[in "+ref+"]"))
		case !said:
			said = true
			out = append(out, it.with(text))
		}
	}
	if !said {
		out = append(out, textBlock(text))
	}
	return out
}

// own returns the short form of one block of so many that are large. One that no
// projection makes shorter stays as it is.
func (s *shaper) own(it *item, of int) (json.RawMessage, bool) {
	in := s.input(of)
	in.Text = it.text
	p, ok := s.d.project(in)
	if !ok {
		return it.raw, true
	}
	kind, content := capture.KindText, it.text
	if !it.exact() {
		kind, content = capture.KindJSON, []byte(it.raw)
	}
	c, ok := s.keep(kind, content)
	if !ok {
		return nil, false
	}
	return it.with(s.head(c, estimate.Text(it.text), replaced(content), p.Note) + "\n\n" + strings.TrimRight(p.Text, "\n")), true
}

// left is what a short text stands for.
type left struct {
	kind    capture.Kind
	content []byte
	note    string // what it is
	// text is how much of the content is text, where structured content follows on a
	// new line; 0 if it does not.
	text int
}

// left returns what goes with the texts of these blocks and, perhaps, with the
// structured content: as a host would have read it, where that is all that they
// say, else as JSON. JSON in a page is escaped once more, so a model pays more for
// its texts than they cost in the result.
func (s *shaper) left(of []bool, structured bool) left {
	p, n := &s.parts, 0
	for _, on := range of {
		if on {
			n++
		}
	}
	said := ""
	if n > 1 {
		said = fmt.Sprintf("%d text blocks, joined by line breaks. ", n)
	}
	out := left{kind: capture.KindJSON, content: s.raw}
	text := p.text(of)
	switch {
	case !p.exact(of):
	case n == 0 && p.mixed:
		out.content = p.structured
	case n == 0:
	case !structured:
		out = left{kind: capture.KindText, content: text, note: said}
	case p.repeats():
		out = left{kind: capture.KindText, content: text, note: said + "structuredContent says the same. "}
	case p.mixed || estimate.Text(text) > smallText:
		out = left{kind: capture.KindText, content: append(append(bytes.Clone(text), '\n'), p.structured...), note: said + "structuredContent follows on a new line. ", text: len(text)}
	}
	out.note += replaced(out.content)
	return out
}

// replaced says how much of what is captured was lost before it came here.
func replaced(content []byte) string {
	n := bytes.Count(content, replacement)
	if n == 0 {
		return ""
	}
	return counted(n, "character is", "characters are") + " U+FFFD, in place of bytes that are no UTF-8. "
}

// keep captures content.
func (s *shaper) keep(kind capture.Kind, content []byte) (*capture.Capture, bool) {
	name := s.tool.Ref.Name
	if s.call.Mode == "loom" {
		name = loomPrefix + s.tool.Ref.Server + "_" + name
	}
	c, err := s.d.o.Captures.PutAs(s.call.Principal, s.tool.Ref, name, kind, content)
	if err != nil {
		s.d.o.Logger.Warn("result delivered whole: it could not be captured", "tool", s.tool.Ref.String(), "err", err)
		return nil, false
	}
	s.kept = append(s.kept, c)
	return c, true
}

// head is the line that says what stands here and where the rest is.
func (s *shaper) head(c *capture.Capture, tokens int, what, shown string) string {
	size, kind := fmt.Sprintf("about %s tokens", grouped(tokens)), "JSON"
	if c.Kind == capture.KindText {
		kind = "text"
		if c.Lines > 1 {
			size += fmt.Sprintf(", %s lines", grouped(c.Lines))
		}
	}
	if shown != "" {
		shown = strings.TrimRight(shown, ".") + ". "
	}
	return fmt.Sprintf(`[%s: %s, captured whole. %s%sread_result {"result_ref":%q} pages the exact %s; with "query" it searches.]`, c.Ref, size, what, shown, c.Ref, kind)
}

// grouped writes a number with separators.
func grouped(n int) string {
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// delivery puts a result together; structured may be nil.
func (s *shaper) delivery(blocks []json.RawMessage, structured json.RawMessage) heddle.Delivery {
	out := []byte(`{"content":[`)
	for i, b := range blocks {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, b...)
	}
	out = append(out, ']')
	if structured != nil {
		out = append(append(out, `,"structuredContent":`...), structured...)
	}
	if len(s.parts.rest) > 0 {
		out = append(append(out, ','), s.parts.rest...)
	}
	d := heddle.Delivery{Raw: append(out, '}'), Form: heddle.FormProjected}
	for _, c := range s.kept {
		d.Refs = append(d.Refs, c.Ref)
	}
	return d
}
