package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"heddle"
	"heddle/internal/mcptest"

	"github.com/google/go-cmp/cmp"
)

func TestExitDuringACallSaysHowAndShowsStderr(t *testing.T) {
	processTest(t)
	log := logFile(t)
	r := start(t, processConfig("fragile", mcptest.Options{Log: log})).ready()
	waiting := r.async(t.Context(), "slow", `{"ms":60000}`)
	mcptest.WaitEvents(t, log, "call", 1)
	_, err := r.do(t.Context(), "crash", `{"code":3,"stderr":"one\ntwo\nthree\nfour\nfive\nlogin with s3cr3t-token refused\n"}`)
	e := refused(t, err, heddle.KindUpstreamExited, "fragile", "exit status 3", "two | three", "login with [redacted] refused")
	if strings.Contains(e.Public, "s3cr3t") || strings.Contains(e.Public, "one") || !e.Invoked {
		t.Errorf("the error says %q, invoked %v", e.Public, e.Invoked)
	}
	refused(t, receive(t, "the other call", waiting).err, heddle.KindUpstreamExited, "exit status 3")
	r.until("restarted", func(st Status) bool { return st.State == StateReady && st.Restarts == 1 })
	r.ready().echo("back")
	if n := mcptest.Count(mcptest.Events(t, log), "call"); n != 3 {
		t.Errorf("the servers saw %d calls, want 3: nothing is called twice", n)
	}
}

func TestServerThatClosesAStreamIsRestarted(t *testing.T) {
	processTest(t)
	t.Run("stdout", func(t *testing.T) {
		r := start(t, processConfig("mute", mcptest.Options{})).ready()
		_, err := r.do(t.Context(), "close_stdout", `{}`)
		refused(t, err, heddle.KindUpstreamExited, "mute", "closed its stdout")
		r.until("restarted", func(st Status) bool { return st.State == StateReady && st.Restarts == 1 })
		r.ready().echo("back")
	})
	t.Run("stdin", func(t *testing.T) {
		log := logFile(t)
		r := start(t, processConfig("deaf", mcptest.Options{CloseStdin: true, Log: log})).ready()
		r.echo("the last that it reads")
		var err error
		mcptest.Eventually(t, func() bool {
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			_, err = r.do(ctx, "echo", `{}`)
			return heddle.KindOf(err) == heddle.KindUpstreamExited
		}, "the end of a session whose server reads no more")
		refused(t, err, heddle.KindUpstreamExited, "deaf", "closed its stdin")
		mcptest.WaitEvents(t, log, "initialized", 2)
	})
}

func TestKilledServerIsRestarted(t *testing.T) {
	processTest(t)
	r := start(t, processConfig("killed", mcptest.Options{})).ready()
	old := r.Status().PID
	if p, err := os.FindProcess(old); err != nil || p.Kill() != nil {
		t.Fatalf("cannot kill %d", old)
	}
	st := r.until("restarted", func(st Status) bool { return st.State == StateReady && st.Restarts == 1 })
	if st.PID == old {
		t.Errorf("pid %d again", old)
	}
	r.ready().echo("back")
}

