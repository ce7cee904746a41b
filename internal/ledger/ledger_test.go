package ledger

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"heddle"
)

// childEnv makes the test binary a writer of its own: "path,rows,name".
const childEnv = "HEDDLE_TEST_LEDGER_CHILD"

func TestMain(m *testing.M) {
	if spec := os.Getenv(childEnv); spec != "" {
		os.Exit(child(spec))
	}
	goleak.VerifyTestMain(m)
}

// running is a ledger whose writer runs.
type running struct {
	*Ledger
	t    *testing.T
	path string
	logs *logBuffer
	stop func() // ends the writer and waits for it
}

type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// clock is a time that tests move while the writer looks at it.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func newClock() *clock { return &clock{t: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

// start runs a ledger until the test ends, which writes when it is flushed.
// Options may lack path and logger.
func start(t *testing.T, o Options, tune string) *running {
	t.Helper()
	return run(t, o, tune, time.Hour)
}

// startTimed is start with a writer that writes in its own time, for bubbles.
func startTimed(t *testing.T, o Options) *running {
	t.Helper()
	return run(t, o, "", flushEvery)
}

func run(t *testing.T, o Options, tune string, every time.Duration) *running {
	t.Helper()
	if o.Path == "" {
		o.Path = filepath.Join(t.TempDir(), "state", "heddle", "ledger.db")
	}
	logs := &logBuffer{}
	o.Logger = slog.New(slog.NewTextHandler(logs, nil))
	r := &running{Ledger: New(o), t: t, path: o.Path, logs: logs}
	r.tune, r.every = tune, every
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	r.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	t.Cleanup(r.stop)
	return r
}

func (r *running) mustFlush() {
	r.t.Helper()
	if err := r.Flush(r.t.Context()); err != nil {
		r.t.Fatalf("Flush: %v", err)
	}
}

func (r *running) calls(n int) {
	for i := range n {
		row := r.Begin(&heddle.Call{Principal: heddle.Local, Session: "s1", Mode: "compact", Tool: "tool_" + strconv.Itoa(i)})
		row.Server, row.Name, row.Form = "srv", "tool", heddle.FormExact
		r.End(row)
	}
}

func (r *running) counts() (written, dropped uint64) { return r.Written(), r.Dropped() }

func checkCounts(t *testing.T, l *Ledger, written, dropped uint64) {
	t.Helper()
	got := [2]uint64{l.Written(), l.Dropped()}
	if want := [2]uint64{written, dropped}; got != want {
		t.Errorf("written, dropped: got %v, want %v", got, want)
	}
}

