package inject

import (
	"slices"
	"strings"

	"heddle/internal/policy/inject/normal"
)

// weigh changes the points of firings by where they stand in s, which begins at byte
// from of the folded text.
func weigh(t *normal.Text, from int, s string, hits []hit, f []firing) {
	for i := range f {
		about := discussed(hits, f[i].start, f[i].end)
		switch {
		case within(t.Hidden, from+f[i].start, from+f[i].end):
			f[i].points = f[i].points * 16 / 10
		case about >= 2 && quoted(s, f[i].start, f[i].end):
			f[i].points = f[i].points * 3 / 10
		case about >= 4:
			f[i].points = f[i].points * 4 / 10
		}
	}
}

// within reports whether a place is hidden. Spans are in order of their start; those of
// different kinds may overlap.
func within(spans []normal.Span, start, end int) bool {
	const kinds = 3
	n, _ := slices.BinarySearchFunc(spans, end, func(s normal.Span, at int) int { return s.Start - at })
	for i := n - 1; i >= max(0, n-kinds); i-- {
		if start < spans[i].End {
			return true
		}
	}
	return false
}

// around is how far from an instruction a word tells that it is discussed.
const around = 400

// discussed weighs the words near a place that tell that attacks are discussed.
func discussed(hits []hit, start, end int) int {
	n, _ := slices.BinarySearchFunc(hits, start-around, func(h hit, at int) int { return int(h.start) - at })
	sum := 0
	for ; n < len(hits) && int(hits[n].start) < end+around; n++ {
		if int(hits[n].start) >= start && int(hits[n].end) <= end {
			continue
		}
		if hits[n].means&suspect != 0 {
			sum += 2
		} else if hits[n].means&quoting != 0 && start-int(hits[n].end) < 80 && int(hits[n].end) <= start {
			sum++
		}
		if hits[n].means&threat != 0 {
			sum++
		}
	}
	return sum
}

// quoted reports whether a place is within quotation marks: on its line an odd number
// stands before it, and one behind it.
func quoted(s string, start, end int) bool {
	const reach = 300
	before := s[max(0, start-reach):start]
	before = before[strings.LastIndexByte(before, '\n')+1:]
	after := s[end:min(len(s), end+reach)]
	for _, q := range [...]byte{'"', '`'} {
		open := strings.LastIndexByte(before, q)
		if strings.Count(before, string(q))%2 == 1 && strings.IndexByte(after, q) >= 0 && !structural(before[:open]) {
			return true
		}
	}
	return false
}

// structural reports whether a quotation mark behind s begins a value of an object or a
// list rather than a quotation.
func structural(s string) bool {
	s = strings.TrimRight(s, " ")
	return strings.HasSuffix(s, `":`) || strings.HasSuffix(s, "[") || strings.HasSuffix(s, "{") || strings.HasSuffix(s, `",`)
}
