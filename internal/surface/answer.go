package surface

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"sync"

	"heddle"
	"heddle/internal/wire"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// textResult is a result of one text block.
func textResult(text string) json.RawMessage {
	b := append([]byte(`{"content":[{"type":"text","text":`), wire.Quote(text)...)
	return append(b, `}]}`...)
}

// refusal is what a host reads when a call was refused or failed.
type refusal struct {
	Kind         heddle.Kind        `json:"kind"`
	Message      string             `json:"message"`
	Tool         string             `json:"tool,omitempty"`
	Invoked      bool               `json:"upstream_invoked"`
	RetryAfterMS int64              `json:"retry_after_ms,omitempty"`
	Near         []string           `json:"near_names,omitempty"`
	Signature    string             `json:"signature,omitempty"`
	Violations   []heddle.Violation `json:"violations,omitempty"`
}

// answer returns the result object that says err, or the error object where the
// server itself answered with one.
func (s *session) answer(c *heddle.Call, err error) (result, rpcError json.RawMessage) {
	var rpc *heddle.RPCError
	if errors.As(err, &rpc) {
		return nil, rpc.Raw
	}
	var e *heddle.Error
	if !errors.As(err, &e) {
		e = &heddle.Error{Kind: heddle.KindInternal, Tool: c.Tool, Public: "heddle failed on this call. Its log says why.", Err: err}
	}
	if e.Kind == heddle.KindInternal {
		s.logger.Error("call failed", "tool", c.Tool, "err", e.Err)
	}
	message := e.Public
	if len(e.Near) > 0 {
		message += " Near names: " + strings.Join(e.Near, ", ") + "."
	}
	r := refusal{
		Kind: e.Kind, Message: message, Tool: e.Tool, Invoked: e.Invoked, RetryAfterMS: e.RetryAfter.Milliseconds(),
		Near: e.Near, Violations: e.Violations,
	}
	text := string(e.Kind) + ": " + message
	if e.Signature != "" && s.firstRefusal(e.Tool) {
		r.Signature = e.Signature
		text += "\nSignature: " + e.Signature
	}
	var b bytes.Buffer
	b.WriteString(`{"content":[{"type":"text","text":`)
	b.Write(wire.Quote(text))
	b.WriteString(`}],"structuredContent":{"error":`)
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(r) // strings and numbers always encode
	b.Truncate(b.Len() - 1)
	b.WriteString(`},"isError":true}`)
	return b.Bytes(), nil
}

// rpcError returns the JSON-RPC error that says err, for methods whose results
// cannot say that they failed.
func (s *session) rpcError(err error) json.RawMessage {
	var rpc *heddle.RPCError
	if errors.As(err, &rpc) {
		return rpc.Raw
	}
	var e *heddle.Error
	if !errors.As(err, &e) {
		s.logger.Error("request failed", "err", err)
		return heddle.NewRPCError(jsonrpc.CodeInternalError, "heddle failed on this request. Its log says why.").Raw
	}
	return heddle.NewRPCError(jsonrpc.CodeInternalError, string(e.Kind)+": "+e.Public).Raw
}

// refused remembers the tools whose signature a session has seen.
type refused struct {
	mu   sync.Mutex
	seen map[string]bool
}

// firstRefusal reports whether this is the first refusal of the tool in this
// session.
func (r *refused) firstRefusal(tool string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen[tool] || len(r.seen) > 10000 {
		return false
	}
	if r.seen == nil {
		r.seen = map[string]bool{}
	}
	r.seen[tool] = true
	return true
}
