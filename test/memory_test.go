package test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"heddle/internal/mcptest"
)

const (
	hugeResult = 20 << 20
	// baseMemory and perResult are what a large result may take at its peak: that
	// much, and so many times its size. restMemory is what is left of it a moment
	// later.
	baseMemory = 20 << 20
	perResult  = 3
	restMemory = 40 << 20
	restWithin = 5 * time.Second
)

// TestMemoryOfAHugeResult holds what the built binary takes for a result of 20 MB,
// and for reading in it, to its bounds.
func TestMemoryOfAHugeResult(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the binary: not with -short")
	}
	if _, err := os.Stat("/proc/self/smaps_rollup"); err != nil {
		t.Skip("no /proc to read memory from")
	}
	h, pid := startBuilt(t)
	h.Initialize("2025-11-25")
	for _, arguments := range []string{
		fmt.Sprintf(`{"bytes":%d,"of":"log"}`, hugeResult),
		fmt.Sprintf(`{"bytes":%d,"of":"rows"}`, hugeResult),
		fmt.Sprintf(`{"bytes":%d}`, hugeResult),
	} {
		if m := h.Call("echo", `{"text":"warm"}`); mcptest.TextOf(m.Result) != "warm" {
			t.Fatalf("echo: %s%s", m.Result, m.Error)
		}
		before := memoryOf(t, pid, "RssAnon")
		if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0); err != nil {
			t.Skip("the peak cannot be reset: ", err)
		}
		m := h.Call("big", arguments)
		if m.Error != nil || len(m.Result) > 12<<10 || !strings.Contains(string(m.Result), "captured whole") {
			t.Fatalf("big: %d bytes, %.300s%s", len(m.Result), m.Result, m.Error)
		}
		peak := memoryOf(t, pid, "VmHWM") - memoryOf(t, pid, "RssFile")
		t.Logf("%s: %.1f MB before, %.1f MB at the peak", arguments, mb(before), mb(peak))
		if most := int64(baseMemory + perResult*hugeResult); peak > most {
			t.Errorf("%s: a peak of %.1f MB, want at most %.1f", arguments, mb(peak), mb(most))
		}
		began := time.Now()
		for rest := memoryOf(t, pid, "VmRSS"); ; rest = memoryOf(t, pid, "VmRSS") {
			if rest < restMemory {
				t.Logf("%.1f MB after %s", mb(rest), time.Since(began).Round(time.Millisecond))
				break
			}
			if time.Since(began) > restWithin {
				t.Errorf("%s: %.1f MB %s later, want at most %.1f", arguments, mb(rest), restWithin, mb(restMemory))
				break
			}
			<-time.After(20 * time.Millisecond) // there is no event for it
		}
	}
}

func mb(n int64) float64 { return float64(n) / (1 << 20) }

// memoryOf reads a field of a process's status, in bytes.
func memoryOf(t *testing.T, pid int, field string) int64 {
	t.Helper()
	f, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if rest, ok := strings.CutPrefix(lines.Text(), field+":"); ok {
			kb, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(rest, "kB")), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return kb << 10
		}
	}
	t.Fatalf("no %s", field)
	return 0
}

// startBuilt builds heddle and starts it in native mode with a fake server behind
// it.
func startBuilt(t *testing.T) (h *mcptest.Host, pid int) {
	t.Helper()
	dir := t.TempDir()
	binary := filepath.Join(dir, "heddle")
	if out, err := exec.Command("go", "build", "-o", binary, "../cmd/heddle").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	command, _, env := mcptest.Command(mcptest.Options{})
	var vars strings.Builder
	for _, kv := range env {
		k, v, _ := strings.Cut(kv, "=")
		fmt.Fprintf(&vars, "      %s: %q\n", k, v)
	}
	text := fmt.Sprintf("version: 2\nservers:\n  up:\n    command: %q\n    env:\n%s", command, vars.String())
	if err := os.WriteFile(filepath.Join(dir, "heddle.yml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary, "start", "--mode", "native", "--config", filepath.Join(dir, "heddle.yml"))
	cmd.Env = []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "XDG_STATE_HOME=" + filepath.Join(dir, "state"), "XDG_CACHE_HOME=" + filepath.Join(dir, "cache")}
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	h = mcptest.NewHost(t, io.Reader(out), in)
	t.Cleanup(func() {
		h.CloseWrite()
		h.WaitEnded()
		if err := cmd.Wait(); err != nil {
			t.Errorf("heddle: %v", err)
		}
	})
	return h, cmd.Process.Pid
}
