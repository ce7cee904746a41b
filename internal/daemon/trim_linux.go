package daemon

import (
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Trim gives back to the system what only start-up needed: heap that is free
// now, and the pages of the program file that its packages' initialisation
// touched. The kernel reads such a page again from the file when it is used.
func Trim() {
	debug.FreeOSMemory()
	smaps, err := os.ReadFile("/proc/self/smaps")
	exe, err2 := os.Readlink("/proc/self/exe")
	if err != nil || err2 != nil {
		return
	}
	var from, to uint64
	ours := false
	for line := range strings.Lines(string(smaps)) {
		f := strings.Fields(line)
		switch {
		case len(f) >= 5 && !strings.HasSuffix(f[0], ":"): // a mapping begins
			ours = len(f) == 6 && f[5] == exe && !strings.Contains(f[1], "w")
			a, b, _ := strings.Cut(f[0], "-")
			from, _ = strconv.ParseUint(a, 16, 64)
			to, _ = strconv.ParseUint(b, 16, 64)
		case ours && len(f) > 1 && f[0] == "Anonymous:" && f[1] == "0" && to > from:
			// Nothing in it was ever changed, relocations included: the file still
			// holds it exactly.
			_, _, _ = unix.Syscall(unix.SYS_MADVISE, uintptr(from), uintptr(to-from), unix.MADV_DONTNEED) // saves memory or does nothing
		}
	}
}
