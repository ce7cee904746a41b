package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"heddle"
	"heddle/internal/catalog"
	"heddle/internal/deliver"
	"heddle/internal/ledger"
	"heddle/internal/policy"
	"heddle/internal/upstream"
	"heddle/internal/wire"
)

// Call runs one tool call from end to end: it resolves the name, checks the
// call, runs it at its server, checks the result and decides what the host
// receives. One row goes to the ledger, whatever happens.
//
// The error is a [*heddle.RPCError] when the server answered with a JSON-RPC
// error, and otherwise a [*heddle.Error].
func (g *Gateway) Call(ctx context.Context, c *heddle.Call) (d heddle.Delivery, err error) {
	row := g.ledger.Begin(c)
	defer g.end(&row, &d, &err)

	clock := time.Now()
	tool, err := g.resolve(ctx, c)
	row.Queue = time.Since(clock)
	if err != nil {
		row.Decisions = g.unresolved(c)
		return d, err
	}
	row.Server, row.Name = tool.Ref.Server, tool.Ref.Name

	clock = time.Now()
	verdict := g.policy.Before(ctx, c, tool)
	row.Policy = time.Since(clock)
	if verdict.Action == policy.Ask {
		if d, verdict = g.ask(ctx, c, tool, verdict); d.Raw != nil {
			return d, nil
		}
	}
	row.Decisions = verdict.Decisions
	if verdict.Action == policy.Refuse {
		return d, verdict.Err
	}
	c.Arguments = verdict.Arguments

	clock = time.Now()
	result, err := g.pool.Call(ctx, tool, c)
	row.Queue, row.Upstream = row.Queue+result.Queued, time.Since(clock)-result.Queued
	row.UpstreamBytes = int64(len(result.Raw))
	if err != nil {
		decisions, err := g.policy.Failed(tool.Ref.Server, err)
		row.Decisions = append(row.Decisions, decisions...)
		return d, err
	}

	clock = time.Now()
	seen := g.policy.After(ctx, c, tool, result)
	row.Policy += time.Since(clock)
	row.Decisions = append(row.Decisions, seen.Decisions...)
	if seen.Withheld != nil {
		return d, g.withhold(c, tool, result, seen)
	}

	clock = time.Now()
	d = g.deliver.Deliver(ctx, c, tool, seen.Result)
	if seen.Warning == "" && d.Form != heddle.FormExact { // it may show columns, and rows of other results
		seen.Warning = g.policy.Read(d.Raw)
	}
	d.Raw = deliver.Warned(d.Raw, seen.Warning)
	row.Deliver = time.Since(clock)
	row.IsError = isError(d.Raw) // a short delivery keeps it
	return d, nil
}

// Own answers a call of one of heddle's own tools, or one that no tool can be
// told from, with f. It has a row in the ledger like any other.
func (g *Gateway) Own(ctx context.Context, c *heddle.Call, f func(context.Context) (heddle.Delivery, error)) (d heddle.Delivery, err error) {
	row := g.ledger.Begin(c)
	defer g.end(&row, &d, &err)
	return f(ctx)
}

// Reading is [Gateway.Own] for tools that show what servers sent before. What of it
// looks like instructions is said to be data, on this way out as on every other,
// in errors as well: engines name columns in theirs.
func (g *Gateway) Reading(ctx context.Context, c *heddle.Call, f func(context.Context) (heddle.Delivery, error)) (heddle.Delivery, error) {
	return g.Own(ctx, c, func(ctx context.Context) (heddle.Delivery, error) {
		d, err := f(ctx)
		if err != nil {
			return d, g.policy.Shown(err)
		}
		if d.Form == heddle.FormOwn { // a result that was released has its line
			d.Raw = deliver.WarnedRead(d.Raw, g.policy.Read(d.Raw))
		}
		return d, nil
	})
}

// end completes the row of a call; it is deferred. A panic costs the one call
// that it happened in. An error learns the name that the host used.
func (g *Gateway) end(row *ledger.Row, d *heddle.Delivery, err *error) {
	if p := recover(); p != nil {
		*d = heddle.Delivery{}
		*err = &heddle.Error{
			Kind: heddle.KindInternal, Op: "gateway.call", Public: "heddle failed on this call. Its log says why.",
			Err: fmt.Errorf("panic: %v\n%s", p, debug.Stack()),
		}
	}
	if *err != nil {
		if e := (*heddle.Error)(nil); errors.As(*err, &e) && e.Tool == "" {
			e.Tool = row.Tool
		}
	}
	row.Kind = heddle.KindOf(*err)
	row.Form = d.Form
	row.DeliveredBytes = int64(len(d.Raw))
	row.CacheHit = d.CacheHit
	if d.Definitions {
		row.DefinitionTokens = ledger.Measured(deliver.Tokens(d.Raw))
	}
	if d.DeliveredTokens > 0 {
		row.UpstreamTokens, row.DeliveredTokens = ledger.Measured(d.UpstreamTokens), ledger.Measured(d.DeliveredTokens)
	}
	g.ledger.End(*row)
	g.audit.Record(*row, invoked(row, *err))
}

