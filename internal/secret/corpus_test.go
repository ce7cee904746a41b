package secret

import (
	"bufio"
	"bytes"
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"
)

// row is a case of the corpus.
type row struct {
	ID, Expect, Kind string
	Payload          json.RawMessage
	Secrets          []string
	Keyed            bool
}

// corpus reads the cases and takes the marks out that keep values from being well formed
// in the file.
func corpus(t testing.TB) (rows []row) {
	t.Helper()
	data, err := os.ReadFile("../policy/testdata/secrets.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	data = bytes.ReplaceAll(bytes.ReplaceAll(data, []byte("§"), nil), []byte(`\u00a7`), nil)
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r row
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, r)
	}
	return rows
}

// TestCorpus holds the rates of detection and of false alarms.
func TestCorpus(t *testing.T) {
	type count struct{ n, hit int }
	groups := map[string]*count{"provider": {}, "keyed": {}, "clean": {}}
	gone := count{}
	for _, r := range corpus(t) {
		masked, found := MaskJSON(r.Payload)
		name := r.Expect
		if r.Expect == "secret" {
			name = "provider"
			if r.Keyed {
				name = "keyed"
			}
		}
		g := groups[name]
		g.n++
		if len(found) > 0 {
			g.hit++
		}
		if (len(found) > 0) != (r.Expect == "secret") {
			t.Logf("%s %s: %s: %d findings %v", r.ID, r.Kind, name, len(found), found)
		}
		if !json.Valid(masked) {
			t.Errorf("%s: not valid after masking", r.ID)
		}
		if again := FindJSON(masked); len(again) > 0 {
			t.Errorf("%s %s: found again after masking: %v", r.ID, r.Kind, again)
		}
		if r.Expect != "secret" || len(found) == 0 {
			continue
		}
		gone.n++
		if leaked := leak(masked, r.Secrets); leaked {
			t.Errorf("%s %s: still there after masking", r.ID, r.Kind)
		} else {
			gone.hit++
		}
	}
	for name, g := range groups {
		low, high := wilson(g.hit, g.n)
		t.Logf("%-8s %3d of %3d flagged: %.1f%% (%.1f–%.1f)", name, g.hit, g.n, 100*float64(g.hit)/float64(g.n), 100*low, 100*high)
	}
	t.Logf("gone after masking: %d of %d", gone.hit, gone.n)
	for name, atLeast := range map[string]float64{"provider": 0.95, "keyed": 0.85} {
		if g := groups[name]; float64(g.hit) < atLeast*float64(g.n) {
			t.Errorf("%s: %d of %d found, want %.0f%%", name, g.hit, g.n, 100*atLeast)
		}
	}
	if g := groups["clean"]; float64(g.hit) > 0.03*float64(g.n) {
		t.Errorf("%d of %d look-alikes flagged", g.hit, g.n)
	}
}

// leak reports whether a secret is in a JSON value, as it is written or in its texts.
func leak(raw []byte, secrets []string) bool {
	var v any
	_ = json.Unmarshal(raw, &v)
	all := string(raw) + "\n" + texts(v)
	for _, s := range secrets {
		if strings.Contains(all, s) {
			return true
		}
	}
	return false
}

func texts(v any) string {
	switch v := v.(type) {
	case string:
		return v + "\n"
	case []any:
		var b strings.Builder
		for _, e := range v {
			b.WriteString(texts(e))
		}
		return b.String()
	case map[string]any:
		var b strings.Builder
		for k, e := range v {
			b.WriteString(k + "\n" + texts(e))
		}
		return b.String()
	}
	return ""
}

// wilson returns the 95% interval of a rate.
func wilson(hit, n int) (low, high float64) {
	const z = 1.96
	p, m := float64(hit)/float64(n), float64(n)
	mid := (p + z*z/(2*m)) / (1 + z*z/m)
	half := z / (1 + z*z/m) * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	return mid - half, mid + half
}
