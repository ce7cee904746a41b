package surface

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"sync"
	"time"

	"heddle"
	"heddle/internal/wire"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// ID implements [heddle.Host].
func (h *Stdio) ID() string { return h.s.id }

// AwaitCapabilities returns what the host can, as soon as it says so; nil at the
// end of ctx.
func (h *Stdio) AwaitCapabilities(ctx context.Context) json.RawMessage {
	select {
	case <-h.introduced:
	case <-ctx.Done():
	}
	return h.Capabilities()
}

// Capabilities implements [heddle.Host].
func (h *Stdio) Capabilities() json.RawMessage {
	if c := h.capabilities.Load(); c != nil {
		return *c
	}
	return nil
}

// Host returns whom a server may ask outside of any call: there is one host.
func (h *Stdio) Host() heddle.Host { return h }

// Notify implements [heddle.Host].
func (h *Stdio) Notify(_ context.Context, method string, params json.RawMessage) error {
	return h.conn.Writer().Offer(wire.AppendRequest(nil, nil, method, params))
}

// greetWait is how long a server's request waits for the host to have said what
// it can.
const greetWait = 10 * time.Second

// Request implements [heddle.Host].
func (h *Stdio) Request(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	if h.stateless.Load() && h.version.Load() == nil {
		return nil, heddle.NewRPCError(jsonrpc.CodeMethodNotFound, "a host of the protocol without handshake cannot be asked within a call")
	}
	if err := h.asked.wait(ctx); err != nil {
		return nil, err
	}
	if err := askable(h.Capabilities(), method, params); err != nil {
		return nil, err
	}
	id, answer, err := h.asked.add()
	if err != nil {
		return nil, err
	}
	defer h.asked.remove(id)
	raw := askID(id)
	if err := h.conn.Writer().Write(ctx, wire.AppendRequest(nil, raw, method, params)); err != nil {
		return nil, err
	}
	select {
	case m, ok := <-answer:
		if !ok {
			return nil, errHostGone
		}
		if m.Error != nil {
			return nil, &heddle.RPCError{Raw: m.Error}
		}
		return m.Result, nil
	case <-ctx.Done():
		params := append(append([]byte(`{"requestId":`), raw...), `,"reason":"no longer wanted"}`...)
		_ = h.Notify(ctx, "notifications/cancelled", params) // best effort, as the protocol has it
		return nil, context.Cause(ctx)
	}
}

// Heard tells the host what a server said unasked; to names the host that it
// concerns, if that is known. It does not block.
func (h *Stdio) Heard(ctx context.Context, server, method string, params json.RawMessage, to heddle.Host) {
	sdk := h.server.Load()
	if sdk == nil {
		return
	}
	switch method {
	case "notifications/message":
		level := ""
		if l := h.s.level.Load(); l != nil {
			level = *l
		}
		wanted := to != nil // a host without handshake hears of its own calls alone
		if h.version.Load() != nil {
			wanted = loud(params, level)
		}
		if wanted {
			_ = h.Notify(ctx, method, logMessage(server, params)) // a host that is behind loses messages
		}
	case "notifications/elicitation/complete":
		_ = h.Notify(ctx, method, params)
	default:
		if !h.cares(sdk, method) {
			return
		}
		// The SDK writes, and may wait for the host.
		h.beside(func() { heard(ctx, sdk, h.o.Gateway(), server, method, params) })
	}
}

// cares reports whether the host may want to hear of this: not before it has said
// who it is, and with a handshake not of changes of a list that it never read. A
// host without one has subscribed, which the SDK knows.
func (h *Stdio) cares(sdk *mcp.Server, method string) bool {
	if h.version.Load() != nil {
		return h.s.reads(method)
	}
	for ss := range sdk.Sessions() {
		if ss.InitializeParams() != nil {
			return true
		}
	}
	return false
}

// errHostGone is the end of what waits for the host.
var errHostGone = errors.New("the host is gone")

// asked are the requests that wait for the host's answer.
type asked struct {
	ready chan struct{} // closed once the host has initialised its session

	mu      sync.Mutex
	opened  bool
	ended   bool
	last    int
	waiting map[int]chan wire.Message
}

const askPrefix = `"h`

func askID(n int) json.RawMessage {
	return append(strconv.AppendInt([]byte(askPrefix), int64(n), 10), '"')
}

// open lets requests through.
func (a *asked) open() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.opened {
		a.opened = true
		close(a.ready)
	}
}

// wait waits until the host may be asked.
func (a *asked) wait(ctx context.Context) error {
	select {
	case <-a.ready:
		return nil
	default:
	}
	t := time.NewTimer(greetWait)
	defer t.Stop()
	select {
	case <-a.ready:
		return nil
	case <-t.C:
		return heddle.NewRPCError(-32601, "the host has no session that requests could be sent in")
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (a *asked) add() (int, <-chan wire.Message, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended {
		return 0, nil, errHostGone
	}
	if a.waiting == nil {
		a.waiting = map[int]chan wire.Message{}
	}
	a.last++
	c := make(chan wire.Message, 1)
	a.waiting[a.last] = c
	return a.last, c, nil
}

func (a *asked) remove(n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.waiting, n)
}

// answered takes the host's answer to one of these requests; any other is the
// SDK's.
func (a *asked) answered(m *wire.Message) bool {
	digits, ok := bytes.CutPrefix(m.ID, []byte(askPrefix))
	if !ok || len(digits) < 2 {
		return false
	}
	n, err := strconv.Atoi(string(digits[:len(digits)-1]))
	if err != nil {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if c := a.waiting[n]; c != nil {
		delete(a.waiting, n)
		c <- *m
	}
	return true
}

// end ends all that waits.
func (a *asked) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ended = true
	for n, c := range a.waiting {
		delete(a.waiting, n)
		close(c)
	}
}
