package deliver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"heddle"
	"heddle/internal/capture"
	"heddle/internal/deliver/estimate"
	"heddle/internal/deliver/project"
	"heddle/internal/wire"
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
)

// shorten returns a short delivery in place of the result, and false if there is
// none. What it captured for one is in kept, also if it fails.
func (s *shaper) shorten() (heddle.Delivery, bool) {
	p, ok := takeApart(s.raw)
	if !ok {
		return heddle.Delivery{}, false
	}
	s.parts = p
	if p.failed || p.mixed {
		return s.blocks()
	}
	return s.single()
}

// discard gives up the captures of a delivery that is not made.
func (s *shaper) discard() {
	for _, c := range s.kept {
		s.d.o.Captures.Drop(s.call.Principal, c.Ref)
	}
	s.kept = nil
}

// input is what one of so many projections may take.
func (s *shaper) input(of int) project.Input {
	in := project.Input{IsError: s.parts.failed, MaxBytes: maxText/of - headRoom}
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
	text := s.parts.text()
	in, intro, structured := s.input(1), "", json.RawMessage(nil)
	words, form := estimate.Text(text), estimate.Text(s.parts.structured)
	switch wraps := s.parts.wraps(); {
	case s.parts.structured == nil || wraps:
		if words <= whole*s.threshold && project.Keep(text) {
			return heddle.Delivery{}, false
		}
		in.Text = text
	case words > 2*form: // the text says more
		in.Text = text
		if form <= smallText {
			structured = s.parts.structured
		}
	default:
		in.JSON = s.parts.structured
		// A text that says something else than the structure is worth showing.
		if words > 0 && words <= smallText && words < form/2 && len(text) <= introRoom {
			intro = string(text) + "\n\n"
			in.MaxBytes -= len(intro)
		}
	}
	p, ok := s.d.project(in)
	if !ok {
		return heddle.Delivery{}, false
	}
	kind, content := capture.KindJSON, []byte(s.raw)
	if s.parts.plain() {
		kind, content = capture.KindText, text
	}
	c, ok := s.keep(kind, content)
	if !ok {
		return heddle.Delivery{}, false
	}
	short := s.head(c, s.tokens, p.Note) + "\n\n" + intro + strings.TrimRight(p.Text, "\n")
	block := textBlock(short)
	if len(s.parts.blocks) == 1 {
		block = withText(s.parts.blocks[0], short)
	}
	return s.delivery([]json.RawMessage{block}, structured), true
}

// blocks shortens the large texts of a failure or of a result with other blocks:
// each keeps its place, and what is not text passes as it is.
func (s *shaper) blocks() (heddle.Delivery, bool) {
	var large [][]byte
	over, limit := make([]bool, len(s.parts.blocks)), s.threshold/max(1, len(s.parts.blocks))
	for i, text := range s.parts.texts {
		if len(text) > limit && estimate.Text(text) > limit {
			over[i] = true
			large = append(large, text)
		}
	}
	structured := s.parts.structured != nil && estimate.Text(s.parts.structured) > s.threshold
	switch {
	case structured || len(large) > maxOwn:
		return s.together(over, large, structured)
	case len(large) == 0:
		return heddle.Delivery{}, false
	}
	var out []json.RawMessage
	for i, b := range s.parts.blocks {
		if over[i] {
			short, ok := s.block(i, len(large))
			if !ok {
				return heddle.Delivery{}, false
			}
			b = short
		}
		out = append(out, b)
	}
	return s.delivery(out, s.parts.structured), true
}

// together makes one text of large ones, in the place of the first, or of large
// structured content, at the end. The capture is the whole result, because
// structured content that is large is in it alone.
func (s *shaper) together(over []bool, large [][]byte, structured bool) (heddle.Delivery, bool) {
	in := s.input(1)
	if len(large) > 0 {
		in.Text = bytes.Join(large, []byte{'\n'})
	} else {
		in.JSON, in.IsError = s.parts.structured, false
	}
	p, ok := s.d.project(in)
	if !ok {
		return heddle.Delivery{}, false
	}
	c, ok := s.keep(capture.KindJSON, s.raw)
	if !ok {
		return heddle.Delivery{}, false
	}
	short := s.head(c, s.tokens, p.Note) + "\n\n" + strings.TrimRight(p.Text, "\n")
	var out []json.RawMessage
	said := false
	for i, b := range s.parts.blocks {
		if !over[i] {
			out = append(out, b)
		} else if !said {
			said = true
			out = append(out, withText(b, short))
		}
	}
	if !said {
		out = append(out, textBlock(short))
	}
	if structured {
		return s.delivery(out, nil), true
	}
	return s.delivery(out, s.parts.structured), true
}

// block returns the short form of the i-th block, one of so many that are large.
// One that no projection makes shorter stays as it is.
func (s *shaper) block(i, of int) (json.RawMessage, bool) {
	b, text := s.parts.blocks[i], s.parts.texts[i]
	in := s.input(of)
	in.Text = text
	p, ok := s.d.project(in)
	if !ok {
		return b, true
	}
	kind, content := capture.KindText, text
	if !s.parts.exact(i) {
		kind, content = capture.KindJSON, []byte(b)
	}
	c, ok := s.keep(kind, content)
	if !ok {
		return nil, false
	}
	return withText(b, s.head(c, estimate.Text(text), p.Note)+"\n\n"+strings.TrimRight(p.Text, "\n")), true
}

// keep captures content.
func (s *shaper) keep(kind capture.Kind, content []byte) (*capture.Capture, bool) {
	c, err := s.d.o.Captures.Put(s.call.Principal, s.tool.Ref, kind, content)
	if err != nil {
		s.d.o.Logger.Warn("result delivered whole: it could not be captured", "tool", s.tool.Ref.String(), "err", err)
		return nil, false
	}
	s.kept = append(s.kept, c)
	return c, true
}

// head is the line that says what stands here and where the rest is.
func (s *shaper) head(c *capture.Capture, tokens int, note string) string {
	size, what := fmt.Sprintf("about %s tokens", grouped(tokens)), "JSON"
	if c.Kind == capture.KindText {
		what = "text"
		if c.Lines > 1 {
			size += fmt.Sprintf(", %s lines", grouped(c.Lines))
		}
	}
	if note != "" {
		note = " " + strings.TrimRight(note, ".") + "."
	}
	return fmt.Sprintf(`[%s: %s, captured whole.%s read_result {"result_ref":%q} pages the exact %s; with "query" it searches.]`, c.Ref, size, note, c.Ref, what)
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

func textBlock(text string) json.RawMessage {
	out := append([]byte(`{"type":"text","text":`), wire.Quote(text)...)
	return append(out, '}')
}
