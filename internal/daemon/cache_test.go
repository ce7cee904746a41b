package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"heddle"
	"heddle/internal/mcptest"
	"heddle/internal/upstream"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// odd is a definition whose bytes an encoder would change.
var odd = json.RawMessage(`{ "name":"odd","description":"a<b> & \u20ac","x":9007199254740993,  "inputSchema":{"type":"object","properties":{"n":{"maximum":1.0}}} }`)

// cached are the options of a server that logs its events.
func cached(log string, tools ...json.RawMessage) mcptest.Options {
	if len(tools) == 0 {
		tools = []json.RawMessage{mcptest.Tool("echo"), mcptest.Tool("pid"), mcptest.Tool("slow"), odd}
	}
	return mcptest.Options{
		Log: log, Tools: tools, Instructions: "Use it <well>.",
		Resources: []json.RawMessage{[]byte(`{"uri":"x://1","name":"r"}`)}, Prompts: []json.RawMessage{[]byte(`{"name":"p"}`)},
		Contents: map[string]json.RawMessage{"x://1": []byte(`{"contents":[]}`)},
	}
}

// files returns the names of the files in a directory.
func files(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

// remember runs a server once, so that its catalog is in the cache.
func remember(t *testing.T, cache, servers string, o fixtureOptions) {
	t.Helper()
	o.cache = cache
	f := newFixture(t, "servers:\n"+servers, o)
	before := len(files(t, cache))
	f.ready("s")
	mcptest.Eventually(t, func() bool {
		names := files(t, cache)
		return len(names) > before && !strings.HasPrefix(names[0], ".")
	}, "a file in the cache")
	f.stop()
}

// starts counts the starts of a server that logs.
func starts(t *testing.T, log string) int { return mcptest.Count(mcptest.Events(t, log), "start") }

// A server that is known from before is not started to list what it has. The
// first call starts it.
func TestKnownServerStartsWhenItIsUsed(t *testing.T) {
	dir := t.TempDir() // where a server runs is part of what it is
	log, cache := dir+"/events", dir+"/cache"
	text := server("s", cached(log))
	remember(t, cache, text, fixtureOptions{dir: dir})
	f := newFixture(t, "servers:\n"+text, fixtureOptions{dir: dir, cache: cache})
	now, cancel := context.WithCancel(t.Context())
	cancel()
	if !f.d.Gateway().Booted(now) {
		t.Error("not booted at once")
	}
	h := f.serve("native")
	list := string(h.Request("tools/list", "{}").Result)
	if !strings.Contains(list, `"name":"echo"`) || !strings.Contains(list, `"name":"odd"`) {
		t.Errorf("the list is %s", list)
	}
	if got, want := string(h.Request("resources/list", "").Result), `{"resources":[{"uri":"x://1","name":"r"}]}`; got != want {
		t.Errorf("resources %s, want %s", got, want)
	}
	if st := f.d.Pool().Server("s").Status(); st.State != upstream.StateIdle || st.Tools != 4 {
		t.Errorf("status %+v, want idle with its tools", st)
	}
	if n := starts(t, log); n != 1 {
		t.Fatalf("%d starts, want that of the run before alone", n)
	}
	if got := mcptest.TextOf(h.Call("echo", `{"text":"x"}`).Result); got != "x" {
		t.Errorf("echo: %q", got)
	}
	if n := starts(t, log); n != 2 {
		t.Errorf("%d starts after the first call, want 2", n)
	}
	// What the server lists itself is the same, to the byte, and nobody is told of it.
	f.ready("s")
	if got := string(h.Request("tools/list", "{}").Result); got != list {
		t.Errorf("the list differs once the server runs:\n%s\n%s", list, got)
	}
	h.Request("resources/list", "")
	if got := h.Received(""); len(got) != 0 {
		t.Errorf("the host was told %s", got[0].Method)
	}
}

// A resource of a known server starts it as a call does.
func TestResourceOfAKnownServer(t *testing.T) {
	dir := t.TempDir() // where a server runs is part of what it is
	log, cache := dir+"/events", dir+"/cache"
	text := server("s", cached(log))
	remember(t, cache, text, fixtureOptions{dir: dir})
	h := newFixture(t, "servers:\n"+text, fixtureOptions{dir: dir, cache: cache}).serve("compact")
	if m := h.Request("resources/read", `{"uri":"x://1"}`); string(m.Result) != `{"contents":[]}` {
		t.Errorf("read: %s%s", m.Result, m.Error)
	}
}

// What is known may be old: a call is checked against what the server lists now,
// before it goes up.
func TestDefinitionsAreCheckedBeforeTheFirstCall(t *testing.T) {
	dir := t.TempDir() // where a server runs is part of what it is
	log, cache := dir+"/events", dir+"/cache"
	now := t.TempDir() + "/now"
	tool := func(schema string) json.RawMessage {
		return json.RawMessage(`{"name":"pay","description":"d","inputSchema":` + schema + `}`)
	}
	old := []json.RawMessage{tool(`{"type":"object","properties":{"amount":{"type":"integer"}}}`), mcptest.Tool("gone"), mcptest.Tool("echo")}
	next := []json.RawMessage{tool(`{"type":"object","properties":{"cents":{"type":"integer"}},"required":["cents"],"additionalProperties":false}`), mcptest.Tool("echo"), mcptest.Tool("fresh")}
	// The command is the same each time: what it lists is in a file.
	list := func(tools []json.RawMessage) string {
		o := cached(log, tools...)
		o.Results = map[string]json.RawMessage{"pay": mcptest.Text("paid"), "fresh": mcptest.Text("fresh")}
		command, _, env := mcptest.Command(o)
		script := "#!/bin/sh\n"
		for _, kv := range env {
			k, v, _ := strings.Cut(kv, "=")
			script += "export " + k + "='" + strings.ReplaceAll(v, "'", `'\''`) + "'\n"
		}
		if err := os.WriteFile(now, []byte(script+"exec '"+command+"'\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		return "  s:\n    command: " + now + "\n"
	}
	remember(t, cache, list(old), fixtureOptions{dir: dir})
	name := files(t, cache)[0]
	before, err := os.ReadFile(filepath.Join(cache, name))
	if err != nil {
		t.Fatal(err)
	}
	f := newFixture(t, "servers:\n"+list(next), fixtureOptions{dir: dir, cache: cache})
	f.idle("s")
	_, err = f.call("s_pay", `{"amount":1}`)
	var e *heddle.Error
	if !errors.As(err, &e) || e.Kind != heddle.KindInvalidArguments || e.Invoked {
		t.Errorf("old arguments: %v, want them refused by the new schema", err)
	}
	if got := f.mustCall("s_pay", `{"cents":1}`); got != "paid" {
		t.Errorf("new arguments: %q", got)
	}
	f.stop()
	if err := os.WriteFile(filepath.Join(cache, name), before, 0o600); err != nil { // as old as it was
		t.Fatal(err)
	}
	f = newFixture(t, "servers:\n"+list(next), fixtureOptions{dir: dir, cache: cache})
	f.idle("s")
	if _, err := f.call("s_gone", `{}`); !errors.As(err, &e) || e.Kind != heddle.KindUnknownTool {
		t.Errorf("a tool that is gone: %v, want unknown_tool", err)
	}
	if got := f.mustCall("s_fresh", `{}`); got != "fresh" {
		t.Errorf("a new tool: %q", got)
	}
	if n := mcptest.Count(mcptest.Events(t, log), "call"); n != 2 {
		t.Errorf("%d calls went up, want the two that are right", n)
	}
}

// idle checks that a server is known and does not run.
func (f *fixture) idle(name string) {
	f.t.Helper()
	if st := f.d.Pool().Server(name).Status(); st.State != upstream.StateIdle {
		f.t.Fatalf("%s is %s, want idle", name, st.State)
	}
}

// A server that nobody uses ends after a while, and starts again when it is used;
// never does it end in the middle of a call.
func TestIdleServerStopsAndStartsAgain(t *testing.T) {
	dir := t.TempDir()
	log := dir + "/events"
	f := newFixture(t, "servers:\n"+server("s", cached(log), "idle_stop: 300ms"), fixtureOptions{dir: dir})
	first := f.ready("s")
	begin := time.Now()
	if got := f.mustCall("s_slow", `{"ms":1500}`); got != "done" {
		t.Errorf("slow: %q after %s", got, time.Since(begin))
	}
	if n := starts(t, log); n != 1 {
		t.Errorf("%d starts during one long call, want 1", n)
	}
	mcptest.WaitGone(t, first)
	mcptest.Eventually(t, func() bool { return f.d.Pool().Server("s").Status().State == upstream.StateIdle }, "an idle server")
	if st := f.d.Pool().Server("s").Status(); st.Tools != 4 || st.Restarts != 0 || st.Reason != "" || st.PID != 0 {
		t.Errorf("idle: %+v, want its tools and no fault", st)
	}
	if got := pidOf(t, f.mustCall("s_pid", `{}`)); got == first || !mcptest.Alive(got) {
		t.Errorf("pid %d after the rest, want a new process", got)
	}
	if n := starts(t, log); n != 2 {
		t.Errorf("%d starts, want 2", n)
	}
}

// Calls that cross with the end of an idle server all run, each once.
func TestCallsCrossWithTheEndOfAnIdleServer(t *testing.T) {
	dir := t.TempDir()
	log := dir + "/events"
	f := newFixture(t, "servers:\n"+server("s", cached(log), "idle_stop: 1ms"), fixtureOptions{dir: dir})
	f.ready("s")
	const n = 40
	for i := range n {
		if got := f.mustCall("s_echo", `{"text":"x"}`); got != "x" {
			t.Errorf("call %d: %q", i, got)
		}
	}
	if got := mcptest.Count(mcptest.Events(t, log), "call"); got != n {
		t.Errorf("%d calls reached the server, want %d", got, n)
	}
}

// What is kept is for the user alone, holds no secrets of the configuration, and
// keeps every byte of the definitions.
func TestCacheFile(t *testing.T) {
	dir := t.TempDir() // where a server runs is part of what it is
	log, cache := dir+"/events", dir+"/cache"
	text := server("s", cached(log), "env API_TOKEN: hunter2-hunter2-hunter2")
	remember(t, cache, text, fixtureOptions{dir: dir})
	names := files(t, cache)
	if len(names) != 1 || strings.Contains(names[0], "hunter2") {
		t.Fatalf("files %q, want one", names)
	}
	path := filepath.Join(cache, names[0])
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); got != 0o600 {
		t.Errorf("mode %o, want 600", got)
	}
	if dir, err := os.Stat(cache); err != nil || dir.Mode().Perm() != 0o700 {
		t.Errorf("the directory: %v, %v, want mode 700", dir.Mode(), err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(raw), "hunter2") || !strings.Contains(string(raw), "x://1") {
		t.Errorf("the file: %s", raw)
	}
}

// What is kept of a server is what it wrote, byte for byte.
func TestCacheKeepsBytes(t *testing.T) {
	want := &upstream.Known{
		Tools: []json.RawMessage{odd, mcptest.Tool("x")},
		Lists: map[string][]json.RawMessage{
			upstream.ListResources: {json.RawMessage(`{"uri":"x://1", "name":"<r>"}`)}, upstream.ListPrompts: {},
		},
		Instructions: "Use it <well>.", Protocol: "2025-11-25", Features: upstream.Features{Resources: true, Logging: true},
	}
	for _, k := range []*upstream.Known{want, {Protocol: "2024-11-05"}} {
		raw, err := encode(k)
		if err != nil {
			t.Fatal(err)
		}
		c := catalogCache{t.TempDir(), slog.New(slog.DiscardHandler)}
		if err := writePrivate(c.path("id"), raw); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(k, c.load("id"), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("known (-want +got):\n%s", diff)
		}
	}
}

// Whatever makes it another server makes it another file; nothing else does.
func TestCacheIsKeyedByWhatTheServerIs(t *testing.T) {
	dir := t.TempDir() // where a server runs is part of what it is
	log, cache := dir+"/events", dir+"/cache"
	base := []string{"env A: one", "env_passthrough: [OURS]", "timeout: 20s"}
	variants := []struct {
		name    string
		more    []string
		environ []string
		files   int
	}{
		{"the first", base, []string{"OURS=1", "OTHER=1"}, 1},
		{"the same", base, []string{"OURS=1", "OTHER=2"}, 1},
		{"another limit", []string{"env A: one", "env_passthrough: [OURS]", "timeout: 25s"}, []string{"OURS=1"}, 1},
		{"another variable", []string{"env A: two", "env_passthrough: [OURS]"}, []string{"OURS=1"}, 2},
		{"another variable of ours", base, []string{"OURS=2"}, 3},
		{"one variable more", append([]string{"env B: x"}, base...), []string{"OURS=1"}, 4},
		{"an argument", append([]string{"args: [x]"}, base...), []string{"OURS=1"}, 5},
		{"a directory", append([]string{"cwd: /"}, base...), []string{"OURS=1"}, 6},
	}
	for _, v := range variants {
		f := newFixture(t, "servers:\n"+server("s", cached(log), v.more...), fixtureOptions{dir: dir, cache: cache, environ: v.environ})
		if st := f.d.Pool().Server("s").Status(); st.State != upstream.StateIdle { // not known
			f.ready("s")
		}
		mcptest.Eventually(t, func() bool { return len(files(t, cache)) == v.files && !strings.HasPrefix(files(t, cache)[0], ".") }, "%s: %d files, not %q", v.name, v.files, files(t, cache))
		f.stop()
		if got := len(files(t, cache)); got != v.files {
			t.Errorf("%s: %d files, want %d", v.name, got, v.files)
		}
	}
	// A switched off cache is not read and not written.
	f := newFixture(t, "catalog: {cache: false}\nservers:\n"+server("s", cached(log), base...), fixtureOptions{dir: dir, cache: cache, environ: []string{"OURS=1"}})
	f.ready("s")
}

// A file that is not what was written is as good as none.
func TestDamagedCacheIsNotUsed(t *testing.T) {
	dir := t.TempDir() // where a server runs is part of what it is
	log, cache := dir+"/events", dir+"/cache"
	text := server("s", cached(log))
	remember(t, cache, text, fixtureOptions{dir: dir})
	path := filepath.Join(cache, files(t, cache)[0])
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"empty": "", "cut": string(whole[:len(whole)/2]), "null": "null", "an empty object": "{}", "an array": "[]", "another type": `{"tools":"x","protocol":"2025-11-25"}`,
		"bytes": "\x00\xff\xfe", "more after the end": string(whole) + "}",
	} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		f := newFixture(t, "servers:\n"+text, fixtureOptions{dir: dir, cache: cache})
		f.ready("s") // so it was started at once, as one that is not known
		mcptest.Eventually(t, func() bool { got, _ := os.ReadFile(path); return string(got) == string(whole) }, "%s: the file as it was", name)
		f.stop()
	}
}
