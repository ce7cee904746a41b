//go:build cgo

package worker

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"heddle/internal/dataset/protocol"
	"heddle/internal/dataset/records"
)

// mixed are rows of eight columns of different kinds.
func mixed(rows int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	words := []string{"alpha", "beta", "gamma", "delta", "a somewhat longer word", ""}
	b := []byte{'['}
	for i := range rows {
		if i > 0 {
			b = append(b, ',')
		}
		note := "null"
		if i%3 == 0 {
			note = fmt.Sprintf(`"note %d about something or other"`, i/3)
		}
		b = fmt.Appendf(b, `{"id":%d,"login":"user%d@example.com","state":%q,"ok":%v,"amount":%v,"count":%d,"note":%s,"created_at":"2026-0%d-%02dT10:00:00Z"}`,
			9_000_000_000_000_000_000+i, r.IntN(max(1, rows/3)), words[r.IntN(len(words))], r.IntN(2) == 0, float64(r.IntN(100000))/8, r.IntN(50)-10, note, 1+i%9, 1+i%28)
	}
	return append(b, ']')
}

// TestProfile compares a profile with what is counted here, value by value.
func TestProfile(t *testing.T) {
	c := inProcess(t)
	for _, n := range []int{1, 2, 13, 1000, 2048, 2049, 10_000} {
		array := mixed(n)
		p := c.load("t", string(array))
		var rows []map[string]json.RawMessage
		if err := json.Unmarshal(array, &rows); err != nil {
			t.Fatal(err)
		}
		if p.Rows != int64(n) {
			t.Errorf("got %d rows, want %d", p.Rows, n)
		}
		for _, col := range p.Columns {
			counts, nulls := map[string]int64{}, int64(0)
			for _, row := range rows {
				v := string(row[col.Name])
				if v == "null" {
					nulls++
					continue
				}
				if v[0] == '"' {
					v = v[1 : len(v)-1] // these have nothing to unescape
				} else if col.Type == "DOUBLE" && !strings.Contains(v, ".") {
					v += ".0"
				}
				counts[v]++
			}
			if col.Nulls != nulls || col.Distinct != int64(len(counts)) || col.Approx {
				t.Errorf("%d rows, %s: got %d null, %d distinct, want %d, %d", n, col.Name, col.Nulls, col.Distinct, nulls, len(counts))
			}
			checkTop(t, col, counts)
			if text := col.Type == "VARCHAR"; text && len(counts) > 0 {
				all := slices.Sorted(mapKeys(counts))
				if col.Min != all[0] || col.Max != all[len(all)-1] {
					t.Errorf("%s: got from %q to %q, want %q to %q", col.Name, col.Min, col.Max, all[0], all[len(all)-1])
				}
			}
		}
		if len(p.Sample) != min(n, 5) || p.Bytes < int64(80*n) || p.Bytes > int64(300*n) {
			t.Errorf("got %d sample rows, %d bytes for %d rows", len(p.Sample), p.Bytes, n)
		}
		// The same when it is asked of the table.
		c.must(protocol.Request{Load: &protocol.Load{Name: "t", Table: records.Table{Form: records.FormArray, Path: "$"}, Quiet: true}}, array)
		q := c.must(protocol.Request{Describe: &protocol.Describe{Name: "t", Sample: 5}}, nil).Profile
		x, _ := json.Marshal(p)
		y, _ := json.Marshal(q)
		if string(x) != string(y) {
			t.Errorf("described: got %s\nwant %s", y, x)
		}
	}
}

func mapKeys(m map[string]int64) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func checkTop(t *testing.T, col protocol.Column, counts map[string]int64) {
	t.Helper()
	if (len(col.Top) > 0) != (len(counts) > 0 && len(counts) <= maxTop) {
		t.Errorf("%s: %d values at the top of %d", col.Name, len(col.Top), len(counts))
	}
	last := int64(math.MaxInt64)
	for _, top := range col.Top {
		if counts[top.Value] != top.Count || top.Count > last {
			t.Errorf("%s: %q came %d times, got %d after %d", col.Name, top.Value, counts[top.Value], top.Count, last)
		}
		last = top.Count
	}
}

