package gateway

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"sync"
	"time"

	"heddle"
	"heddle/internal/policy"
	"heddle/internal/wire"
)

// askWait is how long a user has to answer.
const askWait = 10 * time.Minute

// ask puts a check's question to the user through the host that made the call.
// Where nobody can ask or answers, the call is refused with what to do instead. A
// host without handshake is not asked within the call: it gets d, which has the
// question, and calls again with the answer.
func (g *Gateway) ask(ctx context.Context, c *heddle.Call, t *heddle.Tool, v policy.Verdict) (d heddle.Delivery, _ policy.Verdict) {
	params, _ := json.Marshal(map[string]any{
		"message":         v.Question,
		"requestedSchema": map[string]any{"type": "object", "properties": map[string]any{}},
	})
	if c.Protocol != nil {
		return g.askBack(c, t, v, params)
	}
	if capabilities := c.Host.Capabilities(); capabilities != nil && !asksForms(capabilities) {
		return d, unasked(c, v, nil)
	}
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	answer, err := c.Host.Request(ctx, "elicitation/create", params)
	rpc := (*heddle.RPCError)(nil)
	switch {
	case errors.As(err, &rpc):
		return d, unasked(c, v, err)
	case errors.Is(err, context.DeadlineExceeded):
		return d, unconfirmed(v, "The user has not answered whether this call may be made. Ask them, then call again.", err)
	}
	return d, answered(v, answer, err)
}

// asksForms reports whether a host that can do this shows its user a form: one that
// names other ways alone does not.
func asksForms(capabilities json.RawMessage) bool {
	way := wire.Member(capabilities, "elicitation")
	return way != nil && (wire.Member(way, "form") != nil || wire.Member(way, "url") == nil)
}

// answered reads the user's answer.
func answered(v policy.Verdict, answer json.RawMessage, err error) policy.Verdict {
	if action, _ := wire.Unquote(wire.Member(answer, "action")); err == nil && action == "accept" {
		v.Action = policy.Allow
		v.Decisions = append(v.Decisions, heddle.Decision{Check: "confirmation", Action: "noted", Rule: "accepted by the user"})
		return v
	}
	return unconfirmed(v, "The user did not confirm this call. Do not repeat it unless they ask for it.", err)
}

// unasked refuses a call that nobody can be asked about.
func unasked(c *heddle.Call, v policy.Verdict, err error) policy.Verdict {
	if c.Mode == "cli" {
		return unconfirmed(v, "This call needs the user's confirmation, and there is no terminal to ask at: run the command in one.", err)
	}
	return unconfirmed(v, "This call needs the user's confirmation, and this host cannot ask for it (MCP elicitation). The user can make the call with `heddle call`, "+
		"use a host that can ask, or take the tool out of tools.confirm in heddle.yml.", err)
}

func unconfirmed(v policy.Verdict, public string, err error) policy.Verdict {
	if err != nil {
		err = errors.New(err.Error()) // the host's own error is for the log; the answer is heddle's
	}
	v.Action = policy.Refuse
	v.Decisions = append(v.Decisions, heddle.Decision{Check: "confirmation", Action: "refused", Rule: "not confirmed"})
	v.Err = &heddle.Error{Kind: heddle.KindConfirmation, Op: "gateway.ask", Public: public, Err: err}
	return v
}

// Confirmations remembers what users have confirmed at hosts without handshake. It
// outlives a gateway: a host may ask its user while the configuration is read anew.
type Confirmations struct {
	key [32]byte

	mu    sync.Mutex
	until map[string]time.Time
}

// NewConfirmations returns an empty memory.
func NewConfirmations() *Confirmations {
	c := &Confirmations{until: map[string]time.Time{}}
	_, _ = rand.Read(c.key[:]) // never fails
	return c
}

const (
	// confirmPrefix begins the state that a host sends back with the user's answer, and
	// confirmKey is the question's name.
	confirmPrefix = "heddle-confirm:"
	confirmKey    = "heddle_confirm"
	maxConfirmed  = 10_000
)

