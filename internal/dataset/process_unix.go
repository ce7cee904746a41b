//go:build unix

package dataset

import (
	"errors"
	"os"
	"syscall"
)

// attributes put the worker into a group of its own, so that a Ctrl-C at the
// terminal is heddle's to act on.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// killGroup kills a process with all that it has started.
func killGroup(p *os.Process) {
	_ = syscall.Kill(-p.Pid, syscall.SIGKILL)
	_ = p.Kill()
}

// isGone reports whether there is no process of that number.
func isGone(pid int) bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }
