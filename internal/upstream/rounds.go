package upstream

import (
	"bytes"
	"context"
	"encoding/json"

	"heddle"
	"heddle/internal/wire"
)

// maxRounds is how often a server may ask back within one call.
const maxRounds = 10

// rounds answers the questions of a server without handshake for a host with
// one: such a server returns what it wants to know instead of asking, and is
// called again with the answers. The host is asked as its own protocol has it.
func (s *session) rounds(ctx context.Context, c *heddle.Call, tool string, raw json.RawMessage, l limits) (json.RawMessage, error) {
	for range maxRounds {
		if !bytes.Contains(raw, []byte(`"inputRequests"`)) {
			return raw, nil
		}
		questions := wire.Member(raw, "inputRequests")
		if kind, _ := wire.Unquote(wire.Member(raw, "resultType")); kind != "input_required" || questions == nil {
			return raw, nil
		}
		answers, err := askAll(ctx, c.Host, questions)
		if err != nil {
			return nil, err
		}
		next := *c
		next.Extra = append(append(append([]byte(nil), c.Extra...), `,"inputResponses":`...), answers...)
		if state := wire.Member(raw, "requestState"); state != nil {
			next.Extra = append(append(next.Extra, `,"requestState":`...), state...)
		}
		if raw, err = s.call(ctx, &next, tool, l); unseen(err) {
			return nil, s.damaged("was a question, and its session ended before it was told more") // the call itself was seen
		} else if err != nil {
			return nil, err
		}
	}
	return nil, &heddle.Error{
		Kind: heddle.KindUpstreamError, Op: "upstream.rounds", Invoked: true,
		Public: "Server " + s.name + " asked back too often within one call.",
	}
}

// askAll puts each question to the host and returns the answers under the same
// keys.
func askAll(ctx context.Context, host heddle.Host, questions json.RawMessage) (json.RawMessage, error) {
	out, failed := []byte{'{'}, error(nil)
	_ = wire.Members(questions, func(key string, q json.RawMessage) bool {
		method, _ := wire.Unquote(wire.Member(q, "method"))
		if !hostMethods[method] {
			failed = heddle.NewRPCError(-32601, "a server asked for "+method+", which no host answers")
			return false
		}
		params := wire.Member(q, "params")
		if params == nil {
			params = json.RawMessage(`{}`)
		}
		result, err := host.Request(ctx, method, params)
		if err != nil {
			failed = err
			return false
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, wire.Quote(key)...), ':'), result...)
		return true
	})
	return append(out, '}'), failed
}
