package daemon

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heddle"
	"heddle/internal/deliver"
	"heddle/internal/mcptest"
)

// read reads in a capture as a host in compact mode does.
func (f *fixture) read(ref string) (string, error) {
	d, err := f.d.Gateway().Read(context.Background(), &heddle.Call{Principal: heddle.Local, Mode: "compact", Tool: "read_result", Host: silent{}}, deliver.Reading{Ref: ref})
	return string(d.Raw), err
}

// refOf is the name of the capture that a short text is about.
func refOf(t *testing.T, short string) string {
	t.Helper()
	ref, _, ok := strings.Cut(strings.TrimPrefix(short, "["), ":")
	if !ok || !strings.HasPrefix(short, "[") {
		t.Fatalf("no short text: %.200s", short)
	}
	return ref
}

const bigLog = `{"bytes":40000,"of":"log"}`

// A new threshold counts from the next call on, and what was captured stays.
func TestReloadKeepsCaptures(t *testing.T) {
	servers := "servers:\n" + server("a", mcptest.Options{})
	f := newFixture(t, servers, fixtureOptions{})
	f.ready("a")
	ref := refOf(t, f.mustCall("a_big", bigLog))
	f.write("results: {threshold_tokens: 100000, mesh: true, output_schema: keep}\n" + servers)
	f.logged(reloaded, 1)
	if got := f.mustCall("a_big", bigLog); strings.HasPrefix(got, "[") || len(got) < 30_000 {
		t.Errorf("under a larger threshold: %.200s, want the whole", got)
	}
	if got, err := f.read(ref); err != nil || !strings.Contains(got, "worker-0") {
		t.Errorf("a capture of before: %.200s, %v", got, err)
	}
	// Hosts in mesh mode were told of no read_result, so they get none to read.
	f.write("results: {mesh: true}\n" + servers)
	f.logged(reloaded, 2)
	c := &heddle.Call{Principal: heddle.Local, Session: "test", Mode: "mesh", Tool: "a_big", Arguments: []byte(bigLog), Host: silent{}}
	if d, err := f.d.Gateway().Call(t.Context(), c); err != nil || d.Form != heddle.FormExact {
		t.Errorf("mesh: delivered as %s, %v, want exact", d.Form, err)
	}
}

// A tool that is not allowed any more is not named, but by the pair that the capture
// is of: its host knew it.
func TestCaptureOfAToolThatIsGone(t *testing.T) {
	servers := "servers:\n" + server("a", mcptest.Options{})
	dir, state := t.TempDir(), t.TempDir()
	before := newFixture(t, servers, fixtureOptions{dir: dir, state: state})
	before.ready("a")
	ref := refOf(t, before.mustCall("a_big", bigLog))
	before.stop()

	f := newFixture(t, "tools: {deny: [a_big]}\n"+servers, fixtureOptions{dir: dir, state: state})
	f.ready("a")
	if _, err := f.read(ref); heddle.KindOf(err) != heddle.KindResultExpired || !strings.Contains(err.Error(), "call a::big again") {
		t.Errorf("got %v, want result_expired", err)
	}
	f.write(servers)
	f.logged(reloaded, 1)
	if _, err := f.read(ref); heddle.KindOf(err) != heddle.KindResultExpired || !strings.Contains(err.Error(), "call a_big again") {
		t.Errorf("got %v, want result_expired that names a_big", err)
	}
}

// The state counts captures, and nothing of them is left after the end.
func TestStateOfCaptures(t *testing.T) {
	dir := t.TempDir()
	f := newFixture(t, "servers:\n"+server("a", mcptest.Options{}), fixtureOptions{state: dir})
	f.ready("a")
	f.mustCall("a_big", bigLog)
	f.mustCall("a_big", `{"bytes":2000000,"of":"rows"}`)
	if got := f.d.State().Captures; got.Count != 2 || got.Bytes < 1_600_000 || got.Memory <= 0 || got.Memory > got.Bytes || got.Disk != 0 || got.Evicted != 0 {
		t.Errorf("got %+v, want two results of about 1.7 MB", got)
	}
	// The file follows once the memory of the large one is given back.
	mcptest.Eventually(t, func() bool {
		states, err := ReadStates(dir)
		return err == nil && len(states) == 1 && states[0].Captures.Count == 2
	}, "the captures in the state")
	f.stop()
	if got := f.d.State().Captures; got.Count != 0 || got.Bytes != 0 {
		t.Errorf("after the end: %+v", got)
	}
}

// What has no room in memory goes to a private directory, which goes with heddle.
func TestSpillDirectoryGoesWithTheDaemon(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	f := newFixture(t, "results: {memory: 1MiB}\nservers:\n"+server("a", mcptest.Options{}), fixtureOptions{})
	f.ready("a")
	ref := refOf(t, f.mustCall("a_big", `{"bytes":9000000,"of":"rows"}`))
	spilled := func() []string {
		dirs, _ := filepath.Glob(filepath.Join(temp, "heddle-captures-*"))
		return dirs
	}
	dirs := spilled()
	if got := f.d.State().Captures; got.Disk == 0 || len(dirs) != 1 {
		t.Fatalf("%+v in %q, want one on disk", got, dirs)
	}
	if info, err := os.Stat(dirs[0]); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v, want mode 0700", info, err)
	}
	if got, err := f.read(ref); err != nil || !strings.Contains(got, "item ") {
		t.Errorf("reading from disk: %.200s, %v", got, err)
	}
	f.stop()
	if left := spilled(); len(left) != 0 {
		t.Errorf("left behind: %q", left)
	}
}
