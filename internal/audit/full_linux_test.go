package audit

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// fill records lines until some have been lost, empties the disk by f and wants every
// line in the file that was not counted as lost, and the count.
func fill(t *testing.T, path string, f func()) {
	t.Helper()
	l := New(Options{Path: path, Queue: 500})
	await := running(t, l)
	n := 0
	for end := time.Now().Add(20 * time.Second); l.Dropped() == 0; n++ {
		began := time.Now()
		l.Record(row(n), true)
		if d := time.Since(began); d > time.Second {
			t.Errorf("a call waited for %s", d)
		}
		if n%20 == 0 {
			time.Sleep(5 * time.Millisecond)
		}
		if time.Now().After(end) {
			t.Fatal("the disk does not fill")
		}
	}
	if l.Problem() == "" {
		t.Error("no problem is told")
	}
	data, err := os.ReadFile(path)
	if err != nil || len(data) > 0 && data[len(data)-1] != '\n' {
		t.Errorf("%v; the full file ends with %.100q", err, data[max(0, len(data)-100):])
	}
	lost := l.Dropped()
	f()
	await(uint64(n) - lost + 1)
	lines, _ := read(t, path)
	told := 0.0
	for _, v := range lines {
		if v["event"] == "lost" {
			told += v["lines"].(float64)
		}
	}
	if len(lines) != n-int(lost)+1 || told != float64(lost) {
		t.Errorf("of %d lines, %d lost, %d are in the file, which tells of %v", n, lost, len(lines), told)
	}
}

// TestFullDisk fills a small file system.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("heddle-test", dir, "tmpfs", 0, "size=256k"); err != nil {
		t.Skip("cannot mount a small file system: ", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 128<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	fill(t, filepath.Join(dir, "audit.log"), func() {
		if err := syscall.Mount("heddle-test", dir, "tmpfs", syscall.MS_REMOUNT, "size=8m"); err != nil {
			t.Error(err)
		}
	})
}

const limited = "HEDDLE_TEST_AUDIT_LIMITED"

// TestFullQuota runs itself in a process whose files may not be over 100 kB: a write
// then stops in the middle of a line, and needs no rights to try.
func TestFullQuota(t *testing.T) {
	if os.Getenv(limited) == "" {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestFullQuota$", "-test.v")
		cmd.Env = append(os.Environ(), limited+"=1")
		if out, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(out), "no tests") {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	signal.Ignore(syscall.SIGXFSZ)
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		t.Skip(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 100_000, Max: was.Max}); err != nil {
		t.Skip(err)
	}
	fill(t, filepath.Join(t.TempDir(), "audit.log"), func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
			t.Error(err)
		}
	})
}

// TestModes: nobody else reads what is written, whatever the umask is.
func TestModes(t *testing.T) {
	was := syscall.Umask(0)
	defer syscall.Umask(was)
	dir := filepath.Join(t.TempDir(), "a", "b")
	path := filepath.Join(dir, "audit.log")
	for i := range 3 {
		l := New(Options{Path: path, MaxSize: 1})
		l.Record(row(i), true)
		finish(t, l)
	}
	for name, want := range map[string]os.FileMode{
		filepath.Dir(dir): 0o700, dir: 0o700, path: 0o600, path + ".1": 0o600, path + ".2": 0o600, path + ".lock": 0o600,
	} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v, want %o", name, info.Mode(), err, want)
		}
	}
}

// TestNoFile: a pipe that nobody reads is refused, not waited for.
func TestNoFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.log")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	l := New(Options{Path: path})
	l.Record(row(1), true)
	finish(t, l)
	if !strings.Contains(l.Problem(), "not a regular file") || l.Dropped() != 1 {
		t.Errorf("problem %q, %d dropped", l.Problem(), l.Dropped())
	}
	l = New(Options{Path: "/dev/full"})
	if n, err := l.target.write([][]byte{[]byte("x\n")}); n != 0 || err == nil || errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a device: %d, %v", n, err)
	}
	if _, err := os.Lstat("/dev/full.lock"); !os.IsNotExist(err) {
		t.Errorf("a lock is put beside a device: %v", err)
	}
}
