package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heddle"
	"heddle/internal/mcptest"
)

const reloaded = "configuration reloaded"

// Only what changed is started anew.
func TestReloadServers(t *testing.T) {
	f := newFixture(t, "servers:\n"+server("same", mcptest.Options{})+server("changed", mcptest.Options{})+server("removed", mcptest.Options{}), fixtureOptions{})
	same, changed, removed := f.ready("same"), f.ready("changed"), f.ready("removed")

	f.write("servers:\n" + server("same", mcptest.Options{}) + server("changed", mcptest.Options{}, "env MORE: x") + server("added", mcptest.Options{}))
	f.logged(reloaded, 1)
	f.ready("added")
	f.ready("changed")
	mcptest.WaitGone(t, changed, removed)
	if got := pidOf(t, f.mustCall("same_pid", "{}")); got != same {
		t.Errorf("the unchanged server has process %d, want %d", got, same)
	}
	if got := pidOf(t, f.mustCall("changed_pid", "{}")); got == changed {
		t.Errorf("the changed server still has process %d", got)
	}
	if got := f.mustCall("added_echo", `{"text":"new"}`); got != "new" {
		t.Errorf("the added server: %q", got)
	}
	if _, err := f.call("removed_echo", "{}"); heddle.KindOf(err) != heddle.KindUnknownTool {
		t.Errorf("the removed server: %v, want %s", err, heddle.KindUnknownTool)
	}
	f.stop()
	mcptest.WaitGone(t, same)
}

// What only says who may call what restarts nothing and counts from the next
// call on.
func TestReloadPolicy(t *testing.T) {
	servers := "servers:\n" + server("a", mcptest.Options{})
	f := newFixture(t, servers, fixtureOptions{})
	pid := f.ready("a")
	f.mustCall("a_echo", "{}")
	f.write("tools: {deny: [a_echo]}\n" + servers)
	f.logged(reloaded, 1)
	if _, err := f.call("a_echo", "{}"); heddle.KindOf(err) != heddle.KindUnknownTool {
		t.Errorf("the denied tool: %v, want %s", err, heddle.KindUnknownTool)
	}
	if got := pidOf(t, f.mustCall("a_pid", "{}")); got != pid {
		t.Errorf("process %d, want %d", got, pid)
	}
}

// A bad or half-written file changes nothing and says why; the good one after it
// counts.
func TestReloadBadFile(t *testing.T) {
	servers := "servers:\n" + server("a", mcptest.Options{})
	f := newFixture(t, servers, fixtureOptions{})
	pid := f.ready("a")
	before := f.d.current.Load()
	for i, bad := range []string{"servers: {a: {comm", "servers: {a: {commnd: x}}\n", "tools: {allow: [\"[\"]}\n" + servers, "mode: native\n"} {
		f.write(bad)
		f.logged("configuration not reloaded", i+1)
		if f.d.current.Load() != before {
			t.Errorf("%q took effect", bad)
		}
		if got := pidOf(t, f.mustCall("a_pid", "{}")); got != pid {
			t.Errorf("process %d after %q, want %d", got, bad, pid)
		}
	}
	if err := os.Remove(f.path); err != nil {
		t.Fatal(err)
	}
	f.logged("configuration not reloaded", 5)
	f.write("tools: {deny: [a_echo]}\n" + servers)
	f.logged(reloaded, 1)
	if got := pidOf(t, f.mustCall("a_pid", "{}")); got != pid {
		t.Errorf("process %d, want %d", got, pid)
	}
}

// A file written in place counts like one that was replaced.
func TestReloadInPlace(t *testing.T) {
	f := newFixture(t, "servers:\n"+server("a", mcptest.Options{}), fixtureOptions{})
	f.ready("a")
	if err := os.WriteFile(f.path, []byte("version: 2\nservers:\n"+server("b", mcptest.Options{})), 0o600); err != nil {
		t.Fatal(err)
	}
	f.ready("b")
}

