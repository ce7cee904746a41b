package surface_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"heddle/internal/mcptest"
	"heddle/internal/upstream"
)

// usage is what a process holds on to.
type usage struct {
	goroutines, files int
	heap              uint64
}

func used() usage {
	for range 2 { // pools keep what was freed until the next but one
		runtime.GC()
	}
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	u := usage{goroutines: runtime.NumGoroutine(), heap: m.HeapAlloc}
	if open, err := os.ReadDir("/proc/self/fd"); err == nil { // elsewhere they are not counted
		u.files = len(open)
	}
	return u
}

// grew waits until what is held is no more than before and the slack.
func grew(t *testing.T, before usage, heap uint64) {
	t.Helper()
	var now usage
	mcptest.Eventually(t, func() bool {
		now = used()
		return now.goroutines <= before.goroutines+10 && now.files <= before.files+5 && now.heap <= before.heap+heap
	}, "what was there before: %+v, not %+v", before, &now)
}

// A server that comes and goes leaves nothing behind, however many tools it has.
func TestReconnectionsLeaveNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("counts memory over thousands of calls: not with -short, nor under the race detector")
	}
	var names []string
	for i := range 200 {
		names = append(names, fmt.Sprintf("tool_%d", i))
	}
	o := mcptest.Options{Tools: append(toolsNamed(names...), mcptest.Tool("echo"))}
	s := newStage(t, stageOptions{
		mode: "native", config: guarding + "ssrf: {}\ncatalog: {lock: warn}\n", servers: map[string]mcptest.Options{"up": o},
		upstream: func(c *upstream.Config) { c.IdleStop = time.Millisecond },
	})
	cycle := func(n int) {
		for range n {
			text(t, s.run("up_echo", `{"text":"x"}`))
			mcptest.Eventually(t, func() bool { return s.daemon.Pool().Server("up").Status().State == upstream.StateIdle }, "the end of a session")
		}
	}
	cycle(20)
	before := used()
	cycle(200)
	// The server of this test remembers what it saw, and the host what it read.
	grew(t, before, 4<<20)
	if n := len(s.peers["up"].connected()); n < 220 {
		t.Errorf("%d sessions, want one for each call", n)
	}
}

// Large results with all guards on are kept as far as there is room, and no further.
func TestManyLargeResultsLeaveNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("counts memory over thousands of calls: not with -short, nor under the race detector")
	}
	var b strings.Builder
	for i := 0; b.Len() < 50_000; i++ {
		fmt.Fprintf(&b, "2026-03-01T00:00:00Z INFO worker-%d: job %08x took %d ms\n", i%16, uint32(i)*2654435761, i*7919%997)
	}
	temp := t.TempDir()
	s := newStage(t, stageOptions{
		mode: "compact", temp: temp, state: t.TempDir(), servers: map[string]mcptest.Options{"up": returning(map[string]string{"log": textResult(b.String())})},
		config: judging + "results: {memory: 1MiB}\nssrf: {}\nsecrets: {results: mask}\nrate_limit: {default: 1000000/s}\n",
	})
	many := func(n int) {
		for i := range n {
			m := s.run("up_log", fmt.Sprintf(`{"page":%d}`, i))
			if len(m.Result) > 12<<10 {
				t.Fatalf("a result of %d bytes, want it short", len(m.Result))
			}
		}
	}
	many(200)
	before := used()
	many(2000)
	grew(t, before, 24<<20) // the host of this test keeps every line that it has read
	kept := int64(0)
	for _, f := range filesBelow(t, temp) {
		if info, err := os.Stat(f); err == nil {
			kept += info.Size()
		}
	}
	if limit := int64(5 << 20); kept > limit { // four times the memory, and what is being written
		t.Errorf("%d bytes on disk, want at most %d", kept, limit)
	}
	s.close()
	if left := filesBelow(t, temp); len(left) > 0 {
		t.Errorf("files are left: %q", left)
	}
}

func filesBelow(t *testing.T, dir string) (out []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			out = append(out, path)
		}
		return nil // what goes meanwhile is gone
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
