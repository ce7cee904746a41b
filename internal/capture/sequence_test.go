package capture

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"heddle"
	"heddle/internal/filelock"
)

// takeNumbers is what the processes of TestProcessesShareNumbers do.
func takeNumbers(dir string) {
	s := New(Options{StateDir: dir})
	for range 100 {
		c, err := s.Put(heddle.Local, listIssues, KindText, []byte("x"))
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println(c.Ref)
	}
}

func TestProcessesShareNumbers(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	dir := filepath.Join(t.TempDir(), "state") // not made yet
	var mu sync.Mutex
	seen := map[string]int{}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Env = append(os.Environ(), "HEDDLE_TEST_NUMBERS="+dir)
			out, err := cmd.Output()
			if err != nil {
				t.Errorf("%v\n%s", err, out)
			}
			mu.Lock()
			defer mu.Unlock()
			for ref := range strings.FieldsSeq(string(out)) {
				seen[ref]++
			}
		})
	}
	wg.Wait()
	if len(seen) != 400 || seen["list_issues_400"] != 1 {
		t.Errorf("400 captures got %d refs", len(seen))
	}
	wantMode(t, dir, os.ModeDir|0o700)
	wantMode(t, filepath.Join(dir, stateFile), 0o600)
}

func TestStoresShareNumbers(t *testing.T) {
	dir := t.TempDir()
	seen := map[string]bool{}
	for range 3 {
		a, b := newStore(t, Options{StateDir: dir}), newStore(t, Options{StateDir: dir})
		for _, s := range []*Store{a, b, a} {
			c := put(t, s, "x")
			if seen[c.Ref] {
				t.Errorf("%s was given twice", c.Ref)
			}
			seen[c.Ref] = true
		}
	}
	if !seen["list_issues_9"] {
		t.Errorf("refs are %v", seen)
	}
}

func TestDamagedState(t *testing.T) {
	for _, text := range []string{"", `{"names":{"list_issues":{"n":3`, `{"names":{"x":{"n":-1}}}`} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, stateFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		first := put(t, newStore(t, Options{StateDir: dir}), "x")
		_, n, _ := splitRef(first.Ref)
		if n < 1_000_000 {
			t.Errorf("after a damaged state: %s", first.Ref)
		}
		if second := put(t, newStore(t, Options{StateDir: dir}), "x"); second.Ref != ref("list_issues", n+1) {
			t.Errorf("after %s: %s", first.Ref, second.Ref)
		}
	}
}

func TestLockedState(t *testing.T) {
	dir, clk := t.TempDir(), newClock()
	lock, err := filelock.Try(filepath.Join(dir, stateLock))
	if err != nil {
		t.Fatal(err)
	}
	s := newStore(t, Options{StateDir: dir, Now: clk.Now})
	before := time.Now()
	for range 3 { // only the first waits
		if _, n, _ := splitRef(put(t, s, "x").Ref); n < 1_000_000 {
			t.Errorf("number %d while another holds the lock", n)
		}
	}
	if d := time.Since(before); d > 4*lockWait {
		t.Errorf("waited for %v", d)
	}
	lock.Unlock()
	clk.Add(stateRetry)
	if c := put(t, s, "x"); c.Ref != "list_issues_1" {
		t.Errorf("once the lock is free: %s", c.Ref)
	}
}

func TestStateIsBounded(t *testing.T) {
	st := &state{Names: map[string]given{}}
	p := heddle.Local
	last := map[string]int64{}
	for i := range 3 * namesMost {
		name := fmt.Sprintf("t%d", i%(namesMost+7))
		n := st.take(name, listIssues, p)
		if n <= last[name] {
			t.Fatalf("%s: %d after %d", name, n, last[name])
		}
		last[name] = n
	}
	if len(st.Names) > namesMost {
		t.Errorf("%d names", len(st.Names))
	}
}

func TestEarlierToolOnlyIfItIsOne(t *testing.T) {
	dir := t.TempDir()
	s := newStore(t, Options{StateDir: dir})
	put(t, s, "x")
	if _, err := s.Put(heddle.Local, heddle.ToolRef{Server: "gitlab", Name: "list_issues"}, KindText, nil); err != nil {
		t.Fatal(err)
	}
	put(t, s, "x")
	_, err := newStore(t, Options{StateDir: dir}).Get(heddle.Local, "list_issues_1")
	wantGone(t, err, "earlier heddle", "call its tool again")
	_, err = newStore(t, Options{StateDir: dir}).Get(heddle.Local, "list_issues_4")
	wantGone(t, err, "No result has this name")
}

// A name that another heddle gave is not said to have ended with it: that may run.
func TestNamesOfAnotherHeddle(t *testing.T) {
	dir := t.TempDir()
	ours, theirs := newStore(t, Options{StateDir: dir}), newStore(t, Options{StateDir: dir})
	_, err := ours.Get(heddle.Local, "list_issues_1")
	wantGone(t, err, "No result has this name")
	ref := put(t, theirs, "x").Ref // since we looked
	_, err = ours.Get(heddle.Local, ref)
	wantGone(t, err, ref+" is not held by this heddle", "serves another host", "call github::list_issues again")
	_, err = ours.Get("other", ref)
	_, none := ours.Get("other", "list_issues_777")
	if err.Error() != none.Error() {
		t.Errorf("another principal is told %q and %q", err, none)
	}
	// Where several principals have the name, neither is told of the other's numbers.
	if _, err := theirs.Put("other", listIssues, KindText, nil); err != nil {
		t.Fatal(err)
	}
	for _, p := range []heddle.Principal{heddle.Local, "other"} {
		_, err = ours.Get(p, "list_issues_2")
		wantGone(t, err, "No result has this name")
	}
}
