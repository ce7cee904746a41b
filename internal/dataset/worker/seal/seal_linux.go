package seal

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"

	"heddle/internal/dataset/protocol"
)

const (
	// beyond is what the process may allocate beyond twice the engine's own limit, which
	// does not hold for single large values: lists and strings of a gigabyte exist. It
	// counts what is reserved, of which the engine uses a half.
	beyond = 312_000_000
	// openFiles is enough for a directory that is spilled to.
	openFiles = 256
	// niceness makes the worker wait for the gateway, not the other way round.
	niceness = 5
)

// Seal seals the process, all of its threads. It is called once, before the engine is
// opened and before anything of a model is read. It returns a sentence for each part
// that this system does not have; an error means that a part which it has failed, and
// that the process must not go on.
func Seal(c protocol.Config) (lacks []string, err error) {
	// The filter goes from this thread to the others, so it must not change between.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	if err := limits(c.Memory); err != nil {
		return nil, err
	}
	yield()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("give up new privileges: %w", err)
	}
	lack, err := files(c.TempDir)
	if err != nil {
		return nil, err
	}
	lacks = append(lacks, lack...)
	lack, err = calls()
	if err != nil {
		return nil, err
	}
	return append(lacks, lack...), nil
}

func limits(memory int64) error {
	for _, l := range []struct {
		what     string
		resource int
		most     uint64
	}{
		{"memory", unix.RLIMIT_DATA, 2*uint64(memory) + beyond},
		{"core dumps", unix.RLIMIT_CORE, 0},
		{"open files", unix.RLIMIT_NOFILE, openFiles},
	} {
		var now unix.Rlimit
		if err := unix.Getrlimit(l.resource, &now); err != nil {
			return fmt.Errorf("read the limit of %s: %w", l.what, err)
		}
		most := min(l.most, now.Max)
		if err := unix.Setrlimit(l.resource, &unix.Rlimit{Cur: most, Max: most}); err != nil {
			return fmt.Errorf("limit %s: %w", l.what, err)
		}
	}
	return nil
}

// yield lowers the priority of every thread; those to come inherit it. It is a
// courtesy: where it fails, nothing is lost but smoothness.
func yield() {
	// A thread that was not lowered yet may start another meanwhile.
	for range 2 {
		tasks, _ := os.ReadDir("/proc/self/task")
		for _, task := range tasks {
			if id, err := strconv.Atoi(task.Name()); err == nil {
				_ = unix.Setpriority(unix.PRIO_PROCESS, id, niceness)
			}
		}
	}
}

// files shuts off all files but those below dir, TCP, and signals to others.
func files(dir string) (lacks []string, err error) {
	version, err := ll.LandlockGetABIVersion()
	switch {
	case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EOPNOTSUPP):
		return []string{"No Landlock (Linux 5.13 or newer, switched on at boot): files are shut off by the engine's settings alone."}, nil
	case err != nil:
		return nil, fmt.Errorf("ask for Landlock: %w", err)
	case version < 3:
		lacks = append(lacks, "Landlock of this Linux (older than 6.2) does not keep files outside from being cut short: the engine's settings alone do.")
	}
	err = landlock.V11.BestEffort().Restrict(
		landlock.RWDirs(dir),
		landlock.ROFiles(
			"/dev/urandom",      // seeds of C++ on some processors
			"/proc/self/cgroup", // the engine asks how much memory there is, and
		).IgnoreIfMissing(),
		landlock.RODirs("/sys/fs/cgroup").IgnoreIfMissing(), // does not open without an answer
	)
	if err != nil {
		return nil, fmt.Errorf("shut off files: %w", err)
	}
	return lacks, nil
}