// invoked reports whether a call was sent to its server.
func invoked(row *ledger.Row, err error) bool {
	var e *heddle.Error
	if errors.As(err, &e) {
		return e.Invoked
	}
	return row.Upstream > 0
}

// isError reports whether the tool itself says that it failed. Only a result
// with the word in it is looked into.
func isError(raw json.RawMessage) bool {
	if len(raw) > 64<<10 { // failures are short, and large results should not be read twice
		return false
	}
	return bytes.Contains(raw, []byte(`"isError"`)) && string(wire.Member(raw, "isError")) == "true"
}

// resolve finds the tool that the host named. While servers are still starting
// it waits for the one that the name belongs to, or may belong to: what a server
// lists once it runs may differ from what is known of it from before.
func (g *Gateway) resolve(ctx context.Context, c *heddle.Call) (*heddle.Tool, error) {
	native := c.Mode == "native"
	tool, ok := g.Snapshot(c.Principal).Lookup(c.Tool, native)
	if ok && g.pool.Ready(tool.Ref.Server) {
		return tool, nil
	}
	if err := g.awaitOwner(ctx, c.Tool, tool); err != nil {
		return nil, err
	}
	snapshot := g.Snapshot(c.Principal)
	if tool, ok := snapshot.Lookup(c.Tool, native); ok {
		return tool, nil
	}
	if ctx.Err() != nil {
		return nil, &heddle.Error{Kind: heddle.KindCancelled, Op: "gateway.resolve", Public: "The call was cancelled."}
	}
	if held, ok := snapshot.HeldBy(c.Tool); ok {
		return nil, quarantined(held)
	}
	return nil, &heddle.Error{
		Kind: heddle.KindUnknownTool, Op: "gateway.resolve", Public: "There is no tool of that name.", Near: snapshot.Near(c.Tool, 3, native),
	}
}

// quarantined refuses a call of a tool that waits for approval.
func quarantined(h catalog.Held) error {
	return &heddle.Error{
		Kind: heddle.KindQuarantined, Op: "gateway.resolve", Public: "This tool waits for a person's approval: " + h.Why + ". " +
			"Ask the user to look at it and to run: heddle approve " + h.Tool.Ref.String(),
	}
}

// unresolved says for the record why a name led to no tool. Hosts are not told:
// what is not allowed does not exist for them.
func (g *Gateway) unresolved(c *heddle.Call) []heddle.Decision {
	if held, ok := g.Snapshot(c.Principal).HeldBy(c.Tool); ok {
		return []heddle.Decision{{Check: "lock", Action: "refused", Rule: held.Why}}
	}
	if ref, ok := g.Snapshot(c.Principal).DeniedBy(c.Tool); ok {
		return []heddle.Decision{{Check: "authorization", Action: "refused", Rule: g.policy.Access(ref).Rule}}
	}
	return nil
}

// listWait is how long a list, or a name that fits no server, waits for servers
// that are still starting.
const listWait = 2 * time.Second

// awaitOwner waits for the start of the tool's server; of a tool that is not
// known, the server whose name the tool's name begins with. A name that could be
// anybody's waits a moment for all of them.
func (g *Gateway) awaitOwner(ctx context.Context, name string, tool *heddle.Tool) error {
	if tool != nil {
		return g.pool.Wait(ctx, tool.Ref.Server)
	}
	servers := g.pool.Servers()
	if len(servers) == 1 {
		return servers[0].Wait(ctx)
	}
	var owner *upstream.Server
	for _, s := range servers {
		rest, ok := strings.CutPrefix(name, s.Name())
		if ok && rest != "" && strings.ContainsRune("_:/", rune(rest[0])) && (owner == nil || len(s.Name()) > len(owner.Name())) {
			owner = s
		}
	}
	if owner != nil {
		return owner.Wait(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, listWait)
	defer cancel()
	g.pool.Booted(ctx)
	return nil
}
