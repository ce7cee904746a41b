//go:build cgo

package worker

import "golang.org/x/sys/unix"

// dup2 is dup3 where there is no dup2: arm64.
func dup2(from, to int) error { return unix.Dup3(from, to, 0) }
