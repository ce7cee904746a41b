package inject

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"heddle/internal/policy/inject/normal"
	"heddle/internal/walk"
)

// Level says how much it takes to be found out.
type Level int

// The levels, by how sensitive they are.
const (
	Low    Level = iota // what is beyond doubt
	Medium              // what a careful reader would stop at
	High                // what might be one
)

// Channel is where a text comes from.
type Channel int

// The channels.
const (
	Result      Channel = iota // what a tool returned
	Description                // what a server says of itself
	Argument                   // what a tool is called with
)

// Finding is a place that a rule found. It has no text.
type Finding struct {
	Rule string
	// Start and End are bytes of the text as it was given.
	Start, End int
	// Score is how much it found; 100 is what Low takes.
	Score int
}

// Placed is a finding in a JSON value.
type Placed struct {
	Finding
	// Pointer is the JSON pointer of the text; for the name of a member, that of the
	// member.
	Pointer string
}

// Detector finds instructions. It is immutable and safe for concurrent use.
type Detector struct{ threshold int }

// New returns a detector of a level. It builds nothing: tables are made once for
// all, when first used.
func New(l Level) *Detector {
	switch l {
	case Low:
		return &Detector{90}
	case High:
		return &Detector{40}
	}
	return &Detector{50}
}

// shortest is the shortest text that can say anything, in bytes.
const shortest = 8

// Text returns what it finds in text; nil if that is nothing.
func (d *Detector) Text(ch Channel, text string) []Finding {
	if len(text) < shortest {
		return nil
	}
	e, err := theEngine()
	if err != nil {
		return nil
	}
	t := normal.Normalise(text)
	return d.judge(e, &t, false)
}

// scratch is what judging a text needs for a while.
type scratch struct {
	hits    []hit
	firings []firing
}

// chunk is how much of a text is judged at once: it bounds what judging holds.
// Chunks reach into each other as far as a finding does.
const (
	chunk   = 1 << 18
	overlap = 2 * window
)

func (d *Detector) judge(e *engine, t *normal.Text, loose bool) []Finding {
	var out []Finding
	for from := 0; ; {
		to := len(t.Folded)
		if to-from > chunk {
			to = from + chunk
			for to > from && !utf8.RuneStart(t.Folded[to]) {
				to--
			}
		}
		out = append(out, d.judgePart(e, t, from, to, loose)...)
		if to == len(t.Folded) {
			break
		}
		for from = to - overlap; !utf8.RuneStart(t.Folded[from]); from-- {
		}
	}
	for i := range t.Parts {
		p := &t.Parts[i]
		inner := Detector{d.threshold * 6 / 10}
		if f := inner.judge(e, &p.Text, true); len(f) > 0 {
			out = append(out, Finding{f[0].Rule, p.Start, p.End, f[0].Score})
		}
	}
	for _, s := range t.Invisible {
		if s.Kind == normal.Tags || s.Kind == normal.Selectors && s.End-s.Start > 16 {
			out = append(out, Finding{ruleNames[concealed], s.Start, s.End, 100})
		}
	}
	return out
}

// judgePart judges bytes from to to of the folded text.
func (d *Detector) judgePart(e *engine, t *normal.Text, from, to int, loose bool) []Finding {
	w := e.pool.Get().(*scratch)
	defer e.pool.Put(w)
	s := t.Folded[from:to]
	if loose {
		w.hits = e.words.looseHits(s, w.hits[:0])
	} else {
		w.hits = e.words.hits(s, w.hits[:0])
	}
	if len(w.hits) == 0 {
		return nil
	}
	addressees(s, w.hits)
	w.firings = e.firings(s, w.hits, w.firings[:0])
	weigh(t, from, s, w.hits, w.firings)
	var out []Finding
	for _, v := range judge(w.firings, d.threshold) {
		out = append(out, Finding{ruleNames[v.family], t.Source(from + v.start), t.Source(from + v.end), v.points})
	}
	if loose {
		return out
	}
	for _, text := range deciphered(s, w.hits) {
		inner := normal.Text{Folded: text}
		if f := (&Detector{d.threshold * 6 / 10}).judge(e, &inner, true); len(f) > 0 {
			out = append(out, Finding{f[0].Rule, t.Source(from), t.Source(to), f[0].Score})
			break
		}
	}
	return out
}

// addressees marks the hits that speak to a model: "assistant, do", "note to the AI".
func addressees(s string, hits []hit) {
	for i := range hits {
		h := &hits[i]
		if h.means&(ai|bot) == 0 {
			continue
		}
		if inside(hits, i, person) {
			h.means &^= ai | bot
			continue
		}
		called := 0
		for j := i - 1; j >= 0 && h.start-hits[j].start < 48; j-- {
			if hits[j].means&(call|whom) == 0 || hits[j].end > h.start || h.start-hits[j].end > 16 || apart(s[hits[j].end:h.start]) {
				continue
			}
			called = max(called, 1)
			if hits[j].means&call != 0 {
				called = 2
			}
		}
		spoken := vocative(s, hits, i)
		switch {
		case called == 2, h.means&ai != 0 && (called == 1 || spoken):
			h.means |= addressed
		case spoken:
			h.means |= hailed
		}
	}
}

// vocative reports whether hit i begins a clause and is followed by a comma or a colon
// that is none of a transcript.
func vocative(s string, hits []hit, i int) bool {
	const short = 3 // ai, llm: also names in programs
	rest := s[hits[i].end:]
	if s[hits[i].start] < 0x80 && hits[i].end-hits[i].start <= short {
		return false
	}
	if rest == "" || !strings.HasPrefix(rest, ", ") && rest[0] != ':' && !(rest[0] == ',' && s[hits[i].start] >= 0x80) {
		return false
	}
	before := strings.TrimRight(s[:hits[i].start], " ")
	if rest[0] == ',' && before != "" && bounded(rune(before[len(before)-1])) && !strings.HasSuffix(before, `\n`) {
		return false
	}
	return !inside(hits, i, turn)
}

// inside reports whether hit i is part of one that means c.
func inside(hits []hit, i int, c concepts) bool {
	const near = 6
	for j := max(0, i-near); j < min(len(hits), i+near); j++ {
		if hits[j].means&c != 0 && hits[j].start <= hits[i].start && hits[j].end >= hits[i].end {
			return true
		}
	}
	return false
}

// JSON returns what it finds in the texts of a JSON value, names of members
// included.
func (d *Detector) JSON(ch Channel, raw json.RawMessage) []Placed {
	var out []Placed
	_ = walk.Texts(raw, func(x *walk.Text) bool {
		if x.Kind == walk.Number {
			return true
		}
		for _, f := range d.Text(ch, x.Value) {
			out = append(out, Placed{f, x.Pointer()})
		}
		return true
	})
	return out
}

// Arguments returns what it finds in the arguments of a call.
func (d *Detector) Arguments(raw, schema json.RawMessage) []Placed {
	return d.JSON(Argument, raw)
}
