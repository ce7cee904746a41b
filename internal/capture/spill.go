package capture

import (
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"heddle/internal/filelock"
)

const (
	spillPrefix = "heddle-captures-"
	// spillLock is a file in a spill directory that its owner holds locked as long
	// as it lives, so that others can tell a directory that was left behind.
	spillLock = "owner"
	// sweepAfter is the age below which another's directory may be one that is just
	// being made.
	sweepAfter = time.Minute
)

// spill is the private directory of captures that have no room in memory, a file
// each. The directory is made with the first.
type spill struct {
	parent string
	log    *slog.Logger

	// The store's room guards these.
	dir    string
	owner  *filelock.Lock
	number int
	told   bool

	// files is held for reading while a file is open, for writing while all go.
	files sync.RWMutex
}

// write makes a file of the chunks and returns its path. Nothing is left of it if
// that fails. The caller holds the store's room.
func (d *spill) write(chunks [][]byte) (path string, err error) {
	path, err = d.try(chunks)
	if errors.Is(err, fs.ErrNotExist) && d.dir != "" {
		// Something cleans up temporary files. What was in there is lost; what comes
		// need not be.
		d.leave()
		path, err = d.try(chunks)
	}
	if err != nil && !d.told {
		d.told = true
		d.log.Warn("captures cannot be written to disk", "err", err)
	}
	if err == nil {
		d.told = false
	}
	return path, err
}

func (d *spill) try(chunks [][]byte) (path string, err error) {
	if d.dir == "" {
		if err := d.make(); err != nil {
			return "", err
		}
	}
	d.number++
	path = filepath.Join(d.dir, strconv.Itoa(d.number)+".zst")
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	for _, b := range chunks {
		if _, err = f.Write(b); err != nil {
			break
		}
	}
	if err := errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(path)
		return "", err
	}
	return path, nil
}

// make makes the directory, for the owner alone, and removes those that killed
// heddles left behind.
func (d *spill) make() error {
	parent := d.parent
	if parent == "" {
		parent = os.TempDir()
	}
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(parent, spillPrefix+"*") // 0700
	if err != nil {
		return err
	}
	owner, err := filelock.Try(filepath.Join(dir, spillLock))
	if err != nil {
		// Others may take it for one that was left behind, after a while.
		_ = os.RemoveAll(dir)
		return err
	}
	d.dir, d.owner = dir, owner
	sweep(parent, dir)
	return nil
}

// Sweep removes what killed heddles have left behind in the temporary directory.
// Nothing of a living one is touched.
func (s *Store) Sweep() {
	parent := s.o.TempDir
	if parent == "" {
		parent = os.TempDir()
	}
	sweep(parent, "")
}

// sweep removes the spill directories in parent whose owner is no more.
func sweep(parent, own string) {
	dirs, err := filepath.Glob(filepath.Join(parent, spillPrefix+"*"))
	if err != nil {
		return
	}
	for _, dir := range dirs {
		info, err := os.Lstat(dir)
		if err != nil || dir == own || !info.IsDir() || !ours(info) || time.Since(info.ModTime()) < sweepAfter {
			continue
		}
		if l, err := filelock.Try(filepath.Join(dir, spillLock)); err == nil {
			l.Unlock()
			_ = os.RemoveAll(dir)
		}
	}
}

// read fills p from a position of a file.
func (d *spill) read(path string, p []byte, pos int64) error {
	d.files.RLock()
	defer d.files.RUnlock()
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.ReadAt(p, pos); err == io.EOF {
		return io.ErrUnexpectedEOF
	} else if err != nil {
		return err
	}
	return nil
}

// remove removes a file; "" is none.
func (d *spill) remove(path string) {
	if path == "" {
		return
	}
	d.files.Lock() // Windows does not remove what is open
	defer d.files.Unlock()
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		d.log.Warn("a capture's file cannot be removed", "err", err)
	}
}

// leave forgets the directory. The caller holds the store's room.
func (d *spill) leave() {
	if d.owner != nil {
		d.owner.Unlock()
	}
	d.dir, d.owner = "", nil
}

// close removes the directory. The caller holds the store's room.
func (d *spill) close() error {
	d.files.Lock()
	defer d.files.Unlock()
	dir := d.dir
	d.leave()
	if dir == "" {
		return nil
	}
	return os.RemoveAll(dir)
}
