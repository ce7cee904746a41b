package surface_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"heddle/internal/daemon"
	"heddle/internal/mcptest"
	"heddle/internal/wire"
)

// confirming is a server with a tool that must be confirmed by its name, one that calls
// itself destructive, and one that need not be.
func confirming() stageOptions {
	return stageOptions{
		config: "tools: {confirm: [\"up_arg?\", destructive]}\n",
		servers: map[string]mcptest.Options{"up": {
			Tools:   append(toolsNamed("args", "echo"), raws(`{"name":"wipe","inputSchema":{"type":"object"},"annotations":{"destructiveHint":true,"readOnlyHint":false}}`)...),
			Results: rawMap(map[string]string{"wipe": textResult("wiped")}),
		}},
	}
}

// called returns the params of the calls that reached a server.
func called(s *mcptest.Server) (out []string) {
	for _, e := range s.Events() {
		if e.Kind == "call" {
			out = append(out, string(e.Params))
		}
	}
	return out
}

// A user is asked with the tool and its arguments, and what they say happens: once for
// each call, whatever the host allows of itself.
func TestGuardConfirm(t *testing.T) {
	o := confirming()
	o.capabilities = `{"elicitation":{}}`
	eachMode(t, o, func(t *testing.T, s *stage) {
		answer := `{"action":"accept","content":{}}`
		s.Reply(func(wire.Message) json.RawMessage { return json.RawMessage(answer) })
		if got := text(t, s.run("up_echo", `{"text":"on"}`)); got != "on" || len(s.Received("")) != 0 {
			t.Errorf("a tool that needs nobody: %q, and the host was asked %d times", got, len(s.Received("")))
		}
		args := `{"path":"/a","n":9007199254740993,"token":"` + hub + `","w":"a\u202eb"}`
		if got := text(t, s.run("up_args", args, `"_meta":{}`)); got != `{"arguments":`+args+`,"_meta":{}}` {
			t.Errorf("accepted: the server got %s", got)
		}
		asked := s.Received("elicitation/create")
		question, _ := wire.Unquote(wire.Member(asked[0].Params, "message"))
		if !strings.Contains(question, "up::args") || !strings.Contains(question, `path: "/a"`) || strings.Contains(question, hub) || strings.Contains(question, "\u202e") {
			t.Errorf("the question is %q", question)
		}
		text(t, s.run("up_args", args)) // asked again
		for i, refused := range []string{`{"action":"decline"}`, `{"action":"cancel"}`, `{}`, `{"action":"ACCEPT"}`} {
			answer = refused
			for _, tool := range []string{"up_args", "up_wipe"} {
				if r := refusalOf(t, s.run(tool, "{}")); r.Kind != "confirmation_required" || *r.Invoked || !strings.Contains(r.Message, "did not confirm") {
					t.Errorf("%s, %s: %+v", tool, refused, r)
				}
			}
			if got, want := len(s.Received("elicitation/create")), 2+2*(i+1); got != want {
				t.Errorf("the host was asked %d times, want %d", got, want)
			}
		}
		if got := called(s.servers["up"]); len(got) != 3 {
			t.Errorf("the server saw %q", got)
		}
	})
}

// A host that cannot ask learns what its user can do instead.
func TestGuardConfirmWithoutHost(t *testing.T) {
	o := confirming()
	for _, mode := range []string{"native", "compact"} {
		o.mode = mode
		web := newWebStage(t, o, daemon.HTTPOptions{Loopback: true})
		stdio := newStage(t, o)
		for way, h := range map[string]*mcptest.Host{"stdio": stdio.Host, "http": web.host("/mcp", newestHandshake, `{"roots":{}}`).Host, "sse": web.stream("{}").Host} {
			for _, tool := range []string{"up_args", "up_wipe"} {
				m := h.Request("tools/call", callParams(mode, tool, "{}"))
				if r := refusalOf(t, m); r.Kind != "confirmation_required" || *r.Invoked || !strings.Contains(r.Message, "heddle call") || !strings.Contains(r.Message, "tools.confirm") {
					t.Errorf("%s, %s, %s: %+v", mode, way, tool, r)
				}
			}
			if got := h.Received("elicitation/create"); len(got) != 0 {
				t.Errorf("%s, %s: the host was asked", mode, way)
			}
		}
		for _, s := range []*stage{stdio, web.stage} {
			if got := called(s.servers["up"]); len(got) != 0 {
				t.Errorf("%s: the server saw %q", mode, got)
			}
		}
	}
}

// asksMeta is what a host without handshake sends that can ask its user.
const asksMeta = `"_meta":{"k":1,"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"modern","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}`

