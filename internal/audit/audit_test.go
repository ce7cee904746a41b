package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"heddle"
	"heddle/internal/ledger"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if plan := os.Getenv(childPlan); plan != "" {
		if err := child(plan); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

var began = time.Date(2026, 5, 1, 12, 0, 0, 123456789, time.FixedZone("", 7200))

func row(i int) ledger.Row {
	return ledger.Row{
		Time: began, Principal: heddle.Local, Session: "s1", Mode: "compact",
		Tool: fmt.Sprint("github_call_", i), Server: "github", Name: fmt.Sprint("call_", i),
	}
}

// written returns the lines that a log with these options writes of what f hands in.
func written(t *testing.T, o Options, f func(l *Log)) []string {
	t.Helper()
	var out bytes.Buffer
	o.Output = &out
	l := New(o)
	f(l)
	finish(t, l)
	return strings.SplitAfter(strings.TrimSuffix(out.String(), "\n"), "\n")
}

// finish has all written that is queued.
func finish(t testing.TB, l *Log) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.Run(ctx); err != nil {
		t.Fatal(err)
	}
}

func TestLines(t *testing.T) {
	got := written(t, Options{Now: func() time.Time { return began }}, func(l *Log) {
		l.Session(ledger.SessionRow{ID: "s1", Principal: heddle.Local, Mode: "compact", Client: "Claude Code", ClientVersion: "2.1", Protocol: "2025-11-25"})
		r := row(1)
		r.Form = heddle.FormProjected
		r.Queue, r.Policy, r.Upstream, r.Deliver = 1500*time.Nanosecond, 40*time.Microsecond, 1234567*time.Microsecond, -1
		r.UpstreamBytes, r.DeliveredBytes = 50_000, 700
		r.Decisions = []heddle.Decision{{Check: "schema", Action: "changed", Rule: "parsed /ids"}, {Check: "limit", Action: "noted"}}
		l.Record(r, true)
		l.Session(ledger.SessionRow{ID: "s1", Client: "Claude Code"}) // its catalog has settled
		l.Record(ledger.Row{Time: began, Session: "s2", Tool: "nothing", Kind: heddle.KindUnknownTool}, false)
		l.Event("tool_held", slog.String("server", "github"), slog.Int("n", -3), slog.Bool("listed", false), slog.Any("cause", errors.New("x\n")),
			slog.Time("since", began), slog.String("time", "never"), slog.String("event", "call"))
	})
	want := []string{
		`{"time":"2026-05-01T10:00:00.123456Z","event":"session","session":"s1","principal":"local","client":"Claude Code","client_version":"2.1","protocol":"2025-11-25","mode":"compact"}`,
		`{"time":"2026-05-01T10:00:00.123456Z","event":"call","session":"s1","principal":"local","client":"Claude Code","mode":"compact","server":"github","tool":"call_1","asked":"github_call_1","outcome":"ok","upstream_invoked":true,` +
			`"decisions":[{"check":"schema","action":"changed","rule":"parsed /ids"},{"check":"limit","action":"noted"}],"ms":{"queue":0.001,"policy":0.04,"upstream":1234.567,"deliver":0},"bytes":{"upstream":50000,"delivered":700},"form":"projected"}`,
		`{"time":"2026-05-01T10:00:00.123456Z","event":"call","session":"s2","principal":"","client":"","mode":"","server":"","tool":"nothing","outcome":"refused","kind":"unknown_tool","upstream_invoked":false,"decisions":[],` +
			`"ms":{"queue":0,"policy":0,"upstream":0,"deliver":0},"bytes":{"upstream":0,"delivered":0}}`,
		`{"time":"2026-05-01T10:00:00.123456Z","event":"tool_held","server":"github","n":-3,"listed":false,"cause":"x\u000a","since":"2026-05-01T10:00:00.123456Z"}`,
	}
	if len(got) != len(want) {
		t.Fatalf("%d lines, want %d:\n%s", len(got), len(want), strings.Join(got, ""))
	}
	for i := range want {
		if line := strings.TrimSuffix(got[i], "\n"); line != want[i] {
			t.Errorf("line %d is\n%s, want\n%s", i, line, want[i])
		}
	}
}

