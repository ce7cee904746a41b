package demo

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"heddle"
	"heddle/internal/inproc"
	"heddle/internal/tokens"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	_ "modernc.org/sqlite"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		goleak.IgnoreAnyFunction("github.com/dlclark/regexp2.runClock"),    // the engine's clocks end by themselves,
		goleak.IgnoreAnyFunction("github.com/dlclark/regexp2/v2.runClock"), // a second after their last match
		goleak.IgnoreAnyFunction("database/sql.(*DB).connectionOpener"))    // ends a moment after Close
}

// TestRun runs the demo once, counts everything again from the ledger's file and
// the bytes of the sessions, and wants the same numbers in the report and in the
// text.
func TestRun(t *testing.T) {
	var text, log bytes.Buffer
	r, err := Run(t.Context(), Options{Logger: slog.New(slog.NewTextHandler(&log, nil)), Text: NewText(&text, false), Dir: t.TempDir()})
	if err != nil {
		t.Fatalf("%v\n%s", err, text.String())
	}
	got := generic(t, r)
	want := recount(t, r, got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the report differs from what ledger and wire hold (-want +got):\n%s", diff)
	}
	checkText(t, text.String(), want)
	if strings.Contains(log.String(), "level=WARN") || strings.Contains(log.String(), "level=ERROR") {
		t.Errorf("the log of a run that went well: %s", log.String())
	}
}

func generic(t *testing.T, v any) map[string]any {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]any{}
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// exchange is a tools/call as it passed the wire of the compact session.
type exchange struct {
	id       float64
	outer    string // name of heddle's own tool
	args     json.RawMessage
	answer   json.RawMessage // nil if none came
	progress float64
}

