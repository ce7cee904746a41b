package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"heddle"
	"heddle/internal/mcptest"

	"github.com/google/go-cmp/cmp"
)

func TestTimeoutCancelsAndSaysSo(t *testing.T) {
	t.Parallel()
	cfg, mem := memoryConfig("lame", mcptest.Options{})
	cfg.Timeout = 400 * time.Millisecond
	r := start(t, cfg).ready()
	_, err := r.do(t.Context(), "slow", `{"ms":60000}`)
	e := refused(t, err, heddle.KindTimeout, "lame", "400ms", "timeout")
	if !e.Invoked {
		t.Error("the call is not marked as sent")
	}
	call, cancelled := mem.last().WaitEvents(t, "call", 1)[0], mem.last().WaitEvents(t, "cancelled", 1)[0]
	if call.ID != cancelled.ID {
		t.Errorf("cancelled %s, want %s", cancelled.ID, call.ID)
	}
	r.echo("next")
}

func TestLateAnswerIsDroppedAndCounted(t *testing.T) {
	t.Parallel()
	cfg, _ := memoryConfig("late", mcptest.Options{})
	cfg.Timeout = 400 * time.Millisecond
	r := start(t, cfg).ready()
	_, err := r.do(t.Context(), "slow", `{"ms":60000,"late":1}`) // answers when it is cancelled
	refused(t, err, heddle.KindTimeout)
	mcptest.Eventually(t, func() bool { return r.Status().Late == 1 }, "a late answer that is counted")
	r.echo("next")
}

func TestProgressExtendsTheDeadlineWithoutATokenOfTheHost(t *testing.T) {
	t.Parallel()
	cfg, _ := memoryConfig("steady", mcptest.Options{})
	cfg.Timeout = 2 * time.Second
	r := start(t, cfg).ready()
	host := newHost()
	got, err := r.with(t.Context(), "progress", &heddle.Call{Arguments: json.RawMessage(`{"steps":12,"ms":250}`), Host: host}) // 3 s
	if err != nil || got != string(mcptest.Text("12 steps")) {
		t.Errorf("got %s, %v", got, err)
	}
	if notes := host.all(); len(notes) != 0 {
		t.Errorf("a host without a token was told %q", notes)
	}
}

func TestProgressExtendsTheDeadlineUpToItsMaximum(t *testing.T) {
	t.Parallel()
	cfg, _ := memoryConfig("endless", mcptest.Options{})
	cfg.Timeout, cfg.MaxTimeout = 400*time.Millisecond, time.Second
	r := start(t, cfg).ready()
	began := time.Now()
	_, err := r.do(t.Context(), "progress", `{"steps":100000,"ms":20}`)
	refused(t, err, heddle.KindTimeout, "endless", "max_timeout", "1s")
	if d := time.Since(began); d < time.Second {
		t.Errorf("ended after %s, want the maximum", d)
	}
}

func TestProgressComesBackUnderTheHostsOwnToken(t *testing.T) {
	t.Parallel()
	cfg, _ := memoryConfig("steps", mcptest.Options{})
	r := start(t, cfg).ready()
	for _, c := range []struct{ meta, token string }{
		{`{"progressToken":"p1"}`, `"p1"`}, {`{"progressToken":7}`, `7`}, {`{"progressToken":9007199254740993}`, `9007199254740993`},
		{`{"progressToken":""}`, `""`}, {`{"progressToken":0}`, `0`}, {`{"progressToken":"h1"}`, `"h1"`}, {`{}`, ``}, {`{"progressToken":null}`, ``},
	} {
		host := newHost()
		if _, err := r.with(t.Context(), "progress", &heddle.Call{Arguments: json.RawMessage(`{"steps":2}`), Meta: json.RawMessage(c.meta), Host: host}); err != nil {
			t.Errorf("%s: %v", c.meta, err)
		}
		var want []string
		for i := 1; i <= 2 && c.token != ""; i++ {
			want = append(want, fmt.Sprintf(`notifications/progress {"progress":%d,"progressToken":%s,"total":2,"x":9007199254740993}`, i, c.token))
		}
		if d := cmp.Diff(want, host.all()); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.meta, d)
		}
	}
}

