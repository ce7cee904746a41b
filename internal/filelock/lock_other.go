//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package filelock

import (
	"errors"
	"io/fs"
	"os"
)

// Try makes a file that must not exist, where there are no locks of files. A process
// that is killed leaves it, locked for ever.
func Try(path string) (*Lock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, ErrLocked
	}
	if err != nil {
		return nil, err
	}
	return &Lock{f}, nil
}

// Unlock gives the lock up.
func (l *Lock) Unlock() {
	l.f.Close()
	_ = os.Remove(l.f.Name())
}
