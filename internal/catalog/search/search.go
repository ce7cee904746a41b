// Package search ranks tools for a query by their words. It owns an immutable
// index over documents that stand for tools; it knows nothing of names that are
// asked for exactly, of authorization or of definitions.
//
// The ranking is BM25 over fields (BM25F) with whole, lightly stemmed words. A
// document is found only if it answers a fair share of what the query asks:
// nothing is better than a filler.
//
// Start at [Index.Search].
package search

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// Document is what search knows of a tool.
type Document struct {
	Server, Name, Title, Description string
	// Params are the names of its parameters, ParamTexts their descriptions.
	Params, ParamTexts []string
}

// Hit is a document that fits a query.
type Hit struct {
	// Doc is the document's position in the index.
	Doc int
	// Score is positive; it orders the hits of one query.
	Score float64
}

// Index is an immutable index of documents. Several goroutines may search it.
type Index struct {
	docs     int
	postings map[string][]posting // by term; documents ascending
	synonyms map[string][]string  // by term
}

// posting says how strongly a document is about a term.
type posting struct {
	doc    int32
	weight float32 // term frequency over all fields, weighted and normalised
	strong bool    // the term stands outside the parameters
}

// The fields of a document: what a term in it weighs, and how much a long field
// dilutes it.
const (
	fieldName = iota
	fieldServer
	fieldTitle
	fieldDescription
	fieldParams
	fieldParamTexts
	fields
)

type field struct{ weight, dilution float64 }

func fieldOf(f int) field {
	return [fields]field{
		fieldName:        {4, 0.3},
		fieldServer:      {2, 0},
		fieldTitle:       {2.5, 0.3},
		fieldDescription: {1.5, 0.6},
		fieldParams:      {1, 0.7},
		fieldParamTexts:  {0.4, 0.7},
	}[f]
}

// Constants of the ranking.
const (
	saturation  = 1.2     // BM25's k1
	fewDocs     = 50      // in smaller catalogs every word looks common; count them as this many
	needed      = 0.3     // the share of a query that a document must answer
	counted     = 4       // only a query's rarest terms count for that share
	weakShare   = 0.6     // how far a parameter's words answer a query
	synonymRate = 0.5     // what a synonym scores
	maxTerms    = 32      // of a query
	maxText     = 8 << 10 // bytes of one text or query that are read
)

// synonymGroups are words that people and tool authors swap, one group a line.
const synonymGroups = `
create add new
delete remove
search find look query
list show
get fetch retrieve
update edit modify change
web internet online
folder directory
email mail
image picture photo
repository repo
`

// New indexes n documents.
func New(n int, document func(i int) Document) *Index {
	var c counter
	c.ids, c.words = map[string]int32{}, map[string]int32{}
	counts := make([][]occurrence, n)
	for i := range n {
		counts[i] = c.count(document(i))
	}
	var average [fields]float64
	for f := range average {
		average[f] = max(c.lengths[f]/float64(max(n, 1)), 1)
	}
	postings := make([][]posting, len(c.documents))
	for id, df := range c.documents {
		postings[id] = make([]posting, 0, df)
	}
	for i, terms := range counts {
		var own [fields]float64
		for _, o := range terms {
			for f := range own {
				own[f] += float64(o.counts[f])
			}
		}
		for _, o := range terms {
			postings[o.id] = append(postings[o.id], weigh(i, &o.counts, &own, &average))
		}
	}
	x := &Index{docs: n, postings: make(map[string][]posting, len(c.ids)), synonyms: readSynonyms(synonymGroups)}
	for t, id := range c.ids {
		x.postings[t] = postings[id]
	}
	return x
}

// counter counts the terms of documents.
type counter struct {
	ids       map[string]int32 // by term
	words     map[string]int32 // by word as written: a term's id, or -1 for a stop word
	documents []int            // by id: how many documents have the term
	slots     []int            // by id: 1 + its place in the list of the document being counted
	lengths   [fields]float64  // of all documents
}

// occurrence is how often a term stands in each field of a document.
type occurrence struct {
	id     int32
	counts [fields]float32
}

// count counts a document's terms.
func (c *counter) count(d Document) []occurrence {
	var list []occurrence
	f := 0
	one := func(written string) {
		id := c.id(written)
		if id < 0 {
			return
		}
		if c.slots[id] == 0 {
			list = append(list, occurrence{id: id})
			c.slots[id] = len(list)
			c.documents[id]++
		}
		list[c.slots[id]-1].counts[f]++
		c.lengths[f]++
	}
	each := func(w word) {
		one(w.whole)
		for _, p := range w.parts {
			one(p)
		}
	}
	for field, texts := range [fields][]string{
		fieldName: {d.Name}, fieldServer: {d.Server}, fieldTitle: {d.Title}, fieldDescription: {d.Description},
		fieldParams: d.Params, fieldParamTexts: d.ParamTexts,
	} {
		f = field
		for _, text := range texts {
			split(text[:min(len(text), maxText)], each)
		}
	}
	for _, o := range list {
		c.slots[o.id] = 0
	}
	return list
}

