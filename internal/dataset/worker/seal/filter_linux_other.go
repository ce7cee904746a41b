//go:build linux && !amd64 && !arm64

package seal

// calls has no numbers of system calls for this processor.
func calls() (lacks []string, err error) {
	return []string{"No filter of system calls on this processor: nothing but the engine's settings keeps it from sockets and other programs."}, nil
}
