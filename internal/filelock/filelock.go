// Package filelock locks files against other processes. A lock ends with its holder,
// however that ends, where the system has locks of files.
package filelock

import (
	"errors"
	"os"
	"time"
)

// ErrLocked says that another process, or another part of this one, holds the lock.
var ErrLocked = errors.New("another process holds the lock")

// Lock is a file that is locked. Unlock must be called once.
type Lock struct{ f *os.File }

// Within is [Try] that waits for others no longer than given: one that hangs must not
// hang us.
func Within(path string, wait time.Duration) (*Lock, error) {
	const step = 2 * time.Millisecond
	for {
		l, err := Try(path)
		if !errors.Is(err, ErrLocked) || wait <= 0 {
			return l, err
		}
		wait -= step
		<-time.After(step)
	}
}