// TestEqualTokensOfTwoHostsDoNotMeet: ids and tokens are the hosts' own; two of
// them use the same.
func TestEqualTokensOfTwoHostsDoNotMeet(t *testing.T) {
	t.Parallel()
	cfg, _ := memoryConfig("shared", mcptest.Options{})
	r := start(t, cfg).ready()
	var busy sync.WaitGroup
	for n := range 8 {
		busy.Go(func() {
			host := newHost()
			args := fmt.Sprintf(`{"steps":%d,"ms":5}`, n+1)
			got, err := r.with(t.Context(), "progress", &heddle.Call{Arguments: json.RawMessage(args), Meta: json.RawMessage(`{"progressToken":1}`), Host: host})
			if want := string(mcptest.Text(fmt.Sprintf("%d steps", n+1))); err != nil || got != want {
				t.Errorf("host %d: got %s, %v; want %s", n, got, err, want)
			}
			if notes := host.all(); len(notes) != n+1 || !strings.Contains(notes[0], fmt.Sprintf(`"total":%d`, n+1)) {
				t.Errorf("host %d was told %q", n, notes)
			}
		})
	}
	busy.Wait()
}

func TestCancellationReachesTheServerForThatCallOnly(t *testing.T) {
	t.Parallel()
	cfg, mem := memoryConfig("cancel", mcptest.Options{})
	r := start(t, cfg).ready()
	ctx, cancel := context.WithCancel(t.Context())
	b := r.async(t.Context(), "slow", `{"ms":500}`)
	mem.last().WaitEvents(t, "call", 1)
	a := r.async(ctx, "slow", `{"ms":60000}`)
	callA := mem.last().WaitEvents(t, "call", 2)[1]
	cancel()
	refused(t, receive(t, "the cancelled call", a).err, heddle.KindCancelled)
	if got := mem.last().WaitEvents(t, "cancelled", 1)[0].ID; got != callA.ID {
		t.Errorf("cancelled %s, want %s", got, callA.ID)
	}
	if o := receive(t, "the other call", b); o.err != nil || o.text != string(mcptest.Text("done")) {
		t.Errorf("the other call: %s, %v", o.text, o.err)
	}
	if n := mcptest.Count(mem.last().Events(), "cancelled"); n != 1 {
		t.Errorf("%d cancellations, want 1", n)
	}
	if st := r.Status(); st.Circuit != "closed" || st.InFlight != 0 {
		t.Errorf("circuit %s, %d in flight", st.Circuit, st.InFlight)
	}
}

func TestMaxConcurrencyBoundsCallsAtTheServer(t *testing.T) {
	t.Parallel()
	cfg, mem := memoryConfig("narrow", mcptest.Options{})
	cfg.MaxConcurrency, cfg.Timeout = 2, time.Second
	r := start(t, cfg).ready()
	ctx, cancel := context.WithCancel(t.Context())
	first := []<-chan outcome{r.async(ctx, "progress", `{"steps":10000,"ms":20}`), r.async(ctx, "progress", `{"steps":10000,"ms":20}`)}
	mem.last().WaitEvents(t, "call", 2)
	_, err := r.do(t.Context(), "echo", `{}`)
	if e := refused(t, err, heddle.KindTimeout, "narrow", "max_concurrency 2"); e.Invoked {
		t.Error("a call that got no place is marked as sent")
	}
	waiting := r.async(t.Context(), "echo", `{"text":"later"}`)
	cancel()
	for _, c := range first {
		refused(t, receive(t, "a cancelled call", c).err, heddle.KindCancelled)
	}
	if o := receive(t, "the call that waited", waiting); o.err != nil {
		t.Errorf("the call that waited: %v", o.err)
	}
	if n := mcptest.Count(mem.last().Events(), "call"); n != 3 {
		t.Errorf("the server saw %d calls, want 3", n)
	}
	if st := r.Status(); st.Circuit != "closed" {
		t.Errorf("circuit %s after waiting for a place", st.Circuit)
	}
}

func TestManyCallsAtOnceGetTheirOwnAnswers(t *testing.T) {
	t.Parallel()
	cfg, _ := memoryConfig("busy", mcptest.Options{})
	r := start(t, cfg).ready()
	var busy sync.WaitGroup
	for n := range 64 {
		busy.Go(func() {
			for i := range 20 {
				r.echo(fmt.Sprintf("%d.%d", n, i))
			}
		})
	}
	busy.Wait()
}

func TestServerThatDoesNotReadTimesOut(t *testing.T) {
	t.Parallel()
	cfg, _ := memoryConfig("deaf", mcptest.Options{Deaf: true})
	cfg.Timeout, cfg.Failures, cfg.Connect = 200*time.Millisecond, 100, deafPeer
	r := start(t, cfg).ready()
	args := `{"text":"` + strings.Repeat("x", 5<<20) + `"}`
	for range 4 { // the third does not even fit into the queue
		_, err := r.do(t.Context(), "echo", args)
		refused(t, err, heddle.KindTimeout, "deaf", "200ms")
	}
}

