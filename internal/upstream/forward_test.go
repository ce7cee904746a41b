package upstream

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"heddle"
	"heddle/internal/mcptest"

	"github.com/google/go-cmp/cmp"
)

// items are n raw resources.
func items(n int) []json.RawMessage {
	out := []json.RawMessage{}
	for i := range n {
		out = append(out, fmt.Appendf(nil, `{"uri":"x://%d"}`, i))
	}
	return out
}

// stocked is a server with everything.
func stocked() mcptest.Options {
	return mcptest.Options{Extra: true, Resources: items(3), Templates: []json.RawMessage{}, Prompts: []json.RawMessage{[]byte(`{"name":"p"}`)}, Logging: true, Subscribe: true}
}

// settled waits until the server has listed all that it has.
func (r *running) settled() *running {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), mcptest.Deadline)
	defer cancel()
	if !r.ready().Settled(ctx) {
		r.t.Fatal("the lists do not settle")
	}
	return r
}

func TestOtherListsCollectAllPages(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		o        mcptest.Options
		items    int
		warnings int
	}{
		{"8 and 6", mcptest.Options{Resources: items(14), PageSize: 8}, 14, 0},
		{"empty cursor", mcptest.Options{Resources: items(14), PageSize: 8, EmptyCursor: true}, 14, 0},
		{"1,000 pages", mcptest.Options{Resources: items(1), Pages: 1000}, 1000, 0},
		{"repeated cursor", mcptest.Options{Resources: items(8), PageSize: 8, RepeatCursor: true}, 16, 2}, // of tools too
		{"never answered", mcptest.Options{Resources: items(8), Hang: []string{"resources/list"}}, 0, 1},
	} {
		cfg, _ := memoryConfig("pages", c.o)
		if c.o.Hang != nil {
			cfg.StartTimeout = 500 * time.Millisecond
		}
		r := start(t, cfg).settled()
		got, st := r.Listing().Lists[ListResources], r.Status()
		if len(got) != c.items || len(st.Warnings) != c.warnings || st.State != StateReady {
			t.Errorf("%s: %d items, warnings %q, %s; want %d and %d", c.name, len(got), st.Warnings, st.State, c.items, c.warnings)
		}
		r.stop()
	}
}

// What a server does not say that it has is not asked for.
func TestOnlyWhatAServerHasIsListed(t *testing.T) {
	t.Parallel()
	cfg, mem := memoryConfig("plain", mcptest.Options{})
	r := start(t, cfg).settled()
	r.SetLevel(t.Context(), "debug")
	if _, err := r.Subscribe(t.Context(), &Request{Method: "resources/subscribe", Params: json.RawMessage(`{"uri":"x"}`), Host: newHost()}, "x"); err == nil {
		t.Error("subscribed to a server without subscriptions")
	}
	for _, e := range mem.last().Events() {
		if e.Kind == "request" {
			t.Errorf("asked for %s", e.Method)
		}
	}
}

// Hosts hear of a list when it is another than before, and once of all changes
// that come together.
func TestHostsHearOfChangedLists(t *testing.T) {
	t.Parallel()
	heard := make(chan string, 1000)
	deps := testDeps(t)
	deps.Heard = func(_, method string, _ json.RawMessage, _ heddle.Host) { heard <- method }
	cfg, mem := memoryConfig("lists", stocked())
	r := run(t, cfg, deps).settled()
	first := []string{receive(t, "the first lists", heard), receive(t, "the first lists", heard)}
	slices.Sort(first)
	want := []string{"notifications/prompts/list_changed", "notifications/resources/list_changed"}
	if diff := cmp.Diff(want, first); diff != "" {
		t.Errorf("heard at the start (-want +got):\n%s", diff)
	}
	mem.last().Notify(want[1], nil) // nothing has changed
	mcptest.Eventually(t, func() bool { return len(mcptest.Requests(mem.last().Events(), ListTemplates)) == 2 }, "a second listing")
	mem.last().Add("resources", json.RawMessage(`{"uri":"x://new"}`), 0)
	mem.last().Add("templates", json.RawMessage(`{"uriTemplate":"x://{a}"}`), 20)
	if got := receive(t, "the change", heard); got != want[1] {
		t.Errorf("heard %s", got)
	}
	mem.last().Add("prompts", json.RawMessage(`{"name":"new"}`), 1)
	if got := receive(t, "the change", heard); got != want[0] {
		t.Errorf("heard %s, want of the prompts alone", got)
	}
	l := r.Listing().Lists
	if len(l[ListResources]) != 4 || len(l[ListTemplates]) != 1 || len(l[ListPrompts]) != 2 {
		t.Errorf("lists %v", l)
	}
}

