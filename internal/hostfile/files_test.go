//go:build unix

package hostfile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestLinks edits the file that a link leads to and keeps the link.
func TestLinks(t *testing.T) {
	b := newBench(t)
	path := b.put("cursor", User, twoServers)
	dotfiles := filepath.Join(b.Env.Home, "dotfiles")
	target := b.write(filepath.Join(dotfiles, "cursor.json"), twoServers)
	middle := filepath.Join(dotfiles, "link.json")
	for _, step := range []error{os.Remove(path), os.Symlink("cursor.json", middle), os.Symlink(middle, path), os.Chmod(target, 0o600)} {
		if step != nil {
			t.Fatal(step)
		}
	}
	c := b.install("cursor", User)
	if c.Files[0].Path != path || c.Files[0].Target != target {
		t.Errorf("path %s, target %s", c.Files[0].Path, c.Files[0].Target)
	}
	if got := b.read(target); !strings.Contains(got, "heddle") {
		t.Errorf("target\n%s", got)
	}
	if to, err := os.Readlink(path); err != nil || to != middle {
		t.Errorf("the link leads to %q (%v), want %q", to, err, middle)
	}
	b.rollback("cursor", User)
	info, err := os.Stat(target)
	if got := b.read(target); got != twoServers || err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("after rollback mode %v (%v)\n%s", info.Mode(), err, got)
	}
	if diff := cmp.Diff([]string{"cursor.json", "link.json"}, b.files(dotfiles)); diff != "" {
		t.Errorf("files (-want +got)\n%s", diff)
	}
}

// TestUnusableFiles refuses what is no file to edit, says why, and leaves it.
func TestUnusableFiles(t *testing.T) {
	tests := []struct {
		name string
		make func(b bench, path string) error
		want string
		// fine is true where the host can still be read.
		fine bool
	}{
		{"link to itself", func(_ bench, path string) error { return os.Symlink(path, path) }, "too many links", false},
		{"link to nothing", func(_ bench, path string) error { return os.Symlink("nowhere.json", path) }, "a link to a file that does not exist", false},
		{"directory", func(_ bench, path string) error { return os.Mkdir(path, 0o755) }, "is a directory", false},
		{"pipe", func(_ bench, path string) error { return syscall.Mkfifo(path, 0o600) }, "is no regular file", false},
		{"large", func(_ bench, path string) error {
			return os.WriteFile(path, []byte("{}"+strings.Repeat(" ", maxFile)), 0o600)
		}, "larger than 16 MB", false},
		{"read-only", func(_ bench, path string) error { return os.WriteFile(path, []byte("{}"), 0o444) }, "is read-only", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			f, err := b.File("cursor", User)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(filepath.Dir(f.Path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := tt.make(b, f.Path); err != nil {
				t.Fatal(err)
			}
			before, err := os.Lstat(f.Path)
			if err != nil {
				t.Fatal(err)
			}
			_, err = b.Install(context.Background(), b.request("cursor", User))
			var e *Error
			if !errors.As(err, &e) || !strings.Contains(e.Message, tt.want) || e.Hint == "" || e.Path == "" {
				t.Errorf("install: %v, want %q and a hint", err, tt.want)
			}
			if _, err := Read(f); (err == nil) != tt.fine {
				t.Errorf("read: %v", err)
			}
			after, err := os.Lstat(f.Path)
			if err != nil || after.Mode() != before.Mode() || after.Size() != before.Size() {
				t.Errorf("%v became %v (%v)", before, after, err)
			}
		})
	}
}

func TestNoPermission(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may do all")
	}
	b := newBench(t)
	path := b.put("cursor", User, twoServers)
	for _, mode := range []os.FileMode{0, 0o200} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		var e *Error
		if _, err := b.Plan(b.request("cursor", User)); !errors.As(err, &e) || !errors.Is(err, os.ErrPermission) || e.Hint == "" {
			t.Errorf("mode %v: %v", mode, err)
		}
	}
	if err := errors.Join(os.Chmod(path, 0o600), os.Chmod(filepath.Dir(path), 0o500)); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(filepath.Dir(path), 0o700)
	if _, err := b.Install(context.Background(), b.request("cursor", User)); !errors.Is(err, os.ErrPermission) || b.read(path) != twoServers {
		t.Errorf("directory without permission: %v", err)
	}
	if left := b.files(b.State); len(left) != 1 {
		t.Errorf("a failed install left %v", left)
	}
}

