package hostfile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"
)

var errLocked = errors.New("another heddle holds the lock")

const (
	// lockWait is longer than any change takes.
	lockWait = 10 * time.Second
	lockPoll = 10 * time.Millisecond
)

type fileLock struct{ f *os.File }

// lock keeps other heddles from changing hosts' files until release is called.
func lock(ctx context.Context, dir string) (release func(), err error) {
	path := filepath.Join(dir, "lock")
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	tick := time.NewTicker(lockPoll)
	defer tick.Stop()
	for {
		l, err := tryLock(path)
		if err == nil {
			return l.unlock, nil
		}
		if !errors.Is(err, errLocked) {
			return nil, reason(path, err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, &Error{Path: path, Message: "another heddle is changing a host's file", Hint: "wait for it, and try again", Err: ctx.Err()}
		}
	}
}
