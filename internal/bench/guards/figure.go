package guards

import (
	"fmt"
	"math"
)

// Figure is one rate.
type Figure struct {
	Guard string `json:"guard"`
	Name  string `json:"name"`
	// Hits of N; Rate is their share, Low and High its 95 % Wilson interval.
	Hits int     `json:"hits"`
	N    int     `json:"n"`
	Rate float64 `json:"rate"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	// Groups is the share by group, each counting once; 0 where rows have none.
	Groups float64 `json:"groups,omitempty"`
	// Bar is what the rate must be, in words; "" for a figure without one.
	Bar   string `json:"bar,omitempty"`
	Holds bool   `json:"holds"`

	least, most float64
	groups      map[string]*[2]int
}

// atLeast and atMost make figures with a bar, plain ones without.
func atLeast(name string, share float64) *Figure {
	return &Figure{Name: name, Bar: fmt.Sprintf("at least %.3g %%", 100*share), least: share, most: 1}
}

func atMost(name string, share float64) *Figure {
	return &Figure{Name: name, Bar: fmt.Sprintf("at most %.3g %%", 100*share), most: share}
}

func plain(name string) *Figure { return &Figure{Name: name, most: 1} }

// add counts one case.
func (f *Figure) add(hit bool, group string) {
	f.N++
	if hit {
		f.Hits++
	}
	if group == "" {
		return
	}
	if f.groups == nil {
		f.groups = map[string]*[2]int{}
	}
	g := f.groups[group]
	if g == nil {
		g = &[2]int{}
		f.groups[group] = g
	}
	g[1]++
	if hit {
		g[0]++
	}
}

// settle computes what follows from the counts.
func (f *Figure) settle() {
	f.Holds = true
	if f.N == 0 {
		return
	}
	f.Rate = float64(f.Hits) / float64(f.N)
	f.Low, f.High = wilson(f.Hits, f.N)
	const slack = 1e-9
	f.Holds = f.Rate >= f.least-slack && f.Rate <= f.most+slack
	for _, g := range f.groups {
		f.Groups += float64(g[0]) / float64(g[1]) / float64(len(f.groups))
	}
}

// wilson returns the 95 % interval of a rate.
func wilson(hits, n int) (low, high float64) {
	const z = 1.959964
	p, m := float64(hits)/float64(n), float64(n)
	middle := (p + z*z/(2*m)) / (1 + z*z/m)
	half := z / (1 + z*z/m) * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	return max(0, middle-half), min(1, middle+half)
}

// values returns what pointers lead to, without figures that nothing was counted in.
func values(figures ...*Figure) []Figure {
	var out []Figure
	for _, f := range figures {
		if f.N > 0 {
			out = append(out, *f)
		}
	}
	return out
}
