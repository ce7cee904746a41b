//go:build cgo && !unix

package worker

import "os"

// takeStdout returns out as it is: what the engine would print there, the gate
// refuses.
func takeStdout(out *os.File) (*os.File, error) { return out, nil }