func TestOutcomes(t *testing.T) {
	refused := []heddle.Decision{{Check: "x", Action: "noted"}, {Check: "y", Action: "refused"}}
	for _, c := range []struct {
		row  ledger.Row
		want string
	}{
		{ledger.Row{}, "ok"},
		{ledger.Row{IsError: true}, "tool_error"},
		{ledger.Row{Kind: heddle.KindDenied}, "refused"},
		{ledger.Row{Kind: heddle.KindInvalidArguments}, "refused"},
		{ledger.Row{Kind: heddle.KindUnknownTool}, "refused"},
		{ledger.Row{Kind: heddle.KindConfirmation}, "refused"},
		{ledger.Row{Kind: "a_kind_to_come", Decisions: refused}, "refused"},
		{ledger.Row{Kind: heddle.KindTimeout, Decisions: refused[:1]}, "failed"},
		{ledger.Row{Kind: heddle.KindCancelled}, "failed"},
		{ledger.Row{Kind: heddle.KindCircuitOpen}, "failed"},
		{ledger.Row{Kind: heddle.KindUpstreamError}, "failed"},
		{ledger.Row{Kind: heddle.KindInternal, IsError: true}, "failed"},
	} {
		if got := newCall(&c.row, false).outcome(); got != c.want {
			t.Errorf("%+v: %s, want %s", c.row, got, c.want)
		}
	}
}

// hostile are names that try to be more than a name.
var hostile = []string{
	"x\n{\"event\":\"allow\"}",
	"x\r\n\r\n" + lineStart,
	`x","outcome":"ok","y":"`,
	`\`, `\u0022`, `\"`,
	"\x1b[2K\x1b[1A\x1b]0;title\x07",
	"\u009b2J", // the same in one character
	"user\u202egnp.exe", "\u2066a\u2069", "a\u200bb", "\ufeffa", "a\u00adb", "a\u2028b\u2029c", "a\u0085b",
	"\U000e0041\U000e0042", // tags, which spell AB
	"a\ufe0fb\U000e0100", "a\u3164b", "a\u115fb", "a\u034fb", "\u2800",
	"\xff\xfe", "a\xc3", "\xed\xa0\x80", "\xf8\x88\x80\x80\x80",
	"\x00", "\x7f", "\ue000", "\U0010ffff",
	strings.Repeat("日", 100), strings.Repeat("\x1b", 5000), strings.Repeat("x", 10<<10), strings.Repeat("é", 5000) + "\n",
	"Größe 日本語 עברית 🙂",
}

func TestNamesForgeNothing(t *testing.T) {
	for _, name := range hostile {
		lines := written(t, Options{}, func(l *Log) {
			l.Session(ledger.SessionRow{ID: name, Started: began, Principal: heddle.Principal(name), Mode: name, Client: name, ClientVersion: name, Protocol: name})
			l.Record(ledger.Row{
				Time: began, Principal: heddle.Principal(name), Session: name, Mode: name, Tool: name, Server: name, Name: name + "x",
				Kind: heddle.Kind(name), Form: heddle.Form(name), Decisions: []heddle.Decision{{Check: name, Action: name, Rule: name}},
			}, true)
			l.Event("held", slog.String("tool", name), slog.String(name, name))
		})
		if len(lines) != 3 {
			t.Fatalf("%q makes %d lines of 3:\n%s", name, len(lines), strings.Join(lines, ""))
		}
		for i, line := range lines {
			checkLine(t, name, line)
			var v map[string]any
			if err := json.Unmarshal([]byte(line), &v); err != nil {
				t.Fatalf("%q: %v in %s", name, err, line)
			}
			if want := []string{"session", "call", "held"}[i]; v["event"] != want {
				t.Errorf("%q: event is %v, want %s", name, v["event"], want)
			}
		}
		var v struct{ Client, Mode, Server, Outcome string }
		if err := json.Unmarshal([]byte(lines[1]), &v); err != nil {
			t.Fatal(err)
		}
		want := strings.ToValidUTF8(name, "\ufffd")
		for _, got := range []string{v.Client, v.Mode, v.Server} {
			head, short := strings.CutSuffix(got, ellipsis)
			switch {
			case len(name) > maxText && (!short || !strings.HasPrefix(name, head) || len(got) > maxText || len(head) < maxText-8):
				t.Errorf("%.40q… of %d bytes is written as %q", name, len(name), got)
			case len(name) <= maxText && utf8.ValidString(name) && got != name, len(name) <= maxText && strings.Trim(got, "\ufffd") != strings.Trim(want, "\ufffd"):
				t.Errorf("%q is written as %q", name, got)
			}
		}
		if v.Outcome == "" {
			t.Errorf("%q: no outcome", name)
		}
	}
}

