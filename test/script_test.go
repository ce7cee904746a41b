// Package test runs the binary from end to end: script/*.txtar, one file a
// command.
package test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"heddle/internal/cli"
	"heddle/internal/mcptest"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "write the expected output into the scripts")

func TestMain(m *testing.M) {
	mcptest.Main()
	testscript.Main(m, map[string]func(){
		"heddle":    func() { os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
		"mcpserver": server,
		"parrot":    parrot,
	})
}

// server becomes a fake MCP server: mcpserver [OPTIONS], which are those of
// mcptest as JSON.
func server() {
	var o mcptest.Options
	if len(os.Args) > 1 {
		if err := json.Unmarshal([]byte(os.Args[1]), &o); err != nil {
			fmt.Fprintln(os.Stderr, "mcpserver:", err)
			os.Exit(2)
		}
	}
	_, _, env := mcptest.Command(o)
	for _, kv := range env {
		if k, v, ok := bytes.Cut([]byte(kv), []byte("=")); ok {
			_ = os.Setenv(string(k), string(v))
		}
	}
	mcptest.Main()
}

func TestScripts(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes: not with -short")
	}
	testscript.Run(t, testscript.Params{
		Dir:           "script",
		UpdateScripts: *update,
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("XDG_STATE_HOME", filepath.Join(env.WorkDir, "state"))
			env.Setenv("GOMAXPROCS", "2")
			env.Values[hostsKey{}] = &hosts{running: map[string]*host{}}
			return nil
		},
		Condition: func(c string) (bool, error) {
			if c != "root" {
				return false, fmt.Errorf("unknown condition %q", c)
			}
			return os.Getuid() == 0, nil // for whom no directory is read-only
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"code": code, "until": until, "up": up, "down": down, "jsonlines": jsonLines, "validjson": validJSON,
		},
	})
}

// code runs a command that ends with this status: code 2 heddle validate.
func code(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code STATUS COMMAND ARGUMENTS…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var exit *exec.ExitError
	switch err := ts.Exec(args[1], args[2:]...); {
	case errors.As(err, &exit):
		got = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("%q ended with status %d, want %d", args[1:], got, want)
	}
}

// until runs a command again until its stdout matches: until REGEXP COMMAND….
// Its exit status does not count.
func until(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: until REGEXP COMMAND ARGUMENTS…")
	}
	re, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	limit := time.NewTimer(mcptest.Deadline)
	defer limit.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		_ = ts.Exec(args[1], args[2:]...)
		if re.MatchString(ts.ReadFile("stdout")) {
			return
		}
		select {
		case <-tick.C:
		case <-limit.C:
			ts.Fatalf("%q never printed %s", args[1:], args[0])
		}
	}
}

// jsonLines checks that each line of a file is JSON, stdout above all.
func jsonLines(ts *testscript.TestScript, neg bool, args []string) {
	for line := range bytes.Lines([]byte(ts.ReadFile(args[0]))) {
		if !json.Valid(line) {
			ts.Fatalf("%s: not JSON: %s", args[0], line)
		}
	}
}

// validJSON checks that a file is one JSON value.
func validJSON(ts *testscript.TestScript, neg bool, args []string) {
	if text := ts.ReadFile(args[0]); !json.Valid([]byte(text)) {
		ts.Fatalf("%s: not JSON: %s", args[0], text)
	}
}

// host is a running `heddle start`.
type host struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	ended chan error
}

type hosts struct {
	mu      sync.Mutex
	running map[string]*host
}

type hostsKey struct{}

// up starts a heddle that a host has initialised and listed the tools of: up NAME
// FLAGS….
func up(ts *testscript.TestScript, neg bool, args []string) {
	path, err := exec.LookPath(filepath.Join(binDir(ts), "heddle"))
	ts.Check(err)
	h := &host{cmd: exec.Command(path, append([]string{"start"}, args[1:]...)...), ended: make(chan error, 1)}
	h.cmd.Dir = ts.MkAbs(".")
	for _, k := range []string{"PATH", "HOME", "XDG_STATE_HOME", "TMPDIR", "GOMAXPROCS", "HEDDLE_CONFIG"} {
		if v := ts.Getenv(k); v != "" {
			h.cmd.Env = append(h.cmd.Env, k+"="+v)
		}
	}
	h.stdin, err = h.cmd.StdinPipe()
	ts.Check(err)
	out, err := h.cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(h.cmd.Start())
	all := ts.Value(hostsKey{}).(*hosts)
	all.mu.Lock()
	all.running[args[0]] = h
	all.mu.Unlock()
	ts.Defer(func() {
		_ = h.cmd.Process.Kill() // gone already if it was taken down
		<-h.ended
	})
	listed := make(chan struct{})
	go func() {
		text := &watched{want: []byte(`"id":2,`), found: listed}
		_, _ = io.Copy(text, out)
		h.ended <- h.cmd.Wait()
		close(h.ended)
	}()
	_, err = io.WriteString(h.stdin, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"script","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
`)
	ts.Check(err)
	wait(ts, listed, "the tools of "+args[0])
}

// binDir is where testscript has put the commands.
func binDir(ts *testscript.TestScript) string { return filepath.SplitList(ts.Getenv("PATH"))[0] }

func wait(ts *testscript.TestScript, c <-chan struct{}, what string) {
	limit := time.NewTimer(mcptest.Deadline)
	defer limit.Stop()
	select {
	case <-c:
	case <-limit.C:
		ts.Fatalf("%s never came", what)
	}
}

// watched closes found once the text has come.
type watched struct {
	text  []byte
	want  []byte
	found chan struct{}
}

func (w *watched) Write(p []byte) (int, error) {
	before := bytes.Contains(w.text, w.want)
	w.text = append(w.text, p...)
	if !before && bytes.Contains(w.text, w.want) {
		close(w.found)
	}
	return len(p), nil
}

// down closes the host's end of a heddle, which must end well: down NAME. With
// "term" it gets a SIGTERM instead, with "kill" a SIGKILL.
func down(ts *testscript.TestScript, neg bool, args []string) {
	all := ts.Value(hostsKey{}).(*hosts)
	all.mu.Lock()
	h := all.running[args[0]]
	all.mu.Unlock()
	how := append(args, "")[1]
	switch how {
	case "kill":
		ts.Check(h.cmd.Process.Kill())
	case "term":
		ts.Check(h.cmd.Process.Signal(syscall.SIGTERM))
	default:
		ts.Check(h.stdin.Close())
	}
	limit := time.NewTimer(mcptest.Deadline)
	defer limit.Stop()
	select {
	case err := <-h.ended:
		if err != nil && how != "kill" {
			ts.Fatalf("heddle %s: %v", args[0], err)
		}
	case <-limit.C:
		ts.Fatalf("heddle %s did not end", args[0])
	}
}
