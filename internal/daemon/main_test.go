package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"heddle"
	"heddle/internal/config"
	"heddle/internal/mcptest"
	"heddle/internal/upstream"
	"heddle/internal/wire"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	mcptest.Main()
	goleak.VerifyTestMain(m,
		goleak.IgnoreAnyFunction("github.com/dlclark/regexp2.runClock")) // the engine's clock ends by itself, a second after its last match
}

// fixture is a running daemon with a configuration file.
type fixture struct {
	t    *testing.T
	d    *Daemon
	dir  string
	path string // of heddle.yml
	log  *buffer
	stop func()
}

// fixtureOptions say what to run besides the file.
type fixtureOptions struct {
	environ []string
	ledger  string
	state   string
	// cache is where servers' catalogs are kept; "" keeps none.
	cache string
	// dir is where the configuration is; "" is a new one.
	dir string
	// host is the text of a host's own file, which is read in place of heddle.yml.
	host string
}

// newFixture writes a heddle.yml of this text and runs a daemon on it.
func newFixture(t *testing.T, text string, o fixtureOptions) *fixture {
	t.Helper()
	if testing.Short() {
		t.Skip("starts processes: not with -short")
	}
	if o.dir == "" {
		o.dir = t.TempDir()
	}
	f := &fixture{t: t, dir: o.dir, path: filepath.Join(o.dir, "heddle.yml"), log: &buffer{}}
	if text != "" {
		f.write(text)
	}
	if o.host != "" {
		f.path = filepath.Join(o.dir, "mcp.json")
		f.replace("mcp.json", o.host)
	}
	load := func() (*config.Config, error) { return config.Load(f.path, config.Env{}) }
	cfg, err := load()
	if err != nil {
		t.Fatal(err)
	}
	path, _ := os.LookupEnv("PATH")
	f.d = New(Options{
		Config: cfg, Load: load, Logger: slog.New(slog.NewTextHandler(f.log, nil)), LedgerPath: o.ledger, StateDir: o.state, CacheDir: o.cache, Mode: "compact",
		Environ: func() []string { return append([]string{"PATH=" + path}, o.environ...) },
	})
	ctx, cancel := context.WithCancel(context.Background())
	running, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		err := f.d.Run(ctx, func(ctx context.Context) error {
			close(running)
			<-ctx.Done()
			return ctx.Err()
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("daemon: %v", err)
		}
	}()
	f.stop = sync.OnceFunc(func() { cancel(); <-ended })
	t.Cleanup(f.stop)
	<-running
	return f
}

// write replaces heddle.yml, as an editor does.
func (f *fixture) write(text string) { f.replace("heddle.yml", "version: 2\n"+text) }

func (f *fixture) replace(name, text string) {
	f.t.Helper()
	tmp := filepath.Join(f.dir, name+".new")
	if err := os.WriteFile(tmp, []byte(text), 0o600); err != nil {
		f.t.Fatal(err)
	}
	if err := os.Rename(tmp, filepath.Join(f.dir, name)); err != nil {
		f.t.Fatal(err)
	}
}

// server is the text of a server of heddle.yml, which is a child process. more
// are further keys.
func server(name string, o mcptest.Options, more ...string) string {
	command, _, env := mcptest.Command(o)
	var b strings.Builder
	fmt.Fprintf(&b, "  %s:\n    command: %s\n    env:\n", name, wire.Quote(command))
	for _, kv := range env {
		if k, v, _ := strings.Cut(kv, "="); k != "PATH" {
			fmt.Fprintf(&b, "      %s: %s\n", k, wire.Quote(strings.ReplaceAll(v, "$", "$$")))
		}
	}
	for _, m := range more {
		if strings.HasPrefix(m, "env ") {
			fmt.Fprintf(&b, "      %s\n", m[4:])
		}
	}
	for _, m := range more {
		if !strings.HasPrefix(m, "env ") {
			fmt.Fprintf(&b, "    %s\n", m)
		}
	}
	return b.String()
}

// ready waits until the server of the current configuration is ready, and returns
// its process.
func (f *fixture) ready(name string) int {
	f.t.Helper()
	pid := 0
	mcptest.Eventually(f.t, func() bool {
		s := f.d.Pool().Server(name)
		if s == nil || s.Status().State != upstream.StateReady {
			return false
		}
		pid = s.Status().PID
		return true
	}, "server %s ready; log:\n%s", name, f.log)
	return pid
}

func (f *fixture) logged(part string, n int) {
	f.t.Helper()
	mcptest.Eventually(f.t, func() bool { return strings.Count(f.log.String(), part) >= n }, "%d lines with %q in the log:\n%s", n, part, f.log)
}

// call runs a tool and returns the text of its result.
func (f *fixture) call(tool, arguments string) (string, error) {
	c := &heddle.Call{Principal: heddle.Local, Session: "test", Mode: "compact", Tool: tool, Arguments: json.RawMessage(arguments), Host: silent{}}
	d, err := f.d.Gateway().Call(context.Background(), c)
	return mcptest.TextOf(d.Raw), err
}

// mustCall is call for calls that succeed.
func (f *fixture) mustCall(tool, arguments string) string {
	f.t.Helper()
	got, err := f.call(tool, arguments)
	if err != nil {
		f.t.Fatalf("%s: %v", tool, err)
	}
	return got
}

// silent is a host that can be asked nothing.
type silent struct{}

func (silent) ID() string { return "silent" }

func (silent) Capabilities() json.RawMessage { return nil }

func (silent) Request(context.Context, string, json.RawMessage) (json.RawMessage, error) {
	return nil, heddle.NewRPCError(-32601, "no")
}

func (silent) Notify(context.Context, string, json.RawMessage) error { return nil }

// buffer is a log that may be read while it is written.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func pidOf(t *testing.T, text string) int {
	t.Helper()
	pid, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return pid
}
