package project

import (
	"bytes"
)

// settle folds the objects of s that are maps of ids, from the bottom up.
func (s *shape) settle() {
	for _, f := range s.fields {
		f.value.settle()
	}
	if s.items != nil {
		s.items.settle()
	}
	if s.each != nil {
		s.each.settle()
	}
	s.fold()
}

// fold makes a map of an object whose keys are data: many, and their values all
// alike.
func (s *shape) fold() {
	if s.each != nil || !s.isMap() {
		return
	}
	s.each = &shape{}
	for _, f := range s.fields {
		s.keep(f.key)
		s.each.merge(f.value)
	}
	s.fields, s.index = nil, nil
}

// isMap judges by the number of keys and how much their values have in common.
func (s *shape) isMap() bool {
	n := len(s.fields)
	if n < mapObjects {
		return false
	}
	if objects := s.kinds[kindObject]; objects > 1 && s.keys*3 > n*objects*2 && n < 200 {
		return false // the same keys in most of them are a record's
	}
	scattered := s.kinds[kindObject] >= 5 && s.keys*6 < n*s.kinds[kindObject] // each key in few of the objects
	kind := s.fields[0].value.main()
	same, ids := 0, 0
	for _, f := range s.fields {
		if k := f.value.main(); k == kind || k+kind == kindInt+kindFloat {
			same++
		}
		if bytes.ContainsAny(f.key, "0123456789/@:.- ") {
			ids++
		}
	}
	switch {
	case n > 2000:
		return true
	case same*20 < n*19:
		return false
	case scattered:
		return true
	case kind == kindObject:
		return s.alike()
	case kind == kindArray:
		return n >= mapScalars || ids*10 >= n*9 && n >= 12
	}
	return n >= mapScalars && ids*2 >= n || ids*10 >= n*9 && n >= 20
}

// alike reports whether the objects in s have half of their keys in common.
func (s *shape) alike() bool {
	seen := map[string]int{}
	total, objects := 0, 0
	for _, f := range s.fields {
		if f.value.each != nil {
			total++
			seen["\x00map"]++
		}
		for _, g := range f.value.fields {
			seen[string(g.key)]++
			total++
		}
		objects++
	}
	if total == 0 {
		return true
	}
	// Of the keys that an object has, how many do the others have too?
	common := 0
	for _, n := range seen {
		common += n * n
	}
	return common*2 >= total*objects
}

// main is the kind that most values have.
func (s *shape) main() int {
	best := kindNull
	for k, n := range s.kinds {
		if n > 0 && (n > s.kinds[best] || best == kindNull) {
			best = k
		}
	}
	return best
}

// merge adds what o knows to s.
func (s *shape) merge(o *shape) {
	s.n += o.n
	for k, n := range o.kinds {
		s.kinds[k] += n
	}
	s.mergeScalars(o)
	s.keys += o.keys
	for _, k := range o.some {
		s.keep(k)
	}
	if o.each != nil {
		if s.each == nil {
			s.each = &shape{}
			for _, f := range s.fields {
				s.keep(f.key)
				s.each.merge(f.value)
			}
			s.fields, s.index = nil, nil
		}
		s.each.merge(o.each)
	}
	for i, f := range o.fields {
		if s.each != nil {
			s.keep(f.key)
			s.each.merge(f.value)
		} else {
			s.fields[s.find(f.key, i)].value.merge(f.value)
		}
	}
	if o.items == nil {
		return
	}
	if s.items == nil {
		s.items, s.shortest = &shape{}, o.shortest
	}
	s.items.merge(o.items)
	s.total += o.total
	s.shortest, s.most = min(s.shortest, o.shortest), max(s.most, o.most)
	for _, v := range o.sample {
		if len(s.sample) < sampled {
			s.sample = append(s.sample, v)
		}
	}
}

func (s *shape) mergeScalars(o *shape) {
	switch {
	case o.first == nil:
	case isNull(o.first):
		if s.first == nil {
			s.first = o.first
		}
	case o.seen != nil:
		if s.first != nil && !isNull(s.first) && s.seen == nil {
			s.seen = &distinct{}
			s.seen.add(s.first)
		}
		if s.first == nil || isNull(s.first) {
			s.first = o.first
		}
		if s.seen == nil {
			s.seen = &distinct{}
		}
		s.seen.merge(o.seen)
	default:
		s.scalar(o.first)
	}
	if o.lo != nil {
		s.number(o.lo)
		s.number(o.hi)
	}
}

// mostSeen is where distinct stops to count.
const mostSeen = 4096

// distinct counts different values: the first few by themselves, the others by
// their hashes.
type distinct struct {
	values [][]byte // the first few, in order
	counts []int    // how often each came, as long as there are no others
	slots  []uint64 // hashes of all, once there are more than a few
	n      int
	over   bool // there are more than were counted
}

const fewValues = 6

// add counts v.
func (d *distinct) add(v []byte) {
	if d.over {
		return
	}
	if d.slots != nil { // too many for counts to be shown
		d.hash(hashOf(v))
		return
	}
	for i, have := range d.values {
		if bytes.Equal(have, v) {
			d.counts[i]++
			return
		}
	}
	if len(d.values) < fewValues {
		d.values = append(d.values, v)
		d.counts = append(d.counts, 1)
		d.n++
		return
	}
	d.toHashes()
	d.hash(hashOf(v))
}

// toHashes begins to tell values apart by their hashes.
func (d *distinct) toHashes() {
	d.slots, d.n = make([]uint64, 32), 0
	for _, have := range d.values {
		d.hash(hashOf(have))
	}
}

// hash adds a hash.
func (d *distinct) hash(h uint64) {
	if d.n*2 > len(d.slots) {
		old := d.slots
		d.slots = make([]uint64, 2*len(old))
		for _, o := range old {
			if o != 0 {
				d.place(o)
			}
		}
	}
	if d.place(h) {
		if d.n++; d.n >= mostSeen {
			d.over = true
		}
	}
}

func (d *distinct) place(h uint64) bool {
	mask := uint64(len(d.slots) - 1)
	for i := h & mask; ; i = (i + 1) & mask {
		switch d.slots[i] {
		case h:
			return false
		case 0:
			d.slots[i] = h
			return true
		}
	}
}

// merge adds the values of o. Values that o has only as hashes are added as
// those.
func (d *distinct) merge(o *distinct) {
	for i, v := range o.values {
		d.add(v)
		for k, have := range d.values {
			if bytes.Equal(have, v) {
				d.counts[k] += o.counts[i] - 1
			}
		}
	}
	d.over = d.over || o.over
	if o.slots == nil || d.over {
		return
	}
	if d.slots == nil {
		d.toHashes()
	}
	for _, h := range o.slots {
		if h != 0 && !d.over {
			d.hash(h)
		}
	}
}

// hashOf is the FNV-1a hash of v over words of eight bytes, never 0.
func hashOf(v []byte) uint64 {
	h := uint64(14695981039346656037) ^ uint64(len(v))
	for len(v) >= 8 {
		w := uint64(v[0]) | uint64(v[1])<<8 | uint64(v[2])<<16 | uint64(v[3])<<24 |
			uint64(v[4])<<32 | uint64(v[5])<<40 | uint64(v[6])<<48 | uint64(v[7])<<56
		h = (h ^ w) * 0x9E3779B97F4A7C15
		h ^= h >> 29
		v = v[8:]
	}
	for _, c := range v {
		h = (h ^ uint64(c)) * 1099511628211
	}
	h ^= h >> 32
	return h | 1
}