func reader(t *testing.T, path string) *Reader {
	t.Helper()
	r, err := OpenReader(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func totals(t *testing.T, path string) Totals {
	t.Helper()
	r := reader(t, path)
	defer r.Close()
	got, err := r.Totals(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func fullRow() Row {
	return Row{
		Time: time.Date(2026, 3, 4, 5, 6, 7, 890123000, time.UTC), Principal: "alice", Session: "s1", Mode: "mesh",
		Tool: "github::create_issue", Server: "github", Name: "create_issue",
		Kind: heddle.KindTimeout, IsError: true, Form: heddle.FormExact,
		Decisions: []heddle.Decision{
			{Check: "schema", Action: "changed", Rule: "parsed /arguments/<ids>"},
			{Check: "authorization", Action: "refused"},
		},
		Queue: 1 * time.Microsecond, Policy: 2 * time.Microsecond, Upstream: 3 * time.Second, Deliver: 4 * time.Millisecond,
		Total: 5 * time.Minute, UpstreamBytes: 1 << 40, DeliveredBytes: 7,
		UpstreamTokens: Measured(8), DeliveredTokens: Measured(0), DefinitionTokens: Measured(10), CacheHit: true,
	}
}

// TestRoundTrip guards every column: none may be left out, swapped or rounded.
func TestRoundTrip(t *testing.T) {
	start1 := time.Date(2026, 3, 4, 5, 6, 7, 890123000, time.UTC)
	now := start1
	l := start(t, Options{Now: func() time.Time { return now }}, "")
	full := fullRow()
	now = full.Time.Add(full.Total)
	l.End(full)
	bare := Row{Time: now}
	l.End(bare)
	session := SessionRow{
		ID: "s1", Started: start1, Principal: "alice", Mode: "mesh", Client: "claude-code", ClientVersion: "2.1",
		Protocol: "2025-11-25", NativeBytes: 100, SurfaceBytes: 10, NativeTokens: Measured(30), SurfaceTokens: Measured(3),
	}
	l.Session(session)
	l.Session(SessionRow{ID: "s2"})
	for _, v := range []reflect.Value{reflect.ValueOf(full), reflect.ValueOf(session)} {
		for i := range v.NumField() {
			if v.Field(i).IsZero() {
				t.Errorf("%s.%s is not tested", v.Type(), v.Type().Field(i).Name)
			}
		}
	}
	l.mustFlush()

	r := reader(t, l.path)
	calls, err := r.Calls(t.Context(), 10)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Row{bare, full}, calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	sessions, err := r.Sessions(t.Context(), 10)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]SessionRow{{ID: "s2", Started: now}, session}, sessions); diff != "" {
		t.Errorf("sessions (-want +got):\n%s", diff)
	}
	if got, want := totals(t, l.path), (Totals{Calls: 2, Failed: 1, Sessions: 2}); got != want {
		t.Errorf("totals: got %+v, want %+v", got, want)
	}
}

func TestSessionAgain(t *testing.T) {
	l := start(t, Options{}, "")
	first := SessionRow{ID: "s", Started: time.UnixMicro(1).UTC(), Client: "a", NativeBytes: 1}
	l.Session(first)
	l.mustFlush()
	l.Session(SessionRow{ID: "s", Started: time.UnixMicro(2), Client: "b", NativeBytes: 5, SurfaceTokens: Measured(6)})
	l.mustFlush()
	got, err := reader(t, l.path).Sessions(t.Context(), 10)
	if err != nil {
		t.Fatal(err)
	}
	want := first
	want.NativeBytes, want.SurfaceTokens = 5, Measured(6)
	if diff := cmp.Diff([]SessionRow{want}, got); diff != "" {
		t.Errorf("sessions (-want +got):\n%s", diff)
	}
}

func TestNoPath(t *testing.T) {
	l := New(Options{})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- l.Run(ctx) }()
	for range 10_000 {
		l.End(l.Begin(&heddle.Call{Tool: "x"}))
	}
	l.Session(SessionRow{ID: "s"})
	if err := l.Flush(t.Context()); err != nil {
		t.Errorf("Flush: %v", err)
	}
	checkCounts(t, l, 0, 0)
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("Run: %v", err)
	}
}

// TestFirstRow: an unused heddle leaves no trace, and what a used one leaves is
// the owner's alone.
func TestFirstRow(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		l := startTimed(t, Options{Path: filepath.Join(dir, "state", "heddle", "ledger.db")})
		defer l.stop()
		time.Sleep(48 * time.Hour)
		if _, err := os.Stat(filepath.Join(dir, "state")); !os.IsNotExist(err) {
			t.Fatalf("before the first row: %v", err)
		}
		l.calls(1)
		time.Sleep(flushEvery - time.Millisecond)
		synctest.Wait()
		checkCounts(t, l.Ledger, 0, 0)
		time.Sleep(time.Millisecond)
		synctest.Wait()
		checkCounts(t, l.Ledger, 1, 0)
		if runtime.GOOS == "windows" {
			return
		}
		for path, want := range map[string]os.FileMode{
			filepath.Dir(l.path): os.ModeDir | 0o700, l.path: 0o600, l.path + "-wal": 0o600,
		} {
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if got := info.Mode(); got != want {
				t.Errorf("%s: got mode %v, want %v", path, got, want)
			}
		}
	})
}

