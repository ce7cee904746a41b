package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"heddle/internal/wire"
)

// tool runs one call of a tool. The JSON that it returns becomes the text of the
// result, an error a result that says isError.
type tool func(ctx context.Context, c *call) (json.RawMessage, error)

// call is one tools/call at a server.
type call struct {
	args json.RawMessage
	// progress tells the caller, if the caller asked for it.
	progress func(done, total int)
}

// simple is a tool that answers at once from its arguments. It has the lock of
// its server's state until its answer, which may point into that, is written
// down.
func simple[A any](state *sync.Mutex, f func(A) (any, error)) tool {
	return func(_ context.Context, c *call) (json.RawMessage, error) {
		var args A
		if len(c.args) > 0 {
			if err := json.Unmarshal(c.args, &args); err != nil {
				return nil, fmt.Errorf("arguments: %w", err)
			}
		}
		state.Lock()
		defer state.Unlock()
		v, err := f(args)
		if err != nil {
			return nil, err
		}
		return encode(v)
	}
}

// encode is JSON as people would write it: without HTML escapes.
func encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimRight(b.Bytes(), "\n"), err
}

// object is a JSON object without a type of its own.
type object map[string]any

// server is one MCP server. Each connection is a session of its own; they share
// the state behind the tools.
type server struct {
	name         string
	instructions string
	definitions  json.RawMessage // array
	tools        map[string]tool
	timeout      time.Duration // that heddle gives it; 0 is patience
	results      *results

	silent atomic.Bool // it takes calls and answers none
}

// maxFrame is the largest request in bytes that a server takes.
const maxFrame = 4 << 20

// connect serves a new stream until the other end closes it or ctx ends.
func (s *server) connect(ctx context.Context) (io.ReadWriteCloser, error) {
	client, conn := net.Pipe()
	p := &peer{server: s, out: wire.NewWriter(conn), running: map[string]context.CancelFunc{}}
	go func() {
		defer conn.Close()
		p.serve(ctx, wire.NewReader(conn, maxFrame))
	}()
	return client, nil
}

// peer is one session of a server.
type peer struct {
	*server
	out *wire.Writer

	calls   sync.WaitGroup
	mu      sync.Mutex
	running map[string]context.CancelFunc // by the request's id
}

// serve answers requests until the stream ends, and cancels what then runs.
func (p *peer) serve(ctx context.Context, in *wire.Reader) {
	ctx, cancel := context.WithCancel(ctx)
	defer p.calls.Wait()
	defer cancel()
	for {
		frame, err := in.Next()
		if large := (*wire.TooLargeError)(nil); errors.As(err, &large) {
			p.fail(ctx, large.ID, -32600, large.Error())
			continue
		}
		if err != nil {
			return
		}
		m, err := wire.Parse(frame)
		switch {
		case errors.Is(err, wire.ErrInvalidRequest):
			p.fail(ctx, m.ID, -32600, "not a JSON-RPC 2.0 message")
		case err != nil:
			p.fail(ctx, nil, -32700, "the line is no JSON")
		default:
			p.handle(ctx, &m)
		}
	}
}

func (p *peer) handle(ctx context.Context, m *wire.Message) {
	switch {
	case m.Method == "notifications/cancelled":
		p.mu.Lock()
		if cancel := p.running[string(wire.Member(m.Params, "requestId"))]; cancel != nil {
			cancel()
		}
		p.mu.Unlock()
	case !m.IsRequest(): // this server asks nothing and follows no other notification
	case m.Method == "initialize":
		p.answer(ctx, m.ID, p.initialize(m.Params))
	case m.Method == "ping":
		p.answer(ctx, m.ID, json.RawMessage(`{}`))
	case m.Method == "tools/list":
		p.answer(ctx, m.ID, fmt.Appendf(nil, `{"tools":%s}`, p.definitions))
	case m.Method == "tools/call":
		p.start(ctx, m)
	default:
		p.fail(ctx, m.ID, -32601, m.Method+" is not supported")
	}
}

// initialize agrees on the client's version if it is one of those whose tools
// work like this.
func (p *peer) initialize(params json.RawMessage) json.RawMessage {
	known := []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}
	version, _ := wire.Unquote(wire.Member(params, "protocolVersion"))
	if !slices.Contains(known, version) {
		version = known[0]
	}
	return fmt.Appendf(nil, `{"protocolVersion":%s,"capabilities":{"tools":{}},"serverInfo":{"name":%s,"version":"1.0.0"},"instructions":%s}`,
		wire.Quote(version), wire.Quote(p.name), wire.Quote(p.instructions))
}

// start runs a call beside the reading of the stream.
func (p *peer) start(ctx context.Context, m *wire.Message) {
	ctx, cancel := context.WithCancel(ctx)
	id := string(m.ID)
	p.mu.Lock()
	p.running[id] = cancel
	p.mu.Unlock()
	p.calls.Go(func() {
		defer cancel()
		p.run(ctx, m)
		p.mu.Lock()
		delete(p.running, id)
		p.mu.Unlock()
	})
}

// run runs a call and answers it, unless it was cancelled.
func (p *peer) run(ctx context.Context, m *wire.Message) {
	name, _ := wire.Unquote(wire.Member(m.Params, "name"))
	run := p.tools[name]
	if run == nil {
		p.fail(ctx, m.ID, -32602, "unknown tool")
		return
	}
	if p.silent.Load() {
		<-ctx.Done()
		return
	}
	token := wire.Member(wire.Member(m.Params, "_meta"), "progressToken")
	answer, err := run(ctx, &call{args: wire.Member(m.Params, "arguments"), progress: func(done, total int) {
		if token != nil {
			params := fmt.Appendf(nil, `{"progressToken":%s,"progress":%d,"total":%d}`, token, done, total)
			_ = p.out.Offer(wire.AppendRequest(nil, nil, "notifications/progress", params)) // progress may be lost
		}
	}})
	if ctx.Err() != nil {
		return
	}
	raw := result(answer, err)
	p.results.add(p.name, raw)
	p.answer(ctx, m.ID, raw)
}

// result is the result object of what a tool returned.
func result(answer json.RawMessage, err error) json.RawMessage {
	if err != nil {
		return fmt.Appendf(nil, `{"content":[{"type":"text","text":%s}],"isError":true}`, wire.Quote(err.Error()))
	}
	return fmt.Appendf(nil, `{"content":[{"type":"text","text":%s}]}`, wire.Quote(string(answer)))
}

// answer and fail write a response; a client that is gone has no use for one.
func (p *peer) answer(ctx context.Context, id, result json.RawMessage) {
	_ = p.out.Write(ctx, wire.AppendResponse(nil, id, result))
}

func (p *peer) fail(ctx context.Context, id json.RawMessage, code int, text string) {
	_ = p.out.Write(ctx, wire.AppendError(nil, id, fmt.Appendf(nil, `{"code":%d,"message":%s}`, code, wire.Quote(text))))
}
