package dataset

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"heddle/internal/dataset/protocol"
)

const (
	// startWait is how long a worker may take to say hello.
	startWait = 15 * time.Second
	// grace is how long a request may be past its time before the worker is killed:
	// some of what the engine does cannot be interrupted.
	grace = time.Second
)

// errDied says that the worker ended before it answered. The request may be sent to
// another.
var errDied = errors.New("the SQL worker ended")

// errRefuses says that a worker ends at its start, which the next one will do too.
var errRefuses = errors.New("heddle-sql does not start")

// worker is a running heddle-sql. Its end is seen by everyone who waits.
type worker struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   io.ReadCloser
	dir   string // private, removed with it
	hello protocol.Hello
	last  atomic.Uint64 // id

	writing sync.Mutex

	mu      sync.Mutex
	pending map[uint64]chan<- message
	killed  bool

	dead chan struct{} // closed once the process has been waited for
}

// message is a reply with its payload.
type message struct {
	reply   protocol.Reply
	payload []byte
}

// start starts a worker and waits for its hello.
func start(ctx context.Context, o *Options) (*worker, error) {
	sweep(o.TempDir)
	dir, err := os.MkdirTemp(o.TempDir, fmt.Sprintf("%s%d-", dirPrefix, os.Getpid()))
	if err != nil {
		return nil, err
	}
	w := &worker{dir: dir, pending: map[uint64]chan<- message{}, dead: make(chan struct{})}
	config, _ := json.Marshal(protocol.Config{Memory: o.Memory, TempDir: dir}) // a struct of plain values
	w.cmd = exec.Command(o.Command, "-config", string(config))                 //nolint: it outlives every context
	w.cmd.Env = []string{"TMPDIR=" + dir, "TZ=UTC", "LANG=C.UTF-8"}            // nothing of ours
	w.cmd.Dir = dir
	w.cmd.Stderr = &lines{log: o.Logger}
	w.cmd.SysProcAttr = attributes()
	w.cmd.WaitDelay = grace // for what else holds its stderr
	w.out, err = w.cmd.StdoutPipe()
	if err == nil {
		w.in, err = w.cmd.StdinPipe()
	}
	if err == nil {
		err = w.cmd.Start()
	}
	if err != nil {
		_ = os.RemoveAll(dir)
		return nil, err
	}
	hello := make(chan protocol.Hello, 1)
	go w.read(hello)
	select {
	case h, ok := <-hello:
		switch {
		case !ok:
			<-w.dead
			err = fmt.Errorf("%w: it ended before its first word (%v)", errRefuses, w.cmd.ProcessState)
		case h.Error != "":
			err = fmt.Errorf("%w: %s", errRefuses, h.Error)
		}
		w.hello = h
	case <-time.After(startWait):
		err = fmt.Errorf("%w: it said nothing for %v", errRefuses, startWait)
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if err != nil {
		w.stop()
		return nil, err
	}
	return w, nil
}

// read takes replies until the worker ends, and then reaps it.
func (w *worker) read(hello chan<- protocol.Hello) {
	defer w.reap()
	defer close(hello)
	r := bufio.NewReaderSize(w.out, 64<<10)
	for {
		var m message
		if err := protocol.Read(r, &m.reply); err != nil {
			return
		}
		if n := m.reply.Payload; n > 0 {
			if n > 2*protocol.MaxPayload {
				return
			}
			m.payload = make([]byte, n)
			if _, err := io.ReadFull(r, m.payload); err != nil {
				return
			}
		}
		if m.reply.Hello != nil {
			hello <- *m.reply.Hello
			continue
		}
		w.mu.Lock()
		to := w.pending[m.reply.ID]
		delete(w.pending, m.reply.ID)
		w.mu.Unlock()
		if to != nil {
			to <- m // has room
		}
	}
}

// reap kills what is left of the process, waits for it and tells all who wait.
func (w *worker) reap() {
	w.end()
	_ = w.cmd.Wait() // how it ended is in its state
	w.mu.Lock()
	w.killed = true
	for id, to := range w.pending {
		close(to)
		delete(w.pending, id)
	}
	w.mu.Unlock()
	_ = os.RemoveAll(w.dir)
	close(w.dead)
}

// alive reports whether the process has not ended, as far as is known.
func (w *worker) alive() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.killed
}

