package upstream

import (
	"context"

	"heddle"
)

// Pool is the set of servers of one configuration. It is immutable; servers are
// shared with the pool before it where their configuration did not change.
type Pool struct {
	servers []*Server
	byName  map[string]*Server
}

// NewPool returns a pool of servers in declaration order.
func NewPool(servers []*Server) *Pool {
	p := &Pool{servers: servers, byName: make(map[string]*Server, len(servers))}
	for _, s := range servers {
		p.byName[s.Name()] = s
	}
	return p
}

// Servers returns the servers in declaration order.
func (p *Pool) Servers() []*Server { return p.servers }

// Server returns a server by name, nil if there is none.
func (p *Pool) Server(name string) *Server { return p.byName[name] }

// Call runs the tool at its server. See [Server.Call].
func (p *Pool) Call(ctx context.Context, tool *heddle.Tool, c *heddle.Call) (heddle.Result, error) {
	s := p.byName[tool.Ref.Server]
	if s == nil {
		return heddle.Result{}, gone(tool.Ref.Server)
	}
	return s.Call(ctx, tool, c)
}

func gone(server string) error {
	return &heddle.Error{Kind: heddle.KindUnavailable, Op: "upstream.call", Public: "Server " + server + " is not configured any more."}
}

// Ready reports whether a call to the server would go up at once.
func (p *Pool) Ready(server string) bool {
	s := p.byName[server]
	return s != nil && s.Ready()
}

// Wait waits for a server, see [Server.Wait].
func (p *Pool) Wait(ctx context.Context, server string) error {
	s := p.byName[server]
	if s == nil {
		return gone(server)
	}
	return s.Wait(ctx)
}

// Wake starts an idle server, without waiting for it.
func (p *Pool) Wake(server string) {
	if s := p.byName[server]; s != nil {
		s.Wake()
	}
}

// Booted waits until the first start of every server has had its outcome, and
// reports whether that came before the end of ctx.
func (p *Pool) Booted(ctx context.Context) bool {
	for _, s := range p.servers {
		if !s.Booted(ctx) {
			return false
		}
	}
	return true
}
