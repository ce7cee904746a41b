package surface_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"heddle/internal/daemon"
	"heddle/internal/mcptest"
	"heddle/internal/wire"

	"github.com/google/go-cmp/cmp"
)

const (
	resourcesChanged = "notifications/resources/list_changed"
	promptsChanged   = "notifications/prompts/list_changed"
	updated          = "notifications/resources/updated"
)

// raws are raw items.
func raws(items ...string) []json.RawMessage {
	out := []json.RawMessage{}
	for _, i := range items {
		out = append(out, json.RawMessage(i))
	}
	return out
}

// library is a server with some of everything; each name is in its contents, so
// that an answer says whose it is.
func library(name string) mcptest.Options {
	content := func(uri string) json.RawMessage {
		return json.RawMessage(`{"contents":[{"uri":"` + uri + `","mimeType":"text/x-` + name + `","text":"` + name + ` <b>","_meta":{"ui":{"csp":9007199254740993}},"vendor":1.0}],"extra":{"z":1,"a":2}}`)
	}
	return mcptest.Options{
		Extra: true, Subscribe: true,
		Resources: raws(`{"uri":"shared://one","name":"shared","size":9007199254740993,"vendor":{"b":1.0,"a":2}}`, `{"uri":"`+name+`://only","name":"only","mimeType":"text/plain","_meta":{"k":"<&>"}}`),
		Templates: raws(`{"uriTemplate":"shared://{id}/part","name":"parts","vendor":1.0}`, `{"uriTemplate":"`+name+`://t/{id}","name":"t"}`),
		Prompts:   raws(`{"name":"greet","arguments":[{"name":"who","required":true,"vendor":1.0}]}`, `{"name":"`+name+`-only"}`),
		Contents: map[string]json.RawMessage{
			"shared://one": content("shared://one"), name + "://only": content(name + "://only"), name + "://t/7": content(name + "://t/7"),
			"shared://7/part": content("shared://7/part"), name + "://unlisted": content(name + "://unlisted"),
		},
		Messages: map[string]json.RawMessage{
			"greet": json.RawMessage(`{"messages":[{"role":"user","content":{"type":"text","text":"` + name + `"},"vendor":1.0}],"description":"\u003c"}`),
		},
		Completion: json.RawMessage(`{"completion":{"values":["` + name + `"],"total":9007199254740993,"hasMore":false},"x":1.0}`),
	}
}

func twoLibraries() map[string]mcptest.Options {
	return map[string]mcptest.Options{"a": library("a"), "b": library("b"), "plain": {}}
}

// Lists have all of all servers, each item as its server wrote it. What two
// servers call the same keeps its name at the first.
func TestListsOfResourcesAndPrompts(t *testing.T) {
	eachMode(t, stageOptions{servers: twoLibraries()}, func(t *testing.T, s *stage) {
		for method, want := range map[string]string{
			"resources/list": `{"resources":[` +
				`{"uri":"shared://one","name":"shared","size":9007199254740993,"vendor":{"b":1.0,"a":2}},{"uri":"a://only","name":"only","mimeType":"text/plain","_meta":{"k":"<&>"}},` +
				`{"uri":"heddle://b/shared://one","name":"shared","size":9007199254740993,"vendor":{"b":1.0,"a":2}},{"uri":"b://only","name":"only","mimeType":"text/plain","_meta":{"k":"<&>"}}]}`,
			"resources/templates/list": `{"resourceTemplates":[` +
				`{"uriTemplate":"shared://{id}/part","name":"parts","vendor":1.0},{"uriTemplate":"a://t/{id}","name":"t"},` +
				`{"uriTemplate":"heddle://b/shared://{id}/part","name":"parts","vendor":1.0},{"uriTemplate":"b://t/{id}","name":"t"}]}`,
			"prompts/list": `{"prompts":[` +
				`{"name":"greet","arguments":[{"name":"who","required":true,"vendor":1.0}]},{"name":"a-only"},` +
				`{"name":"b_greet","arguments":[{"name":"who","required":true,"vendor":1.0}]},{"name":"b-only"}]}`,
		} {
			if diff := cmp.Diff(want, string(s.Request(method, "").Result)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", method, diff)
			}
		}
	})
}

