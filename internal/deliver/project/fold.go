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
	s.fold()
	if s.each != nil { // what was put together there may be maps too
		s.each.settle()
	}
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
	s.each.fold()
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
		return s.alike() || s.mapsBelow()
	case kind == kindArray:
		return n >= mapScalars || ids*10 >= n*9 && n >= 12
	}
	return n >= mapScalars && ids*2 >= n || ids*10 >= n*9 && n >= 20
}

// mapsBelow reports whether the objects in s are small maps, which have no key in
// common but what their keys hold.
func (s *shape) mapsBelow() bool {
	e := &shape{}
	for _, f := range s.fields {
		e.merge(f.value)
	}
	return e.each == nil && e.isMap() && (len(s.fields) >= mapScalars || e.main() == kindObject && len(e.fields) > 0 && e.fields[0].value.main() == kindObject)
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
		s.take(v)
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