// kill ends the process at once; all who wait see it.
func (w *worker) kill() {
	w.mu.Lock()
	w.killed = true
	w.mu.Unlock()
	w.end()
}

// end kills the process, and the pipe with it: another one may hold that.
func (w *worker) end() {
	select {
	case <-w.dead: // its number may be another's by now
		return
	default:
	}
	killGroup(w.cmd.Process)
	_ = w.out.Close()
}

// dirPrefix begins the names of the workers' private directories, before the process
// that made one.
const dirPrefix = "heddle-sql-"

// sweep removes the private directories of heddles that were killed.
func sweep(parent string) {
	if parent == "" {
		parent = os.TempDir()
	}
	dirs, err := filepath.Glob(filepath.Join(parent, dirPrefix+"*"))
	if err != nil {
		return
	}
	for _, dir := range dirs {
		pid, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), dirPrefix), "-")
		n, err := strconv.Atoi(pid)
		if info, e := os.Lstat(dir); err == nil && e == nil && info.IsDir() && n != os.Getpid() && isGone(n) {
			_ = os.RemoveAll(dir) // another user's stays
		}
	}
}

// stop ends the process and waits for its end.
func (w *worker) stop() {
	_ = w.in.Close() // it takes that as the end
	select {
	case <-w.dead:
	case <-time.After(grace):
		w.kill()
		<-w.dead
	}
}

// do sends a request and waits for its reply. Past its time, or when ctx has ended
// and the worker does not stop within a second, the worker is killed. The error is
// errDied if it ended for another reason than this request.
func (w *worker) do(ctx context.Context, r protocol.Request, payload []byte, timeout time.Duration) (protocol.Reply, []byte, error) {
	r.ID, r.Timeout, r.Payload = w.last.Add(1), timeout.Milliseconds(), int64(len(payload))
	answer := make(chan message, 1)
	w.mu.Lock()
	if w.killed {
		w.mu.Unlock()
		return protocol.Reply{}, nil, errDied
	}
	w.pending[r.ID] = answer
	w.mu.Unlock()
	var expired atomic.Bool
	late := time.AfterFunc(timeout+grace, func() { expired.Store(true); w.kill() })
	defer late.Stop()
	if w.write(r, payload) != nil {
		w.kill() // it does not read: what waits for it waits in vain
	}
	var m message
	var ok bool
	select {
	case m, ok = <-answer:
	case <-ctx.Done():
		late.Reset(grace)
		_ = w.write(protocol.Request{Cancel: r.ID}, nil) // if it does not read, grace ends it
		m, ok = <-answer
	}
	switch {
	case ok && ctx.Err() == nil:
		return m.reply, m.payload, nil
	case ctx.Err() != nil:
		return protocol.Reply{}, nil, context.Cause(ctx)
	case expired.Load():
		return protocol.Reply{Kind: protocol.Timeout}, nil, nil
	}
	return protocol.Reply{}, nil, errDied
}

func (w *worker) write(r protocol.Request, payload []byte) error {
	w.writing.Lock()
	defer w.writing.Unlock()
	return protocol.Write(w.in, r, payload)
}

// lines logs what a worker writes to stderr, a bounded line at a time.
type lines struct {
	log  *slog.Logger
	rest []byte
}

const maxLine = 500

// Write implements [io.Writer]. It never fails.
func (l *lines) Write(b []byte) (int, error) {
	l.rest = append(l.rest, b...)
	for {
		line, rest, found := bytes.Cut(l.rest, []byte{'\n'})
		switch {
		case found:
			l.log.Warn("heddle-sql", "said", string(line[:min(len(line), maxLine)]))
			l.rest = append(l.rest[:0], rest...)
		case len(l.rest) > maxLine:
			l.log.Warn("heddle-sql", "said", string(l.rest[:maxLine]))
			l.rest = l.rest[:0]
			return len(b), nil
		default:
			return len(b), nil
		}
	}
}
