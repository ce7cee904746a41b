package definition

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/coregx/ahocorasick"
)

// family is one kind of asking. Its pattern is tried only around a word of its own, and
// only if another one is not far: patterns are slow, and most texts have no such pair.
type family struct {
	counts  int
	pattern *regexp.Regexp
	anchor  group
	near    group // none if the anchor alone will do
	// quotable says that texts about attacks say it too, and such a text may.
	quotable bool
}

// group is a set of words, parts of words and phrases in lower case.
type group uint8

// Distances from an anchor, in bytes: to the near word, and what a pattern sees before
// and after.
const (
	reach  = 110
	window = 160
)

// maxPlaces bounds how many places of a group are looked at in one text.
const maxPlaces = 48

// book is what texts are judged by.
type book struct {
	words    *ahocorasick.Automaton
	groups   [][]group // of each word
	families []family
}

var rules = sync.OnceValue(func() *book {
	b := &book{families: families()}
	slices.SortStableFunc(b.families, func(x, y family) int { return y.counts - x.counts })
	ids := map[string]int{}
	builder := ahocorasick.NewBuilder()
	for g, words := range vocabulary {
		for _, w := range words {
			id, ok := ids[w]
			if !ok {
				id = len(b.groups)
				ids[w] = id
				b.groups = append(b.groups, nil)
				builder.AddPattern([]byte(w))
			}
			b.groups[id] = append(b.groups[id], group(g))
		}
	}
	var err error
	if b.words, err = builder.Build(); err != nil {
		panic(err) // the words are constants
	}
	return b
})

// instructs says that a text is an instruction to the model: its families count enough.
func instructs(text string, enough int) bool {
	b, s := rules(), fold(text)
	var places [groups][]int // in order
	for _, m := range b.words.FindAllOverlapping(s) {
		for _, g := range b.groups[m.PatternID] {
			if len(places[g]) < maxPlaces {
				places[g] = append(places[g], m.End)
			}
		}
	}
	return b.judge(s, &places, enough)
}

// judge adds up the families whose words are there. It stops once those that are left
// cannot matter.
func (b *book) judge(s []byte, places *[groups][]int, enough int) bool {
	var may [64]bool
	left := 0 // what the families not yet tried could count
	for i := range b.families {
		f := &b.families[i]
		if may[i] = f.possible(places[f.anchor], places[f.near]); may[i] {
			left += f.counts
		}
	}
	total, about := 0, unknown
	for i := range b.families {
		f := &b.families[i]
		if total+left < enough {
			return false
		}
		if !may[i] {
			continue
		}
		left -= f.counts
		if !f.found(s, places[f.anchor], places[f.near]) {
			continue
		}
		if f.quotable && about == unknown {
			if about = no; attacks().Match(s) {
				about = yes
			}
		}
		if f.quotable && about == yes {
			continue
		}
		if total += f.counts; total >= enough {
			return true
		}
	}
	return false
}

// Whether a text is about attacks.
const (
	unknown = iota
	no
	yes
)

// possible says that the words of the family are there, and close enough.
func (f *family) possible(anchors, near []int) bool {
	if f.near == none {
		return len(anchors) > 0
	}
	k := 0
	for _, at := range anchors {
		if k = skipTo(near, k, at-reach); k == len(near) {
			return false
		}
		if near[k] <= at+reach {
			return true
		}
	}
	return false
}

// skipTo returns the first of sorted places, from the k-th on, that is not before at.
func skipTo(places []int, k, at int) int {
	for k < len(places) && places[k] < at {
		k++
	}
	return k
}

// found says that the pattern fits around one of the anchors.
func (f *family) found(s []byte, anchors, near []int) bool {
	end, k := 0, 0
	for _, at := range anchors {
		if f.near != none {
			if k = skipTo(near, k, at-reach); k == len(near) {
				return false
			}
			if near[k] > at+reach {
				continue
			}
		}
		if at < end-window/2 {
			continue // seen with the anchor before
		}
		from := max(at-window, 0)
		end = min(at+window, len(s))
		for from > 0 && !utf8.RuneStart(s[from]) {
			from--
		}
		if f.pattern.Match(s[from:end]) {
			return true
		}
	}
	return false
}

// fold brings a text into the form that the patterns are written for: lower case, one
// space between words, plain quotes, nothing that only sets text off.
func fold(text string) []byte {
	if !isASCII(text) {
		text = strings.ToLower(strings.ReplaceAll(text, "’", "'"))
	}
	out := make([]byte, 0, len(text)+1)
	for i := range len(text) {
		c := text[i]
		switch {
		case c >= 'A' && c <= 'Z':
			c += 'a' - 'A'
		case c == '`' || c == '*':
			continue
		case c == '"':
			c = '\''
		case c <= ' ':
			if len(out) == 0 || out[len(out)-1] == ' ' {
				continue
			}
			c = ' '
		}
		out = append(out, c)
	}
	return out
}