// askBack asks a host that calls again with the answer. The state proves that it was
// this call that the user was asked about.
func (g *Gateway) askBack(c *heddle.Call, t *heddle.Tool, v policy.Verdict, params json.RawMessage) (d heddle.Delivery, _ policy.Verdict) {
	extra := object(c.Extra)
	state, _ := wire.Unquote(wire.Member(extra, "requestState"))
	id := g.confirmations.digest(c, t, v.Arguments)
	switch {
	case strings.HasPrefix(state, confirmPrefix):
		if !g.confirmations.valid(state, id) {
			return d, unconfirmed(v, "The user was asked about another call, or too long ago. Call again.", nil)
		}
		c.Extra = without(extra, "requestState", "inputResponses") // which are none of the server's
		v = answered(v, wire.Member(wire.Member(extra, "inputResponses"), confirmKey), nil)
		if v.Action == policy.Allow {
			g.confirmations.note(id)
		}
		return d, v
	case state != "" && g.confirmations.noted(id): // the server asked back within the call
		v.Action = policy.Allow
		return d, v
	}
	capabilities := wire.Member(object(append([]byte{','}, c.Protocol...)), "io.modelcontextprotocol/clientCapabilities")
	if !asksForms(capabilities) {
		return d, unasked(c, v, nil)
	}
	question := append(append([]byte(`{"method":"elicitation/create","params":`), params...), '}')
	raw := append([]byte(`{"resultType":"input_required","inputRequests":{"`+confirmKey+`":`), question...)
	raw = append(append(append(raw, `},"requestState":`...), wire.Quote(g.confirmations.state(id, time.Now().Add(askWait)))...), '}')
	return heddle.Delivery{Raw: raw, Form: heddle.FormOwn}, v
}

// object makes an object of members as [heddle.Call] has them.
func object(members []byte) json.RawMessage {
	if len(members) == 0 {
		return json.RawMessage(`{}`)
	}
	return append(append([]byte{'{'}, members[1:]...), '}')
}

// without returns the members of an object but for some, as [heddle.Call] has them.
func without(o json.RawMessage, names ...string) json.RawMessage {
	var out []byte
	_ = wire.Members(o, func(key string, value json.RawMessage) bool {
		for _, n := range names {
			if key == n {
				return true
			}
		}
		out = append(append(append(append(out, ','), wire.Quote(key)...), ':'), value...)
		return true
	})
	return out
}

// digest is what identifies a call: who, which tool, with what.
func (c *Confirmations) digest(call *heddle.Call, t *heddle.Tool, args json.RawMessage) string {
	h := hmac.New(sha256.New, c.key[:])
	for _, part := range []string{string(call.Principal), t.Ref.Server, t.Ref.Name, string(args)} {
		h.Write([]byte(strconv.Itoa(len(part)) + ":" + part))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// state returns what the host sends back.
func (c *Confirmations) state(id string, until time.Time) string {
	end := strconv.FormatInt(until.Unix(), 10)
	return confirmPrefix + end + ":" + c.sign(id, end)
}

func (c *Confirmations) sign(id, end string) string {
	h := hmac.New(sha256.New, c.key[:])
	h.Write([]byte(id + "/" + end))
	return hex.EncodeToString(h.Sum(nil))
}

func (c *Confirmations) valid(state, id string) bool {
	end, mac, ok := strings.Cut(strings.TrimPrefix(state, confirmPrefix), ":")
	seconds, err := strconv.ParseInt(end, 10, 64)
	return ok && err == nil && hmac.Equal([]byte(mac), []byte(c.sign(id, end))) && time.Now().Unix() < seconds
}

// note remembers a confirmed call, so that the server may ask back within it.
func (c *Confirmations) note(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.until) >= maxConfirmed {
		clear(c.until)
	}
	c.until[id] = time.Now().Add(askWait)
}

func (c *Confirmations) noted(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	until, ok := c.until[id]
	return ok && time.Now().Before(until)
}
