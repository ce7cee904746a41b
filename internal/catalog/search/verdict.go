package search

import "math"

// Constants of the verdict.
const (
	judged      = 3    // of the best hits; a host is shown as many
	mostOfQuery = 0.6  // the share of a query that is enough by itself
	enough      = 0.64 // see fits
)

// fits reports whether one of the best hits does what the query asks.
//
// A short query is met by a document that has most of it. A long one, with the
// values of a call or several ways to say one thing, never is; there it counts
// what the words of the query are worth that the document has, in words so rare
// that no document has them, which makes it the same for catalogs of any size.
// The root of the share holds back hits that gather many crumbs of a query about
// something else. That the query covers a tool's name says nothing here: one
// common word does.
func (x *Index) fits(best []Hit) bool {
	rarest := float64(x.idf(-1))
	for _, h := range best[:min(judged, len(best))] {
		if h.share >= mostOfQuery || h.words/rarest*math.Sqrt(h.share) >= enough {
			return true
		}
	}
	return false
}