func TestFailingServerIsDelistedAfterMaxAttemptsAndComesBack(t *testing.T) {
	processTest(t)
	file := t.TempDir() + "/fixed"
	cfg := processConfig("broken", mcptest.Options{ExitUntil: file, Stderr: "no config: s3cr3t-token\n"})
	cfg.MaxAttempts = 2
	deps := testDeps(t)
	var changes atomic.Int64
	deps.Changed = func() { changes.Add(1) }
	r := run(t, cfg, deps)
	st := r.until("failed", func(st Status) bool { return st.State == StateFailed })
	if st.Code != "exited" || !strings.Contains(st.Reason, "exit status 1") || st.NextRetry == nil {
		t.Errorf("code %s, reason %q, next retry %v", st.Code, st.Reason, st.NextRetry)
	}
	if d := cmp.Diff([]string{"no config: [redacted]"}, st.Stderr); d != "" {
		t.Errorf("stderr (-want +got):\n%s", d)
	}
	_, err := r.do(t.Context(), "echo", `{}`)
	refused(t, err, heddle.KindUnavailable, "broken", "exit status 1", "no config")
	if l := r.Listing(); l.Listed || l.State == StateReady || !r.Booted(t.Context()) {
		t.Errorf("listing %+v", l)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r.ready().echo("fixed")
	if l := r.Listing(); !l.Listed || len(l.Tools) != len(mcptest.Builtin()) {
		t.Errorf("listed %v with %d tools", l.Listed, len(l.Tools))
	}
	if changes.Load() < 4 {
		t.Errorf("told of %d changes", changes.Load())
	}
}

func TestToolsStayListedWhileAServerRestartsAndGoWhenItFails(t *testing.T) {
	t.Parallel()
	var broken atomic.Bool
	cfg, mem := memoryConfig("flaky", mcptest.Options{})
	cfg.MaxAttempts, cfg.BaseDelay = 3, 30*time.Millisecond
	cfg.Connect = func(ctx context.Context) (io.ReadWriteCloser, error) {
		if broken.Load() {
			return nil, errors.New("no route")
		}
		return mem.connect(ctx)
	}
	r := start(t, cfg).ready()
	broken.Store(true)
	_, err := r.do(t.Context(), "crash", `{}`)
	refused(t, err, heddle.KindUpstreamExited)
	r.until("retrying", func(st Status) bool { return st.State == StateRetrying })
	if l := r.Listing(); !l.Listed || len(l.Tools) == 0 {
		t.Error("delisted at the first failure")
	}
	st := r.until("failed", func(st Status) bool { return st.State == StateFailed })
	if l := r.Listing(); l.Listed || len(l.Tools) != 0 || st.Code != "start_failed" || !strings.Contains(st.Reason, "no route") {
		t.Errorf("listed %v, code %s, reason %q", l.Listed, st.Code, st.Reason)
	}
	broken.Store(false)
	r.ready().echo("back")
}

func TestPausesGrowAndAreBounded(t *testing.T) {
	s := New(Config{BaseDelay: time.Second}, Deps{})
	p := s.pauses()
	last := time.Duration(0)
	for i := range 20 {
		want := min(time.Second<<min(i, 20), maxPause)
		got := p.NextBackOff()
		if got < want*7/10 || got > want*13/10 {
			t.Errorf("pause %d is %s, want about %s", i, got, want)
		}
		last = got
	}
	if last < maxPause/2 {
		t.Errorf("the last pause is %s", last)
	}
	p.Reset()
	if got := p.NextBackOff(); got > 2*time.Second {
		t.Errorf("after a stable session the pause is %s", got)
	}
}

func TestMaxAttemptsZeroNeverRestarts(t *testing.T) {
	t.Parallel()
	var tries atomic.Int64
	cfg := config("once")
	cfg.MaxAttempts = 0
	cfg.Connect = func(context.Context) (io.ReadWriteCloser, error) { tries.Add(1); return nil, errors.New("no") }
	r := start(t, cfg)
	st := r.until("failed", func(st Status) bool { return st.State == StateFailed })
	if st.NextRetry != nil || tries.Load() != 1 {
		t.Errorf("next retry %v after %d tries", st.NextRetry, tries.Load())
	}
	_, err := r.do(t.Context(), "echo", `{}`)
	refused(t, err, heddle.KindUnavailable)
}

func TestReasonsOfAStartThatFails(t *testing.T) {
	processTest(t)
	shell := func(script string) func(*Config) {
		return func(c *Config) {
			c.Command, c.Args, c.Env = "sh", []string{"-c", script}, []string{"PATH=" + os.Getenv("PATH")}
		}
	}
	server := func(o mcptest.Options) func(*Config) {
		return func(c *Config) { c.Command, c.Args, c.Env = mcptest.Command(o) }
	}
	for _, c := range []struct {
		name, code string
		set        func(*Config)
		parts      []string
	}{
		{"missing command", "command_not_found", func(c *Config) { c.Command = "heddle-no-such-command" }, []string{"heddle-no-such-command", "not found"}},
		{"missing path", "command_not_found", func(c *Config) { c.Command = "/nowhere/server" }, []string{"/nowhere/server"}},
		{"missing in its own PATH", "command_not_found", func(c *Config) { c.Command, c.Env = "sh", []string{"PATH=/nowhere"} }, []string{`"sh"`}},
		{"missing directory", "start_failed", func(c *Config) { c.Command, c.Dir = "cat", "/nowhere" }, []string{"/nowhere"}},
		{"exits", "exited", shell("echo oops >&2; exit 7"), []string{"exit status 7"}},
		{"killed", "exited", shell("kill -9 $$"), []string{"killed"}},
		{"closes stdout", "exited", shell("exec >&-; exec sleep 1000"), []string{"closed its stdout"}},
		{"never answers", "handshake_timeout", server(mcptest.Options{NeverInit: true, Discover: "ignore"}), []string{"handshake timeout", "1.5s"}},
		{"echoes", "no_protocol", func(c *Config) { c.Command, c.Env = "cat", []string{"PATH=" + os.Getenv("PATH")} }, []string{"handshake timeout", "an echo of initialize"}},
		{"sleeps", "handshake_timeout", shell("exec sleep 1000"), []string{"handshake timeout"}},
		{"speaks nonsense", "no_protocol", shell("echo Welcome to s3cr3t-token; exec sleep 1000"), []string{"handshake timeout", "Welcome to [redacted]"}},
		{"speaks HTTP", "no_protocol", shell("read x; echo HTTP/1.1 400 Bad Request; exec sleep 1000"), []string{"HTTP/1.1 400"}},
		{"wants a login", "login", shell("echo Please log in at https://id.example/s3cr3t-token >&2; exec sleep 1000"), []string{"log in at https://id.example/[redacted]"}},
		{"logs on stderr", "handshake_timeout", shell("echo warming up >&2; exec sleep 1000"), []string{"handshake timeout"}},
		{"refuses initialize", "handshake_failed", server(mcptest.Options{InitError: json.RawMessage(`{"code":-32000,"message":"licence missing"}`)}), []string{"licence missing"}},
		{"unknown version", "protocol_version", server(mcptest.Options{Version: "1999-01-01"}), []string{"1999-01-01"}},
		{"no version", "protocol_version", server(mcptest.Options{Version: "-"}), nil},
		{"list error", "list_failed", server(mcptest.Options{ListError: json.RawMessage(`{"code":-32603,"message":"database is down"}`)}), []string{"tools/list", "database is down"}},
		{"list never answers", "handshake_timeout", server(mcptest.Options{ListHang: true}), []string{"timeout"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cfg := config("bad")
			cfg.MaxAttempts = 0
			c.set(&cfg)
			if c.code == "handshake_timeout" || c.code == "no_protocol" || c.code == "login" {
				cfg.StartTimeout = 1500 * time.Millisecond // longer than the wait for server/discover
			}
			st := start(t, cfg).until("failed", func(st Status) bool { return st.State == StateFailed })
			if st.Code != c.code {
				t.Errorf("code %s, want %s; reason %q", st.Code, c.code, st.Reason)
			}
			for _, p := range c.parts {
				if !strings.Contains(st.Reason, p) {
					t.Errorf("the reason is %q, without %q", st.Reason, p)
				}
			}
		})
	}
}

// TestStatusWhileStarting wants what a server says in place of an answer to be known
// long before its time is over.
func TestStatusWhileStarting(t *testing.T) {
	processTest(t)
	for _, c := range []struct {
		name, code, script string
		part               string
	}{
		{"text on stdout", "no_protocol", "echo Server listening on port 3000 with s3cr3t-token; exec sleep 1000", "Server listening on port 3000 with [redacted]"},
		{"login on stderr", "login", "echo Please authorize this client by visiting https://id.example/x >&2; exec sleep 1000", "visiting https://id.example/x"},
		{"words on stderr", "", "echo loading the model >&2; exec sleep 1000", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cfg := config("slow")
			cfg.Command, cfg.Args, cfg.Env, cfg.StartTimeout = "sh", []string{"-c", c.script}, []string{"PATH=" + os.Getenv("PATH")}, time.Hour
			r := start(t, cfg)
			var st Status
			mcptest.Eventually(t, func() bool { st = r.Status(); return len(st.Stderr) > 0 || st.Stray > 0 }, "a word")
			if st.State != StateStarting || st.Code != c.code || !strings.Contains(st.Reason, c.part) {
				t.Errorf("%s, code %q, reason %q; want code %q and %q", st.State, st.Code, st.Reason, c.code, c.part)
			}
			if c.code == "no_protocol" && (len(st.StrayFirst) != 1 || !strings.Contains(st.StrayFirst[0], "[redacted]")) {
				t.Errorf("lines %q", st.StrayFirst)
			}
		})
	}
}

