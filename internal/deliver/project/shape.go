package project

import (
	"bytes"
	"math/big"
	"slices"
	"strconv"
)

// Kinds of JSON values.
const (
	kindNull = iota
	kindBool
	kindInt
	kindFloat
	kindString
	kindArray
	kindObject
	kinds
)

// deepest is how deep a shape goes. What is below is skipped: nobody is shown it.
const deepest = 24

// shape is what values at one place of a JSON document have in common: one value,
// or all that stand at the same place of an array's items.
type shape struct {
	n     int // values
	kinds [kinds]int
	// The scalars: the first, the least and the greatest number as written, and
	// how many different ones there are.
	first, lo, hi   []byte
	lowest, highest float64
	seen            *distinct
	figures         int // cells of a table that begin with a digit
	// The objects.
	fields []field
	index  map[string]int // of fields, when there are many
	each   *shape         // in place of fields: the object is a map of ids
	keys   int            // of all objects together
	some   [][]byte       // keys of a map, the first few
	// The arrays.
	items          *shape
	shortest, most int
	total, size    int
	sample         [][]byte // the first items
}

type field struct {
	key   []byte // as written, between its quotes
	value *shape
	names [][]byte // in place of key: of all that are put together here
}

// Maps are objects with this many keys at least.
const (
	mapScalars = 40
	mapObjects = 8
	mapLooks   = 64 // where an object is first asked whether it is one
	sampled    = 5  // items and keys kept
	indexed    = 12 // fields above which they are looked up by an index
)

// reader reads the shape of a valid JSON value.
type reader struct{ b []byte }

// shapeOf returns the shape of the valid JSON value b.
func shapeOf(b []byte) *shape {
	s := &shape{}
	r := reader{b}
	r.value(r.space(0), s, 0)
	return s
}

func (r reader) space(i int) int {
	for i < len(r.b) && (r.b[i] == ' ' || r.b[i] == '\n' || r.b[i] == '\r' || r.b[i] == '\t') {
		i++
	}
	return i
}

// value adds the value at i to s and returns the index behind it.
func (r reader) value(i int, s *shape, depth int) int {
	s.n++
	switch c := r.b[i]; {
	case c == '{' || c == '[':
		if depth >= deepest {
			if c == '{' {
				s.kinds[kindObject]++
			} else {
				s.kinds[kindArray]++
			}
			return r.skip(i)
		}
		if c == '{' {
			return r.object(i, s, depth)
		}
		return r.array(i, s, depth)
	case c == '"':
		end := r.stringEnd(i)
		s.kinds[kindString]++
		s.scalar(r.b[i:end])
		return end
	}
	end, kind := i+1, kindInt
	for end < len(r.b) {
		switch r.b[end] {
		case ',', ']', '}', ' ', '\n', '\r', '\t':
			goto done
		case '.', 'e', 'E':
			kind = kindFloat
		}
		end++
	}
done:
	s.literal(r.b[i:end], kind)
	return end
}

// literal adds a number, true, false or null.
func (s *shape) literal(lit []byte, number int) {
	switch lit[0] {
	case 'n':
		s.kinds[kindNull]++
		if s.first == nil {
			s.first = lit
		}
	case 't', 'f':
		s.kinds[kindBool]++
		s.scalar(lit)
	default:
		s.kinds[number]++
		s.scalar(lit)
		s.number(lit)
	}
}

// isNull reports whether a value is JSON's null. Cells of a table are written
// without quotes, so the first letter does not tell.
func isNull(lit []byte) bool { return string(lit) == "null" }

// scalar adds a value as written.
func (s *shape) scalar(lit []byte) {
	switch {
	case s.first == nil || isNull(s.first):
		s.first = lit
		if s.seen != nil {
			s.seen.add(lit)
		}
	case s.seen == nil:
		s.seen = &distinct{}
		s.seen.add(s.first)
		s.seen.add(lit)
	default:
		s.seen.add(lit)
	}
}

// number widens the range by lit.
func (s *shape) number(lit []byte) {
	f, err := strconv.ParseFloat(string(lit), 64)
	if err != nil && f == 0 {
		return
	}
	if s.lo == nil || f < s.lowest || f == s.lowest && compare(lit, s.lo) < 0 {
		s.lo, s.lowest = lit, f
	}
	if s.hi == nil || f > s.highest || f == s.highest && compare(lit, s.hi) > 0 {
		s.hi, s.highest = lit, f
	}
}

