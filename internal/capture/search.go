package capture

import (
	"bytes"
	"cmp"
	"math"
	"math/bits"
	"slices"
	"unicode/utf8"
)

const (
	// near is how many bytes, folded, words may be apart to be found together.
	near = 600
	// overlap is how much of a window is seen again in the next: more than a query
	// takes in any spelling, and than near.
	overlap = 8 << 10
	// perWindow bounds the places of one word that are looked at in a window; all
	// are counted.
	perWindow = 8 << 10
	// keep is how many places are kept for each way to match.
	keep = 32
)

// Way is how a fragment matches a query.
type Way string

// The ways to match, best first.
const (
	// WayPhrase is the query as it stands.
	WayPhrase Way = "phrase"
	// WayWords is all words of the query, on one line or near each other.
	WayWords Way = "words"
	// WaySome is some of the words.
	WaySome Way = "some"
)

// Fragment is a part of a capture around a match.
type Fragment struct {
	// Text is the exact bytes, cut between runes.
	Text string
	// Offset is where Text begins, in bytes; Line is the line of its first byte,
	// from 1.
	Offset int64
	Line   int
	// Match is where in Text the match begins, in bytes.
	Match int
	// Way is how it matches.
	Way Way
	// Before and After say that the first and the last line of Text are cut. In JSON
	// the escape \n ends a line here too.
	Before, After bool
	// Cursor pages on from the start of the fragment's first line, or from its own
	// start where that line began more than 4 kB before.
	Cursor string
	// Matches is how often the query, or a word of it, is in Text.
	Matches int
}

// Search looks for a query without regard to case, width and spelling in JSON, and
// returns at most max fragments that do not overlap, best first, with lines around
// them. Together they take at most budget bytes in JSON ([JSONSize]).
//
// The query as it stands counts first, then all its words near each other, then
// some of them, where rare ones count more. Total is how many matches of that way
// there are: places of the phrase, places with all words, or words. No match is no
// error. A query that is empty or over 256 characters is a [heddle.Error] of kind
// invalid_query.
func (c *Capture) Search(text string, max, budget int) (fragments []Fragment, total int, err error) {
	s := &search{c: c}
	if s.q, err = parse(text, &s.fold); err != nil {
		return nil, 0, err
	}
	if err := c.hold(); err != nil {
		return nil, 0, err
	}
	defer c.release()
	if err := s.scan(); err != nil {
		return nil, 0, err
	}
	way, total, found := s.result()
	if total == 0 || max <= 0 {
		return nil, total, nil
	}
	fragments, err = s.fragments(way, found, max, budget)
	return fragments, total, err
}

// search is one search. Positions are raw bytes of the capture unless they say
// folded.
type search struct {
	c    *Capture
	q    query
	fold folder

	phrase  top
	phrases int
	all     top
	alls    int
	some    []top // by word
	counts  []int
	hits    []uint64 // of one window: folded position << 8 | word
}

// place is a match.
type place struct {
	start, end int64
	score      float64
	// words are those that are near, line those of them that are on its line; a bit
	// a word.
	words, line uint32
}

// scan goes over the capture once, window by window.
func (s *search) scan() error {
	s.phrase.gap, s.all.gap = gap, gap
	s.some, s.counts = make([]top, len(s.q.words)), make([]int, len(s.q.words))
	for i := range s.some {
		s.some[i].gap = gap
	}
	buf := make([]byte, chunkSize+2*overlap)
	kept, base := 0, int64(0) // what is in buf already, and where it was
	for i := range s.c.chunks {
		b, err := s.c.chunk(i, buf[kept:kept+chunkSize])
		if err != nil {
			return err
		}
		window := buf[:kept+len(b)]
		if i == 0 {
			s.fold.json = s.c.Kind == KindJSON || looksJSON(window)
		}
		next := len(window)
		if i < len(s.c.chunks)-1 {
			next = boundary(window, len(window)-overlap)
		}
		s.window(window, base, next)
		kept = copy(buf, window[next:])
		base += int64(next)
	}
	return nil
}

