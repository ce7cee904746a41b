package seal

import "golang.org/x/sys/unix"

const (
	arch    = unix.AUDIT_ARCH_X86_64
	maxCall = 0x3fffffff // calls of x32 have the bit above
)

// deniedHere are calls that other processors do not have.
var deniedHere = []uintptr{
	unix.SYS_FORK, unix.SYS_VFORK,
	unix.SYS_CHMOD, unix.SYS_CHOWN, unix.SYS_LCHOWN, unix.SYS_UTIME, unix.SYS_UTIMES, unix.SYS_FUTIMESAT, unix.SYS_MKNOD,
	unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_MODIFY_LDT, unix.SYS_USELIB, unix.SYS_USTAT, unix.SYS_SYSFS, unix.SYS__SYSCTL,
}
