package surface_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"heddle/internal/config"
	"heddle/internal/daemon"
	"heddle/internal/ledger"
	"heddle/internal/mcptest"
	"heddle/internal/surface"
	"heddle/internal/upstream"
	"heddle/internal/wire"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	mcptest.Main()
	goleak.VerifyTestMain(m,
		goleak.IgnoreAnyFunction("github.com/dlclark/regexp2.runClock")) // the engine's clock ends by itself, a second after its last match
}

// modes are what every test of the matrix runs in.
var modes = []string{"native", "compact", "extreme", "mesh", "loom"}

// eachMode runs a test once in every mode, with a daemon of its own.
func eachMode(t *testing.T, o stageOptions, test func(t *testing.T, s *stage)) {
	t.Helper()
	for _, mode := range modes {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			o := o
			o.mode = mode
			test(t, newStage(t, o))
		})
	}
}

// stageOptions say what stands behind heddle.
type stageOptions struct {
	mode string
	// config is the text of heddle.yml below its version.
	config string
	// servers are in-process upstreams by name; names keep their order. Nil is one
	// server "up" with the built-in tools.
	servers map[string]mcptest.Options
	// version is the protocol of the handshake: "" is the newest with one, "-" makes
	// none. capabilities are the host's; "" is none.
	version, capabilities string
	// upstream changes the configuration of each server; may be nil.
	upstream func(*upstream.Config)
	// ledger is the ledger's file; "" keeps none.
	ledger string
	// state is where names of captures are numbered and temp where captures go that
	// have no room in memory; "" is nowhere and the system's.
	state, temp string
	// sql is the SQL worker; "" is none.
	sql string
	// breaks says that the daemon is going to end with an error, which is kept.
	breaks bool
}

// stage is a host, a real daemon and its servers in one process.
type stage struct {
	*mcptest.Host
	t       *testing.T
	mode    string
	daemon  *daemon.Daemon
	servers map[string]*mcptest.Server // of the first connections
	peers   map[string]*peers
	log     *buffer
	gate    *gate
	out     *io.PipeReader // what the gate reads
	ended   chan struct{}
	err     error // of the daemon, once ended is closed
}

// gate is what a host reads from. While it is shut the host does not read.
type gate struct {
	r    io.Reader
	mu   sync.Mutex
	open chan struct{} // closed while the gate is open
}

func (g *gate) Read(b []byte) (int, error) {
	g.mu.Lock()
	open := g.open
	g.mu.Unlock()
	<-open
	return g.r.Read(b)
}

// shut lets at most one more read through, which may have begun.
func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open = make(chan struct{})
}

func (g *gate) unlock() {
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-g.open:
	default:
		close(g.open)
	}
}

func newGate(r io.Reader) *gate {
	g := &gate{r: r, open: make(chan struct{})}
	g.unlock()
	return g
}

const newestHandshake = "2025-11-25"

func newStage(t *testing.T, o stageOptions) *stage {
	t.Helper()
	s := &stage{t: t, mode: o.mode, servers: map[string]*mcptest.Server{}, peers: map[string]*peers{}, log: &buffer{}, ended: make(chan struct{})}
	if o.servers == nil {
		o.servers = map[string]mcptest.Options{"up": {}}
	}
	mode := s.build(o)
	in, toHeddle := io.Pipe()
	fromHeddle, out := io.Pipe()
	go func() {
		defer close(s.ended)
		s.err = s.daemon.Run(context.Background(), func(ctx context.Context) error { return s.daemon.ServeStdio(ctx, mode, in, out) })
		if s.err != nil && !o.breaks {
			t.Errorf("daemon: %v", s.err)
		}
		_ = out.Close()
	}()
	s.out, s.gate = fromHeddle, newGate(fromHeddle)
	s.Host = mcptest.NewHost(t, s.gate, toHeddle)
	t.Cleanup(s.close)
	t.Cleanup(s.gate.unlock)
	if o.version == "" {
		o.version = newestHandshake
	}
	if o.version != "-" {
		s.InitializeWith(o.version, cmp.Or(o.capabilities, "{}"))
	}
	return s
}

// build makes the daemon.
func (s *stage) build(o stageOptions) surface.Mode {
	s.t.Helper()
	cfg, err := config.Decode([]byte("version: 2\n"+o.config), filepath.Join(s.t.TempDir(), "heddle.yml"), config.Env{})
	if err != nil {
		s.t.Fatal(err)
	}
	s.daemon = daemon.New(daemon.Options{
		Config: cfg, Logger: slog.New(slog.NewTextHandler(s.log, nil)), LedgerPath: o.ledger, Mode: o.mode,
		Environ: func() []string { return nil }, InProcess: s.upstreams(o), StateDir: o.state, TempDir: o.temp, SQL: o.sql,
	})
	mode, err := surface.NewMode(o.mode, surface.Options{KeepOutputSchema: cfg.Results.OutputSchema == "keep", MeshResults: cfg.Results.Mesh})
	if err != nil {
		s.t.Fatal(err)
	}
	return mode
}

// peers are the servers of one upstream: a second one for a second session
// beside the first.
type peers struct {
	o     mcptest.Options
	first *mcptest.Server

	mu  sync.Mutex
	all []*mcptest.Server // that were connected to
}

// connect is the upstream's Connect. A session after the first has ended goes to
// the same server.
func (p *peers) connect(ctx context.Context) (io.ReadWriteCloser, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.first
	if n := len(p.all); n > mcptest.Count(s.Events(), "eof") {
		s = mcptest.NewServer(p.o)
	}
	p.all = append(p.all, s)
	return s.Connect(ctx)
}