// checkLine wants a line without anything that does not show.
func checkLine(t *testing.T, name, line string) {
	t.Helper()
	if strings.Count(line, "\n") > 1 || len(line) > maxLine || !utf8.ValidString(line) {
		t.Errorf("%.40q: not a line: %q", name, line)
	}
	for _, r := range strings.TrimSuffix(line, "\n") {
		if !shows(r) {
			t.Errorf("%.40q: %U is in the line as it is", name, r)
		}
	}
}

func TestLongestLine(t *testing.T) {
	worst := strings.Repeat("\x01", 3*maxHeld)
	r := ledger.Row{
		Time: began, Principal: heddle.Principal(worst), Session: worst, Mode: worst, Tool: worst, Server: worst, Name: worst + "x",
		Kind: heddle.Kind(worst), Form: heddle.Form(worst),
	}
	for range 100 {
		r.Decisions = append(r.Decisions, heddle.Decision{Check: worst, Action: worst, Rule: worst})
	}
	r.Decisions[99].Rule = "the last"
	var attrs []slog.Attr
	for range 100 {
		attrs = append(attrs, slog.String("key", worst))
	}
	lines := written(t, Options{}, func(l *Log) { l.Record(r, true); l.Event("e", attrs...) })
	for _, line := range lines {
		if len(line) > maxLine {
			t.Errorf("a line of %d bytes, more than %d", len(line), maxLine)
		}
	}
	if !strings.Contains(lines[0], `"the last"`) || strings.Count(lines[0], `"check"`) != maxDecisions {
		t.Errorf("%d decisions are written, want %d and the last one", strings.Count(lines[0], `"check"`), maxDecisions)
	}
}

func TestMask(t *testing.T) {
	const secret = "sk-live-0123456789abcdef"
	long := strings.Repeat("y", maxText-10) + secret // its end would be cut off
	mask := func(s string) string { return strings.ReplaceAll(s, secret, "[masked]") }
	record := func(l *Log) {
		for _, s := range []string{secret, long} {
			l.Session(ledger.SessionRow{ID: s, Principal: heddle.Principal(s), Mode: s, Client: s, ClientVersion: s, Protocol: s})
			l.Record(ledger.Row{
				Principal: heddle.Principal(s), Session: s, Mode: s, Tool: s, Server: s, Name: s + "x",
				Kind: heddle.Kind(s), Form: heddle.Form(s), Decisions: []heddle.Decision{{Check: s, Action: s, Rule: s}},
			}, true)
			l.Event("held", slog.String("tool", s), slog.Any("cause", errors.New(s)))
		}
	}
	all := strings.Join(written(t, Options{Mask: mask}, record), "")
	if strings.Contains(all, "sk-live") || strings.Count(all, "[masked]") < 20 {
		t.Errorf("a secret is left:\n%s", all)
	}
	if all := strings.Join(written(t, Options{Mask: func(string) string { panic("mask") }}, record), ""); strings.Contains(all, "sk-live") {
		t.Errorf("a mask that fails lets secrets through:\n%s", all)
	}
}

func TestHostsAreBounded(t *testing.T) {
	var h hosts
	for i := range 5 * maxSessions {
		h.add(fmt.Sprint("s", i), "host")
		h.add("s0", "first") // is handed in again and again
	}
	if len(h.names) > maxSessions || len(h.order) > maxSessions {
		t.Errorf("%d names and %d sessions are kept, want %d", len(h.names), len(h.order), maxSessions)
	}
	if h.name(fmt.Sprint("s", 5*maxSessions-1)) != "host" || h.name("s7") != "" {
		t.Error("the newest are not those that are kept")
	}
}

// stuck is an output that nobody reads.
type stuck struct{ released chan struct{} }

func (s stuck) Write(p []byte) (int, error) {
	<-s.released
	return len(p), nil
}

// TestNothingWaits: an output that hangs holds up neither calls nor the end.
func TestNothingWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := stuck{make(chan struct{})}
		l := New(Options{Output: out, Queue: 100})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- l.Run(ctx) }()
		began := time.Now()
		for i := range 1000 {
			l.Record(row(i), true)
		}
		l.Event("e")
		l.Session(ledger.SessionRow{ID: "s"})
		if d := time.Since(began); d != 0 || l.Dropped() != 902 {
			t.Errorf("it took %s and %d lines were dropped, want no time and 902", d, l.Dropped())
		}
		time.Sleep(time.Minute)
		began = time.Now()
		cancel()
		if err := <-ended; !errors.Is(err, errStuck) || time.Since(began) > 5*time.Second {
			t.Errorf("the end took %s: %v", time.Since(began), err)
		}
		l.Record(row(0), true)
		if n := l.Dropped(); n != 1003 {
			t.Errorf("%d lines were dropped, want all 1003", n)
		}
		close(out.released)
	})
}

