package quarantine

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
)

const limited = "HEDDLE_TEST_QUARANTINE_LIMITED"

// TestFullDisk runs itself in a process whose files may not be over 100 kB: a write then
// stops in the middle, as on a full disk.
func TestFullDisk(t *testing.T) {
	if os.Getenv(limited) == "" {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestFullDisk$", "-test.v")
		cmd.Env = append(os.Environ(), limited+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	signal.Ignore(syscall.SIGXFSZ)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 100_000, Max: 100_000}); err != nil {
		t.Skip(err)
	}
	s, _ := newStore(t, Options{})
	id := put(t, s, "alice", "text")
	if id, err := s.Put(Item{}, make([]byte, 200_000)); !errors.Is(err, syscall.EFBIG) || id != "" {
		t.Errorf("%q, %v", id, err)
	}
	checkFiles(t, s, 1)
	if _, raw, err := s.Get(id); err != nil || string(raw) != "text" {
		t.Errorf("%q, %v", raw, err)
	}
}