// A resource is read by its URI, by one that a template makes, by the alias of
// one that two servers have, and by one that is in no list. What comes is what
// the server wrote.
func TestReadResource(t *testing.T) {
	a, b := library("a").Contents, library("b").Contents
	tests := []struct{ uri, server, own, want string }{
		{"shared://one", "a", "shared://one", string(a["shared://one"])},
		{"heddle://b/shared://one", "b", "shared://one", string(b["shared://one"])},
		{"heddle://a/shared://one", "a", "shared://one", string(a["shared://one"])},
		{"b://only", "b", "b://only", string(b["b://only"])},
		{"b://t/7", "b", "b://t/7", string(b["b://t/7"])},
		{"shared://7/part", "a", "shared://7/part", string(a["shared://7/part"])},
		{"heddle://b/shared://7/part", "b", "shared://7/part", string(b["shared://7/part"])},
		{"b://unlisted", "b", "b://unlisted", string(b["b://unlisted"])},
	}
	web := newWebStage(t, stageOptions{mode: "native", servers: twoLibraries()}, daemon.HTTPOptions{Loopback: true})
	stdio := newStage(t, stageOptions{mode: "compact", servers: twoLibraries()})
	for way, h := range map[string]struct {
		*mcptest.Host
		servers map[string]*mcptest.Server
	}{"stdio": {stdio.Host, stdio.servers}, "http": {web.host("/mcp", newestHandshake, "{}").Host, web.servers}} {
		for _, test := range tests {
			m := h.Request("resources/read", `{"vendor":9007199254740993,"uri":"`+test.uri+`","_meta":{"k":1.0}}`)
			if got := string(m.Result); got != test.want {
				t.Errorf("%s, %s: got %s%s, want %s", way, test.uri, got, m.Error, test.want)
			}
			asked := mcptest.Requests(h.servers[test.server].Events(), "resources/read")
			if got, want := string(asked[len(asked)-1].Params), `{"vendor":9007199254740993,"uri":"`+test.own+`","_meta":{"k":1.0}}`; got != want {
				t.Errorf("%s, %s: the server was asked %s, want %s", way, test.uri, got, want)
			}
		}
		before := len(mcptest.Requests(h.servers["b"].Events(), "resources/read"))
		m := h.Request("resources/read", `{"uri":"no://such"}`)
		if got, want := string(m.Error), `{"code":-32002,"message":"Resource not found","data":{"uri":"no://such"}}`; got != want {
			t.Errorf("%s: what nobody has: %s%s, want %s", way, m.Result, got, want)
		}
		if got := len(mcptest.Requests(h.servers["b"].Events(), "resources/read")); got != before+1 {
			t.Errorf("%s: the last server was not asked", way)
		}
	}
	for _, e := range stdio.servers["plain"].Events() {
		if e.Kind == "request" {
			t.Errorf("a server without resources was asked: %s", e.Method)
		}
	}
}

func TestGetPrompt(t *testing.T) {
	eachMode(t, stageOptions{servers: twoLibraries()}, func(t *testing.T, s *stage) {
		for _, test := range []struct{ name, server string }{{"greet", "a"}, {"b_greet", "b"}} {
			m := s.Request("prompts/get", `{"arguments":{"z":"1","who":"<me>"},"name":"`+test.name+`","vendor":1.0}`)
			if got, want := string(m.Result), string(library(test.server).Messages["greet"]); got != want {
				t.Errorf("%s: got %s%s, want %s", test.name, got, m.Error, want)
			}
			asked := s.servers[test.server].WaitEvents(t, "request", 4)
			if got, want := string(asked[len(asked)-1].Params), `{"arguments":{"z":"1","who":"<me>"},"name":"greet","vendor":1.0}`; got != want {
				t.Errorf("%s: the server was asked %s, want %s", test.name, got, want)
			}
		}
		if m := s.Request("prompts/get", `{"name":"a-only"}`); string(wire.Member(m.Error, "code")) != "-32601" {
			t.Errorf("the server's own error: %s%s", m.Result, m.Error)
		}
		if m := s.Request("prompts/get", `{"name":"nothing"}`); string(wire.Member(m.Error, "code")) != "-32602" {
			t.Errorf("a prompt that nobody has: %s%s", m.Result, m.Error)
		}
	})
}