func TestBreakerIgnoresAnswersOfTheServer(t *testing.T) {
	t.Parallel()
	cfg, _ := memoryConfig("strict", mcptest.Options{Errors: map[string]json.RawMessage{"bad": json.RawMessage(`{"code":-32602,"message":"no"}`)}})
	r := start(t, cfg).ready()
	for range 5 {
		if got, err := r.do(t.Context(), "fail", `{}`); err != nil || !strings.Contains(got, `"isError":true`) {
			t.Errorf("isError: got %s, %v", got, err)
		}
		if _, err := r.do(t.Context(), "bad", `{}`); heddle.KindOf(err) != heddle.KindUpstreamError {
			t.Errorf("JSON-RPC error: got %v", err)
		}
	}
	if st := r.Status(); st.Circuit != "closed" {
		t.Errorf("circuit %s", st.Circuit)
	}
}

func TestBreakerOpensAfterTimeoutsAndLetsOneCallThrough(t *testing.T) {
	t.Parallel()
	cfg, mem := memoryConfig("tired", mcptest.Options{})
	cfg.Timeout, cfg.Cooldown = 500*time.Millisecond, 3*time.Second
	deps := testDeps(t)
	r := run(t, cfg, deps).ready()
	other, _ := memoryConfig("other", mcptest.Options{})
	o := run(t, other, deps).ready()
	for range 3 {
		_, err := r.do(t.Context(), "slow", `{"ms":60000}`)
		refused(t, err, heddle.KindTimeout)
	}
	_, err := r.do(t.Context(), "echo", `{}`)
	e := refused(t, err, heddle.KindCircuitOpen, "tired", "Try again in", " s.")
	if e.RetryAfter <= 0 || e.RetryAfter > cfg.Cooldown || e.Invoked {
		t.Errorf("retry after %s, invoked %v", e.RetryAfter, e.Invoked)
	}
	if n := mcptest.Count(mem.last().Events(), "call"); n != 3 {
		t.Errorf("the server saw %d calls, want 3", n)
	}
	o.echo("not affected")
	mcptest.Eventually(t, func() bool { return r.Status().Circuit == "half-open" }, "a half-open circuit")
	ctx, cancel := context.WithCancel(t.Context())
	trial := r.async(ctx, "progress", `{"steps":10000,"ms":10}`)
	mem.last().WaitEvents(t, "call", 4)
	_, err = r.do(t.Context(), "echo", `{}`)
	refused(t, err, heddle.KindCircuitOpen)
	cancel() // a cancelled trial says nothing: the next call is the trial
	refused(t, receive(t, "the trial", trial).err, heddle.KindCancelled)
	if _, err := r.do(t.Context(), "fail", `{}`); err != nil {
		t.Errorf("a trial that answers isError: %v", err)
	}
	if st := r.Status(); st.Circuit != "closed" {
		t.Errorf("circuit %s after a round trip", st.Circuit)
	}
}

func TestBreakerSaysTheRemainingTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBreaker(Config{Failures: 3, Cooldown: 30 * time.Second})
		late := &timeoutError{time.Second, false}
		outcome := func(err error) {
			t.Helper()
			done, refusal := b.allow("s")
			if refusal != nil {
				t.Fatalf("refused: %v", refusal)
			}
			done(err)
		}
		for _, err := range []error{late, late, nil, late, late, heddle.NewRPCError(1, ""), late, late, errNotCounted, context.Canceled} {
			outcome(err) // never three in a row
		}
		outcome(late)
		for _, c := range []struct {
			after time.Duration
			want  string
		}{{0, "in 30 s"}, {20*time.Second + 500*time.Millisecond, "in 10 s"}, {9 * time.Second, "in 1 s"}} {
			time.Sleep(c.after) // of the fake clock
			_, err := b.allow("s")
			refused(t, err, heddle.KindCircuitOpen, c.want)
		}
		time.Sleep(time.Second)
		outcome(late) // the trial fails
		_, err := b.allow("s")
		refused(t, err, heddle.KindCircuitOpen, "in 30 s")
		time.Sleep(30*time.Second + 1)
		outcome(nil)
		if got := b.state(); got != "closed" {
			t.Errorf("circuit %s after a trial that worked", got)
		}
	})
}

func TestBreakerCountsAnExitOnce(t *testing.T) {
	t.Parallel()
	cfg, mem := memoryConfig("crowded", mcptest.Options{})
	r := start(t, cfg).ready()
	for round := range 2 { // two exits: still below three
		var waiting []<-chan outcome
		for range 64 {
			waiting = append(waiting, r.async(t.Context(), "slow", `{"ms":60000}`))
		}
		mem.last().WaitEvents(t, "call", 64)
		go func() { _, _ = r.do(t.Context(), "crash", `{}`) }()
		for _, c := range waiting {
			e := refused(t, receive(t, "a call that died with its server", c).err, heddle.KindUpstreamExited, "crowded")
			if !e.Invoked {
				t.Error("the call is not marked as sent")
			}
		}
		r.until("restarted", func(st Status) bool { return st.Restarts == round+1 && st.State == StateReady })
		if st := r.Status(); st.Circuit != "closed" {
			t.Fatalf("circuit %s after %d exits", st.Circuit, round+1)
		}
	}
	r.ready().echo("back")
}

