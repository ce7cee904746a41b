//go:build cgo

package worker

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"heddle/internal/dataset/protocol"
	"heddle/internal/dataset/records"
)

const testMemory = 200 << 20

// binary is the real heddle-sql, built when the first test wants it.
var binary = sync.OnceValues(func() (string, error) {
	path := filepath.Join(binaryDir, "heddle-sql")
	out, err := exec.Command("go", "build", "-o", path, "heddle/cmd/heddle-sql").CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, out)
	}
	return path, err
})

var binaryDir string

func TestMain(m *testing.M) {
	var err error
	if binaryDir, err = os.MkdirTemp("", "heddle-sql-test-"); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(binaryDir)
	os.Exit(code)
}

// client speaks the protocol, as the gateway does.
type client struct {
	t  testing.TB
	in io.WriteCloser

	mu      sync.Mutex
	last    uint64
	pending map[uint64]chan answer
	hello   protocol.Hello
	gone    chan struct{} // closed when there is nothing more to read
}

type answer struct {
	protocol.Reply
	payload []byte
}

func newClient(t testing.TB, in io.WriteCloser, out io.Reader) *client {
	c := &client{t: t, in: in, pending: map[uint64]chan answer{}, gone: make(chan struct{})}
	r := bufio.NewReader(out)
	var first protocol.Reply
	if err := protocol.Read(r, &first); err != nil || first.Hello == nil {
		t.Fatalf("hello: %+v, %v", first, err)
	}
	c.hello = *first.Hello
	go c.read(r)
	return c
}

func (c *client) read(r *bufio.Reader) {
	defer close(c.gone)
	for {
		var a answer
		if err := protocol.Read(r, &a.Reply); err != nil {
			if !errors.Is(err, io.EOF) {
				c.t.Errorf("read a reply: %v", err)
			}
			return
		}
		a.payload = make([]byte, a.Payload)
		if _, err := io.ReadFull(r, a.payload); err != nil {
			return
		}
		c.mu.Lock()
		to := c.pending[a.ID]
		delete(c.pending, a.ID)
		c.mu.Unlock()
		to <- a
	}
}

// send sends a request; the channel has its answer.
func (c *client) send(q protocol.Request, payload []byte) (uint64, <-chan answer) {
	to := make(chan answer, 1)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last++
	q.ID, q.Payload = c.last, int64(len(payload))
	c.pending[q.ID] = to
	if err := protocol.Write(c.in, q, payload); err != nil {
		c.t.Logf("write a request: %v", err)
	}
	return q.ID, to
}

// do sends a request and waits for its answer. ok is false if the worker died.
func (c *client) do(q protocol.Request, payload []byte) (a answer, ok bool) {
	_, to := c.send(q, payload)
	select {
	case a := <-to:
		return a, true
	case <-c.gone:
		return answer{}, false
	}
}

// must is do for what has to succeed.
func (c *client) must(q protocol.Request, payload []byte) answer {
	c.t.Helper()
	a, ok := c.do(q, payload)
	if !ok || a.Kind != "" {
		c.t.Fatalf("%+v: %v %s: %s %v", q, ok, a.Kind, a.Error, a.Names)
	}
	return a
}

func (c *client) load(name, array string) *protocol.Profile {
	c.t.Helper()
	return c.must(loadOf(name), []byte(array)).Profile
}

func loadOf(name string) protocol.Request {
	return protocol.Request{Load: &protocol.Load{Name: name, Table: records.Table{Form: records.FormArray, Path: "$", Source: "text"}, Sample: 5}}
}

// query returns the rows of a query as cells, of which NULL is nil.
func (c *client) query(sql string) [][]*string {
	c.t.Helper()
	a := c.must(protocol.Request{Query: &protocol.Query{SQL: sql, Inline: 1 << 20, All: true}}, nil)
	return readTSV(a.payload)[1:]
}

