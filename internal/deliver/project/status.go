package project

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
)

// code is a slot that says what went wrong, as a status or the number of an error:
// its values are counted, for 404 and 500 are not the same.
type code struct {
	slot   int
	values [][]byte
	counts []int
	beyond int // lines with further values
}

const (
	mostCodes  = 8 // values that are counted; more are numbers of something else
	shownCodes = 5
)

// codesIn finds the codes among the slots of a line.
func codesIn(line []byte, slots []slot) (out []code) {
	for i, s := range slots {
		if isCode(line, int(s.start), int(s.end)) {
			out = append(out, code{slot: i, values: [][]byte{line[s.start:s.end]}, counts: []int{1}})
		}
	}
	return out
}

// isCode reports whether line[start:end] is a short number behind what announces
// a code.
func isCode(line []byte, start, end int) bool {
	n := end - start
	if n > 6 || digits(line[start:end]) != n {
		return false
	}
	before := line[:start]
	if n == 3 && bytes.HasSuffix(before, []byte(`" `)) { // a web server's: "GET / HTTP/1.1" 500
		return true
	}
	if n > 1 && capitals(bytes.TrimRight(before, "-_")) { // E100, ORA-00942
		return true
	}
	if i := bytes.LastIndexByte(before, '/'); i > 0 && i+6 > start && bytes.HasSuffix(before[:i], []byte("HTTP")) { // HTTP/1.1 500
		before = before[:i]
	}
	before = bytes.TrimRight(before[max(0, len(before)-24):], " =:#(['\"")
	for _, w := range [...]string{"http", "status", "code", "errno", "error", "exit", "sqlstate", "signal", "returned", "response", "answered"} {
		if len(before) >= len(w) && bytes.EqualFold(before[len(before)-len(w):], []byte(w)) {
			return true
		}
	}
	return false
}

// capitals reports whether b ends with a short word in capitals.
func capitals(b []byte) bool {
	n := 0
	for n < len(b) && b[len(b)-1-n] >= 'A' && b[len(b)-1-n] <= 'Z' {
		n++
	}
	return n > 0 && n <= 8 && (n == len(b) || !alnum(b[len(b)-1-n]))
}

// add counts n lines with the value v.
func (c *code) add(v []byte, n int) {
	i := slices.IndexFunc(c.values, func(have []byte) bool { return bytes.Equal(have, v) })
	switch {
	case i >= 0:
		c.counts[i] += n
	case len(c.values) < mostCodes:
		c.values, c.counts = append(c.values, v), append(c.counts, n)
	default:
		c.beyond += n
	}
}

// String lists the values, the most frequent first.
func (c *code) String() string {
	if c.beyond > 0 {
		return fmt.Sprintf("*(over %d values)", mostCodes)
	}
	order := make([]int, len(c.values))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(c.counts[b], c.counts[a]) })
	var out bytes.Buffer
	rest := 0
	for k, i := range order {
		if k >= shownCodes {
			rest += c.counts[i]
			continue
		}
		if k > 0 {
			out.WriteString(", ")
		}
		fmt.Fprintf(&out, "%s ×%d", c.values[i], c.counts[i])
	}
	if rest > 0 {
		fmt.Fprintf(&out, ", %d others ×%d", len(order)-shownCodes, rest)
	}
	return "*(" + out.String() + ")"
}

// masked is the template with a star for what varies, and the values of codes.
func (t *template) masked() []byte { return t.fill(true) }

// first is the template's first line, with the values of codes where they vary.
func (t *template) first() []byte { return append(t.fill(false), t.example[t.fixed:]...) }

func (t *template) fill(stars bool) []byte {
	var out []byte
	from := int32(0)
	codes := t.codes
	for i, s := range t.slots {
		with := "*"
		if len(codes) > 0 && codes[0].slot == i {
			with = codes[0].String()
			codes = codes[1:]
		} else if !stars {
			continue
		}
		if s.varied {
			out = append(append(out, t.example[from:s.start]...), with...)
			from = s.end
		}
	}
	return append(out, t.example[from:t.fixed]...)
}

// absorb counts what another template has that is shown as the same kind.
func (t *template) absorb(o *template) {
	t.count += o.count
	t.kinds += o.kinds
	for i := range t.codes {
		c := &t.codes[i]
		if i >= len(o.codes) || len(o.codes) != len(t.codes) {
			c.beyond += o.count
			continue
		}
		for k, v := range o.codes[i].values {
			c.add(v, o.codes[i].counts[k])
		}
		c.beyond += o.codes[i].beyond
		if len(c.values) > 1 || c.beyond > 0 {
			t.slots[c.slot].varied = true
		}
	}
}

// clone is a copy that can absorb others.
func (t *template) clone() *template {
	c := *t
	c.slots = slices.Clone(t.slots)
	c.codes = slices.Clone(t.codes)
	for i, k := range t.codes {
		c.codes[i].values, c.codes[i].counts = slices.Clone(k.values), slices.Clone(k.counts)
	}
	return &c
}
