package upstream

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// How long each step of an orderly end may take. All servers end side by side,
// so this is also how long a daemon's end takes: under five seconds.
const (
	closeWait = 1500 * time.Millisecond // after stdin is closed
	termWait  = 1500 * time.Millisecond // after SIGTERM
	killWait  = 1 * time.Second         // after SIGKILL
)

// ownerVar marks every process of a server in its environment, so that those
// which left the process group are found as well.
const ownerVar = "HEDDLE_OWNER"

// Spawner starts server processes. On Linux each start runs on one thread that
// lives as long as Run, because the kernel ties a child's parent-death signal to
// the thread that made it.
type Spawner struct {
	watchdog []string // command of the watchdog, nil for none
	run      string   // marks this daemon's processes
	count    atomic.Int64
	jobs     chan func()

	mu  sync.Mutex
	dog *dog
}

// NewSpawner returns a spawner. watchdog is the command that runs [Watchdog],
// to which a run id is added; nil starts none.
func NewSpawner(watchdog []string) *Spawner {
	var id [8]byte
	_, _ = rand.Read(id[:]) // never fails
	return &Spawner{watchdog: watchdog, run: hex.EncodeToString(id[:]), jobs: make(chan func())}
}

// Run serves starts until ctx ends, then lets the watchdog go. It must outlive
// every server that it started.
func (s *Spawner) Run(ctx context.Context) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for {
		select {
		case job := <-s.jobs:
			job()
		case <-ctx.Done():
			s.mu.Lock()
			defer s.mu.Unlock()
			s.dog.release()
			return nil
		}
	}
}

