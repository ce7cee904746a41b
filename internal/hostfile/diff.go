package hostfile

import (
	"fmt"
	"strings"
	"unicode"
)

// around is how many lines around a change a diff shows.
const around = 3

// Diff returns the change as a unified diff. It masks values of variables and
// headers, and what else looks like a secret; Old and New have all.
func (c *Change) Diff() string {
	var b strings.Builder
	for _, f := range c.Files {
		b.WriteString(f.Diff())
	}
	return b.String()
}

// Diff is the file's part of [Change.Diff].
func (f FileChange) Diff() string {
	from, to := f.Path, f.Path
	if f.Old == nil {
		from = "/dev/null"
	}
	if f.New == nil {
		to = "/dev/null"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "--- %s\n+++ %s\n", visible(from), visible(to))
	old, now := lines(f.Old), lines(f.New)
	parts := hunks(edits(old, now), len(old))
	var inOld, inNow []span
	for _, h := range parts {
		b0, b1 := h.after()
		inOld, inNow = append(inOld, span{h.a0, h.a1}), append(inNow, span{b0, b1})
	}
	shownOld := lines(mask(f.Old, f.format, bytesOf(old, inOld)))
	shownNow := lines(mask(f.New, f.format, bytesOf(now, inNow)))
	for _, h := range parts {
		h.write(&b, shownOld, shownNow, old, now)
	}
	return b.String()
}

// bytesOf turns ranges of lines, in order, into ranges of bytes.
func bytesOf(lines []string, ranges []span) []span {
	var out []span
	line, off := 0, 0
	for _, r := range ranges {
		for ; line < r.start; line++ {
			off += len(lines[line])
		}
		start := off
		for ; line < r.end; line++ {
			off += len(lines[line])
		}
		out = append(out, span{start, off})
	}
	return out
}

// lines cuts text after its line ends.
func lines(data []byte) []string {
	if len(data) == 0 {
		return nil
	}
	out := strings.SplitAfter(string(data), "\n")
	if out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	return out
}

// change is a run of lines that differ: a[a0:a1] became b[b0:b1].
type change struct{ a0, a1, b0, b1 int }

// maxSteps bounds what the search for the shortest diff may cost. Beyond it all
// between the first and the last difference counts as changed.
const maxSteps = 1000

// edits returns the shortest list of changes from a to b, by Myers' greedy
// algorithm.
func edits(a, b []string) []change {
	start := 0
	for start < len(a) && start < len(b) && a[start] == b[start] {
		start++
	}
	endA, endB := len(a), len(b)
	for endA > start && endB > start && a[endA-1] == b[endB-1] {
		endA, endB = endA-1, endB-1
	}
	if start == endA && start == endB {
		return nil
	}
	out := shortest(a[start:endA], b[start:endB])
	for i := range out {
		out[i] = change{out[i].a0 + start, out[i].a1 + start, out[i].b0 + start, out[i].b1 + start}
	}
	return out
}

func shortest(a, b []string) []change {
	limit := min(len(a)+len(b), maxSteps)
	furthest := make([]int, 2*limit+3) // by diagonal, from -limit-1
	var trace [][]int
	for d := 0; d <= limit; d++ {
		trace = append(trace, append([]int(nil), furthest...))
		for k := -d; k <= d; k += 2 {
			i := limit + 1 + k
			x := furthest[i-1] + 1
			if k == -d || k != d && furthest[i-1] < furthest[i+1] {
				x = furthest[i+1]
			}
			for x < len(a) && x-k < len(b) && a[x] == b[x-k] {
				x++
			}
			furthest[i] = x
			if x >= len(a) && x-k >= len(b) {
				return walkBack(trace, limit, len(a), len(b))
			}
		}
	}
	return []change{{0, len(a), 0, len(b)}}
}

// walkBack reads the changes off the trace of the search.
func walkBack(trace [][]int, limit, x, y int) []change {
	var out []change
	for d := len(trace) - 1; d > 0; d-- {
		furthest, k := trace[d], x-y
		i := limit + 1 + k
		was := k - 1
		if k == -d || k != d && furthest[i-1] < furthest[i+1] {
			was = k + 1
		}
		px := furthest[limit+1+was]
		py := px - was
		for x > px && y > py { // the same lines
			x, y = x-1, y-1
		}
		step := change{px, x, py, y}
		if len(out) > 0 && out[0].a0 == step.a1 && out[0].b0 == step.b1 {
			out[0].a0, out[0].b0 = step.a0, step.b0
		} else {
			out = append([]change{step}, out...)
		}
		x, y = px, py
	}
	return out
}

// hunk is some changes with the lines around them.
type hunk struct {
	changes []change
	a0, a1  int
}

func hunks(changes []change, n int) []hunk {
	var out []hunk
	for _, c := range changes {
		if len(out) > 0 && c.a0-out[len(out)-1].a1 <= around {
			last := &out[len(out)-1]
			last.changes = append(last.changes, c)
			last.a1 = min(c.a1+around, n)
			continue
		}
		out = append(out, hunk{[]change{c}, max(c.a0-around, 0), min(c.a1+around, n)})
	}
	return out
}

// after returns the lines of the new text that the hunk shows.
func (h hunk) after() (from, to int) {
	first, last := h.changes[0], h.changes[len(h.changes)-1]
	return first.b0 - (first.a0 - h.a0), last.b1 + (h.a1 - last.a1)
}

func (h hunk) write(b *strings.Builder, shownOld, shownNow, old, now []string) {
	b0, b1 := h.after()
	fmt.Fprintf(b, "@@ -%s +%s @@\n", extent(h.a0, h.a1), extent(b0, b1))
	at := h.a0
	for _, c := range h.changes {
		writeLines(b, ' ', shownOld[at:c.a0], old[at:c.a0])
		writeLines(b, '-', shownOld[c.a0:c.a1], old[c.a0:c.a1])
		writeLines(b, '+', shownNow[c.b0:c.b1], now[c.b0:c.b1])
		at = c.a1
	}
	writeLines(b, ' ', shownOld[at:h.a1], old[at:h.a1])
}

func extent(from, to int) string {
	if from == to {
		return fmt.Sprintf("%d,0", from)
	}
	return fmt.Sprintf("%d,%d", from+1, to-from)
}

func writeLines(b *strings.Builder, mark byte, shown, raw []string) {
	for i, line := range shown {
		b.WriteByte(mark)
		b.WriteString(visible(maskLine(strings.TrimRight(strings.TrimPrefix(line, bom), "\r\n"))))
		b.WriteByte('\n')
		if !strings.HasSuffix(raw[i], "\n") {
			b.WriteString("\\ No newline at end of file\n")
		}
	}
}

// visible keeps a file's control characters from the terminal.
func visible(s string) string {
	if strings.IndexFunc(s, hidden) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if hidden(r) {
			fmt.Fprintf(&b, "\\u%04x", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func hidden(r rune) bool { return r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) }
