package search

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// Index is an immutable index of documents. Several goroutines may search it.
type Index struct {
	signals  Signals
	docs     int
	terms    []string // ascending
	shapes   []uint32 // by term, see near.go
	starts   []uint32 // by term: where its postings start; one more for the end
	postings []posting
	names    []float32 // by document: how much its name says, the idf of its terms summed
	words    *lexicon
}

// posting says how strongly a document is about a term.
type posting struct {
	doc    uint32
	weight uint16 // in units of weightUnit
	named  bool   // the term stands in the tool's name
}

// weightUnit is precise enough for a rank and leaves room for a weight of 64,
// far beyond where more of a word stops to count.
const weightUnit = 1.0 / 1024

// fewDocs is the size that smaller catalogs are taken for: in them every word
// looks common.
const fewDocs = 50

// find returns the number of a term, -1 if no document has it.
func (x *Index) find(term string) int {
	i := sort.SearchStrings(x.terms, term)
	if i < len(x.terms) && x.terms[i] == term {
		return i
	}
	return -1
}

// of returns the postings of a term by its number.
func (x *Index) of(term int) []posting {
	if term < 0 {
		return nil
	}
	return x.postings[x.starts[term]:x.starts[term+1]]
}

// idf says how rare a term is; most of all one that no document has.
func (x *Index) idf(term int) float32 {
	n, df := float64(max(x.docs, fewDocs)), float64(len(x.of(term)))
	return float32(math.Log(1 + (n-df+0.5)/(df+0.5)))
}

// seal puts what a builder gathered in order.
func (b *builder) seal() *Index {
	x := &Index{signals: b.signals, docs: b.docs, words: b.words, names: make([]float32, b.docs)}
	x.terms = make([]string, 0, len(b.ids))
	total := 0
	for t, id := range b.ids {
		if len(b.postings[id]) > 0 {
			x.terms = append(x.terms, t)
			total += len(b.postings[id])
		}
	}
	slices.Sort(x.terms)
	x.terms = packed(x.terms)
	x.shapes = make([]uint32, len(x.terms))
	x.starts = make([]uint32, 0, len(x.terms)+1)
	x.postings = make([]posting, 0, total)
	for i, t := range x.terms {
		x.shapes[i] = shape(t)
		x.starts = append(x.starts, uint32(len(x.postings)))
		x.postings = append(x.postings, b.postings[b.ids[t]]...)
	}
	x.starts = append(x.starts, uint32(len(x.postings)))
	for i := range x.terms {
		x.settle(i)
	}
	return x
}

// settle puts the postings of a term in order, whichever were taken over, and
// counts the term for the names that it stands in.
func (x *Index) settle(term int) {
	idf, all := x.idf(term), x.of(term)
	slices.SortFunc(all, func(a, b posting) int { return cmp.Compare(a.doc, b.doc) })
	for _, p := range all {
		if p.named {
			x.names[p.doc] += idf
		}
	}
}

// packed returns the same texts cut from a single one, which costs less than one
// allocation each and keeps alive nothing else.
func packed(texts []string) []string {
	size := 0
	for _, t := range texts {
		size += len(t)
	}
	all := make([]byte, 0, size)
	for _, t := range texts {
		all = append(all, t...)
	}
	one, out := string(all), make([]string, len(texts))
	for i, t := range texts {
		out[i], one = one[:len(t)], one[len(t):]
	}
	return out
}