func TestComplete(t *testing.T) {
	servers := twoLibraries()
	none := library("none")
	none.Completion = nil
	servers["none"] = none
	s := newStage(t, stageOptions{mode: "native", servers: servers})
	tests := []struct{ ref, server, own string }{
		{`{"type":"ref/prompt","name":"greet"}`, "a", `{"type":"ref/prompt","name":"greet"}`},
		{`{"type":"ref/prompt","name":"b_greet","title":"t"}`, "b", `{"type":"ref/prompt","name":"greet","title":"t"}`},
		{`{"type":"ref/resource","uri":"b://t/{id}"}`, "b", `{"type":"ref/resource","uri":"b://t/{id}"}`},
		{`{"type":"ref/resource","uri":"shared://{id}/part"}`, "a", `{"type":"ref/resource","uri":"shared://{id}/part"}`},
		{`{"type":"ref/resource","uri":"heddle://b/shared://{id}/part"}`, "b", `{"type":"ref/resource","uri":"shared://{id}/part"}`},
		{`{"type":"ref/prompt","name":"none-only"}`, "", ""},
		{`{"type":"ref/resource","uri":"none://t/{id}"}`, "", ""},
	}
	for _, test := range tests {
		m := s.Request("completion/complete", `{"ref":`+test.ref+`,"argument":{"name":"id","value":"9"},"context":{"arguments":{"b":"1"}}}`)
		want := `{"completion":{"values":[]}}`
		if test.server != "" {
			want = string(servers[test.server].Completion)
			asked := mcptest.Requests(s.servers[test.server].Events(), "completion/complete")
			params := `{"ref":` + test.own + `,"argument":{"name":"id","value":"9"},"context":{"arguments":{"b":"1"}}}`
			if got := string(asked[len(asked)-1].Params); got != params {
				t.Errorf("%s: the server was asked %s, want %s", test.ref, got, params)
			}
		}
		if string(m.Result) != want {
			t.Errorf("%s: got %s%s, want %s", test.ref, m.Result, m.Error, want)
		}
	}
}

// An update is told under the URI that the host subscribed to, and to nobody
// else.
func TestSubscribeToResource(t *testing.T) {
	t.Parallel()
	web := newWebStage(t, stageOptions{mode: "native", servers: twoLibraries()}, daemon.HTTPOptions{Loopback: true})
	one, other := web.host("/mcp", newestHandshake, "{}"), web.host("/mcp", newestHandshake, "{}")
	one.Listen()
	other.Listen()
	stdio := newStage(t, stageOptions{mode: "native", servers: twoLibraries()})
	for way, h := range map[string]struct {
		*mcptest.Host
		servers map[string]*mcptest.Server
	}{"stdio": {stdio.Host, stdio.servers}, "http": {one.Host, web.servers}} {
		told := 0
		for _, test := range []struct{ uri, server, own string }{
			{"shared://one", "a", "shared://one"}, {"heddle://b/shared://one", "b", "shared://one"},
			{"b://t/7", "b", "b://t/7"}, {"heddle://b/shared://7/part", "b", "shared://7/part"}, {"b://unlisted", "", ""},
		} {
			if test.server == "" {
				continue
			}
			if m := h.Request("resources/subscribe", `{"uri":"`+test.uri+`"}`); m.Error != nil {
				t.Errorf("%s, subscribe to %s: %s", way, test.uri, m.Error)
				continue
			}
			asked := mcptest.Requests(h.servers[test.server].Events(), "resources/subscribe")
			if len(asked) == 0 || string(wire.Member(asked[len(asked)-1].Params, "uri")) != `"`+test.own+`"` {
				t.Errorf("%s, %s: the server was asked %+v, want %s", way, test.uri, asked, test.own)
			}
			h.servers[test.server].Notify(updated, json.RawMessage(`{"uri":"`+test.own+`"}`))
			told++
			got := h.WaitReceived(updated, told)
			if uri := string(wire.Member(got[told-1].Params, "uri")); uri != `"`+test.uri+`"` {
				t.Errorf("%s, %s: told of %s", way, test.uri, uri)
			}
			if m := h.Request("resources/unsubscribe", `{"uri":"`+test.uri+`"}`); m.Error != nil {
				t.Errorf("%s, unsubscribe from %s: %s", way, test.uri, m.Error)
			}
			asked = mcptest.Requests(h.servers[test.server].Events(), "resources/unsubscribe")
			if len(asked) == 0 || string(wire.Member(asked[len(asked)-1].Params, "uri")) != `"`+test.own+`"` {
				t.Errorf("%s, %s: the server was told %+v, want %s", way, test.uri, asked, test.own)
			}
			h.servers[test.server].Notify(updated, json.RawMessage(`{"uri":"`+test.own+`"}`))
		}
		// One more, so that all before it has come.
		h.Request("resources/subscribe", `{"uri":"a://only"}`)
		h.servers["a"].Notify(updated, json.RawMessage(`{"uri":"a://only"}`))
		mcptest.Eventually(t, func() bool {
			got := h.Received(updated)
			return len(got) > 0 && strings.Contains(string(got[len(got)-1].Params), "a://only")
		}, "the last update")
		if got := len(h.Received(updated)); got != told+1 {
			t.Errorf("%s: told %d times, want %d", way, got, told+1)
		}
	}
	if got := other.Received(updated); len(got) != 0 {
		t.Errorf("a host that has not subscribed was told %s", got[0].Params)
	}
}

