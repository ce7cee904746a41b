package limit

import (
	"fmt"
	"path"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"heddle"
)

// clock is a time that tests move.
type clock struct{ now time.Time }

func newClock() *clock                { return &clock{time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)} }
func (c *clock) Now() time.Time       { return c.now }
func (c *clock) Pass(d time.Duration) { c.now = c.now.Add(d) }

func rateOf(t testing.TB, v any) Rate {
	t.Helper()
	r, _, err := Parse(v)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// per makes a rule whose pattern is for "<server>_<tool>".
func per(t testing.TB, pattern string, v any) ToolRate {
	t.Helper()
	return ToolRate{pattern, func(ref heddle.ToolRef) bool {
		ok, err := path.Match(pattern, ref.Server+"_"+ref.Name)
		return ok && err == nil
	}, rateOf(t, v)}
}

var search = heddle.ToolRef{Server: "github", Name: "search"}

// passes counts how many of n calls pass.
func passes(l *Limiter, p heddle.Principal, ref heddle.ToolRef, n int) (passed int) {
	for range n {
		if ok, _, _ := l.Allow(p, ref); ok {
			passed++
		}
	}
	return passed
}

func TestWhoseBucket(t *testing.T) {
	c := newClock()
	l := New(Config{Default: rateOf(t, "5/min"), Now: c.Now})
	if n := passes(l, "a", search, 6); n != 5 {
		t.Errorf("of six calls %d pass, want 5", n)
	}
	for _, other := range []struct {
		p   heddle.Principal
		ref heddle.ToolRef
	}{
		{"b", search},
		{"a", heddle.ToolRef{Server: "github", Name: "create"}},
		{"a", heddle.ToolRef{Server: "gitlab", Name: "search"}},
		{"a", heddle.ToolRef{Server: "github_", Name: "search"}},
	} {
		if n := passes(l, other.p, other.ref, 6); n != 5 {
			t.Errorf("%s, %s: of six calls %d pass, want 5, whatever a has used up", other.p, other.ref, n)
		}
	}
}

// TestLoop is a model that calls again and again: what is refused uses nothing up, so
// it passes at the very time that it was told.
func TestLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(Config{Default: rateOf(t, "5/min")})
		if n := passes(l, "a", search, 100); n != 5 {
			t.Fatalf("%d pass at once, want 5", n)
		}
		began := time.Now()
		for range 11 { // within the same second and later
			ok, after, rule := l.Allow("a", search)
			if want := 12*time.Second - time.Since(began); ok || after != want {
				t.Fatalf("after %s: %v, again after %s; want a refusal and %s", time.Since(began), ok, after, want)
			}
			if rule != "rate_limit.default 5/min" {
				t.Errorf("rule is %q", rule)
			}
			time.Sleep(time.Second)
		}
		time.Sleep(time.Second)
		if ok, _, _ := l.Allow("a", search); !ok {
			t.Errorf("the call is refused at the time that was said")
		}
	})
}

func TestRetryAfterIsExact(t *testing.T) {
	for _, text := range []string{"1/day", "3/day", "7/hour", "60/min", "61/min", "7/s", "999/s", "1000000/day", "1000000/min"} {
		c := newClock()
		l := New(Config{Default: rateOf(t, text), Now: c.Now})
		for range l.rules[0].rate.N {
			l.Allow("a", search)
		}
		for i := range 100 {
			ok, after, _ := l.Allow("a", search)
			if ok || after <= 0 {
				t.Fatalf("%s, round %d: %v, %s; want a refusal", text, i, ok, after)
			}
			early := min(after, 2+after/1e9) // what a float64 can tell apart
			c.Pass(after - early)
			if ok, _, _ := l.Allow("a", search); ok {
				t.Fatalf("%s, round %d: passes %s before the %s that were said", text, i, early, after)
			}
			c.Pass(early)
			if ok, again, _ := l.Allow("a", search); !ok {
				t.Fatalf("%s, round %d: refused after the %s that were said, %s more", text, i, after, again)
			}
		}
	}
}

