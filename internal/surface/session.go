package surface

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"heddle"
	"heddle/internal/gateway"
	"heddle/internal/wire"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// session is one host's session: what both lanes of a transport share.
type session struct {
	refused
	id         string
	principal  heddle.Principal
	mode       Mode
	gateway    func() *gateway.Gateway
	logger     *slog.Logger
	level      atomic.Pointer[string] // of log messages that the host wants
	read       sync.Map               // methods that the host has used
	logs       queue                  // of writes that may wait for the host
	subscribed subscriptions
	gone       chan struct{} // closed with the session; nil where a connection ends with it
}

// while returns a context that also ends with the session.
func (s *session) while(ctx context.Context) (context.Context, func()) {
	if s.gone == nil {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-s.gone:
			cancel(errHostGone)
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil) }
}

func newSessionID() string { return strings.ToLower(rand.Text()[:16]) }

// modernPrefix begins the members of _meta that the protocol itself defines
// since 2026-07-28. They speak of the connection to the host and are never
// copied to an upstream.
const modernPrefix = "io.modelcontextprotocol/"

// isModern reports whether a request follows the protocol without handshake. The
// first look is cheap and leaves out the "/", which some hosts escape.
func isModern(params json.RawMessage) bool {
	return bytes.Contains(params, []byte("protocolVersion")) && wire.Member(wire.Member(params, "_meta"), mcp.MetaKeyProtocolVersion) != nil
}

// call runs the tools/call request with these params. Exactly one of the
// results is set, or err if the params are no call at all.
func (s *session) call(ctx context.Context, host heddle.Host, params json.RawMessage) (result, rpcError json.RawMessage) {
	g := s.gateway()
	c, rpc := s.translate(params)
	c.Host = host
	var d heddle.Delivery
	var err error
	if rpc != nil { // no call at all, but still a row
		d, err = g.Own(ctx, c, func(context.Context) (heddle.Delivery, error) {
			return heddle.Delivery{}, &heddle.Error{Kind: heddle.KindInvalidArguments, Op: "surface.translate", Err: rpc}
		})
	} else {
		d, err = s.mode.Call(ctx, g, c)
	}
	if err != nil {
		return s.answer(c, err)
	}
	return d.Raw, nil
}

// translate reads the params of tools/call. With an error, what could be read of
// them is returned too.
func (s *session) translate(params json.RawMessage) (*heddle.Call, *heddle.RPCError) {
	c := &heddle.Call{Principal: s.principal, Session: s.id, Mode: s.mode.Name()}
	named := false
	err := wire.Members(params, func(key string, v json.RawMessage) bool {
		switch key {
		case "name":
			c.Tool, named = wire.Unquote(v)
		case "arguments":
			c.Arguments = v
		case "_meta":
			c.Meta = v
		default:
			c.Extra = append(append(append(c.Extra, ','), wire.Quote(key)...), ':')
			c.Extra = append(c.Extra, v...)
		}
		return true
	})
	if err != nil || !named {
		return c, heddle.NewRPCError(jsonrpc.CodeInvalidParams, `tools/call needs params with a string "name"`)
	}
	if c.Meta != nil && c.Meta[0] != '{' {
		return c, heddle.NewRPCError(jsonrpc.CodeInvalidParams, `"_meta" must be an object`)
	}
	c.Meta, c.Protocol = splitMeta(c.Meta)
	return c, nil
}

// splitMeta takes the protocol's own members out of a request's _meta. What is
// left is nil if there was nothing else; protocol is `"key":value,…`, nil where
// the host speaks a protocol with handshake.
func splitMeta(meta json.RawMessage) (rest, protocol json.RawMessage) {
	if !bytes.Contains(meta, []byte(strings.TrimSuffix(modernPrefix, "/"))) {
		return meta, nil
	}
	modern := false
	_ = wire.Members(meta, func(key string, v json.RawMessage) bool {
		into := &rest
		if strings.HasPrefix(key, modernPrefix) {
			into = &protocol
			modern = modern || key == mcp.MetaKeyProtocolVersion
		}
		if len(*into) > 0 {
			*into = append(*into, ',')
		}
		*into = append(append(append(*into, wire.Quote(key)...), ':'), v...)
		return true
	})
	if rest != nil {
		rest = append(append([]byte{'{'}, rest...), '}')
	}
	if !modern {
		protocol = nil
	}
	return rest, protocol
}

