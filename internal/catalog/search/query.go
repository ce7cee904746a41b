package search

import "strings"

// maxAsked is how many things a query may ask; more says nothing new.
const maxAsked = 48

// asked is one thing that a query asks for.
type asked struct {
	by   []meant
	mass float32 // how much of the query it is
}

// meant is a term of the index that answers it, and how well, from 0 to 1.
type meant struct {
	term int
	rate float32
}

// What a term is worth that stands for the one asked.
const (
	verbRate    = 0.5
	shortRate   = 0.8
	nearRate    = 0.65
	chineseRate = 0.8 // for all but the usual word
)

// reader gathers what a query asks.
type reader struct {
	x     *Index
	seen  map[string]bool
	asked []asked
}

// read returns what a query asks, each thing once.
func (x *Index) read(query string) []asked {
	query = query[:min(len(query), maxText)]
	if x.signals&Literals != 0 {
		query = plain(query)
	}
	r := &reader{x: x, seen: map[string]bool{}}
	before := ""
	runs(query, func(run string, class int) {
		if class == unspaced {
			r.unspaced(run)
			before = ""
			return
		}
		r.compound(before, run)
		r.word(run)
		before = run
	})
	return r.asked
}

// word asks for a word. One of several parts is one where the catalog knows it
// as one, such as GitHub.
func (r *reader) word(w string) {
	parts := parts(w)
	if whole := r.x.signals.term(w); len(parts) == 0 || r.x.find(whole) >= 0 {
		r.ask(whole)
		return
	}
	for _, p := range parts {
		r.ask(r.x.signals.term(p))
	}
}

// compound asks for two neighbouring words as one, if tools write them so.
func (r *reader) compound(before, w string) {
	if r.x.signals&Compounds == 0 || before == "" || len(before)+len(w) > maxStem {
		return
	}
	if t := r.x.signals.term(before + w); r.x.find(t) >= 0 {
		r.ask(t)
	}
}

// ask adds a term and what else may stand for it. It returns nil for one that is
// not added.
func (r *reader) ask(term string) *asked {
	if term == "" || r.seen[term] || len(r.asked) == maxAsked {
		return nil
	}
	r.seen[term] = true
	x := r.x
	id := x.find(term)
	a := asked{mass: x.idf(id)}
	if id >= 0 {
		a.by = append(a.by, meant{id, 1})
	}
	if x.signals&Abbreviations != 0 {
		a.add(x, x.words.short[term], shortRate)
	}
	if x.signals&Verbs != 0 {
		a.add(x, x.words.verbs[term], verbRate)
	}
	if x.signals&Typos != 0 && len(a.by) == 0 {
		for _, near := range x.near(term) {
			a.by = append(a.by, meant{near, nearRate})
		}
	}
	if len(a.by) == 0 && strings.ContainsAny(term, "0123456789") {
		return nil // a value for the call, which says nothing about the tool
	}
	r.asked = append(r.asked, a)
	return &r.asked[len(r.asked)-1]
}

// add adds the terms that the index knows.
func (a *asked) add(x *Index, terms []string, rate float32) {
	for _, t := range terms {
		if id := x.find(t); id >= 0 {
			a.by = append(a.by, meant{id, rate})
		}
	}
}
