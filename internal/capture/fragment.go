package capture

import (
	"bytes"
	"io"
	"unicode/utf8"
)

const (
	// fragmentMost bounds a fragment in JSON: more is not local any more.
	fragmentMost = 1500
	// contextLines is how many lines are shown on either side of the match's own.
	contextLines = 3
	// lookBack is how far before a match the start of its line is looked for.
	lookBack = 4 << 10
)

// fragments shows the best places.
func (s *search) fragments(way Way, found []place, most, budget int) ([]Fragment, error) {
	most = min(most, len(found))
	var out []Fragment
	for _, p := range found {
		left := most - len(out)
		if left == 0 {
			break
		}
		lo, hi, free := between(out, p.start, s.c.Size)
		if !free {
			continue
		}
		if way == WaySome {
			p.end = max(p.end, s.reach(p))
		}
		share := min(budget/left, fragmentMost)
		f, err := s.fragment(p, lo, hi, share)
		if err != nil {
			return nil, err
		}
		if f.Text == "" {
			break // no room for a rune
		}
		f.Way = way
		f.Matches = max(1, s.count(f.Text, way))
		budget -= JSONSize(f.Text)
		out = append(out, f)
	}
	return out, nil
}

// between returns the bounds that fragments around a position leave; it is not
// free if one of them has it.
func between(out []Fragment, at, size int64) (lo, hi int64, free bool) {
	hi = size
	for _, f := range out {
		end := f.Offset + int64(len(f.Text))
		switch {
		case end <= at:
			lo = max(lo, end)
		case f.Offset > at:
			hi = min(hi, f.Offset)
		default:
			return 0, 0, false
		}
	}
	return lo, hi, true
}

// reach returns where the words near a place end. It is p.end if the bytes cannot
// be read, which the caller finds out.
func (s *search) reach(p place) int64 {
	b := make([]byte, min(2*near, s.c.Size-p.start))
	if _, err := s.c.ReadAt(b, p.start); err != nil && err != io.EOF {
		return p.end
	}
	text, end := s.fold.fold(b), 0
	text = text[:min(len(text), near)]
	for _, w := range s.q.words {
		if i := bytes.Index(text, w); i >= 0 {
			end = max(end, i+len(w))
		}
	}
	return p.start + int64(s.fold.raw(end))
}

// count returns how often the query is in a fragment.
func (s *search) count(text string, way Way) int {
	needles := s.q.phrases
	if way != WayPhrase {
		needles = s.q.words
	}
	folded, n := s.fold.fold([]byte(text)), 0
	for _, needle := range needles {
		n += bytes.Count(folded, needle)
	}
	return n
}

// fragment shows one place within bounds, in share bytes of JSON: its whole line
// and lines around it if they fit, else what is around the match.
func (s *search) fragment(p place, lo, hi int64, share int) (Fragment, error) {
	base := max(lo, p.start-lookBack)
	b := make([]byte, min(hi, p.end+int64(share)+16)-base)
	_, lines, err := s.c.readAt(b, base)
	if err != nil && err != io.EOF {
		return Fragment{}, err
	}
	v := view{b: b, json: s.fold.json, left: share, head: base == 0, tail: base+int64(len(b)) == s.c.Size}
	// The middle of a letter that NFC takes apart may be that of a rune.
	start, end := wholeRunes(b, int(p.start-base), int(min(int64(len(b)), p.end-base)))
	v.from = start
	v.to = start + fits(b[start:end], share)
	if v.to == v.from {
		return Fragment{}, nil
	}
	v.left -= JSONSize(string(b[v.from:v.to]))
	if v.line() {
		v.context()
	}
	at := base + int64(v.from)
	f := Fragment{
		Text: string(b[v.from:v.to]), Offset: at, Line: int(lines) + bytes.Count(b[:v.from], newline) + 1,
		Match: start - v.from, Before: v.cutBefore, After: v.cutAfter,
	}
	if i, known := v.lineStart(v.from); known {
		at = base + int64(i)
	}
	f.Cursor = s.c.Cursor(at)
	return f, nil
}

// wholeRunes makes b[from:to] larger by what its ends cut off of runes.
func wholeRunes(b []byte, from, to int) (int, int) {
	for i := 0; i < utf8.UTFMax-1 && from > 0 && !utf8.RuneStart(b[from]); i++ {
		from--
	}
	for i := 0; i < utf8.UTFMax-1 && to < len(b) && !utf8.RuneStart(b[to]); i++ {
		to++
	}
	return from, to
}

// view is a part of a capture in which a fragment b[from:to] grows.
type view struct {
	b          []byte
	json       bool // the escape \n ends a line too
	head, tail bool // b begins and ends with the capture
	from, to   int
	left       int // bytes of JSON

	cutBefore, cutAfter bool
}