// rpc is a message for the test, which trusts none of the program's parsers.
type rpc struct {
	ID     *float64        `json:"id"`
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"`
	Params struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"params"`
}

func exchanges(t *testing.T, frames []inproc.Frame) (out []*exchange) {
	t.Helper()
	for _, f := range frames {
		m := parse(t, f.Line)
		switch {
		case f.FromHost && m.Method == "tools/call":
			out = append(out, &exchange{id: *m.ID, outer: m.Params.Name, args: m.Params.Arguments})
		case !f.FromHost && m.Method == "notifications/progress":
			out[len(out)-1].progress++
		case !f.FromHost && m.ID != nil:
			for _, e := range out {
				if e.id == *m.ID {
					e.answer = m.Result
				}
			}
		}
	}
	return out
}

func parse(t *testing.T, line []byte) (m rpc) {
	t.Helper()
	if err := json.Unmarshal(line, &m); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return m
}

// row is a row of the ledger.
type row struct {
	tool, server, name, kind, form             string
	isError                                    bool
	queue, upstream, total, upBytes, downBytes float64
}

func readLedger(t *testing.T, path string) (rows []row, sessions float64) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRow("SELECT count(*) FROM sessions").Scan(&sessions); err != nil {
		t.Fatal(err)
	}
	list, err := db.Query("SELECT tool, server, name, kind, form, is_error, queue_us, upstream_us, total_us, upstream_bytes, delivered_bytes FROM calls ORDER BY id")
	if err != nil {
		t.Fatal(err)
	}
	defer list.Close()
	for list.Next() {
		var r row
		if err := list.Scan(&r.tool, &r.server, &r.name, &r.kind, &r.form, &r.isError, &r.queue, &r.upstream, &r.total, &r.upBytes, &r.downBytes); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, r)
	}
	return rows, sessions
}

// parts are the names and numbers of calls of the steps.
var parts = []struct {
	name  string
	calls int
}{{"search", 1}, {"refusal", 2}, {"exact", 1}, {"denied", 2}, {"circuit", 8}, {"cancel", 3}}

// recount builds the report again. What only the clock knows is taken from got.
func recount(t *testing.T, r *Report, got map[string]any) map[string]any {
	t.Helper()
	table, err := tokens.New()
	if err != nil {
		t.Fatal(err)
	}
	count := func(b []byte) float64 { return float64(table.Count(string(b))) }
	rows, sessions := readLedger(t, r.Evidence.Ledger)
	passed := exchanges(t, r.Evidence.Compact)
	if len(rows) != 17 || len(passed) != 17 {
		t.Fatalf("%d rows, %d calls on the wire, want 17", len(rows), len(passed))
	}
	native := relist(t, r.Evidence.Native, count, "read_result")
	compact := relist(t, r.Evidence.Compact, count, "")
	sum := map[string]float64{}
	kinds := map[string]any{}
	var own []float64
	var steps []any
	results := r.Evidence.Results
	n := 0
	for i, p := range parts {
		var calls []any
		for j := range p.calls {
			row, e := rows[n], passed[n]
			n++
			answer := count(e.answer)
			var upstream float64
			if row.upBytes > 0 {
				upstream, results = count(results[0].Raw), results[1:]
			}
			c := map[string]any{
				"request": e.id, "tool": row.tool, "arguments": generic(t, e.args), "kind": row.kind, "is_error": row.isError, "form": row.form,
				"total_us": row.total, "upstream_us": row.upstream, "heddle_us": row.total - row.upstream - row.queue,
				"upstream_bytes": row.upBytes, "delivered_bytes": row.downBytes,
				"upstream_tokens": upstream, "answer_tokens": answer, "answer_bytes": float64(len(e.answer)),
			}
			optional(c, row, e)
			clocked(t, c, at(t, got, "steps", i, "calls", j))
			calls = append(calls, c)
			if row.kind != "" {
				before, _ := kinds[row.kind].(float64)
				kinds[row.kind] = before + 1
			}
			switch {
			case e.outer == "find_tool":
				sum["searches"]++
				sum["definitions"] += answer
			default:
				sum["upstream"] += upstream
				sum["delivered"] += answer
				if row.kind != "" {
					sum["refusals"] += answer
				} else {
					own = append(own, row.total-row.upstream-row.queue)
				}
			}
		}
		steps = append(steps, map[string]any{"name": p.name, "title": at(t, got, "steps", i, "title"), "calls": calls})
	}
	slices.Sort(own)
	saved := native["tokens"].(float64) - (compact["tokens"].(float64) + sum["definitions"]) + (sum["upstream"] - sum["delivered"])
	return map[string]any{
		"heddle": heddle.Version, "encoding": "o200k_base", "duration_ms": got["duration_ms"],
		"servers": []any{
			map[string]any{"name": "source", "tools": 10.0}, map[string]any{"name": "database", "tools": 7.0}, map[string]any{"name": "chat", "tools": 8.0},
			map[string]any{"name": "payments", "tools": 9.0}, map[string]any{"name": "cloud", "tools": 9.0}, map[string]any{"name": "files", "tools": 8.0},
		},
		"native": native, "compact": compact, "steps": steps,
		"ledger": map[string]any{"sessions": sessions, "calls": float64(len(rows)), "kinds": kinds, "heddle_us": own[len(own)/2]},
		"savings": map[string]any{
			"native_tokens": native["tokens"], "surface_tokens": compact["tokens"], "searches": sum["searches"], "definition_tokens": sum["definitions"],
			"upstream_tokens": sum["upstream"], "delivered_tokens": sum["delivered"], "refusal_tokens": sum["refusals"],
			"saved_tokens": saved, "saved_percent": float64(int(100*saved/(native["tokens"].(float64)+sum["upstream"]) + 0.5)),
		},
	}
}

// optional adds the members that are absent when they are empty.
func optional(c map[string]any, r row, e *exchange) {
	if r.server != "" {
		c["server"], c["name"] = r.server, r.name
	}
	if e.progress > 0 {
		c["progress"] = e.progress
	}
}

// clocked takes over what no file holds, if it is as it should be.
func clocked(t *testing.T, c map[string]any, got any) {
	t.Helper()
	g := got.(map[string]any)
	if circuit, ok := g["circuit"]; ok {
		if c["kind"] == "circuit_open" && circuit != "open" || c["kind"] == "" && circuit != "closed" {
			t.Errorf("after a call with kind %q the circuit is %s", c["kind"], circuit)
		}
		c["circuit"] = circuit
	}
	if waited, ok := g["waited_ms"]; ok {
		if waited.(float64) < 900 || c["kind"] != "" {
			t.Errorf("a call with kind %q after %v ms, want a good one after the cooldown", c["kind"], waited)
		}
		c["waited_ms"] = waited
	}
}

// at follows keys and indexes.
func at(t *testing.T, v any, path ...any) any {
	t.Helper()
	for _, p := range path {
		switch p := p.(type) {
		case string:
			v = v.(map[string]any)[p]
		case int:
			list, _ := v.([]any)
			if p >= len(list) {
				t.Fatalf("%v: only %d elements", path, len(list))
			}
			v = list[p]
		}
	}
	return v
}

// relist measures the definitions in the answer to tools/list, which is the
// second request of every session.
func relist(t *testing.T, frames []inproc.Frame, count func([]byte) float64, but string) map[string]any {
	t.Helper()
	var tools, size, total float64
	for _, f := range frames {
		m := parse(t, f.Line)
		if f.FromHost || m.ID == nil || *m.ID != 2 {
			continue
		}
		var result struct{ Tools []json.RawMessage }
		if err := json.Unmarshal(m.Result, &result); err != nil {
			t.Fatal(err)
		}
		for _, d := range result.Tools {
			if but != "" && bytes.Contains(d, []byte(`"name":"`+but+`"`)) {
				continue
			}
			tools, size, total = tools+1, size+float64(len(d)), total+count(d)
		}
	}
	return map[string]any{"tools": tools, "bytes": size, "tokens": total}
}

// TestStepFails plays sessions that do not go as they should.
func TestStepFails(t *testing.T) {
	for name, c := range map[string]struct {
		play func(*session, context.Context) error
		want string
	}{
		"outcome": {func(s *session, ctx context.Context) error {
			_, err := s.run(ctx, "denied", "files_read_file", `{"path":"/handbook/release.md"}`)
			return err
		}, `files_read_file: got "", want "denied"`},
		"tool error": {func(s *session, ctx context.Context) error {
			_, err := s.run(ctx, "", "files_read_file", `{"path":"/nothing"}`)
			return err
		}, "files_read_file failed"},
		"search": {func(s *session, ctx context.Context) error {
			return s.find(ctx, "read a file", "payments_get_balance")
		}, "does not find payments_get_balance"},
		"protocol": {func(s *session, ctx context.Context) error {
			_, err := s.host.Request(ctx, "tools/call", []byte(`{}`), nil)
			return err
		}, "the answer is the error"},
		"row": {func(s *session, ctx context.Context) error {
			if err := s.find(ctx, "read a file"); err != nil {
				return err
			}
			s.step.Calls = nil
			return nil
		}, "0 calls made 1 rows in the ledger"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			t.Setenv("TMPDIR", dir)
			_, err := run(t.Context(), Options{Logger: slog.New(slog.DiscardHandler)}, []part{{name: "odd", play: c.play}})
			if err == nil || !strings.Contains(err.Error(), "odd: ") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %v, want one of step odd with %q", err, c.want)
			}
			wantEmpty(t, dir)
		})
	}
}

// TestInterrupted ends runs in the middle: nothing is left of them.
func TestInterrupted(t *testing.T) {
	for _, p := range script() {
		t.Run(p.name, func(t *testing.T) {
			dir := t.TempDir()
			t.Setenv("TMPDIR", dir)
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			stop := errors.New("enough")
			_, err := run(ctx, Options{Logger: slog.New(slog.DiscardHandler)}, []part{{name: p.name, play: func(s *session, inner context.Context) error {
				if p.name == "circuit" || p.name == "cancel" { // while a call waits
					s.fleet.cloud.silent.Store(true)
					go cancel(stop)
					_, err := s.run(inner, "timeout", "cloud_list_alarms", `{}`)
					return err
				}
				cancel(stop)
				return p.play(s, inner)
			}}})
			if err == nil {
				t.Error("a run that was ended reports success")
			}
			wantEmpty(t, dir)
		})
	}
	var w brokenWriter
	if _, err := run(t.Context(), Options{Logger: slog.New(slog.DiscardHandler), Text: NewText(w, false)}, script()); !errors.Is(err, errBroken) {
		t.Errorf("got %v, want the error of the writer", err)
	}
}

func wantEmpty(t *testing.T, dir string) {
	t.Helper()
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("left in %s: %v, %v", filepath.Base(dir), left, err)
	}
}

var errBroken = errors.New("broken pipe")

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }
