package definition

import (
	"bufio"
	"encoding/json"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// row is a line of poisoning.jsonl.
type row struct {
	Expect, Cat, Why, Server string
	Hard                     bool
	Tool                     json.RawMessage
	Peers                    []json.RawMessage
}

func corpus(t testing.TB) (out []row) {
	t.Helper()
	f, err := os.Open("../testdata/poisoning.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r row
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// findings are what is found in a row's tool, alone and beside its peers.
func (r *row) findings(t testing.TB) []Finding {
	out := Inspect(r.Tool)
	if len(r.Peers) == 0 {
		return out
	}
	var all []Named
	for _, p := range r.Peers {
		var v struct{ Server string }
		if err := json.Unmarshal(p, &v); err != nil {
			t.Fatal(err)
		}
		all = append(all, named(t, v.Server, p))
	}
	beside := Shadows(append(all, named(t, r.Server, r.Tool)))
	return append(out, beside[len(all)]...)
}

func named(t testing.TB, server string, definition json.RawMessage) Named {
	t.Helper()
	var v struct{ Name, Description string }
	if err := json.Unmarshal(definition, &v); err != nil {
		t.Fatal(err)
	}
	return Named{Server: server, Name: v.Name, Description: v.Description, Definition: definition}
}

// rate is how many of n were flagged.
type rate struct{ hits, n int }

// wilson returns the 95 % interval of the rate.
func (r rate) wilson() (low, high float64) {
	const z = 1.96
	n, p := float64(r.n), float64(r.hits)/float64(r.n)
	middle := (p + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return middle - half, middle + half
}

func (r rate) part() float64 { return float64(r.hits) / float64(r.n) }

func TestCorpus(t *testing.T) {
	rates := map[string]rate{}
	for _, r := range corpus(t) {
		if r.Expect == "changed" || r.Expect == "unchanged" {
			continue // the lock's
		}
		flagged := len(r.findings(t)) > 0
		kind := r.Expect
		if r.Hard {
			kind += ", hard"
		}
		for _, key := range []string{kind, kind + ": " + r.Cat} {
			x := rates[key]
			x.n++
			if flagged {
				x.hits++
			}
			rates[key] = x
		}
		if flagged == (r.Expect == "clean") && !r.Hard {
			t.Logf("wrong: %s, %s: %.200s", r.Expect, r.Cat, r.Tool)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(rates)) {
		low, high := rates[key].wilson()
		t.Logf("%-45s flagged %3d of %3d = %5.1f %% (%.1f to %.1f)", key, rates[key].hits, rates[key].n, 100*rates[key].part(), 100*low, 100*high)
	}
	if r := rates["poisoned"]; r.n < 50 || r.part() < 0.9 {
		t.Errorf("poisoned: %d of %d found, want 90 %%", r.hits, r.n)
	}
	if r := rates["shadowing"]; r.n-r.hits > 1 || r.n == 0 {
		t.Errorf("shadowing: %d of %d found, want all but one", r.hits, r.n)
	}
	if r := rates["clean"]; r.n < 100 || r.part() > 0.02 {
		t.Errorf("clean: %d of %d flagged, want 2 %% at most", r.hits, r.n)
	}
}

// catalogs are what real servers list.
func catalogs(t testing.TB) (tools []Named) {
	t.Helper()
	files, err := filepath.Glob("../schema/testdata/catalogs/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal("no catalogs", err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var v struct{ Tools []json.RawMessage }
		if err := json.Unmarshal(b, &v); err != nil {
			t.Fatal(file, err)
		}
		server := filepath.Base(file[:len(file)-len(".json")])
		for _, d := range v.Tools {
			tools = append(tools, named(t, server, d))
		}
	}
	return tools
}

func TestRealCatalogsAreClean(t *testing.T) {
	tools := catalogs(t)
	beside := Shadows(tools)
	for i := range tools {
		if found := append(Inspect(tools[i].Definition), beside[i]...); len(found) > 0 {
			t.Errorf("%s: %v", tools[i].ref(), found)
		}
	}
	t.Logf("%d tools", len(tools))
}
