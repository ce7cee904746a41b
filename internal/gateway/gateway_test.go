package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"heddle"
	"heddle/internal/capture"
	"heddle/internal/catalog"
	"heddle/internal/deliver"
	"heddle/internal/ledger"
	"heddle/internal/mcptest"
	"heddle/internal/policy"
	"heddle/internal/upstream"

	"github.com/google/go-cmp/cmp"
)

// rig is a gateway over one server in this process, "up".
type rig struct {
	*Gateway
	server   *mcptest.Server
	end      func() []ledger.Row
	audited  audited
	withheld withheld
}

// audited counts what the audit is told.
type audited struct {
	mu    sync.Mutex
	lines []string
}

func (a *audited) Record(r ledger.Row, invoked bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.lines = append(a.lines, fmt.Sprintf("%s %s invoked=%t", r.Tool, r.Kind, invoked))
}

// withheld is a quarantine in memory.
type withheld struct {
	released bool
	tool     *heddle.Tool
	raw      heddle.Result
}

func (w *withheld) Withhold(_ *heddle.Call, t *heddle.Tool, r heddle.Result, _ []policy.Finding) (string, error) {
	w.tool, w.raw = t, r
	return "q_1", nil
}

func (w *withheld) Released(_ heddle.Principal, id string) (*heddle.Tool, heddle.Result, bool, error) {
	if id != "q_1" || w.tool == nil {
		return nil, heddle.Result{}, false, nil
	}
	if !w.released {
		return nil, heddle.Result{}, true, &heddle.Error{Kind: heddle.KindInjection, Public: "not released"}
	}
	return w.tool, w.raw, true, nil
}

func newRig(t *testing.T, o mcptest.Options, rules policy.Config) *rig {
	t.Helper()
	p, err := policy.New(rules)
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{server: mcptest.NewServer(o)}
	cat := catalog.New(catalog.Options{Allowed: func(ref heddle.ToolRef) bool { return p.Access(ref).Allowed }, NameBudget: 51, Own: []string{"read_result"}})
	var s *upstream.Server
	update := func() {
		l := s.Listing()
		cat.Update([]catalog.Source{{Server: l.Server, Definitions: l.Tools, Known: l.Listed, State: string(l.State)}})
	}
	s = upstream.New(upstream.Config{
		Name: "up", Connect: r.server.Connect, StartTimeout: 20 * time.Second, Timeout: 20 * time.Second, MaxTimeout: time.Minute, MaxConcurrency: 8, MaxFrame: 1 << 20, Failures: 3, Cooldown: time.Minute,
	}, upstream.Deps{Logger: slog.New(slog.DiscardHandler), Starts: make(chan struct{}, 1), Changed: func() { update() }})
	path := filepath.Join(t.TempDir(), "ledger.db")
	book := ledger.New(ledger.Options{Path: path})
	update()
	results := capture.New(capture.Options{})
	t.Cleanup(func() { _ = results.Close() })
	r.Gateway = New(Stages{
		Catalog: cat, Policy: p, Pool: upstream.NewPool([]*upstream.Server{s}), Ledger: book,
		Deliver: deliver.New(deliver.Options{Threshold: 2000, Captures: results}), Audit: &r.audited, Quarantine: &r.withheld,
	})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 2)
	go func() { done <- s.Run(ctx) }()
	go func() { done <- book.Run(ctx) }()
	ended := false
	r.end = func() []ledger.Row {
		if !ended {
			ended = true
			cancel()
			<-done
			<-done
		}
		return rowsOf(t, path)
	}
	t.Cleanup(func() { r.end() })
	return r
}

