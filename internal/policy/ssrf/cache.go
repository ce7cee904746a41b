package ssrf

import (
	"context"
	"errors"
	"net/netip"
	"sync"
	"time"
)

const (
	// keepAnswers and keepFailures are how long the cache knows: short, since names move,
	// and a name that failed may be there in a moment.
	keepAnswers  = 30 * time.Second
	keepFailures = 5 * time.Second
	// maxCached bounds the cache, in names.
	maxCached = 1024
	// maxAddrs bounds what one name may answer.
	maxAddrs = 64
)

var (
	errSlow = errors.New("ssrf: the name was not resolved in time")
	errMany = errors.New("ssrf: the name has too many addresses")
)

// Cached returns a resolver that asks r once for a name that several want, waits no
// longer than timeout, and remembers answers for 30 seconds and failures for 5. It is
// safe for concurrent use.
func Cached(r Resolver, timeout time.Duration) Resolver {
	return &cache{r: r, timeout: timeout, entries: map[string]*entry{}}
}

type cache struct {
	r       Resolver
	timeout time.Duration
	mu      sync.Mutex
	entries map[string]*entry
}

// entry is an answer, or a question under way until done is closed.
type entry struct {
	done  chan struct{}
	until time.Time // written before done is closed
	addrs []netip.Addr
	err   error
}

func (e *entry) stale(now time.Time) bool {
	select {
	case <-e.done:
		return !now.Before(e.until)
	default:
		return false
	}
}

// LookupNetIP implements [Resolver].
func (c *cache) LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error) {
	e := c.entry(ctx, network, host)
	timer := time.NewTimer(c.timeout)
	defer timer.Stop()
	select {
	case <-e.done:
		return e.addrs, e.err
	case <-timer.C:
		return nil, errSlow
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// entry returns what is known of a name, or asks for it.
func (c *cache) entry(ctx context.Context, network, host string) *entry {
	key := network + " " + host
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if e := c.entries[key]; e != nil && !e.stale(now) {
		return e
	}
	c.makeRoom(now)
	e := &entry{done: make(chan struct{})}
	c.entries[key] = e
	// Others may wait for the same answer, so that it does not end with the call that
	// asked first.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.timeout)
	go func() {
		defer cancel()
		c.ask(ctx, e, network, host)
	}()
	return e
}

func (c *cache) ask(ctx context.Context, e *entry, network, host string) {
	addrs, err := c.r.LookupNetIP(ctx, network, host)
	if err == nil && len(addrs) > maxAddrs {
		addrs, err = nil, errMany
	}
	keep := keepAnswers
	if err != nil || len(addrs) == 0 {
		keep = keepFailures
	}
	e.addrs, e.err, e.until = addrs, err, time.Now().Add(keep)
	close(e.done)
}

// makeRoom forgets what is stale when the cache is full, and else anything: an answer
// that is asked for again costs a lookup.
func (c *cache) makeRoom(now time.Time) {
	if len(c.entries) < maxCached {
		return
	}
	for key, e := range c.entries {
		if e.stale(now) {
			delete(c.entries, key)
		}
	}
	for key := range c.entries {
		if len(c.entries) < maxCached {
			return
		}
		delete(c.entries, key)
	}
}
