//go:build amd64 || arm64

package seal

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// denied are the system calls that running SQL does not need and that reach out of
// the process, or around Landlock. They fail with "operation not permitted".
var denied = slices.Concat(deniedHere, []uintptr{
	// Sockets of any family. Messages may also carry files of others.
	unix.SYS_SOCKET, unix.SYS_SOCKETPAIR, unix.SYS_CONNECT, unix.SYS_BIND, unix.SYS_LISTEN, unix.SYS_ACCEPT, unix.SYS_ACCEPT4,
	unix.SYS_SENDTO, unix.SYS_SENDMSG, unix.SYS_SENDMMSG, unix.SYS_RECVFROM, unix.SYS_RECVMSG, unix.SYS_RECVMMSG,
	// Calls that are made out of the filter's sight.
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
	// Programs.
	unix.SYS_EXECVE, unix.SYS_EXECVEAT, unix.SYS_PERSONALITY,
	// Other processes.
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PROCESS_MADVISE, unix.SYS_KCMP,
	unix.SYS_PIDFD_OPEN, unix.SYS_PIDFD_GETFD, unix.SYS_PIDFD_SEND_SIGNAL,
	unix.SYS_TKILL, unix.SYS_RT_SIGQUEUEINFO, unix.SYS_RT_TGSIGQUEUEINFO,
	unix.SYS_SETSID, unix.SYS_SETPGID, unix.SYS_SETPRIORITY, unix.SYS_IOPRIO_SET,
	unix.SYS_SCHED_SETSCHEDULER, unix.SYS_SCHED_SETPARAM, unix.SYS_SCHED_SETATTR,
	unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_MSGGET, unix.SYS_SEMGET, unix.SYS_MQ_OPEN, unix.SYS_MQ_UNLINK,
	// Files by ways that Landlock does not see.
	unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_NAME_TO_HANDLE_AT, unix.SYS_FANOTIFY_INIT,
	unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_FCHOWNAT, unix.SYS_FCHOWN, unix.SYS_UTIMENSAT, unix.SYS_MKNODAT,
	unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR, unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR, unix.SYS_FREMOVEXATTR,
	// The system, and doors into the kernel.
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_MOUNT_SETATTR, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE,
	unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT,
	unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD, unix.SYS_ACCT,
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
	unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD,
	unix.SYS_REBOOT, unix.SYS_SYSLOG, unix.SYS_VHANGUP, unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_ADJTIMEX,
	unix.SYS_CLOCK_ADJTIME, unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME, unix.SYS_MEMFD_SECRET,
})

// last is the newest call that somebody looked at; what a later kernel adds does not
// exist for the worker.
const last = unix.SYS_MSEAL

// Places in the kernel's struct seccomp_data; of an argument, its lower half.
const (
	atCall     = 0
	atArch     = 4
	atArgument = 16
)

// Answers of a filter.
const (
	allow   = unix.SECCOMP_RET_ALLOW
	deny    = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	unknown = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
)

// calls puts the filter on all threads.
func calls() (lacks []string, err error) {
	program := filter(uint32(os.Getpid()))
	prog := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	thread, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&prog)))
	switch {
	case errors.Is(errno, unix.ENOSYS), errors.Is(errno, unix.EINVAL):
		return []string{"No filter of system calls (seccomp): nothing but the engine's settings keeps it from sockets and other programs."}, nil
	case errno != 0:
		return nil, fmt.Errorf("filter system calls: %w", errno)
	case thread != 0:
		return nil, fmt.Errorf("filter system calls: thread %d has another filter", thread)
	}
	return nil, nil
}

// filter is a program for the kernel that looks at each system call.
func filter(pid uint32) []unix.SockFilter {
	program := slices.Concat(
		load(atArch),
		unless(arch, unix.SECCOMP_RET_KILL_PROCESS), // another numbering of calls
		load(atCall),
		above(maxCall, deny), // x32, which numbers calls its own way
		above(last, unknown),
		// The flags of clone3 are in memory, which a filter cannot see. Without it the
		// C library takes clone.
		when(unix.SYS_CLONE3, answer(unknown)),
		when(unix.SYS_CLONE, slices.Concat(load(atArgument), lacking(unix.CLONE_THREAD, deny), answer(allow))),
		when(unix.SYS_KILL, slices.Concat(load(atArgument), unless(pid, deny), answer(allow))),
		when(unix.SYS_TGKILL, slices.Concat(load(atArgument), unless(pid, deny), answer(allow))),
		when(unix.SYS_PRLIMIT64, slices.Concat(load(atArgument), when(pid, answer(allow)), unless(0, deny), answer(allow))),
	)
	for _, call := range denied {
		program = append(program, when(uint32(call), answer(deny))...)
	}
	return append(program, answer(allow)...)
}

func load(at uint32) []unix.SockFilter {
	return []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}}
}

func answer(a uint32) []unix.SockFilter {
	return []unix.SockFilter{{Code: unix.BPF_RET | unix.BPF_K, K: a}}
}

// when runs then if what was loaded is k.
func when(k uint32, then []unix.SockFilter) []unix.SockFilter {
	return append([]unix.SockFilter{jump(unix.BPF_JEQ, k, 0, len(then))}, then...)
}

// unless answers a if what was loaded is not k.
func unless(k, a uint32) []unix.SockFilter {
	return append([]unix.SockFilter{jump(unix.BPF_JEQ, k, 1, 0)}, answer(a)...)
}

// above answers a if what was loaded is more than k.
func above(k, a uint32) []unix.SockFilter {
	return append([]unix.SockFilter{jump(unix.BPF_JGT, k, 0, 1)}, answer(a)...)
}

// lacking answers a if what was loaded does not have the bits of k.
func lacking(k, a uint32) []unix.SockFilter {
	return append([]unix.SockFilter{jump(unix.BPF_JSET, k, 1, 0)}, answer(a)...)
}

// jump skips yes or no instructions.
func jump(test uint16, k uint32, yes, no int) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_K | test, K: k, Jt: uint8(yes), Jf: uint8(no)}
}
