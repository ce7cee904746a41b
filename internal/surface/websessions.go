package surface

import (
	"context"
	"sync"

	"heddle/internal/gateway"
	"heddle/internal/wire"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// sessions are what heddle keeps of the sessions with handshake, beside the SDK.
type sessions struct {
	mu   sync.Mutex
	byID map[string]*session
}

func (s *sessions) get(id string, make func(string) *session) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byID == nil {
		s.byID = map[string]*session{}
	}
	one := s.byID[id]
	if one == nil {
		one = make(id)
		s.byID[id] = one
	}
	return one
}

// end ends what a session has in flight and what servers do for it.
func (s *sessions) end(ctx context.Context, id string) {
	s.mu.Lock()
	one := s.byID[id]
	delete(s.byID, id)
	s.mu.Unlock()
	if one != nil {
		close(one.gone)
		go one.unsubscribe(ctx) // ends with the servers' answers; the host is gone
	}
}

// endAll ends what all sessions have in flight. The servers are about to end too.
func (s *sessions) endAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, one := range s.byID {
		close(one.gone)
		delete(s.byID, id)
	}
}

// prune ends the sessions that the SDK does not know any more: their hosts have
// not come back for long.
func (s *sessions) prune(ctx context.Context, server *mcp.Server) {
	known := map[string]bool{}
	for ss := range server.Sessions() {
		known[ss.ID()] = true
	}
	s.mu.Lock()
	var lost []string
	for id := range s.byID {
		if !known[id] {
			lost = append(lost, id)
		}
	}
	s.mu.Unlock()
	for _, id := range lost {
		s.end(ctx, id)
	}
}

func (s *sessions) levels() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, one := range s.byID {
		if l := one.level.Load(); l != nil {
			out = append(out, *l)
		}
	}
	return out
}

// subscriptions are the resources whose changes a session wants to hear of.
type subscriptions struct {
	mu   sync.Mutex
	uris map[string]bool
}

// note keeps what the host has begun or ended.
func (s *subscriptions) note(method, uri string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.uris == nil {
		s.uris = map[string]bool{}
	}
	if method == "resources/subscribe" {
		s.uris[uri] = true
	} else {
		delete(s.uris, uri)
	}
}

// unsubscribe ends the subscriptions of a session that has gone.
func (s *session) unsubscribe(ctx context.Context) {
	s.subscribed.mu.Lock()
	defer s.subscribed.mu.Unlock()
	for uri := range s.subscribed.uris {
		params := append(append([]byte(`{"uri":`), wire.Quote(uri)...), '}')
		if g := s.gateway(); g != nil {
			_, _ = g.Forward(ctx, gateway.Origin{}, "resources/unsubscribe", params) // nobody hears of its failure
		}
	}
}
