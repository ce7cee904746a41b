//go:build !windows

package trial

import (
	"os"
	"os/exec"
)

// interrupt asks a process to end.
func interrupt(c *exec.Cmd) { _ = c.Process.Signal(os.Interrupt) } // it may have ended