// TestCallToAStartingServerWaitsThenSaysSo runs on a fake clock.
func TestCallToAStartingServerWaitsThenSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := config("cold")
		cfg.StartTimeout, cfg.Timeout, cfg.MaxAttempts = 2*time.Minute, 30*time.Second, 0
		cfg.Connect = connectLater
		s := New(cfg, Deps{Logger: discard(), Starts: make(chan struct{}, 1)})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); _ = s.Run(ctx) }()
		began := time.Now()
		_, err := s.Call(t.Context(), &heddle.Tool{Ref: heddle.ToolRef{Server: "cold", Name: "x"}}, &heddle.Call{Host: newHost()})
		e := refused(t, err, heddle.KindStarting, "cold", "29s", "try again")
		if d := time.Since(began); d != 29*time.Second || e.Invoked || e.RetryAfter <= 0 {
			t.Errorf("waited %s, invoked %v, retry after %s", d, e.Invoked, e.RetryAfter)
		}
		gone, stop := context.WithTimeoutCause(t.Context(), time.Second, errors.New("host is gone"))
		defer stop()
		_, err = s.Call(gone, &heddle.Tool{}, &heddle.Call{Host: newHost()})
		refused(t, err, heddle.KindCancelled)
		if s.Booted(gone) {
			t.Error("booted before the start had an outcome")
		}
		if got := s.Status().State; got != StateStarting {
			t.Errorf("state %s: the start does not go on", got)
		}
		cancel()
		<-ended
		_, err = s.Call(t.Context(), &heddle.Tool{}, &heddle.Call{Host: newHost()})
		refused(t, err, heddle.KindUnavailable, "cold", "stopped")
	})
}

func TestCallWaitsForAServerThatIsAboutToBeReady(t *testing.T) {
	t.Parallel()
	cfg, mem := memoryConfig("soon", mcptest.Options{InitDelay: 200})
	r := start(t, cfg)
	var busy sync.WaitGroup
	for n := range 50 {
		busy.Go(func() { r.echo(fmt.Sprint(n)) })
	}
	busy.Wait()
	if n := mem.count(); n != 1 {
		t.Errorf("%d connections, want 1", n)
	}
}

func TestPoolKnowsItsServers(t *testing.T) {
	t.Parallel()
	cfg, _ := memoryConfig("one", mcptest.Options{})
	broken := config("two")
	broken.Unusable = "the variable TOKEN is not set"
	deps := testDeps(t)
	one, two := run(t, cfg, deps), run(t, broken, deps)
	p := NewPool([]*Server{one.Server, two.Server})
	if !p.Booted(t.Context()) || len(p.Servers()) != 2 || p.Server("one") != one.Server || p.Server("three") != nil {
		t.Error("the pool does not know its servers")
	}
	call := func(server string) error {
		_, err := p.Call(t.Context(), &heddle.Tool{Ref: heddle.ToolRef{Server: server, Name: "echo"}}, &heddle.Call{Host: newHost()})
		return err
	}
	if err := call("one"); err != nil {
		t.Errorf("one: %v", err)
	}
	refused(t, call("two"), heddle.KindUnavailable, "two", "TOKEN")
	refused(t, call("three"), heddle.KindUnavailable, "three", "not configured")
	if st := two.Status(); st.State != StateDisabled || st.Code != "unusable" {
		t.Errorf("state %s, code %s", st.State, st.Code)
	}
}

func TestDrainWaitsForCallsAndLetsNoneIn(t *testing.T) {
	t.Parallel()
	cfg, mem := memoryConfig("leaving", mcptest.Options{})
	cfg.MaxConcurrency, cfg.Timeout = 3, 2*time.Second
	r := start(t, cfg).ready()
	last := r.async(t.Context(), "slow", `{"ms":200}`)
	mem.last().WaitEvents(t, "call", 1)
	r.Drain(t.Context())
	select {
	case o := <-last:
		if o.err != nil {
			t.Errorf("the call in flight: %v", o.err)
		}
	case <-time.After(time.Second): // its place is free before its outcome is here
		t.Error("drained before the call had ended")
	}
	_, err := r.do(t.Context(), "echo", `{}`)
	refused(t, err, heddle.KindTimeout)
}