// Two hosts are subscribed: the server is told once, and again when the last of
// them goes.
func TestSubscriptionsAreCounted(t *testing.T) {
	web := newWebStage(t, stageOptions{mode: "native", servers: map[string]mcptest.Options{"a": library("a")}}, daemon.HTTPOptions{Loopback: true})
	a, b := web.host("/mcp", newestHandshake, "{}"), web.host("/mcp", newestHandshake, "{}")
	for _, step := range []struct {
		h                     *mcptest.Web
		method                string
		subscribe, unsubcribe int
	}{
		{a, "subscribe", 1, 0}, {b, "subscribe", 1, 0}, {a, "unsubscribe", 1, 0}, {b, "unsubscribe", 1, 1}, {a, "subscribe", 2, 1},
	} {
		if m := step.h.Request("resources/"+step.method, `{"uri":"shared://one"}`); m.Error != nil {
			t.Fatalf("%s: %s", step.method, m.Error)
		}
		events := web.servers["a"].Events()
		got := []int{len(mcptest.Requests(events, "resources/subscribe")), len(mcptest.Requests(events, "resources/unsubscribe"))}
		if diff := cmp.Diff([]int{step.subscribe, step.unsubcribe}, got); diff != "" {
			t.Errorf("after %s: subscribed and unsubscribed (-want +got):\n%s", step.method, diff)
		}
	}
}

// A server that was restarted is told again what hosts are subscribed to.
func TestSubscriptionOutlivesARestart(t *testing.T) {
	t.Parallel()
	o := library("a")
	o.Tools = toolsNamed("crash", "echo")
	s := newStage(t, stageOptions{mode: "native", config: "restart: {base_delay: 10ms}\n", servers: map[string]mcptest.Options{"a": o}})
	s.Request("resources/subscribe", `{"uri":"shared://one"}`)
	s.run("crash", `{"code":3}`)
	if got := s.servers["a"].WaitEvents(t, "start", 2); len(got) != 2 {
		t.Fatalf("%d starts", len(got))
	}
	mcptest.Eventually(t, func() bool { return len(mcptest.Requests(s.servers["a"].Events(), "resources/subscribe")) == 2 }, "the subscription in the new session")
	s.servers["a"].Notify(updated, json.RawMessage(`{"uri":"shared://one"}`))
	s.WaitReceived(updated, 1)
}

