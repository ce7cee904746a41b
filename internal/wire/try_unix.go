//go:build unix

package wire

import (
	"errors"
	"io"
	"os"
	"syscall"
	"time"
)

// tryFor returns a function that writes what the kernel takes at once, or nil
// if dst is no file in non-blocking mode.
func tryFor(dst io.Writer) func([]byte) (int, error) {
	f, ok := dst.(*os.File)
	if !ok || f.SetWriteDeadline(time.Time{}) != nil { // only pollable files take deadlines
		return nil
	}
	raw, err := f.SyscallConn()
	if err != nil {
		return nil
	}
	return func(b []byte) (n int, err error) {
		cerr := raw.Write(func(fd uintptr) bool {
			n, err = writeOnce(int(fd), b)
			return true // never wait here: flush does
		})
		return n, errors.Join(err, cerr)
	}
}

func writeOnce(fd int, b []byte) (int, error) {
	done := 0
	for done < len(b) {
		n, err := syscall.Write(fd, b[done:])
		switch {
		case err == syscall.EINTR:
		case err == syscall.EAGAIN:
			return done, nil
		case err != nil:
			return done, err
		default:
			done += n
		}
	}
	return done, nil
}
