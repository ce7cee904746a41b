//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package filelock

import (
	"io/fs"
	"os"
	"syscall"
)

// Try locks a file, which is made if need be, or returns ErrLocked.
func Try(path string) (*Lock, error) {
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
		return &Lock{f}, nil
	}
	f.Close()
	if err == syscall.EWOULDBLOCK {
		return nil, ErrLocked
	}
	return nil, &fs.PathError{Op: "flock", Path: path, Err: err}
}

// Unlock gives the lock up. The file stays.
func (l *Lock) Unlock() { l.f.Close() }