// However often a server says so, a host is told once that a list has changed;
// and not at all if it has not.
func TestOtherListsChanged(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ to, item, method, told string }{
		{"resources", `{"uri":"new://1","name":"n"}`, "resources/list", resourcesChanged},
		{"templates", `{"uriTemplate":"new://{x}","name":"n"}`, "resources/templates/list", resourcesChanged},
		{"prompts", `{"name":"new-1"}`, "prompts/list", promptsChanged},
	} {
		t.Run(test.to, func(t *testing.T) {
			s := newStage(t, stageOptions{mode: "compact", servers: map[string]mcptest.Options{"a": library("a")}})
			s.Request(test.method, "")
			s.settled("a", 3)
			before := len(s.Received(test.told))
			s.servers["a"].Add(test.to, json.RawMessage(test.item), 20)
			mcptest.Eventually(t, func() bool { return strings.Contains(string(s.Request(test.method, "").Result), test.item) }, "%s in the list", test.item)
			s.WaitReceived(test.told, before+1)
			s.servers["a"].Notify(test.told, nil) // and nothing has changed
			s.relisted("a", test.method)
			s.close()
			// What became known at the boot may have been told as late as this.
			if got := len(s.Received(test.told)) - before; got < 1 || got > 2 {
				t.Errorf("told %d times, want once", got)
			}
		})
	}
}

// A burst of one list's changes does not push another's aside.
func TestListsChangeAtOnce(t *testing.T) {
	s := newStage(t, stageOptions{mode: "native", servers: map[string]mcptest.Options{"a": library("a")}})
	s.list()
	s.settled("a", 3)
	text(t, s.run("add_tool", `{"name":"fresh","times":50}`))
	s.servers["a"].Add("resources", json.RawMessage(`{"uri":"new://1","name":"n"}`), 50)
	s.servers["a"].Add("prompts", json.RawMessage(`{"name":"new-1"}`), 50)
	for method, want := range map[string]string{"resources/list": `"new://1"`, "prompts/list": `"new-1"`, "tools/list": `"fresh"`} {
		mcptest.Eventually(t, func() bool { return strings.Contains(string(s.Request(method, "{}").Result), want) }, "%s in %s", want, method)
	}
}

// settled waits until the server has been asked for all of its other lists.
func (s *stage) settled(server string, n int) {
	s.t.Helper()
	mcptest.Eventually(s.t, func() bool {
		count := 0
		for _, method := range []string{"resources/list", "resources/templates/list", "prompts/list"} {
			count += len(mcptest.Requests(s.servers[server].Events(), method))
		}
		return count >= n
	}, "%d listings of %s", n, server)
	for _, method := range []string{"resources/list", "resources/templates/list", "prompts/list"} {
		s.Request(method, "{}") // waits for all of them
	}
}

// relisted waits for one more listing.
func (s *stage) relisted(server, method string) {
	s.t.Helper()
	n := len(mcptest.Requests(s.servers[server].Events(), method))
	mcptest.Eventually(s.t, func() bool { return len(mcptest.Requests(s.servers[server].Events(), method)) >= n }, "%d listings", n)
}

// A list does not wait for ever for a server that starts or that does not answer.
func TestListsDoNotHang(t *testing.T) {
	t.Parallel()
	hanging := library("b")
	hanging.Hang = []string{"resources/list", "prompts/list"}
	for name, o := range map[string]mcptest.Options{"starting": {NeverInit: true}, "hanging": hanging} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, stageOptions{mode: "native", servers: map[string]mcptest.Options{"a": library("a"), "b": o}})
			began := time.Now()
			for _, method := range []string{"resources/list", "resources/templates/list", "prompts/list"} {
				if got := s.Request(method, ""); !strings.Contains(string(got.Result), `"name":`) {
					t.Errorf("%s: %s%s, want what there is", method, got.Result, got.Error)
				}
			}
			if d := time.Since(began); d > 8*time.Second {
				t.Errorf("three lists took %s, want at most 2 s each", d)
			}
			// What is known need not wait for what is not.
			began = time.Now()
			s.Request("resources/read", `{"uri":"a://only"}`)
			s.Request("prompts/get", `{"name":"greet"}`)
			s.Request("completion/complete", `{"ref":{"type":"ref/prompt","name":"greet"},"argument":{"name":"id","value":"9"}}`)
			if d := time.Since(began); d > time.Second {
				t.Errorf("what is known took %s", d)
			}
		})
	}
}

