package limit

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"heddle"
)

// refused returns when the next call would pass; it must be refused now.
func refused(t *testing.T, l *Limiter, p heddle.Principal, ref heddle.ToolRef) time.Duration {
	t.Helper()
	ok, after, _ := l.Allow(p, ref)
	if ok || after <= 0 {
		t.Fatalf("%s, %s: %v, %s; want a refusal", p, ref, ok, after)
	}
	return after
}

func inherit(old *Limiter, c Config) *Limiter {
	l := New(c)
	l.Inherit(old)
	return l
}

func TestInheritUnchanged(t *testing.T) {
	for _, text := range []string{"1/day", "3/day", "7/hour", "60/min", "61/min", "999/s", "1000000/day"} {
		c := newClock()
		config := Config{Default: rateOf(t, text), Now: c.Now}
		old := New(config)
		passes(old, "a", search, old.rules[0].rate.N)
		for i := range 50 {
			after := refused(t, old, "a", search)
			l := inherit(old, config)
			if got := refused(t, l, "a", search); got != after {
				t.Fatalf("%s, round %d: again after %s, before %s", text, i, got, after)
			}
			// At the very time that old had said; what is left then is a little less
			// than nothing at times.
			c.Pass(after)
			if n := passes(l, "a", search, 2); n != 1 {
				t.Fatalf("%s, round %d: of two calls %d pass after %s, want one", text, i, n, after)
			}
			old = inherit(l, config)
			if got, want := refused(t, old, "a", search), refused(t, l, "a", search); got != want {
				t.Fatalf("%s, round %d: again after %s, before %s", text, i, got, want)
			}
			c.Pass(after / 3)
		}
		if n := passes(inherit(old, config), "b", search, 1); n != 1 {
			t.Errorf("%s: b is refused for what a used up", text)
		}
	}
}

func TestInheritTokens(t *testing.T) {
	c := newClock()
	r := &newRules(Config{Default: rateOf(t, "60/min")})[0]
	for _, want := range []float64{-1e-9, -1e-12, 0, 1e-9, 1. / 3, 1, 17.123456789, 59.999999, 60} {
		got := newBucketWith(key{}, *r, want, c.now).TokensAt(c.now)
		if got != want && (want >= 0 || got-want > 1e-15 || want-got > 1e-15) {
			t.Errorf("a bucket with %g tokens has %g", want, got)
		}
	}
}

func TestInheritOtherRate(t *testing.T) {
	for _, test := range []struct {
		used   int
		config any
		want   int
		after  time.Duration // of the call that is refused then
	}{
		{60, "10/min", 0, 6 * time.Second},
		{60, "600/min", 0, 100 * time.Millisecond},
		{60, "60/hour", 0, time.Minute}, // same size, slower
		{30, "10/min", 5, 6 * time.Second},
		{30, "600/min", 300, 100 * time.Millisecond},
		{30, "60/hour", 30, time.Minute},
		{30, "1/min", 0, 30 * time.Second},
		{15, map[string]any{"rate": "60/min", "burst": 20}, 15, time.Second},
	} {
		c := newClock()
		old := New(Config{Default: rateOf(t, "60/min"), Now: c.Now})
		passes(old, "a", search, test.used)
		l := inherit(old, Config{Default: rateOf(t, test.config), Now: c.Now})
		if n := passes(l, "a", search, test.want+10); n != test.want {
			t.Errorf("%d of 60 used, then %v: %d pass, want %d", test.used, test.config, n, test.want)
			continue
		}
		if after := refused(t, l, "a", search); after != test.after {
			t.Errorf("%d of 60 used, then %v: again after %s, want %s", test.used, test.config, after, test.after)
		}
	}
}