// one is query for a single cell.
func (c *client) one(sql string) string {
	c.t.Helper()
	rows := c.query(sql)
	if len(rows) != 1 || len(rows[0]) != 1 || rows[0][0] == nil {
		c.t.Fatalf("%s: got %d rows: %v", sql, len(rows), rows)
	}
	return *rows[0][0]
}

// refused is the kind and text of what has to fail.
func (c *client) refused(q *protocol.Query) (protocol.Kind, string) {
	c.t.Helper()
	a, ok := c.do(protocol.Request{Query: q, Timeout: 10_000}, nil)
	if !ok || a.Kind == "" {
		c.t.Errorf("%.200s: got %+v, want an error", q.SQL, a.Reply)
	}
	return a.Kind, a.Error
}

// readTSV reads rows as Result documents them, with the header.
func readTSV(b []byte) [][]*string {
	var rows [][]*string
	unescape := strings.NewReplacer(`\t`, "\t", `\n`, "\n", `\r`, "\r", `\\`, `\`)
	for _, line := range strings.Split(strings.TrimSuffix(string(b), "\n"), "\n") {
		var row []*string
		for _, cell := range strings.Split(line, "\t") {
			switch cell {
			case "":
				row = append(row, nil)
			case `""`:
				row = append(row, new(string))
			default:
				cell = unescape.Replace(cell)
				row = append(row, &cell)
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// inProcess is a worker in this process, which is not sealed.
func inProcess(t testing.TB) *client {
	t.Helper()
	c, _ := inProcessEngine(t)
	return c
}

func inProcessEngine(t testing.TB) (*client, *engine) {
	t.Helper()
	e, err := open(protocol.Config{Memory: testMemory, TempDir: t.TempDir()})
	if err == nil {
		err = e.lock(t.Context(), 0)
	}
	if err == nil {
		err = e.selfTest(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	requests, in := io.Pipe()
	out, replies := io.Pipe()
	s := newServer(replies, os.Stderr, func(int) { _ = replies.Close() })
	s.engine = e
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.reply(protocol.Reply{Hello: &protocol.Hello{Engine: engineName()}}, nil)
		_ = s.read(context.Background(), requests)
	}()
	c := newClient(t, in, out)
	t.Cleanup(func() {
		_ = in.Close()
		<-done
		_ = replies.Close()
		<-c.gone
		e.close()
	})
	return c, e
}

// child is the real worker as a process.
type child struct {
	*client
	cmd *exec.Cmd
	dir string
}

func startChild(t testing.TB) *child {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	config, _ := json.Marshal(protocol.Config{Memory: testMemory, TempDir: dir})
	cmd := exec.Command(path, "-config", string(config))
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
	c := &child{newClient(t, in, out), cmd, dir}
	if c.hello.Error != "" {
		t.Fatalf("hello: %+v", c.hello)
	}
	t.Cleanup(c.kill)
	return c
}

func (c *child) kill() {
	_ = c.cmd.Process.Kill()
	<-c.gone
	_ = c.cmd.Wait() // how it ended does not matter
}

// limited sends a query with a time, and kills the worker a second after that as the
// gateway does. died says that it is gone.
func (c *child) limited(q *protocol.Query, timeout time.Duration) (a answer, died bool, took time.Duration) {
	start := time.Now()
	_, to := c.send(protocol.Request{Query: q, Timeout: timeout.Milliseconds()}, nil)
	late := time.NewTimer(timeout + time.Second)
	defer late.Stop()
	select {
	case a := <-to:
		took = time.Since(start)
		if a.Kind == protocol.Memory || a.Kind == protocol.Broken {
			select { // it may end after that
			case <-c.gone:
				died = true
			case <-time.After(200 * time.Millisecond):
			}
		}
		return a, died, took
	case <-c.gone:
	case <-late.C:
		_ = c.cmd.Process.Kill()
		<-c.gone
	}
	return answer{}, true, time.Since(start)
}

func TestChildStarts(t *testing.T) {
	for range 5 {
		start := time.Now()
		c := startChild(t)
		t.Logf("%s after %v, lacks %q", c.hello.Engine, time.Since(start), c.hello.Lacks)
		c.kill()
	}
}

// TestEnd: the worker ends when its gateway does, also in a query that nothing can
// interrupt.
func TestEnd(t *testing.T) {
	c := startChild(t)
	c.send(protocol.Request{Query: &protocol.Query{SQL: "SELECT count(*) FROM range(1000000) a, range(1000000) b WHERE hash(a.range, b.range) = 1"}}, nil)
	time.Sleep(100 * time.Millisecond)
	start := time.Now()
	_ = c.in.Close()
	<-c.gone
	if err := c.cmd.Wait(); err != nil || time.Since(start) > time.Second {
		t.Errorf("ended with %v after %v", err, time.Since(start))
	}
}

func TestCommandLine(t *testing.T) {
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		args []string
		code int
		want string
	}{
		{nil, 2, "heddle starts"},
		{[]string{"-version"}, 0, "DuckDB v1."},
		{[]string{"-config", "{"}, 2, "-config"},
		{[]string{"-config", "{}"}, 1, `"error":"`},
		{[]string{"-check"}, 0, `"engine": "DuckDB v1.`},
		{[]string{"-nope"}, 2, "heddle starts"},
	} {
		out, err := exec.Command(path, test.args...).CombinedOutput()
		code := 0
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			code = exit.ExitCode()
		}
		if code != test.code || !strings.Contains(string(out), test.want) {
			t.Errorf("%q: got %d %s, want %d %s", test.args, code, out, test.code, test.want)
		}
	}
}