func TestMissingDirectory(t *testing.T) {
	b := newBench(t)
	b.Env.Home = filepath.Join(b.Env.Home, "nobody")
	var e *Error
	if _, err := b.Plan(b.request("codex", User)); !errors.As(err, &e) || !strings.Contains(err.Error(), "nobody: does not exist") || e.Hint == "" {
		t.Errorf("missing home: %v", err)
	}
	b = newBench(t)
	b.write(filepath.Join(b.Env.Home, ".codex"), "a file")
	if _, err := b.Plan(b.request("codex", User)); err == nil {
		t.Error("a file in the directory's place was taken")
	}
}

// TestFailurePutsBack fails after the first of two files was replaced.
func TestFailurePutsBack(t *testing.T) {
	b := newBench(t)
	path := b.put("claude-code", Project, twoServers)
	calls := 0
	b.step = func(step string) error {
		if step == "dirs" {
			if calls++; calls == 2 {
				return errors.New("disk full")
			}
		}
		return nil
	}
	if _, err := b.Install(context.Background(), b.request("claude-code", Project)); err == nil || err.Error() != "disk full" {
		t.Fatalf("install: %v", err)
	}
	if b.read(path) != twoServers {
		t.Errorf("not put back\n%s", b.read(path))
	}
	if diff := cmp.Diff([]string{".mcp.json"}, b.files(b.Env.Cwd)); diff != "" {
		t.Errorf("files (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]string{"lock"}, b.files(b.State)); diff != "" {
		t.Errorf("state (-want +got)\n%s", diff)
	}
}

// TestFailedReinstall keeps the way back of the install before.
func TestFailedReinstall(t *testing.T) {
	b := newBench(t)
	path := b.put("cursor", User, twoServers)
	b.install("cursor", User)
	installed := b.read(path)
	b.step = func(step string) error {
		if step == "dirs" {
			return errors.New("disk full")
		}
		return nil
	}
	r := b.request("cursor", User)
	r.Entry.Mode = Mesh
	if _, err := b.Install(context.Background(), r); err == nil || b.read(path) != installed {
		t.Fatalf("install: %v\n%s", err, b.read(path))
	}
	b.step = nil
	b.rollback("cursor", User)
	if b.read(path) != twoServers {
		t.Errorf("after rollback\n%s", b.read(path))
	}
}

func TestStalePlan(t *testing.T) {
	b := newBench(t)
	path := b.put("cursor", User, twoServers)
	c, err := b.Plan(b.request("cursor", User))
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(twoServers, "dark", "light", 1)
	b.write(path, changed)
	if err := b.Apply(context.Background(), c); !errors.Is(err, ErrChanged) || b.read(path) != changed {
		t.Errorf("apply of a stale plan: %v", err)
	}
	c, err = b.Plan(b.request("cursor", User))
	if err != nil {
		t.Fatal(err)
	}
	b.install("cursor", User)
	if err := b.Apply(context.Background(), c); !errors.Is(err, ErrChanged) {
		t.Errorf("apply after another install: %v", err)
	}
}

// TestChangedMeanwhile is a program that writes between the last plan and the rename
// ("dirs"), or that read the file before the install and writes it right after ("end").
func TestChangedMeanwhile(t *testing.T) {
	for _, at := range []string{"dirs", "end"} {
		b := newBench(t)
		path := b.put("cursor", User, twoServers)
		changed := strings.Replace(twoServers, "dark", "light", 1)
		once := sync.Once{}
		b.step = func(step string) error {
			if step == at {
				once.Do(func() { b.write(path, changed) })
			}
			return nil
		}
		b.install("cursor", User)
		if got := b.read(path); !strings.Contains(got, "light") || !strings.Contains(got, "heddle") {
			t.Errorf("%s: after install\n%s", at, got)
		}
		b.rollback("cursor", User)
		if b.read(path) != changed {
			t.Errorf("%s: after rollback\n%s", at, b.read(path))
		}
	}
}

// TestConcurrentInstalls lets twenty heddles get into one file, each under a
// name of its own.
func TestConcurrentInstalls(t *testing.T) {
	b := newBench(t)
	path := b.put("cursor", User, twoServers)
	var wg sync.WaitGroup
	errs := make([]error, 20)
	for i := range errs {
		wg.Go(func() {
			e := &Editor{Env: b.Env, State: filepath.Join(b.State, "shared"), Now: b.Now}
			errs[i] = insertUnderLock(e, path, fmt.Sprintf("other-%d", i))
		})
	}
	e := &Editor{Env: b.Env, State: filepath.Join(b.State, "shared"), Now: b.Now}
	_, err := e.Install(context.Background(), b.request("cursor", User))
	wg.Wait()
	if err := errors.Join(append(errs, err)...); err != nil {
		t.Fatal(err)
	}
	f, err := b.File("cursor", User)
	if err != nil {
		t.Fatal(err)
	}
	servers, err := Read(f)
	if err != nil || len(servers) != 22 { // notes, heddle and the twenty
		t.Errorf("%d servers (%v), want 22\n%s", len(servers), err, b.read(path))
	}
}

// insertUnderLock is a writer that keeps to the lock.
func insertUnderLock(e *Editor, path, name string) error {
	if err := os.MkdirAll(e.State, 0o700); err != nil {
		return err
	}
	release, err := lock(context.Background(), e.State)
	if err != nil {
		return err
	}
	defer release()
	now, err := load(path)
	if err != nil {
		return err
	}
	d, err := parseOr(now, jsonFormat)
	if err != nil {
		return err
	}
	out, _, err := d.add([]string{"mcpServers", name}, plainEntry("x", nil))
	if err != nil {
		return err
	}
	return replace(now.target, out.data, now, func(string) error { return nil })
}

// TestBusyFile installs into a file that another program rewrites all the time
// without any lock. Neither the file nor heddle's entry may be lost.
func TestBusyFile(t *testing.T) {
	b := newBench(t)
	path := b.put("claude-code", User, twoServers)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			case <-time.After(50 * time.Millisecond):
			}
			now, err := os.ReadFile(path)
			if err != nil {
				continue
			}
			d, err := parse(path, jsonFormat, now)
			if err != nil {
				t.Errorf("the file is broken: %v", err)
				return
			}
			out, err := d.splice(d.insertMember(d.root, len(d.root.members), fmt.Sprintf("n%d", i), text("x")))
			if err != nil {
				t.Error(err)
				return
			}
			temp := path + ".other"
			if err := errors.Join(os.WriteFile(temp, out.data, 0o600), os.Rename(temp, path)); err != nil {
				t.Error(err)
				return
			}
		}
	})
	b.install("claude-code", User)
	b.rollback("claude-code", User)
	close(stop)
	wg.Wait()
	if got := b.read(path); strings.Contains(got, "heddle") || !strings.Contains(got, weather) {
		t.Errorf("after all\n%s", got)
	}
}

func TestLockIsWaitedFor(t *testing.T) {
	b := newBench(t)
	b.put("cursor", User, twoServers)
	if err := os.Mkdir(b.State, 0o700); err != nil {
		t.Fatal(err)
	}
	release, err := lock(context.Background(), b.State)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
	defer cancel()
	_, err = b.Install(ctx, b.request("cursor", User))
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "another heddle") {
		t.Errorf("install: %v", err)
	}
	release()
	b.install("cursor", User)
}