// A host without handshake gets the question as an answer and calls again. Only the
// user's yes to this very call lets it go up, and no server sees what was said.
func TestGuardConfirmWithoutHandshake(t *testing.T) {
	for _, mode := range []string{"native", "compact"} {
		o := confirming()
		o.mode, o.version = mode, "-"
		web := newWebStage(t, o, daemon.HTTPOptions{Loopback: true})
		stdio := newStage(t, o)
		for way, h := range map[string]*webOrStdio{"stdio": {stdio.Host, stdio}, "http": {web.host("/mcp", "-", "").Host, web.stage}} {
			call := func(args string, more ...string) wire.Message {
				return h.Request("tools/call", callParams(mode, "up_args", args, append(more, asksMeta)...))
			}
			refused := func(what string, m wire.Message) {
				t.Helper()
				if r := refusalOf(t, m); r.Kind != "confirmation_required" || *r.Invoked {
					t.Errorf("%s, %s, %s: %+v", mode, way, what, r)
				}
			}
			const args = `{"path":"/a","n":9007199254740993}`
			m := call(args)
			question := wire.Member(wire.Member(m.Result, "inputRequests"), "heddle_confirm")
			said, _ := wire.Unquote(wire.Member(wire.Member(question, "params"), "message"))
			state := string(wire.Member(m.Result, "requestState"))
			if string(wire.Member(m.Result, "resultType")) != `"input_required"` || string(wire.Member(question, "method")) != `"elicitation/create"` || !strings.Contains(said, "n: 9007199254740993") || state == "" {
				t.Fatalf("%s, %s: %s%s, want a question", mode, way, m.Result, m.Error)
			}
			answer := func(action, state string) []string {
				return []string{`"inputResponses":{"heddle_confirm":{"action":"` + action + `","content":{}}}`, `"requestState":` + state}
			}
			refused("declined", call(args, answer("decline", state)...))
			refused("for other arguments", call(`{"path":"/b"}`, answer("accept", state)...))
			refused("for another tool", h.Request("tools/call", callParams(mode, "up_wipe", args, append(answer("accept", state), asksMeta)...)))
			refused("forged", call(args, answer("accept", state[:len(state)-3]+`00"`)...))
			refused("extended", call(args, answer("accept", strings.Replace(state, "confirm:", "confirm:9", 1))...))
			refused("without an answer", call(args, `"requestState":`+state))
			if m := call(args, answer("accept", `"mine"`)...); string(wire.Member(m.Result, "resultType")) != `"input_required"` {
				t.Errorf("%s, %s: a state of somebody else's: %s%s, want the question", mode, way, m.Result, m.Error)
			}
			refused("a host that cannot ask", h.Request("tools/call", callParams(mode, "up_args", args, modernMeta)))
			server := h.stage.servers["up"]
			if got := called(server); len(got) != 0 {
				t.Fatalf("%s, %s: the server saw %q", mode, way, got)
			}
			m = call(args, answer("accept", state)...)
			if got := mcptest.TextOf(m.Result); !strings.HasPrefix(got, `{"arguments":`+args+`,`) {
				t.Errorf("%s, %s: accepted: %s%s", mode, way, m.Result, m.Error)
			}
			for _, s := range h.stage.peers["up"].connected() {
				for _, params := range called(s) {
					if strings.Contains(params, "heddle_confirm") || strings.Contains(params, "requestState") || strings.Contains(params, "inputResponses") {
						t.Errorf("%s, %s: the server saw %s", mode, way, params)
					}
				}
			}
		}
	}
}

// A server may ask back within a call that was confirmed; the user is not asked twice.
func TestGuardConfirmAndAServerThatAsks(t *testing.T) {
	o := stageOptions{mode: "native", version: "-", config: "tools: {confirm: [up_input]}\n", servers: map[string]mcptest.Options{"up": asks()}}
	s := newStage(t, o)
	args := fmt.Sprintf(`{"times":2,"requests":%s}`, inputs)
	call := func(more ...string) wire.Message {
		return s.run("up_input", args, append(more, asksMeta)...)
	}
	m := call()
	m = call(`"inputResponses":{"heddle_confirm":{"action":"accept"}}`, `"requestState":`+string(wire.Member(m.Result, "requestState")))
	for i := range 2 {
		if got := string(wire.Member(m.Result, "inputRequests")); got != inputs {
			t.Fatalf("question %d: %s%s, want the server's", i, m.Result, m.Error)
		}
		m = call(`"inputResponses":{"first":{"action":"decline"}}`, `"requestState":`+string(wire.Member(m.Result, "requestState")))
	}
	if got, want := mcptest.TextOf(m.Result), `{"inputResponses":{"first":{"action":"decline"}},"requestState":"round \\ 2"}`; got != want {
		t.Errorf("the server got %s%s, want %s", got, m.Error, want)
	}
}