// start starts cmd on the spawner's thread.
func (s *Spawner) start(ctx context.Context, cmd *exec.Cmd) error {
	result := make(chan error, 1)
	select {
	case s.jobs <- func() { result <- cmd.Start() }:
		return <-result
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// process is one running server process.
type process struct {
	cmd    *exec.Cmd
	owner  string // value of ownerVar
	stdin  *os.File
	stdout *os.File
	stderr *os.File
	tail   tail
	dog    *dog
	exited chan struct{} // closed once the process has been waited for
	state  *os.ProcessState
	// drained is closed at the end of stderr, which a grandchild may hold open.
	drained chan struct{}
}

// spawn starts the server's process. Stderr is drained from the start.
func (s *Spawner) spawn(ctx context.Context, c *Config) (*process, error) {
	p := &process{exited: make(chan struct{}), drained: make(chan struct{})}
	p.owner = fmt.Sprintf("%s.%d.%s", s.run, s.count.Add(1), c.Name)
	path, err := lookPath(c.Command, c.Env)
	if err != nil {
		return nil, err
	}
	if c.Dir != "" { // the kernel's error would not say which of the two is missing
		if _, err := os.Stat(c.Dir); err != nil {
			return nil, &fs.PathError{Op: "chdir", Path: c.Dir, Err: err.(*fs.PathError).Err}
		}
	}
	p.cmd = &exec.Cmd{Path: path, Args: append([]string{c.Command}, c.Args...), Dir: c.Dir}
	p.cmd.Env = append(append(make([]string, 0, len(c.Env)+1), c.Env...), ownerVar+"="+p.owner)
	p.cmd.SysProcAttr = childAttr()
	theirs, err := p.pipes()
	defer closeAll(theirs)
	if err == nil {
		p.dog = s.guard()
		err = s.start(ctx, p.cmd)
	}
	if err != nil {
		closeAll([]*os.File{p.stdin, p.stdout, p.stderr})
		return nil, err
	}
	p.dog.watch(p.cmd.Process.Pid)
	go p.drain()
	go p.wait()
	return p, nil
}

// pipes connects the command and returns the child's ends.
func (p *process) pipes() (theirs []*os.File, err error) {
	pipe := func() (r, w *os.File) {
		if err == nil {
			r, w, err = os.Pipe()
		}
		return r, w
	}
	inR, inW := pipe()
	outR, outW := pipe()
	errR, errW := pipe()
	p.stdin, p.stdout, p.stderr = inW, outR, errR
	if err == nil {
		p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = inR, outW, errW
		widen(outR)
	}
	return []*os.File{inR, outW, errW}, err
}

func closeAll(files []*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}

// lookPath finds the command in the child's own PATH, which is not always ours.
func lookPath(command string, env []string) (string, error) {
	if strings.ContainsRune(command, os.PathSeparator) || runtime.GOOS == "windows" {
		return exec.LookPath(command)
	}
	for _, kv := range env {
		path, ok := strings.CutPrefix(kv, "PATH=")
		if !ok {
			continue
		}
		for dir := range strings.SplitSeq(path, string(os.PathListSeparator)) {
			if p, err := exec.LookPath(dir + string(os.PathSeparator) + command); err == nil && dir != "" {
				return p, nil
			}
		}
		return "", &exec.Error{Name: command, Err: fmt.Errorf("%w (%s)", exec.ErrNotFound, path)}
	}
	return exec.LookPath(command)
}

// drain reads stderr for as long as anybody holds it: a server whose stderr is
// full stands still.
func (p *process) drain() {
	_, _ = io.Copy(&p.tail, p.stderr)
	_ = p.stderr.Close()
	close(p.drained)
}

// wait reaps the process.
func (p *process) wait() {
	_ = p.cmd.Wait() // the state says how it ended
	p.state = p.cmd.ProcessState
	close(p.exited)
}

// exitText says how the process ended: "exit status 3", "signal: killed".
func (p *process) exitText() string {
	select {
	case <-p.exited:
		if p.state != nil {
			return p.state.String()
		}
		return "ended"
	default:
		return "still running"
	}
}

// stop ends the process and all that it started: closes its stdin, waits, sends
// SIGTERM to its group, waits, kills. A second stop waits for the first.
func (p *process) stop() {
	_ = p.stdin.Close()
	if !p.gone(closeWait) {
		signalTree(p, false)
		if !p.gone(termWait) {
			signalTree(p, true)
			p.gone(killWait)
		}
	}
	p.sweep()
	p.dog.forget(p.cmd.Process.Pid)
	_ = p.stdout.Close()
	_ = p.stderr.Close()
}

// sweep ends what the process left behind in its group or outside it.
func (p *process) sweep() {
	if !hasSurvivors(p) {
		return
	}
	signalTree(p, false)
	for range 10 {
		if !hasSurvivors(p) {
			return
		}
		time.Sleep(20 * time.Millisecond) // there is no event for the end of a process that is not our child
	}
	for range 3 { // one look can miss a process that is just being started
		signalTree(p, true)
		if !hasSurvivors(p) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func (p *process) gone(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-p.exited:
		return true
	case <-t.C:
		return false
	}
}

// tail keeps the last bytes of stderr.
type tail struct {
	mu    sync.Mutex
	buf   []byte
	total int64
}

const (
	tailSize = 4 << 10
	// secretSize is the length of the longest secret that is expected.
	secretSize = 512
)

// Write implements io.Writer. It never fails.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.total += int64(len(b))
	keep := b
	if len(keep) > tailSize {
		keep = keep[len(keep)-tailSize:]
	}
	t.buf = append(t.buf, keep...)
	if over := len(t.buf) - tailSize; over > 0 {
		t.buf = append(t.buf[:0], t.buf[over:]...)
	}
	return len(b), nil
}

// lines returns the last n lines, oldest first, made printable.
func (t *tail) lines(n int, mask func(string) string) []string {
	t.mu.Lock()
	kept := string(t.buf)
	cut := t.total > int64(len(t.buf))
	t.mu.Unlock()
	if cut { // it begins in a line, perhaps in a secret, half of which no mask finds
		if i := strings.IndexAny(kept, "\r\n"); i >= 0 {
			kept = kept[i:]
		} else {
			kept = kept[min(len(kept), secretSize):]
		}
	}
	text := mask(strings.ToValidUTF8(kept, "\uFFFD"))
	var out []string
	for line := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '\n' || r == '\r' }) {
		if strings.TrimSpace(line) != "" {
			out = append(out, printable([]byte(line), 300))
		}
	}
	return out[max(0, len(out)-n):]
}
