package upstream

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"heddle"
	"heddle/internal/mcptest"

	"go.uber.org/goleak"
)

const (
	// watchdogArg makes the test binary a watchdog, victimVar a daemon that is
	// going to be killed.
	watchdogArg = "test-watchdog"
	victimVar   = "HEDDLE_TEST_VICTIM"
)

func TestMain(m *testing.M) {
	mcptest.Main()
	if len(os.Args) == 3 && os.Args[1] == watchdogArg {
		Watchdog(os.Stdin, os.Args[2])
		os.Exit(0)
	}
	if dir := os.Getenv(victimVar); dir != "" {
		victim(dir)
	}
	goleak.VerifyTestMain(m)
}

// processTest skips a test that starts child processes in short mode, and runs it
// beside others.
func processTest(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts processes")
	}
	if runtime.GOOS == "windows" {
		t.Skip("processes are untried on Windows")
	}
	t.Parallel()
}

// config returns the configuration of a server with limits that tests do not
// reach by accident.
func config(name string) Config {
	return Config{
		Name: name, StartTimeout: 15 * time.Second, Timeout: 15 * time.Second, MaxTimeout: 20 * time.Second, MaxConcurrency: 100,
		MaxFrame: 64 << 20, MaxAttempts: 3, BaseDelay: 10 * time.Millisecond, Failures: 3, Cooldown: 15 * time.Second,
	}
}

// processConfig returns the configuration of a server that runs as a child process.
func processConfig(name string, o mcptest.Options) Config {
	c := config(name)
	c.Command, c.Args, c.Env = mcptest.Command(o)
	return c
}

// memory is a server in this process; each connection gets a new one.
type memory struct {
	o mcptest.Options

	mu      sync.Mutex
	servers []*mcptest.Server
}

func (m *memory) connect(ctx context.Context) (io.ReadWriteCloser, error) {
	s := mcptest.NewServer(m.o)
	m.mu.Lock()
	m.servers = append(m.servers, s)
	m.mu.Unlock()
	return s.Connect(ctx)
}

// last returns the server of the newest connection.
func (m *memory) last() *mcptest.Server {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.servers[len(m.servers)-1]
}

func (m *memory) count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.servers)
}

// memoryConfig returns the configuration of a server in this process.
func memoryConfig(name string, o mcptest.Options) (Config, *memory) {
	c, m := config(name), &memory{o: o}
	c.Connect = m.connect
	return c, m
}

// testDeps returns what servers share, with a running spawner that the test's
// cleanup ends.
func testDeps(t testing.TB) Deps {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	spawner := NewSpawner(nil)
	ended := make(chan struct{})
	go func() { defer close(ended); _ = spawner.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
	return Deps{
		Logger: slog.New(slog.NewTextHandler(t.Output(), nil)), Spawner: spawner, Starts: make(chan struct{}, 4),
		Mask: Masker([]string{"s3cr3t-token"}), Version: "test",
	}
}

// running is a server whose Run has begun.
type running struct {
	*Server
	t    testing.TB
	stop func() // ends Run and waits for that
}

// run starts a server; the test's cleanup stops it.
func run(t testing.TB, cfg Config, deps Deps) *running {
	t.Helper()
	s := New(cfg, deps)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = s.Run(ctx) }()
	r := &running{Server: s, t: t, stop: func() {
		cancel()
		select {
		case <-ended:
		case <-time.After(mcptest.Deadline):
			t.Errorf("%s: Run does not end", cfg.Name)
		}
	}}
	t.Cleanup(r.stop)
	return r
}

// start runs a server of its own.
func start(t testing.TB, cfg Config) *running {
	t.Helper()
	return run(t, cfg, testDeps(t))
}

// ready waits until the server takes calls.
func (r *running) ready() *running {
	r.t.Helper()
	r.until("ready", func(st Status) bool { return st.State == StateReady && r.session.Load() != nil })
	return r
}

// until waits for a status and returns it.
func (r *running) until(what string, ok func(Status) bool) Status {
	r.t.Helper()
	limit := time.NewTimer(mcptest.Deadline)
	defer limit.Stop()
	for {
		r.mu.Lock()
		changed := r.changed
		r.mu.Unlock()
		st := r.Status()
		if ok(st) {
			return st
		}
		select {
		case <-changed:
		case <-limit.C:
			r.t.Fatalf("%s: never %s; status %+v", r.Name(), what, st)
		}
	}
}

// names returns the names of the listed tools.
func (r *running) names() []string {
	var out []string
	for _, raw := range r.Tools() {
		var v struct{ Name string }
		_ = json.Unmarshal(raw, &v)
		out = append(out, v.Name)
	}
	return out
}

// fakeHost records what a call tells its host.
type fakeHost struct{ notes chan string }

func newHost() *fakeHost { return &fakeHost{notes: make(chan string, 1000)} }

func (h *fakeHost) ID() string { return fmt.Sprintf("%p", h) }

func (h *fakeHost) Capabilities() json.RawMessage { return nil }

func (h *fakeHost) Request(context.Context, string, json.RawMessage) (json.RawMessage, error) {
	return nil, heddle.NewRPCError(-32601, "no")
}

func (h *fakeHost) Notify(_ context.Context, method string, params json.RawMessage) error {
	h.notes <- method + " " + string(params)
	return nil
}

// all returns the notifications so far.
func (h *fakeHost) all() []string {
	var out []string
	for {
		select {
		case n := <-h.notes:
			out = append(out, n)
		default:
			return out
		}
	}
}

// do runs a tool.
func (r *running) do(ctx context.Context, tool, args string) (string, error) {
	return r.with(ctx, tool, &heddle.Call{Arguments: json.RawMessage(args)})
}

// with runs a tool with the members of a call that matter.
func (r *running) with(ctx context.Context, tool string, c *heddle.Call) (string, error) {
	if c.Host == nil {
		c.Host = newHost()
	}
	res, err := r.Call(ctx, &heddle.Tool{Ref: heddle.ToolRef{Server: r.Name(), Name: tool}}, c)
	return string(res.Raw), err
}

// echo checks that the server takes calls and answers them.
func (r *running) echo(text string) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), mcptest.Deadline)
	defer cancel()
	got, err := r.do(ctx, "echo", `{"text":"`+text+`"}`)
	if want := string(mcptest.Text(text)); err != nil || got != want {
		r.t.Errorf("%s: echo %s: got %s, %v; want %s", r.Name(), text, got, err, want)
	}
}

// refused checks the kind of an error and that its text holds each of the parts.
func refused(t testing.TB, err error, kind heddle.Kind, parts ...string) *heddle.Error {
	t.Helper()
	e, ok := err.(*heddle.Error)
	if !ok || e.Kind != kind {
		t.Errorf("got error %v, want kind %s", err, kind)
		return &heddle.Error{}
	}
	for _, p := range parts {
		if !strings.Contains(e.Public, p) {
			t.Errorf("the error says %q, without %q", e.Public, p)
		}
	}
	return e
}

// async runs a tool in the background.
func (r *running) async(ctx context.Context, tool, args string) <-chan outcome {
	out := make(chan outcome, 1)
	go func() {
		text, err := r.do(ctx, tool, args)
		out <- outcome{text, err}
	}()
	return out
}

type outcome struct {
	text string
	err  error
}

// receive waits for a value.
func receive[T any](t testing.TB, what string, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(mcptest.Deadline):
		t.Fatalf("never came: %s", what)
	}
	panic("unreachable")
}

// logFile returns the path of an event log.
func logFile(t testing.TB) string { return t.TempDir() + "/events" }