func rowsOf(t *testing.T, path string) []ledger.Row {
	t.Helper()
	r, err := ledger.OpenReader(context.Background(), path)
	if err != nil {
		return nil // no row was ever written
	}
	defer r.Close()
	rows, err := r.Calls(context.Background(), 100)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func newCall(tool, arguments string, host heddle.Host) *heddle.Call {
	c := &heddle.Call{Principal: heddle.Local, Session: "s", Mode: "compact", Tool: tool, Host: host}
	if arguments != "" {
		c.Arguments = json.RawMessage(arguments)
	}
	return c
}

// asked is a host that answers every question with the same.
type asked struct {
	answer string
	err    error
	method string
	params json.RawMessage
}

func (*asked) ID() string { return "asked" }

func (*asked) Capabilities() json.RawMessage { return nil }

func (h *asked) Request(_ context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	h.method, h.params = method, params
	return json.RawMessage(h.answer), h.err
}

func (h *asked) Notify(context.Context, string, json.RawMessage) error { return nil }

// A question goes to the call's host, and only "accept" lets the call pass.
func TestAsk(t *testing.T) {
	tests := []struct {
		name   string
		host   asked
		pass   bool
		public string
	}{
		{"accept", asked{answer: `{"action":"accept","content":{}}`}, true, ""},
		{"decline", asked{answer: `{"action":"decline"}`}, false, "did not confirm"},
		{"cancel", asked{answer: `{"action":"cancel"}`}, false, "did not confirm"},
		{"no action", asked{answer: `{}`}, false, "did not confirm"},
		{"nonsense", asked{answer: `[1]`}, false, "did not confirm"},
		{"no JSON", asked{answer: `{`}, false, "did not confirm"},
		{"not supported", asked{err: heddle.NewRPCError(-32601, "elicitation/create is not supported")}, false, "cannot ask"},
		{"gone", asked{err: errors.New("the host is gone")}, false, "did not confirm"},
	}
	g := newRig(t, mcptest.Options{}, policy.Config{})
	for _, test := range tests {
		decisions := []heddle.Decision{{Check: "confirm", Action: "asked", Rule: "up_echo"}}
		_, v := g.ask(t.Context(), newCall("up_echo", `{"text":"S3NTINEL"}`, &test.host), &heddle.Tool{},
			policy.Verdict{Action: policy.Ask, Question: "Run up_echo?", Arguments: json.RawMessage(`{"a":1}`), Decisions: decisions})
		if test.host.method != "elicitation/create" || !strings.Contains(string(test.host.params), `"message":"Run up_echo?"`) || !json.Valid(test.host.params) {
			t.Errorf("%s: asked %s %s", test.name, test.host.method, test.host.params)
		}
		if test.pass {
			if v.Action != policy.Allow || v.Err != nil || string(v.Arguments) != `{"a":1}` {
				t.Errorf("%s: %+v, want the call to pass as it was", test.name, v)
			}
			continue
		}
		if v.Action != policy.Refuse || v.Err == nil || v.Err.Kind != heddle.KindConfirmation || v.Err.Invoked || !strings.Contains(v.Err.Public, test.public) {
			t.Errorf("%s: %+v (%v), want a refusal that says %q", test.name, v, v.Err, test.public)
		}
		want := append(decisions, heddle.Decision{Check: "confirmation", Action: "refused", Rule: "not confirmed"})
		if diff := cmp.Diff(want, v.Decisions); diff != "" {
			t.Errorf("%s: decisions (-want +got):\n%s", test.name, diff)
		}
	}
}

func TestCall(t *testing.T) {
	g := newRig(t, mcptest.Options{}, policy.Config{Deny: []string{"up_pid"}})
	ctx := t.Context()
	for _, name := range []string{"up_echo", "up::echo", "up/echo", "echo"} {
		d, err := g.Call(ctx, newCall(name, `{"text":"x"}`, &asked{}))
		if err != nil || mcptest.TextOf(d.Raw) != "x" || d.Form != heddle.FormExact {
			t.Errorf("%s: %s, %v", name, d.Raw, err)
		}
	}
	for _, name := range []string{"up_pid", "pid", "up::pid", "Echo", "", "up_", "up::", "other_echo"} {
		d, err := g.Call(ctx, newCall(name, "", &asked{}))
		var e *heddle.Error
		if !errors.As(err, &e) || e.Kind != heddle.KindUnknownTool || e.Tool != name || e.Invoked || d.Raw != nil {
			t.Errorf("%q: %s, %v; want %s", name, d.Raw, err, heddle.KindUnknownTool)
		}
	}
	if n := mcptest.Count(g.server.Events(), "call"); n != 4 {
		t.Errorf("the server saw %d calls, want 4", n)
	}
	if rows := g.end(); len(rows) != 12 {
		t.Errorf("%d rows, want 12", len(rows))
	}
}

// The name of a tool of a server that is still starting is worth waiting for.
func TestCallWaitsForTheServerOfItsName(t *testing.T) {
	for _, name := range []string{"up_echo", "up::echo", "up/echo", "echo"} {
		g := newRig(t, mcptest.Options{InitDelay: 200}, policy.Config{})
		d, err := g.Call(t.Context(), newCall(name, `{"text":"x"}`, &asked{}))
		if err != nil || mcptest.TextOf(d.Raw) != "x" {
			t.Errorf("%s: %s, %v", name, d.Raw, err)
		}
		g.end()
	}
}

// A call that is cancelled while it waits says so, and never reaches the server.
func TestCancelledWhileWaiting(t *testing.T) {
	for _, name := range []string{"up_echo", "echo"} {
		g := newRig(t, mcptest.Options{NeverInit: true}, policy.Config{})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			_, err := g.Call(ctx, newCall(name, "", &asked{}))
			done <- err
		}()
		g.server.WaitEvents(t, "initialize", 1)
		cancel()
		if err := <-done; heddle.KindOf(err) != heddle.KindCancelled {
			t.Errorf("%s: %v, want %s", name, err, heddle.KindCancelled)
		}
		if rows := g.end(); len(rows) != 1 || rows[0].Kind != heddle.KindCancelled {
			t.Errorf("%s: rows %+v", name, rows)
		}
	}
}

