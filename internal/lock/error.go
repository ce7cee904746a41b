package lock

import (
	"errors"
	"io/fs"
	"strconv"
)

// ErrChanged says that the file is not any more what it was when it was read.
var ErrChanged = errors.New("changed in between")

// Error says what is wrong with the file, and what to do about it.
type Error struct {
	Path string
	Line int // 0 for the whole file
	// Message says what is wrong; Hint what to do.
	Message, Hint string
	Err           error // may be nil
}

// Error says where, what and what to do.
func (e *Error) Error() string {
	s := e.Path
	if e.Line > 0 {
		s += ":" + strconv.Itoa(e.Line)
	}
	s += ": " + e.Message
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// reason wraps an error of the system. A missing file stays one to errors.Is.
func reason(path string, err error) error {
	e := &Error{Path: path, Message: err.Error(), Err: err}
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		e.Message = pe.Err.Error()
	}
	if errors.Is(err, fs.ErrPermission) {
		e.Hint = "heddle must be able to read and write it and its directory"
	}
	return e
}

// How a broken file is mended.
const (
	restore = "restore the file from version control, or delete it and run heddle lock to approve everything anew"
	merge   = "settle the merge in version control, then run heddle lock --check"
	renew   = "approve the tool again with heddle approve after you have removed its entry"
	update  = "update heddle"
)