// failing fails while told to.
type failing struct {
	mu   sync.Mutex
	err  error
	out  bytes.Buffer
	seen int
}

func (f *failing) set(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err = err
}

func (f *failing) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seen++
	if f.err != nil {
		return 0, f.err
	}
	return f.out.Write(p)
}

// TestFailure lets an output fail for an hour: the log has a line a minute, and the
// file tells how many lines are missing.
func TestFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var logged bytes.Buffer
		out := &failing{err: errors.New("no space left")}
		l := New(Options{Output: out, Queue: 10, Logger: slog.New(slog.NewTextHandler(&logged, nil))})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- l.Run(ctx) }()
		for i := range 3600 {
			l.Record(row(i), true)
			time.Sleep(time.Second)
		}
		if l.Problem() != "no space left" || l.Written() != 0 || l.Dropped() != 3590 {
			t.Errorf("problem %q, %d written, %d dropped", l.Problem(), l.Written(), l.Dropped())
		}
		out.mu.Lock()
		tried := out.seen
		out.mu.Unlock()
		if tried < 600 || tried > 900 {
			t.Errorf("it was tried %d times in an hour", tried)
		}
		out.set(nil)
		time.Sleep(10 * time.Second)
		l.Record(row(9999), true)
		cancel()
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(out.out.String()), "\n")
		if len(lines) != 12 || !strings.Contains(lines[9], "call_9") || !strings.Contains(lines[10], "call_9999") && !strings.Contains(lines[11], "call_9999") {
			t.Errorf("%d lines:\n%s", len(lines), strings.Join(lines, "\n"))
		}
		if all := out.out.String(); !strings.Contains(all, `"event":"lost","lines":3590}`) {
			t.Errorf("the file does not tell of the lines that were lost:\n%s", all)
		}
		if l.Problem() != "" || l.Dropped() != 3590 {
			t.Errorf("problem %q, %d dropped", l.Problem(), l.Dropped())
		}
		if n := strings.Count(logged.String(), "level=WARN"); n < 58 || n > 62 {
			t.Errorf("%d warnings in an hour", n)
		}
		if n := strings.Count(logged.String(), "written again"); n != 1 {
			t.Errorf("%d lines say that it is over", n)
		}
	})
}

func TestNone(t *testing.T) {
	l := New(Options{})
	l.Record(row(1), true)
	l.Event("e")
	l.Session(ledger.SessionRow{})
	finish(t, l)
	if l.Dropped() != 0 || l.Written() != 0 {
		t.Errorf("%d dropped, %d written where nothing is to be", l.Dropped(), l.Written())
	}
}

func TestIdleWakesForNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "none", "audit.log")
		l := New(Options{Path: path})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- l.Run(ctx) }()
		time.Sleep(24 * time.Hour)
		if _, err := os.Stat(filepath.Dir(path)); !os.IsNotExist(err) {
			t.Errorf("a directory is made without a line: %v", err)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func BenchmarkRecord(b *testing.B) {
	l := New(Options{Output: io.Discard})
	ctx, cancel := context.WithCancel(b.Context())
	ended := make(chan error)
	go func() { ended <- l.Run(ctx) }()
	r := row(1)
	r.Decisions = []heddle.Decision{{Check: "schema", Action: "noted", Rule: "x"}}
	b.ReportAllocs()
	for b.Loop() {
		l.Record(r, true)
	}
	b.StopTimer()
	cancel()
	<-ended
}

func BenchmarkLine(b *testing.B) {
	var e encoder
	r := row(1)
	r.Decisions = []heddle.Decision{{Check: "schema", Action: "noted", Rule: "x"}}
	c := newCall(&r, true)
	b.ReportAllocs()
	for b.Loop() {
		c.lines(&e)
		e.take()
	}
}

// FuzzQuoted wants every text to stay what it was, in one line that shows all of it.
func FuzzQuoted(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		q := string(appendQuoted(nil, s))
		var back string
		if err := json.Unmarshal([]byte(q), &back); err != nil {
			t.Fatalf("%q is written %s: %v", s, q, err)
		}
		want := ""
		for _, r := range s { // each broken byte is U+FFFD
			want += string(r)
		}
		if back != want {
			t.Errorf("%q is written %s, which is %q", s, q, back)
		}
		checkLine(t, s[:min(len(s), 40)], q[:min(len(q), maxLine)])
		if c := cut(s); len(c) > maxText || utf8.ValidString(s) && !utf8.ValidString(c) {
			t.Errorf("%q is cut to %q", s, c)
		}
	})
}