// The file may be a link: to a file that is edited elsewhere, or through a folder
// that is swapped, as mounted configurations are.
func TestReloadThroughLinks(t *testing.T) {
	link := func(t *testing.T, target, name string) {
		t.Helper()
		if err := os.Symlink(target, name+".new"); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(name+".new", name); err != nil {
			t.Fatal(err)
		}
	}
	put := func(t *testing.T, dir, text string) {
		t.Helper()
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "heddle.yml"), []byte("version: 2\nservers:\n"+text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("file", func(t *testing.T) {
		dir, elsewhere := t.TempDir(), t.TempDir()
		put(t, elsewhere, server("a", mcptest.Options{}))
		link(t, filepath.Join(elsewhere, "heddle.yml"), filepath.Join(dir, "heddle.yml"))
		f := newFixture(t, "", fixtureOptions{dir: dir})
		f.ready("a")
		put(t, elsewhere, server("b", mcptest.Options{}))
		f.ready("b")
	})
	t.Run("folder", func(t *testing.T) {
		dir := t.TempDir()
		put(t, filepath.Join(dir, "v1"), server("a", mcptest.Options{}))
		link(t, "v1", filepath.Join(dir, "..data"))
		link(t, "..data/heddle.yml", filepath.Join(dir, "heddle.yml"))
		f := newFixture(t, "", fixtureOptions{dir: dir})
		f.ready("a")
		put(t, filepath.Join(dir, "v2"), server("b", mcptest.Options{}))
		link(t, "v2", filepath.Join(dir, "..data"))
		f.ready("b")
		put(t, filepath.Join(dir, "v3"), server("c", mcptest.Options{}))
		link(t, "v3", filepath.Join(dir, "..data"))
		f.ready("c")
	})
}

// A call in flight at a server that the new file does not have comes to its end.
func TestReloadWaitsForCalls(t *testing.T) {
	log := filepath.Join(t.TempDir(), "events")
	f := newFixture(t, "servers:\n"+server("a", mcptest.Options{Log: log})+server("b", mcptest.Options{}), fixtureOptions{})
	pid := f.ready("a")
	type outcome struct {
		text string
		err  error
	}
	done := make(chan outcome, 1)
	go func() {
		text, err := f.call("a_slow", `{"ms":1500}`)
		done <- outcome{text, err}
	}()
	mcptest.WaitEvents(t, log, "call", 1)
	f.write("servers:\n" + server("b", mcptest.Options{}))
	f.logged(reloaded, 1)
	if _, err := f.call("a_echo", "{}"); heddle.KindOf(err) != heddle.KindUnknownTool {
		t.Errorf("a call after the removal: %v, want %s", err, heddle.KindUnknownTool)
	}
	f.mustCall("b_echo", "{}")
	if got := <-done; got.err != nil || got.text != "done" {
		t.Errorf("the call in flight: %q, %v", got.text, got.err)
	}
	mcptest.WaitGone(t, pid)
}

func TestReloadDotEnv(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, ".env"), []byte("WORD=first-value\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f := newFixture(t, "servers:\n"+server("a", mcptest.Options{}, "env WORD: ${WORD}")+server("b", mcptest.Options{}), fixtureOptions{dir: dir})
	f.ready("a")
	other := f.ready("b")
	if got := f.mustCall("a_env", "{}"); !strings.Contains(got, `"WORD=first-value"`) {
		t.Fatalf("environment %s, want the first value", got)
	}
	f.replace(".env", "WORD=second-value\n")
	f.logged(reloaded, 1)
	f.ready("a")
	if got := f.mustCall("a_env", "{}"); !strings.Contains(got, `"WORD=second-value"`) {
		t.Errorf("environment %s, want the second value", got)
	}
	if got := pidOf(t, f.mustCall("b_pid", "{}")); got != other {
		t.Errorf("the server without the variable has process %d, want %d", got, other)
	}
	if strings.Contains(f.log.String(), "-value") {
		t.Errorf("the log holds a value:\n%s", f.log)
	}
}

// A server that is removed while it starts leaves no process.
func TestReloadWhileStarting(t *testing.T) {
	log := filepath.Join(t.TempDir(), "events")
	f := newFixture(t, "servers:\n"+server("a", mcptest.Options{NeverInit: true, Log: log, Children: []string{"group"}}), fixtureOptions{})
	mcptest.WaitEvents(t, log, "initialize", 1)
	start := mcptest.WaitEvents(t, log, "start", 1)[0]
	f.write("servers: {}\n")
	f.logged(reloaded, 1)
	mcptest.WaitGone(t, append(start.Children, start.PID)...)
	if n := len(f.d.Pool().Servers()); n != 0 {
		t.Errorf("%d servers, want none", n)
	}
}

// Nothing is left when the daemon has ended.
func TestEnd(t *testing.T) {
	log := filepath.Join(t.TempDir(), "events")
	f := newFixture(t, "servers:\n"+server("a", mcptest.Options{Children: []string{"group"}, Log: log})+server("never", mcptest.Options{NeverInit: true, Log: log}), fixtureOptions{})
	f.ready("a")
	var pids []int
	for _, e := range mcptest.WaitEvents(t, log, "start", 2) {
		pids = append(append(pids, e.PID), e.Children...)
	}
	f.stop()
	for _, pid := range pids {
		if mcptest.Alive(pid) {
			t.Errorf("process %d is left", pid)
		}
	}
}
