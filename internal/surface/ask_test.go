package surface_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"heddle/internal/daemon"
	"heddle/internal/mcptest"
	"heddle/internal/upstream"
	"heddle/internal/wire"

	"github.com/google/go-cmp/cmp"
)

// everything is what a host says that can be asked anything.
const everything = `{"roots":{"listChanged":true},"sampling":{"tools":{},"context":{}},"elicitation":{"form":{},"url":{}}}`

// questions are requests of servers, with params that a typed round trip would
// change, and answers of hosts likewise.
var questions = []struct{ method, params, answer string }{
	{
		"sampling/createMessage",
		`{"maxTokens":9007199254740993,"messages":[{"role":"user","content":{"type":"text","text":"<a&b>","x":1.0}}],"vendor":{"b":1,"a":[1e3]}}`,
		`{"stopReason":"endTurn","model":"m","role":"assistant","content":{"z":9007199254740993,"type":"text","text":"\u003cok>"},"_meta":{"k":1.0}}`,
	},
	{
		"elicitation/create",
		`{"message":"sure?","requestedSchema":{"type":"object","properties":{"n":{"type":"integer","maximum":9007199254740993}}},"mode":"form"}`,
		`{"content":{"n":9007199254740993},"action":"accept","vendor":[ 1 ]}`,
	},
	{
		"elicitation/create",
		`{"mode":"url","elicitationId":"e1","url":"https://example.test/?a=1&b=2","message":"go there","vendor":1.0}`,
		`{"action":"decline"}`,
	},
	{"roots/list", `{"_meta":{"k":9007199254740993}}`, `{"roots":[{"uri":"file:///a","vendor":9007199254740993,"name":"a"}],"x":1.0}`},
}

// askHosts are ways for a host to connect.
func askHosts(t *testing.T, mode, capabilities string) map[string]*mcptest.Host {
	web := newWebStage(t, stageOptions{mode: mode}, daemon.HTTPOptions{Loopback: true})
	return map[string]*mcptest.Host{
		"stdio": newStage(t, stageOptions{mode: mode, capabilities: capabilities}).Host,
		"http":  web.host("/mcp", newestHandshake, capabilities).Host,
		"sse":   web.stream(capabilities).Host,
	}
}

// A server's request reaches the host whose call caused it, and the answer the
// server, both byte for byte.
func TestHostIsAsked(t *testing.T) {
	for _, mode := range []string{"native", "compact"} {
		for way, h := range askHosts(t, mode, everything) {
			for i, q := range questions {
				h.Reply(func(wire.Message) json.RawMessage { return json.RawMessage(q.answer) })
				m := h.Request("tools/call", callParams(mode, "up_ask", `{"method":"`+q.method+`","params":`+q.params+`}`))
				answer := mcptest.TextOf(m.Result)
				if got := string(wire.Member([]byte(answer), "result")); got != q.answer {
					t.Errorf("%s, %s: the server got %s%s, want %s", mode, way, answer, m.Error, q.answer)
				}
				if got := h.Received(q.method); string(got[len(got)-1].Params) != q.params {
					t.Errorf("%s, %s: the host was asked %d: %s, want %s", mode, way, i, got[len(got)-1].Params, q.params)
				}
			}
		}
	}
}

