//go:build unix

package cli

import (
	"io"
	"os"
	"syscall"
)

// stdio returns stdin and stdout in non-blocking mode where that is possible
// without changing what others share with us, so that a read does not hold a
// thread and a host that does not read does not hold a call.
func stdio(in, out *os.File) (io.Reader, io.Writer) {
	var r io.Reader = in
	var w io.Writer = out
	if f := reopen(in, os.O_RDONLY); f != nil {
		r = f
	}
	if f := reopen(out, os.O_WRONLY); f != nil {
		w = f
	}
	return r, w
}

// reopen opens a pipe or socket once more in non-blocking mode, nil where that
// does not work.
func reopen(f *os.File, flag int) *os.File {
	info, err := f.Stat()
	if err != nil {
		return nil
	}
	switch {
	case info.Mode()&os.ModeNamedPipe != 0:
		// A second description of the same pipe has flags of its own.
		fresh, err := os.OpenFile(fdPath(f), flag|syscall.O_NONBLOCK, 0)
		if err != nil {
			return nil
		}
		return fresh
	case info.Mode()&os.ModeSocket != 0:
		// A socket cannot be opened again; hosts make one pair for each child, so
		// nobody else reads or writes this end.
		fd, err := syscall.Dup(int(f.Fd()))
		if err != nil {
			return nil
		}
		syscall.CloseOnExec(fd)
		if syscall.SetNonblock(fd, true) != nil {
			_ = syscall.Close(fd)
			return nil
		}
		return os.NewFile(uintptr(fd), f.Name())
	}
	return nil
}
