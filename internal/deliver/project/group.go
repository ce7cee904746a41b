package project

import (
	"fmt"
	"strings"
)

// grouping is which keys at one place are put together.
type grouping struct {
	few   int  // where there are more keys than that
	loose bool // also those whose objects have nothing in common
}

// groupings are from none to what makes the shortest outline.
var groupings = [...]grouping{{}, {few: 40}, {few: 16}, {few: 8}, {few: 8, loose: true}}

// mostGroups is how many groups there may be at one place.
const mostGroups = 16

// grouped returns a copy of s in which alike keys are put together, and whether
// nothing was.
func (s *shape) grouped(by grouping) (_ *shape, same bool) {
	c := &shape{}
	c.merge(s)
	return c, !c.group(by)
}

// group puts keys together, from the top down: what is in them is then one place.
func (s *shape) group(by grouping) (changed bool) {
	if len(s.fields) > by.few {
		changed = s.gather(by.loose)
	}
	for _, f := range s.fields {
		changed = f.value.group(by) || changed
	}
	for _, v := range []*shape{s.items, s.each} {
		if v != nil {
			changed = v.group(by) || changed
		}
	}
	return changed
}

// gather puts fields together whose values are alike, three at least.
func (s *shape) gather(loose bool) bool {
	var firsts []*shape
	of := make([]int, len(s.fields)) // the group of each, or -1
	sizes := make([]int, mostGroups)
	for i, f := range s.fields {
		of[i] = -1
		for g, first := range firsts {
			if first.like(f.value, loose) {
				of[i] = g
				break
			}
		}
		if of[i] < 0 && len(firsts) < mostGroups {
			of[i] = len(firsts)
			firsts = append(firsts, f.value)
		}
		if of[i] >= 0 {
			sizes[of[i]]++
		}
	}
	var out []field
	at := make([]int, mostGroups) // of a group in out, from 1
	for i, f := range s.fields {
		g := of[i]
		if g < 0 || sizes[g] < 3 {
			out = append(out, f)
			continue
		}
		if at[g] == 0 {
			out = append(out, field{value: &shape{}})
			at[g] = len(out)
		}
		out[at[g]-1].join(f)
		out[at[g]-1].value.merge(f.value)
	}
	if len(out) == len(s.fields) {
		return false
	}
	s.fields, s.index = out, nil
	for _, f := range out {
		if f.names != nil {
			f.value.settle()
		}
	}
	return true
}

// like reports whether the values of s and o look the same: of one kind, objects
// with half of their keys in common.
func (s *shape) like(o *shape, loose bool) bool {
	a, b := s.main(), o.main()
	switch {
	case a != b && a+b != kindInt+kindFloat:
		return false
	case a == kindArray && s.items != nil && o.items != nil && s.items.n > 0 && o.items.n > 0:
		return s.items.like(o.items, loose)
	case a != kindObject || loose:
		return true
	case s.each != nil && o.each != nil:
		return s.each.like(o.each, loose)
	case s.each != nil || o.each != nil:
		return false
	}
	common := 0
	for _, f := range o.fields {
		if s.at(f.key) >= 0 {
			common++
		}
	}
	return common*4 >= len(s.fields)+len(o.fields)
}

// join adds the key of another field to what f stands for.
func (f *field) join(o field) {
	if o.names == nil {
		f.names = append(f.names, o.key)
		return
	}
	f.names = append(f.names, o.names...)
}

// name shows the key of f, or so many of its keys.
func (f *field) name(most int) string {
	if f.names == nil {
		return keyName(f.key)
	}
	text, to := f.list(0, most)
	if to < len(f.names) {
		text += ", …"
	}
	return fmt.Sprintf("{%s: %s}", count(len(f.names), "key"), text)
}

// list shows the keys that f stands for from one on, as far as a line goes and at
// most up to another, and returns where it ends.
func (f *field) list(from, most int) (text string, to int) {
	var list []string
	size := 0
	for to = from; to < min(most, len(f.names)); to++ {
		if size += len(f.names[to]) + 2; size > maxLine/2 && to > from { // what the keys hold must fit on the line too
			break
		}
		list = append(list, keyName(f.names[to]))
	}
	return strings.Join(list, ", "), to
}
