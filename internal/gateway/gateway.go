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

// Stages are what a call passes through, and what keeps a record of it.
type Stages struct {
	Catalog    *catalog.Catalog
	Policy     *policy.Policy
	Pool       *upstream.Pool
	Deliver    *deliver.Deliverer
	Ledger     *ledger.Ledger
	Audit      Audit      // nil keeps none
	Quarantine Quarantine // nil keeps nothing of what is withheld
	// Confirmations outlive the gateway; nil begins anew.
	Confirmations *Confirmations
}

// Audit is told of every call, and whether it was sent to its server.
type Audit interface {
	Record(row ledger.Row, invoked bool)
}

// Gateway is one generation of everything that a call passes through.
type Gateway struct {
	catalog    *catalog.Catalog
	policy     *policy.Policy
	pool       *upstream.Pool
	deliver    *deliver.Deliverer
	ledger     *ledger.Ledger
	audit      Audit
	quarantine Quarantine

	confirmations *Confirmations

	settled sync.Once // fixes counts
	counts  []catalog.ServerInfo
}

// New returns a gateway over its stages. It starts nothing.
func New(s Stages) *Gateway {
	if s.Audit == nil {
		s.Audit = noAudit{}
	}
	if s.Confirmations == nil {
		s.Confirmations = NewConfirmations()
	}
	return &Gateway{
		catalog: s.Catalog, policy: s.Policy, pool: s.Pool, deliver: s.Deliver, ledger: s.Ledger, audit: s.Audit, quarantine: s.Quarantine,
		confirmations: s.Confirmations,
	}
}

type noAudit struct{}

func (noAudit) Record(ledger.Row, bool) {}

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
