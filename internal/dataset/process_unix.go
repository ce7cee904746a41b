//go:build unix

package dataset

import "syscall"

// attributes put the worker into a group of its own, so that a Ctrl-C at the
// terminal is heddle's to act on.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