func TestBurst(t *testing.T) {
	c := newClock()
	l := New(Config{Default: rateOf(t, map[string]any{"requests": 60, "per": "1m", "burst": 3}), Now: c.Now})
	if n := passes(l, "a", search, 10); n != 3 {
		t.Errorf("%d pass at once, want the burst of 3", n)
	}
	c.Pass(2 * time.Second)
	if n := passes(l, "a", search, 10); n != 2 {
		t.Errorf("%d pass after two seconds, want 2", n)
	}
	c.Pass(time.Hour)
	if n := passes(l, "a", search, 10); n != 3 {
		t.Errorf("%d pass after an hour, want 3", n)
	}
}

func TestMostSpecificRule(t *testing.T) {
	l := New(Config{
		Default: rateOf(t, "60/min"),
		PerTool: []ToolRate{
			per(t, "*", "50/min"),
			per(t, "git*", "40/min"),
			per(t, "github_*", "30/min"),
			per(t, "github_*_issue", "20/min"),
			per(t, "github_?et_issue", "15/min"),
			per(t, "github_get_issue", "none"),
			per(t, "github_[abc]*", "10/min"),
			per(t, "github_[abd]*", "9/min"),
		},
	})
	for name, want := range map[string]string{
		"set_issue":    `rate_limit.per_tool "github_?et_issue" 15/min`,
		"get_issue":    `rate_limit.per_tool "github_get_issue" none`,
		"close_issue":  `rate_limit.per_tool "github_*_issue" 20/min`,
		"add_label":    `rate_limit.per_tool "github_*" 30/min`, // one wildcard less than github_[abc]*
		"search_users": `rate_limit.per_tool "github_*" 30/min`,
	} {
		ref := heddle.ToolRef{Server: "github", Name: name}
		if _, rule := l.Rule(ref); rule != want {
			t.Errorf("%s: %s, want %s", name, rule, want)
		}
		if _, _, rule := l.Allow("a", ref); rule != want {
			t.Errorf("Allow of %s: %s, want %s", name, rule, want)
		}
	}
	if n := passes(l, "a", heddle.ToolRef{Server: "github", Name: "get_issue"}, 1000); n != 1000 {
		t.Errorf("%d of 1000 calls pass where the default is lifted", n)
	}
	// A pattern is a bucket for each tool.
	for _, name := range []string{"close_issue", "reopen_issue"} {
		ref := heddle.ToolRef{Server: "github", Name: name}
		left := 20
		if name == "close_issue" {
			left-- // above
		}
		if n := passes(l, "a", ref, 50); n != left {
			t.Errorf("%s: %d pass, want %d", name, n, left)
		}
	}
	if r, rule := l.Rule(heddle.ToolRef{Server: "x", Name: "y"}); r.N != 50 || !strings.Contains(rule, `"*"`) {
		t.Errorf("x_y: %s, %s", r, rule)
	}
}

func TestEqualPatternsInOrder(t *testing.T) {
	l := New(Config{PerTool: []ToolRate{per(t, "*_search", "1/min"), per(t, "gith*ch", "2/min"), per(t, "github*", "3/min")}})
	if r, rule := l.Rule(search); r.N != 1 {
		t.Errorf("%s decides, want the first of those with seven letters", rule)
	}
	if r, rule := l.Rule(heddle.ToolRef{Server: "gitlab", Name: "create"}); rule != "" || r.Limited() {
		t.Errorf("%s, %s for a tool without a rule", r, rule)
	}
	if ok, _, rule := l.Allow("a", heddle.ToolRef{Server: "gitlab", Name: "create"}); !ok || rule != "" {
		t.Errorf("%v, %s for a tool without a rule", ok, rule)
	}
}