func TestIsError(t *testing.T) {
	for raw, want := range map[string]bool{
		`{"content":[],"isError":true}`:                                         true,
		`{"isError" : true}`:                                                    true,
		`{"content":[],"isError":false}`:                                        false,
		`{"content":[]}`:                                                        false,
		`{"content":[{"type":"text","text":"\"isError\":true"}]}`:               false,
		`{"structuredContent":{"isError":true}}`:                                false,
		`{"isError":"true"}`:                                                    false,
		`{"isError":true,"x":"` + strings.Repeat("x", 70<<10) + `"}`:            false, // too large to be read twice
		`{"structuredContent":{"isError":true},"content":[],"isError":true}`:    true,
		`{"structuredContent":{"isError":false},"isError":true,"content":null}`: true,
	} {
		if got := isError(json.RawMessage(raw)); got != want {
			t.Errorf("isError(%.80s) = %v, want %v", raw, got, want)
		}
	}
}

// An error of the tool and an error of its server are what they are.
func TestErrorsOfServers(t *testing.T) {
	failure := `{"code":-32050,"message":"no","data":{"n":9007199254740993}}`
	g := newRig(t, mcptest.Options{Tools: []json.RawMessage{mcptest.Tool("fail"), mcptest.Tool("broken")}, Errors: map[string]json.RawMessage{"broken": json.RawMessage(failure)}}, policy.Config{})
	if _, err := g.Call(t.Context(), newCall("up_fail", "", &asked{})); err != nil {
		t.Errorf("isError: %v", err)
	}
	_, err := g.Call(t.Context(), newCall("up_broken", "", &asked{}))
	var rpc *heddle.RPCError
	if !errors.As(err, &rpc) || string(rpc.Raw) != failure {
		t.Errorf("got %v, want the server's own error", err)
	}
	rows := g.end()
	if len(rows) != 2 || !rows[1].IsError || rows[1].Kind != "" || rows[0].IsError || rows[0].Kind != heddle.KindUpstreamError {
		t.Errorf("rows %+v", rows)
	}
}

func TestOwn(t *testing.T) {
	g := newRig(t, mcptest.Options{}, policy.Config{})
	want := heddle.Delivery{Raw: json.RawMessage(`{}`), Form: heddle.FormOwn}
	got, err := g.Own(t.Context(), newCall("find_tool", "", &asked{}), func(context.Context) (heddle.Delivery, error) { return want, nil })
	if err != nil || string(got.Raw) != "{}" {
		t.Errorf("got %+v, %v", got, err)
	}
	refused := &heddle.Error{Kind: heddle.KindInvalidQuery}
	_, err = g.Own(t.Context(), newCall("find_tool", "", &asked{}), func(context.Context) (heddle.Delivery, error) { return heddle.Delivery{}, refused })
	if !errors.Is(err, refused) || refused.Tool != "find_tool" {
		t.Errorf("got %v, want the refusal under the host's name", err)
	}
	rows := g.end()
	if len(rows) != 2 || rows[1].Form != heddle.FormOwn || rows[0].Kind != heddle.KindInvalidQuery {
		t.Errorf("rows %+v", rows)
	}
}

func TestServersAreFixedOnceBooted(t *testing.T) {
	g := newRig(t, mcptest.Options{}, policy.Config{})
	if !g.Booted(t.Context()) {
		t.Fatal("not booted")
	}
	if diff := cmp.Diff([]catalog.ServerInfo{{Name: "up"}}, g.Servers(heddle.Local, false)); diff != "" {
		t.Errorf("before (-want +got):\n%s", diff)
	}
	counts := g.Servers(heddle.Local, true)
	if len(counts) != 1 || counts[0].Tools != len(mcptest.Builtin()) || !counts[0].Known {
		t.Fatalf("got %+v", counts)
	}
	if _, err := g.Call(t.Context(), newCall("up_add_tool", `{"name":"fresh","times":1}`, &asked{})); err != nil {
		t.Fatal(err)
	}
	mcptest.Eventually(t, func() bool { _, ok := g.Snapshot(heddle.Local).Lookup("up_fresh", false); return ok }, "the new tool")
	if diff := cmp.Diff(counts, g.Servers(heddle.Local, true)); diff != "" {
		t.Errorf("the counts changed (-want +got):\n%s", diff)
	}
}
