package surface

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"

	"heddle"
	"heddle/internal/gateway"
	"heddle/internal/wire"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// session is one host's session: what both lanes of a transport share.
type session struct {
	refused
	id        string
	principal heddle.Principal
	mode      Mode
	gateway   func() *gateway.Gateway
	logger    *slog.Logger
	host      heddle.Host
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
func (s *session) call(ctx context.Context, params json.RawMessage) (result, rpcError json.RawMessage) {
	g := s.gateway()
	c, rpc := s.translate(params)
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
	c := &heddle.Call{Principal: s.principal, Session: s.id, Mode: s.mode.Name(), Host: s.host}
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
	if bytes.Contains(c.Meta, []byte(strings.TrimSuffix(modernPrefix, "/"))) {
		c.Meta = withoutModern(c.Meta)
	}
	return c, nil
}

// withoutModern returns _meta without the protocol's own members, nil if nothing
// is left.
func withoutModern(meta json.RawMessage) json.RawMessage {
	out := []byte{'{'}
	_ = wire.Members(meta, func(key string, v json.RawMessage) bool {
		if !strings.HasPrefix(key, modernPrefix) {
			if len(out) > 1 {
				out = append(out, ',')
			}
			out = append(append(append(out, wire.Quote(key)...), ':'), v...)
		}
		return true
	})
	if len(out) == 1 {
		return nil
	}
	return append(out, '}')
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

// carried are the methods that reach the SDK. What heddle cannot carry to an
// upstream it does not answer in the upstreams' place either.
var carried = map[string]bool{
	"initialize": true, "ping": true, "server/discover": true, "subscriptions/listen": true, "tools/list": true, "tools/call": true,
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

// middleware answers what is heddle's to answer with raw bytes.
func (s *session) middleware(list func(context.Context) json.RawMessage) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			var raw json.RawMessage
			if extra := req.GetExtra(); extra != nil && len(extra.Header[paramsHeader]) == 1 {
				raw = json.RawMessage(extra.Header[paramsHeader][0])
			}
			switch {
			case method == "tools/call":
				return s.sdkCall(ctx, raw)
			case method == "tools/list":
				if wire.Member(raw, "cursor") != nil {
					return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "unknown cursor: heddle lists all tools on one page"}
				}
				r := &listResult{ListToolsResult: &mcp.ListToolsResult{}, raw: list(ctx), modern: isModern(raw)}
				return r, nil
			case carried[method] || strings.HasPrefix(method, "notifications/"):
				return next(ctx, method, req)
			}
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: fmt.Sprintf("%q is not supported", method)}
		}
	}
}

// sdkCall answers a tools/call that came through the SDK.
func (s *session) sdkCall(ctx context.Context, raw json.RawMessage) (mcp.Result, error) {
	result, rpcError := s.call(ctx, raw)
	if rpcError != nil {
		e := &jsonrpc.Error{}
		if err := json.Unmarshal(rpcError, e); err != nil {
			return nil, fmt.Errorf("upstream error is no error object: %w", err)
		}
		return nil, e
	}
	return &callResult{CallToolResult: &mcp.CallToolResult{}, raw: result, modern: isModern(raw)}, nil
}

// callResult carries a raw tools/call result through the SDK.
type callResult struct {
	*mcp.CallToolResult
	raw    json.RawMessage
	modern bool
}

// MarshalJSON implements [json.Marshaler].
func (r *callResult) MarshalJSON() ([]byte, error) {
	if !r.modern {
		return r.raw, nil
	}
	return modernise(r.raw, r.GetMeta(), false), nil
}

// listResult carries a raw tools/list result through the SDK.
type listResult struct {
	*mcp.ListToolsResult
	raw    json.RawMessage
	modern bool
}

// MarshalJSON implements [json.Marshaler].
func (r *listResult) MarshalJSON() ([]byte, error) {
	if !r.modern {
		return r.raw, nil
	}
	return modernise(r.raw, r.GetMeta(), true), nil
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
