//go:build !linux

package daemon

import (
	"os"
	"runtime"
	"syscall"
	"time"
)

// alive reports whether a process of that number runs.
func alive(pid int, _ time.Time) bool {
	p, err := os.FindProcess(pid)
	if err != nil || runtime.GOOS == "windows" {
		return err == nil
	}
	return p.Signal(syscall.Signal(0)) == nil
}
