package trial

import "os/exec"

// interrupt ends a process; there is no asking.
func interrupt(c *exec.Cmd) { _ = c.Process.Kill() } // it may have ended
