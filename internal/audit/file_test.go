package audit

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"heddle/internal/filelock"
)

// childPlan tells a process of this test binary to write, as "path max_size lines name".
const childPlan = "HEDDLE_TEST_AUDIT"

// child writes numbered lines, in batches, until it has written all or is killed.
func child(plan string) error {
	var path, name string
	var maxSize int64
	var n int
	if _, err := fmt.Sscan(plan, &path, &maxSize, &n, &name); err != nil {
		return err
	}
	l := New(Options{Path: path, MaxSize: maxSize, MaxFiles: 1000, Queue: n})
	l.target.(*file).lockWait = time.Minute // whatever else the machine does
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- l.Run(ctx) }()
	fmt.Println("ready")
	for i := range n {
		r := row(i)
		r.Session = name
		r.Server = strings.Repeat("s", i%200)
		l.Record(r, true)
		if i%100 == 99 {
			time.Sleep(5 * time.Millisecond)
		}
	}
	cancel()
	err := <-ended
	if d := l.Dropped(); err == nil && d > 0 {
		err = fmt.Errorf("%d lines were dropped: %s", d, l.Problem())
	}
	return err
}

func startChild(t *testing.T, plan string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childPlan+"="+plan)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatalf("%q, %v", line, err)
	}
	return cmd
}

