//go:build !linux

package seal

import "heddle/internal/dataset/protocol"

// Seal says what this system does not have.
func Seal(protocol.Config) (lacks []string, err error) {
	return []string{
		"No Landlock (Linux alone has it): files are shut off by the engine's settings alone.",
		"No filter of system calls (Linux alone has it): nothing but the engine's settings keeps the worker from sockets and other programs.",
		"No limit on the memory of a process (Linux alone has it): the engine's own limit does not hold for single large values.",
	}, nil
}
