package hostfile

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// ticking lets each look at the clock of a bench be a second later.
func (b bench) ticking() bench {
	at := b.Now()
	b.Now = func() time.Time { at = at.Add(time.Second); return at }
	return b
}

// TestRollbackKeepsABackup wants the file as it was before heddle on the disk, private,
// and the change to say where.
func TestRollbackKeepsABackup(t *testing.T) {
	b := newBench(t).ticking()
	b.put("cursor", User, twoServers)
	b.install("cursor", User)
	c := b.rollback("cursor", User)
	if len(c.Backups) != 1 || b.read(c.Backups[0]) != twoServers {
		t.Fatalf("backups %q", c.Backups)
	}
	info, err := os.Stat(c.Backups[0])
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v (%v), want 0600", info.Mode(), err)
	}
}

// TestBackupsAreBounded installs and rolls back often.
func TestBackupsAreBounded(t *testing.T) {
	b := newBench(t).ticking()
	path := b.put("cursor", User, twoServers)
	var last *Change
	for i := range keptAside + 3 {
		b.write(path, strings.Replace(twoServers, "dark", strings.Repeat("x", i+1), 1))
		b.install("cursor", User)
		last = b.rollback("cursor", User)
	}
	records, originals := 0, 0
	for _, name := range b.files(b.State) {
		switch filepath.Ext(name) {
		case ".json":
			records++
		case ".orig":
			originals++
		}
	}
	if records != keptAside || originals != keptAside {
		t.Errorf("%d records and %d originals are kept, want %d", records, originals, keptAside)
	}
	if !exists(last.Backups[0]) {
		t.Error("the latest backup is gone")
	}
}

// TestRollbackAgain rolls back what a host wrote from memory after the first rollback.
func TestRollbackAgain(t *testing.T) {
	for name, stale := range map[string]func(string) string{
		"as it was":       func(s string) string { return s },
		"with its own":    func(s string) string { return strings.Replace(s, `"dark"`, `"light"`, 1) },
		"in another form": func(s string) string { return rewrite(t, stripComments(s), func(map[string]any) {}) },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t).ticking()
			path := b.put("claude-code", User, twoServers)
			b.install("claude-code", User)
			memory := b.read(path)
			b.rollback("claude-code", User)
			b.write(path, stale(memory))
			c := b.rollback("claude-code", User)
			if got := b.read(path); !strings.Contains(got, `"weather"`) || strings.Contains(got, `"heddle"`) {
				t.Errorf("after the second rollback:\n%s", got)
			}
			if !slices.Equal(c.Restored, []string{"weather"}) {
				t.Errorf("restored %q", c.Restored)
			}
			if len(c.Notes) == 0 || !strings.Contains(c.Notes[0], "from memory") {
				t.Errorf("notes %q", c.Notes)
			}
			if _, err := b.Rollback(context.Background(), "claude-code", User); err == nil {
				t.Error("a third rollback found something")
			}
		})
	}
}

func stripComments(s string) string { return strings.Replace(s, "// the weather\n", "\n", 1) }

// TestRollbackNamesTheBackup has heddle put back by hand in another way: the servers
// that it replaced once can still be found.
func TestRollbackNamesTheBackup(t *testing.T) {
	b := newBench(t).ticking()
	path := b.put("cursor", User, twoServers)
	b.install("cursor", User)
	b.rollback("cursor", User)
	b.write(path, `{"mcpServers": {"heddle": {"command": "heddle", "args": ["start"]}}}`)
	_, err := b.Rollback(context.Background(), "cursor", User)
	e, ok := err.(*Error)
	if !ok {
		t.Fatalf("rollback: %v", err)
	}
	_, original, _ := strings.Cut(e.Hint, "is kept as ")
	if got := b.read(original); got != twoServers {
		t.Errorf("hint %q names a file with %q", e.Hint, got)
	}
}

// TestRollbackSeesTheHostWrite has a host write its file from memory in the very moment
// of the rollback: it is rolled back again at once.
func TestRollbackSeesTheHostWrite(t *testing.T) {
	b := newBench(t).ticking()
	path := b.put("claude-code", User, twoServers)
	b.install("claude-code", User)
	memory, wrote := b.read(path), false
	b.step = func(at string) error {
		if at == "end" && !wrote {
			wrote = true
			b.write(path, memory)
		}
		return nil
	}
	b.rollback("claude-code", User)
	if got := b.read(path); !wrote || got != twoServers {
		t.Errorf("after rollback (written in between: %v)\n%s", wrote, got)
	}
}

// TestUninstallSaysWhereTheOriginalIs wants the path that a refused rollback names to
// have a successor that is named too.
func TestUninstallSaysWhereTheOriginalIs(t *testing.T) {
	b := newBench(t).ticking()
	b.put("cursor", User, twoServers)
	b.install("cursor", User)
	c, err := b.Uninstall(context.Background(), "cursor", User)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Backups) != 1 || b.read(c.Backups[0]) != twoServers {
		t.Errorf("backups %q", c.Backups)
	}
}
