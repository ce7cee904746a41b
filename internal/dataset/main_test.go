//go:build unix

package dataset

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"heddle"
	"heddle/internal/capture"
	"heddle/internal/dataset/records"
	"heddle/internal/mcptest"
)

// rig is a store with a worker and captures.
type rig struct {
	*Store
	captures *capture.Store
	found    int // how often records were found again
	mu       sync.Mutex
}

func newRig(t testing.TB, o Options) *rig {
	t.Helper()
	r := &rig{captures: capture.New(capture.Options{TempDir: t.TempDir()})}
	t.Cleanup(func() { _ = r.captures.Close() })
	o.Command, o.Captures = mcptest.SQL(t), r.captures
	if o.TempDir == "" {
		o.TempDir = t.TempDir()
	}
	r.Store = New(o)
	t.Cleanup(r.Close)
	return r
}

var list = heddle.ToolRef{Server: "github", Name: "list_issues"}

// add makes datasets of a JSON text, as the gateway does.
func (r *rig) add(t testing.TB, p heddle.Principal, text string) []*Dataset {
	t.Helper()
	c, err := r.captures.Put(p, list, capture.KindText, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	find := func(b []byte) []records.Table {
		found, why := records.Find(records.Input{Texts: [][]byte{b}})
		if why != "" {
			t.Errorf("no table in %.100s: %s", b, why)
			return nil
		}
		return append([]records.Table{found.Main}, found.Siblings...)
	}
	sets, err := r.Add(t.Context(), p, Input{
		Name: c.Ref, Tables: find([]byte(text)), Capture: c.Ref, Sample: 5, Provenance: Of(list, json.RawMessage(`{"q":"x","token":"t0ps3cret"}`), nil, c.Created),
		Again: func() ([]records.Table, error) {
			r.mu.Lock()
			r.found++
			r.mu.Unlock()
			c, err := r.captures.Get(p, c.Ref)
			if err != nil {
				return nil, err
			}
			b, err := c.Bytes()
			return find(b), err
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return sets
}

// again is how often records were found again.
func (r *rig) again() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.found
}

// issues are n rows as JSON.
func issues(n int) string {
	var b strings.Builder
	b.WriteByte('[')
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":%d,"state":%q,"user":{"login":"user%d"},"score":%d.5,"big":%d}`, i, []string{"open", "closed", "open"}[i%3], i%7, i, 9007199254740993+i)
	}
	return b.String() + "]"
}

// rows runs a query whose rows come back.
func (r *rig) rows(t testing.TB, p heddle.Principal, sql string) string {
	t.Helper()
	a, err := r.Query(t.Context(), p, Query{SQL: sql, Inline: 9 << 10, Name: "query", Sample: 5})
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	if a.Dataset != nil {
		t.Fatalf("%s: became dataset %s of %d rows", sql, a.Dataset.Ref, a.Rows)
	}
	return strings.TrimSpace(string(a.Text))
}

// refused runs a query that must fail, and returns what is said.
func (r *rig) refused(t testing.TB, ctx context.Context, q Query, kind heddle.Kind) string {
	t.Helper()
	if q.Inline == 0 {
		q.Inline = 9 << 10
	}
	a, err := r.Query(ctx, heddle.Local, q)
	if err == nil {
		t.Fatalf("%s: returned %d rows, want an error", q.SQL, a.Rows)
	}
	if got := heddle.KindOf(err); got != kind {
		t.Errorf("%s: kind %s, want %s (%v)", q.SQL, got, kind, err)
	}
	return err.Error()
}

// pid is the process of a principal's worker, 0 if there is none.
func (r *rig) pid(p heddle.Principal) int {
	o, err := r.owner(p)
	if err != nil {
		return 0
	}
	o.mu.Lock()
	w := o.worker
	o.mu.Unlock()
	if w == nil || !w.alive() {
		return 0
	}
	return w.cmd.Process.Pid
}
