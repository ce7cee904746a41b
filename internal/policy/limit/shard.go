package limit

import (
	"hash/maphash"
	"math"
	"sync"
	"time"

	"heddle"

	"golang.org/x/time/rate"
)

const (
	// sweepStep is how many buckets a new one looks at to find some that are full and
	// may go. More than one, so that full ones go faster than new ones come.
	sweepStep = 8
	// sweepFrom is how many are kept without looking: to make the bucket of a tool that
	// is called now and then anew each time costs more than to keep it.
	sweepFrom = 32
	// slots is how many buckets a rule has for those that found no room.
	slots = 64
	// knownMost is how many tools a shard knows the rule of.
	knownMost = 1024
	// maxKey is the length of names, all together, from which on they are not kept.
	maxKey = 2048
)

// key is whose bucket it is.
type key struct {
	principal heddle.Principal
	tool      heddle.ToolRef
}

func (k key) long() bool { return len(k.principal)+len(k.tool.Server)+len(k.tool.Name) > maxKey }

// bucket is what a principal has left of a tool.
type bucket struct {
	key  key
	rule *rule
	rate.Limiter
}

// full says that the bucket is as good as a new one, so nothing is lost with it.
func (b *bucket) full(now time.Time) bool { return b.TokensAt(now) >= float64(b.Burst()) }

// shard is the part of the buckets that one lock guards.
//
// Memory is bounded, and a bucket that is in debt is never given up for another:
// whoever can think of names could be rid of his debts otherwise. Only full ones go. If
// there are none, newcomers are neither refused nor let pass: those of a rule share a
// few buckets, by principal, which allow each of them less than one of its own, never
// more.
type shard struct {
	limiter *Limiter
	most    int

	mu      sync.Mutex
	known   map[heddle.ToolRef]*rule
	buckets map[key]*bucket
	ring    []*bucket // the same, in no order
	hand    int       // where in ring the next sweep begins
	shared  map[slot]*bucket

	_ [64]byte // locks of neighbours are not on one cache line
}

// slot names a shared bucket.
type slot struct {
	rule   *rule
	number uint64
}

func (s *shard) allow(k key) (ok bool, retryAfter time.Duration, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.buckets[k]
	var now time.Time
	if b != nil {
		now = s.limiter.now() // under the lock, so that time goes forward for a bucket
	} else {
		r := s.rule(k.tool)
		if r == nil {
			return true, 0, ""
		}
		if !r.rate.Limited() {
			return true, 0, r.name
		}
		now = s.limiter.now()
		b = s.admit(k, r, now)
	}
	if b.AllowN(now, 1) {
		return true, 0, b.rule.name
	}
	return false, b.wait(now), b.rule.name
}

// wait is how long it takes until there is a whole token.
func (b *bucket) wait(now time.Time) time.Duration {
	missing := 1 - b.TokensAt(now)
	// A bucket takes what is missing of a nanosecond for nothing.
	return max(1, time.Duration(math.Round(missing/float64(b.Limit())*float64(time.Second))))
}

// rule returns the rule of a tool, nil if it has none. The caller holds mu.
func (s *shard) rule(ref heddle.ToolRef) *rule {
	if r, ok := s.known[ref]; ok {
		return r
	}
	r := s.limiter.find(ref)
	if (key{tool: ref}).long() {
		return r
	}
	if s.known == nil || len(s.known) >= knownMost {
		s.known = map[heddle.ToolRef]*rule{}
	}
	s.known[ref] = r
	return r
}

// admit returns a bucket for a key that has none. The caller holds mu.
func (s *shard) admit(k key, r *rule, now time.Time) *bucket {
	sl := slot{r, maphash.Comparable(s.limiter.seed, k.principal) % slots}
	if b := s.shared[sl]; b != nil {
		if !b.full(now) {
			return b // what was used up there is not forgiven because there is room again
		}
		delete(s.shared, sl)
	}
	s.sweep(now)
	if len(s.ring) < s.most && !k.long() {
		b := newBucket(k, r)
		if s.buckets == nil {
			s.buckets = map[key]*bucket{}
		}
		s.buckets[k] = b
		s.ring = append(s.ring, b)
		return b
	}
	if s.shared == nil {
		s.shared = map[slot]*bucket{}
	}
	b := newBucket(key{}, r)
	s.shared[sl] = b
	return b
}

func newBucket(k key, r *rule) *bucket {
	every := rate.Limit(float64(r.rate.N) / r.rate.Per.Seconds())
	return &bucket{key: k, rule: r, Limiter: *rate.NewLimiter(every, r.rate.burst())}
}

// sweep gives up the full ones among the next few buckets. The caller holds mu.
func (s *shard) sweep(now time.Time) {
	if len(s.ring) < min(sweepFrom, s.most) {
		return
	}
	for range min(sweepStep, len(s.ring)) {
		if s.hand >= len(s.ring) {
			s.hand = 0
		}
		b := s.ring[s.hand]
		if !b.full(now) {
			s.hand++
			continue
		}
		delete(s.buckets, b.key)
		last := len(s.ring) - 1
		s.ring[s.hand], s.ring[last] = s.ring[last], nil
		s.ring = s.ring[:last]
	}
}
