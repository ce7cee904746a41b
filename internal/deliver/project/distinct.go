package project

import (
	"bytes"
	"slices"
)

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

// has reports whether v was added, as far as it was counted.
func (d *distinct) has(v []byte) bool {
	if d.slots == nil {
		return slices.ContainsFunc(d.values, func(have []byte) bool { return bytes.Equal(have, v) })
	}
	h, mask := hashOf(v), uint64(len(d.slots)-1)
	for i := h & mask; d.slots[i] != 0; i = (i + 1) & mask {
		if d.slots[i] == h {
			return true
		}
	}
	return false
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
