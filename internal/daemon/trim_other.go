//go:build !linux

package daemon

import "runtime/debug"

// Trim gives back to the system the heap that only start-up needed.
func Trim() { debug.FreeOSMemory() }