// id returns the number of a word's term, -1 for a stop word.
func (c *counter) id(written string) int32 {
	if id, ok := c.words[written]; ok {
		return id
	}
	id := int32(-1)
	if t := term(written); t != "" {
		known, ok := c.ids[t]
		if !ok {
			known = int32(len(c.documents))
			c.ids[strings.Clone(t)] = known // not to keep the text that it was cut from
			c.documents, c.slots = append(c.documents, 0), append(c.slots, 0)
		}
		id = known
	}
	c.words[written] = id
	return id
}

func weigh(doc int, counts *[fields]float32, own, average *[fields]float64) posting {
	p := posting{doc: int32(doc)}
	for f, n := range counts {
		if n == 0 {
			continue
		}
		by := fieldOf(f)
		p.weight += float32(by.weight * float64(n) / (1 - by.dilution + by.dilution*own[f]/average[f]))
		p.strong = p.strong || f < fieldParams
	}
	return p
}

// readSynonyms returns the other terms of each term's groups.
func readSynonyms(groups string) map[string][]string {
	synonyms := map[string][]string{}
	for line := range strings.Lines(groups) {
		terms := Terms(line)
		for i, t := range terms {
			synonyms[t] = append(append(synonyms[t], terms[:i]...), terms[i+1:]...)
		}
	}
	return synonyms
}

// asked is one term of a query and what stands for it in the index.
type asked struct {
	alternatives []string // the first is the term itself
	mass         float64  // how much of the query it is
}

// Search returns the documents that fit the query and that keep accepts, best
// first, equals in order of position.
func (x *Index) Search(query string, keep func(doc int) bool) []Hit {
	terms := x.terms(query[:min(len(query), maxText)])
	score, answered := make([]float64, x.docs), make([]float64, x.docs)
	best := map[int32][2]float64{} // score and share for one term
	for _, a := range terms {
		clear(best)
		for i, t := range a.alternatives {
			x.match(t, i > 0, a.mass, best)
		}
		for doc, b := range best {
			score[doc] += b[0]
			answered[doc] += b[1]
		}
	}
	need := enough(terms)
	var hits []Hit
	for doc, s := range score {
		if s > 0 && answered[doc] >= need && keep(doc) {
			hits = append(hits, Hit{doc, s})
		}
	}
	slices.SortStableFunc(hits, func(a, b Hit) int { return cmp.Compare(b.Score, a.Score) })
	return hits
}

// match notes for every document that has the term what it scores, if that is
// more than another alternative scored.
func (x *Index) match(t string, synonym bool, mass float64, best map[int32][2]float64) {
	rate := 1.0
	if synonym {
		rate = synonymRate
	}
	idf := x.idf(t)
	for _, p := range x.postings[t] {
		share := mass
		if !p.strong {
			share *= weakShare
		}
		w := float64(p.weight)
		if s := rate * idf * w / (saturation + w); s > best[p.doc][0] {
			best[p.doc] = [2]float64{s, share}
		}
	}
}

// terms returns what a query asks, each term once.
func (x *Index) terms(query string) []asked {
	var terms []asked
	seen := map[string]bool{}
	add := func(t string) {
		if t == "" || seen[t] || len(terms) == maxTerms {
			return
		}
		seen[t] = true
		a := asked{alternatives: append([]string{t}, x.synonyms[t]...), mass: x.idf(t)}
		for _, other := range a.alternatives[1:] {
			a.mass = min(a.mass, x.idf(other))
		}
		terms = append(terms, a)
	}
	split(query, func(w word) {
		// "GitHub" is one word where the catalog knows it as one.
		if whole := term(w.whole); len(w.parts) == 0 || x.postings[whole] != nil {
			add(whole)
			return
		}
		for _, p := range w.parts {
			add(term(p))
		}
	})
	return terms
}

// enough returns how much of the query a document must answer: a share of the
// rarest terms, so that a long question can be answered too.
func enough(terms []asked) float64 {
	masses := make([]float64, 0, len(terms))
	for _, a := range terms {
		masses = append(masses, a.mass)
	}
	slices.Sort(masses)
	sum := 0.0
	for _, m := range masses[max(len(masses)-counted, 0):] {
		sum += m
	}
	return needed * sum
}

// idf says how rare a term is; most of all one that no document has.
func (x *Index) idf(t string) float64 {
	n, df := float64(max(x.docs, fewDocs)), float64(len(x.postings[t]))
	return math.Log(1 + (n-df+0.5)/(df+0.5))
}
