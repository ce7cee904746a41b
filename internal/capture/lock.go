package capture

import (
	"errors"
	"os"
	"time"
)

var errLocked = errors.New("another process holds the lock")

// fileLock is a locked file. The lock ends with unlock or with the process.
type fileLock struct{ f *os.File }

// lockWithin locks a file, which is made if need be, and waits for others no
// longer than given: one that hangs must not hang us.
func lockWithin(path string, wait time.Duration) (*fileLock, error) {
	const step = 2 * time.Millisecond
	for {
		l, err := tryLock(path)
		if !errors.Is(err, errLocked) || wait <= 0 {
			return l, err
		}
		wait -= step
		<-time.After(step)
	}
}
