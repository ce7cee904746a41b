//go:build !unix

package dataset

import (
	"os"
	"syscall"
)

func attributes() *syscall.SysProcAttr { return nil }

func killGroup(p *os.Process) { _ = p.Kill() }

func isGone(int) bool { return false } // nobody knows