// TestIdleClose: an unused file is closed, which removes its log, and opened
// again by the next row.
func TestIdleClose(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		l := startTimed(t, Options{Path: filepath.Join(dir, "ledger.db")})
		defer l.stop()
		exists := func() bool {
			synctest.Wait()
			_, err := os.Stat(l.path + "-wal")
			return err == nil
		}
		for i := range 2 {
			l.calls(1)
			time.Sleep(flushEvery + idleClose - time.Millisecond)
			if !exists() {
				t.Errorf("round %d: closed early", i)
			}
			time.Sleep(time.Millisecond)
			if exists() {
				t.Errorf("round %d: still open", i)
			}
		}
		checkCounts(t, l.Ledger, 2, 0)
	})
}

// TestPace: a flood does not make the writer write faster than it may.
func TestPace(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		l := startTimed(t, Options{Path: filepath.Join(dir, "ledger.db"), Queue: 15_000})
		defer l.stop()
		l.calls(15_000)
		time.Sleep(time.Second)
		synctest.Wait()
		checkCounts(t, l.Ledger, 5*batchRows, 0)
		l.stop() // the rest is written at once
		checkCounts(t, l.Ledger, 15_000, 0)
	})
}

// TestSteady: 5,000 calls a second lose nothing with the default queue.
func TestSteady(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		l := startTimed(t, Options{Path: filepath.Join(dir, "ledger.db")})
		defer l.stop()
		for range 100 {
			l.calls(50)
			time.Sleep(10 * time.Millisecond)
		}
		l.stop()
		checkCounts(t, l.Ledger, 5_000, 0)
	})
}

func TestQueueFull(t *testing.T) {
	l := New(Options{Path: filepath.Join(t.TempDir(), "ledger.db"), Queue: 100})
	for range 150 {
		l.End(l.Begin(&heddle.Call{Tool: "x"}))
	}
	checkCounts(t, l, 0, 50)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.Run(ctx); err != nil { // an orderly exit writes what is queued
		t.Fatal(err)
	}
	checkCounts(t, l, 100, 50)
	l.End(Row{})
	checkCounts(t, l, 100, 51)
	if err := l.Flush(t.Context()); err != errStopped {
		t.Errorf("Flush after Run: got %v, want %v", err, errStopped)
	}
	if got, want := totals(t, l.path).Calls, int64(100); got != want {
		t.Errorf("calls: got %d, want %d", got, want)
	}
}

func TestConcurrentCallers(t *testing.T) {
	l := start(t, Options{Queue: 100_000}, "")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { l.calls(1000) })
	}
	wg.Wait()
	l.mustFlush()
	checkCounts(t, l.Ledger, 8000, 0)
}

func TestKeep(t *testing.T) {
	c := newClock()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		l := startTimed(t, Options{Path: filepath.Join(dir, "ledger.db"), Keep: 10 * 24 * time.Hour, Now: c.now})
		defer l.stop()
		remaining := func() int64 {
			time.Sleep(5 * time.Second) // fake: some portions
			synctest.Wait()
			return totals(t, l.path).Calls
		}
		l.Session(SessionRow{ID: "old"})
		l.calls(3*rowsPerPrune + 7)
		if got, want := remaining(), int64(3*rowsPerPrune+7); got != want {
			t.Errorf("young rows: got %d, want %d", got, want)
		}
		c.advance(11 * 24 * time.Hour)
		l.calls(1)
		if got := remaining(); got != 1 {
			t.Errorf("old rows: got %d left, want 1", got)
		}
		if got := totals(t, l.path).Sessions; got != 0 {
			t.Errorf("old sessions: got %d left, want 0", got)
		}
		l.End(Row{Time: time.UnixMicro(1)})
		if got := remaining(); got != 2 {
			t.Errorf("the same day: got %d rows, want 2", got)
		}
		c.advance(pruneEvery)
		l.calls(1)
		if got := remaining(); got != 2 {
			t.Errorf("the next day: got %d rows, want 2", got)
		}
	})
}