// The tools of a server do not wait for its other lists.
func TestToolsDoNotWaitForOtherLists(t *testing.T) {
	t.Parallel()
	o := library("a")
	o.Hang = []string{"resources/list", "resources/templates/list", "prompts/list", "logging/setLevel"}
	s := newStage(t, stageOptions{mode: "native", servers: map[string]mcptest.Options{"a": o}})
	began := time.Now()
	if got := text(t, s.run("echo", `{"text":"x"}`)); got != "x" || time.Since(began) > 1500*time.Millisecond {
		t.Errorf("echo %q after %s", got, time.Since(began))
	}
}

// All pages are read, whatever the server does with cursors.
func TestOtherListsAreReadToTheEnd(t *testing.T) {
	t.Parallel()
	var resources, templates, prompts []string
	for i := range 14 {
		resources = append(resources, fmt.Sprintf(`{"uri":"x://%d","name":"r"}`, i))
		templates = append(templates, fmt.Sprintf(`{"uriTemplate":"x://%d/{a}","name":"t"}`, i))
		prompts = append(prompts, fmt.Sprintf(`{"name":"p%d"}`, i))
	}
	for _, test := range []struct {
		name  string
		o     mcptest.Options
		items int
	}{
		{"8 and 6", mcptest.Options{PageSize: 8}, 14},
		{"an empty cursor ends it", mcptest.Options{PageSize: 8, EmptyCursor: true}, 14},
		{"always the same cursor", mcptest.Options{PageSize: 14, RepeatCursor: true}, 14},
		{"1,000 pages", mcptest.Options{Pages: 1000}, 1000},
	} {
		test.o.Resources, test.o.Templates, test.o.Prompts = raws(resources...), raws(templates...), raws(prompts...)
		s := newStage(t, stageOptions{mode: "compact", servers: map[string]mcptest.Options{"a": test.o}})
		for method, key := range map[string]string{"resources/list": "resources", "resources/templates/list": "resourceTemplates", "prompts/list": "prompts"} {
			var items []json.RawMessage
			distinct := map[string]bool{}
			mcptest.Eventually(t, func() bool {
				m := s.Request(method, "{}")
				if wire.Member(m.Result, "nextCursor") != nil {
					t.Errorf("%s, %s: a cursor that nobody could use", test.name, method)
				}
				items, _ = wire.Elements(wire.Member(m.Result, key))
				return len(items) >= test.items
			}, "%s of %d", method, test.items)
			for _, i := range items {
				distinct[string(i)] = true
			}
			if len(distinct) != test.items || len(items) != test.items {
				t.Errorf("%s, %s: %d items, %d of them distinct, want %d", test.name, method, len(items), len(distinct), test.items)
			}
		}
		s.close()
	}
}

// Without handshake all of this is answered as that protocol has it.
func TestResourcesWithoutHandshake(t *testing.T) {
	web := newWebStage(t, stageOptions{mode: "native", servers: twoLibraries()}, daemon.HTTPOptions{Loopback: true})
	for way, h := range map[string]*mcptest.Host{
		"stdio": newStage(t, stageOptions{mode: "native", version: "-", servers: twoLibraries()}).Host, "http": web.host("/mcp", "-", "").Host,
	} {
		for _, test := range []struct{ method, params, want string }{
			{"resources/list", "", `"uri":"shared://one"`},
			{"resources/templates/list", "", `"uriTemplate":"shared://{id}/part"`},
			{"resources/read", `"uri":"b://only",`, `"csp":9007199254740993`},
			{"prompts/list", "", `"b_greet"`},
			{"prompts/get", `"name":"b_greet",`, `"vendor":1.0`},
			{"completion/complete", `"ref":{"type":"ref/prompt","name":"greet"},"argument":{"name":"who","value":""},`, `"total":9007199254740993`},
		} {
			m := h.Request(test.method, "{"+test.params+modernMeta+"}")
			if got := string(m.Result); !strings.Contains(got, test.want) || string(wire.Member(m.Result, "resultType")) != `"complete"` {
				t.Errorf("%s, %s: %s%s, want %s and a resultType", way, test.method, got, m.Error, test.want)
			}
		}
	}
}