// read returns all lines of a file and its rotated ones, and fails if one is torn.
func read(t *testing.T, path string) (lines []map[string]any, files int) {
	t.Helper()
	for i := 0; ; i++ {
		name := path
		if i > 0 {
			name = numbered(path, i)
		}
		data, err := os.ReadFile(name)
		if os.IsNotExist(err) && i > 0 {
			return lines, i
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(data) == 0 {
			continue
		}
		if !strings.HasSuffix(string(data), "\n") {
			t.Errorf("%s ends within a line", name)
		}
		for line := range strings.Lines(string(data)) {
			var v map[string]any
			if err := json.Unmarshal([]byte(line), &v); err != nil {
				t.Errorf("%s: %v: %.200q", name, err, line)
				continue
			}
			lines = append(lines, v)
		}
	}
}

// TestProcesses has three processes write to one file that is rotated all the time.
func TestProcesses(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	const n = 3000
	path := filepath.Join(t.TempDir(), "audit.log")
	var children []*exec.Cmd
	for _, name := range []string{"a", "b", "c"} {
		children = append(children, startChild(t, fmt.Sprint(path, " 20000 ", n, " ", name)))
	}
	for _, c := range children {
		if err := c.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	lines, files := read(t, path)
	seen := map[string]int{}
	for _, v := range lines {
		seen[fmt.Sprint(v["session"], v["tool"])]++
	}
	if len(lines) != 3*n || len(seen) != 3*n {
		t.Errorf("%d lines, %d different ones, want %d", len(lines), len(seen), 3*n)
	}
	if files < 50 {
		t.Errorf("%d files: it was hardly rotated", files)
	}
	for i := range files {
		name := path
		if i > 0 {
			name = numbered(path, i)
		}
		if info, err := os.Stat(name); err != nil || info.Size() > 20000 {
			t.Errorf("%s: %d bytes, %v", name, info.Size(), err)
		}
	}
}

// TestKill kills processes in the middle of writing. What they leave is whole lines, at
// the latest once another has written.
func TestKill(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	path := filepath.Join(t.TempDir(), "audit.log")
	for i := range 10 {
		c := startChild(t, fmt.Sprint(path, " 10000000000 1000000 k", i))
		time.Sleep(time.Duration(150+17*i) * time.Millisecond)
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = c.Wait()
	}
	l := New(Options{Path: path, MaxSize: 10e9})
	l.Event("end")
	finish(t, l)
	lines, _ := read(t, path)
	last := map[any]int{}
	for _, v := range lines[:len(lines)-1] {
		var i int
		if _, err := fmt.Sscanf(v["tool"].(string), "call_%d", &i); err != nil {
			t.Fatal(err)
		}
		if i != last[v["session"]] {
			t.Fatalf("line %d of %v comes where %d should", i, v["session"], last[v["session"]])
		}
		last[v["session"]]++
	}
	if len(last) < 8 || lines[len(lines)-1]["event"] != "end" {
		t.Errorf("lines of %d processes, the last one is %v", len(last), lines[len(lines)-1])
	}
}

// TestTornLine: what a killed process left of a line is taken away, what is somebody
// else's is not.
func TestTornLine(t *testing.T) {
	whole := lineStart + `x"}` + "\n"
	for _, c := range []struct{ before, want string }{
		{"", ""},
		{whole, whole},
		{whole + lineStart + `2026-05-`, whole},
		{whole + `{"ti`, whole},
		{lineStart + `2026-05-`, ""},
		{whole + "a note of somebody", whole + "a note of somebody\n"},
		{strings.Repeat("x", 2*maxLine), strings.Repeat("x", 2*maxLine) + "\n"},
		{whole + strings.Repeat("\x00", 100), whole + strings.Repeat("\x00", 100) + "\n"},
	} {
		path := filepath.Join(t.TempDir(), "audit.log")
		if err := os.WriteFile(path, []byte(c.before), 0o600); err != nil {
			t.Fatal(err)
		}
		l := New(Options{Path: path})
		l.Event("e")
		finish(t, l)
		got, err := os.ReadFile(path)
		before, line, ok := strings.Cut(string(got), c.want+lineStart)
		if err != nil || !ok || before != "" || !strings.HasSuffix(line, `"event":"e"}`+"\n") {
			t.Errorf("%.60q became %.200q, %v", c.before, got, err)
		}
	}
}

func TestRotation(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "dir", "audit.log")
	write := func(maxFiles, n int) {
		t.Helper()
		for i := range n {
			l := New(Options{Path: path, MaxSize: 1, MaxFiles: maxFiles}) // a line a file
			l.Record(row(i), true)
			finish(t, l)
		}
	}
	names := func() []string {
		entries, err := os.ReadDir(filepath.Dir(path))
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, e := range entries {
			out = append(out, e.Name())
		}
		return out
	}
	write(3, 10)
	if got, want := names(), []string{"audit.log", "audit.log.1", "audit.log.2", "audit.log.3", "audit.log.lock"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	lines, _ := read(t, path)
	for i, v := range lines {
		if want := fmt.Sprint("call_", 9-i); v["tool"] != want {
			t.Errorf("file %d has %v, want %s", i, v["tool"], want)
		}
	}
	// A number that is free ends the moving.
	if err := os.Remove(path + ".2"); err != nil {
		t.Fatal(err)
	}
	write(3, 1)
	lines, _ = read(t, path)
	if len(lines) != 4 || lines[3]["tool"] != "call_7"[:5]+"6" {
		t.Errorf("%v", lines)
	}
	// Fewer are to be kept than there are.
	write(1, 1)
	if got, want := names(), []string{"audit.log", "audit.log.1", "audit.log.lock"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestFailedRotation: what cannot be moved costs no line and no file.
func TestFailedRotation(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "audit.log")
	if err := os.MkdirAll(filepath.Join(path+".2", "in", "the", "way"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+".1", []byte("old\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var l *Log
	for i := range 5 {
		l = New(Options{Path: path, MaxSize: 300, MaxFiles: 2, Logger: slog.New(slog.NewTextHandler(t.Output(), nil))})
		for j := range 5 {
			l.Record(row(10*i+j), true)
		}
		finish(t, l)
		if l.Written() != 5 || l.Dropped() != 0 {
			t.Errorf("%d written, %d dropped", l.Written(), l.Dropped())
		}
	}
	if !strings.Contains(l.Problem(), "rotate") {
		t.Errorf("problem is %q", l.Problem())
	}
	if old, err := os.ReadFile(path + ".1"); err != nil || string(old) != "old\n" {
		t.Errorf("the rotated file is %q, %v", old, err)
	}
	data, err := os.ReadFile(path)
	if n := strings.Count(string(data), "\n"); err != nil || n != 25 {
		t.Errorf("%d lines, %v, want all 25", n, err)
	}
}

// TestHeldLock: a process that hangs with the lock costs no line.
func TestHeldLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.log")
	lock, err := filelock.Try(path + ".lock")
	if err != nil {
		t.Fatal(err)
	}
	l := New(Options{Path: path, MaxSize: 1})
	l.target.(*file).lockWait = 10 * time.Millisecond
	for i := range 3 {
		l.Record(row(i), true)
	}
	finish(t, l)
	lock.Unlock()
	if lines, files := read(t, path); len(lines) != 3 || files != 1 {
		t.Errorf("%d lines in %d files, want 3 in one: nothing may be moved without the lock", len(lines), files)
	}
	l = New(Options{Path: path, MaxSize: 1})
	l.Record(row(3), true)
	finish(t, l)
	if lines, files := read(t, path); len(lines) != 4 || files != 2 {
		t.Errorf("%d lines in %d files, want 4 in two", len(lines), files)
	}
}

// running runs a log and returns what waits until it has written n lines in all.
func running(t *testing.T, l *Log) (await func(n uint64)) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- l.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return func(n uint64) {
		t.Helper()
		for end := time.Now().Add(20 * time.Second); l.Written() < n; time.Sleep(5 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%d lines are written, want %d: %s", l.Written(), n, l.Problem())
			}
		}
	}
}

// TestGone takes away the file, then the directory, then puts something in its place.
func TestGone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	path := filepath.Join(dir, "audit.log")
	l := New(Options{Path: path})
	await := running(t, l)
	l.Record(row(1), true)
	await(1)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	l.Record(row(2), true)
	await(2)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	l.Record(row(3), true)
	await(3)
	if lines, _ := read(t, path); len(lines) != 1 || lines[0]["tool"] != "call_3" {
		t.Errorf("the new file has %v", lines)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	l.Record(row(4), true)
	for end := time.Now().Add(20 * time.Second); l.Problem() == ""; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("no problem, although a file is where the directory should be")
		}
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	await(4)
	if lines, _ := read(t, path); len(lines) != 1 || lines[0]["tool"] != "call_4" || l.Dropped() != 0 {
		t.Errorf("the new file has %v, %d lines were dropped", lines, l.Dropped())
	}
}

func TestLinkedFile(t *testing.T) {
	dir := t.TempDir()
	path, real := filepath.Join(dir, "audit.log"), filepath.Join(dir, "elsewhere")
	if err := os.WriteFile(real, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, path); err != nil {
		t.Skip(err)
	}
	for i := range 3 {
		l := New(Options{Path: path, MaxSize: 1})
		l.Record(row(i), true)
		finish(t, l)
	}
	if lines, files := read(t, real); len(lines) != 3 || files != 3 {
		t.Errorf("%d lines in %d files where the link leads", len(lines), files)
	}
	if to, err := os.Readlink(path); err != nil || to != real {
		t.Errorf("the link is %q, %v", to, err)
	}
}

func BenchmarkFile(b *testing.B) {
	l := New(Options{Path: filepath.Join(b.TempDir(), "audit.log")})
	r := row(1)
	var e encoder
	newCall(&r, true).lines(&e)
	line := e.take()
	for b.Loop() {
		if _, err := l.target.write(line); err != nil {
			b.Fatal(err)
		}
	}
}