// looksJSON reports whether a text begins as an object or an array does, unlike a
// line of a log that begins with [.
func looksJSON(b []byte) bool {
	b = bytes.TrimLeft(b[:min(len(b), 1<<10)], " \t\r\n\ufeff")
	if len(b) == 0 || b[0] != '{' && b[0] != '[' {
		return false
	}
	rest := bytes.TrimLeft(b[1:], " \t\r\n")
	return len(rest) > 0 && (rest[0] == '"' || b[0] == '[' && (rest[0] == '{' || rest[0] == '['))
}

// boundary moves a position back to where neither a rune nor an escape is parted.
func boundary(b []byte, at int) int {
	from := max(0, at-12) // a pair of surrogates
	for at > from && !utf8.RuneStart(b[at]) {
		at--
	}
	if i := bytes.IndexByte(b[from:at], '\\'); i >= 0 {
		at = from + i
		for at > 0 && at > from-64 && b[at-1] == '\\' {
			at--
		}
	}
	return at
}

// window looks at one part of the capture; what begins at next or later belongs to
// the following one.
func (s *search) window(raw []byte, base int64, next int) {
	text := s.fold.fold(raw)
	for _, needle := range s.q.phrases {
		s.phraseIn(text, needle, base, next)
	}
	if s.phrases > 0 || len(s.q.words) == 0 {
		return // better than any words
	}
	s.hits = s.hits[:0]
	for w, needle := range s.q.words {
		s.places(text, needle, w, next)
	}
	slices.Sort(s.hits)
	s.together(text, base, next)
	s.nearby(text, base, next)
}

// phraseIn finds the phrase. Where it stands as words of its own counts more.
func (s *search) phraseIn(text, needle []byte, base int64, next int) {
	for at := 0; ; {
		i := bytes.Index(text[at:], needle)
		if i < 0 {
			return
		}
		i += at
		at = i + len(needle)
		start := s.fold.raw(i)
		if start >= next {
			return
		}
		s.phrases++
		p := place{start: base + int64(start), end: base + int64(s.fold.raw(at))}
		if wholeWords(text, i, at) {
			p.score = 1
		}
		s.phrase.add(p)
	}
}

// wholeWords reports whether text[i:j] neither begins nor ends within a word.
func wholeWords(text []byte, i, j int) bool {
	inside := func(a, b rune) bool { return scriptOf(a) == spaced && scriptOf(b) == spaced }
	before, _ := utf8.DecodeLastRune(text[:i])
	first, _ := utf8.DecodeRune(text[i:j])
	last, _ := utf8.DecodeLastRune(text[i:j])
	after, _ := utf8.DecodeRune(text[j:])
	return !inside(before, first) && !inside(last, after)
}

// places counts a word and notes where it is.
func (s *search) places(text, needle []byte, word, next int) {
	limit := len(text)
	for n, at := 0, 0; ; n++ {
		i := bytes.Index(text[at:], needle)
		if i < 0 {
			return
		}
		i += at
		at = i + len(needle)
		// Those that belong to the next window count there, but here they may
		// complete what began before.
		if i < limit && s.fold.raw(i) >= next {
			limit = i
		}
		if i < limit {
			s.counts[word]++
		}
		if n < perWindow {
			s.hits = append(s.hits, uint64(i)<<8|uint64(word))
		}
	}
}

// together finds the shortest places that have all words.
func (s *search) together(text []byte, base int64, next int) {
	need := len(s.q.words)
	if need < 2 {
		return // the one word is found by nearby
	}
	counts, have, left := [wordsMost]int{}, 0, 0
	for right, h := range s.hits {
		w := int(h & 0xff)
		if counts[w]++; counts[w] == 1 {
			have++
		}
		if have < need {
			continue
		}
		for counts[s.hits[left]&0xff] > 1 {
			counts[s.hits[left]&0xff]--
			left++
		}
		from, to := int(s.hits[left]>>8), int(h>>8)+len(s.q.words[w])
		if to-from > near {
			continue // more words to come may be closer
		}
		start := s.fold.raw(from)
		if start >= next {
			return
		}
		p := place{start: base + int64(start), end: base + int64(s.fold.raw(to)), score: -float64(to - from)}
		if bytes.IndexByte(text[from:to], '\n') < 0 {
			p.score += near // all on one line come first
		}
		if s.whole(text, s.hits[left:right+1]) {
			p.score += 2 * near // 1234 before 0x12345
		}
		s.alls++
		s.all.add(p)
		counts, have, left = [wordsMost]int{}, 0, right+1
	}
}

