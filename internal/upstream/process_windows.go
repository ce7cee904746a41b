package upstream

import (
	"os"
	"syscall"
)

// Windows is built but untried: a server is ended by ending its process.

func childAttr() *syscall.SysProcAttr { return nil }
func dogAttr() *syscall.SysProcAttr   { return nil }
func ignoreSignals()                  {}
func widen(*os.File)                  {}
func groupCPU(int) (int64, bool)      { return 0, false }
func hasSurvivors(*process) bool      { return false }
func killRun(map[int]bool, string)    {}
func signalTree(p *process, _ bool)   { _ = p.cmd.Process.Kill() }
