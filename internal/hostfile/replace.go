package hostfile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// leftover begins the name of a file that is being written; one that is found
// later belongs to a heddle that was killed.
func leftover(target string) string { return "." + filepath.Base(target) + ".heddle-" }

// stepper is called before each step of a transaction that a kill may come
// between.
type stepper func(step string) error

// replace puts data at target as one step: whoever reads it, or finds it after a
// crash, has the old bytes or the new. It refuses if the file is not any more
// what was says, and gives the new one its mode.
func replace(target string, data []byte, was snapshot, step stepper) error {
	temp, err := os.CreateTemp(filepath.Dir(target), leftover(target)+"*")
	if err != nil {
		return reason(filepath.Dir(target), err)
	}
	name := temp.Name()
	done := false
	defer func() {
		if !done {
			temp.Close()
			os.Remove(name)
		}
	}()
	if err := step("temp"); err != nil {
		return err
	}
	if err := fill(temp, data, was); err != nil {
		return reason(name, err)
	}
	if err := step("filled"); err != nil {
		return err
	}
	if err := unchanged(was.path, target, was.state()); err != nil {
		return err
	}
	if err := os.Rename(name, target); err != nil {
		return reason(target, err)
	}
	done = true
	if err := step("renamed"); err != nil {
		return err
	}
	syncDir(filepath.Dir(target))
	return nil
}

// fill writes a temporary file until it is on the disk, with the mode and the
// owner of the file that it replaces.
func fill(temp *os.File, data []byte, was snapshot) error {
	if was.exists {
		sameOwner(temp, was.target)
	}
	if err := temp.Chmod(was.mode.Perm()); err != nil {
		return err
	}
	if _, err := temp.Write(data); err != nil {
		return err
	}
	if err := temp.Sync(); err != nil {
		return err
	}
	return temp.Close()
}

// unchanged looks once more, right before a file is replaced.
func unchanged(path, target, state string) error {
	now, err := load(path)
	if err != nil {
		return err
	}
	if now.state() != state || now.target != target {
		return &Error{Path: path, Message: "was changed by another program in between", Hint: "try again", Err: ErrChanged}
	}
	return nil
}

// sweep removes what killed heddles left in a directory, by the start of its
// name. It must hold the lock.
func sweep(dir, prefix string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // what hinders it hinders the change too, which says so
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) && e.Type().IsRegular() {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// syncDir makes a rename last. Not every system can, and the rename is complete
// without.
func syncDir(dir string) {
	d, err := os.Open(dir)
	if err != nil {
		return
	}
	_ = d.Sync()
	d.Close()
}

// writePrivate writes a file of heddle's own that is on the disk when it
// returns.
func writePrivate(path string, data []byte, step stepper) error {
	was, err := load(path)
	if err != nil {
		return err
	}
	was.mode = 0o600
	return replace(path, data, was, step)
}

// remove deletes a file that is still what it is believed to be.
func remove(s snapshot) error {
	if err := unchanged(s.path, s.target, s.state()); err != nil {
		return err
	}
	if err := os.Remove(s.target); err != nil && !errors.Is(err, os.ErrNotExist) {
		return reason(s.path, err)
	}
	syncDir(filepath.Dir(s.target))
	return nil
}
