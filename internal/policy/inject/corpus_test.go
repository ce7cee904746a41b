package inject

import (
	"bufio"
	"encoding/json"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// row is an item of a corpus.
type row struct{ Label, Channel, Lang, Tier, Text, Group string }

func (r row) channel() Channel {
	switch r.Channel {
	case "description":
		return Description
	case "argument":
		return Argument
	}
	return Result
}

func readCorpus(t testing.TB, path string) []row {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var rows []row
	for lines := bufio.NewReader(f); ; {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			break
		}
		var r row
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(path, err)
		}
		rows = append(rows, r)
	}
	if len(rows) == 0 {
		t.Fatal(path, "is empty")
	}
	return rows
}

// rate counts what was flagged of n; groups counts each group as one.
type rate struct {
	hits, n int
	groups  map[string][2]int
}

func (r *rate) add(group string, flagged bool) {
	g := r.groups[group]
	r.n, g[1] = r.n+1, g[1]+1
	if flagged {
		r.hits, g[0] = r.hits+1, g[0]+1
	}
	r.groups[group] = g
}

func (r *rate) part() float64 { return float64(r.hits) / float64(r.n) }

// byGroup is the mean over groups.
func (r *rate) byGroup() float64 {
	sum := 0.0
	for _, g := range r.groups {
		sum += float64(g[0]) / float64(g[1])
	}
	return sum / float64(len(r.groups))
}

// wilson returns the 95 % interval.
func (r *rate) wilson() (low, high float64) {
	const z = 1.96
	n, p := float64(r.n), r.part()
	middle := (p + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return middle - half, middle + half
}

type rates map[string]*rate

func (rs rates) add(key, group string, flagged bool) {
	if rs[key] == nil {
		rs[key] = &rate{groups: map[string][2]int{}}
	}
	rs[key].add(group, flagged)
}

func (rs rates) print(t *testing.T) {
	t.Helper()
	for _, key := range slices.Sorted(maps.Keys(rs)) {
		r := rs[key]
		low, high := r.wilson()
		t.Logf("%-46s flagged %4d of %4d = %5.1f %% (%.1f to %.1f), %3d groups %5.1f %%", key, r.hits, r.n, 100*r.part(), 100*low, 100*high, len(r.groups), 100*r.byGroup())
	}
}

// measure judges all rows at all levels.
func measure(rows []row) rates {
	out := rates{}
	for l, level := range []string{"low", "medium", "high"} {
		d := New(Level(l))
		for _, r := range rows {
			flagged := len(d.Text(r.channel(), r.Text)) > 0
			for _, key := range r.keys() {
				out.add(level+" "+key, r.Group, flagged)
			}
		}
	}
	return out
}

func (r row) keys() []string {
	keys := []string{r.Label + ": " + r.Tier}
	switch hostile := r.Tier == "explicit" || r.Tier == "obfuscated"; {
	case r.Label == "injection" && hostile:
		keys = append(keys, "injection, explicit and obfuscated: "+r.Lang)
	case r.Label == "benign" && r.Tier != "about_security" && r.Tier != "quotes_attack":
		keys = append(keys, "benign but about attacks")
		if strings.HasPrefix(r.Tier, "real_") {
			keys = append(keys, "benign: real")
		}
	}
	return keys
}

func TestCorpus(t *testing.T) {
	rs := measure(readCorpus(t, "../testdata/injection.jsonl"))
	rs.print(t)
	for _, bar := range []struct {
		key         string
		least, most float64
	}{
		{"medium injection: explicit", 0.85, 1},
		{"medium injection: obfuscated", 27.0 / 35, 1},
		{"medium injection, explicit and obfuscated: zh", 32.0 / 42, 1},
		{"medium benign: real", 0, 0.015},
		{"medium benign but about attacks", 0, 0.02},
		{"medium benign: trigger_words", 0, 0.012},
		{"low injection: explicit", 0.5, 1},
		{"low benign but about attacks", 0, 0.005},
		{"high benign but about attacks", 0, 0.07},
	} {
		if r := rs[bar.key]; r == nil || r.part() < bar.least || r.part() > bar.most {
			t.Errorf("%s: flagged %+v, want from %.3f to %.3f", bar.key, r, bar.least, bar.most)
		}
	}
}

// TestOwnCorpus measures texts that were written before the rules were: the benign ones
// are as near to attacks as texts without bad intent come.
func TestOwnCorpus(t *testing.T) {
	rs := measure(readCorpus(t, "testdata/own.jsonl"))
	rs.print(t)
	if r := rs["medium injection: explicit"]; r.part() < 0.85 {
		t.Errorf("explicit: %d of %d found, want 85 %%", r.hits, r.n)
	}
	if r := rs["medium benign but about attacks"]; r.part() > 0.06 {
		t.Errorf("benign: %d of %d flagged, want 6 %% at most", r.hits, r.n)
	}
}

// TestRealDefinitions measures every text of real servers' tool lists.
func TestRealDefinitions(t *testing.T) {
	files, err := filepath.Glob("../schema/testdata/catalogs/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal("no catalogs", err)
	}
	d, tools, flagged := New(Medium), 0, 0
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var v struct{ Tools []json.RawMessage }
		if err := json.Unmarshal(b, &v); err != nil {
			t.Fatal(file, err)
		}
		for _, tool := range v.Tools {
			tools++
			if found := d.JSON(Description, tool); len(found) > 0 {
				flagged++
				t.Logf("%s: %v", filepath.Base(file), found)
			}
		}
	}
	t.Logf("%d of %d tools flagged", flagged, tools)
	if flagged*100 > tools {
		t.Errorf("%d of %d real tools are flagged", flagged, tools)
	}
}
