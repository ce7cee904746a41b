package policy

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"heddle"
	"heddle/internal/policy/limit"
)

// RateLimit says how often tools may be called; its zero value is no limit.
type RateLimit struct {
	Default limit.Rate
	PerTool []ToolRate
}

// ToolRate is the rate of each tool that a pattern matches.
type ToolRate struct {
	Pattern string
	Rate    limit.Rate
}

// rates is the check of how often a tool is called. It stands after those of the
// arguments: what they refuse has cost nobody anything.
type rates struct {
	config  RateLimit
	limiter *limit.Limiter
}

// newRates reads the patterns as those of a deny: they ignore case and match a
// tool's own name.
func newRates(c RateLimit) (*rates, error) {
	lc := limit.Config{Default: c.Default}
	for _, t := range c.PerTool {
		l, err := newList("rate_limit.per_tool", "rate_limit.per_tool", []string{t.Pattern}, true, true)
		if err != nil {
			return nil, err
		}
		match := func(ref heddle.ToolRef) bool {
			n := namesOf(ref)
			return l.find(&n) != nil
		}
		lc.PerTool = append(lc.PerTool, limit.ToolRate{Pattern: t.Pattern, Match: match, Rate: t.Rate})
	}
	return &rates{c, limit.New(lc)}, nil
}

// inherit goes on counting where the configuration before left off, so that a reload
// forgives nobody.
func (r *rates) inherit(old *rates) {
	if reflect.DeepEqual(r.config, old.config) {
		r.limiter = old.limiter
		return
	}
	r.limiter.Inherit(old.limiter)
}

func (r *rates) before(_ context.Context, s *state) outcome {
	ok, after, rule := r.limiter.Allow(counted(s.call), s.tool.Ref)
	if ok {
		return outcome{}
	}
	s.decide("rate_limit", "refused", rule)
	return outcome{action: Refuse, err: &heddle.Error{
		Kind: heddle.KindRateLimited, Op: "policy.rate", Tool: s.call.Tool, RetryAfter: after,
		Public: fmt.Sprintf("This tool is called more often than this gateway allows (%s). Try again in %s.", rule, roundUp(after)),
	}}
}

// counted is whose calls are counted together: those of a host. One without a
// session has as many as it likes, so all of these are one.
func counted(c *heddle.Call) heddle.Principal {
	if c.Protocol != nil {
		return c.Principal
	}
	return c.Principal + "/" + heddle.Principal(c.Session)
}

// roundUp makes a time readable that is not to be too short.
func roundUp(d time.Duration) time.Duration {
	unit := time.Second
	if d < time.Second {
		unit = time.Millisecond
	}
	return (d + unit - 1).Truncate(unit)
}
