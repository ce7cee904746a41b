package inject

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// hit is a word of a lexicon in a text.
type hit struct {
	start, end int32
	means      concepts
}

// trie finds the words of all lexicons. It is walked where words begin and left where
// nothing goes on: most words of a text cost two or three steps.
type trie struct {
	root  [256]uint16 // node by first byte; 0 is none
	pairs []uint16    // node by two letters, which settles most words
	nodes []node
	// labels and targets are the edges of all nodes, each node's in order.
	labels  []byte
	targets []uint16
	entries []entry
}

type node struct {
	edges, entries uint16 // the first of its own
	nEdges, nEnds  uint8
}

// space stands for any gap between the words of a phrase.
const space = ' '

// letters is how many there are in ASCII.
const letters = 26

// widestGap is how many bytes may part the words of a phrase.
const widestGap = 4

// newTrie builds a trie of entries, which must be sorted by their text.
func newTrie(entries []entry) (*trie, error) {
	t := &trie{entries: entries, nodes: make([]node, 1, 32<<10)}
	t.grow(0, 0, len(entries), 0)
	if len(t.nodes) > math.MaxUint16 {
		return nil, fmt.Errorf("lexicon: %d nodes are too many", len(t.nodes))
	}
	for i := range t.nodes[0].nEdges {
		t.root[t.labels[i]] = t.targets[i]
	}
	t.nodes = slices.Clip(t.nodes)
	t.pairs = make([]uint16, letters*letters)
	for a := range letters {
		for b := range letters {
			if n := t.root['a'+a]; n != 0 {
				t.pairs[a*letters+b] = t.next(&t.nodes[n], byte('a'+b))
			}
		}
	}
	return t, nil
}

// grow makes the edges of node n, which has the entries from to to, alike up to depth.
func (t *trie) grow(n, from, to, depth int) {
	t.nodes[n].entries = uint16(from)
	for from < to && len(t.entries[from].text) == depth {
		t.nodes[n].nEnds++
		from++
	}
	first := len(t.labels)
	t.nodes[n].edges = uint16(first)
	starts := []int{}
	for i := from; i < to; i++ {
		if c := t.entries[i].text[depth]; i == from || c != t.labels[len(t.labels)-1] {
			t.labels = append(t.labels, c)
			t.targets = append(t.targets, uint16(len(t.nodes)))
			t.nodes = append(t.nodes, node{})
			starts = append(starts, i)
		}
	}
	t.nodes[n].nEdges = uint8(len(starts))
	starts = append(starts, to)
	for i := range len(starts) - 1 {
		t.grow(int(t.targets[first+i]), starts[i], starts[i+1], depth+1)
	}
}

// next returns the node behind n by c; 0 is none.
func (t *trie) next(n *node, c byte) uint16 {
	labels := t.labels[n.edges : int(n.edges)+int(n.nEdges)]
	if len(labels) > 8 {
		if i, ok := slices.BinarySearch(labels, c); ok {
			return t.targets[int(n.edges)+i]
		}
		return 0
	}
	for i, l := range labels {
		if l == c {
			return t.targets[int(n.edges)+i]
		}
	}
	return 0
}

// hits adds the words of all languages in s to into, in order of their start.
func (t *trie) hits(s string, into []hit) []hit {
	for i := 0; i < len(s); {
		c := s[i]
		n := t.root[c]
		switch k := kinds[c]; {
		case k == letterKind:
			if i > 0 && s[i-1] == '\\' && (c == 'n' || c == 't' || c == 'r') { // an escape
				i++
				continue
			}
			j := i + 1
			if c >= 'a' && j < len(s) && s[j] >= 'a' && s[j] <= 'z' {
				n = t.pairs[int(c-'a')*letters+int(s[j]-'a')]
				j++
			}
			if n != 0 {
				into = t.walk(s, i, j, n, into)
			}
			for i = j; i < len(s) && kinds[s[i]] == letterKind; i++ {
			}
		case k == cyrillicKind:
			if n != 0 {
				into = t.walk(s, i, i+1, n, into)
			}
			for i += 2; i < len(s) && kinds[s[i]] == cyrillicKind; i += 2 {
			}
		default:
			if n != 0 {
				into = t.walk(s, i, i+1, n, into)
			}
			i++
		}
	}
	return into
}

// walk adds the words that begin at byte i of s, which leads to node n at byte j.
func (t *trie) walk(s string, i, j int, n uint16, into []hit) []hit {
	for {
		at := &t.nodes[n]
		for k := range int(at.nEnds) {
			e := &t.entries[int(at.entries)+k]
			if end, ok := e.ends(s, i, j); ok {
				into = append(into, hit{int32(i), int32(end), e.means})
			}
		}
		if j >= len(s) || at.nEdges == 0 {
			return into
		}
		if m := t.next(at, s[j]); m != 0 && s[j] != space {
			n = m
			j++
			continue
		}
		end := skipGap(s, j)
		if end == j {
			return into
		}
		if n = t.next(at, space); n == 0 {
			return into
		}
		j = end
	}
}

// looseHits finds words within other words as well, for texts that have lost their
// gaps.
func (t *trie) looseHits(s string, into []hit) []hit {
	for i := range len(s) {
		if n := t.root[s[i]]; n != 0 {
			into = t.looseWalk(s, i, i+1, n, into)
		}
	}
	return into
}

func (t *trie) looseWalk(s string, i, j int, n uint16, into []hit) []hit {
	const shortest = 3 // shorter words are in every other word
	at := &t.nodes[n]
	for k := range int(at.nEnds) {
		if e := &t.entries[int(at.entries)+k]; !e.line && j-i >= shortest {
			into = append(into, hit{int32(i), int32(j), e.means})
		}
	}
	if m := t.next(at, space); m != 0 {
		into = t.looseWalk(s, i, skipGap(s, j), m, into)
	}
	if j < len(s) && s[j] != space {
		if m := t.next(at, s[j]); m != 0 {
			into = t.looseWalk(s, i, j+1, m, into)
		}
	}
	return into
}

// skipGap returns the end of the gap at byte i of s.
func skipGap(s string, i int) int {
	end := i
	for end < len(s) && end-i < widestGap {
		switch s[end] {
		case ' ', '\n', '\t', '\r', '_', '-':
			end++
		case '\\':
			if end+1 == len(s) || strings.IndexByte("ntr", s[end+1]) < 0 {
				return end
			}
			end += 2
		default:
			return end
		}
	}
	return end
}

// ends reports whether the entry, which is at byte i to j of s, is a word there, and
// where the word ends.
func (e *entry) ends(s string, i, j int) (int, bool) {
	switch {
	case e.bound && !endsWord(s, j), e.line && !beginsLine(s, i):
		return 0, false
	case e.within && (i == 0 || j == len(s) || kinds[s[i-1]] != letterKind || kinds[s[j]] != letterKind):
		return 0, false
	}
	for e.stem && j < len(s) && !endsWord(s, j) {
		j++
	}
	return j, true
}

// The kinds of bytes, by what script they belong to.
const (
	otherKind    = iota
	letterKind   // ASCII letters and digits
	cyrillicKind // the first byte of a letter
)

var kinds = func() (k [256]uint8) {
	for c := range k {
		switch {
		case c < utf8.RuneSelf && bounded(rune(c)):
			k[c] = letterKind
		case c >= 0xd0 && c <= 0xd3:
			k[c] = cyrillicKind
		}
	}
	return k
}()
