package hostfile

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// maxFile is the largest file that is read. Hosts that keep their state beside
// their servers reach some megabytes.
const maxFile = 16 << 20

// snapshot is a file at one moment.
type snapshot struct {
	// path is as the host has it, target what is left of it without links: the file
	// that a change replaces.
	path, target string
	exists       bool
	data         []byte
	mode         fs.FileMode
}

// digest names contents.
func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// absent is the state of a file that is not there.
const absent = "absent"

// state names what a file is now, also if it is not there.
func (s snapshot) state() string {
	if !s.exists {
		return absent
	}
	return digest(s.data)
}

// exists reports whether something is at path, readable or not.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil || !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errNotDir)
}

// load reads a file. That there is none is no error; all else that keeps it from
// being read is.
func load(path string) (snapshot, error) {
	s := snapshot{path: path, target: path}
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, reason(path, err)
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		if s.target, err = filepath.EvalSymlinks(path); err != nil {
			return s, linkError(path, err)
		}
		if info, err = os.Stat(s.target); err != nil {
			return s, reason(path, err)
		}
	}
	switch {
	case info.IsDir():
		return s, &Error{Path: path, Message: "is a directory", Hint: "a host wants a file there; move the directory away"}
	case !info.Mode().IsRegular(): // reading a pipe would wait for ever
		return s, &Error{Path: path, Message: "is no regular file", Hint: "a host wants a file there; move it away"}
	case info.Size() > maxFile:
		return s, tooLarge(path)
	}
	s.exists, s.mode = true, info.Mode()
	if s.data, err = readAll(s.target); err != nil {
		return s, reason(path, err)
	}
	if len(s.data) > maxFile {
		return s, tooLarge(path)
	}
	return s, nil
}

func readAll(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxFile+1))
}

func tooLarge(path string) error {
	return &Error{Path: path, Message: "is larger than 16 MB", Hint: "such a file is hardly a configuration; make it smaller, or edit it by hand"}
}

func linkError(path string, err error) error {
	e := reason(path, err)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.Message, e.Hint = "is a link to a file that does not exist", "create the file that it leads to, or remove the link"
	case !errors.Is(err, fs.ErrPermission):
		e.Message, e.Hint = "is a link that leads nowhere: too many links", "remove the link that leads back to itself"
	}
	return e
}

// writable refuses to change a file that its owner made read-only. A rename
// would get around that, which is not what the owner meant.
func (s snapshot) writable() error {
	if s.exists && s.mode.Perm()&0o200 == 0 {
		return &Error{Path: s.path, Message: "is read-only", Hint: "make it writable (chmod u+w), or edit it where it is managed", Err: fs.ErrPermission}
	}
	return nil
}

// missingDirs returns the directories that have to be made for the file,
// outermost first. One of them at least must be there: a host's file is not
// put into a home that does not exist.
func missingDirs(path string, roots ...string) ([]string, error) {
	var out []string
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		switch {
		case err == nil && info.IsDir():
			return out, nil
		case err == nil:
			return nil, &Error{Path: dir, Message: "is no directory", Hint: "move it away"}
		case !errors.Is(err, fs.ErrNotExist):
			return nil, reason(dir, err)
		case isRoot(dir, roots) || dir == filepath.Dir(dir):
			return nil, &Error{Path: dir, Message: "does not exist", Hint: "create the directory", Err: fs.ErrNotExist}
		}
		out = append([]string{dir}, out...)
	}
}

func isRoot(dir string, roots []string) bool {
	for _, root := range roots {
		if root != "" && dir == filepath.Clean(root) {
			return true
		}
	}
	return false
}
