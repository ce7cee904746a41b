package lock

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"heddle/internal/filelock"
)

const (
	// busyWait is longer than any write takes.
	busyWait = 10 * time.Second
	newMode  = 0o644
)

// Update reads the file, or begins one, lets change have its way and writes what came
// of it. Others that do the same wait for it. If change returns an error, or changes
// nothing, the file stays as it is.
func Update(path string, change func(*File) error) error {
	release, err := exclusive(path)
	if err != nil {
		return err
	}
	defer release()
	f, err := Read(path)
	if missing(err) {
		f, err = &File{}, nil
	}
	if err != nil {
		return err
	}
	if err := change(f); err != nil {
		return err
	}
	return f.write(path)
}

// Write writes the file in one step: whoever reads it has the old one or the new. A
// file keeps its mode, a symbolic link stays one. It refuses with [ErrChanged] if
// the file is not any more what [Read] returned; [Update] cannot meet that.
func (f *File) Write(path string) error {
	release, err := exclusive(path)
	if err != nil {
		return err
	}
	defer release()
	return f.write(path)
}

func (f *File) write(path string) error {
	data := f.encode()
	if f.was != nil && bytes.Equal(data, f.was) {
		return f.unchanged(path)
	}
	real, err := target(path)
	if err != nil {
		return err
	}
	mode := fs.FileMode(newMode)
	if info, err := os.Stat(real); err == nil {
		mode = info.Mode().Perm()
		if mode&0o200 == 0 { // a rename would get around what its owner wants
			return &Error{Path: path, Message: "is read-only", Hint: "make it writable (chmod u+w)", Err: fs.ErrPermission}
		}
	}
	temp, err := fill(real, data, mode)
	if err != nil {
		return err
	}
	err = f.unchanged(path)
	if err == nil {
		if err = os.Rename(temp, real); err != nil {
			err = reason(path, err)
		}
	}
	if err != nil {
		_ = os.Remove(temp)
		return err
	}
	f.was = data
	return nil
}

// unchanged compares the file with what it was: an editor, or a checkout, asks no lock.
func (f *File) unchanged(path string) error {
	now, err := load(path)
	if missing(err) {
		now, err = nil, nil
	}
	if err != nil {
		return err
	}
	if (now == nil) != (f.was == nil) || !bytes.Equal(now, f.was) {
		return &Error{Path: path, Message: "was changed by another program in between", Hint: "try again", Err: ErrChanged}
	}
	return nil
}

// fill writes a temporary file beside the real one until it is on the disk.
func fill(real string, data []byte, mode fs.FileMode) (name string, err error) {
	temp, err := os.CreateTemp(filepath.Dir(real), "."+filepath.Base(real)+".*")
	if err != nil {
		return "", reason(real, err)
	}
	_, err = temp.Write(data)
	err = errors.Join(err, temp.Chmod(mode), temp.Sync(), temp.Close())
	if err != nil {
		_ = os.Remove(temp.Name())
		return "", reason(real, err)
	}
	return temp.Name(), nil
}

// target returns the file that path leads to, which need not exist.
func target(path string) (string, error) {
	info, err := os.Lstat(path)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			return "", &Error{Path: path, Message: "is a link that leads nowhere", Hint: "create the file that it leads to, or remove the link", Err: err}
		}
		return filepath.Abs(real)
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return "", reason(filepath.Dir(path), err)
	}
	return filepath.Abs(filepath.Join(dir, filepath.Base(path)))
}

// exclusive keeps other heddles of this user from writing the file until release is
// called. What is locked lies among the temporary files: beside the file itself it
// would end up in version control.
func exclusive(path string) (release func(), err error) {
	real, err := target(path)
	if err != nil {
		return nil, err
	}
	name := fmt.Sprintf("heddle-%d-%x.lock", os.Getuid(), sha256.Sum256([]byte(real)))
	l, err := filelock.Within(filepath.Join(os.TempDir(), name), busyWait)
	if errors.Is(err, filelock.ErrLocked) {
		return nil, &Error{Path: path, Message: "another heddle is changing it", Hint: "wait for it, and try again", Err: err}
	}
	if err != nil {
		return nil, reason(path, err)
	}
	return l.Unlock, nil
}
