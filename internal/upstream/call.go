package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"heddle"
	"heddle/internal/wire"
)

// Request is a host's request that is not a tool call, on its way to a server.
type Request struct {
	Method string
	// Params are the host's, their _meta without the protocol's own members, which
	// are in Protocol as in [heddle.Call].
	Params, Protocol json.RawMessage
	Host             heddle.Host
}

// Call runs a tool of this server and returns its result's raw bytes. The error
// is a [*heddle.RPCError] when the server answered with one, and otherwise a
// [*heddle.Error].
func (s *Server) Call(ctx context.Context, tool *heddle.Tool, c *heddle.Call) (heddle.Result, error) {
	l := limits{s.cfg.Timeout, s.cfg.MaxTimeout}
	raw, queued, err := s.do(ctx, c.Protocol != nil, func(sess *session) (json.RawMessage, error) {
		raw, err := sess.call(ctx, c, tool.Ref.Name, l)
		if err == nil && sess.modern != "" && c.Protocol == nil {
			return sess.rounds(ctx, c, tool.Ref.Name, raw, l)
		}
		return raw, err
	})
	return heddle.Result{Raw: raw, Queued: queued}, err
}

// Forward sends another request of a host to this server, under the same limits
// as a call.
func (s *Server) Forward(ctx context.Context, r *Request) (json.RawMessage, error) {
	raw, _, err := s.do(ctx, r.Protocol != nil, func(sess *session) (json.RawMessage, error) {
		return sess.forward(ctx, r, limits{s.cfg.Timeout, s.cfg.MaxTimeout})
	})
	return raw, err
}

// maxSends is how often a request is sent that provably nobody has seen.
const maxSends = 3

// do runs send with a session: once the server is ready, its circuit lets it
// through and it has a place. modern asks for a session of the protocol without
// handshake, if the server has one.
func (s *Server) do(ctx context.Context, modern bool, send func(*session) (json.RawMessage, error)) (raw json.RawMessage, queued time.Duration, err error) {
	begin := time.Now()
	for sends := 1; ; sends++ {
		sess := s.session.Load()
		if sess == nil {
			if sess, err = s.await(ctx); err != nil {
				return nil, time.Since(begin), err
			}
		}
		if modern && sess.modern == "" && s.speaksModern(ctx) {
			return s.twin.do(ctx, false, send)
		}
		done, err := s.breaker.allow(s.cfg.Name)
		if err != nil {
			return nil, 0, err
		}
		if err := s.enter(ctx); err != nil {
			done(errNotCounted)
			return nil, time.Since(begin), s.explain(ctx, err, false)
		}
		queued = time.Since(begin)
		raw, err = send(sess)
		<-s.places
		if unseen(err) && sends < maxSends {
			done(errNotCounted)
			s.session.CompareAndSwap(sess, nil)
			continue
		}
		done(err)
		if err != nil {
			err = s.explain(ctx, err, true)
		}
		return raw, queued, err
	}
}

// unseen reports whether a request provably did not reach anybody.
func unseen(err error) bool { return errors.Is(err, errIdle) || errors.Is(err, wire.ErrSessionLost) }

// Wake starts an idle server. It does not wait for it.
func (s *Server) Wake() {
	s.mu.Lock()
	idle := s.st.state == StateIdle
	s.mu.Unlock()
	if idle {
		select {
		case s.wake <- struct{}{}:
		default: // it knows
		}
	}
}

// resting reports whether the server need not run now: what it has is known.
func (s *Server) resting() bool {
	return s.cfg.Twin || s.st.listed && (s.cfg.Lazy || s.cfg.IdleStop > 0 && s.st.booted)
}

// rest waits until an idle server is wanted. It returns false at the end of ctx.
func (s *Server) rest(ctx context.Context) bool {
	s.mu.Lock()
	resting := s.resting() && s.st.failures == 0
	s.mu.Unlock()
	if !resting {
		return true
	}
	s.update(func(st *status) { st.state, st.booted, st.pid, st.reason, st.code = StateIdle, true, 0, "", "" })
	select {
	case <-s.wake:
		return true
	case <-ctx.Done():
		return false
	}
}

// linkError is what a link says of a request that it cannot get an answer to.
type linkError struct{ err error }

func (e *linkError) Error() string { return e.err.Error() }
func (e *linkError) Unwrap() error { return e.err }

// refusal reports whether the other end, alive and well, refused the request.
func (e *linkError) refusal() bool {
	var answered interface{ Refused() bool }
	return errors.As(e.err, &answered) && answered.Refused()
}

// describe turns it into what the host may read.
func (e *linkError) describe(s *Server, sent bool) *heddle.Error {
	kind := heddle.KindUpstreamExited
	if e.refusal() {
		kind = heddle.KindUpstreamError
	}
	return &heddle.Error{
		Kind: kind, Op: "upstream.call", Invoked: sent, Err: e,
		Public: fmt.Sprintf("Server %s: %s.", s.cfg.Name, strings.TrimSuffix(s.deps.mask(e.Error()), ".")),
	}
}
