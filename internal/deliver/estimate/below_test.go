package estimate

import (
	"encoding/json"
	"math"
	"testing"
)

// samples are results of every sort.
func samples(t testing.TB) map[string]json.RawMessage {
	t.Helper()
	out := map[string]json.RawMessage{}
	for _, s := range corpus(t) {
		out[s.Name] = s.Raw
	}
	for _, half := range []string{"tuning", "heldout"} {
		for _, k := range kindsOf(t, half) {
			for form, raw := range k.forms(t) {
				out[half+"/"+k.Name+"/"+form] = raw
			}
		}
	}
	return out
}

// checkBound has the bound above the meter's sum.
func checkBound(t *testing.T, raw []byte) {
	t.Helper()
	var m meter
	m.result(raw)
	if most := bound(raw, math.MaxInt/2); most < m.sum {
		t.Errorf("%.80q: at most %d, estimated %d", raw, most, m.sum)
	}
}

func TestBound(t *testing.T) {
	for name, raw := range samples(t) {
		t.Run(name, func(t *testing.T) { checkBound(t, raw) })
	}
}

// TestBelow never says of a result that is over a limit that it is below, and says
// it of most that are small.
func TestBelow(t *testing.T) {
	small, said := 0, 0
	for name, raw := range samples(t) {
		n := Result(raw)
		for _, limit := range []int{n / 2, n - 1, n, n + 1, 2 * n, 500, 2000} {
			if Below(raw, limit) && n > limit {
				t.Errorf("%s: below %d, estimated %d", name, limit, n)
			}
		}
		if ascii(raw) && len(raw) > 2000 && n < 900 {
			small++
			if Below(raw, 2000) {
				said++
			}
		}
	}
	if small < 15 || said < small*3/4 {
		t.Errorf("Below says so of %d in %d small results, want three of four of at least 15", said, small)
	}
}

func ascii(b []byte) bool {
	for _, c := range b {
		if kinds[c] == isHigh {
			return false
		}
	}
	return true
}
