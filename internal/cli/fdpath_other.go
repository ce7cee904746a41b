//go:build unix && !linux

package cli

import (
	"fmt"
	"os"
)

// fdPath names the descriptor. Opening it duplicates the descriptor on these
// systems, flags and all, so the blocking file stays in use.
func fdPath(f *os.File) string { return fmt.Sprintf("/dev/fd/%d", f.Fd()) }
