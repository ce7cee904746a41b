package hostfile

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"heddle/internal/filelock"
)

const (
	// lockWait is longer than any change takes.
	lockWait = 10 * time.Second
	lockPoll = 10 * time.Millisecond
)

// lock keeps other heddles from changing hosts' files until release is called.
func lock(ctx context.Context, dir string) (release func(), err error) {
	path := filepath.Join(dir, "lock")
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	tick := time.NewTicker(lockPoll)
	defer tick.Stop()
	for {
		l, err := filelock.Try(path)
		if err == nil {
			return l.Unlock, nil
		}
		if !errors.Is(err, filelock.ErrLocked) {
			return nil, reason(path, err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, &Error{Path: path, Message: "another heddle is changing a host's file", Hint: "wait for it, and try again", Err: ctx.Err()}
		}
	}
}
