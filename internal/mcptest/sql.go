package mcptest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"heddle/internal/filelock"
)

// SQL returns the path of the real SQL worker, built from this tree, and skips the
// test where there can be none: without a C compiler, or with -short.
func SQL(t testing.TB) string {
	t.Helper()
	if testing.Short() {
		t.Skip("starts processes: not with -short")
	}
	path, err := sqlWorker()
	if err != nil {
		t.Skipf("no SQL worker here: %v", err)
	}
	return path
}

// linkTime is longer than any machine takes to link it.
const linkTime = 5 * time.Minute

// sqlWorker builds the worker. All test programs of a user share it: linking it takes
// seconds, and the go command links it again only if something has changed.
var sqlWorker = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(os.TempDir(), "heddle-test-"+strconv.Itoa(os.Getuid()))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	lock, err := filelock.Within(filepath.Join(dir, "lock"), linkTime)
	if err != nil {
		return "", err
	}
	defer lock.Unlock()
	path := filepath.Join(dir, "heddle-sql")
	if out, err := exec.Command("go", "build", "-o", path, "heddle/cmd/heddle-sql").CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build heddle/cmd/heddle-sql: %w: %s", err, out)
	}
	if out, err := exec.Command(path, "-check").CombinedOutput(); err != nil {
		return "", fmt.Errorf("heddle-sql -check: %w: %s", err, out)
	}
	return path, nil
})
