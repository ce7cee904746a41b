package figures

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"testing"
	"time"

	"heddle/internal/demo"
	"heddle/internal/ledger"

	"github.com/google/go-cmp/cmp"
)

// TestRealSession compares what is read from the ledger of a real session, through
// the real gateway, with what its host counted on the wire.
func TestRealSession(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a session: not with -short")
	}
	d, err := demo.Run(t.Context(), demo.Options{Dir: t.TempDir(), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	r, err := ledger.OpenReader(t.Context(), d.Evidence.Ledger)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	all, err := Read(t.Context(), r, time.Time{}, time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	checkDatabase(t, all, d)
	s, err := Last(t.Context(), r)
	if err != nil || s == nil {
		t.Fatalf("last session: %v, %v", s, err)
	}
	checkSession(t, s, d)
}

func checkDatabase(t *testing.T, all *Database, d *demo.Report) {
	t.Helper()
	if all.Sessions != 2 || all.Calls != int64(d.Ledger.Calls) || all.Searches != int64(d.Savings.Searches) {
		t.Errorf("%d sessions, %d calls, %d searches; want 2, %d, %d", all.Sessions, all.Calls, all.Searches, d.Ledger.Calls, d.Savings.Searches)
	}
	got := map[string]int{}
	failed := 0
	for _, k := range all.Kinds {
		got[string(k.Kind)] = int(k.Calls)
		failed += int(k.Calls)
	}
	want := map[string]int{}
	for k, n := range d.Ledger.Kinds {
		want[string(k)] = n
	}
	if diff := cmp.Diff(want, got); diff != "" || all.Failed != int64(failed) {
		t.Errorf("%d failed, kinds (-want +got):\n%s", all.Failed, diff)
	}
	var calls int64
	for _, x := range all.Tools {
		calls += x.Calls
		if x.P50 > x.P95 || x.P95 > x.P99 || x.P99 > x.Max || x.Timed > x.Calls {
			t.Errorf("times of %+v", x)
		}
	}
	if calls != all.Calls || len(all.Days) == 0 || len(all.Modes) != 2 {
		t.Errorf("%d calls by tool, %d days, %d modes; want %d, some, 2", calls, len(all.Days), len(all.Modes), all.Calls)
	}
}

// checkSession wants figures near the exact ones: the ledger has bytes of what is
// small. The words of refusals are not in it.
func checkSession(t *testing.T, s *Session, d *demo.Report) {
	t.Helper()
	if s.Mode != "compact" || s.Client == "" || s.Calls != int64(d.Ledger.Calls) {
		t.Errorf("mode %s, client %q, %d calls", s.Mode, s.Client, s.Calls)
	}
	near := func(what string, got int64, want int) {
		if math.Abs(float64(got)-float64(want)) > 0.15*float64(want) {
			t.Errorf("%s: %d tokens, counted were %d", what, got, want)
		}
	}
	near("native", s.Native, d.Savings.Native)
	near("surface", s.Surface, d.Savings.Surface)
	near("shown", s.Shown, d.Savings.Definitions)
	near("saved", s.Saved, d.Savings.Saved+d.Savings.Refusals)
	if s.Upstream == 0 || s.Upstream != s.Delivered {
		t.Errorf("%d and %d tokens of results that all were exact", s.Upstream, s.Delivered)
	}
	var calls int64
	for _, f := range s.Forms {
		calls += f.Calls
	}
	if calls != s.Calls || s.ToolsUsed == 0 || s.Length <= 0 {
		t.Errorf("%d calls by form of %d, %d tools, %f ms", calls, s.Calls, s.ToolsUsed, s.Length)
	}
	checkNameless(t, s, d)
}

// checkNameless looks in what is shown to others for every name of the session.
func checkNameless(t *testing.T, s *Session, d *demo.Report) {
	t.Helper()
	raw, err := json.Marshal(s.Card)
	if err != nil {
		t.Fatal(err)
	}
	names := []string{s.Client}
	for _, server := range d.Servers {
		names = append(names, server.Name+"_", server.Name+"::", `"`+server.Name)
	}
	for _, x := range s.Tools {
		if x.Name != "" {
			names = append(names, x.Name)
		}
	}
	for _, name := range names {
		if strings.Contains(string(raw), name) {
			t.Errorf("a card without names has %q: %s", name, raw)
		}
	}
}

func TestNoSession(t *testing.T) {
	got := Sum(nil, time.UTC)
	if !got.Empty() || got.Days == nil || got.Modes == nil || got.Percent != 0 {
		t.Errorf("sums of nothing: %+v", got)
	}
}

// A day is one of the zone that is asked for, with its odd quarters.
func TestDaysOfAZone(t *testing.T) {
	nepal := time.FixedZone("", 5*3600+45*60)
	at := time.Date(2026, 3, 1, 18, 0, 0, 0, time.UTC)
	periods := []ledger.Period{
		{Start: at, Mode: "compact", Sums: ledger.Sums{Calls: 1, Native: 100}},
		{Start: at.Add(15 * time.Minute), Mode: "mesh", Sums: ledger.Sums{Calls: 2, Native: 10, Surface: 15}},
	}
	got := Sum(periods, nepal)
	var days []string
	for _, d := range got.Days {
		days = append(days, fmt.Sprintf("%s %d %d %d%%", d.Day, d.Calls, d.Saved, d.Percent))
	}
	if diff := cmp.Diff([]string{"2026-03-01 1 100 100%", "2026-03-02 2 -5 -50%"}, days); diff != "" {
		t.Errorf("days (-want +got):\n%s", diff)
	}
	if one := Sum(periods, time.UTC); len(one.Days) != 1 || one.Days[0].Calls != 3 || one.Modes[0].Mode != "mesh" {
		t.Errorf("in UTC: %+v", one)
	}
}

func TestPercent(t *testing.T) {
	for _, c := range []struct {
		part, whole int64
		want        int
	}{{0, 0, 0}, {1, 0, 0}, {1, 3, 33}, {2, 3, 67}, {-1, 3, -33}, {-2, 3, -67}, {-5, 10, -50}, {3, 3, 100}} {
		if got := Percent(c.part, c.whole); got != c.want {
			t.Errorf("Percent(%d, %d) = %d, want %d", c.part, c.whole, got, c.want)
		}
	}
}
