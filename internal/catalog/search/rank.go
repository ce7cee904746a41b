package search

import "slices"

// Ranking is what an index has for a query.
type Ranking struct {
	// Hits are the documents that have something of the query, best first, equals
	// in order of position.
	Hits []Hit
	// Fits says whether any document does what the query asks. Without it the hits
	// merely share words with the query.
	Fits bool
}

// Hit is a document that has something of a query.
type Hit struct {
	// Doc is the document's position in the index.
	Doc int
	// Score is positive; it orders the hits of one query.
	Score float64

	words float64 // the score without what lifts it
	share float64 // of what the query asks
}

// Constants of the ranking.
const (
	saturation = 2.0 // BM25's k1: how soon more of a word stops to count
	nameBonus  = 1.0 // for a query that covers all of a tool's name
	queryBonus = 0.2 // for a document that has all of the query
)

// Rank returns the best n of the documents that keep accepts; nil accepts all.
func (x *Index) Rank(query string, n int, keep func(doc int) bool) Ranking {
	asks := x.read(query)
	tallies := make([]tally, x.docs)
	var touched []uint32
	mass := float32(0)
	for _, a := range asks {
		touched = x.match(a, tallies, touched[:0])
		for _, doc := range touched {
			tallies[doc].take(a.mass)
		}
		mass += a.mass
	}
	best := top{room: max(n, judged)}
	for doc := range tallies {
		t := &tallies[doc]
		if t.score > 0 && (keep == nil || keep(doc)) {
			best.offer(x.hit(doc, t, mass))
		}
	}
	return Ranking{Hits: best.hits[:min(max(n, 0), len(best.hits))], Fits: x.fits(best.hits)}
}

// tally is what a document has of a query.
type tally struct {
	score float32 // BM25
	met   float32 // mass of what it has of the query
	named float32 // idf of what the query has of its name
	now   gain
}

// gain is what a document has of the one thing at hand: the best of what may
// stand for it. A sum would favour documents that say the same thing often.
type gain struct{ score, rate, named float32 }

// take adds the gain for a thing of that mass.
func (t *tally) take(mass float32) {
	t.score += t.now.score
	t.met += t.now.rate * mass
	t.named += t.now.named
	t.now = gain{}
}

// match notes what every document has of one thing that is asked, and returns
// the documents that have any.
func (x *Index) match(a asked, tallies []tally, touched []uint32) []uint32 {
	for _, m := range a.by {
		worth := m.rate * x.idf(m.term)
		for _, p := range x.of(m.term) {
			now := &tallies[p.doc].now
			if now.score == 0 {
				touched = append(touched, p.doc)
			}
			weight := float32(p.weight) * weightUnit
			now.score = max(now.score, worth*weight*(saturation+1)/(saturation+weight))
			now.rate = max(now.rate, m.rate)
			if p.named {
				now.named = max(now.named, worth)
			}
		}
	}
	return touched
}

func (x *Index) hit(doc int, t *tally, mass float32) Hit {
	h := Hit{Doc: doc, Score: float64(t.score), words: float64(t.score), share: float64(t.met / mass)}
	if x.signals&NameCoverage != 0 && t.named > 0 {
		h.Score *= 1 + nameBonus*float64(min(t.named/x.names[doc], 1))
	}
	if x.signals&QueryCoverage != 0 {
		h.Score *= 1 + queryBonus*h.share
	}
	return h
}

// top keeps the best hits of those offered in order of position.
type top struct {
	room int
	hits []Hit
}

func (t *top) offer(h Hit) {
	if len(t.hits) == t.room {
		if t.hits[t.room-1].Score >= h.Score {
			return
		}
		t.hits = t.hits[:t.room-1]
	}
	i := len(t.hits)
	for i > 0 && t.hits[i-1].Score < h.Score {
		i--
	}
	t.hits = slices.Insert(t.hits, i, h)
}