func TestInheritOwnRule(t *testing.T) {
	c := newClock()
	own := []ToolRate{per(t, "github_search", "3/hour")}
	old := New(Config{Default: rateOf(t, "60/min"), PerTool: own, Now: c.Now})
	passes(old, "a", search, 3)
	c.Pass(7 * time.Minute)
	want := refused(t, old, "a", search)
	for _, text := range []string{"600/min", "1/day", "none"} {
		l := inherit(old, Config{Default: rateOf(t, text), PerTool: own, Now: c.Now})
		if after := refused(t, l, "a", search); after != want {
			t.Errorf("the default is %s now: again after %s, before %s", text, after, want)
		}
	}
}

func TestInheritNoLimit(t *testing.T) {
	c := newClock()
	old := New(Config{Default: rateOf(t, "5/min"), Now: c.Now})
	passes(old, "a", search, 5)
	for name, config := range map[string]Config{
		"no rules":     {},
		"another tool": {PerTool: []ToolRate{per(t, "gitlab_*", "1/day")}},
		"lifted":       {Default: rateOf(t, "5/min"), PerTool: []ToolRate{per(t, "github_*", "none")}},
	} {
		config.Now = c.Now
		l := inherit(old, config)
		if n := passes(l, "a", search, 100); n != 100 {
			t.Errorf("%s: of 100 calls %d pass", name, n)
		}
		if own, shared := l.kept(); own+shared != 0 {
			t.Errorf("%s: %d buckets are kept", name, own+shared)
		}
	}
	// And from a limiter that had none.
	l := inherit(New(Config{Now: c.Now}), Config{Default: rateOf(t, "5/min"), Now: c.Now})
	l.Inherit(nil)
	if n := passes(l, "a", search, 6); n != 5 {
		t.Errorf("of six calls %d pass, want 5", n)
	}
}

func TestInheritFullOnesGo(t *testing.T) {
	c := newClock()
	config := Config{Default: rateOf(t, "5/min"), Now: c.Now}
	old := New(config)
	passes(old, "a", search, 5)
	c.Pass(time.Minute)
	passes(old, "b", search, 5)
	if own, _ := inherit(old, config).kept(); own != 1 {
		t.Errorf("%d buckets are kept, want that of b", own)
	}
}

// TestInheritRoom is that nobody is forgiven if there is as much room as before or
// less, and that memory stays bounded.
func TestInheritRoom(t *testing.T) {
	c := newClock()
	config := Config{Default: rateOf(t, "1/day"), Most: 1600, Now: c.Now}
	old := New(config)
	name := func(i int) heddle.Principal { return heddle.Principal(fmt.Sprint(i)) }
	for i := range 3000 {
		old.Allow(name(i), search)
	}
	before, _ := old.kept()
	for _, most := range []int{1600, 160, 3} {
		config.Most = most
		l := inherit(old, config)
		own, shared := l.kept()
		if own > most || shared > shardsMost*slots {
			t.Errorf("of %d: %d buckets and %d shared ones are kept", most, own, shared)
		}
		if most == 1600 && (own != before || shared != 0) {
			t.Errorf("%d buckets and %d shared ones are kept, before %d", own, shared, before)
		}
		for i := range old.shards {
			for k := range old.shards[i].buckets {
				if ok, _, _ := l.Allow(k.principal, k.tool); ok {
					t.Fatalf("of %d: %s is forgiven", most, k.principal)
				}
			}
		}
	}
}

func TestInheritWhileInUse(t *testing.T) {
	config := Config{Default: rateOf(t, "5/day"), PerTool: []ToolRate{per(t, "gitlab_*", "3/day")}}
	old := New(config)
	passes(old, "a", search, 5)
	stop := make(chan struct{})
	var calls, begun sync.WaitGroup
	begun.Add(4)
	for i := range 4 {
		calls.Go(func() {
			begun.Done()
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
					old.Allow(heddle.Principal(fmt.Sprint(i, n%50)), search)
				}
			}
		})
	}
	begun.Wait()
	for range 100 {
		if n := passes(inherit(old, config), "a", search, 5); n != 0 {
			t.Errorf("%d calls of a pass, want none", n)
		}
	}
	close(stop)
	calls.Wait()
}