func TestClean(t *testing.T) {
	long := strings.Repeat("é", maxText)
	for _, test := range []struct{ in, want string }{
		{"", ""},
		{"create_issue", "create_issue"},
		{"日本語 ok", "日本語 ok"},
		{"a\nb\x00c\x7f", `a\nb\x00c\x7f`},
		{"a\u202eb\u2028", `a\u202eb\u2028`},
		{"bad \xff utf8", `bad \xff utf8`},
		{`back\slash`, `back\slash`},
		{long, long[:maxText]},
		{strings.Repeat("\x01", maxText), strings.Repeat(`\x01`, maxText/4)},
	} {
		if got := clean(test.in); got != test.want {
			t.Errorf("clean(%q): got %q, want %q", test.in, got, test.want)
		}
	}
}

func TestLimit(t *testing.T) {
	big := strings.Repeat("x", maxText-1) + "é" + strings.Repeat("y", 1<<20)
	r := Row{Tool: big, Server: big, Name: big, Mode: big, Session: big, Principal: heddle.Principal(big)}
	for i := range 100 {
		r.Decisions = append(r.Decisions, heddle.Decision{Rule: strconv.Itoa(i)})
	}
	r.limit()
	for _, got := range []string{r.Tool, r.Server, r.Name, r.Mode, r.Session, string(r.Principal)} {
		if want := big[:maxText-1]; got != want {
			t.Errorf("cut: got %d bytes %q…, want %d", len(got), got[:10], len(want))
		}
	}
	if n, last := len(r.Decisions), r.Decisions[len(r.Decisions)-1].Rule; n != maxDecisions || last != "99" {
		t.Errorf("decisions: got %d, last %s; want %d, last 99", n, last, maxDecisions)
	}
}

func FuzzRow(f *testing.F) {
	f.Add("tool", "srv", "name", "timeout", "schema", "parsed /a", int64(1), int64(2), true)
	f.Add("a\x00\n\u202e\xff", strings.Repeat("é", 300), "", "", "", "", int64(-1), int64(1)<<62, false)
	path := filepath.Join(f.TempDir(), "ledger.db")
	ctx := f.Context()
	s, err := open(ctx, path, "PRAGMA synchronous = OFF")
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { s.close() })
	f.Fuzz(func(t *testing.T, tool, server, name, kind, check, rule string, a, b int64, yes bool) {
		in := Row{
			Time: time.UnixMicro(a % (1 << 52)).UTC(), Tool: tool, Server: server, Name: name, Kind: heddle.Kind(kind),
			IsError: yes, Decisions: []heddle.Decision{{Check: check, Rule: rule}}, Queue: time.Duration(b),
			UpstreamBytes: a, DeliveredBytes: b, UpstreamTokens: Tokens{N: a, Known: true}, CacheHit: !yes,
		}
		in.limit()
		c := &chunk{n: 1}
		c.rows[0] = in
		if err := s.insert(ctx, &batch{calls: []*chunk{c}}); err != nil {
			t.Fatal(err)
		}
		got, err := (&Reader{conn: s.conn}).Calls(ctx, 1)
		if err != nil {
			t.Fatal(err)
		}
		want := in
		want.Tool, want.Server, want.Name = clean(in.Tool), clean(in.Server), clean(in.Name)
		want.Kind = heddle.Kind(clean(in.Kind))
		want.Decisions = []heddle.Decision{{Check: clean(check), Rule: clean(rule)}}
		want.Queue = in.Queue.Truncate(time.Microsecond)
		if diff := cmp.Diff([]Row{want}, got); diff != "" {
			t.Errorf("row (-want +got):\n%s", diff)
		}
		for _, text := range []string{got[0].Tool, got[0].Server, got[0].Name} {
			if len(text) > maxText || clean(text) != text {
				t.Errorf("text %q is not clean", text)
			}
		}
	})
}
