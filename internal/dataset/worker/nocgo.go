//go:build !cgo

package worker

import (
	"context"
	"fmt"
	"io"
	"os"
)

// Main says that there is no engine in this program.
func Main(_ context.Context, _ []string, _, _ *os.File, stderr io.Writer, _ func(code int)) int {
	fmt.Fprintln(stderr, "heddle-sql: error: built without cgo, so without an SQL engine: build it with CGO_ENABLED=1 and a C compiler")
	return 1
}
