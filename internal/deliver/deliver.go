// Package deliver owns what the host receives for a result: the result itself
// where that is small, else a short text and the name of the capture that has
// all of it.
//
// Whatever fails in here, the server's answer goes out untouched, and nothing is
// left behind. It never calls a server and never changes a capture.
//
// Start at [Deliverer.Deliver], the decision; parts.go and item.go take a result
// apart, tables.go makes datasets of it and envelope.go describes one, shape.go puts
// any other short text together; read.go and sql.go answer read_result, loom.go the
// tools of loom mode. Below are estimate, which counts tokens without a table, and
// project, which makes short texts.
package deliver

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"runtime"

	"heddle"
	"heddle/internal/capture"
	"heddle/internal/dataset"
	"heddle/internal/deliver/estimate"
	"heddle/internal/deliver/project"
)

// Options say when a result is large and where its original goes.
type Options struct {
	// Threshold is how many tokens a result may have to pass as it is; 0 passes all.
	Threshold int
	// Mesh captures in mesh mode too, whose hosts then have read_result.
	Mesh bool
	// KeepOutput passes results of tools with an output schema in native mode: the
	// host was told that they have this form.
	KeepOutput bool
	Captures   *capture.Store
	// Datasets are the tables that results become; nil makes none.
	Datasets *dataset.Store
	// Denied are, by server, the names of arguments whose values no dataset keeps.
	Denied map[string][]string
	// Huge is told of each result that takes so much memory that giving it back is
	// worth the time; may be nil. It must not block.
	Huge   func()
	Logger *slog.Logger
}

// Deliverer decides about results. It is immutable and safe for concurrent use.
type Deliverer struct {
	o       Options
	project func(project.Input) (project.Projection, bool)
}

// New returns a deliverer. It starts nothing.
func New(o Options) *Deliverer {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Deliverer{o: o, project: project.Project}
}

// SQL reports whether results become tables that can be queried.
func (d *Deliverer) SQL() bool { return d.o.Datasets != nil && d.o.Datasets.Available() }

const (
	// huge is how long a result is that [Options.Huge] is told of.
	huge = 256 << 10
	// vast is how long a result is that the heap is cleared for: what is made of it
	// takes as much again.
	vast = 8 << 20
	// extremeThreshold is the threshold of extreme mode, where a shorter delivery
	// must at least halve the tokens.
	extremeThreshold = 500
	extremeGain      = 2
	// whole is how many times the threshold source code, diffs and Markdown may
	// have: a part of them is worth little.
	whole = 4
)

// Deliver decides what the host receives for the result of a call.
func (d *Deliverer) Deliver(ctx context.Context, c *heddle.Call, t *heddle.Tool, r heddle.Result) (out heddle.Delivery) {
	exact := heddle.Delivery{Raw: r.Raw, Form: heddle.FormExact}
	if len(r.Raw) >= huge && d.o.Huge != nil {
		defer d.o.Huge() // by then it is on its way
	}
	threshold, gain := d.limits(c, t)
	if c.SQL == "" && (threshold <= 0 || estimate.Below(r.Raw, threshold)) {
		return exact // most calls end here: nothing is counted that need not be
	}
	s := shaper{d: d, call: c, tool: t, raw: r.Raw, threshold: threshold}
	defer func() {
		if p := recover(); p != nil {
			d.o.Logger.Error("result delivered whole: projecting it failed", "tool", t.Ref.String(), "err", fmt.Sprint(p))
			s.discard(ctx)
			out = exact
		}
	}()
	if len(r.Raw) >= vast {
		runtime.GC() // the buffers that it has outgrown while it was read are as large as itself
	}
	s.tokens = estimate.Result(r.Raw)
	exact.UpstreamTokens, exact.DeliveredTokens = s.tokens, s.tokens
	if c.SQL != "" {
		if rows, ok := s.asked(ctx); ok {
			rows.UpstreamTokens, rows.DeliveredTokens = s.tokens, estimate.Result(rows.Raw)
			return rows
		}
		defer func() { out = s.noted(out) }()
	}
	if s.tokens <= threshold {
		return exact
	}
	short, ok := s.shorten(ctx)
	if ok {
		short.UpstreamTokens, short.DeliveredTokens = s.tokens, estimate.Result(short.Raw)
		ok = short.DeliveredTokens*gain < s.tokens // it must cost less than what it stands for
	}
	if !ok {
		s.discard(ctx)
		return exact
	}
	return short
}

// Tokens estimates what a result costs a model.
func Tokens(raw json.RawMessage) int { return estimate.Result(raw) }

// Reads reports whether hosts in a mode have read_result.
func (d *Deliverer) Reads(mode string) bool {
	switch mode {
	case "native", "compact", "extreme", "loom":
		return true
	case "mesh":
		return d.o.Mesh
	}
	return false // who calls from elsewhere
}

// limits returns from how many tokens on a result is large, 0 for never, and by
// how much a shorter delivery must be so.
func (d *Deliverer) limits(c *heddle.Call, t *heddle.Tool) (threshold, gain int) {
	switch {
	case !d.Reads(c.Mode), c.Mode == "native" && d.o.KeepOutput && t.HasOutputSchema:
		return 0, 1
	case c.Mode == "extreme":
		return min(extremeThreshold, d.o.Threshold), extremeGain
	}
	return d.o.Threshold, 1
}
