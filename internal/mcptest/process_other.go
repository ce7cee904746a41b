//go:build !unix

package mcptest

import (
	"os"
	"testing"
)

// Alive reports whether the process exists.
func Alive(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	_ = p.Release()
	return true
}

// WaitGone waits until none of the processes is alive.
func WaitGone(t testing.TB, pids ...int) {
	t.Helper()
	for _, pid := range pids {
		Eventually(t, func() bool { return !Alive(pid) }, "the end of process %d", pid)
	}
}

func child(string) int { return 0 }
func cpu() int         { return 1 << 30 }
func onTerm(func())    {}
