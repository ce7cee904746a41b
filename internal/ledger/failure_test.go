package ledger

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"heddle"
)

// child is the program of a writing process: it writes rows and ends in order.
func child(spec string) int {
	f := strings.Split(spec, ",")
	n, err := strconv.Atoi(f[1])
	if err != nil {
		return 2
	}
	l := New(Options{Path: f[0], Logger: slog.New(slog.NewTextHandler(os.Stderr, nil))})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- l.Run(ctx) }()
	l.Session(SessionRow{ID: f[2]})
	for i := range n {
		l.End(l.Begin(&heddle.Call{Session: f[2], Tool: "t" + strconv.Itoa(i)}))
		if i%100 == 0 {
			time.Sleep(30 * time.Millisecond) // several transactions a process
		}
	}
	// What an exit does within its two seconds depends on how busy the machine is.
	for deadline := time.Now().Add(time.Minute); l.Flush(ctx) != nil && time.Now().Before(deadline); {
	}
	cancel()
	<-ended
	if l.Dropped() != 0 || l.Written() != uint64(n)+1 {
		fmt.Fprintln(os.Stderr, "written", l.Written(), "dropped", l.Dropped())
		return 1
	}
	return 0
}

// TestProcesses: several heddles that start at once, on a file that does not
// exist yet, lose nothing.
func TestProcesses(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	const procs, rows = 4, 1000
	path := filepath.Join(t.TempDir(), "new", "ledger.db")
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var cmds [procs]*exec.Cmd
	var out [procs]bytes.Buffer
	for i := range cmds {
		cmds[i] = exec.CommandContext(t.Context(), exe)
		cmds[i].Env = append(os.Environ(), fmt.Sprintf("%s=%s,%d,p%d", childEnv, path, rows, i))
		cmds[i].Stderr = &out[i]
		if err := cmds[i].Start(); err != nil {
			t.Fatal(err)
		}
	}
	for i, cmd := range cmds {
		if err := cmd.Wait(); err != nil {
			t.Errorf("process %d: %v: %s", i, err, &out[i])
		}
	}
	calls, err := reader(t, path).Calls(t.Context(), 10*procs*rows)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[[2]string]bool{}
	for _, c := range calls {
		seen[[2]string{c.Session, c.Tool}] = true
	}
	if len(calls) != procs*rows || len(seen) != procs*rows {
		t.Errorf("got %d rows, %d distinct; want %d", len(calls), len(seen), procs*rows)
	}
	if got := totals(t, path).Sessions; got != procs {
		t.Errorf("sessions: got %d, want %d", got, procs)
	}
}

// raw opens the file beside the ledger, as another program would.
func raw(t *testing.T, path string) *sql.Conn {
	t.Helper()
	if err := create(path); err != nil {
		t.Fatal(err)
	}
	db, conn, err := connect(t.Context(), path, "rw")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(); db.Close() })
	return conn
}

func mustExec(t *testing.T, c *sql.Conn, query string) {
	t.Helper()
	if _, err := c.ExecContext(context.WithoutCancel(t.Context()), query); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

// TestLeftAlone: a file that is not ours to write stays as it is, byte for byte,
// and that is said once.
func TestLeftAlone(t *testing.T) {
	database := func(query string) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			c := raw(t, path)
			mustExec(t, c, query)
			c.Close()
		}
	}
	for _, test := range []struct {
		name string
		make func(t *testing.T, path string)
		want string
	}{
		{"newer", database(`PRAGMA application_id = 0x68656464; PRAGMA user_version = 99; CREATE TABLE x (y)`), "newer heddle"},
		{"foreign", database(`CREATE TABLE x (y)`), "another program"},
		{"foreign id", database(`PRAGMA application_id = 7; PRAGMA user_version = 1`), "another program"},
		{"corrupt", func(t *testing.T, path string) {
			if err := os.WriteFile(path, bytes.Repeat([]byte("not a database\n"), 1000), 0o600); err != nil {
				t.Fatal(err)
			}
		}, "not a database"},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "ledger.db")
			test.make(t, path)
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			l := start(t, Options{Path: path}, "")
			for range 3 {
				l.calls(10)
				if err := l.Flush(t.Context()); err == nil {
					t.Error("Flush succeeded")
				}
			}
			l.stop()
			checkCounts(t, l.Ledger, 0, 30)
			after, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(before, after) {
				t.Error("the file was changed")
			}
			checkLog(t, l, test.want)
		})
	}
}

// checkLog wants exactly one line, with the text in it.
func checkLog(t *testing.T, l *running, want string) {
	t.Helper()
	got := l.logs.String()
	if strings.Count(got, "\n") != 1 || !strings.Contains(got, want) {
		t.Errorf("log: got %q, want one line with %q", got, want)
	}
}

// TestMigratedWhileOpen: a newer heddle changes the file under our feet.
func TestMigratedWhileOpen(t *testing.T) {
	l := start(t, Options{}, "")
	l.calls(5)
	l.mustFlush()
	mustExec(t, raw(t, l.path), `PRAGMA user_version = 99`)
	l.calls(5)
	if err := l.Flush(t.Context()); !errors.Is(err, errNewer) {
		t.Errorf("Flush: got %v, want %v", err, errNewer)
	}
	checkCounts(t, l.Ledger, 5, 5)
}

