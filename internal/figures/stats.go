package figures

import (
	"cmp"
	"context"
	"slices"
	"time"

	"heddle"
	"heddle/internal/ledger"
)

// Stats is what was saved.
type Stats struct {
	// Since is from when on is reported; nil is ever.
	Since *time.Time `json:"since"`
	Count
	Tokens
	Days  []Day  `json:"days"`
	Modes []Mode `json:"modes"`
	// Dropped is how many rows the heddles that run could not write.
	Dropped uint64 `json:"dropped_rows"`
}

// Count is how much was done. Failed calls were refused by heddle or failed; of
// the others, ToolErrors say themselves that they failed.
type Count struct {
	Sessions   int64 `json:"sessions"`
	Calls      int64 `json:"calls"`
	Failed     int64 `json:"failed"`
	ToolErrors int64 `json:"tool_errors"`
}

func countOf(s ledger.Sums) Count {
	return Count{Sessions: s.Sessions, Calls: s.Calls, Failed: s.Failed, ToolErrors: s.ToolErrors}
}

// Empty reports that nothing was recorded.
func (c Count) Empty() bool { return c.Sessions == 0 && c.Calls == 0 }

// Day is a day of the zone that was asked for.
type Day struct {
	Day string `json:"day"` // 2026-01-31
	Count
	Saved   int64 `json:"saved_tokens"`
	Percent int   `json:"saved_percent"`
}

// Mode is what hosts saw; "cli" are calls from the command line.
type Mode struct {
	Mode string `json:"mode"`
	Count
	Saved   int64 `json:"saved_tokens"`
	Percent int   `json:"saved_percent"`
}

// Sum sums up the ledger's periods: the days of the zone in order, and the modes
// with most calls first.
func Sum(periods []ledger.Period, zone *time.Location) Stats {
	var all ledger.Sums
	days, modes := map[string]*ledger.Sums{}, map[string]*ledger.Sums{}
	add := func(to map[string]*ledger.Sums, key string, s ledger.Sums) {
		if to[key] == nil {
			to[key] = &ledger.Sums{}
		}
		to[key].Add(s)
	}
	for _, p := range periods {
		all.Add(p.Sums)
		add(days, p.Start.In(zone).Format(time.DateOnly), p.Sums)
		add(modes, p.Mode, p.Sums)
	}
	out := Stats{Count: countOf(all), Tokens: tokensOf(all), Days: []Day{}, Modes: []Mode{}}
	for day, s := range days {
		out.Days = append(out.Days, Day{day, countOf(*s), s.Saved(), Percent(s.Saved(), s.Without())})
	}
	for mode, s := range modes {
		out.Modes = append(out.Modes, Mode{mode, countOf(*s), s.Saved(), Percent(s.Saved(), s.Without())})
	}
	slices.SortFunc(out.Days, func(a, b Day) int { return cmp.Compare(a.Day, b.Day) })
	slices.SortFunc(out.Modes, func(a, b Mode) int {
		if a.Calls != b.Calls {
			return cmp.Compare(b.Calls, a.Calls)
		}
		return cmp.Compare(a.Mode, b.Mode)
	})
	return out
}

// Database is what the ledger holds.
type Database struct {
	Stats
	// Searches is how many calls showed definitions, CacheHits how many of those
	// took them from the cache.
	Searches  int64  `json:"searches"`
	CacheHits int64  `json:"cache_hits"`
	Kinds     []Kind `json:"kinds"`
	Tools     []Tool `json:"tools"`
}

// Kind is how many calls were refused or failed for one reason.
type Kind struct {
	Kind  heddle.Kind `json:"kind"`
	Calls int64       `json:"calls"`
}

// Tool is what the calls of a tool come to. Times are in milliseconds, of the
// calls that were not refused; the server "heddle" has heddle's own tools, and an
// empty name stands for all names without a tool.
type Tool struct {
	Server     string  `json:"server"`
	Name       string  `json:"tool"`
	Calls      int64   `json:"calls"`
	Failed     int64   `json:"failed"`
	ToolErrors int64   `json:"tool_errors"`
	Timed      int64   `json:"timed"`
	P50        float64 `json:"p50_ms"`
	P95        float64 `json:"p95_ms"`
	P99        float64 `json:"p99_ms"`
	Max        float64 `json:"max_ms"`
	Upstream   int64   `json:"upstream_tokens"`
	Delivered  int64   `json:"delivered_tokens"`
	// Saved is what hosts did not get of the results; heddle's own tools cost.
	Saved int64 `json:"saved_tokens"`
}

// Savings reports what was saved since then, by days of the zone.
func Savings(ctx context.Context, r *ledger.Reader, since time.Time, zone *time.Location) (Stats, error) {
	periods, err := r.Periods(ctx, ledger.Filter{Since: since})
	return Sum(periods, zone), err
}

// Read reports on all that a ledger holds since then.
func Read(ctx context.Context, r *ledger.Reader, since time.Time, zone *time.Location) (*Database, error) {
	f := ledger.Filter{Since: since}
	periods, err := r.Periods(ctx, f)
	if err != nil {
		return nil, err
	}
	d := &Database{Stats: Sum(periods, zone)}
	for _, p := range periods {
		d.Searches, d.CacheHits = d.Searches+p.Searches, d.CacheHits+p.CacheHits
	}
	if d.Kinds, err = kinds(ctx, r, f); err != nil {
		return nil, err
	}
	d.Tools, err = tools(ctx, r, f)
	return d, err
}

func kinds(ctx context.Context, r *ledger.Reader, f ledger.Filter) ([]Kind, error) {
	list, err := r.Kinds(ctx, f)
	out := make([]Kind, len(list))
	for i, k := range list {
		out[i] = Kind(k)
	}
	return out, err
}

func tools(ctx context.Context, r *ledger.Reader, f ledger.Filter) ([]Tool, error) {
	list, err := r.Tools(ctx, f)
	out := make([]Tool, len(list))
	for i, t := range list {
		out[i] = Tool{
			Server: t.Server, Name: t.Name, Calls: t.Calls, Failed: t.Failed, ToolErrors: t.ToolErrors, Timed: t.Timed,
			P50: Milliseconds(t.P50), P95: Milliseconds(t.P95), P99: Milliseconds(t.P99), Max: Milliseconds(t.Max),
			Upstream: t.Upstream, Delivered: t.Delivered, Saved: t.Upstream - t.Delivered,
		}
	}
	return out, err
}

// Milliseconds returns d in milliseconds, exact to the microsecond.
func Milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
