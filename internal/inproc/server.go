package inproc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"

	"heddle/internal/wire"
)

// Server is one MCP server. Each connection is a session of its own. Its fields
// are not changed once it is connected to.
type Server struct {
	Name         string
	Instructions string
	Definitions  json.RawMessage // array of the tools
	// Run returns the result object of a call, nil if there is no such tool. What it
	// returns after ctx has ended goes to nobody. Calls run side by side.
	Run func(ctx context.Context, c *Call) json.RawMessage
}

// Call is one tools/call at a server.
type Call struct {
	Tool      string
	Arguments json.RawMessage // nil if there are none
	// Progress tells the caller, if the caller asked for it.
	Progress func(done, total int)
}

// MaxFrame is the largest request in bytes that a server takes.
const MaxFrame = 4 << 20

// Connect serves a new stream until the other end closes it or ctx ends.
func (s *Server) Connect(ctx context.Context) (io.ReadWriteCloser, error) {
	client, conn := net.Pipe()
	go func() {
		defer conn.Close()
		_ = s.Serve(ctx, conn, conn)
	}()
	return client, nil
}

// Serve is a session over in and out, until in ends.
func (s *Server) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	p := &peer{Server: s, out: wire.NewWriter(out), running: map[string]context.CancelFunc{}}
	return p.serve(ctx, wire.NewReader(in, MaxFrame))
}

// peer is one session of a server.
type peer struct {
	*Server
	out *wire.Writer

	calls   sync.WaitGroup
	mu      sync.Mutex
	running map[string]context.CancelFunc // by the request's id
}

// serve answers requests until the stream ends, and cancels what then runs.
func (p *peer) serve(ctx context.Context, in *wire.Reader) error {
	ctx, cancel := context.WithCancel(ctx)
	defer p.calls.Wait()
	defer cancel()
	for {
		frame, err := in.Next()
		if large := (*wire.TooLargeError)(nil); errors.As(err, &large) {
			p.fail(ctx, large.ID, -32600, large.Error())
			continue
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
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
		p.answer(ctx, m.ID, fmt.Appendf(nil, `{"tools":%s}`, p.Definitions))
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
		wire.Quote(version), wire.Quote(p.Name), wire.Quote(p.Instructions))
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
	token := wire.Member(wire.Member(m.Params, "_meta"), "progressToken")
	result := p.Run(ctx, &Call{Tool: name, Arguments: wire.Member(m.Params, "arguments"), Progress: func(done, total int) {
		if token != nil {
			params := fmt.Appendf(nil, `{"progressToken":%s,"progress":%d,"total":%d}`, token, done, total)
			_ = p.out.Offer(wire.AppendRequest(nil, nil, "notifications/progress", params)) // progress may be lost
		}
	}})
	switch {
	case ctx.Err() != nil:
	case result == nil:
		p.fail(ctx, m.ID, -32602, "unknown tool")
	default:
		p.answer(ctx, m.ID, result)
	}
}

// answer and fail write a response; a client that is gone has no use for one.
func (p *peer) answer(ctx context.Context, id, result json.RawMessage) {
	_ = p.out.Write(ctx, wire.AppendResponse(nil, id, result))
}

func (p *peer) fail(ctx context.Context, id json.RawMessage, code int, text string) {
	_ = p.out.Write(ctx, wire.AppendError(nil, id, fmt.Appendf(nil, `{"code":%d,"message":%s}`, code, wire.Quote(text))))
}
