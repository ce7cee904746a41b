package project

import (
	"bytes"
	"fmt"
	"slices"
)

// failure projects what a failed call said: its beginning and end, and the lines
// between that speak of a failure.
func (in Input) failure(text []byte) Projection {
	p := in.page(Budget)
	lines := split(text)
	p.addf("error: %s, %d bytes", count(len(lines), "line"), len(text))
	if len(lines) < 8 {
		return in.failed(p, text)
	}
	for _, chars := range []int{400, 240, 160, 100} {
		for _, c := range []struct{ ends, most int }{{12, 40}, {8, 40}, {4, 40}, {4, 20}, {4, 10}, {3, 5}, {2, 2}} {
			out, shown := excerpt(lines, c.ends, c.most, chars)
			if p.put(out) {
				return Projection{Kind: KindError, Text: p.b.String(), Note: fmt.Sprintf("%d of %s shown", shown, count(len(lines), "line"))}
			}
		}
	}
	return in.failed(p, text)
}

// failed fills p with the beginning and end of text.
func (in Input) failed(p *page, text []byte) Projection {
	left := p.ends(text)
	if left == "" {
		return Projection{}
	}
	return Projection{Kind: KindError, Text: p.b.String(), Note: left}
}

// excerpt keeps the first and last lines and at most that many lines between
// that speak of a failure, one of each kind.
func excerpt(lines [][]byte, ends, most, chars int) (out []string, shown int) {
	keep := map[int]bool{}
	alike := map[int]int{}
	for i := range min(ends, len(lines)) {
		keep[i] = true
		keep[len(lines)-1-i] = true
	}
	seen := map[uint64]int{}
	var slots []slot
	for i, l := range lines {
		t := bytes.TrimSpace(l)
		if frame(t) || !bad(t) {
			continue
		}
		var h uint64
		h, slots = mask(t, slots[:0])
		if first, ok := seen[h]; ok {
			alike[first]++
		} else if len(seen) < most {
			seen[h] = i
			keep[i] = true
			if i+1 < len(lines) {
				keep[i+1] = true // where it happened
			}
		}
	}
	var at []int
	for i := range keep {
		at = append(at, i)
	}
	slices.Sort(at)
	last := -1
	for _, i := range at {
		if gap := i - last - 1; gap > 0 {
			out = append(out, "… "+count(gap, "line")+" left out …")
		}
		line := show(lines[i], chars)
		if n := alike[i]; n > 0 {
			line += fmt.Sprintf(" [and %s like it]", count(n, "line"))
		}
		out = append(out, line)
		last = i
	}
	return out, len(at)
}

// frame reports whether a line is one of a stack.
func frame(t []byte) bool {
	return hasPrefix(t, "at ") || hasPrefix(t, `File "`) || hasPrefix(t, "...") || bytes.Contains(t, []byte(".go:")) && bytes.Contains(t, []byte("+0x"))
}
