package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"heddle"
	"heddle/internal/wire"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// limits are how long a request may take: idle since it was sent or last made
// progress, total since it was sent.
type limits struct{ idle, total time.Duration }

// timeoutError says which limit passed.
type timeoutError struct {
	limit time.Duration
	total bool
}

func (e *timeoutError) Error() string { return "no answer within " + e.limit.String() }

// request sends a request of heddle's own and waits for its answer until ctx
// ends.
func (s *session) request(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	p := pendings.Get().(*pending)
	n, err := s.open(p)
	if err != nil {
		return nil, err
	}
	defer s.release(n, p)
	if err := s.conn.Writer().Write(ctx, s.appendRequest(nil, n, method, params, nil, nil)); err != nil {
		return nil, s.notWritten(ctx, err)
	}
	select {
	case a := <-p.answer:
		return a.result, a.err
	case <-ctx.Done():
		s.cancel(n, "no longer wanted")
		return nil, context.Cause(ctx)
	}
}

// call sends tools/call and waits for the answer.
func (s *session) call(ctx context.Context, c *heddle.Call, tool string, l limits) (json.RawMessage, error) {
	return s.exchange(ctx, c.Host, progressToken(c.Meta), l, func(b []byte, n uint64) []byte { return s.appendCall(b, n, c, tool) })
}

// forward sends another request of a host and waits for the answer.
func (s *session) forward(ctx context.Context, r *Request, l limits) (json.RawMessage, error) {
	token := progressToken(wire.Member(r.Params, "_meta"))
	return s.exchange(ctx, r.Host, token, l, func(b []byte, n uint64) []byte {
		return s.appendRequest(b, n, r.Method, r.Params, r.Host, r.Protocol)
	})
}

// exchange sends the frame that build appends for a request's number, and waits
// for the answer. The idle limit starts again with each progress.
func (s *session) exchange(ctx context.Context, host heddle.Host, token json.RawMessage, l limits, build func([]byte, uint64) []byte) (json.RawMessage, error) {
	p := pendings.Get().(*pending)
	p.host, p.token = host, token
	n, err := s.open(p)
	if err != nil {
		return nil, err
	}
	defer s.release(n, p)
	buf := frames.Get().(*[]byte)
	*buf = build((*buf)[:0], n)
	err = s.conn.Writer().WriteWithin(ctx, *buf, l.idle)
	if cap(*buf) <= 64<<10 {
		frames.Put(buf)
	}
	if err != nil {
		if errors.Is(err, wire.ErrFull) {
			return nil, &timeoutError{l.idle, false}
		}
		return nil, s.notWritten(ctx, err)
	}
	return s.await(ctx, n, p, l)
}

var frames = sync.Pool{New: func() any { b := make([]byte, 0, 1024); return &b }}

// notWritten says why a request did not reach the server. A server that has just
// ended shows first in the write that it does not take; how it ended is known a
// moment later. One that lives on but takes no more input is as good as ended.
func (s *session) notWritten(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		s.breakOnce.Do(func() { close(s.broken) })
		wait(s.done, time.Second)
	}
	if gone := s.gone(); gone != nil {
		return gone
	}
	return err
}

func (s *session) await(ctx context.Context, n uint64, p *pending, l limits) (json.RawMessage, error) {
	begin := time.Now()
	p.timer.Reset(min(l.idle, l.total))
	for {
		select {
		case a := <-p.answer:
			return a.result, a.err
		case <-ctx.Done():
			s.cancel(n, "the host cancelled the call")
			return nil, context.Cause(ctx)
		case <-p.timer.C:
			if s.asks.hold(n, p.host) { // the host's user is being asked
				p.progress.Store(time.Now().UnixNano())
			}
			last := time.Unix(0, max(p.progress.Load(), begin.UnixNano()))
			left := min(l.idle-time.Since(last), l.total-time.Since(begin))
			if left > 0 {
				p.timer.Reset(left)
				continue
			}
			s.cancel(n, "timeout")
			if total := l.total-time.Since(begin) <= 0; total {
				return nil, &timeoutError{l.total, true}
			}
			return nil, &timeoutError{l.idle, false}
		}
	}
}

// cancel tells the server that nobody waits for the request any more.
func (s *session) cancel(n uint64, reason string) {
	s.mu.Lock()
	delete(s.pending, n) // an answer that comes now is late
	s.mu.Unlock()
	params := append([]byte(`{"requestId":`), appendID(nil, n)...)
	params = append(params, `,"reason":`...)
	params = append(append(params, wire.Quote(reason)...), '}')
	_ = s.conn.Writer().Offer(wire.AppendRequest(nil, nil, "notifications/cancelled", params)) // best effort, as the protocol has it
}

