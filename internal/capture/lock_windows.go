package capture

import (
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// tryLock locks a file, which is made if need be, or returns errLocked.
func tryLock(path string) (*fileLock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	err = windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, new(windows.Overlapped))
	if err == nil {
		return &fileLock{f}, nil
	}
	f.Close()
	if err == windows.ERROR_LOCK_VIOLATION {
		return nil, errLocked
	}
	return nil, &fs.PathError{Op: "lock", Path: path, Err: err}
}

func (l *fileLock) unlock() {
	_ = windows.UnlockFileEx(windows.Handle(l.f.Fd()), 0, 1, 0, new(windows.Overlapped))
	l.f.Close()
}

// ours reports whether a file is this user's. The temporary directory is, here.
func ours(fs.FileInfo) bool { return true }
