package upstream

import (
	"context"
	"sync"
	"time"
)

// A server may speak both eras of the protocol, but few can do so on one
// connection: what a session has agreed on with initialize changes how its
// requests without handshake are answered. So a host of the new era gets a second
// session of its own, the twin, which starts with the first such request and ends
// when it has not been used for a while. The era of a leg is never copied from
// one side to the other: a server that knows only one era is spoken to in that.

// twinIdle is how long a twin without requests lives.
const twinIdle = 5 * time.Minute

// newTwin returns the second session of a server.
func newTwin(cfg Config, deps Deps) *Server {
	cfg.Twin, cfg.Known, cfg.Lazy, cfg.IdleStop = true, nil, false, twinIdle
	deps.Changed, deps.Published, deps.Listed = nil, nil, nil // it is not in the catalog
	s := New(cfg, deps)
	s.st.modern = true
	return s
}

// probeWait is how long a server may take to show that it speaks the protocol
// without handshake.
const probeWait = 10 * time.Second

// modernProbe remembers whether a server speaks the protocol without handshake.
type modernProbe struct {
	mu    sync.Mutex
	known bool
	yes   bool
}

// speaksModern reports whether the server also speaks the protocol without
// handshake. That is tried once, when the first host needs to know, and in a
// session of its own: the question alone changes what some servers think of the
// session that it comes in.
func (s *Server) speaksModern(ctx context.Context) bool {
	if s.twin == nil {
		return false
	}
	s.modern.mu.Lock()
	defer s.modern.mu.Unlock()
	if s.modern.known {
		return s.modern.yes
	}
	try, cancel := context.WithTimeout(ctx, probeWait)
	defer cancel()
	err := s.twin.Wait(try)
	if err != nil && ctx.Err() != nil {
		return false // the host has gone: try again for the next
	}
	s.modern.known, s.modern.yes = true, err == nil
	return s.modern.yes
}