// TestDistinct: exact as long as it says so, and close after that.
func TestDistinct(t *testing.T) {
	var h hasher
	for _, n := range []int{0, 1, 1000, maxExact, maxExact + 1, 500_000, 3_000_000} {
		var d distinct
		for i := range n {
			d.add(h.integer(int64(i)))
			if i%3 == 0 {
				d.add(h.integer(int64(i / 2)))
			}
		}
		got, approx := d.count()
		if approx != (n > maxExact) || !approx && got != int64(n) || math.Abs(float64(got-int64(n))) > 0.02*float64(n) {
			t.Errorf("%d values: got %d, approx: %v", n, got, approx)
		}
		if k := d.keys(false); len(k.hashes) > maxKeys || n <= maxKeys && len(k.hashes) != n {
			t.Errorf("%d values: %d keys", n, len(k.hashes))
		}
	}
}

func TestFormatDouble(t *testing.T) {
	_, e := inProcessEngine(t)
	c, err := e.db.connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	all := []float64{0, math.Copysign(0, -1), 1, -1.5, 0.1, 1e15, 1e16, 123456789012345680, 1e17, 1e-4, 1e-5, 1.5e-7, 1e300, math.MaxFloat64, math.SmallestNonzeroFloat64, 1.0 / 3, math.Inf(1), math.Inf(-1), math.NaN(), 9007199254740993}
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		all = append(all, math.Float64frombits(r.Uint64()))
	}
	var as []string
	for _, f := range all {
		as = append(as, fmt.Sprintf("('%v'::DOUBLE::VARCHAR)", f))
	}
	got, err := c.texts("SELECT * FROM (VALUES " + strings.Join(as, ", ") + ")")
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range all {
		if want := *got[i][0]; formatDouble(f) != want {
			t.Errorf("%x: got %s, the engine has %s", f, formatDouble(f), want)
		}
	}
}

// TestHints: columns that hold the same values are found.
func TestHints(t *testing.T) {
	c := inProcess(t)
	table := func(rows int, row string) string {
		var b strings.Builder
		for i := range rows {
			b.WriteString("," + strings.ReplaceAll(strings.ReplaceAll(row, "#", fmt.Sprint(i)), "%", fmt.Sprint(i%10)))
		}
		return "[" + b.String()[1:] + "]"
	}
	c.load("users", table(800, `{"id":1000#,"login":"user#","big":9007199254740#,"age":%,"flag":true}`))
	c.load("unrelated", table(800, `{"id":"x#","v":0.5,"big":-5#}`))
	p := c.load("issues", table(2000, `{"number":#,"user_id":1000#,"author":"user#","state":"open","age":%}`))
	if len(p.Hints) != 2 {
		t.Fatalf("got %+v", p.Hints)
	}
	for _, h := range p.Hints {
		if h.Table != "users" || h.Column != "user_id" && h.Column != "author" || math.Abs(h.Overlap-0.4) > 0.08 || h.Shared < 650 || h.Shared > 950 {
			t.Errorf("got %+v", h)
		}
	}
	// Exact where all values are known: 500 of 800 and 700 are in both.
	p = c.load("members", table(700, `{"member":"user#","x":"y"}`))
	h := p.Hints[slices.IndexFunc(p.Hints, func(h protocol.Hint) bool { return h.Table == "users" })]
	if h.Other != "login" || h.Shared != 700 || h.Overlap != 700.0/800 {
		t.Errorf("got %+v", h)
	}
	if len(p.Hints) > maxHints {
		t.Errorf("got %d hints", len(p.Hints))
	}
	c.must(protocol.Request{Drop: []string{"users", "issues"}}, nil)
	if p := c.must(protocol.Request{Describe: &protocol.Describe{Name: "members"}}, nil).Profile; len(p.Hints) != 0 {
		t.Errorf("after they were dropped: %+v", p.Hints)
	}
}