// whole reports whether each word is among the hits as a word of its own.
func (s *search) whole(text []byte, hits []uint64) bool {
	words := uint32(0)
	for _, h := range hits {
		w, at := h&0xff, int(h>>8)
		if words&(1<<w) == 0 && wholeWords(text, at, at+len(s.q.words[w])) {
			words |= 1 << w
		}
	}
	return bits.OnesCount32(words) == len(s.q.words)
}

// nearby notes for every place of a word which others follow it closely, and which
// of these on its line.
func (s *search) nearby(text []byte, base int64, next int) {
	if s.alls > 0 {
		return
	}
	var close, line sliding
	lineEnd := 0
	for _, h := range s.hits {
		from, w := int(h>>8), h&0xff
		if from >= lineEnd {
			lineEnd = len(text)
			if i := bytes.IndexByte(text[from:], '\n'); i >= 0 {
				lineEnd = from + i
			}
		}
		close.reach(s.hits, from+near)
		line.reach(s.hits, min(from+near, lineEnd))
		start := s.fold.raw(from)
		if start >= next {
			return
		}
		end := from + len(s.q.words[w])
		s.some[w].add(place{
			start: base + int64(start), end: base + int64(s.fold.raw(end)), words: close.words, line: line.words,
			score: float64(2*bits.OnesCount32(close.words) + bits.OnesCount32(line.words)),
		})
		close.leave(w)
		line.leave(w)
	}
}

// sliding is which words are in a window that moves over hits.
type sliding struct {
	counts [wordsMost]int
	words  uint32
	right  int
}

// reach takes the hits up to a position into the window.
func (s *sliding) reach(hits []uint64, end int) {
	for ; s.right < len(hits) && int(hits[s.right]>>8) <= end; s.right++ {
		w := hits[s.right] & 0xff
		s.counts[w]++
		s.words |= 1 << w
	}
}

// leave drops the first hit of the window, which is one of word.
func (s *sliding) leave(word uint64) {
	if s.counts[word]--; s.counts[word] == 0 {
		s.words &^= 1 << word
	}
}

// result chooses the way and orders its places.
func (s *search) result() (way Way, total int, found []place) {
	switch {
	case s.phrases > 0:
		return WayPhrase, s.phrases, s.phrase.best()
	case s.alls > 0:
		return WayWords, s.alls, s.all.best()
	}
	// A word counts more the rarer it is, but several common ones more than a rare
	// one; and half as much again where it is on the line.
	var weights [wordsMost]float64
	rarity := func(n int) float64 { return math.Log(2 + float64(s.c.Size)/float64(32*max(n, 1))) }
	for w, n := range s.counts {
		total += n
		weights[w] = 0.5 + 1.5*rarity(n)/rarity(1)
	}
	weight := func(words uint32) (sum float64) {
		for ; words != 0; words &= words - 1 {
			sum += weights[bits.TrailingZeros32(words)]
		}
		return sum
	}
	for w := range s.some {
		for _, p := range s.some[w].best() {
			p.score = weight(p.words) + weight(p.line)/2
			found = append(found, p)
		}
	}
	order(found)
	if len(s.q.words) == 1 {
		return WayWords, total, found
	}
	return WaySome, total, found
}

// gap is how close two places are that are kept as one: they will be in one
// fragment.
const gap = 64

// top keeps the best places of those that come, in order of position. Of those
// that are close to each other it keeps one.
type top struct {
	gap  int64
	list []place
	last place
	any  bool
}

func (t *top) add(p place) {
	switch {
	case !t.any:
		t.last, t.any = p, true
		return
	case p.start-t.last.start < t.gap:
		if p.score > t.last.score {
			t.last = p
		}
		return
	}
	t.list = append(t.list, t.last)
	t.last = p
	if len(t.list) >= 4*keep {
		order(t.list)
		t.list = t.list[:keep]
	}
}

// best returns the places kept, best first.
func (t *top) best() []place {
	if t.any {
		t.list = append(t.list, t.last)
		t.any = false
	}
	order(t.list)
	return t.list[:min(len(t.list), keep)]
}

func order(list []place) {
	slices.SortFunc(list, func(a, b place) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.start, b.start))
	})
}
