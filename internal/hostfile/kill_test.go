//go:build unix

package hostfile

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// doomed tells a child process of this test binary what to do and at which step
// to die.
type doomed struct {
	Home   string
	Cwd    string
	State  string
	Action string
	Mode   Mode
	Step   int
}

const doomedVariable = "HEDDLE_HOSTFILE_DOOMED"

// TestDoomed is the child process of TestKill.
func TestDoomed(t *testing.T) {
	var d doomed
	if err := json.Unmarshal([]byte(os.Getenv(doomedVariable)), &d); err != nil {
		t.Skip("for TestKill alone")
	}
	step := 0
	e := &Editor{Env: Env{OS: "linux", Home: d.Home, Cwd: d.Cwd}, State: d.State, step: func(string) error {
		if step++; step == d.Step {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
		return nil
	}}
	b := bench{e, t}
	switch d.Action {
	case "install":
		r := b.request("claude-code", Project)
		r.Entry.Mode = d.Mode
		if _, err := e.Install(context.Background(), r); err != nil {
			t.Fatal(err)
		}
	case "rollback":
		b.rollback("claude-code", Project)
	case "uninstall":
		if _, err := e.Uninstall(context.Background(), "claude-code", Project); err != nil {
			t.Fatal(err)
		}
	}
}

// die runs a child that is killed at a step, and reports whether it was.
func die(t *testing.T, b bench, action string, mode Mode, step int) bool {
	t.Helper()
	d := doomed{Home: b.Env.Home, Cwd: b.Env.Cwd, State: b.State, Action: action, Mode: mode, Step: step}
	text, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestDoomed$")
	cmd.Env = append(os.Environ(), doomedVariable+"="+string(text))
	out, err := cmd.CombinedOutput()
	if err == nil {
		return false
	}
	if !strings.Contains(err.Error(), "killed") {
		t.Fatalf("step %d: %v\n%s", step, err, out)
	}
	return true
}

// TestKill ends the process at each step of a transaction over two files. Each
// file is the old or the new one, and the way back and the way on are open.
func TestKill(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	const approved = "{\n  \"permissions\": {}\n}\n"
	for _, action := range []string{"install", "reinstall", "rollback", "uninstall"} {
		t.Run(action, func(t *testing.T) {
			t.Parallel()
			steps := 0
			for step := 1; ; step++ {
				b := newBench(t)
				path := b.put("claude-code", Project, twoServers)
				settings := b.write(filepath.Join(b.Env.Cwd, ".claude", "settings.local.json"), approved)
				if action != "install" {
					b.install("claude-code", Project)
				}
				olds := []string{b.read(path), b.read(settings)}
				do, mode := strings.TrimPrefix(action, "re"), Compact
				if action == "reinstall" {
					mode = Extreme
				}
				killed := die(t, b, do, mode, step)
				got := []string{b.read(path), b.read(settings)}
				finish(t, b, do, mode)
				news := []string{b.read(path), b.read(settings)}
				for i := range got {
					if got[i] != olds[i] && got[i] != news[i] {
						t.Errorf("killed at step %d: a third thing\n%s", step, got[i])
					}
				}
				if leftovers := leftoversIn(b); len(leftovers) > 0 {
					t.Errorf("killed at step %d: %v stay", step, leftovers)
				}
				if !killed {
					break
				}
				steps++
				if do == "install" {
					b.rollback("claude-code", Project)
					if b.read(path) != twoServers || b.read(settings) != approved {
						t.Errorf("killed at step %d, installed and rolled back:\n%s\n%s", step, b.read(path), b.read(settings))
					}
				}
			}
			if steps < 6 {
				t.Errorf("only %d steps", steps)
			}
			t.Logf("%d steps", steps)
		})
	}
}

// finish does again what was killed.
func finish(t *testing.T, b bench, action string, mode Mode) {
	t.Helper()
	var err error
	switch action {
	case "install":
		r := b.request("claude-code", Project)
		r.Entry.Mode = mode
		_, err = b.Install(context.Background(), r)
	case "rollback":
		if _, err = b.Rollback(context.Background(), "claude-code", Project); err != nil && strings.Contains(err.Error(), "nothing to roll back") {
			err = nil
		}
	case "uninstall":
		_, err = b.Uninstall(context.Background(), "claude-code", Project)
	}
	if err != nil {
		t.Fatalf("%s again: %v", action, err)
	}
}

func leftoversIn(b bench) []string {
	var out []string
	for _, name := range append(b.files(b.Env.Cwd), b.files(b.State)...) {
		if strings.Contains(name, ".heddle-") {
			out = append(out, name)
		}
	}
	return out
}

// TestKilledInstallRollsBack goes straight back from each step.
func TestKilledInstallRollsBack(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts many processes")
	}
	for _, before := range []bool{false, true} {
		for step := 1; ; step++ {
			b := newBench(t)
			path := b.put("claude-code", Project, twoServers)
			if before {
				b.install("claude-code", Project)
			}
			killed := die(t, b, "install", Extreme, step)
			finish(t, b, "rollback", "")
			if b.read(path) != twoServers || exists(filepath.Join(b.Env.Cwd, ".claude", "settings.local.json")) {
				t.Errorf("killed at step %d (installed before: %v) and rolled back: %v\n%s", step, before, b.files(b.Env.Cwd), b.read(path))
			}
			if !killed {
				break
			}
		}
	}
}
