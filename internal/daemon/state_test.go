package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"heddle/internal/ledger"
	"heddle/internal/mcptest"
	"heddle/internal/upstream"

	"github.com/google/go-cmp/cmp"
)

func TestHealth(t *testing.T) {
	ready := upstream.Status{State: upstream.StateReady, Circuit: "closed"}
	starting := upstream.Status{State: upstream.StateStarting}
	tests := []struct {
		name    string
		servers []upstream.Status
		want    string
	}{
		{"none", nil, "healthy"},
		{"ready", []upstream.Status{ready, ready}, "healthy"},
		{"starting", []upstream.Status{ready, starting}, "starting"},
		{"waiting", []upstream.Status{{State: upstream.StateWaiting}, ready}, "starting"},
		{"switched off", []upstream.Status{ready, {State: upstream.StateDisabled, Code: "off"}}, "healthy"},
		{"unusable", []upstream.Status{ready, {State: upstream.StateDisabled, Code: "unusable", Reason: "TOKEN is not set"}}, "degraded"},
		{"retrying", []upstream.Status{ready, {State: upstream.StateRetrying}}, "degraded"},
		{"failed and starting", []upstream.Status{{State: upstream.StateFailed}, starting}, "degraded"},
		{"circuit open", []upstream.Status{{State: upstream.StateReady, Circuit: "open"}}, "degraded"},
	}
	for _, test := range tests {
		if got := health(test.servers); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

func TestState(t *testing.T) {
	dir := t.TempDir()
	f := newFixture(t, "restart: {max_attempts: 0}\nservers:\n"+
		server("good", mcptest.Options{Tools: []json.RawMessage{mcptest.Tool("a.b"), json.RawMessage(`{"name":"odd","inputSchema":{"type":"object","properties":{"a":{"type":"any"}}}}`)}})+
		server("off", mcptest.Options{}, "disabled: true")+
		"  gone:\n    command: /no/such/program\n"+
		"  lacking:\n    command: x\n    env: {TOKEN: \"${NO_SUCH_VARIABLE}\"}\n"+
		server("exits", mcptest.Options{ExitAtStart: 3, Stderr: "out of cheese\n"}),
		fixtureOptions{state: dir})
	f.ready("good")
	want := map[string]string{"good": "ready ", "off": "disabled off", "gone": "retrying command_not_found", "lacking": "disabled unusable", "exits": "retrying exited"}
	var got []State
	mcptest.Eventually(t, func() bool {
		var err error
		if got, err = ReadStates(dir); err != nil {
			t.Fatal(err)
		}
		if len(got) != 1 || len(got[0].Warnings) == 0 {
			return false
		}
		for _, u := range got[0].Servers {
			if u.State == upstream.StateStarting || u.State == upstream.StateWaiting {
				return false
			}
		}
		return true
	}, "the state of all servers")
	s := got[0]
	codes := map[string]string{}
	for _, u := range s.Servers {
		state := u.State
		if state == upstream.StateFailed { // which of the two depends on max_attempts alone
			state = upstream.StateRetrying
		}
		codes[u.Name] = string(state) + " " + u.Code
		if u.Name == "exits" && !strings.Contains(strings.Join(u.Stderr, "\n"), "out of cheese") {
			t.Errorf("exits: stderr %q", u.Stderr)
		}
		if u.Name == "lacking" && !strings.Contains(u.Reason, "NO_SUCH_VARIABLE") {
			t.Errorf("lacking: reason %q does not name the variable", u.Reason)
		}
	}
	if diff := cmp.Diff(want, codes); diff != "" {
		t.Errorf("servers (-want +got):\n%s", diff)
	}
	if s.PID != os.Getpid() || s.Mode != "compact" || s.Config != f.path || s.Health != "degraded" || s.Started.IsZero() {
		t.Errorf("state %+v", s)
	}
	if diff := cmp.Diff([]Name{{"good", "a.b", "good_a_b"}}, s.Names); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	kinds := ""
	for _, w := range s.Warnings {
		kinds += w.Server + "::" + w.Tool + " " + w.Kind + "\n"
	}
	if !strings.Contains(kinds, "good::odd "+warnSchema) {
		t.Errorf("warnings:\n%s", kinds)
	}
	info, err := os.Stat(filepath.Join(dir, "run", strconv.Itoa(os.Getpid())+".json"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("state file: %v, %v; want mode 0600", info, err)
	}
	f.stop()
	if left, err := ReadStates(dir); err != nil || len(left) != 0 {
		t.Errorf("after the end: %d states, %v", len(left), err)
	}
	if files, _ := filepath.Glob(filepath.Join(dir, "run", "*")); len(files) != 0 {
		t.Errorf("files left: %q", files)
	}
}

// What a heddle that was killed left behind is removed, also when another process
// has its number by now.
func TestStaleStates(t *testing.T) {
	dir := t.TempDir()
	run := filepath.Join(dir, "run")
	if states, err := ReadStates(dir); err != nil || states != nil {
		t.Errorf("nothing there: %v, %v", states, err)
	}
	if err := os.MkdirAll(run, 0o700); err != nil {
		t.Fatal(err)
	}
	dead := exec.Command("true")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	put := func(name string, v any) {
		t.Helper()
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(run, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("dead.json", State{PID: dead.Process.Pid, Started: time.Now()})
	put("another.json", State{PID: os.Getpid(), Started: time.Now().Add(-24 * time.Hour)})
	put("ours.json", State{PID: os.Getpid(), Started: time.Now(), Mode: "native"})
	put("half.json.tmp", "x")
	if err := os.WriteFile(filepath.Join(run, "half.json"), []byte(`{"pid":`), 0o600); err != nil {
		t.Fatal(err)
	}
	states, err := ReadStates(dir)
	if err != nil || len(states) != 1 || states[0].Mode != "native" {
		t.Errorf("states %+v, %v; want ours alone", states, err)
	}
	var left []string
	files, _ := filepath.Glob(filepath.Join(run, "*"))
	for _, f := range files {
		left = append(left, filepath.Base(f))
	}
	if diff := cmp.Diff([]string{"half.json", "half.json.tmp", "ours.json"}, left); diff != "" {
		t.Errorf("files left (-want +got):\n%s", diff)
	}
}

// A state that cannot be written does not disturb anything.
func TestStateCannotBeWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f := newFixture(t, "servers:\n"+server("a", mcptest.Options{}), fixtureOptions{state: file, ledger: filepath.Join(file, "ledger.db")})
	f.ready("a")
	if got := f.mustCall("a_echo", `{"text":"x"}`); got != "x" {
		t.Errorf("got %q", got)
	}
}

func TestStrict(t *testing.T) {
	f := newFixture(t, "restart: {max_attempts: 0}\nservers:\n"+server("a", mcptest.Options{})+server("off", mcptest.Options{}, "disabled: true"), fixtureOptions{})
	if err := f.d.Strict(t.Context()); err != nil {
		t.Errorf("all started: %v", err)
	}
	f = newFixture(t, "restart: {max_attempts: 0}\nservers:\n"+server("a", mcptest.Options{})+server("bad", mcptest.Options{ExitAtStart: 1}), fixtureOptions{})
	if err := f.d.Strict(t.Context()); !errors.Is(err, ErrStrict) || !strings.Contains(err.Error(), "bad") {
		t.Errorf("one did not start: %v", err)
	}
}

// A server that lacks a variable would not start either.
func TestStrictUnusable(t *testing.T) {
	f := newFixture(t, "servers:\n  lacking:\n    command: x\n    env: {TOKEN: \"${NO_SUCH_VARIABLE}\"}\n", fixtureOptions{})
	if err := f.d.Strict(t.Context()); !errors.Is(err, ErrStrict) || !strings.Contains(err.Error(), "lacking") {
		t.Errorf("got %v, want %v", err, ErrStrict)
	}
}

// A server of a host's own file that heddle does not run stays with its host:
// nothing is wrong.
func TestHostFileWithADisabledServerIsHealthy(t *testing.T) {
	command, _, env := mcptest.Command(mcptest.Options{})
	vars := map[string]string{}
	for _, kv := range env {
		k, v, _ := strings.Cut(kv, "=")
		vars[k] = strings.ReplaceAll(v, "$", "$$")
	}
	text, err := json.Marshal(map[string]any{"mcpServers": map[string]any{
		"a": map[string]any{"command": command, "env": vars}, "web": map[string]any{"type": "http", "url": "https://example.com/mcp", "disabled": true},
	}})
	if err != nil {
		t.Fatal(err)
	}
	f := newFixture(t, "", fixtureOptions{host: string(text)})
	f.ready("a")
	if err := f.d.Strict(t.Context()); err != nil {
		t.Errorf("strict: %v", err)
	}
	s := f.d.State()
	got := map[string]string{"": s.Health}
	for _, u := range s.Servers {
		got[u.Name] = string(u.State) + " " + u.Code
	}
	if diff := cmp.Diff(map[string]string{"": "healthy", "a": "ready ", "web": "disabled off"}, got); diff != "" {
		t.Errorf("health and servers (-want +got):\n%s", diff)
	}
}

// The state says why rows are not written.
func TestStateSaysWhyTheLedgerCannotBeWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f := newFixture(t, "servers:\n"+server("a", mcptest.Options{}), fixtureOptions{ledger: filepath.Join(file, "ledger.db")})
	f.ready("a")
	if got := f.d.State().Ledger.Problem; got != "" {
		t.Errorf("before the first row: %q", got)
	}
	f.mustCall("a_echo", `{"text":"x"}`)
	mcptest.Eventually(t, func() bool { return strings.Contains(f.d.State().Ledger.Problem, file) }, "a problem that names %s", file)
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	mcptest.Eventually(t, func() bool { s := f.d.State().Ledger; return s.Problem == "" && s.Written == 1 }, "a row that is written after all")
}

// Several heddles write one ledger, none loses a row.
func TestSeveralDaemons(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	const daemons, calls = 3, 20
	var all []*fixture
	for range daemons {
		all = append(all, newFixture(t, "servers:\n"+server("a", mcptest.Options{}), fixtureOptions{ledger: path}))
	}
	var wg sync.WaitGroup
	for _, f := range all {
		for range calls {
			wg.Go(func() {
				if _, err := f.call("a_echo", "{}"); err != nil {
					t.Error(err)
				}
			})
		}
	}
	wg.Wait()
	for _, f := range all {
		f.stop()
	}
	r, err := ledger.OpenReader(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	totals, err := r.Totals(context.Background())
	if err != nil || totals.Calls != daemons*calls || totals.Failed != 0 {
		t.Errorf("totals %+v, %v; want %d calls", totals, err, daemons*calls)
	}
}
