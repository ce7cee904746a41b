// Package gateway owns the path of a call from a surface to an upstream and
// back, and the answers of heddle's own tools.
//
// It never speaks MCP to a host, starts a server or reads configuration. A
// Gateway is immutable: a reload builds a new one, and calls in flight finish on
// the old.
//
// Start reading at [Gateway.Call].
package gateway

import (
	"context"
	"sync"

	"heddle"
	"heddle/internal/catalog"
	"heddle/internal/deliver"
	"heddle/internal/ledger"
	"heddle/internal/policy"
	"heddle/internal/upstream"
)

// Gateway is one generation of everything that a call passes through.
type Gateway struct {
	catalog *catalog.Catalog
	policy  *policy.Policy
	pool    *upstream.Pool
	ledger  *ledger.Ledger
	deliver *deliver.Deliverer

	settled sync.Once // fixes counts
	counts  []catalog.ServerInfo
}

// New returns a gateway over its stages. It starts nothing.
func New(c *catalog.Catalog, p *policy.Policy, u *upstream.Pool, l *ledger.Ledger, d *deliver.Deliverer) *Gateway {
	return &Gateway{catalog: c, policy: p, pool: u, ledger: l, deliver: d}
}

// Snapshot returns the tools that exist for principal now. There is one set of
// tools while stdio is the only way in.
func (g *Gateway) Snapshot(heddle.Principal) *catalog.Snapshot { return g.catalog.Snapshot() }

// Booted waits until every server's first start has had its outcome or ctx
// ends, and reports which came first.
func (g *Gateway) Booted(ctx context.Context) bool { return g.pool.Booted(ctx) }

// Servers returns the servers as descriptions name them: with tool counts once
// the boot has settled, and from then on unchanged, so that a host's cached list
// stays valid while tools come and go.
func (g *Gateway) Servers(p heddle.Principal, booted bool) []catalog.ServerInfo {
	if booted {
		g.settled.Do(func() { g.counts = g.Snapshot(p).Servers() })
		return g.counts
	}
	var out []catalog.ServerInfo
	for _, s := range g.pool.Servers() {
		out = append(out, catalog.ServerInfo{Name: s.Name()})
	}
	return out
}
