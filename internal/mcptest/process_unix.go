//go:build unix

package mcptest

import (
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// Alive reports whether the process exists and is no zombie.
func Alive(pid int) bool {
	if pid <= 0 || syscall.Kill(pid, 0) == syscall.ESRCH {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return !os.IsNotExist(err) || !hasProc()
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z") && !strings.HasPrefix(rest, "X")
}

func hasProc() bool {
	_, err := os.Stat("/proc/self/stat")
	return err == nil
}

// WaitGone waits until none of the processes is alive.
func WaitGone(t testing.TB, pids ...int) {
	t.Helper()
	for _, pid := range pids {
		Eventually(t, func() bool { return !Alive(pid) }, "the end of process %d", pid)
	}
}

// child starts a process of the kind that [Options.Children] names and returns
// its id, 0 if it did not start. It holds our stdout, as most grandchildren do.
func child(kind string) int {
	cmd := exec.Command("sleep", "1000")
	if kind == "stubborn" {
		cmd = exec.Command("sh", "-c", `trap "" TERM; while :; do sleep 1000; done`)
	}
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: kind != "group"}
	if cmd.Start() != nil {
		return 0
	}
	go func() { _ = cmd.Wait() }()
	return cmd.Process.Pid
}

// cpu returns the CPU time that this process has used, in milliseconds.
func cpu() int {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return int(u.Utime.Nano()+u.Stime.Nano()) / 1_000_000
}

// onTerm calls f for each SIGTERM, which then no longer ends the process.
func onTerm(f func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGTERM)
	go func() {
		for range c {
			f()
		}
	}()
}
