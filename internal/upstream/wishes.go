package upstream

import (
	"context"
	"encoding/json"
	"sync"

	"heddle"
	"heddle/internal/wire"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// wishes are what hosts want of a server for longer than one request. A new
// session of the server is told of them.
type wishes struct {
	mu    sync.Mutex
	level string         // the most verbose log level that any host wants; "" if none
	uris  map[string]int // resources that hosts are subscribed to
}

// SetLevel asks the server for log messages from level on; "" leaves it to the
// server. It does nothing where the server has no logging.
func (s *Server) SetLevel(ctx context.Context, level string) {
	s.wishes.mu.Lock()
	changed := s.wishes.level != level
	s.wishes.level = level
	s.wishes.mu.Unlock()
	if sess := s.session.Load(); sess != nil && changed && level != "" {
		s.setLevel(ctx, sess, level)
	}
}

func (s *Server) setLevel(ctx context.Context, sess *session, level string) {
	s.mu.Lock()
	logging := s.st.features.Logging
	s.mu.Unlock()
	if !logging || sess.modern != "" { // without handshake, the level stands in each request
		return
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	if _, err := sess.request(ctx, "logging/setLevel", append(append([]byte(`{"level":`), wire.Quote(level)...), '}')); err != nil {
		s.deps.Logger.Debug("log level not set", "server", s.cfg.Name, "err", s.deps.mask(err.Error()))
	}
}

// Subscribe subscribes to a resource for one more host. The server is told of
// the first.
func (s *Server) Subscribe(ctx context.Context, r *Request, uri string) (json.RawMessage, error) {
	s.wishes.mu.Lock()
	if s.wishes.uris == nil {
		s.wishes.uris = map[string]int{}
	}
	s.wishes.uris[uri]++
	first := s.wishes.uris[uri] == 1
	s.wishes.mu.Unlock()
	if !first {
		return json.RawMessage(`{}`), nil
	}
	raw, err := s.subscription(ctx, r)
	if err != nil {
		s.forget(uri)
	}
	return raw, err
}

// Unsubscribe ends one host's subscription. The server is told of the last.
func (s *Server) Unsubscribe(ctx context.Context, r *Request, uri string) (json.RawMessage, error) {
	if s.forget(uri) {
		return s.subscription(ctx, r)
	}
	return json.RawMessage(`{}`), nil
}

// subscription sends (un)subscribe where the server knows it.
func (s *Server) subscription(ctx context.Context, r *Request) (json.RawMessage, error) {
	s.mu.Lock()
	can := s.st.features.Subscribe
	s.mu.Unlock()
	if !can {
		return nil, heddle.NewRPCError(jsonrpc.CodeMethodNotFound, "server "+s.cfg.Name+" has no subscriptions to resources")
	}
	legacy := *r
	legacy.Protocol = nil // subscriptions belong to the session that lists
	return s.Forward(ctx, &legacy)
}

// forget counts one subscription less and reports whether it was the last.
func (s *Server) forget(uri string) bool {
	s.wishes.mu.Lock()
	defer s.wishes.mu.Unlock()
	if s.wishes.uris[uri] == 0 {
		return false
	}
	s.wishes.uris[uri]--
	if s.wishes.uris[uri] > 0 {
		return false
	}
	delete(s.wishes.uris, uri)
	return true
}

// subscribed reports whether any host is: who waits to hear of changes uses the
// server.
func (s *Server) subscribed() bool {
	s.wishes.mu.Lock()
	defer s.wishes.mu.Unlock()
	return len(s.wishes.uris) > 0
}

// restore tells a new session what hosts want.
func (s *Server) restore(ctx context.Context, sess *session) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.StartTimeout)
	defer cancel()
	s.wishes.mu.Lock()
	level := s.wishes.level
	var uris []string
	for uri := range s.wishes.uris {
		uris = append(uris, uri)
	}
	s.wishes.mu.Unlock()
	if level != "" {
		s.setLevel(ctx, sess, level)
	}
	for _, uri := range uris {
		if _, err := sess.request(ctx, "resources/subscribe", append(append([]byte(`{"uri":`), wire.Quote(uri)...), '}')); err != nil {
			s.deps.Logger.Debug("subscription not renewed", "server", s.cfg.Name, "err", s.deps.mask(err.Error()))
		}
	}
}

// RootsChanged tells the server that a host's roots are others now.
func (s *Server) RootsChanged() {
	if sess := s.session.Load(); sess != nil && sess.modern == "" {
		_ = sess.conn.Writer().Offer(wire.AppendRequest(nil, nil, "notifications/roots/list_changed", nil)) // it may ask when it likes
	}
}