// appendCall appends the frame of a tools/call. Arguments and _meta go up byte
// for byte, but for the progress token, which must be ours for the answer to
// find its call.
func (s *session) appendCall(b []byte, n uint64, c *heddle.Call, tool string) []byte {
	b = append(b, `{"jsonrpc":"2.0","id":`...)
	b = appendID(b, n)
	b = append(b, `,"method":"tools/call","params":{"name":`...)
	b = appendName(b, tool)
	b = append(b, `,"arguments":`...)
	if c.Arguments == nil {
		b = append(b, `{}`...)
	} else {
		b = append(b, c.Arguments...)
	}
	b = append(b, c.Extra...)
	b = append(b, `,"_meta":{`...)
	b = s.appendMeta(b, c.Meta, n, c.Host, c.Protocol)
	b = append(b, `}}}`...)
	return append(b, '\n')
}

// appendRequest appends the frame of any other request. Its _meta is replaced
// where it stands, all else stays as it was.
func (s *session) appendRequest(b []byte, n uint64, method string, params json.RawMessage, host heddle.Host, protocol json.RawMessage) []byte {
	b = append(b, `{"jsonrpc":"2.0","id":`...)
	b = appendID(b, n)
	b = append(b, `,"method":"`...)
	b = append(b, method...)
	b = append(b, `","params":{`...)
	first, meta := len(b), json.RawMessage(`{}`)
	_ = wire.Members(params, func(key string, v json.RawMessage) bool {
		if key == "_meta" {
			meta = v
			return true
		}
		if len(b) > first {
			b = append(b, ',')
		}
		b = append(append(appendName(b, key), ':'), v...)
		return true
	})
	if s.modern != "" || len(meta) > 2 {
		if len(b) > first {
			b = append(b, ',')
		}
		b = append(b, `"_meta":{`...)
		b = s.appendMeta(b, meta, n, host, protocol)
		b = append(b, '}')
	}
	b = append(b, `}}`...)
	return append(b, '\n')
}

// appendMeta appends the members of the host's _meta with the progress token
// replaced by ours, and on a leg without handshake those that describe the
// client. A host that sends no _meta at all gets a token too, so that progress
// extends the deadline; in a _meta without a token nothing is added, because
// what a host wrote goes up as it wrote it.
func (s *session) appendMeta(b []byte, meta json.RawMessage, n uint64, host heddle.Host, protocol json.RawMessage) []byte {
	first := len(b)
	if meta == nil {
		b = append(b, `"progressToken":`...)
		b = appendID(b, n)
	}
	_ = wire.Members(meta, func(key string, v json.RawMessage) bool {
		if s.modern != "" && (key == mcp.MetaKeyProtocolVersion || key == mcp.MetaKeyClientInfo || key == mcp.MetaKeyClientCapabilities) {
			return true // they speak of the other leg
		}
		if len(b) > first {
			b = append(b, ',')
		}
		b = append(appendName(b, key), ':')
		if key == "progressToken" {
			b = appendID(b, n)
		} else {
			b = append(b, v...)
		}
		return true
	})
	if s.modern == "" {
		return b
	}
	if len(b) > first {
		b = append(b, ',')
	}
	return s.appendClient(b, host, protocol)
}

// appendClient appends what each request of the protocol without handshake says
// of the client. A host that speaks it as well speaks for itself; for any other,
// heddle does, with what that host can be asked.
func (s *session) appendClient(b []byte, host heddle.Host, protocol json.RawMessage) []byte {
	if protocol != nil {
		object := append(append([]byte{'{'}, protocol...), '}')
		if version, ok := wire.Unquote(wire.Member(object, mcp.MetaKeyProtocolVersion)); ok && version == s.modern {
			return append(b, protocol...)
		}
	}
	capabilities := json.RawMessage(`{}`)
	if host != nil && host.Capabilities() != nil {
		capabilities = host.Capabilities()
	}
	return fmt.Appendf(b, `%q:%q,%q:{"name":"heddle","version":%q},%q:%s`,
		mcp.MetaKeyProtocolVersion, s.modern, mcp.MetaKeyClientInfo, s.deps.Version, mcp.MetaKeyClientCapabilities, capabilities)
}

// progressToken returns the token in a host's _meta, nil if it has none. The
// protocol allows strings and numbers.
func progressToken(meta json.RawMessage) json.RawMessage {
	if meta == nil {
		return nil
	}
	token := wire.Member(meta, "progressToken")
	if token == nil || token[0] != '"' && token[0] != '-' && (token[0] < '0' || token[0] > '9') {
		return nil
	}
	return token
}

// appendName appends a tool's name as a JSON string.
func appendName(b []byte, name string) []byte {
	for i := range len(name) {
		if c := name[i]; c < 0x20 || c >= 0x7f || c == '"' || c == '\\' {
			return append(b, wire.Quote(name)...)
		}
	}
	b = append(b, '"')
	b = append(b, name...)
	return append(b, '"')
}
