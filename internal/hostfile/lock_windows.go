package hostfile

import (
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/windows"
)

// errNotDir is what a path below a file gives.
const errNotDir = syscall.ERROR_PATH_NOT_FOUND

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

// sameOwner has nothing to do: a new file has the owner of its directory here.
func sameOwner(*os.File, string) {}
