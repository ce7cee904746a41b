package surface_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"heddle"
	"heddle/internal/ledger"
	"heddle/internal/mcptest"
	"heddle/internal/upstream"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// Every call has one row, whatever became of it, and no row has what it was
// called with.
func TestLedger(t *testing.T) {
	for _, mode := range modes {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			testLedger(t, mode)
		})
	}
}

func testLedger(t *testing.T, mode string) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	server := issues()
	server.Errors = rawMap(map[string]string{"broken": errorObjects["with_data"]})
	server.Tools = append(server.Tools, toolsNamed("fail", "broken", "crash")...)
	s := newStage(t, stageOptions{
		mode: mode, ledger: path, config: "tools: {deny: [\"up_secret_*\"]}\n", servers: map[string]mcptest.Options{"up": server},
		upstream: func(c *upstream.Config) { c.Timeout = time.Second },
	})
	s.boot()
	secret := `{"text":"` + sentinel + `"}`
	s.run("up_echo", secret)
	s.run("up_fail", secret)
	s.run("up_broken", secret)
	s.run("up_create_issue", `{"title":"`+sentinel+`"}`)
	s.run("up_args", `{"ids":"[1]"}`)
	s.run("up_nothing", secret)
	s.run("up_secret_purge", secret)
	s.run("up_slow", `{"ms":60000,"text":"`+sentinel+`"}`)
	s.Start(`"c"`, "tools/call", s.params("up_slow", `{"ms":60000}`))
	s.servers["up"].WaitEvents(t, "call", 6) // the four that went up, the one that timed out, and this
	s.Notify("notifications/cancelled", `{"requestId":"c"}`)
	s.servers["up"].WaitEvents(t, "cancelled", 2)
	s.Call("read_result", `{"result_ref":"`+sentinel+`"}`)
	if mode == "compact" || mode == "extreme" {
		s.Call("find_tool", `{"query":"`+sentinel+`"}`)
		s.Call("find_tool", `{"query":""}`)
		s.Call("call_tool", `{"tool":7,"x":"`+sentinel+`"}`)
		s.Call("no_such", secret)
	}
	s.run("up_crash", `{}`)

	type row struct {
		Tool, Server, Name string
		Kind               heddle.Kind
		IsError            bool
		Form               heddle.Form
		Decisions          string
	}
	readKind := heddle.KindResultExpired
	if mode == "mesh" {
		readKind = heddle.KindUnknownTool
	}
	want := []row{
		{"up_echo", "up", "echo", "", false, "exact", ""},
		{"up_fail", "up", "fail", "", true, "exact", ""},
		{"up_broken", "up", "broken", "upstream_error", false, "", ""},
		{"up_create_issue", "up", "create_issue", "invalid_arguments", false, "", "schema refused required"},
		{"up_args", "up", "args", "", false, "exact", "schema changed parsed /ids"},
		{"up_nothing", "", "", "unknown_tool", false, "", ""},
		{"up_secret_purge", "", "", "unknown_tool", false, "", `authorization refused deny "up_secret_*"`},
		{"up_slow", "up", "slow", "timeout", false, "", ""},
		{"up_slow", "up", "slow", "cancelled", false, "", ""},
		{"read_result", "", "", readKind, false, "", ""},
	}
	if mode == "compact" || mode == "extreme" {
		want = append(want,
			row{"find_tool", "", "", "", false, "own", ""},
			row{"find_tool", "", "", "invalid_query", false, "", ""},
			row{"call_tool", "", "", "invalid_arguments", false, "", ""},
			row{"no_such", "", "", "unknown_tool", false, "", ""})
	}
	want = append(want, row{"up_crash", "up", "crash", "upstream_exited", false, "", ""})

	rows := s.rows(path)
	var got []row
	for _, r := range rows {
		decisions := ""
		for _, d := range r.Decisions {
			decisions += strings.TrimSpace(fmt.Sprintf("%s %s %s", d.Check, d.Action, d.Rule))
		}
		if strings.HasPrefix(decisions, "schema refused required") {
			decisions = "schema refused required"
		}
		got = append(got, row{r.Tool, r.Server, r.Name, r.Kind, r.IsError, r.Form, decisions})
		if r.Mode != mode || r.Principal != heddle.Local || r.Session == "" || r.Session != rows[0].Session || r.Total < 0 {
			t.Errorf("row %+v", r)
		}
		if (r.Form == heddle.FormExact) != (r.UpstreamBytes > 0 && r.UpstreamBytes == r.DeliveredBytes && r.Upstream > 0) {
			t.Errorf("sizes and times of %+v", r)
		}
	}
	// The row of a cancelled call may come after that of the call behind it.
	order := cmpopts.SortSlices(func(a, b row) bool { return fmt.Sprint(a) < fmt.Sprint(b) })
	if diff := cmp.Diff(want, got, order); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	checkSession(t, path, mode)
	noSentinel(t, path)
}

// checkSession checks the one row of the host's session.
func checkSession(t *testing.T, path, mode string) {
	t.Helper()
	ctx := context.Background()
	r, err := ledger.OpenReader(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	sessions, err := r.Sessions(ctx, 10)
	if err != nil || len(sessions) != 1 {
		t.Fatalf("%d sessions, %v; want one", len(sessions), err)
	}
	if s := sessions[0]; s.Mode != mode || s.Client != "mcptest" || s.ClientVersion != "1" || s.Protocol != newestHandshake || s.NativeBytes <= 0 || s.SurfaceBytes <= 0 {
		t.Errorf("session %+v", s)
	}
}

// noSentinel looks for submitted values in the ledger's files.
func noSentinel(t *testing.T, path string) {
	t.Helper()
	for _, p := range []string{path, path + "-wal"} {
		b, err := os.ReadFile(p)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		if strings.Contains(string(b), sentinel) {
			t.Errorf("%s holds a submitted value", filepath.Base(p))
		}
	}
}

// Calls of the protocol without handshake have rows too.
func TestLedgerWithoutHandshake(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	s := newStage(t, stageOptions{mode: "compact", version: "-", ledger: path})
	text(t, s.run("up_echo", "{}", modernMeta))
	refusalOf(t, s.run("up_nothing", "{}", modernMeta))
	var got []string
	for _, r := range s.rows(path) {
		got = append(got, r.Tool+" "+string(r.Kind))
	}
	if diff := cmp.Diff([]string{"up_echo ", "up_nothing unknown_tool"}, got); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

// Submitted values stay out of the log as well.
func TestLogHasNoArguments(t *testing.T) {
	eachMode(t, issueStage(), func(t *testing.T, s *stage) {
		s.run("up_create_issue", `{"title":"`+sentinel+`"}`)
		s.run("up_echo", `{"text":"`+sentinel+`"}`)
		s.Send(sentinel + " noise")
		s.Send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + sentinel)
		s.run("up_nothing", `{"text":"`+sentinel+`"}`)
		s.close()
		if strings.Contains(s.log.String(), sentinel) {
			t.Errorf("the log holds a submitted value:\n%s", s.log.String())
		}
	})
}