// list returns the tools/list result and the members that identify it.
func (s *session) list(booted bool) json.RawMessage {
	tools := s.mode.Tools(s.gateway(), s.principal, booted)
	size := 16
	for _, t := range tools {
		size += len(t) + 1
	}
	b := append(make([]byte, 0, size), `{"tools":[`...)
	for i, t := range tools {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, t...)
	}
	return append(b, `]}`...)
}

// carried are the methods that the SDK answers, with heddle's handlers behind it
// where a server is concerned.
var carried = map[string]bool{
	"initialize": true, "ping": true, "server/discover": true, "subscriptions/listen": true,
	"resources/subscribe": true, "resources/unsubscribe": true, "logging/setLevel": true,
}

// forwarded are the methods that go to a server as they are, with whether their
// results say for how long they may be kept.
var forwarded = map[string]bool{
	"resources/list": true, "resources/templates/list": true, "resources/read": true, "prompts/list": true, "prompts/get": false, "completion/complete": false,
}

// paramsHeader is where the transport leaves a request's raw params for the
// middleware, since the SDK's own parameters have lost digits and order.
const paramsHeader = "Heddle-Params"

// idHeader is where it leaves the request's raw id.
const idHeader = "Heddle-Id"

// withRaw returns what makes raw params and a raw id travel with a request
// through the SDK.
func withRaw(params, id json.RawMessage) *mcp.RequestExtra {
	return &mcp.RequestExtra{Header: map[string][]string{paramsHeader: {string(params)}, idHeader: {string(id)}}}
}

// front is what a transport gives to the methods that the SDK hands over.
type front struct {
	// session returns the session and the host of a request.
	session func(ctx context.Context, req mcp.Request) (*session, heddle.Host)
	// list answers tools/list.
	list func(ctx context.Context, s *session) json.RawMessage
	// level notes the log level that a session wants. ctx outlives the request.
	level func(ctx context.Context, s *session, level string)
}

// middleware answers what is heddle's to answer with raw bytes.
func (f *front) middleware(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		var raw json.RawMessage
		if extra := req.GetExtra(); extra != nil && len(extra.Header[paramsHeader]) == 1 {
			raw = json.RawMessage(extra.Header[paramsHeader][0])
		}
		s, host := f.session(ctx, req)
		ctx, cancel := s.while(ctx)
		defer cancel()
		if h, ok := host.(interface{ done() }); ok {
			defer h.done()
		}
		cacheable, forward := forwarded[method]
		switch {
		case method == "tools/call":
			result, rpcError := s.call(ctx, host, raw)
			return sdkAnswer(result, rpcError, isModern(raw), false)
		case method == "tools/list":
			if wire.Member(raw, "cursor") != nil {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "unknown cursor: heddle lists all tools on one page"}
			}
			return sdkAnswer(f.list(ctx, s), nil, isModern(raw), true)
		case forward:
			result, rpcError := s.forward(ctx, host, method, raw)
			return sdkAnswer(result, rpcError, isModern(raw), cacheable)
		case method == "logging/setLevel":
			level, _ := wire.Unquote(wire.Member(raw, "level"))
			if !slices.Contains(logLevels, level) {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "level must be one of " + strings.Join(logLevels, ", ")}
			}
			f.level(context.WithoutCancel(ctx), s, level)
		case method == "notifications/roots/list_changed":
			s.gateway().RootsChanged()
		case !carried[method] && !strings.HasPrefix(method, "notifications/"):
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: fmt.Sprintf("%q is not supported", method)}
		}
		return next(ctx, method, req)
	}
}