// connected returns the servers of all sessions so far.
func (p *peers) connected() []*mcptest.Server {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.all)
}

func (s *stage) upstreams(o stageOptions) []upstream.Config {
	var out []upstream.Config
	for _, name := range sortedKeys(o.servers) {
		server := mcptest.NewServer(o.servers[name])
		s.servers[name], s.peers[name] = server, &peers{o: o.servers[name], first: server}
		c := upstream.Config{
			Name: name, Connect: s.peers[name].connect, Hash: name,
			StartTimeout: 20 * time.Second, Timeout: 20 * time.Second, MaxTimeout: time.Minute, MaxConcurrency: 64,
		}
		if o.upstream != nil {
			o.upstream(&c)
		}
		out = append(out, c)
	}
	return out
}

// close closes the host's end and waits for the daemon.
func (s *stage) close() {
	s.CloseWrite()
	limit := time.NewTimer(mcptest.Deadline)
	defer limit.Stop()
	select {
	case <-s.ended:
	case <-limit.C:
		s.t.Error("the daemon did not end")
	}
}

// boot waits until all servers have had their first outcome.
func (s *stage) boot() {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), mcptest.Deadline)
	defer cancel()
	mcptest.Eventually(s.t, func() bool { return s.Received("") != nil || s.daemon.Pool() != nil }, "the daemon")
	if !s.daemon.Pool().Booted(ctx) {
		s.t.Fatal("the servers did not boot")
	}
}

// params are those of a tools/call in this mode. arguments is raw JSON, "" for
// none at all; more are members of the params, such as `"_meta":{}`.
func (s *stage) params(tool, arguments string, more ...string) string {
	return callParams(s.mode, tool, arguments, more...)
}

func callParams(mode, tool, arguments string, more ...string) string {
	members := []string{`"name":` + string(wire.Quote(tool))}
	switch mode {
	case "compact", "extreme":
		members = []string{`"tool":` + string(wire.Quote(tool))}
	case "mesh":
		members = []string{`"tool_name":` + string(wire.Quote(tool))}
	}
	if arguments != "" {
		members = append(members, `"arguments":`+arguments)
	}
	switch mode {
	case "compact", "extreme":
		members = []string{`"name":"call_tool"`, `"arguments":{` + strings.Join(members, ",") + `}`}
	case "mesh":
		members = []string{`"name":"mesh_invoke_tool"`, `"arguments":{` + strings.Join(members, ",") + `}`}
	}
	return "{" + strings.Join(append(members, more...), ",") + "}"
}

// run calls a tool in the way of the mode and returns the response.
func (s *stage) run(tool, arguments string, more ...string) wire.Message {
	s.t.Helper()
	return s.Request("tools/call", s.params(tool, arguments, more...))
}

// refusal is what a refused call says.
type refusal struct {
	Kind         string
	Message      string
	Tool         string
	Invoked      *bool    `json:"upstream_invoked"`
	RetryAfterMS int64    `json:"retry_after_ms"`
	Near         []string `json:"near_names"`
	Signature    string
	Violations   []struct{ Path, Keyword, Message string }
}

// refusalOf reads a refusal, and fails the test if the message is none.
func refusalOf(t testing.TB, m wire.Message) refusal {
	t.Helper()
	var v struct {
		Content           []struct{ Type, Text string }
		IsError           bool
		StructuredContent struct{ Error *refusal }
	}
	if err := json.Unmarshal(m.Result, &v); err != nil || !v.IsError || v.StructuredContent.Error == nil || len(v.Content) != 1 {
		t.Fatalf("got %s%s, want a refusal", m.Result, m.Error)
	}
	r := *v.StructuredContent.Error
	if !strings.HasPrefix(v.Content[0].Text, r.Kind+": "+r.Message) {
		t.Errorf("text %q does not say what structuredContent does: %s: %s", v.Content[0].Text, r.Kind, r.Message)
	}
	if r.Invoked == nil {
		t.Errorf("refusal without upstream_invoked: %s", m.Result)
	}
	return r
}

// text is the text of a successful result's first block.
func text(t testing.TB, m wire.Message) string {
	t.Helper()
	if m.Error != nil || string(wire.Member(m.Result, "isError")) == "true" {
		t.Fatalf("got %s%s, want a result", m.Result, m.Error)
	}
	return mcptest.TextOf(m.Result)
}

// toolNames are the names that tools/list shows.
func toolNames(t testing.TB, m wire.Message) []string {
	t.Helper()
	var v struct{ Tools []struct{ Name string } }
	if err := json.Unmarshal(m.Result, &v); err != nil {
		t.Fatalf("tools/list: %s%s: %v", m.Result, m.Error, err)
	}
	names := []string{}
	for _, x := range v.Tools {
		names = append(names, x.Name)
	}
	return names
}

// rows waits for the daemon's end and returns the ledger's rows, oldest first.
func (s *stage) rows(path string) []ledger.Row {
	s.t.Helper()
	s.close()
	ctx := context.Background()
	r, err := ledger.OpenReader(ctx, path)
	if err != nil {
		s.t.Fatal(err)
	}
	defer r.Close()
	rows, err := r.Calls(ctx, 10000)
	if err != nil {
		s.t.Fatal(err)
	}
	for i, j := 0, len(rows)-1; i < j; i, j = i+1, j-1 {
		rows[i], rows[j] = rows[j], rows[i]
	}
	return rows
}

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

func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}
