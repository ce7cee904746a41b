package capture

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"heddle"
)

func TestMemoryThenDiskThenGone(t *testing.T) {
	clk := newClock()
	s := newStore(t, Options{Memory: 250_000, Disk: 250_000, Now: clk.Now})
	var all []*Capture
	for i := range 4 {
		all = append(all, put(t, s, noise(100_000, uint64(i))))
		clk.Add(time.Minute)
	}
	if st := s.Stats(); st.Captures != 4 || st.Memory != 200_000 || st.Disk != 200_000 || st.Spilled != 2 || st.Evicted != 0 || st.Raw != 400_000 {
		t.Fatalf("%+v", st)
	}
	// The first is used, so the second goes.
	if _, err := s.Get(heddle.Local, all[0].Ref); err != nil {
		t.Fatal(err)
	}
	clk.Add(time.Minute)
	put(t, s, noise(100_000, 9))
	if _, err := s.Get(heddle.Local, all[1].Ref); heddle.KindOf(err) != heddle.KindResultExpired {
		t.Errorf("the least recently used is still there: %v", err)
	}
	for _, i := range []int{0, 2, 3} {
		if b, err := all[i].Bytes(); err != nil || string(b) != noise(100_000, uint64(i)) {
			t.Errorf("capture %d: %d bytes, %v", i, len(b), err)
		}
	}
	if st := s.Stats(); st.Evicted != 1 || st.Spilled != 3 {
		t.Errorf("%+v", st)
	}
}

// What few reads are expected of takes no memory, and is all there.
func TestChill(t *testing.T) {
	s := newStore(t, Options{})
	c := put(t, s, noise(100_000, 1))
	s.Chill(c)
	s.Chill(c) // no harm
	if st := s.Stats(); st.Captures != 1 || st.Memory != 0 || st.Disk != 100_000 {
		t.Errorf("after Chill: %+v", st)
	}
	if b, err := c.Bytes(); err != nil || string(b) != noise(100_000, 1) {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	none := newStore(t, Options{Disk: -1})
	d := put(t, none, noise(100_000, 2))
	none.Chill(d)
	if b, err := d.Bytes(); err != nil || string(b) != noise(100_000, 2) {
		t.Errorf("without a disk: %d bytes, %v", len(b), err)
	}
}

func TestWhatIsOldestGoesEvenFromMemory(t *testing.T) {
	clk := newClock()
	s := newStore(t, Options{Memory: 250_000, Disk: 150_000, Now: clk.Now})
	a, b, c := put(t, s, noise(100_000, 1)), put(t, s, noise(100_000, 2)), put(t, s, noise(100_000, 3)) // a is on disk
	clk.Add(time.Minute)
	if _, err := s.Get(heddle.Local, a.Ref); err != nil {
		t.Fatal(err)
	}
	put(t, s, noise(100_000, 4))
	for _, c := range []*Capture{a, c} {
		if _, err := s.Get(heddle.Local, c.Ref); err != nil {
			t.Error(err)
		}
	}
	if _, err := s.Get(heddle.Local, b.Ref); err == nil {
		t.Error("the oldest, in memory, is still there")
	}
}

func TestTTLBitesUnderPressureOnly(t *testing.T) {
	clk := newClock()
	s := newStore(t, Options{Memory: 250_000, Disk: -1, TTL: time.Hour, Now: clk.Now})
	a, b := put(t, s, noise(100_000, 1)), put(t, s, noise(100_000, 2))
	clk.Add(24 * time.Hour)
	if _, err := s.Get(heddle.Local, a.Ref); err != nil { // expired long ago, but there is room
		t.Fatal(err)
	}
	put(t, s, noise(100_000, 3))
	if _, err := s.Get(heddle.Local, b.Ref); err == nil {
		t.Error("what expired is still there, under pressure")
	}
	// Nothing else has expired: the new one is refused and nothing is lost.
	before := s.Stats()
	if _, err := s.Put(heddle.Local, listIssues, KindText, []byte(noise(100_000, 4))); err == nil {
		t.Error("Put found room where none was")
	}
	if after := s.Stats(); after != before {
		t.Errorf("a failed Put changed %+v to %+v", before, after)
	}
	if _, err := s.Get(heddle.Local, a.Ref); err != nil {
		t.Error(err)
	}
}

func TestInUseIsNotEvicted(t *testing.T) {
	clk := newClock()
	s := newStore(t, Options{Memory: 1, Disk: 250_000, Now: clk.Now})
	a := put(t, s, noise(100_000, 1))
	r, err := a.Reader()
	if err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		clk.Add(2 * time.Hour)
		put(t, s, noise(100_000, uint64(10+i)))
	}
	got, err := io.ReadAll(r)
	if err != nil || string(got) != noise(100_000, 1) {
		t.Errorf("read %d bytes, %v", len(got), err)
	}
	r.Close()
	put(t, s, noise(100_000, 20))
	put(t, s, noise(100_000, 21))
	if _, err := a.Hold(); heddle.KindOf(err) != heddle.KindResultExpired {
		t.Errorf("after the reader: %v", err)
	}
}

func TestReadWhileEvictedAndClosed(t *testing.T) {
	s := newStore(t, Options{Memory: 300_000, Disk: 600_000})
	var wg sync.WaitGroup
	for g := range 6 {
		wg.Go(func() {
			for i := range 30 {
				want := noise(30_000+1000*g, uint64(100*g+i))
				c, err := s.Put(heddle.Local, listIssues, KindText, []byte(want))
				if err != nil {
					if heddle.KindOf(err) != heddle.KindInternal {
						t.Error(err)
					}
					continue
				}
				for range 3 {
					got, err := c.Bytes()
					if err == nil && string(got) != want || err != nil && heddle.KindOf(err) != heddle.KindResultExpired {
						t.Errorf("%s: %d bytes, %v", c.Ref, len(got), err)
					}
				}
				s.Stats()
				if g == 0 && i == 25 {
					s.Close()
				}
			}
		})
	}
	wg.Wait()
}

