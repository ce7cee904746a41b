package seal

import "golang.org/x/sys/unix"

const (
	arch    = unix.AUDIT_ARCH_AARCH64
	maxCall = 0x3fffffff
)

// deniedHere are calls that other processors do not have.
var deniedHere []uintptr
