package deliver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"heddle"
	"heddle/internal/capture"
	"heddle/internal/dataset"
	"heddle/internal/dataset/records"
	"heddle/internal/wire"
)

// made are the tables that a result became.
type made struct {
	capture *capture.Capture
	sets    []*dataset.Dataset
	found   records.Found
}

// tables makes datasets of the records in a result of text and structured content.
// If there are none, or none could be made, why says so to a model.
func (s *shaper) tables(ctx context.Context) (m *made, why string) {
	if s.flat == "" {
		m, s.flat = s.tabulate(ctx)
	}
	return m, s.flat
}

func (s *shaper) tabulate(ctx context.Context) (m *made, why string) {
	switch {
	case !s.d.SQL():
		return nil, "there is no SQL here"
	case s.parts.failed:
		return nil, "the tool failed"
	case s.parts.mixed:
		return nil, "the result has blocks that are not text"
	}
	l := s.left(s.parts.all(), s.parts.structured != nil)
	found, why := records.Find(l.input(&s.parts, l.content))
	if why != "" {
		return nil, why
	}
	tables := append([]records.Table{found.Main}, found.Siblings...)
	c, ok := s.keep(l.kind, l.content)
	if !ok {
		return nil, "the result could not be captured"
	}
	sets, err := s.d.o.Datasets.Add(ctx, s.call.Principal, dataset.Input{
		Name: c.Ref, Tables: tables, Capture: c.Ref, Sample: sampleRows, Again: s.d.again(s.call.Principal, c.Ref, l),
		Provenance: dataset.Of(s.tool.Ref, s.call.Arguments, s.d.o.Denied[s.tool.Ref.Server], c.Created),
	})
	if err != nil {
		s.d.o.Logger.Warn("no dataset was made of a result", "tool", s.tool.Ref.String(), "err", err)
		s.discard(ctx)
		return nil, saying(err)
	}
	s.d.o.Captures.Chill(c) // the table answers from now on
	return &made{capture: c, sets: sets, found: found}, ""
}

// again finds the tables in what was captured of a result.
func (d *Deliverer) again(p heddle.Principal, ref string, l left) func() ([]records.Table, error) {
	l.content = nil // the capture has it
	return func() ([]records.Table, error) {
		c, err := d.o.Captures.Get(p, ref)
		if err != nil {
			return nil, err
		}
		content, err := c.Bytes()
		if err != nil {
			return nil, err
		}
		found, why := records.Find(l.input(nil, content))
		if why != "" {
			return nil, errors.New("records that were there are not found again: " + why)
		}
		return append([]records.Table{found.Main}, found.Siblings...), nil
	}
}

// input is what was captured, as records are looked for in it. p is the result taken
// apart, nil if it is not at hand.
func (l *left) input(p *parts, content []byte) records.Input {
	switch {
	case l.text > 0:
		return records.Input{Structured: content[l.text+1:], Texts: [][]byte{content[:l.text]}}
	case l.kind == capture.KindText:
		return records.Input{Texts: [][]byte{content}}
	}
	if p == nil {
		whole, _ := takeApart(content) // it was taken apart before
		p = &whole
	}
	in := records.Input{Structured: p.structured}
	for i := range p.items {
		in.Texts = append(in.Texts, p.items[i].text)
	}
	return in
}

// saying is what of an error a model may read.
func saying(err error) string {
	if e := (*heddle.Error)(nil); errors.As(err, &e) && e.Public != "" {
		return e.Public
	}
	return "no table could be made of it"
}

// described is the delivery of a result as the description of its tables.
func (s *shaper) described(m *made, notes ...string) heddle.Delivery {
	e := envelope{main: m.sets[0], siblings: m.sets[1:], found: &m.found, saved: s.tokens, budget: budget(s.call.Mode), notes: notes}
	if s.call.Mode == "loom" {
		return s.told(e.loom())
	}
	return s.told(e.text())
}

// told is a delivery of one text in place of all.
func (s *shaper) told(text string) heddle.Delivery {
	block := textBlock(text)
	for i := range s.parts.items { // what its block says beside the text stays
		if it := &s.parts.items[i]; it.isText {
			block = it.with(text)
			break
		}
	}
	out := s.delivery([]json.RawMessage{block}, nil)
	out.Form = heddle.FormDataset
	return out
}

// asked answers a call with SQL: the rows that it asks for. A result that is no
// table is delivered as usual, after a line that says so.
func (s *shaper) asked(ctx context.Context) (heddle.Delivery, bool) {
	p, ok := takeApart(s.raw)
	if !ok {
		return heddle.Delivery{}, false
	}
	s.parts = p
	m, why := s.tables(ctx)
	if m == nil {
		s.note = "[sql was not run: " + why + ".]"
		return heddle.Delivery{}, false
	}
	a, err := s.d.o.Datasets.Query(ctx, s.call.Principal, dataset.Query{
		SQL: s.call.SQL, Result: m.sets[0].Ref, Inline: inlineRows, Name: "query", Sample: sampleRows,
	})
	if err != nil {
		return s.described(m, "sql failed: "+oneLine(saying(err))+" The result is all there: correct it with read_result sql, FROM "+m.sets[0].Ref+"."), true
	}
	head := fmt.Sprintf("[sql over the result, %s: %s]\n", m.sets[0].Ref, size(&m.sets[0].Profile))
	e := envelope{main: m.sets[0], siblings: m.sets[1:], found: &m.found}
	return s.told(head + s.d.rows(a, s.call.Mode) + strings.TrimRight("\n"+e.beside(), "\n")), true
}

// noted puts the shaper's note before a delivery.
func (s *shaper) noted(d heddle.Delivery) heddle.Delivery {
	blocks, err := wire.Elements(wire.Member(d.Raw, "content"))
	if err != nil || s.note == "" {
		return d
	}
	content := append(json.RawMessage{'['}, textBlock(s.note)...)
	for _, b := range blocks {
		content = append(append(content, ','), b...)
	}
	d.Raw = wire.Replace(d.Raw, "content", append(content, ']'))
	return d
}
