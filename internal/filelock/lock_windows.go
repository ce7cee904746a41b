package filelock

import (
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// Try locks a file, which is made if need be, or returns ErrLocked.
func Try(path string) (*Lock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	err = windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, new(windows.Overlapped))
	if err == nil {
		return &Lock{f}, nil
	}
	f.Close()
	if err == windows.ERROR_LOCK_VIOLATION {
		return nil, ErrLocked
	}
	return nil, &fs.PathError{Op: "lock", Path: path, Err: err}
}

// Unlock gives the lock up. The file stays.
func (l *Lock) Unlock() {
	_ = windows.UnlockFileEx(windows.Handle(l.f.Fd()), 0, 1, 0, new(windows.Overlapped))
	l.f.Close()
}
