package surface_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"heddle/internal/daemon"
	"heddle/internal/mcptest"
	"heddle/internal/upstream"
	"heddle/internal/wire"
)

// both is a server of both eras.
func both() mcptest.Options {
	o := library("up")
	o.Discover = "modern"
	return o
}

// modernHosts are ways for a host without handshake to connect.
func modernHosts(t *testing.T, mode string, o mcptest.Options) map[string]*webOrStdio {
	servers := map[string]mcptest.Options{"up": o}
	short := func(c *upstream.Config) { // one that does not answer is waited for no longer
		if o.Discover == "ignore" {
			c.StartTimeout = time.Second
		}
	}
	web := newWebStage(t, stageOptions{mode: mode, servers: servers, upstream: short}, daemon.HTTPOptions{Loopback: true})
	stdio := newStage(t, stageOptions{mode: mode, servers: servers, version: "-", upstream: short})
	return map[string]*webOrStdio{"stdio": {stdio.Host, stdio}, "http": {web.host("/mcp", "-", "").Host, web.stage}}
}

type webOrStdio struct {
	*mcptest.Host
	stage *stage
}

// meta is what a request without handshake carries: who asks, and what it can.
const meta = `"_meta":{"trace":"<1>","io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"host","version":"9","vendor":1.0},"io.modelcontextprotocol/clientCapabilities":{"sampling":{},"vendor":9007199254740993}}`

// A server of both eras is spoken to with a handshake for a host with one, and
// without for a host without, which speaks for itself there.
func TestServerOfBothEras(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"native", "compact"} {
		for way, h := range modernHosts(t, mode, both()) {
			m := h.Request("tools/call", callParams(mode, "up_args", `{"n":9007199254740993}`, meta))
			if want := `{"arguments":{"n":9007199254740993},"_meta":{"trace":"<1>",` + meta[len(`"_meta":{"trace":"<1>",`):] + `}`; mcptest.TextOf(m.Result) != want {
				t.Errorf("%s, %s: the server got %s%s, want %s", mode, way, mcptest.TextOf(m.Result), m.Error, want)
			}
			m = h.Request("resources/read", `{"uri":"up://only",`+meta+`}`)
			if want := `"csp":9007199254740993`; !strings.Contains(string(m.Result), want) {
				t.Errorf("%s, %s: read %s%s", mode, way, m.Result, m.Error)
			}
			all := h.stage.peers["up"].connected()
			if len(all) != 2 {
				t.Fatalf("%s, %s: %d sessions, want one for each era", mode, way, len(all))
			}
			if n := mcptest.Count(all[0].Events(), "initialize"); n != 1 || mcptest.Count(all[0].Events(), "call") != 0 {
				t.Errorf("%s, %s: the first session: %+v", mode, way, all[0].Events())
			}
			if n := mcptest.Count(all[1].Events(), "initialize"); n != 0 || mcptest.Count(all[1].Events(), "call") != 1 || mcptest.Count(all[1].Events(), "list") != 0 {
				t.Errorf("%s, %s: the second session: %+v", mode, way, all[1].Events())
			}
			if read := mcptest.Requests(all[1].Events(), "resources/read"); len(read) != 1 || !strings.Contains(string(read[0].Params), `clientInfo":{"name":"host","version":"9","vendor":1.0}`) {
				t.Errorf("%s, %s: read at the second session: %+v", mode, way, read)
			}
		}
		s := newStage(t, stageOptions{mode: mode, servers: map[string]mcptest.Options{"up": both()}})
		if got := text(t, s.run("up_args", `{}`, `"_meta":{"k":1}`)); got != `{"arguments":{},"_meta":{"k":1}}` {
			t.Errorf("%s: a host with handshake: the server got %s", mode, got)
		}
		if n := len(s.peers["up"].connected()); n != 1 {
			t.Errorf("%s: %d sessions for a host with handshake, want 1", mode, n)
		}
	}
}

// A server with handshake serves a host without.
func TestHostWithoutHandshakeAndServerWith(t *testing.T) {
	t.Parallel()
	for _, discover := range []string{"", "ignore"} {
		o := library("up")
		o.Discover = discover
		for way, h := range modernHosts(t, "native", o) {
			for range 2 {
				m := h.Request("tools/call", callParams("native", "args", `{}`, meta))
				if got := mcptest.TextOf(m.Result); got != `{"arguments":{},"_meta":{"trace":"<1>"}}` {
					t.Errorf("%s, discover %q: the server got %s%s", way, discover, got, m.Error)
				}
			}
			// Whether it speaks without is tried in another session, once.
			all := h.stage.peers["up"].connected()
			if len(all) != 2 || mcptest.Count(all[0].Events(), "discover") != 0 || mcptest.Count(all[1].Events(), "discover") != 1 || mcptest.Count(all[1].Events(), "call") != 0 {
				t.Errorf("%s, discover %q: %d sessions, want 2", way, discover, len(all))
			}
		}
	}
}

// A second session that cannot be had does not end the first.
func TestSecondSessionFails(t *testing.T) {
	t.Parallel()
	for _, o := range []mcptest.Options{{Extra: true, Discover: "die"}} {
		for way, h := range modernHosts(t, "native", o) {
			mcptest.Eventually(t, func() bool {
				m := h.Request("tools/call", callParams("native", "echo", `{"text":"x"}`, meta))
				return mcptest.TextOf(m.Result) == "x"
			}, "%s: an answer", way)
		}
	}
}