// forward answers a request about what is not tools.
func (s *session) forward(ctx context.Context, host heddle.Host, method string, params json.RawMessage) (result, rpcError json.RawMessage) {
	origin := gateway.Origin{Host: host}
	if meta := wire.Member(params, "_meta"); meta != nil {
		meta, origin.Protocol = splitMeta(meta)
		if meta == nil {
			meta = json.RawMessage(`{}`)
		}
		params = wire.Replace(params, "_meta", meta)
	}
	s.read.Store(method, true)
	raw, err := s.gateway().Forward(ctx, origin, method, params)
	if err != nil {
		return nil, s.rpcError(err)
	}
	return raw, nil
}

// reads reports whether the host has read the list whose change this says; of
// anything else, it may always want to hear.
func (s *session) reads(notification string) bool {
	methods := map[string][]string{
		"notifications/resources/list_changed": {"resources/list", "resources/templates/list"}, "notifications/prompts/list_changed": {"prompts/list"},
	}[notification]
	for _, m := range methods {
		if _, ok := s.read.Load(m); ok {
			return true
		}
	}
	return methods == nil
}

// sdkAnswer is an answer of heddle's on its way through the SDK.
func sdkAnswer(result, rpcError json.RawMessage, modern, cacheable bool) (mcp.Result, error) {
	if rpcError != nil {
		e := &jsonrpc.Error{}
		if err := json.Unmarshal(rpcError, e); err != nil {
			return nil, fmt.Errorf("upstream error is no error object: %w", err)
		}
		return nil, e
	}
	return &rawResult{CallToolResult: &mcp.CallToolResult{}, raw: result, modern: modern, cacheable: cacheable}, nil
}

// rawResult carries the raw result of any method through the SDK, to which one
// type of result is as good as another.
type rawResult struct {
	*mcp.CallToolResult
	raw               json.RawMessage
	modern, cacheable bool
}

// MarshalJSON implements [json.Marshaler].
func (r *rawResult) MarshalJSON() ([]byte, error) {
	if !r.modern {
		return r.raw, nil
	}
	return modernise(r.raw, r.GetMeta(), r.cacheable), nil
}

// modernise adds to a raw result what the protocol demands since 2026-07-28 and
// the server behind, which may be older, did not write: resultType, the members
// of _meta that the SDK sets, and for lists how long they may be cached.
func modernise(raw json.RawMessage, meta map[string]any, cacheable bool) json.RawMessage {
	var theirs json.RawMessage
	has := map[string]bool{}
	start, end := 0, 0
	_ = wire.Spans(raw, func(key string, from, to int) bool {
		has[key] = true
		if key == "_meta" {
			theirs, start, end = raw[from:to], from, to
		}
		return true
	})
	out := []byte{'{'}
	if !has["resultType"] {
		out = append(out, `"resultType":"complete",`...)
	}
	if cacheable && !has["ttlMs"] {
		out = append(out, `"ttlMs":0,"cacheScope":"private",`...)
	}
	merged := mergeMeta(theirs, meta)
	if theirs == nil {
		out = append(append(append(out, `"_meta":`...), merged...), ',')
		out = append(out, raw[1:]...)
	} else {
		out = append(append(append(out, raw[1:start]...), merged...), raw[end:]...)
	}
	if len(has) == 0 { // an empty result leaves a comma before its end
		out = append(bytes.TrimRight(out[:len(out)-1], ","), '}')
	}
	return out
}

// mergeMeta adds to raw _meta the members that it lacks.
func mergeMeta(raw json.RawMessage, add map[string]any) json.RawMessage {
	has := map[string]bool{}
	_ = wire.Members(raw, func(key string, _ json.RawMessage) bool { has[key] = true; return true })
	out := []byte{'{'}
	if len(has) > 0 {
		out = append([]byte(nil), raw[:len(raw)-1]...)
	}
	for k, v := range add {
		value, err := json.Marshal(v)
		if has[k] || err != nil {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, wire.Quote(k)...), ':'), value...)
	}
	return append(out, '}')
}
