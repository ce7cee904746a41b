// Package limit owns rate limits: how often a principal may call a tool, and when it
// may again. It decides from a clock and what it has allowed before. It knows no
// configuration files and no patterns, never waits and has no goroutines.
//
// Every principal has a bucket of its own for every tool (server and name), of the
// size and the speed that the tool's rule says. So the default of 60/min means sixty
// calls of each tool; what one host or one server's tool uses up is not missing
// elsewhere. A rule with a pattern is also a bucket for each tool that it matches.
//
// Start reading at [Limiter.Allow], then shard.go for the buckets and what happens
// when there are too many. rate.go reads rates.
package limit

import (
	"hash/maphash"
	"strconv"
	"time"

	"heddle"
)

// Config is what a limiter is made of.
type Config struct {
	// Default is the rate of tools that no rule of PerTool matches; its zero value is
	// no limit.
	Default Rate
	// PerTool holds rates of some tools. Where several match a tool, the most specific
	// pattern decides alone, whether it allows more or less than the others: the one
	// with more letters outside of wildcards, then the one with fewer wildcards, then
	// the first.
	PerTool []ToolRate
	// Most is how many buckets are kept; 0 is 10,000.
	Most int
	// Now is the clock; nil is time.Now, which has a monotonic reading, so that it
	// does not matter when somebody sets the clock.
	Now func() time.Time
}

// ToolRate is the rate of the tools that a pattern matches.
type ToolRate struct {
	// Pattern is as written in the configuration.
	Pattern string
	// Match reports whether a tool is meant. It must be safe for concurrent use, and
	// its answer must not change.
	Match func(heddle.ToolRef) bool
	// Rate is the limit; its zero value lifts the default.
	Rate Rate
}

// Limiter counts calls. It is safe for concurrent use. Its state is lost with it, so a
// new one would forgive what hosts have used up: keep the old one for an unchanged
// configuration, and let the one for a new configuration [Limiter.Inherit] from it.
type Limiter struct {
	rules  []*rule // most specific first; the default last
	now    func() time.Time
	seed   maphash.Seed
	shards []shard
}

const (
	defaultMost = 10_000
	// shardsMost is how many locks there are: calls at the same time rarely meet.
	shardsMost = 16
)

// New makes a limiter. All its buckets are full.
func New(c Config) *Limiter {
	if c.Most <= 0 {
		c.Most = defaultMost
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	l := &Limiter{now: c.Now, rules: newRules(c)}
	if len(l.rules) == 0 {
		return l
	}
	l.seed = maphash.MakeSeed()
	l.shards = make([]shard, min(shardsMost, c.Most))
	for i := range l.shards {
		l.shards[i].most = c.Most / len(l.shards)
		l.shards[i].limiter = l
	}
	return l
}

// Allow reports whether the principal may call the tool now, and counts the call if
// so. One that is refused uses nothing up; retryAfter is when the next would pass,
// if nobody else of the same bucket comes first. rule says what decided, as in
// `rate_limit.default 60/min`; "" if no rule applies.
func (l *Limiter) Allow(p heddle.Principal, ref heddle.ToolRef) (ok bool, retryAfter time.Duration, rule string) {
	if len(l.rules) == 0 {
		return true, 0, ""
	}
	k := key{p, ref}
	hash := maphash.Comparable(l.seed, k)
	return l.shards[hash%uint64(len(l.shards))].allow(k)
}

// Rule returns the rate that applies to a tool and the rule that says so, as
// [Limiter.Allow] names it. It counts nothing.
func (l *Limiter) Rule(ref heddle.ToolRef) (Rate, string) {
	if r := l.find(ref); r != nil {
		return r.rate, r.name
	}
	return Rate{}, ""
}

// find returns the rule of a tool, nil if there is none.
func (l *Limiter) find(ref heddle.ToolRef) *rule {
	for _, r := range l.rules {
		if r.match == nil || r.match(ref) {
			return r
		}
	}
	return nil
}

// rule is a rate and the tools that it is for.
type rule struct {
	rate     Rate
	name     string
	match    func(heddle.ToolRef) bool // nil is all
	literals int
	wild     int
}

func patternName(t ToolRate) string {
	return "rate_limit.per_tool " + strconv.Quote(t.Pattern) + " " + t.Rate.String()
}
