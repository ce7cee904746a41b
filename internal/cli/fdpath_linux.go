package cli

import (
	"fmt"
	"os"
)

func fdPath(f *os.File) string { return fmt.Sprintf("/proc/self/fd/%d", f.Fd()) }
