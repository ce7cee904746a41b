//go:build cgo

package worker

import (
	"hash/maphash"
	"math"
	"math/bits"
	"slices"
)

const (
	// maxExact is up to how many distinct values of a column are counted one by one.
	maxExact = 200_000
	// maxKeys is how many values of a column are kept for hints.
	maxKeys = 1_000
)

// distinct counts different values by their hashes. Up to maxExact it counts all:
// two of them have the same hash of 64 bits about once in a billion columns. Beyond,
// it keeps the hashes that end in a number of zero bits, a fair sample of the values
// whatever their frequency, and multiplies: about 0.3 % off at most times.
type distinct struct {
	slots []uint64 // open addressing; 0 is free
	n     int
	zeros int // how many low bits of a kept hash are zero
}

// add counts a value by its hash.
func (d *distinct) add(h uint64) {
	if h == 0 {
		h = 1 << 63 // keeps its zero bits
	}
	if bits.TrailingZeros64(h) < d.zeros {
		return
	}
	if 2*d.n >= len(d.slots) {
		d.resize(max(64, 2*len(d.slots)))
	}
	if !d.insert(h) {
		return
	}
	for d.n++; d.n > maxExact; {
		d.zeros++
		d.resize(len(d.slots))
	}
}

// insert puts h into its slot, and reports whether it was not there.
func (d *distinct) insert(h uint64) bool {
	mask := uint64(len(d.slots) - 1)
	for i := h >> 20; ; i++ { // the low bits are those that all samples share
		switch d.slots[i&mask] {
		case 0:
			d.slots[i&mask] = h
			return true
		case h:
			return false
		}
	}
}

// resize makes n slots and keeps the hashes that still belong.
func (d *distinct) resize(n int) {
	old := d.slots
	d.slots, d.n = make([]uint64, n), 0
	for _, h := range old {
		if h != 0 && bits.TrailingZeros64(h) >= d.zeros {
			d.insert(h)
			d.n++
		}
	}
}

// count is how many values there were, and whether that is an estimate.
func (d *distinct) count() (n int64, approx bool) {
	return int64(d.n) << d.zeros, d.zeros > 0
}

// keys are distinct values of a column, at most maxKeys: all, or a fair sample.
type keys struct {
	text   bool     // whether they are text; else integers
	hashes []uint64 // sorted
	zeros  int      // as of distinct: 0 is all
}

// keys returns a sample of what was counted.
func (d *distinct) keys(text bool) *keys {
	k := &keys{text: text, zeros: d.zeros}
	for _, h := range d.slots {
		if h != 0 {
			k.hashes = append(k.hashes, h)
		}
	}
	for len(k.hashes) > maxKeys {
		k.zeros++
		k.hashes = sampled(k.hashes, k.zeros)
	}
	k.hashes = slices.Clip(k.hashes)
	slices.Sort(k.hashes)
	return k
}

// sampled returns the hashes that end in so many zero bits. It is a subset of any
// sample with fewer, so that two samples can be compared at the coarser of both.
func sampled(hashes []uint64, zeros int) []uint64 {
	var kept []uint64
	for _, h := range hashes {
		if bits.TrailingZeros64(h) >= zeros {
			kept = append(kept, h)
		}
	}
	return kept
}

// overlap is the Jaccard index of two columns and how many values are in both;
// estimates, if either is a sample.
func (k *keys) overlap(o *keys) (jaccard float64, shared int) {
	zeros := max(k.zeros, o.zeros)
	a, b := k.hashes, o.hashes
	if k.zeros < zeros {
		a = sampled(a, zeros)
	}
	if o.zeros < zeros {
		b = sampled(b, zeros)
	}
	both := 0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] < b[j]:
			i++
		case a[i] > b[j]:
			j++
		default:
			both, i, j = both+1, i+1, j+1
		}
	}
	all := len(a) + len(b) - both
	if all == 0 {
		return 0, 0
	}
	return float64(both) / float64(all), both << zeros
}

// hasher makes hashes that all columns of a worker share.
type hasher struct{ seed maphash.Seed }

// integer mixes the bits of an integer; no two have the same hash.
func (hasher) integer(n int64) uint64 {
	h := uint64(n) + 0x9e3779b97f4a7c15
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

// huge is that of an integer of 128 bits: if 64 are enough, as integer has it.
func (x hasher) huge(n hugeint) uint64 {
	if n.upper == int64(n.lower)>>63 {
		return x.integer(int64(n.lower))
	}
	return x.integer(int64(x.integer(int64(n.lower)) ^ uint64(n.upper)))
}

// double is that of a number; the engine takes the two zeros for one, and all NaN.
func (x hasher) double(f float64) uint64 {
	switch {
	case f == 0:
		f = 0
	case f != f:
		f = math.NaN()
	}
	return x.integer(int64(math.Float64bits(f)))
}

func (x hasher) text(b []byte) uint64 { return maphash.Bytes(x.seed, b) }
