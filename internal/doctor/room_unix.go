//go:build linux || darwin

package doctor

import "syscall"

// room returns how many bytes are free where a directory is.
func room(dir string) (free uint64, known bool) {
	var st syscall.Statfs_t
	if syscall.Statfs(dir, &st) != nil {
		return 0, false
	}
	return st.Bavail * uint64(st.Bsize), true
}
