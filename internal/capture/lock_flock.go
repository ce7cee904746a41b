//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package capture

import (
	"io/fs"
	"os"
	"syscall"
)

// tryLock locks a file, which is made if need be, or returns errLocked.
func tryLock(path string) (*fileLock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err != syscall.EINTR {
			break
		}
	}
	if err == nil {
		return &fileLock{f}, nil
	}
	f.Close()
	if err == syscall.EWOULDBLOCK {
		return nil, errLocked
	}
	return nil, &fs.PathError{Op: "flock", Path: path, Err: err}
}

func (l *fileLock) unlock() { l.f.Close() }

// ours reports whether a file is this user's: another's could be a trap.
func ours(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Getuid()
}