// endless takes years, and can be interrupted.
const endless = "SELECT count(*) FROM range(100000000) a, range(100000000) b WHERE a.range <> b.range"

func TestTimeAndCancel(t *testing.T) {
	c := startChild(t)
	for _, sql := range []string{
		endless,
		"SELECT sum(a.i * b.i) FROM range(1000000) a(i), range(1000000) b(i)",
		"WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r",
	} {
		a, died, took := c.limited(&protocol.Query{SQL: sql}, 500*time.Millisecond)
		if died || a.Kind != protocol.Timeout || took > 1500*time.Millisecond {
			t.Errorf("%s: got %s %q after %v, died: %v", sql, a.Kind, a.Error, took, died)
		}
	}
	id, to := c.send(protocol.Request{Query: &protocol.Query{SQL: endless}}, nil)
	time.AfterFunc(100*time.Millisecond, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		_ = protocol.Write(c.in, protocol.Request{Cancel: id}, nil)
	})
	select {
	case a := <-to:
		if a.Kind != protocol.Cancelled {
			t.Errorf("cancelled: got %+v", a.Reply)
		}
	case <-time.After(2 * time.Second):
		t.Error("not cancelled")
	}
	// Twenty at once, and the next is normal.
	var all []<-chan answer
	for range 20 {
		_, to := c.send(protocol.Request{Query: &protocol.Query{SQL: endless}, Timeout: 500}, nil)
		all = append(all, to)
	}
	for _, to := range all {
		if a := <-to; a.Kind != protocol.Timeout {
			t.Errorf("one of twenty: got %+v", a.Reply)
		}
	}
	if got := c.one("SELECT 40 + 2"); got != "42" {
		t.Errorf("after that: got %s", got)
	}
}

// TestBroken: what breaks the engine is told, and ends the worker.
func TestBroken(t *testing.T) {
	for text, want := range map[string]protocol.Kind{
		"FATAL Error: Failed: database has been invalidated because of a previous fatal error": protocol.Broken,
		"INTERNAL Error: Attempted to access index 3":                                          protocol.Broken,
		"TransactionContext Error: database has been invalidated":                              protocol.Broken,
		"Out of Memory Error: failed to allocate":                                              protocol.Memory,
		"Binder Error: no such column":                                                         protocol.Invalid,
		"Conversion Error: Could not convert":                                                  protocol.Failed,
	} {
		if f := asFault(context.Background(), newEngineError(text), testMemory); f.kind != want {
			t.Errorf("%s: got %s, want %s", text, f.kind, want)
		}
	}
}
