//go:build cgo && unix

package worker

import (
	"os"

	"golang.org/x/sys/unix"
)

// takeStdout returns what out is, under another descriptor, and makes out's the null
// device. The engine writes to descriptor 1 in some cases, past Go.
func takeStdout(out *os.File) (*os.File, error) {
	fd, err := unix.FcntlInt(out.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, err
	}
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	if err := dup2(int(null.Fd()), int(out.Fd())); err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "protocol"), nil
}