// A server that does not answer what is none of a call's business holds up
// neither calls nor its own supervision.
func TestHangingServerIsStillSupervised(t *testing.T) {
	t.Parallel()
	o := stocked()
	o.Hang = []string{"logging/setLevel", "resources/subscribe", "prompts/list"}
	cfg, mem := memoryConfig("hangs", o)
	cfg.StartTimeout, cfg.Timeout = time.Second, time.Second
	r := start(t, cfg)
	r.SetLevel(t.Context(), "error") // before the session: the new session is told
	r.settled().echo("on")
	begin := time.Now()
	r.SetLevel(t.Context(), "debug")
	if d := time.Since(begin); d > 5*time.Second {
		t.Errorf("setting a level took %s", d)
	}
	tools := len(r.Tools())
	if _, err := r.do(t.Context(), "add_tool", `{"name":"new","times":1}`); err != nil {
		t.Fatal(err)
	}
	r.until("relisted", func(st Status) bool { return st.Tools == tools+1 })
	if n := mem.count(); n != 1 {
		t.Errorf("%d sessions", n)
	}
}

// asking is a host that answers after a while, and counts.
type asking struct {
	*fakeHost
	wait  time.Duration
	asked atomic.Int32
}

func (*asking) Capabilities() json.RawMessage { return json.RawMessage(`{"roots":{}}`) }

