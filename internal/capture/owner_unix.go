//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package capture

import (
	"io/fs"
	"os"
	"syscall"
)

// ours reports whether a file is this user's: another's could be a trap.
func ours(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Getuid()
}
