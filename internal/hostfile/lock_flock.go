//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package hostfile

import (
	"io/fs"
	"os"
	"syscall"
)

// errNotDir is what a path below a file gives.
const errNotDir = syscall.ENOTDIR

// tryLock locks a file, which is made if need be, or returns errLocked. The
// system takes the lock back when its process ends, however it ends.
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
