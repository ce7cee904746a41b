package audit

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"heddle/internal/filelock"
)

const (
	// lockWait is how long others may hold the file before it is written to without the
	// lock. The next ones then do not wait, until it is free.
	lockWait = time.Second
	// maxLine is longer than any line.
	maxLine = 128 << 10
)

// file is a file that several heddles append to. It is opened for each batch, so one that
// was deleted, moved or replaced, or whose directory is gone, is made anew, and a lock
// keeps others out meanwhile. Where there is no lock to be had, because a process hangs
// with it or the directory is not ours to write, lines are appended all the same: whole
// ones, since the system adds each as one. Nothing is rotated or mended then.
type file struct {
	path     string
	maxSize  int64
	maxFiles int
	lockWait time.Duration
	stuck    bool // the lock was not to be had the last time
}

// opened is the file while a batch is written.
type opened struct {
	*os.File
	size int64
	stay bool // it could not be rotated
}

func (a *file) write(lines [][]byte) (int, error) {
	path := a.path
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // it is rotated where it is
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return 0, notRegular(path) // no lock is put beside a device
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return 0, err
	}
	wait := a.lockWait
	if a.stuck {
		wait = 0
	}
	lock, err := filelock.Within(path+".lock", wait)
	locked := err == nil
	if locked {
		defer lock.Unlock()
	}
	a.stuck = !locked
	f, err := open(path)
	if err != nil {
		return 0, err
	}
	defer func() { f.Close() }() // whichever it is by then
	if err := f.mend(locked); err != nil {
		return 0, err
	}
	var moved error
	for i, line := range lines {
		if locked && !f.stay && f.size > 0 && f.size+int64(len(line)) > a.maxSize {
			f.Close() // Windows does not move what is open
			moved = a.rotate(path)
			if f, err = open(path); err != nil {
				return i, errors.Join(moved, err)
			}
			f.stay = moved != nil // it grows: to stop would lose more
		}
		if err := f.add(line, locked); err != nil {
			return i, err
		}
	}
	return len(lines), moved
}

func open(path string) (opened, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return opened{}, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = notRegular(path)
	}
	if err != nil {
		f.Close()
		return opened{}, err
	}
	return opened{File: f, size: info.Size()}, nil
}

func notRegular(path string) error {
	return &fs.PathError{Op: "open", Path: path, Err: errors.New("not a regular file")}
}

// mend makes sure that the next line begins a line: a process that was killed while it
// wrote, or a full disk, leaves a part of one. Such a part of ours is taken away; what is
// somebody else's is ended.
func (f *opened) mend(locked bool) error {
	if f.size == 0 {
		return nil
	}
	tail := make([]byte, min(f.size, 1))
	if _, err := f.ReadAt(tail, f.size-1); err != nil {
		return err
	}
	if tail[0] == '\n' {
		return nil
	}
	if locked {
		tail = make([]byte, min(f.size, maxLine))
		if _, err := f.ReadAt(tail, f.size-int64(len(tail))); err != nil {
			return err
		}
		whole := bytes.LastIndexByte(tail, '\n') + 1
		part := tail[whole:]
		if n := min(len(part), len(lineStart)); string(part[:n]) == lineStart[:n] && (whole > 0 || int64(len(tail)) == f.size) {
			f.size -= int64(len(part))
			return f.Truncate(f.size)
		}
	}
	return f.add([]byte("\n"), locked)
}

// add appends a line. One that only fits in part is taken back.
func (f *opened) add(line []byte, locked bool) error {
	n, err := f.Write(line)
	if err == nil {
		f.size += int64(n)
		return nil
	}
	if n > 0 && locked {
		err = errors.Join(err, f.Truncate(f.size))
	}
	return err
}

// rotate moves the file to path.1, what is there to path.2 and so on up to the first
// number that is free; only if none is, the oldest goes. So a rotation that was cut short
// or fails at the end does not cost a file each time.
func (a *file) rotate(path string) error {
	for i := a.maxFiles + 1; os.Remove(numbered(path, i)) == nil; i++ {
		// from when more were kept
	}
	free := 1
	for free < a.maxFiles {
		if _, err := os.Lstat(numbered(path, free)); errors.Is(err, fs.ErrNotExist) {
			break
		}
		free++
	}
	for i := free - 1; i >= 1; i-- {
		if err := os.Rename(numbered(path, i), numbered(path, i+1)); err != nil {
			return fmt.Errorf("rotate: %w", err)
		}
	}
	if err := os.Rename(path, numbered(path, 1)); err != nil {
		return fmt.Errorf("rotate: %w", err)
	}
	return nil
}

func numbered(path string, i int) string { return path + "." + strconv.Itoa(i) }