func (h *asking) Request(ctx context.Context, _ string, _ json.RawMessage) (json.RawMessage, error) {
	h.asked.Add(1)
	t := time.NewTimer(h.wait)
	defer t.Stop()
	select {
	case <-t.C:
		return json.RawMessage(`{"roots":[]}`), nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// A server is not idle while a host thinks about its question, whichever way it
// asked: the call would be made twice.
func TestServerIsNotIdleWhileItsHostIsAsked(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		o          mcptest.Options
		tool, args string
		calls      int
	}{
		"with handshake":    {mcptest.Options{Extra: true}, "ask", `{"method":"roots/list"}`, 1},
		"without handshake": {mcptest.Options{Extra: true, Discover: "modern", ModernOnly: true}, "input", `{"times":2,"requests":{"r":{"method":"roots/list"}}}`, 3},
	} {
		cfg, mem := memoryConfig("idle", test.o)
		cfg.IdleStop = 50 * time.Millisecond
		r := start(t, cfg).ready()
		host := &asking{fakeHost: newHost(), wait: 400 * time.Millisecond}
		got, err := r.with(t.Context(), test.tool, &heddle.Call{Arguments: json.RawMessage(test.args), Host: host})
		if err != nil || !strings.Contains(got, `roots`) {
			t.Errorf("%s: got %s, %v", name, got, err)
		}
		mem.mu.Lock()
		calls := 0
		for _, s := range mem.servers {
			calls += mcptest.Count(s.Events(), "call")
		}
		mem.mu.Unlock()
		if calls != test.calls || int(host.asked.Load()) != max(1, test.calls-1) {
			t.Errorf("%s: %d calls and %d questions, want %d and %d", name, calls, host.asked.Load(), test.calls, max(1, test.calls-1))
		}
		r.stop()
	}
}

// A server that does not speak the protocol without handshake is not started
// for it again and again.
func TestServerWithoutTheNewProtocolIsTriedOnce(t *testing.T) {
	t.Parallel()
	for _, discover := range []string{"", "die"} {
		cfg, mem := memoryConfig("old", mcptest.Options{Discover: discover})
		r := start(t, cfg).ready()
		for range 3 {
			if got, err := r.with(t.Context(), "echo", &heddle.Call{Arguments: json.RawMessage(`{"text":"x"}`), Protocol: json.RawMessage(`"io.modelcontextprotocol/protocolVersion":"2026-07-28"`)}); err != nil || got != string(mcptest.Text("x")) {
				t.Errorf("discover %q: got %s, %v", discover, got, err)
			}
		}
		st := r.twin.Status()
		if st.NextRetry != nil || mem.count() != 2 {
			t.Errorf("discover %q: %d sessions, the second %+v; want no third", discover, mem.count(), st)
		}
		r.stop()
	}
}

// Any number of hosts may want a resource; who wants nothing more is not counted
// below nothing.
func TestSubscriptionsAreCounted(t *testing.T) {
	t.Parallel()
	cfg, mem := memoryConfig("subs", stocked())
	r := start(t, cfg).settled()
	request := func(method string) {
		t.Helper()
		q := &Request{Method: method, Params: json.RawMessage(`{"uri":"x://1"}`), Host: newHost()}
		f := r.Subscribe
		if method == "resources/unsubscribe" {
			f = r.Unsubscribe
		}
		if raw, err := f(t.Context(), q, "x://1"); err != nil || string(raw) != `{}` {
			t.Errorf("%s: %s, %v", method, raw, err)
		}
	}
	for _, method := range []string{"unsubscribe", "subscribe", "subscribe", "unsubscribe", "unsubscribe", "unsubscribe", "subscribe"} {
		request("resources/" + method)
	}
	got := []int{len(mcptest.Requests(mem.last().Events(), "resources/subscribe")), len(mcptest.Requests(mem.last().Events(), "resources/unsubscribe"))}
	if diff := cmp.Diff([]int{2, 1}, got); diff != "" {
		t.Errorf("told to subscribe and unsubscribe (-want +got):\n%s", diff)
	}
}

// A server learns what the host can, once that is known; before, that it may ask
// anything.
func TestServerLearnsWhatTheHostCan(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		host json.RawMessage
		want string
	}{
		"nobody yet":  {nil, `{"roots":{"listChanged":true},"sampling":{"tools":{},"context":{}},"elicitation":{"form":{},"url":{}}}`},
		"a host":      {json.RawMessage(`{"roots":{},"vendor":1}`), `{"roots":{}}`},
		"no features": {json.RawMessage(`{}`), `{}`},
	} {
		deps := testDeps(t)
		deps.Capabilities = func(context.Context) json.RawMessage { return c.host }
		cfg, mem := memoryConfig("caps", mcptest.Options{})
		r := run(t, cfg, deps).ready()
		var got struct{ Capabilities map[string]any }
		if err := json.Unmarshal(mem.last().WaitEvents(t, "initialize", 1)[0].Params, &got); err != nil {
			t.Fatal(err)
		}
		var want map[string]any
		if err := json.Unmarshal([]byte(c.want), &want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got.Capabilities); diff != "" {
			t.Errorf("%s: capabilities (-want +got):\n%s", name, diff)
		}
		r.stop()
	}
}

// A host that waits to hear of changes uses the server; without one it may rest.
func TestSubscribedServerIsNotIdle(t *testing.T) {
	t.Parallel()
	cfg, mem := memoryConfig("subs", stocked())
	cfg.IdleStop = 50 * time.Millisecond
	r := start(t, cfg).ready()
	q := func(method string) *Request {
		return &Request{Method: method, Params: json.RawMessage(`{"uri":"x://1"}`), Host: newHost()}
	}
	r.echo("known") // what it has is known, and it may rest
	if _, err := r.Subscribe(t.Context(), q("resources/subscribe"), "x://1"); err != nil {
		t.Fatal(err)
	}
	sessions := mem.count()
	<-time.After(10 * cfg.IdleStop)
	if st := r.Status(); st.State != StateReady || mem.count() != sessions {
		t.Errorf("%s after %d sessions, want ready in the one that was subscribed", st.State, mem.count())
	}
	if _, err := r.Unsubscribe(t.Context(), q("resources/unsubscribe"), "x://1"); err != nil {
		t.Fatal(err)
	}
	r.until("idle", func(st Status) bool { return st.State == StateIdle })
}
