//lint:file-ignore SA1019 protocol versions before 2026-07-28 have sampling, roots and logging, and so do the hosts and servers that speak them

package surface

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"heddle"
	"heddle/internal/wire"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// httpHost is the host of one HTTP request. What is sent to it goes on the
// request's own stream, which the SDK finds by the request's context.
type httpHost struct {
	ctx          context.Context
	s            *session
	ss           *mcp.ServerSession
	capabilities json.RawMessage

	mu    sync.Mutex
	notes chan note // nil before the first
	ended bool
	sent  sync.WaitGroup
}

type note struct {
	method string
	params json.RawMessage
}

const (
	// maxNotes is how many notifications wait for a host that is behind; more are
	// lost, as progress may be.
	maxNotes = 256
	// noteWait is how long an answer waits for the notifications before it.
	noteWait = time.Second
)

func newHTTPHost(ctx context.Context, s *session, ss *mcp.ServerSession) *httpHost {
	h := &httpHost{ctx: ctx, s: s, ss: ss}
	if ss != nil && ss.ID() != "" {
		h.capabilities = capabilitiesOf(ss)
	}
	return h
}

// capabilitiesOf returns what the host of a session said that it can. The SDK
// keeps roots apart, to tell an empty object from none.
func capabilitiesOf(ss *mcp.ServerSession) json.RawMessage {
	p := ss.InitializeParams()
	if p == nil || p.Capabilities == nil {
		return nil
	}
	c := struct {
		Roots        *mcp.RootCapabilities        `json:"roots,omitempty"`
		Sampling     *mcp.SamplingCapabilities    `json:"sampling,omitempty"`
		Elicitation  *mcp.ElicitationCapabilities `json:"elicitation,omitempty"`
		Experimental map[string]any               `json:"experimental,omitempty"`
		Extensions   map[string]any               `json:"extensions,omitempty"`
	}{p.Capabilities.RootsV2, p.Capabilities.Sampling, p.Capabilities.Elicitation, p.Capabilities.Experimental, p.Capabilities.Extensions}
	raw, err := json.Marshal(c)
	if err != nil {
		return nil
	}
	return raw
}

// ID implements [heddle.Host].
func (h *httpHost) ID() string { return h.s.id }

// Capabilities implements [heddle.Host].
func (h *httpHost) Capabilities() json.RawMessage { return h.capabilities }

// Notify implements [heddle.Host]. It does not block: a goroutine writes, in
// order, until the request is answered.
func (h *httpHost) Notify(_ context.Context, method string, params json.RawMessage) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ended {
		return errHostGone
	}
	if h.notes == nil {
		h.notes = make(chan note, maxNotes)
		h.sent.Go(h.write)
	}
	select {
	case h.notes <- note{method, params}:
		return nil
	default:
		return wire.ErrFull
	}
}

func (h *httpHost) write() {
	for n := range h.notes {
		h.send(n)
	}
}

// send writes a notification on the request's stream.
func (h *httpHost) send(n note) {
	ctx := context.WithValue(h.ctx, rawKey{}, n.params)
	switch n.method {
	case "notifications/progress":
		_ = h.ss.NotifyProgress(ctx, &mcp.ProgressNotificationParams{}) // progress may be lost
	case "notifications/message":
		logTo(ctx, h.ss, n.params)
	case "notifications/elicitation/complete":
		id, _ := wire.Unquote(wire.Member(n.params, "elicitationId"))
		_ = h.ss.NotifyElicitationComplete(ctx, &mcp.ElicitationCompleteParams{ElicitationID: id}) // best effort
	}
}

// heard tells the host what a server said on the stream of its call.
func (h *httpHost) heard(server, method string, params json.RawMessage) {
	if method == "notifications/message" {
		params = logMessage(server, params)
	}
	_ = h.Notify(h.ctx, method, params) // a host that is behind loses messages
}

