//go:build unix && !linux

package upstream

import (
	"os"
	"syscall"
)

// childAttr gives a server its own process group. There is no parent-death
// signal here: the watchdog kills the group.
func childAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func widen(*os.File) {}

// marked finds nothing: the environment of other processes is not to be read
// here, and the process group must do.
func marked(string, bool) []int { return nil }

func groupCPU(int) (int64, bool) { return 0, false }