func TestStartsAreBoundedAndTheClockStartsWithTheStart(t *testing.T) {
	t.Parallel()
	deps := testDeps(t)
	deps.Starts = make(chan struct{}, 2)
	var connecting, most atomic.Int64
	var all []*running
	for n := range 12 {
		cfg, mem := memoryConfig(fmt.Sprint("s", n), mcptest.Options{})
		cfg.StartTimeout = 3 * time.Second
		cfg.Connect = func(ctx context.Context) (io.ReadWriteCloser, error) {
			if now := connecting.Add(1); now > most.Load() {
				most.Store(now)
			}
			wait(ctx.Done(), 100*time.Millisecond) // what a start costs
			connecting.Add(-1)
			return mem.connect(ctx)
		}
		all = append(all, run(t, cfg, deps))
	}
	for _, r := range all {
		r.ready()
	}
	if most.Load() > 2 {
		t.Errorf("%d servers started at once, want 2", most.Load())
	}
}

func TestServersThatBurnCPUAllComeUp(t *testing.T) {
	processTest(t)
	deps := testDeps(t)
	deps.Starts = make(chan struct{}, 2)
	var all []*running
	for n := range 12 {
		cfg := processConfig(fmt.Sprint("cold", n), mcptest.Options{BurnCPU: 250})
		cfg.MaxAttempts, cfg.StartTimeout = 0, 10*time.Second
		all = append(all, run(t, cfg, deps))
	}
	for _, r := range all {
		r.until("settled", func(st Status) bool { return st.State == StateReady || st.State == StateFailed })
		if st := r.Status(); st.State != StateReady {
			t.Errorf("%s: %s: %s", r.Name(), st.State, st.Reason)
		}
	}
}