// What a host answers with an error reaches the server with all its members.
func TestHostsErrorReachesTheServer(t *testing.T) {
	for way, h := range askHosts(t, "native", everything) {
		for _, q := range questions {
			before := len(h.Received(""))
			call := h.Start(`"c"`, "tools/call", callParams("native", "up_ask", `{"method":"`+q.method+`","params":`+q.params+`}`))
			asked := h.WaitReceived("", before+1)
			m := asked[len(asked)-1]
			h.Send(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"error":{"code":-1,"message":"user said <no>","data":{"n":9007199254740993}}}`)
			answer := mcptest.TextOf(h.Wait(call).Result)
			e := wire.Member([]byte(answer), "error")
			got := []string{string(wire.Member(e, "code")), string(wire.Member(e, "data"))}
			text, _ := wire.Unquote(wire.Member(e, "message"))
			if diff := cmp.Diff([]string{"-1", `{"n":9007199254740993}`, "user said <no>"}, append(got, text)); diff != "" {
				t.Errorf("%s, %s: the server got %s (-want +got):\n%s", way, q.method, answer, diff)
			}
		}
	}
}

// Who cannot be asked is not asked, and the server learns so at once.
func TestHostThatCannotBeAsked(t *testing.T) {
	t.Parallel()
	tests := []struct {
		capabilities, method, params, code string
	}{
		{`{}`, "sampling/createMessage", `{}`, "-32601"},
		{`{}`, "elicitation/create", `{"message":"m"}`, "-32601"},
		{`{}`, "roots/list", `{}`, "-32601"},
		{`{"elicitation":{}}`, "elicitation/create", `{"mode":"url","message":"m","url":"https://x.test","elicitationId":"1"}`, "-32602"},
		{`{"sampling":{}}`, "roots/list", `{}`, "-32601"},
		{everything, "no/such", `{}`, "-32601"},
	}
	for _, test := range tests {
		for way, h := range askHosts(t, "native", test.capabilities) {
			began := time.Now()
			m := h.Request("tools/call", callParams("native", "up_ask", `{"method":"`+test.method+`","params":`+test.params+`}`))
			answer := mcptest.TextOf(m.Result)
			if got := string(wire.Member(wire.Member([]byte(answer), "error"), "code")); got != test.code {
				t.Errorf("%s, %s with %s: the server got %s%s, want %s", way, test.method, test.capabilities, answer, m.Error, test.code)
			}
			if d := time.Since(began); d > 5*time.Second {
				t.Errorf("%s, %s with %s: after %s, want at once", way, test.method, test.capabilities, d)
			}
			if got := h.Received(""); len(got) != 0 {
				t.Errorf("%s, %s with %s: the host was asked: %s", way, test.method, test.capabilities, got[0].Params)
			}
		}
	}
}

// A host without a handshake is told by its requests what it can; it is never
// sent a request, and nobody waits for it to say more.
func TestHostWithoutHandshakeIsNotAsked(t *testing.T) {
	t.Parallel()
	web := newWebStage(t, stageOptions{mode: "native"}, daemon.HTTPOptions{Loopback: true})
	for way, h := range map[string]*mcptest.Host{
		"stdio": newStage(t, stageOptions{mode: "native", version: "-"}).Host, "http": web.host("/mcp", "-", "").Host,
	} {
		began := time.Now()
		m := h.Request("tools/call", callParams("native", "up_ask", `{"method":"roots/list"}`, modernMeta))
		answer := mcptest.TextOf(m.Result)
		if got := string(wire.Member(wire.Member([]byte(answer), "error"), "code")); got != "-32601" {
			t.Errorf("%s: the server got %s%s, want -32601", way, answer, m.Error)
		}
		if d := time.Since(began); d > 5*time.Second {
			t.Errorf("%s: after %s, want at once", way, d)
		}
	}
}

// Outside of any call there is one host to ask over stdio, once it has said what
// it can; over HTTP nobody.
func TestAskedOutsideOfCalls(t *testing.T) {
	s := newStage(t, stageOptions{mode: "native", version: "-"})
	s.Reply(func(wire.Message) json.RawMessage { return json.RawMessage(`{"roots":[]}`) })
	s.servers["up"].WaitEvents(t, "initialized", 1)
	_, answer := s.servers["up"].Ask("roots/list", nil) // before the host has said a word
	s.InitializeWith(newestHandshake, everything)
	if got, want := string(receive(t, "the answer", answer)), `{"jsonrpc":"2.0","id":"ask-1","result":{"roots":[]}}`; got != want {
		t.Errorf("stdio: the server got %s, want %s", got, want)
	}
	web := newWebStage(t, stageOptions{mode: "native"}, daemon.HTTPOptions{Loopback: true})
	web.host("/mcp", newestHandshake, everything).Listen()
	web.servers["up"].WaitEvents(t, "initialized", 1)
	_, answer = web.servers["up"].Ask("roots/list", nil)
	if got := receive(t, "the answer", answer); !strings.Contains(string(got), `"code":-32601`) {
		t.Errorf("HTTP: the server got %s, want -32601", got)
	}
}

// Two hosts share one pipe to a server: what it asks could be meant for either.
func TestWhoIsAskedOfTwoHosts(t *testing.T) {
	web := newWebStage(t, stageOptions{mode: "native"}, daemon.HTTPOptions{Loopback: true})
	a, b := web.host("/mcp", newestHandshake, everything), web.host("/mcp", newestHandshake, everything)
	for _, h := range []*mcptest.Web{a, b} {
		h.Reply(func(wire.Message) json.RawMessage { return json.RawMessage(`{"roots":[]}`) })
	}
	slow := b.Start(`"s"`, "tools/call", callParams("native", "up_slow", `{"ms":60000}`))
	web.servers["up"].WaitEvents(t, "call", 1)
	answer := text(t, a.Request("tools/call", callParams("native", "up_ask", `{"method":"roots/list"}`)))
	if !strings.Contains(answer, `"error"`) {
		t.Errorf("two hosts have calls open: the server got %s, want an error", answer)
	}
	// Two calls of one host are that host's.
	also := a.Start(`"also"`, "tools/call", callParams("native", "up_slow", `{"ms":60000}`))
	web.servers["up"].WaitEvents(t, "call", 3)
	b.Notify("notifications/cancelled", `{"requestId":"s"}`)
	web.servers["up"].WaitEvents(t, "cancelled", 1)
	answer = text(t, a.Request("tools/call", callParams("native", "up_ask", `{"method":"roots/list"}`)))
	if got, want := answer, `{"jsonrpc":"2.0","id":"ask-2","result":{"roots":[]}}`; got != want {
		t.Errorf("two calls of one host: the server got %s, want %s", got, want)
	}
	if got := len(a.Received("roots/list")); got != 1 || len(b.Received("roots/list")) != 0 {
		t.Errorf("host a was asked %d times, b %d times; want once and never", got, len(b.Received("roots/list")))
	}
	a.Notify("notifications/cancelled", `{"requestId":"also"}`)
	web.servers["up"].WaitEvents(t, "cancelled", 2)
	for name, c := range map[string]<-chan wire.Message{"slow": slow, "also": also} { // over HTTP the stream of an answer has to end
		if r := refusalOf(t, a.Wait(c)); r.Kind != "cancelled" {
			t.Errorf("%s ended as %s, want cancelled", name, r.Kind)
		}
	}
}

// The clock of a call stands still while its host is asked, but not for ever.
func TestClockStandsStillWhileTheHostIsAsked(t *testing.T) {
	t.Parallel()
	s := newStage(t, stageOptions{mode: "native", capabilities: everything, upstream: func(c *upstream.Config) {
		c.Timeout, c.MaxTimeout = 200*time.Millisecond, 2*time.Second
	}})
	ask := s.params("up_ask", `{"method":"elicitation/create","params":{"message":"?"}}`)
	began := time.Now()
	call := s.Start(`"a"`, "tools/call", ask)
	q := s.WaitReceived("elicitation/create", 1)[0]
	<-time.After(time.Second) // five times as long as a call may take
	s.Send(`{"jsonrpc":"2.0","id":` + string(q.ID) + `,"result":{"action":"cancel"}}`)
	if got := text(t, s.Wait(call)); !strings.Contains(got, `"cancel"`) {
		t.Errorf("after %s: %s, want the answer", time.Since(began), got)
	}
	// Nobody answers: the call ends with its maximum, and takes the question along.
	began = time.Now()
	call = s.Start(`"b"`, "tools/call", ask)
	q = s.WaitReceived("elicitation/create", 2)[1]
	if r := refusalOf(t, s.Wait(call)); r.Kind != "timeout" || time.Since(began) < 2*time.Second {
		t.Errorf("ended as %s after %s, want timeout after max_timeout", r.Kind, time.Since(began))
	}
	if got := wire.Member(s.WaitReceived("notifications/cancelled", 1)[0].Params, "requestId"); string(got) != string(q.ID) {
		t.Errorf("question %s was withdrawn, want %s", got, q.ID)
	}
}

// What nobody needs an answer to any more, the host is told so.
func TestQuestionIsWithdrawn(t *testing.T) {
	t.Parallel()
	for _, why := range []string{"by the server", "with its call"} {
		s := newStage(t, stageOptions{mode: "native", capabilities: everything})
		s.Start(`"c"`, "tools/call", s.params("up_ask", `{"method":"elicitation/create","params":{"message":"?"}}`))
		q := s.WaitReceived("elicitation/create", 1)[0]
		if why == "by the server" {
			s.servers["up"].Notify("notifications/cancelled", []byte(`{"requestId":"ask-1"}`))
		} else {
			s.Notify("notifications/cancelled", `{"requestId":"c"}`)
		}
		if got := wire.Member(s.WaitReceived("notifications/cancelled", 1)[0].Params, "requestId"); string(got) != string(q.ID) {
			t.Errorf("%s: question %s was withdrawn, want %s", why, got, q.ID)
		}
		// An answer that comes nevertheless is dropped; all goes on.
		s.Send(`{"jsonrpc":"2.0","id":` + string(q.ID) + `,"result":{"action":"accept"}}`)
		if got := text(t, s.run("up_echo", `{"text":"on"}`)); got != "on" {
			t.Errorf("%s: echo %q", why, got)
		}
		// A request is answered unless it was its sender who took it back.
		answers := s.servers["up"].Events()
		if got, want := mcptest.Count(answers, "response"), map[string]int{"with its call": 1}[why]; got != want {
			t.Errorf("%s: the server got %d answers, want %d", why, got, want)
		}
	}
}

// A host that goes away while it is asked holds nothing up.
func TestHostGoesAwayWhileItIsAsked(t *testing.T) {
	t.Parallel()
	s := newStage(t, stageOptions{mode: "native", capabilities: everything})
	s.Start(`"c"`, "tools/call", s.params("up_ask", `{"method":"elicitation/create","params":{"message":"?"}}`))
	s.WaitReceived("elicitation/create", 1)
	began := time.Now()
	s.close()
	if d := time.Since(began); d > 10*time.Second {
		t.Errorf("the end took %s", d)
	}
	web := newWebStage(t, stageOptions{mode: "native"}, daemon.HTTPOptions{Loopback: true})
	h := web.host("/mcp", newestHandshake, everything)
	h.Start(`"c"`, "tools/call", s.params("up_ask", `{"method":"elicitation/create","params":{"message":"?"}}`))
	h.WaitReceived("elicitation/create", 1)
	if got := h.Delete(); got != 204 {
		t.Errorf("DELETE: %d, want 204", got)
	}
	web.servers["up"].WaitEvents(t, "cancelled", 1)
}

// A server may ask for a while; more than a host can hold is refused.
func TestQuestionsAreBounded(t *testing.T) {
	s := newStage(t, stageOptions{mode: "native", capabilities: everything})
	s.servers["up"].WaitEvents(t, "initialized", 1)
	var answers []<-chan []byte
	for range 100 {
		_, answer := s.servers["up"].Ask("roots/list", nil)
		answers = append(answers, answer)
	}
	asked := s.WaitReceived("roots/list", 64)
	if got := string(receive(t, "the last answer", answers[99])); !strings.Contains(got, `"error"`) {
		t.Errorf("the hundredth: %s, want an error", got)
	}
	for _, q := range asked {
		s.Send(`{"jsonrpc":"2.0","id":` + string(q.ID) + `,"result":{"roots":[]}}`)
	}
	for i := range 64 {
		if got, want := string(receive(t, "an answer", answers[i])), fmt.Sprintf(`{"jsonrpc":"2.0","id":"ask-%d","result":{"roots":[]}}`, i+1); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// The roots of a host are others now: every server hears so.
func TestRootsChanged(t *testing.T) {
	for way, h := range map[string]*mcptest.Host{"stdio": nil, "http": nil} {
		var servers map[string]*mcptest.Server
		two := map[string]mcptest.Options{"a": {}, "b": {}}
		if way == "stdio" {
			s := newStage(t, stageOptions{mode: "native", capabilities: everything, servers: two})
			h, servers = s.Host, s.servers
		} else {
			s := newWebStage(t, stageOptions{mode: "native", servers: two}, daemon.HTTPOptions{Loopback: true})
			h, servers = s.host("/mcp", newestHandshake, everything).Host, s.servers
		}
		h.Request("tools/list", "{}") // all have started
		h.Notify("notifications/roots/list_changed", "")
		for name, s := range servers {
			if got := s.WaitEvents(t, "notification", 1)[0].Method; got != "notifications/roots/list_changed" {
				t.Errorf("%s: server %s heard %s", way, name, got)
			}
		}
	}
}