// lineStart returns where the line at i begins; known is false if that is not in
// the view.
func (v *view) lineStart(i int) (start int, known bool) {
	start = bytes.LastIndexByte(v.b[:i], '\n') + 1
	if v.json {
		if soft := bytes.LastIndex(v.b[:i], softEnd()); soft >= 0 {
			start = max(start, soft+len(softEnd()))
		}
	}
	return start, start > 0 || v.head
}

// softEnd is how a line ends inside a string of JSON.
func softEnd() []byte { return []byte(`\n`) }

// lineEnd returns where the line at i ends and where the next one begins.
func (v *view) lineEnd(i int) (end, next int, known bool) {
	end = bytes.IndexByte(v.b[i:], '\n')
	size := 1
	if v.json {
		if soft := bytes.Index(v.b[i:], softEnd()); soft >= 0 && (end < 0 || soft < end) {
			end, size = soft, len(softEnd())
		}
	}
	if end < 0 {
		return len(v.b), len(v.b), v.tail
	}
	end += i
	next = end + size
	if size == 1 && end > i && v.b[end-1] == '\r' {
		end--
	}
	return end, next, true
}

// line takes the rest of the match's line if it fits, and reports that; else what
// fits on both sides.
func (v *view) line() bool {
	start, startKnown := v.lineStart(v.from)
	end, _, endKnown := v.lineEnd(v.to)
	cost := JSONSize(string(v.b[start:v.from])) + JSONSize(string(v.b[v.to:end]))
	if startKnown && endKnown && cost <= v.left {
		v.from, v.to, v.left = start, end, v.left-cost
		return true
	}
	v.back(start, v.left/2)
	v.forth(end, v.left)
	v.back(start, v.left)
	v.cutBefore = v.from > start || !startKnown
	v.cutAfter = v.to < end || !endKnown
	return false
}

// back takes what fits room before the fragment, no further than start.
func (v *view) back(start, room int) {
	from, used := v.from, 0
	for from > start {
		r, n := utf8.DecodeLastRune(v.b[start:from])
		w := jsonWidth(r, n)
		if used+w > room {
			break
		}
		used += w
		from -= n
	}
	if from > start {
		from = min(v.from, from+insideEscape(v.b[start:], from-start))
	}
	v.left -= JSONSize(string(v.b[from:v.from]))
	v.from = from
}

// forth takes what fits room after the fragment, no further than end.
func (v *view) forth(end, room int) {
	to := v.to + fits(v.b[v.to:end], room)
	if to < end {
		for k := 1; k < 6 && to-k >= v.to; k++ {
			if v.b[to-k] == '\\' && insideEscape(v.b[to-k:end], k) > 0 {
				to -= k
				break
			}
		}
	}
	v.left -= JSONSize(string(v.b[v.to:to]))
	v.to = to
}

// insideEscape returns how many bytes of an escape of JSON are left at i, 0 if
// there is none.
func insideEscape(b []byte, i int) int {
	for k := 1; k < 6 && k <= i; k++ {
		if b[i-k] != '\\' {
			continue
		}
		if _, ok := hexEscape(b, i-k+1); ok {
			return 6 - k
		}
		if k == 1 && i < len(b) && letterEscape(b[i]) != 0 && (i < 2 || b[i-2] != '\\') {
			return 1
		}
	}
	return 0
}

// fits returns how many bytes of b, in whole runes, take at most room in JSON.
func fits(b []byte, room int) int {
	used := 0
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if used += jsonWidth(r, n); used > room {
			return i
		}
		i += n
	}
	return len(b)
}

// context takes whole lines on either side in turn, as long as they fit.
func (v *view) context() {
	before, after := true, true
	for range contextLines {
		before = before && v.lineBefore()
		after = after && v.lineAfter()
	}
}

func (v *view) lineBefore() bool {
	if v.from == 0 {
		return false
	}
	// The line before ends with the newline, or the escape, that is just before.
	size := 1
	if v.b[v.from-1] != '\n' {
		size = len(softEnd())
	}
	start, known := v.lineStart(v.from - size)
	return known && v.take(start, v.to)
}

func (v *view) lineAfter() bool {
	_, next, known := v.lineEnd(v.to)
	if !known || next >= len(v.b) {
		return false
	}
	end, _, known := v.lineEnd(next)
	return known && v.take(v.from, end)
}

// take makes the fragment b[from:to] if that fits.
func (v *view) take(from, to int) bool {
	cost := JSONSize(string(v.b[from:v.from])) + JSONSize(string(v.b[v.to:to]))
	if cost > v.left {
		return false
	}
	v.from, v.to, v.left = from, to, v.left-cost
	return true
}
