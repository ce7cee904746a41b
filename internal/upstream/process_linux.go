package upstream

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// childAttr gives a server its own process group, and has the kernel kill it
// when the spawner's thread ends, which is when heddle does.
func childAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// pipeSize lets a server write a large result in fewer turns. It is small enough
// that fifty servers stay under the kernel's limit for one user.
const pipeSize = 256 << 10

func widen(f *os.File) {
	raw, err := f.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) {
		_, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, pipeSize) // the default size works as well
	})
}

// marked returns the processes whose environment carries the owner's mark, or
// one that starts with it if whole is false.
func marked(owner string, whole bool) []int {
	want := []byte("\x00" + ownerVar + "=" + owner)
	if whole {
		want = append(want, 0)
	}
	var out []int
	for _, pid := range processes() {
		env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
		if err == nil && bytes.Contains(append([]byte{0}, env...), want) && pid != os.Getpid() && !zombie(pid) {
			out = append(out, pid)
		}
	}
	return out
}

func processes() []int {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer func() { _ = dir.Close() }()
	names, _ := dir.Readdirnames(-1)
	var out []int
	for _, n := range names {
		if pid, err := strconv.Atoi(n); err == nil {
			out = append(out, pid)
		}
	}
	return out
}

// stat returns the fields of /proc/PID/stat after the command's name: state is
// the first, the process group the third.
func stat(pid int) []string {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return nil
	}
	_, rest, _ := strings.Cut(string(b[bytes.LastIndexByte(b, ')')+1:]), " ")
	return strings.Fields(rest)
}

func zombie(pid int) bool {
	f := stat(pid)
	return len(f) == 0 || f[0] == "Z" || f[0] == "X"
}

// groupCPU returns the CPU time that the live processes of a group have used, in
// clock ticks; ok is false where that cannot be known.
func groupCPU(group int) (ticks int64, ok bool) {
	want := strconv.Itoa(group)
	for _, pid := range processes() {
		f := stat(pid)
		if len(f) < 13 || f[2] != want {
			continue
		}
		user, _ := strconv.ParseInt(f[11], 10, 64)
		sys, _ := strconv.ParseInt(f[12], 10, 64)
		ticks += user + sys
	}
	return ticks, true
}
