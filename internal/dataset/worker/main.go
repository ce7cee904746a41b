//go:build cgo

package worker

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/debug"
	"time"

	duck "github.com/duckdb/duckdb-go-bindings"

	"heddle/internal/dataset/protocol"
	"heddle/internal/dataset/worker/seal"
)

// Main is heddle-sql: args are its arguments without the program's name. It speaks
// on in and on what out was when it started: the file descriptor of out is the null
// device from then on, so that nothing the engine prints gets into the protocol.
// It calls exit when in ends, whatever the engine does then, and else returns the
// exit code.
func Main(ctx context.Context, args []string, in, out *os.File, stderr io.Writer, exit func(code int)) int {
	flags := flag.NewFlagSet("heddle-sql", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() { fmt.Fprintln(stderr, usage) }
	config := flags.String("config", "", "")
	check := flags.Bool("check", false, "")
	version := flags.Bool("version", false, "")
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case *version:
		fmt.Fprintln(out, engineName())
		return 0
	case !*check && *config == "":
		fmt.Fprintln(stderr, usage)
		return 2
	}
	channel, err := takeStdout(out)
	if err != nil {
		fmt.Fprintln(stderr, "heddle-sql: error: take stdout:", err)
		return 1
	}
	if *check {
		return checkOnly(ctx, channel, stderr)
	}
	var c protocol.Config
	if err := json.Unmarshal([]byte(*config), &c); err != nil {
		fmt.Fprintln(stderr, "heddle-sql: error: -config:", err)
		return 2
	}
	return run(ctx, c, in, channel, stderr, exit)
}

const usage = "heddle-sql is the worker process that heddle starts for SQL over datasets; it is of no use alone. -check tells whether it works here."

// engineName is what Hello says of the engine.
func engineName() string { return "DuckDB " + duck.LibraryVersion() }

// goMemory is what Go's heap is kept under while that is possible: the engine needs
// the rest of what the process may have.
const goMemory = 192 << 20

// start starts an engine and seals the process, and tests both.
func start(ctx context.Context, c protocol.Config) (*engine, protocol.Hello) {
	hello := protocol.Hello{Engine: engineName()}
	e, err := open(c)
	if err == nil {
		// The engine is open before the seal is shut: as it starts it looks for the
		// limits of its control group, and ends the process where it may not read
		// them. It has no threads yet, which the seal would not reach.
		hello.Lacks, err = seal.Seal(c)
	}
	if err == nil {
		err = e.lock(ctx, c.Threads)
	}
	if err == nil {
		err = e.selfTest(ctx)
	}
	if err != nil {
		hello.Error = err.Error()
	}
	return e, hello
}

// run serves until in ends.
func run(ctx context.Context, c protocol.Config, in io.Reader, channel io.Writer, stderr io.Writer, exit func(int)) int {
	debug.SetMemoryLimit(goMemory)
	debug.SetTraceback("none") // where the engine aborts, it has said why
	s := newServer(channel, stderr, exit)
	e, hello := start(ctx, c)
	s.reply(protocol.Reply{Hello: &hello}, nil)
	if hello.Error != "" {
		fmt.Fprintln(stderr, "heddle-sql: error:", hello.Error)
		return 1
	}
	s.engine = e
	if err := s.read(ctx, in); err != nil {
		fmt.Fprintln(stderr, "heddle-sql: error: read a request:", err)
		exit(1)
	}
	// The gateway is gone. Queries that still run cannot all be interrupted, and
	// closing the engine would wait for them.
	exit(0)
	return 0
}

// checkOnly starts a worker as heddle would, and says what it says: a process of its
// own, because a sealed one cannot tidy up.
func checkOnly(ctx context.Context, out, stderr io.Writer) int {
	hello, err := helloOf(ctx, stderr)
	if err != nil {
		fmt.Fprintln(stderr, "heddle-sql: error:", err)
		return 1
	}
	line, _ := json.MarshalIndent(hello, "", "  ") // plain values
	fmt.Fprintln(out, string(line))
	if hello.Error != "" {
		return 1
	}
	return 0
}

const (
	checkMemory = 256 << 20
	checkTime   = 20 * time.Second
)

func helloOf(ctx context.Context, stderr io.Writer) (*protocol.Hello, error) {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	dir, err := os.MkdirTemp("", "heddle-sql-check-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	config, _ := json.Marshal(protocol.Config{Memory: checkMemory, TempDir: dir}) // plain values
	cmd := exec.CommandContext(ctx, self, "-config", string(config))
	cmd.Stderr = stderr
	cmd.WaitDelay = time.Second
	var words bytes.Buffer
	cmd.Stdout = &words // its stdin is at its end, so it says hello and goes
	failed := cmd.Run()
	var first protocol.Reply
	if err := protocol.Read(bufio.NewReader(&words), &first); err != nil || first.Hello == nil {
		return nil, fmt.Errorf("the worker did not say hello: %v", errors.Join(failed, err))
	}
	return first.Hello, nil
}