// asks is a server that answers with questions, as there are no requests of
// servers without handshake.
func asks() mcptest.Options {
	return mcptest.Options{Extra: true, Discover: "modern", ModernOnly: true}
}

const inputs = `{"first":{"method":"elicitation/create","params":{"message":"<name>?","vendor":9007199254740993,"requestedSchema":{"type":"object","properties":{}}}},"second/1":{"method":"roots/list"}}`

// A host with handshake is asked what a server without one wants to know, and
// the server gets the answers and its state back as they were.
func TestServerThatAnswersWithQuestions(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"native", "compact"} {
		o := stageOptions{mode: mode, capabilities: everything, servers: map[string]mcptest.Options{"up": asks()}}
		s := newStage(t, o)
		web := newWebStage(t, o, daemon.HTTPOptions{Loopback: true})
		for way, h := range map[string]*mcptest.Host{"stdio": s.Host, "http": web.host("/mcp", newestHandshake, everything).Host} {
			h.Reply(func(m wire.Message) json.RawMessage {
				if m.Method == "roots/list" {
					return json.RawMessage(`{"roots":[{"uri":"file:///a","n":9007199254740993}]}`)
				}
				return json.RawMessage(`{"action":"accept","content":{"z":1.0,"a":"<x>"}}`)
			})
			m := h.Request("tools/call", callParams(mode, "up_input", `{"times":2,"requests":`+inputs+`}`))
			want := `{"inputResponses":{"first":{"action":"accept","content":{"z":1.0,"a":"<x>"}},"second/1":{"roots":[{"uri":"file:///a","n":9007199254740993}]}},"requestState":"round \\ 2"}`
			if got := mcptest.TextOf(m.Result); got != want {
				t.Errorf("%s, %s: the server got %s%s, want %s", mode, way, got, m.Error, want)
			}
			questions := h.Received("elicitation/create")
			if len(questions) != 2 || string(questions[0].Params) != `{"message":"<name>?","vendor":9007199254740993,"requestedSchema":{"type":"object","properties":{}}}` {
				t.Errorf("%s, %s: the host was asked %+v", mode, way, questions)
			}
		}
	}
}

// A server may ask back for a while, but not for ever.
func TestServerThatOnlyAsks(t *testing.T) {
	t.Parallel()
	s := newStage(t, stageOptions{mode: "native", capabilities: everything, servers: map[string]mcptest.Options{"up": asks()}})
	s.Reply(func(wire.Message) json.RawMessage { return json.RawMessage(`{"roots":[]}`) })
	ask := func(times string) string {
		return s.params("input", `{"times":`+times+`,"requests":{"r":{"method":"roots/list"}}}`)
	}
	if got := text(t, s.Request("tools/call", ask("9"))); !strings.Contains(got, `round \\ 9`) {
		t.Errorf("nine questions: %s", got)
	}
	if r := refusalOf(t, s.Request("tools/call", ask("1000"))); r.Kind != "upstream_error" || !*r.Invoked {
		t.Errorf("a thousand questions: %+v", r)
	}
	if got := len(s.Received("roots/list")); got > 9+11 {
		t.Errorf("the host was asked %d times", got)
	}
	if m := s.Request("tools/call", s.params("input", `{"times":1,"requests":{"r":{"method":"tools/call","params":{}}}}`)); string(wire.Member(m.Error, "code")) != "-32601" {
		t.Errorf("a question that is none: %s%s", m.Result, m.Error)
	}
}

// Who cannot be asked fails the call with what it lacks.
func TestServerAsksAHostThatCannotAnswer(t *testing.T) {
	s := newStage(t, stageOptions{mode: "native", servers: map[string]mcptest.Options{"up": asks()}})
	m := s.run("input", `{"times":1,"requests":`+inputs+`}`)
	if string(wire.Member(m.Error, "code")) != "-32601" || !strings.Contains(string(m.Error), "elicitation") {
		t.Errorf("got %s%s, want -32601", m.Result, m.Error)
	}
}

// Between hosts and servers without handshake, questions and answers pass as they
// are.
func TestQuestionsPassWithoutHandshake(t *testing.T) {
	t.Parallel()
	for way, h := range modernHosts(t, "native", asks()) {
		m := h.Request("tools/call", callParams("native", "input", `{"times":1,"requests":`+inputs+`}`, meta))
		if got := string(wire.Member(m.Result, "inputRequests")); got != inputs {
			t.Errorf("%s: %s%s, want the questions", way, m.Result, m.Error)
		}
		if got := string(wire.Member(m.Result, "resultType")); got != `"input_required"` {
			t.Errorf("%s: resultType %s", way, got)
		}
		state := string(wire.Member(m.Result, "requestState"))
		m = h.Request("tools/call", callParams("native", "input", `{"times":1,"requests":`+inputs+`}`, `"inputResponses":{"first":{"action":"decline","n":1.0}}`, `"requestState":`+state, meta))
		if got, want := mcptest.TextOf(m.Result), `{"inputResponses":{"first":{"action":"decline","n":1.0}},"requestState":`+state+`}`; got != want {
			t.Errorf("%s: the server got %s%s, want %s", way, got, m.Error, want)
		}
	}
}