// exactBits is how precisely numbers are compared that a float does not tell
// apart.
const exactBits = 512

// compare compares two numbers that are equal as floats by what is written.
func compare(a, b []byte) int {
	if bytes.Equal(a, b) {
		return 0
	}
	x, _, errX := big.ParseFloat(string(a), 10, exactBits, big.ToNearestEven)
	y, _, errY := big.ParseFloat(string(b), 10, exactBits, big.ToNearestEven)
	if errX != nil || errY != nil {
		return 0
	}
	return x.Cmp(y)
}

// object adds the object at i.
func (r reader) object(i int, s *shape, depth int) int {
	s.kinds[kindObject]++
	next, keys := 0, 0
	for i = r.space(i + 1); r.b[i] != '}'; {
		end := r.stringEnd(i)
		key := r.b[i+1 : end-1]
		keys++
		i = r.space(r.space(end) + 1)
		if s.each != nil {
			s.keep(key)
			i = r.value(i, s.each, depth+1)
		} else {
			had := len(s.fields)
			at := s.find(key, next)
			next = at + 1
			i = r.value(i, s.fields[at].value, depth+1)
			if n := len(s.fields); n > had && n >= mapLooks && n&(n-1) == 0 {
				s.fold() // before there are too many, be they one object's or scattered
			}
		}
		if i = r.space(i); r.b[i] == ',' {
			i = r.space(i + 1)
		}
	}
	s.keys += keys
	return i + 1
}

// find returns the number of the field with key, which is a new one if there is
// none. Objects of one kind mostly have their keys in one order, so next is asked
// first.
func (s *shape) find(key []byte, next int) int {
	if next < len(s.fields) && bytes.Equal(s.fields[next].key, key) {
		return next
	}
	if at := s.at(key); at >= 0 {
		return at
	}
	s.fields = append(s.fields, field{key: key, value: &shape{}})
	at := len(s.fields) - 1
	switch {
	case s.index != nil:
		s.index[string(key)] = at
	case at >= indexed:
		s.index = make(map[string]int, 2*at)
		for i, f := range s.fields {
			s.index[string(f.key)] = i
		}
	}
	return at
}

// at returns the number of the field with key, or -1.
func (s *shape) at(key []byte) int {
	if s.index != nil {
		if at, ok := s.index[string(key)]; ok {
			return at
		}
		return -1
	}
	return slices.IndexFunc(s.fields, func(f field) bool { return bytes.Equal(f.key, key) })
}

func (s *shape) keep(key []byte) {
	if len(s.some) < sampled {
		s.some = append(s.some, key)
	}
}

// array adds the array at i.
func (r reader) array(i int, s *shape, depth int) int {
	if s.items == nil {
		s.items = &shape{}
		s.shortest = 1 << 62
	}
	s.kinds[kindArray]++
	n, begin := 0, i
	for i = r.space(i + 1); r.b[i] != ']'; n++ {
		start := i
		i = r.value(i, s.items, depth+1)
		s.take(r.b[start:i])
		if i = r.space(i); r.b[i] == ',' {
			i = r.space(i + 1)
		}
	}
	s.total += n
	s.size += i + 1 - begin
	s.shortest = min(s.shortest, n)
	s.most = max(s.most, n)
	return i + 1
}

// take keeps an item as an example: one of the first, objects rather than what
// stands between them.
func (s *shape) take(item []byte) {
	if len(s.sample) == sampled && item[0] == '{' {
		if i := slices.IndexFunc(s.sample, func(v []byte) bool { return v[0] != '{' }); i >= 0 {
			s.sample = slices.Delete(s.sample, i, i+1)
		}
	}
	if len(s.sample) < sampled {
		s.sample = append(s.sample, item)
	}
}

// stringEnd returns the index behind the string literal at i.
func (r reader) stringEnd(i int) int {
	for i++; ; {
		i += bytes.IndexByte(r.b[i:], '"')
		slashes := 0
		for r.b[i-1-slashes] == '\\' {
			slashes++
		}
		if i++; slashes%2 == 0 {
			return i
		}
	}
}

// skip returns the index behind the array or object at i.
func (r reader) skip(i int) int {
	for depth := 0; ; i++ {
		switch r.b[i] {
		case '"':
			i = r.stringEnd(i) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
}
