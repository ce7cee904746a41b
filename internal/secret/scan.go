package secret

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
	"unsafe"

	"github.com/coregx/ahocorasick"
)

// scan is one search of a text.
type scan struct {
	text  string
	depth int // of decoding: a text in a text
	found []Finding
	runs  int // where the last decoded run ended
	names int // where the last name ended
	// done is how far a form or a shape has seen the text: another keyword of its own
	// before that place tells nothing new. It keeps a text that is all keywords from
	// costing their number times their reach.
	done map[any]int
}

// find searches a text that was decoded depth times.
func find(text string, depth int) []Finding {
	s := scan{text: text, depth: depth}
	s.run()
	return s.sorted()
}

func (s *scan) sorted() []Finding { return merge(s.found) }

func (s *scan) add(rule string, start, end int) {
	if start < end {
		s.found = append(s.found, Finding{Rule: rule, Start: start, End: end})
	}
}

// seen reports whether what has looked beyond start, and is a form or a shape.
func (s *scan) seen(what any, start int) bool { return start < s.done[what] }

// see notes how far something has looked.
func (s *scan) see(what any, end int) {
	if s.done == nil {
		s.done = map[any]int{}
	}
	s.done[what] = end
}

func (s *scan) run() {
	engine().each(s.text, func(m *meaning, start, end int) bool {
		m.look(s, start, end)
		return true
	})
}

// meaning is what an occurrence of a keyword may be the sign of.
type meaning struct {
	// rest is what follows in the text where only the beginning is in the automaton.
	rest string
	form form
	// shape is that of a provider.
	shape *shape
}

// keywords is the automaton and what its patterns mean.
type keywords struct {
	automaton *ahocorasick.Automaton
	meanings  [][]meaning // by pattern
}

// longestPattern is how much of a keyword is in the automaton. Each state has a row for
// all bytes: whole keywords would take megabytes.
const longestPattern = 5

// engine builds the keywords at first use: most runs of a command line need none.
var engine = sync.OnceValue(func() *keywords {
	e := &keywords{}
	b := ahocorasick.NewBuilder()
	id := map[string]int{}
	add := func(key string, m meaning) {
		cut := patternEnd(key)
		key, m.rest = key[:cut], key[cut:]
		n, ok := id[key]
		if !ok {
			n = len(e.meanings)
			id[key] = n
			e.meanings = append(e.meanings, nil)
			b.AddPattern([]byte(key))
		}
		e.meanings[n] = append(e.meanings[n], m)
	}
	all := shapes
	for i := range all {
		for _, key := range strings.Fields(all[i].keys) {
			add(key, meaning{shape: &all[i]})
		}
	}
	forms := formKeys()
	for _, form := range slices.Sorted(maps.Keys(forms)) {
		for _, key := range forms[form] {
			add(key, meaning{form: form})
		}
	}
	var err error
	if e.automaton, err = b.Build(); err != nil {
		panic(err) // a table of the program itself, which any test would catch
	}
	return e
})

// patternEnd returns how much of a keyword goes into the automaton: of a character beyond
// ASCII only its first two bytes, because each further byte that occurs widens all rows.
func patternEnd(key string) int {
	end := min(len(key), longestPattern)
	for i := range end {
		if key[i] >= utf8.RuneSelf {
			return min(i+2, len(key))
		}
	}
	return end
}

// each calls f for what the keywords in a text mean, in order of their ends, until f
// returns false for one keyword.
func (e *keywords) each(text string, f func(m *meaning, start, end int) bool) {
	const chunk, overlap = 64 << 10, longestPattern - 1
	for at := 0; at < len(text); at += chunk {
		from := max(0, at-overlap)
		part := text[from:min(len(text), at+chunk)]
		for _, h := range e.automaton.FindAllOverlapping(unsafe.Slice(unsafe.StringData(part), len(part))) {
			start, end := from+h.Start, from+h.End
			if end <= at {
				continue // in the last chunk, too
			}
			for i := range e.meanings[h.PatternID] {
				m := &e.meanings[h.PatternID][i]
				if strings.HasPrefix(text[end:], m.rest) && !f(m, start, end+len(m.rest)) {
					break
				}
			}
		}
	}
}

// live is a cheap look at a shape in JSON as it is written.
func (r *shape) live(text string, start, end int) bool {
	if r.headMin > 0 {
		from := r.head.before(text, start, r.headMin)
		return start-from == r.headMin || from > 0 && text[from-1] == '\\' || from >= 4 && text[from-4] == 'u'
	}
	if !border(text, start, r.loose) {
		return false
	}
	const look = 8
	to := r.body.run(text, end, min(r.min, look))
	return to-end >= min(r.min, look) || to < len(text) && text[to] == '\\'
}

// suspicious returns where in a JSON value as it is written the keywords are that are
// worth reading the text around them for. They are in order.
func suspicious(raw string) (at []int) {
	engine().each(raw, func(m *meaning, start, end int) bool {
		live := m.live(raw, start, end)
		if live {
			at = append(at, start)
		}
		return !live
	})
	return at
}