func TestSlowStarterDoesNotDelayOthers(t *testing.T) {
	processTest(t)
	deps := testDeps(t)
	deps.Starts = make(chan struct{}, 1)
	log := logFile(t)
	slow := run(t, processConfig("slow", mcptest.Options{NeverInit: true, Log: log}), deps)
	mcptest.WaitEvents(t, log, "start", 1) // it has the only place
	began := time.Now()
	run(t, processConfig("quick", mcptest.Options{}), deps).ready().echo("quick")
	if d := time.Since(began); d > 8*time.Second {
		t.Errorf("the other server took %s", d)
	}
	if st := slow.Status(); st.State != StateStarting {
		t.Errorf("the slow one is %s: its start must go on", st.State)
	}
}

func TestFirstCallsAtOnceStartOneProcess(t *testing.T) {
	processTest(t)
	log := logFile(t)
	r := start(t, processConfig("cold", mcptest.Options{InitDelay: 300, Log: log}))
	var waiting []<-chan outcome
	for range 50 {
		waiting = append(waiting, r.async(t.Context(), "pid", `{}`))
	}
	pids := map[string]bool{}
	for _, c := range waiting {
		o := receive(t, "a first call", c)
		if o.err != nil {
			t.Errorf("a first call: %v", o.err)
		}
		pids[o.text] = true
	}
	if n := mcptest.Count(mcptest.Events(t, log), "start"); n != 1 || len(pids) != 1 {
		t.Errorf("%d processes, answers from %d", n, len(pids))
	}
}

func TestSpawnedEnvironmentIsExactlyTheConfigured(t *testing.T) {
	processTest(t)
	cfg := processConfig("clean", mcptest.Options{})
	cfg.Env = append(cfg.Env, "ONLY=this")
	r := start(t, cfg).ready()
	got, err := r.do(t.Context(), "env", `{}`)
	var env []string
	if err != nil || json.Unmarshal([]byte(mcptest.TextOf(json.RawMessage(got))), &env) != nil {
		t.Fatalf("got %s, %v", got, err)
	}
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		if name != "PATH" && name != "GOMAXPROCS" && name != "ONLY" && name != ownerVar && !strings.HasPrefix(name, "HEDDLE_MCPTEST") {
			t.Errorf("the server sees %s", name)
		}
	}
}

func TestMaskerHidesEachSecret(t *testing.T) {
	for _, c := range []struct {
		secrets  []string
		in, want string
	}{
		{nil, "a b", "a b"}, {[]string{"a"}, "a b a", "[redacted] b [redacted]"}, {[]string{"abc", "b"}, "abc b", "[redacted] [redacted]"},
	} {
		if got := Masker(c.secrets)(c.in); got != c.want {
			t.Errorf("Masker(%q)(%q) = %q, want %q", c.secrets, c.in, got, c.want)
		}
	}
}
