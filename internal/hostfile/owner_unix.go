//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package hostfile

import (
	"os"
	"syscall"
)

// errNotDir is what a path below a file gives.
const errNotDir = syscall.ENOTDIR

// sameOwner gives a file the owner of another, which matters to root alone; the
// others own what they may replace.
func sameOwner(f *os.File, path string) {
	info, err := os.Stat(path)
	if err != nil {
		return
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && os.Geteuid() == 0 {
		_ = f.Chown(int(st.Uid), int(st.Gid))
	}
}
