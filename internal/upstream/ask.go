package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"heddle"
	"heddle/internal/wire"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// hostMethods are the requests that a server may put to the host whose call it
// is working on.
var hostMethods = map[string]bool{"sampling/createMessage": true, "elicitation/create": true, "roots/list": true}

// clientMethods are the requests that only a client sends. One that comes back
// is our own, from a program that echoes its input; answering it would look
// like an answer of its own when that is echoed too.
var clientMethods = map[string]bool{"initialize": true, "server/discover": true, "tools/list": true, "tools/call": true, "subscriptions/listen": true}

// maxAsks is how many requests of one server may wait for a host at once.
const maxAsks = 64

// asks are a server's requests that wait for a host.
type asks struct {
	mu      sync.Mutex
	open    map[string]*ask // by the server's id
	count   atomic.Int32
	running sync.WaitGroup
}

// ask is one of them.
type ask struct {
	cancel context.CancelFunc
	host   string
	call   uint64 // the call that caused it; 0 if it may be any of the host's
	// withdrawn says that the server does not want an answer any more.
	withdrawn bool
}

// takeRequest answers a server's request, or has a host answer it. Only pings
// go to the SDK.
func (s *session) takeRequest(m *wire.Message) bool {
	switch {
	case m.Method == "ping":
		return false
	case clientMethods[m.Method]:
		s.Stray([]byte("an echo of "+m.Method), m, nil)
		return true
	case hostMethods[m.Method]:
		if err := s.ask(m.ID, m.Method, m.Params); err != nil {
			s.reply(m.ID, nil, err)
		}
		return true
	}
	s.reply(m.ID, nil, heddle.NewRPCError(jsonrpc.CodeMethodNotFound, m.Method+" is not supported by this client"))
	return true
}

// reply answers a server's request. A server that does not read has no use for
// it.
func (s *session) reply(id, result json.RawMessage, err error) {
	if err == nil {
		_ = s.conn.Writer().Offer(wire.AppendResponse(nil, id, result))
		return
	}
	rpc := (*heddle.RPCError)(nil)
	if !errors.As(err, &rpc) {
		rpc = heddle.NewRPCError(jsonrpc.CodeInternalError, "the host did not answer")
	}
	_ = s.conn.Writer().Offer(wire.AppendError(nil, id, rpc.Raw))
}

// ask puts a server's request to the host whose call caused it. The call's clock
// stands still meanwhile: a person may be thinking.
func (s *session) ask(id json.RawMessage, method string, params json.RawMessage) error {
	host, call, err := s.asker()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(s.ctx)
	key := string(id)
	if !s.asks.add(key, &ask{cancel: cancel, host: host.ID(), call: call}) {
		cancel()
		return heddle.NewRPCError(jsonrpc.CodeInvalidRequest, "too many requests wait for the host, or this id is in use")
	}
	go func() {
		defer s.asks.running.Done()
		result, err := host.Request(ctx, method, params)
		wanted := s.asks.remove(key)
		s.resume(host.ID(), call)
		if wanted { // also once its call has ended: a server may wait for it without a limit
			s.reply(id, result, err)
		}
	}()
	return nil
}

// asker returns the host whose call made the server ask, and that call's number,
// 0 if it may be any of several calls. Where calls of several hosts are open and
// the transport does not tell, nobody is asked: it might be the wrong person.
func (s *session) asker() (heddle.Host, uint64, error) {
	if s.origin != nil {
		if n, ok := number(s.origin()); ok {
			s.mu.Lock()
			p := s.pending[n]
			s.mu.Unlock()
			if p != nil && p.host != nil {
				return p.host, n, nil
			}
		}
	}
	host, call, several := s.callers()
	switch {
	case several:
		return nil, 0, heddle.NewRPCError(jsonrpc.CodeInvalidRequest, "calls of several hosts are open, and nothing says which of them this belongs to")
	case host != nil:
		return host, call, nil
	case s.deps.Host != nil:
		if host := s.deps.Host(); host != nil {
			return host, 0, nil
		}
	}
	return nil, 0, heddle.NewRPCError(jsonrpc.CodeMethodNotFound, "no host is connected that could be asked")
}

// callers returns the one host that has calls open.
func (s *session) callers() (host heddle.Host, call uint64, several bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for n, p := range s.pending {
		switch {
		case p.host == nil: // a request of heddle's own
		case host == nil:
			host, call = p.host, n
		case host.ID() != p.host.ID():
			return nil, 0, true
		default:
			call = 0
		}
	}
	return host, call, false
}

func (a *asks) add(id string, one *ask) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.open == nil {
		a.open = map[string]*ask{}
	}
	if len(a.open) >= maxAsks || a.open[id] != nil {
		return false
	}
	a.open[id] = one
	a.count.Add(1)
	a.running.Add(1)
	return true
}

// remove ends a request and reports whether the server still wants an answer.
func (a *asks) remove(id string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	one := a.open[id]
	one.cancel()
	delete(a.open, id)
	a.count.Add(-1)
	return !one.withdrawn
}

// cancelled ends a request that the server has withdrawn.
func (a *asks) cancelled(id json.RawMessage) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if one := a.open[string(id)]; one != nil {
		one.withdrawn = true
		one.cancel()
	}
}

// endCall ends what was asked for a call that has ended.
func (a *asks) endCall(n uint64) {
	if a.count.Load() == 0 {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, one := range a.open {
		if one.call == n {
			one.cancel()
		}
	}
}

// hold reports whether a call's clock stands still.
func (a *asks) hold(n uint64, host heddle.Host) bool {
	if a.count.Load() == 0 || host == nil {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, one := range a.open {
		if one.call == n || one.call == 0 && one.host == host.ID() {
			return true
		}
	}
	return false
}

// resume lets the clocks of a host's calls begin anew.
func (s *session) resume(host string, call uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for n, p := range s.pending {
		if p.host != nil && (n == call || call == 0 && p.host.ID() == host) {
			p.progress.Store(time.Now().UnixNano())
		}
	}
}
