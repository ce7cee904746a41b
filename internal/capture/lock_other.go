//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package capture

import (
	"errors"
	"io/fs"
	"os"
)

// tryLock makes a file that must not exist, where there are no locks of files. A
// process that is killed leaves it: numbers are then made in memory, and a spill
// directory stays.
func tryLock(path string) (*fileLock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, errLocked
	}
	if err != nil {
		return nil, err
	}
	return &fileLock{f}, nil
}

func (l *fileLock) unlock() {
	l.f.Close()
	_ = os.Remove(l.f.Name())
}

// ours reports whether a file is this user's; not known here.
func ours(fs.FileInfo) bool { return false }
