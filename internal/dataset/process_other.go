//go:build !unix

package dataset

import "syscall"

func attributes() *syscall.SysProcAttr { return nil }
