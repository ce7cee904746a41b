//go:build amd64 || arm64

package seal

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"heddle/internal/dataset/protocol"
)

// children are what runs in a process of its own: before the seal, a child may
// prepare; what it returns runs after it.
var children = map[string]func(dir string) func() error{
	"files":     tryFiles,
	"sockets":   trySockets,
	"programs":  tryPrograms,
	"processes": tryProcesses,
	"calls":     tryCalls,
	"memory":    tryMemory,
	"threads":   tryThreads,
}

const memory = 200_000_000

func TestMain(m *testing.M) {
	name, dir := os.Getenv("SEAL_CHILD"), os.Getenv("SEAL_DIR")
	if name == "" {
		os.Exit(m.Run())
	}
	after := children[name](dir)
	lacks, err := Seal(protocol.Config{Memory: memory, TempDir: dir})
	for _, lack := range lacks {
		fmt.Println("lacks:", lack)
	}
	if err == nil {
		err = after()
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	os.Exit(0)
}

func TestSeal(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	for name := range children {
		t.Run(name, func(t *testing.T) {
			child := exec.CommandContext(t.Context(), os.Args[0])
			child.Env = append(os.Environ(), "SEAL_CHILD="+name, "SEAL_DIR="+t.TempDir())
			out, err := child.CombinedOutput()
			if err != nil && strings.Contains(string(out), "lacks:") {
				t.Skipf("this system cannot: %s", out)
			}
			if err != nil {
				t.Errorf("%v\n%s", err, out)
			}
			t.Logf("%s", out)
		})
	}
}

// want returns an error unless err is one of errnos.
func want(what string, err error, errnos ...unix.Errno) error {
	for _, errno := range errnos {
		if errors.Is(err, errno) {
			return nil
		}
	}
	return fmt.Errorf("%s: got %v, want one of %v", what, err, errnos)
}

func tryFiles(dir string) func() error {
	inside := filepath.Join(dir, "in", "file")
	outside := filepath.Join(filepath.Dir(dir), "outside") // removed with dir
	if err := os.WriteFile(outside, []byte("text"), 0o600); err != nil {
		return func() error { return err }
	}
	return func() error {
		_, list := os.ReadDir("/")
		_, read := os.ReadFile("/proc/self/environ")
		_, made := os.Create(outside + ".new")
		_, opened := os.Open(outside)
		closed := errors.Join(
			want("list /", list, unix.EACCES),
			want("read /proc", read, unix.EACCES),
			want("read outside", opened, unix.EACCES),
			want("create outside", made, unix.EACCES),
			want("truncate outside", os.Truncate(outside, 0), unix.EACCES),
			want("remove outside", os.Remove(outside), unix.EACCES),
			want("change mode outside", os.Chmod(outside, 0o777), unix.EPERM),
			want("link out", os.Link(outside, filepath.Join(dir, "link")), unix.EACCES, unix.EXDEV),
			want("read link", func() error {
				if err := os.Symlink(outside, filepath.Join(dir, "link")); err != nil {
					return err
				}
				_, err := os.ReadFile(filepath.Join(dir, "link"))
				return err
			}(), unix.EACCES),
		)
		return errors.Join(closed, os.Mkdir(filepath.Dir(inside), 0o700), os.WriteFile(inside, []byte("text"), 0o600),
			os.Truncate(inside, 2), os.Rename(inside, inside+"2"), os.RemoveAll(filepath.Dir(inside)))
	}
}

func trySockets(string) func() error {
	return func() error {
		var errs []error
		for family := range 64 {
			for _, kind := range []int{unix.SOCK_STREAM, unix.SOCK_DGRAM, unix.SOCK_RAW, unix.SOCK_SEQPACKET} {
				_, err := unix.Socket(family, kind, 0)
				errs = append(errs, want(fmt.Sprintf("socket %d %d", family, kind), err, unix.EPERM))
			}
		}
		_, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 262) // MPTCP, which Landlock leaves open
		_, pair := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		return errors.Join(append(errs, want("MPTCP", err, unix.EPERM), want("pair", pair, unix.EPERM))...)
	}
}

func tryPrograms(string) func() error {
	return func() error {
		_, _, plain := unix.RawSyscall(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0)
		_, _, clone3 := unix.RawSyscall(unix.SYS_CLONE3, 0, 0, 0)
		return errors.Join(
			want("start", exec.Command(os.Args[0]).Run(), unix.EPERM, unix.EACCES),
			want("exec", unix.Exec(os.Args[0], os.Args, nil), unix.EPERM),
			want("clone", plain, unix.EPERM),
			want("clone3", clone3, unix.ENOSYS),
		)
	}
}

func tryProcesses(string) func() error {
	return func() error {
		parent := os.Getppid()
		var limit unix.Rlimit
		nice, _ := unix.Getpriority(unix.PRIO_PROCESS, 0)
		if nice = 20 - nice; nice < niceness {
			return fmt.Errorf("priority is %d", nice)
		}
		return errors.Join(
			unix.Kill(os.Getpid(), 0),
			unix.Prlimit(0, unix.RLIMIT_NOFILE, nil, &limit),
			want("signal", unix.Kill(parent, 0), unix.EPERM),
			want("signal all", unix.Kill(-1, 0), unix.EPERM),
			want("signal a group", unix.Kill(0, 0), unix.EPERM),
			want("signal a thread", unix.Tgkill(parent, parent, 0), unix.EPERM),
			want("limits of others", unix.Prlimit(parent, unix.RLIMIT_CPU, nil, &limit), unix.EPERM),
			want("more files", unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 4096, Max: 4096}), unix.EPERM, unix.EINVAL),
		)
	}
}

// tryCalls makes every call that is denied, with nothing in its arguments.
func tryCalls(string) func() error {
	return func() error {
		var errs []error
		for _, call := range denied {
			_, _, errno := unix.RawSyscall6(call, 0, 0, 0, 0, 0, 0)
			errs = append(errs, want(fmt.Sprintf("call %d", call), errno, unix.EPERM))
		}
		_, _, future := unix.RawSyscall(last+100, 0, 0, 0)
		_, _, x32 := unix.RawSyscall(0x40000000|unix.SYS_GETPID, 0, 0, 0)
		return errors.Join(append(errs, want("a call of the future", future, unix.ENOSYS), want("x32", x32, unix.EPERM))...)
	}
}

func tryMemory(string) func() error {
	return func() error {
		_, err := unix.Mmap(-1, 0, 2*memory+beyond, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
		data := make([]byte, 100<<20) // within its share
		for i := 0; i < len(data); i += 4096 {
			data[i] = 1
		}
		return want("too much", err, unix.ENOMEM)
	}
}

// tryThreads has threads from before and after the seal try to get out.
func tryThreads(string) func() error {
	sealed := make(chan struct{})
	var wait sync.WaitGroup
	errs := make([]error, 20)
	start := func(i int) {
		wait.Go(func() {
			runtime.LockOSThread() // and never unlocked: a thread for each
			<-sealed
			_, err := os.ReadDir("/")
			_, socket := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
			errs[i] = errors.Join(want("list /", err, unix.EACCES), want("socket", socket, unix.EPERM))
		})
	}
	for i := range 10 {
		start(i)
	}
	return func() error {
		for i := range 10 {
			start(10 + i)
		}
		close(sealed)
		wait.Wait()
		return errors.Join(errs...)
	}
}
