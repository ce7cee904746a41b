package gateway

import (
	"context"
	"errors"
	"strings"

	"heddle"
	"heddle/internal/deliver"
	"heddle/internal/policy"
)

// Quarantine keeps results that a guard withheld until a person has looked at them.
type Quarantine interface {
	// Withhold keeps a result and returns the name that people and read_result know it
	// by.
	Withhold(c *heddle.Call, t *heddle.Tool, r heddle.Result, findings []policy.Finding) (id string, err error)
	// Released returns a result that a person let through to its principal. The error
	// is a [*heddle.Error] for a host. ok is false for a name that is none of here.
	Released(p heddle.Principal, id string) (t *heddle.Tool, r heddle.Result, ok bool, err error)
}

// withhold keeps the result away from the host, which learns how it can get it.
func (g *Gateway) withhold(c *heddle.Call, t *heddle.Tool, r heddle.Result, seen policy.Seen) error {
	e := *seen.Withheld
	if g.quarantine == nil {
		return &e
	}
	id, err := g.quarantine.Withhold(c, t, r, seen.Findings)
	if err != nil {
		e.Public += " It could not be kept for a person to look at."
		e.Err = errors.Join(e.Err, err)
		return &e
	}
	e.Public += " It is kept: the user can look at it with `heddle quarantine show " + id + "` and let it through with `heddle quarantine release " + id + "`"
	if g.deliver.Reads(c.Mode) {
		e.Public += "; then read_result with result_ref " + id + " has it"
	}
	e.Public += ". Do not call the tool again for it."
	return &e
}

// released answers read_result for a result that was withheld.
func (g *Gateway) released(ctx context.Context, c *heddle.Call, ref string) (d heddle.Delivery, ok bool, err error) {
	if g.quarantine == nil || !strings.HasPrefix(ref, "q_") {
		return d, false, nil
	}
	t, r, ok, err := g.quarantine.Released(c.Principal, ref)
	if !ok || err != nil {
		return d, ok, err
	}
	seen := g.policy.Released(ctx, c, t, r)
	d = g.deliver.Deliver(ctx, c, t, seen.Result)
	d.Raw = deliver.Warned(d.Raw, seen.Warning)
	return d, true, nil
}