func TestWeigh(t *testing.T) {
	for pattern, want := range map[string][2]int{
		"github_search":           {13, 0},
		"github_*":                {7, 2},
		"**":                      {0, 4},
		"g?t":                     {2, 1},
		"git[a-z]ub":              {5, 1},
		"{create,delete}_issue":   {6, 1},
		`a\*b`:                    {3, 0},
		`[\]]x`:                   {1, 1},
		`\`:                       {1, 0}, // no pattern; policy refuses it
		"":                        {0, 0},
		"[":                       {0, 1},
		"größe/*":                 {6, 2},
		"{a,b}{c,d}":              {0, 2},
		"github/{get,list}_issue": {13, 1},
	} {
		if l, w := weigh(pattern); l != want[0] || w != want[1] {
			t.Errorf("weigh(%q) = %d, %d, want %v", pattern, l, w, want)
		}
	}
}

func TestNoLimits(t *testing.T) {
	for _, c := range []Config{{}, {PerTool: []ToolRate{per(t, "*", "none")}}} {
		l := New(c)
		if n := passes(l, "a", search, 100); n != 100 || l.shards != nil {
			t.Errorf("%+v: %d of 100 pass, %d shards are made", c, n, len(l.shards))
		}
	}
}

// TestClock: the default clock has a monotonic reading, and one that jumps back
// neither gives calls away nor refuses for longer than it is behind.
func TestClock(t *testing.T) {
	if now := New(Config{}).now(); !strings.Contains(now.String(), " m=") {
		t.Errorf("the default clock says %s, which setting the clock would change", now)
	}
	c := newClock()
	l := New(Config{Default: rateOf(t, "5/min"), Now: c.Now})
	passes(l, "a", search, 5)
	c.Pass(-time.Hour)
	if n := passes(l, "a", search, 5); n != 0 {
		t.Errorf("%d calls pass because the clock went back", n)
	}
	c.Pass(time.Hour + time.Minute)
	if n := passes(l, "a", search, 6); n != 5 {
		t.Errorf("%d calls pass a minute later, want 5", n)
	}
}

// kept counts the buckets.
func (l *Limiter) kept() (own, shared int) {
	for i := range l.shards {
		s := &l.shards[i]
		s.mu.Lock()
		if len(s.ring) != len(s.buckets) {
			panic("ring and buckets differ")
		}
		own += len(s.ring)
		shared += len(s.shared)
		s.mu.Unlock()
	}
	return own, shared
}

// TestDebtsAreKept has an attacker use up a bucket and then invent principals and
// tools until nothing else has room.
func TestDebtsAreKept(t *testing.T) {
	c := newClock()
	l := New(Config{Default: rateOf(t, "5/hour"), Most: 1000, Now: c.Now})
	if n := passes(l, "attacker", search, 6); n != 5 {
		t.Fatalf("%d pass, want 5", n)
	}
	passed := 0
	for i := range 20_000 {
		p := heddle.Principal(fmt.Sprint("p", i%7))
		passed += passes(l, p, heddle.ToolRef{Server: "s", Name: fmt.Sprint(i)}, 1)
	}
	if n := passes(l, "attacker", search, 5); n != 0 {
		t.Errorf("%d calls pass: the debt was forgotten", n)
	}
	own, shared := l.kept()
	if own > 1000 || shared > shardsMost*slots {
		t.Errorf("%d buckets and %d shared ones are kept", own, shared)
	}
	if most := 1000 + shared*5; passed > most {
		t.Errorf("%d calls pass, want at most one each of 1000 and five of %d shared", passed, shared)
	}
	// Others are not refused for it, but for the few who share an attacker's buckets.
	served := 0
	for i := range 100 {
		served += passes(l, heddle.Principal(fmt.Sprint("newcomer", i)), search, 1)
	}
	if served < 60 {
		t.Errorf("the first calls of %d of 100 newcomers pass", served)
	}
	_, shared = l.kept()
	// Once all have rested, everything is as new, and the place is given to others.
	c.Pass(2 * time.Hour)
	if n := passes(l, "attacker", search, 6); n != 5 {
		t.Errorf("%d pass after a rest, want 5", n)
	}
	for i := range 500 {
		passes(l, "late", heddle.ToolRef{Server: "late", Name: fmt.Sprint(i)}, 1)
	}
	if _, now := l.kept(); now > shared {
		t.Errorf("%d shared buckets, before %d, although all others may go", now, shared)
	}
}

// TestNothingIsForgivenForRoom: what a newcomer used up of a shared bucket still
// counts when there is room for one of its own.
func TestNothingIsForgivenForRoom(t *testing.T) {
	c := newClock()
	l := New(Config{
		Default: rateOf(t, "5/hour"), Most: 1, Now: c.Now,
		PerTool: []ToolRate{per(t, "quick_*", "1/s")},
	})
	passes(l, "a", heddle.ToolRef{Server: "quick", Name: "x"}, 1) // takes the only place
	if n := passes(l, "a", search, 9); n != 5 {
		t.Fatalf("%d pass, want 5", n)
	}
	if own, shared := l.kept(); own != 1 || shared != 1 {
		t.Fatalf("%d own and %d shared buckets, want one of each", own, shared)
	}
	c.Pass(time.Minute) // the quick one may go now
	if n := passes(l, "a", search, 9); n != 0 {
		t.Errorf("%d pass for there is room", n)
	}
	c.Pass(time.Hour)
	if n := passes(l, "a", search, 9); n != 5 {
		t.Errorf("%d pass an hour later, want 5", n)
	}
	if own, shared := l.kept(); own != 1 || shared != 0 {
		t.Errorf("%d own and %d shared buckets, want one own", own, shared)
	}
}

// TestIdleBucketsGo: of many that came once, few are left when others come.
func TestIdleBucketsGo(t *testing.T) {
	c := newClock()
	l := New(Config{Default: rateOf(t, "60/min"), Now: c.Now})
	for i := range 100_000 {
		c.Pass(10 * time.Millisecond)
		if n := passes(l, "a", heddle.ToolRef{Server: "s", Name: fmt.Sprint(i)}, 1); n != 1 {
			t.Fatalf("call %d is refused", i)
		}
	}
	if own, shared := l.kept(); own > 1000 || shared != 0 {
		t.Errorf("%d buckets and %d shared ones are kept of tools that came once in 1000 s; those of one second were 100", own, shared)
	}
}

func TestLongNamesAreNotKept(t *testing.T) {
	l := New(Config{Default: rateOf(t, "5/hour")})
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range 200 {
		l.Allow("a", heddle.ToolRef{Server: "s", Name: strings.Repeat("x", 1<<20) + fmt.Sprint(i)})
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 4<<20 {
		t.Errorf("200 names of a megabyte hold %d bytes", grown)
	}
	runtime.KeepAlive(l)
	if n := passes(l, "b", heddle.ToolRef{Server: "s", Name: strings.Repeat("x", 1<<20)}, 9); n != 5 {
		t.Errorf("%d calls of a long name pass, want 5", n)
	}
}

// TestMany counts calls at the same time: not one too many, not one too few.
func TestMany(t *testing.T) {
	c := newClock() // it stands still
	l := New(Config{Default: rateOf(t, "500/min"), Now: c.Now})
	var passed [4]atomic.Int64
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for i := range 2000 {
				ref := heddle.ToolRef{Server: "s", Name: fmt.Sprint(i % len(passed))}
				if ok, _, _ := l.Allow("a", ref); ok {
					passed[i%len(passed)].Add(1)
				}
			}
		})
	}
	wg.Wait()
	for i := range passed {
		if n := passed[i].Load(); n != 500 {
			t.Errorf("tool %d: %d pass, want 500", i, n)
		}
	}
}

func benchRefs() []heddle.ToolRef {
	refs := make([]heddle.ToolRef, 256)
	for i := range refs {
		refs[i] = heddle.ToolRef{Server: "github", Name: fmt.Sprint("some_tool_", i)}
	}
	return refs
}

func BenchmarkAllow(b *testing.B) {
	l := New(Config{Default: rateOf(b, "1000000/min")})
	refs := benchRefs()
	i := 0
	b.ReportAllocs()
	for b.Loop() {
		l.Allow(heddle.Local, refs[i%len(refs)])
		i++
	}
}

func BenchmarkRefuse(b *testing.B) {
	l := New(Config{Default: rateOf(b, "1/day")})
	b.ReportAllocs()
	for b.Loop() {
		l.Allow(heddle.Local, search)
	}
}

func BenchmarkNewcomer(b *testing.B) {
	l := New(Config{Default: rateOf(b, "5/hour")})
	names := make([]heddle.ToolRef, 1<<16)
	for i := range names {
		names[i] = heddle.ToolRef{Server: "s", Name: fmt.Sprint(i)}
	}
	i := 0
	b.ReportAllocs()
	for b.Loop() {
		l.Allow(heddle.Local, names[i%len(names)])
		i++
	}
}

// BenchmarkAllow16 is the same with 16 goroutines.
func BenchmarkAllow16(b *testing.B) {
	l := New(Config{Default: rateOf(b, "1000000/min")})
	refs := benchRefs()
	var next atomic.Int64
	b.SetParallelism(max(1, 16/runtime.GOMAXPROCS(0)))
	b.RunParallel(func(pb *testing.PB) {
		i := int(next.Add(37))
		for pb.Next() {
			l.Allow(heddle.Local, refs[i%len(refs)])
			i++
		}
	})
}
