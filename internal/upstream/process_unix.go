//go:build unix

package upstream

import (
	"os/signal"
	"syscall"
	"time"
)

// dogAttr puts the watchdog into a session of its own: what kills heddle's
// process group must not take it along.
func dogAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func ignoreSignals() {
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE, syscall.SIGQUIT)
}

// signalTree signals the process group and whatever else carries the owner's
// mark.
func signalTree(p *process, kill bool) {
	sig := syscall.SIGTERM
	if kill {
		sig = syscall.SIGKILL
	}
	_ = syscall.Kill(-p.cmd.Process.Pid, sig) // it may be gone already
	for _, pid := range marked(p.owner, true) {
		_ = syscall.Kill(pid, sig)
	}
}

// hasSurvivors reports whether anything of the process is left. The process
// itself has been waited for, so that its group exists only if others are in it.
func hasSurvivors(p *process) bool {
	return syscall.Kill(-p.cmd.Process.Pid, 0) == nil || len(marked(p.owner, true)) > 0
}

// killRun kills the groups and everything marked with the run, until several
// looks in a row have found nothing: one look can miss a process, such as one
// that is just being started.
func killRun(groups map[int]bool, run string) {
	quiet := 0
	for range 50 {
		for pid := range groups {
			_ = syscall.Kill(-pid, syscall.SIGKILL)
		}
		pids := marked(run, false)
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		quiet++
		if len(pids) > 0 {
			quiet = 0
		}
		if quiet == 5 {
			return
		}
		time.Sleep(20 * time.Millisecond) // until the killed are reaped
	}
}