// TestDamaged: a ledger with broken pages is left, and its rows are dropped.
func TestDamaged(t *testing.T) {
	l := start(t, Options{}, "")
	l.calls(2000)
	l.stop()
	f, err := os.OpenFile(l.path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	const page = 4096
	if _, err := f.WriteAt(bytes.Repeat([]byte{0xff}, int(info.Size()-page)), page); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	again := start(t, Options{Path: l.path}, "")
	for range 2 {
		again.calls(10)
		if err := again.Flush(t.Context()); classify(err).cause != "corrupt" {
			t.Errorf("Flush: got %v, want a corrupt file", err)
		}
	}
	checkCounts(t, again.Ledger, 0, 20)
	checkLog(t, again, "left as it is")
}

// TestDiscard: an error that no waiting mends costs its batch, not the ledger.
func TestDiscard(t *testing.T) {
	l := start(t, Options{}, "")
	l.calls(1)
	l.mustFlush()
	other := raw(t, l.path)
	mustExec(t, other, `ALTER TABLE calls RENAME TO elsewhere`)
	l.calls(2)
	if err := l.Flush(t.Context()); classify(err).fate != discard {
		t.Errorf("Flush: got %v, want an error of SQL", err)
	}
	checkCounts(t, l.Ledger, 1, 2)
	mustExec(t, other, `ALTER TABLE elsewhere RENAME TO calls`)
	l.calls(4)
	l.mustFlush()
	checkCounts(t, l.Ledger, 5, 2)
	checkLog(t, l, "did not take rows")
}

// TestRecovery: a file that was in the way and is taken away is looked at again.
func TestRecovery(t *testing.T) {
	c := newClock()
	l := start(t, Options{Now: c.now}, "")
	if err := os.MkdirAll(filepath.Dir(l.path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(l.path, bytes.Repeat([]byte("x"), 4096), 0o600); err != nil {
		t.Fatal(err)
	}
	l.calls(1)
	if err := l.Flush(t.Context()); err == nil {
		t.Error("Flush into a corrupt file succeeded")
	}
	if err := os.Remove(l.path); err != nil {
		t.Fatal(err)
	}
	c.advance(refuseFor)
	l.calls(1)
	l.mustFlush()
	checkCounts(t, l.Ledger, 1, 1)
}

// TestLocked: rows wait for a lock to go away, and calls do not.
func TestLocked(t *testing.T) {
	l := start(t, Options{}, "")
	l.calls(10)
	l.mustFlush()
	other := raw(t, l.path)
	mustExec(t, other, "BEGIN EXCLUSIVE")
	began := time.Now()
	l.calls(1000)
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("1,000 calls took %v", took)
	}
	if err := l.Flush(t.Context()); classify(err).fate != retrySoon {
		t.Errorf("Flush: got %v, want a lock", err)
	}
	checkCounts(t, l.Ledger, 10, 0)
	mustExec(t, other, "ROLLBACK")
	l.mustFlush()
	checkCounts(t, l.Ledger, 1010, 0)
	if got := l.logs.String(); got != "" {
		t.Errorf("a short wait was logged: %s", got)
	}
}

// TestLockedAtExit: a lock that stays is said once, and the end of heddle waits
// for nobody for long.
func TestLockedAtExit(t *testing.T) {
	c := newClock()
	l := start(t, Options{Now: c.now}, "")
	l.calls(10)
	l.mustFlush()
	mustExec(t, raw(t, l.path), "BEGIN EXCLUSIVE")
	l.calls(1000)
	for range 3 {
		if err := l.Flush(t.Context()); err == nil {
			t.Error("Flush under a lock succeeded")
		}
		c.advance(lockPatience)
	}
	checkLog(t, l, "locked")
	began := time.Now()
	l.stop()
	if took := time.Since(began); took > drainFor+2*time.Second {
		t.Errorf("the exit took %v", took)
	}
	checkCounts(t, l.Ledger, 10, 1000)
}

// TestDiskFull: rows wait, then are dropped; what was written stays whole.
func TestDiskFull(t *testing.T) {
	l := start(t, Options{Queue: 3000}, "PRAGMA max_page_count = 60;")
	for range 10 {
		l.calls(500)
		if err := l.Flush(t.Context()); err != nil && classify(err).cause != "disk full" {
			t.Errorf("Flush: %v", err)
		}
	}
	l.stop()
	written, dropped := l.counts()
	if written == 0 || dropped == 0 || written+dropped != 5000 {
		t.Errorf("got %d written, %d dropped; want some of both, 5000 in all", written, dropped)
	}
	checkLog(t, l, "rows wait")

	again := start(t, Options{Path: l.path}, "")
	again.calls(10)
	again.mustFlush()
	if got, want := totals(t, l.path).Calls, int64(written)+10; got != want {
		t.Errorf("calls: got %d, want %d", got, want)
	}
	var check string
	if err := raw(t, l.path).QueryRowContext(t.Context(), "PRAGMA integrity_check").Scan(&check); err != nil || check != "ok" {
		t.Errorf("integrity: %q, %v", check, err)
	}
}

// TestNoDirectory: where the file cannot be, rows wait until it can.
func TestNoDirectory(t *testing.T) {
	dir := t.TempDir()
	blocker := filepath.Join(dir, "state")
	if err := os.WriteFile(blocker, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	l := start(t, Options{Path: filepath.Join(blocker, "ledger.db"), Queue: 20}, "")
	l.calls(30)
	for range 2 {
		if err := l.Flush(t.Context()); classify(err).fate != retryLater {
			t.Errorf("Flush: got %v, want a failure to try again", err)
		}
	}
	checkCounts(t, l.Ledger, 0, 10)
	checkLog(t, l, "cannot be written")
	if err := os.Remove(blocker); err != nil {
		t.Fatal(err)
	}
	l.mustFlush()
	checkCounts(t, l.Ledger, 20, 10)
}

// TestProblemIsSaidUntilRowsAreWritten: what stands in the way, and not a moment
// longer than it does.
func TestProblemIsSaidUntilRowsAreWritten(t *testing.T) {
	for _, test := range []struct {
		name  string
		block func(t *testing.T, path string) (unblock func())
		want  string
	}{
		{"locked", func(t *testing.T, path string) func() {
			other := raw(t, path)
			mustExec(t, other, "BEGIN EXCLUSIVE")
			return func() { mustExec(t, other, "ROLLBACK") }
		}, "locked"},
		{"corrupt", func(t *testing.T, path string) func() {
			if err := os.WriteFile(path, bytes.Repeat([]byte("x"), 4096), 0o600); err != nil {
				t.Fatal(err)
			}
			return func() { _ = os.Remove(path) }
		}, "not a database"},
		{"foreign", func(t *testing.T, path string) func() {
			c := raw(t, path)
			mustExec(t, c, `CREATE TABLE x (y)`)
			c.Close()
			return func() { _ = os.Remove(path) }
		}, "another program"},
		{"a directory in its place", func(t *testing.T, path string) func() {
			if err := os.Mkdir(path, 0o700); err != nil {
				t.Fatal(err)
			}
			return func() { _ = os.Remove(path) }
		}, "open ledger"},
		{"read-only directory", func(t *testing.T, path string) func() {
			if os.Geteuid() == 0 {
				t.Skip("nothing is read-only for root")
			}
			_ = os.Chmod(filepath.Dir(path), 0o500)
			return func() { _ = os.Chmod(filepath.Dir(path), 0o700) }
		}, "permission denied"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newClock()
			l := start(t, Options{Path: filepath.Join(t.TempDir(), "ledger.db"), Now: c.now}, "")
			if got := l.Problem(); got != "" {
				t.Errorf("before the first row: %q", got)
			}
			unblock := test.block(t, l.path)
			for range 2 {
				l.calls(1)
				if err := l.Flush(t.Context()); err == nil {
					t.Error("Flush succeeded")
				}
				if got := l.Problem(); !strings.Contains(got, test.want) {
					t.Errorf("got %q, want one that says %q", got, test.want)
				}
			}
			unblock()
			c.advance(refuseFor)
			l.calls(1)
			l.mustFlush()
			if got := l.Problem(); got != "" {
				t.Errorf("after rows were written: %q", got)
			}
		})
	}
}

func TestReadOnly(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("nothing is read-only for root")
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	l := start(t, Options{Path: filepath.Join(dir, "ledger.db")}, "")
	l.calls(10)
	if err := l.Flush(t.Context()); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("Flush: got %v, want %v", err, fs.ErrPermission)
	}
	l.stop()
	checkCounts(t, l.Ledger, 0, 10)
	checkLog(t, l, "cannot be written")
}

// TestReplaced: rows never go into a file that was deleted.
func TestReplaced(t *testing.T) {
	l := start(t, Options{}, "")
	l.calls(3)
	l.mustFlush()
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(l.path + suffix); err != nil {
			t.Skipf("open files cannot be removed here: %v", err)
		}
	}
	l.calls(4)
	l.mustFlush()
	if got := totals(t, l.path).Calls; got != 4 {
		t.Errorf("calls: got %d, want 4", got)
	}
}

func TestReaderNotExist(t *testing.T) {
	_, err := OpenReader(t.Context(), filepath.Join(t.TempDir(), "ledger.db"))
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want %v", err, fs.ErrNotExist)
	}
}

// TestPathSpelling: no character of a path may be taken for a part of SQLite's
// address.
func TestPathSpelling(t *testing.T) {
	l := start(t, Options{Path: filepath.Join(t.TempDir(), "a b%20c#d&mode=ro é", "ledger.db")}, "")
	l.calls(2)
	l.mustFlush()
	if _, err := os.Stat(l.path); err != nil {
		t.Error(err)
	}
	if got := totals(t, l.path).Calls; got != 2 {
		t.Errorf("calls: got %d, want 2", got)
	}
}