func TestSpillDirectoryIsPrivateAndGoes(t *testing.T) {
	tmp := t.TempDir()
	s := newStore(t, Options{Memory: 1, Disk: 1 << 20, TempDir: tmp})
	if list, _ := os.ReadDir(tmp); len(list) != 0 {
		t.Error("the directory is made before it is needed")
	}
	c := put(t, s, logText(1000))
	dirs, _ := filepath.Glob(filepath.Join(tmp, spillPrefix+"*"))
	if len(dirs) != 1 {
		t.Fatalf("%d directories", len(dirs))
	}
	wantMode(t, dirs[0], os.ModeDir|0o700)
	files, _ := os.ReadDir(dirs[0])
	if len(files) != 2 { // one is the owner's lock
		t.Errorf("%d files", len(files))
	}
	for _, f := range files {
		wantMode(t, filepath.Join(dirs[0], f.Name()), 0o600)
	}
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Error(err)
	}
	if list, _ := os.ReadDir(tmp); len(list) != 0 {
		t.Errorf("%d entries are left", len(list))
	}
	_, err := c.Page("", 100)
	wantGone(t, err)
	if _, err := s.Put(heddle.Local, listIssues, KindText, []byte("x")); !errors.Is(err, errClosed) {
		t.Errorf("Put into a closed store: %v", err)
	}
}

func wantMode(t *testing.T, path string, want os.FileMode) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if os.PathSeparator == '/' && info.Mode() != want {
		t.Errorf("%s has mode %v, want %v", path, info.Mode(), want)
	}
}

func TestDirectoriesOfTheDeadGo(t *testing.T) {
	tmp := t.TempDir()
	old := time.Now().Add(-time.Hour)
	live := newStore(t, Options{Memory: 1, Disk: 1 << 20, TempDir: tmp})
	put(t, live, "xx")
	for _, dir := range []string{live.spill.dir, filepath.Join(tmp, spillPrefix+"dead"), filepath.Join(tmp, "other")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "7.zst"), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(dir, old, old); err != nil {
			t.Fatal(err)
		}
	}
	put(t, newStore(t, Options{Memory: 1, Disk: 1 << 20, TempDir: tmp}), "yy")
	for dir, there := range map[string]bool{live.spill.dir: true, filepath.Join(tmp, spillPrefix+"dead"): false, filepath.Join(tmp, "other"): true} {
		if _, err := os.Stat(dir); (err == nil) != there {
			t.Errorf("%s is there: %v, want %v", dir, err == nil, there)
		}
	}
}

func TestNoDisk(t *testing.T) {
	// A file where the directory should be fails for root too.
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var logged bytes.Buffer
	s := newStore(t, Options{Memory: 250_000, TempDir: file, StateDir: file, Logger: slog.New(slog.NewTextHandler(&logged, nil))})
	a, b := put(t, s, noise(100_000, 1)), put(t, s, noise(100_000, 2))
	for range 3 {
		if _, err := s.Put(heddle.Local, listIssues, KindText, []byte(noise(100_000, 3))); heddle.KindOf(err) != heddle.KindInternal {
			t.Fatalf("Put without room: %v", err)
		}
	}
	for _, c := range []*Capture{a, b} {
		if _, err := c.Bytes(); err != nil {
			t.Error(err)
		}
	}
	_, n, ok := splitRef(a.Ref)
	if !ok || n < 1_000_000 {
		t.Errorf("without a state the first ref is %s", a.Ref)
	}
	if n := strings.Count(logged.String(), "\n"); n != 2 { // one about numbers, one about the disk
		t.Errorf("%d lines are logged:\n%s", n, &logged)
	}
}

func TestDamagedFile(t *testing.T) {
	for name, damage := range map[string]func(path string) error{
		"truncated": func(p string) error { return os.Truncate(p, 50_000) },
		"removed":   os.Remove,
		"changed": func(p string) error {
			b, err := os.ReadFile(p)
			if err == nil {
				b[len(b)/2] ^= 1
				err = os.WriteFile(p, b, 0o600)
			}
			return err
		},
	} {
		for kind, text := range map[string]string{"compressed": logText(1_000_000), "raw": noise(chunkSize, 1)} {
			s := newStore(t, Options{Memory: 1, Disk: 1 << 20})
			c := put(t, s, text)
			if err := damage(c.file); err != nil {
				t.Fatal(err)
			}
			b, err := c.Bytes()
			if b != nil {
				t.Errorf("%s, %s: %d bytes of garbage", name, kind, len(b))
			}
			wantGone(t, err, c.Ref+" can no longer be read", "call github::list_issues again")
			if g := (*Gone)(nil); !errors.As(err, &g) || g.Tool != listIssues || g.Ref != c.Ref {
				t.Errorf("%s, %s: the cause is %v, want one that names the tool", name, kind, err)
			}
			put(t, s, "more") // also where the directory has lost files
		}
	}
}

func TestSpillDirectoryThatIsCleanedUp(t *testing.T) {
	s := newStore(t, Options{Memory: 1, Disk: 1 << 20})
	put(t, s, "x")
	if err := os.RemoveAll(s.spill.dir); err != nil {
		t.Fatal(err)
	}
	if b, err := put(t, s, "y").Bytes(); err != nil || string(b) != "y" {
		t.Errorf("%q, %v", b, err)
	}
}
