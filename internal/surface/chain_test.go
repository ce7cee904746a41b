package surface_test

import (
	"encoding/json"
	"strings"
	"testing"

	"heddle/internal/daemon"
	"heddle/internal/mcptest"
	"heddle/internal/wire"

	"github.com/google/go-cmp/cmp"
)

// chain is a stage whose one server, "far", is another heddle's over HTTP.
func chain(t *testing.T, o stageOptions) (near *stage, far *webStage) {
	t.Helper()
	far = newWebStage(t, stageOptions{mode: "native", servers: map[string]mcptest.Options{"up": o.servers["far"]}}, daemon.HTTPOptions{Token: token})
	o.servers = map[string]mcptest.Options{}
	o.config += "servers:\n  far:\n    url: " + far.url + "/mcp/up\n    headers: {Authorization: \"Bearer " + token + "\"}\n"
	return newStage(t, o), far
}

// Over HTTP all goes the same way, as far as the protocol has it.
func TestServerOverHTTP(t *testing.T) {
	near, far := chain(t, stageOptions{mode: "native", capabilities: everything, servers: map[string]mcptest.Options{"far": library("far")}})
	if got, want := text(t, near.run("far_args", `{"n":9007199254740993}`, `"_meta":{"k":1.0}`)), `{"arguments":{"n":9007199254740993},"_meta":{"k":1.0}}`; got != want {
		t.Errorf("args: %s, want %s", got, want)
	}
	if got, want := string(near.Request("resources/read", `{"uri":"shared://one"}`).Result), string(library("far").Contents["shared://one"]); got != want {
		t.Errorf("read: %s, want %s", got, want)
	}
	if got, want := string(near.Request("prompts/get", `{"name":"greet","arguments":{"who":"me"}}`).Result), string(library("far").Messages["greet"]); got != want {
		t.Errorf("prompt: %s, want %s", got, want)
	}
	for _, q := range questions {
		near.Reply(func(wire.Message) json.RawMessage { return json.RawMessage(q.answer) })
		answer := text(t, near.run("far_ask", `{"method":"`+q.method+`","params":`+q.params+`}`))
		if got := string(wire.Member([]byte(answer), "result")); got != q.answer {
			t.Errorf("%s: the server got %s, want %s", q.method, answer, q.answer)
		}
		if got := near.Received(q.method); string(got[len(got)-1].Params) != q.params {
			t.Errorf("%s: the host was asked %s, want %s", q.method, got[len(got)-1].Params, q.params)
		}
	}
	near.run("far_progress", `{"steps":3}`, `"_meta":{"progressToken":9007199254740993}`)
	for i, m := range near.WaitReceived("notifications/progress", 3) {
		if want := `{"progress":` + string(rune('1'+i)) + `,"progressToken":9007199254740993,"total":3,"x":9007199254740993}`; string(m.Params) != want {
			t.Errorf("progress %s, want %s", m.Params, want)
		}
	}
	near.Request("resources/subscribe", `{"uri":"shared://one"}`)
	far.servers["up"].Notify(updated, json.RawMessage(`{"uri":"shared://one"}`))
	near.WaitReceived(updated, 1)
	near.Request("resources/list", "{}")
	before := len(near.Received(resourcesChanged))
	far.servers["up"].Add("resources", json.RawMessage(`{"uri":"new://1","name":"n"}`), 3)
	near.WaitReceived(resourcesChanged, before+1)
	calls := len(far.servers["up"].WaitEvents(t, "call", 1))
	call := near.Start(`"slow"`, "tools/call", near.params("far_slow", `{"ms":60000}`))
	far.servers["up"].WaitEvents(t, "call", calls+1)
	near.Notify("notifications/cancelled", `{"requestId":"slow"}`)
	far.servers["up"].WaitEvents(t, "cancelled", 1)
	select {
	case m := <-call:
		t.Errorf("a cancelled call was answered: %s%s", m.Result, m.Error)
	default:
	}
}

// What a server says on the stream of a call keeps to the level of its host.
func TestLogsOfAServerOverHTTP(t *testing.T) {
	near, far := chain(t, stageOptions{mode: "native", servers: map[string]mcptest.Options{"far": talker()}})
	near.list()
	near.Request("logging/setLevel", `{"level":"error"}`)
	mcptest.Eventually(t, func() bool { return len(asked(far.servers["up"])) == 1 }, "the level at the server")
	far.servers["up"].Notify(message, json.RawMessage(`{"level":"debug","data":1}`))
	text(t, near.run("far_notify", logAt("warning", "2")))
	text(t, near.run("far_notify", logAt("critical", "3")))
	got := near.WaitReceived(message, 1)
	if diff := cmp.Diff(`{"logger":"far/up","level":"critical","data":3}`, string(got[0].Params)); diff != "" {
		t.Errorf("message (-want +got):\n%s", diff)
	}
	near.close()
	if got := levels(near.Host); len(got) != 1 {
		t.Errorf("levels %q, want critical once", got)
	}
}

// Two hosts have calls open at one server: over HTTP the stream that a question
// comes on says whose call it belongs to.
func TestWhoIsAskedOfTwoHostsOverHTTP(t *testing.T) {
	far := newWebStage(t, stageOptions{mode: "native", servers: map[string]mcptest.Options{"one": {}, "two": {}}}, daemon.HTTPOptions{Loopback: true})
	near := newWebStage(t, stageOptions{mode: "native", servers: map[string]mcptest.Options{}, config: "servers:\n  far:\n    url: " + far.url + "/mcp\n"}, daemon.HTTPOptions{Loopback: true})
	a, b := near.host("/mcp", newestHandshake, everything), near.host("/mcp", newestHandshake, everything)
	for _, h := range []*mcptest.Web{a, b} {
		h.Reply(func(wire.Message) json.RawMessage { return json.RawMessage(`{"roots":[]}`) })
	}
	b.Start(`"s"`, "tools/call", callParams("native", "two_slow", `{"ms":60000}`))
	far.servers["two"].WaitEvents(t, "call", 1)
	for i := range 20 {
		answer := text(t, a.Request("tools/call", callParams("native", "one_ask", `{"method":"roots/list"}`)))
		if !strings.Contains(answer, `"result":{"roots":[]}`) || len(a.Received("roots/list")) != i+1 {
			t.Fatalf("call %d: the server got %s, host a was asked %d times", i, answer, len(a.Received("roots/list")))
		}
	}
	if n := len(b.Received("roots/list")); n != 0 {
		t.Errorf("the wrong host was asked %d times", n)
	}
	b.Notify("notifications/cancelled", `{"requestId":"s"}`)
	far.servers["two"].WaitEvents(t, "cancelled", 1)
}
