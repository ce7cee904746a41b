package ssrf

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// slow is a resolver that counts, and takes its time.
type slow struct {
	takes time.Duration
	deaf  bool // to its context
	err   error
	asked atomic.Int32
}

func (s *slow) LookupNetIP(ctx context.Context, _, _ string) ([]netip.Addr, error) {
	s.asked.Add(1)
	if s.deaf {
		time.Sleep(s.takes)
		ctx = context.Background()
	}
	select {
	case <-time.After(s.takes):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if s.err != nil {
		return nil, s.err
	}
	return []netip.Addr{netip.MustParseAddr("8.8.8.8")}, nil
}

func TestCacheKeeps(t *testing.T) {
	for _, want := range []error{nil, errors.New("no such host")} {
		synctest.Test(t, func(t *testing.T) {
			s := &slow{takes: time.Millisecond, err: want}
			c := Cached(s, 200*time.Millisecond)
			lookup := func(asked int32) {
				t.Helper()
				if addrs, err := c.LookupNetIP(t.Context(), "ip", "x.example"); !errors.Is(err, want) || want == nil && len(addrs) != 1 {
					t.Errorf("got %v, %v, want %v", addrs, err, want)
				}
				if got := s.asked.Load(); got != asked {
					t.Errorf("asked %d times, want %d", got, asked)
				}
			}
			keep := keepAnswers
			if want != nil {
				keep = keepFailures
			}
			lookup(1)
			time.Sleep(keep - time.Millisecond)
			lookup(1)
			time.Sleep(time.Millisecond)
			lookup(2)
		})
	}
}

func TestCacheSingleFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slow{takes: 100 * time.Millisecond}
		c := Cached(s, 200*time.Millisecond)
		first, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := c.LookupNetIP(first, "ip", "x.example"); !errors.Is(err, context.Canceled) {
				t.Errorf("the one who left got %v", err)
			}
		})
		synctest.Wait()
		for range 10 {
			wg.Go(func() {
				if _, err := c.LookupNetIP(t.Context(), "ip", "x.example"); err != nil {
					t.Error(err)
				}
			})
		}
		cancel()
		wg.Wait()
		if got := s.asked.Load(); got != 1 {
			t.Errorf("asked %d times", got)
		}
	})
}

func TestCacheTimesOut(t *testing.T) {
	for _, deaf := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := &slow{takes: 20 * time.Second, deaf: deaf}
			start := time.Now()
			g, err := New(Config{BlockPrivateIPs: true, Resolver: Cached(s, 200*time.Millisecond)})
			if err != nil {
				t.Fatal(err)
			}
			if f := g.CheckURL(t.Context(), "https://slow.example/", nil); f == nil || f.Rule != "name does not resolve" {
				t.Errorf("got %+v", f)
			}
			if took := time.Since(start); took > 250*time.Millisecond {
				t.Errorf("took %v", took)
			}
			time.Sleep(time.Minute) // a deaf one ends too
		})
	}
}

func TestCacheBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slow{}
		c := Cached(s, time.Second).(*cache)
		for i := range 3 * maxCached {
			if _, err := c.LookupNetIP(t.Context(), "ip", fmt.Sprint(i)); err != nil {
				t.Fatal(err)
			}
		}
		if got := len(c.entries); got > maxCached {
			t.Errorf("%d entries", got)
		}
	})
}
