package limit

import (
	"hash/maphash"
	"time"

	"golang.org/x/time/rate"
)

// debt is what a bucket has left at a time when it is not full.
type debt struct {
	key    key
	tokens float64
	burst  int
}

// Inherit takes over what principals have used up of old, for a configuration that was
// read anew. It is called once, before l is used; old may be in use, and what it allows
// from then on is not counted in l. Both must go by the same clock.
//
// A bucket whose tool has a rule of the same size keeps exactly what it has left, so
// at an unchanged rate retryAfter stays what it was. With a rule of another size the
// same share of it is left. Where there is no limit any more, nothing is kept. Nor are
// the buckets that newcomers of old shared for want of room.
func (l *Limiter) Inherit(old *Limiter) {
	if old == nil || len(l.shards) == 0 || len(old.shards) == 0 {
		return
	}
	// With the same seed what had room in a shard of old has it in the one of l.
	l.seed = old.seed
	for i := range old.shards {
		debts, now := old.shards[i].debts(l.now)
		for _, d := range debts {
			hash := maphash.Comparable(l.seed, d.key)
			l.shards[hash%uint64(len(l.shards))].inherit(d, now)
		}
	}
}

// debts returns what is left in buckets that are not full, and at what time.
func (s *shard) debts(clock func() time.Time) (debts []debt, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now = clock() // under the lock, so that it is not before the last call
	for _, b := range s.ring {
		if !b.full(now) {
			debts = append(debts, debt{b.key, b.TokensAt(now), b.Burst()})
		}
	}
	return debts, now
}

// inherit makes a bucket for a debt. If there is no room, the one that the principal
// shares with others has no more than the share that is left of this.
func (s *shard) inherit(d debt, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.rule(d.key.tool)
	if r == nil || !r.rate.Limited() {
		return
	}
	tokens := d.tokens
	if burst := r.rate.burst(); burst != d.burst {
		tokens = float64(burst) * (d.tokens / float64(d.burst))
	}
	if len(s.ring) < s.most {
		b := newBucketWith(d.key, r, tokens, now)
		if s.buckets == nil {
			s.buckets = map[key]*bucket{}
		}
		s.buckets[d.key] = b
		s.ring = append(s.ring, b)
		return
	}
	sl := slot{r, maphash.Comparable(s.limiter.seed, d.key.principal) % slots}
	if b := s.shared[sl]; b != nil && b.TokensAt(now) <= tokens {
		return
	}
	if s.shared == nil {
		s.shared = map[slot]*bucket{}
	}
	s.shared[sl] = newBucketWith(key{}, r, tokens, now)
}

// newBucketWith makes a bucket that has so many tokens now.
//
// A [rate.Limiter] can be given whole tokens only, or what it earns over time: so it
// begins empty a second ago, earns the tokens in that second, and only then gets its
// rate. Multiplying by one second is exact.
func newBucketWith(k key, r *rule, tokens float64, now time.Time) *bucket {
	b := newBucket(k, r)
	every, burst := b.Limit(), b.Burst()
	// Buckets give what is missing of a nanosecond for nothing, so there may be a
	// little less than no token.
	below := tokens < 0
	if below {
		tokens++
	}
	before := now.Add(-time.Second)
	b.SetBurstAt(before, 0)     // the next to look finds no room for tokens
	b.SetBurstAt(before, burst) // nor has there been any: it is empty
	b.SetLimitAt(before, rate.Limit(max(0, tokens)))
	b.SetLimitAt(now, every)
	if below {
		b.ReserveN(now, 1)
	}
	return b
}