// done lets what was said before the answer arrive before it.
func (h *httpHost) done() {
	h.mu.Lock()
	h.ended = true
	notes := h.notes
	h.mu.Unlock()
	if notes == nil {
		return
	}
	close(notes)
	written := make(chan struct{})
	go func() { h.sent.Wait(); close(written) }()
	t := time.NewTimer(noteWait)
	defer t.Stop()
	select {
	case <-written:
	case <-t.C:
	}
}

// logTo sends a log message if the session wants its level.
func logTo(ctx context.Context, ss *mcp.ServerSession, message json.RawMessage) {
	level, _ := wire.Unquote(wire.Member(message, "level"))
	_ = ss.Log(context.WithValue(ctx, rawKey{}, message), &mcp.LoggingMessageParams{Level: mcp.LoggingLevel(level)}) // a host that is gone misses nothing
}

// Request implements [heddle.Host].
func (h *httpHost) Request(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	if h.ss == nil || h.ss.ID() == "" {
		return nil, heddle.NewRPCError(jsonrpc.CodeMethodNotFound, "a host of the protocol without handshake cannot be asked within a call")
	}
	if err := askable(h.capabilities, method, params); err != nil {
		return nil, err
	}
	if params == nil {
		params = json.RawMessage(`{}`)
	}
	both, cancel := context.WithCancel(context.WithValue(h.ctx, rawKey{}, params))
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	var meta mcp.Meta
	var err error
	switch method {
	case "sampling/createMessage":
		var r *mcp.CreateMessageWithToolsResult
		if r, err = h.ss.CreateMessageWithTools(both, &mcp.CreateMessageWithToolsParams{}); err == nil {
			meta = r.Meta
		}
	case "elicitation/create":
		mode, _ := wire.Unquote(wire.Member(params, "mode"))
		var r *mcp.ElicitResult
		if r, err = h.ss.Elicit(both, &mcp.ElicitParams{Mode: mode}); err == nil {
			meta = r.Meta
		}
	case "roots/list":
		var r *mcp.ListRootsResult
		if r, err = h.ss.ListRoots(both, nil); err == nil {
			meta = r.Meta
		}
	}
	if err != nil {
		return nil, asHostError(err)
	}
	raw, ok := meta[rawMember].(string)
	if !ok {
		return nil, heddle.NewRPCError(jsonrpc.CodeInternalError, "the host's answer is no result")
	}
	return json.RawMessage(raw), nil
}

// asHostError keeps the error that the host answered with.
func asHostError(err error) error {
	var e *jsonrpc.Error
	if !errors.As(err, &e) {
		return err
	}
	raw, marshalErr := json.Marshal(e)
	if marshalErr != nil {
		return err
	}
	return &heddle.RPCError{Raw: raw}
}

// The SDK's types lose what they do not know, so what passes through them is
// carried beside them: params in the context on the way to the host, results in a
// member of their _meta on the way back.

// rawKey is the context's key of raw params.
type rawKey struct{}

// rawMember is the member of _meta that holds a host's raw result.
const rawMember = "heddle/raw"

// keepRaw replaces the result in a host's response by one that all of the SDK's
// types can read and that carries the real one.
func keepRaw(body, result json.RawMessage) json.RawMessage {
	carrier := append([]byte(`{"action":"accept","roots":[],"role":"assistant","model":"","content":{"type":"text","text":""},"_meta":{"`+rawMember+`":`), wire.Quote(string(result))...)
	return wire.Replace(body, "result", append(carrier, `}}`...))
}

// sendRaw sends the raw params that the context carries in place of the typed
// ones.
func sendRaw(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		raw, ok := ctx.Value(rawKey{}).(json.RawMessage)
		ss, isServer := req.GetSession().(*mcp.ServerSession)
		if ok && isServer {
			req = &mcp.ServerRequest[*rawParams]{Session: ss, Params: &rawParams{ElicitParams: &mcp.ElicitParams{}, raw: raw}}
		}
		return next(ctx, method, req)
	}
}

// rawParams carries raw params through the SDK, to which one type of params is as
// good as another.
type rawParams struct {
	*mcp.ElicitParams
	raw json.RawMessage
}

// MarshalJSON implements [json.Marshaler].
func (p *rawParams) MarshalJSON() ([]byte, error) { return p.raw, nil }
