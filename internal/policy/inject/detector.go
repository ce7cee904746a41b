package inject

import (
	"encoding/json"
	"strings"
	"unicode"
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
	// Score says how much was found: 40, 50 and 90 are what High, Medium and Low take.
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

// Text returns what it finds in text, in no order; nil if that is nothing.
func (d *Detector) Text(ch Channel, text string) []Finding {
	if len(text) < shortest {
		return nil
	}
	t := normal.Normalise(text)
	out := d.judge(&t, false)
	for _, f := range hidden(ch, t.Invisible) {
		if f.Score >= d.threshold {
			out = append(out, f)
		}
	}
	return out
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

// judge returns what it finds in a text and in what is encoded in it. loose texts have
// lost the gaps between their words.
func (d *Detector) judge(t *normal.Text, loose bool) []Finding {
	var out []Finding
	for from := 0; ; {
		to := len(t.Folded)
		if to-from > chunk {
			to = runeStart(t.Folded, from+chunk)
		}
		out = append(out, d.judgePart(t, from, to, loose)...)
		if to == len(t.Folded) {
			break
		}
		from = runeStart(t.Folded, to-overlap)
	}
	for i := range t.Parts {
		p := &t.Parts[i]
		if f := d.inner().judge(&p.Text, true); len(f) > 0 {
			out = append(out, Finding{f[0].Rule, p.Start, p.End, f[0].Score})
		}
	}
	return out
}

// inner is the detector for texts that were encoded: who does so has a reason.
func (d *Detector) inner() *Detector { return &Detector{d.threshold * 6 / 10} }

// runeStart returns the beginning of the character at byte i of s.
func runeStart(s string, i int) int {
	for i > 0 && !utf8.RuneStart(s[i]) {
		i--
	}
	return i
}

// judgePart judges bytes from to to of the folded text.
func (d *Detector) judgePart(t *normal.Text, from, to int, loose bool) []Finding {
	e := theEngine()
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
		if f := d.inner().judge(&inner, true); len(f) > 0 {
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
		if inside(hits, i, person|turn) {
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
		spoken, begins := vocative(s, hits, i)
		switch {
		case called == 2, h.means&ai != 0 && begins:
			h.means |= addressed
		case spoken, called == 1 && h.means&ai != 0:
			h.means |= hailed
		}
	}
}

// vocative reports whether hit i is followed by a comma or a colon as those are who are
// spoken to, and whether it begins a clause, as it does before orders.
func vocative(s string, hits []hit, i int) (spoken, begins bool) {
	rest := s[hits[i].end:]
	switch {
	case rest == "" || rest[0] != ',' && rest[0] != ':':
		return false, false
	case rest[0] == ',' && s[hits[i].start] < utf8.RuneSelf && (hits[i].end-hits[i].start <= short || !strings.HasPrefix(rest, ", ")):
		return false, false // an item of a list, a name in a program
	}
	if n := i + 1; rest[0] == ',' && n < len(hits) && hits[n].start-hits[i].end <= 2 && hits[n].means&(ai|bot) != 0 {
		return false, false // a list of them
	}
	before := strings.TrimRight(s[:hits[i].start], " ")
	r, _ := utf8.DecodeLastRuneInString(before)
	begins = before == "" || !unicode.IsLetter(r) && !unicode.IsDigit(r) || strings.HasSuffix(before, `\n`)
	return begins || rest[0] == ':', begins
}

// short is the size of words that are also names in programs: ai, llm, bot.
const short = 3

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

// The names of members are judged at the beginning of a text, where the first record
// has them all, and no more than so many.
const (
	namesWithin = 128 << 10
	maxNames    = 1000
)

// names judges the names of members in a text that is JSON itself. In the text they
// stand in quotation marks, like something that is only talked about; a table made of it
// has them as columns.
func (d *Detector) names(ch Channel, text string) (out []Finding) {
	if trimmed := strings.TrimLeft(text, " \t\r\n"); trimmed == "" || trimmed[0] != '{' && trimmed[0] != '[' {
		return nil
	}
	seen := map[string]bool{}
	_ = walk.Texts([]byte(text[:min(len(text), namesWithin)]), func(x *walk.Text) bool {
		if x.Kind != walk.Name || len(x.Value) < shortest || seen[x.Value] {
			return true
		}
		seen[strings.Clone(x.Value)] = true
		for _, f := range d.Text(ch, x.Value) {
			f.Start, f.End = x.Start, x.End // of the literal, whose escapes are not the text's
			out = append(out, f)
		}
		return len(seen) < maxNames
	})
	return out
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
		for _, f := range d.names(ch, x.Value) {
			out = append(out, Placed{f, x.Pointer()})
		}
		return true
	})
	return out
}
