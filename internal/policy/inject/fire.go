package inject

import (
	"math/bits"
	"strings"
)

// firing is a place where a rule holds.
type firing struct {
	family     family
	points     int
	start, end int // in the folded text
}

// firings adds to out where rules hold among the hits of s, in order.
func (e *engine) firings(s string, hits []hit, out []firing) []firing {
	for i := range hits {
		rules := uint64(hits[i].means) & e.begins
		if rules == 0 {
			continue
		}
		behind := meansBehind(hits, i)
		how := unknown
		for ; rules != 0; rules &= rules - 1 {
			patterns := e.first[bits.TrailingZeros64(rules)]
			for p := range patterns {
				pat := &patterns[p]
				if !pat.possible(behind) {
					continue
				}
				tries := maxTries
				end, ok := pat.match(s, hits, i, 1, &tries)
				if !ok {
					continue
				}
				if how == unknown {
					how = mood(s, hits, i)
				}
				if points := pat.worth(hits[i].means, how); points > 0 {
					out = append(out, firing{pat.family, points, int(hits[i].start), end})
				}
			}
		}
	}
	return out
}

// longestGap is the widest gap of a rule.
const longestGap = 300

// meansBehind returns what the hits behind hit i mean that any rule reaches in one step or
// two.
func meansBehind(hits []hit, i int) concepts {
	var c concepts
	for j := i + 1; j < len(hits) && j <= i+maxTries && hits[j].start-hits[i].end <= 2*longestGap; j++ {
		c |= hits[j].means
	}
	return c
}

// possible reports whether all that the pattern wants behind its beginning is there.
func (p *pattern) possible(behind concepts) bool {
	for _, st := range p.steps[1:] {
		if st.want&behind == 0 {
			return false
		}
	}
	return true
}

// worth is what the pattern gives where it begins with a hit of such a meaning and mood.
func (p *pattern) worth(means concepts, m mode) int {
	switch {
	case means&p.steps[0].want&(drop|reveal) == 0:
		return p.points
	case m == denied:
		return 0
	case m == supposed:
		return p.points * 3 / 10
	case m == commanded && p.family <= extract:
		return p.points + command
	}
	return p.points
}

// maxTries bounds the work of one rule at one place.
const maxTries = 64

// match reports whether the steps from n on hold behind hit i, and where they end.
func (p *pattern) match(s string, hits []hit, i, n int, tries *int) (int, bool) {
	if n == len(p.steps) {
		return int(hits[i].end), true
	}
	st := p.steps[n]
	from := int(hits[i].end)
	for j := i + 1; j < len(hits) && int(hits[j].start)-from <= st.gap; j++ {
		if *tries--; *tries < 0 {
			return 0, false
		}
		if hits[j].means&st.want&deeds != 0 && negated(hits, j) || int(hits[j].start) < from || hits[j].means&st.want == 0 || !st.cross && apart(s[from:hits[j].start]) {
			continue
		}
		if end, ok := p.match(s, hits, j, n+1, tries); ok {
			return end, true
		}
	}
	return 0, false
}

// deeds are what one may be told not to do.
const deeds = send | erase | pay | reveal | run | drop

// apart reports whether s, which is between two words, keeps them apart: a sentence, a
// paragraph or an item ends in it, or it is code.
func apart(s string) bool {
	for i := range len(s) {
		next := byte(' ')
		if i+1 < len(s) {
			next = s[i+1]
		}
		switch s[i] {
		case '=', ';', '{', '}', '|':
			return true
		case '(':
			if i > 0 && bounded(rune(s[i-1])) { // a call
				return true
			}
		case '"':
			if next == ',' || next == ':' { // the next member of an object
				return true
			}
		case '.', '!', '?':
			if i+1 < len(s) && (next == ' ' || next == '\n') {
				return true
			}
		case '\n':
			if strings.IndexByte("\n0123456789-*#<[\"'", next) >= 0 {
				return true
			}
		case 0xe3:
			if strings.HasPrefix(s[i:], "。") {
				return true
			}
		}
	}
	return false
}
