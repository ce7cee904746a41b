package lock

import (
	"encoding/json"
	"fmt"
	"hash/maphash"
	"strings"
)

// Bounds of what a diff shows. What is left out is counted.
const (
	maxLines = 1000
	maxPath  = 300  // characters
	maxText  = 4000 // characters of a changed text
	around   = 40   // characters before and after a change in a text
)

// Diff returns how two definitions differ, for a person to judge: a line for each value
// that is gone or new, "- " or "+ " before its path.
//
//   - inputSchema.properties.city.description: "City name"
//   - inputSchema.properties.city.description: "City name\u{200B}"
//   - annotations.readOnlyHint: true
//
// Of long texts it shows what changed and a little around it. Nothing of the
// definitions reaches a terminal as it is, see [Show]. It is "" if [Hash] is the same;
// nil is a definition that there is not.
func Diff(old, now json.RawMessage) string {
	d := differ{seed: maphash.MakeSeed(), digests: map[*node]uint64{}}
	a, b := d.side(old), d.side(now)
	d.value(&path{}, a, b)
	if d.left > 0 {
		fmt.Fprintf(&d.out, "… and %d more\n", d.left)
	}
	return d.out.String()
}

// differ writes a diff.
type differ struct {
	out         strings.Builder
	lines, left int
	seed        maphash.Seed
	digests     map[*node]uint64 // of every value in both definitions
}

// side reads one definition; nil if there is none.
func (d *differ) side(definition json.RawMessage) *node {
	if definition == nil {
		return nil
	}
	n, ok := parse(definition)
	if !ok {
		n = node{kind: text, text: "not JSON: " + string(definition)}
	}
	d.digest(&n)
	return &n
}

// digest makes comparing two values cheap, from the leaves up.
func (d *differ) digest(n *node) uint64 {
	var h maphash.Hash
	h.SetSeed(d.seed)
	h.WriteByte(byte(n.kind))
	switch n.kind {
	case object:
		for i := range n.members {
			m := &n.members[i]
			maphash.WriteComparable(&h, m.name)
			maphash.WriteComparable(&h, d.digest(&m.value))
		}
	case array:
		for i := range n.elements {
			maphash.WriteComparable(&h, d.digest(&n.elements[i]))
		}
	default:
		h.WriteString(n.text)
	}
	sum := h.Sum64()
	d.digests[n] = sum
	return sum
}

// value compares two values at the same path, either of which may be missing.
func (d *differ) value(p *path, a, b *node) {
	switch {
	case a == nil && b == nil:
	case a == nil:
		d.all("+ ", p, b)
	case b == nil:
		d.all("- ", p, a)
	case d.digests[a] == d.digests[b]:
	case a.kind == object && b.kind == object:
		d.objects(p, a.members, b.members)
	case a.kind == array && b.kind == array:
		d.arrays(p, a.elements, b.elements)
	case a.kind == text && b.kind == text:
		before, after := changes(a.text, b.text)
		d.line("- ", p, before)
		d.line("+ ", p, after)
	default:
		d.all("- ", p, a)
		d.all("+ ", p, b)
	}
}

// objects compares members, which are sorted.
func (d *differ) objects(p *path, a, b []member) {
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].name < b[0].name:
			d.value(p.member(a[0].name), &a[0].value, nil)
			a = a[1:]
		case len(a) == 0 || b[0].name < a[0].name:
			d.value(p.member(b[0].name), nil, &b[0].value)
			b = b[1:]
		default:
			d.value(p.member(a[0].name), &a[0].value, &b[0].value)
			a, b = a[1:], b[1:]
		}
	}
}

// arrays compares what is between the equal elements at the start and at the end.
func (d *differ) arrays(p *path, a, b []node) {
	start := 0
	for start < len(a) && start < len(b) && d.digests[&a[start]] == d.digests[&b[start]] {
		start++
	}
	endA, endB := len(a), len(b)
	for endA > start && endB > start && d.digests[&a[endA-1]] == d.digests[&b[endB-1]] {
		endA, endB = endA-1, endB-1
	}
	for i := start; i < max(endA, endB); i++ {
		var before, after *node
		if i < endA {
			before = &a[i]
		}
		if i < endB {
			after = &b[i]
		}
		d.value(p.element(i), before, after)
	}
}

// all writes every text and number of a value that is only on one side. None is left
// out for being deep: what is new is what has to be read.
func (d *differ) all(sign string, p *path, n *node) {
	switch {
	case n.kind == object && len(n.members) > 0:
		for i := range n.members {
			d.all(sign, p.member(n.members[i].name), &n.members[i].value)
		}
	case n.kind == object:
		d.line(sign, p, "{}")
	case n.kind == array && len(n.elements) > 0:
		for i := range n.elements {
			d.all(sign, p.element(i), &n.elements[i])
		}
	case n.kind == array:
		d.line(sign, p, "[]")
	case n.kind == text:
		d.line(sign, p, shorten(n.text))
	default:
		d.line(sign, p, clip(n.text, maxPath))
	}
}

func (d *differ) line(sign string, p *path, shown string) {
	if d.lines == maxLines {
		d.left++
		return
	}
	d.lines++
	d.out.WriteString(sign + p.String() + ": " + shown + "\n")
}

// path is where a value stands, a step of it and the way to it.
type path struct {
	up    *path
	name  string
	index int // in an array; -1 in an object
}

func (p *path) member(name string) *path { return &path{p, name, -1} }
func (p *path) element(i int) *path      { return &path{p, "", i} }

// String returns the path as in `inputSchema.properties["a b"].enum[2]`; its end, if
// it is long.
func (p *path) String() string {
	var steps []string
	size := 0
	for ; p.up != nil; p = p.up {
		if size > maxPath {
			steps = append(steps, "…")
			break
		}
		step := p.step()
		size += len(step)
		steps = append(steps, step)
	}
	var b strings.Builder
	for i := len(steps) - 1; i >= 0; i-- {
		b.WriteString(steps[i])
	}
	if b.Len() == 0 {
		return "definition"
	}
	return strings.TrimPrefix(b.String(), ".")
}

func (p *path) step() string {
	if p.index >= 0 {
		return fmt.Sprintf("[%d]", p.index)
	}
	if identifier(p.name) {
		return "." + clip(p.name, maxPath)
	}
	return "[" + clip(Show(p.name), maxPath) + "]"
}

// identifier says that a name can stand in a path without quotes.
func identifier(s string) bool {
	for i, r := range s {
		letter := r == '_' || r == '$' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || r != '-' && (r < '0' || r > '9')) {
			return false
		}
	}
	return s != ""
}
