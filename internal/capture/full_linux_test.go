package capture

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"

	"heddle"
)

const fullDisk = "HEDDLE_TEST_FULL"

// TestFullDisk runs itself in a process whose files may not be over 100 kB: a
// write then stops in the middle, as on a full disk.
func TestFullDisk(t *testing.T) {
	if os.Getenv(fullDisk) == "" {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestFullDisk$", "-test.v")
		cmd.Env = append(os.Environ(), fullDisk+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	signal.Ignore(syscall.SIGXFSZ)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 100_000, Max: 100_000}); err != nil {
		t.Skip(err)
	}
	s := newStore(t, Options{Memory: 500_000})
	a, b := put(t, s, noise(200_000, 1)), put(t, s, noise(200_000, 2))
	before := s.Stats()
	if _, err := s.Put(heddle.Local, listIssues, KindText, []byte(noise(300_000, 3))); !errors.Is(err, syscall.EFBIG) {
		t.Fatalf("Put: %v", err)
	}
	if _, err := s.Put(heddle.Local, listIssues, KindText, []byte(noise(600_000, 4))); !errors.Is(err, syscall.EFBIG) {
		t.Fatalf("Put of more than the memory: %v", err)
	}
	if after := s.Stats(); after != before {
		t.Errorf("failed Puts changed %+v to %+v", before, after)
	}
	if list, err := os.ReadDir(s.spill.dir); err != nil || len(list) != 1 || list[0].Name() != spillLock {
		t.Errorf("%v, %v are left in the directory", list, err)
	}
	for _, c := range []*Capture{a, b, put(t, s, noise(90_000, 5))} {
		if got, err := c.Bytes(); err != nil || int64(len(got)) != c.Size {
			t.Errorf("%s: %d bytes, %v", c.Ref, len(got), err)
		}
	}
}
