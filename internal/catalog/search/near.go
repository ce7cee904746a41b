package search

import (
	"math/bits"
	"sort"
	"strings"
)

// Bounds on what is near a word.
const (
	minNear = 4  // bytes of a word that may be misspelt or cut short
	twice   = 8  // bytes of one that may be misspelt twice
	maxNear = 12 // terms near one word
)

// near returns the terms that someone may have meant who wrote one that no
// document has: those that go on where it ends or differ by a letter or two.
// The first letter is seldom the wrong one, and without it all would have to be
// looked at.
func (x *Index) near(term string) (found []int) {
	if len(term) < minNear || len(term) > maxStem {
		return nil
	}
	edits := 1
	if len(term) >= twice {
		edits = 2
	}
	own := shape(term)
	for i := sort.SearchStrings(x.terms, term[:1]); i < len(x.terms) && x.terms[i][0] == term[0] && len(found) < maxNear; i++ {
		other := x.terms[i]
		longer := len(other) - len(term)
		switch {
		case strings.HasPrefix(other, term):
			found = append(found, i)
		case max(longer, -longer) > edits || bits.OnesCount32(x.shapes[i]^own) > 2*edits:
		case distance(term, other, edits) <= edits:
			found = append(found, i)
		}
	}
	return found
}

// shape is the set of letters of a term, so that most terms that cannot be near
// another one are passed over without comparing them.
func shape(term string) uint32 {
	var s uint32
	for i := range len(term) {
		s |= 1 << (term[i] & 31)
	}
	return s
}

// distance counts the bytes to insert, delete, replace or swap with their
// neighbours that lead from a to b, up to a limit, beyond which it only says so.
// Neither may be much longer than maxStem.
func distance(a, b string, limit int) int {
	var rows [3][maxStem + 4]int
	before, row, next := &rows[0], &rows[1], &rows[2]
	for j := range len(b) + 1 {
		row[j] = j
	}
	for i := range len(a) {
		next[0] = i + 1
		least := next[0]
		for j := range len(b) {
			d := row[j]
			if a[i] != b[j] {
				d++
			}
			d = min(d, row[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				d = min(d, before[j-1]+1)
			}
			next[j+1] = d
			least = min(least, d)
		}
		if least > limit {
			return least
		}
		before, row, next = row, next, before
	}
	return row[len(b)]
}
