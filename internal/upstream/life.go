//lint:file-ignore SA1019 protocol versions before 2026-07-28 have sampling, roots and logging, and so do the hosts and servers that speak them

package upstream

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os/exec"
	"strings"
	"sync/atomic"
	"time"

	"heddle/internal/wire"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// modernVersion is the first protocol version without a handshake, and
	// legacyVersion the last one with it.
	modernVersion = "2026-07-28"
	legacyVersion = "2025-11-25"
)

// life is one process, or in-process peer, from its start to its end.
type life struct {
	s       *Server
	proc    *process  // nil in-process and over HTTP
	peer    io.Closer // nil for a process
	session *session
	dead    chan struct{} // closed once session has ended
	cancel  context.CancelFunc
}

// open starts the server and the reading of its output.
func (s *Server) open(ctx context.Context) (*life, error) {
	ctx, cancel := context.WithCancel(ctx)
	l := &life{s: s, dead: make(chan struct{}), cancel: cancel}
	sess := &session{
		name: s.cfg.Name, deps: &s.deps, ctx: ctx, pending: map[uint64]*pending{}, done: make(chan struct{}), broken: make(chan struct{}),
		stray: strays{mask: s.deps.mask}, relist: make(chan struct{}, 1),
	}
	source, w, err := l.connect(ctx, sess)
	if err != nil {
		cancel()
		return nil, err
	}
	sess.conn = wire.NewConn(source, wire.NewWriter(w), sess, func() error { return nil })
	sess.conn.Writer().Gather(&sess.count)
	l.session = sess
	go func() { _ = sess.conn.Run() }() // ends with the stream, which close ends
	go l.reap()
	return l, nil
}

// connect opens the way to the server: a process, a peer in this one, or HTTP.
func (l *life) connect(ctx context.Context, sess *session) (wire.Source, io.Writer, error) {
	cfg := &l.s.cfg
	switch {
	case cfg.Open != nil:
		link, err := cfg.Open(ctx, sess.fail)
		if err != nil {
			return nil, nil, &failure{code: "start_failed", text: "could not be reached: " + err.Error()}
		}
		l.peer, sess.origin = link, link.Origin
		return link, link, nil
	case cfg.Connect != nil:
		peer, err := cfg.Connect(ctx)
		if err != nil {
			return nil, nil, &failure{code: "start_failed", text: "could not be started: " + err.Error()}
		}
		l.peer = peer
		return wire.NewReader(peer, cfg.MaxFrame), peer, nil
	}
	proc, err := l.s.deps.Spawner.spawn(ctx, cfg)
	if err != nil {
		return nil, nil, notStarted(cfg.Command, err)
	}
	l.proc = proc
	l.s.update(func(st *status) { st.pid = proc.cmd.Process.Pid })
	return wire.NewReader(proc.stdout, cfg.MaxFrame), proc.stdin, nil
}

// reap ends the session once the stream or the process has ended.
func (l *life) reap() {
	defer close(l.dead)
	how := "its stream ended"
	if l.proc != nil {
		how = l.ending()
	} else {
		select {
		case <-l.session.conn.Ended():
		case <-l.session.broken:
		}
	}
	l.session.end(l.why(how))
}

// why returns the error of what waits at the end of a session. A server that has
// forgotten an HTTP session has not seen what was sent in it.
func (l *life) why(how string) error {
	err := l.session.conn.Err()
	if errors.Is(err, wire.ErrSessionLost) {
		return err
	}
	if l.s.cfg.Open != nil && err != nil {
		how = l.s.deps.mask(err.Error())
	}
	return &exitedError{how: how, tail: l.tail(), first: new(atomic.Bool)}
}

// ending waits for the end of a process or one of its streams and says how it
// ended.
func (l *life) ending() string {
	how := "closed its stdout"
	select {
	case <-l.session.conn.Ended():
		l.proc.gone(300 * time.Millisecond) // most close their output by exiting
	case <-l.session.broken:
		how = "closed its stdin"
		l.proc.gone(300 * time.Millisecond)
	case <-l.proc.exited:
		wait(l.session.conn.Ended(), 300*time.Millisecond) // for the last answers; a grandchild may hold the pipe
	}
	if text := l.proc.exitText(); text != "still running" {
		how = text
		wait(l.proc.drained, 100*time.Millisecond) // for the last lines of stderr
	}
	return how
}

func wait(c <-chan struct{}, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-c:
	case <-t.C:
	}
}

// tail returns the last lines of stderr.
func (l *life) tail() []string {
	if l.proc == nil {
		return nil
	}
	return l.proc.tail.lines(5, l.s.deps.mask)
}

// handshake connects the SDK's session and lists the tools. It begins with
// initialize, which nearly every server speaks; one that refuses it is asked the
// new way in its next life.
func (l *life) handshake(ctx context.Context) error {
	l.s.mu.Lock()
	modern := l.s.st.modern
	l.s.mu.Unlock()
	opts := &mcp.ClientSessionOptions{ProtocolVersion: legacyVersion}
	if modern {
		opts.ProtocolVersion = modernVersion
	}
	sdk, err := l.client(ctx).Connect(ctx, transport{l.session}, opts)
	if err != nil {
		return err
	}
	l.session.sdk = sdk
	init := sdk.InitializeResult()
	if init.ProtocolVersion >= modernVersion {
		l.session.modern = init.ProtocolVersion
	} else if l.s.cfg.Twin {
		return errors.New("answers server/discover, but does not speak the protocol without handshake")
	}
	l.s.update(func(st *status) {
		st.protocol, st.instructions, st.features = init.ProtocolVersion, init.Instructions, featuresOf(init.Capabilities)
	})
	if l.s.cfg.Twin { // what it has is known
		return nil
	}
	_, err = l.list(ctx, listTools)
	return err
}

// client returns the SDK's client. Its handlers exist so that it subscribes to
// changes where there is no handshake; the lane hears of them first.
func (l *life) client(ctx context.Context) *mcp.Client {
	return mcp.NewClient(&mcp.Implementation{Name: "heddle", Version: l.s.deps.Version}, &mcp.ClientOptions{
		Logger:                     slog.New(slog.DiscardHandler),
		Capabilities:               l.s.deps.capabilities(ctx),
		MultiRoundTrip:             &mcp.MultiRoundTripOptions{Disabled: true},
		ToolListChangedHandler:     func(context.Context, *mcp.ToolListChangedRequest) {},
		PromptListChangedHandler:   func(context.Context, *mcp.PromptListChangedRequest) {},
		ResourceListChangedHandler: func(context.Context, *mcp.ResourceListChangedRequest) {},
	})
}

// capabilities are what a server may ask of us: what the host can, once it has
// said so. Before that, everything: a host that cannot answers with an error.
func (d *Deps) capabilities(ctx context.Context) *mcp.ClientCapabilities {
	if d.Capabilities != nil {
		c := &mcp.ClientCapabilities{}
		if raw := d.Capabilities(ctx); raw != nil && json.Unmarshal(raw, c) == nil {
			if roots := wire.Member(raw, "roots"); roots != nil {
				c.RootsV2 = &mcp.RootCapabilities{ListChanged: string(wire.Member(roots, "listChanged")) == "true"}
			}
			return c
		}
	}
	return &mcp.ClientCapabilities{
		RootsV2:     &mcp.RootCapabilities{ListChanged: true},
		Sampling:    &mcp.SamplingCapabilities{Tools: &mcp.SamplingToolsCapabilities{}, Context: &mcp.SamplingContextCapabilities{}},
		Elicitation: &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{}, URL: &mcp.URLElicitationCapabilities{}},
	}
}

// serve keeps what the server lists current until the session or ctx ends, or
// nobody has used it for long.
func (l *life) serve(ctx context.Context) error {
	l.more(ctx)
	idle := l.idleTimer()
	defer idle.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-l.dead:
			if errors.Is(l.session.gone(), wire.ErrSessionLost) {
				return errRenew
			}
			return l.diagnose(l.session.gone())
		case <-l.session.relist:
			l.refresh(ctx, l.session.outdated()...)
			l.rest(ctx)
		case <-idle.C:
			if l.retire() {
				return errIdle
			}
			idle.Reset(l.s.cfg.IdleStop)
		}
	}
}

// refresh lists anew. The old list stays where that fails. Hosts are told once
// of all that has changed.
func (l *life) refresh(ctx context.Context, methods ...string) {
	told := map[string]bool{}
	for _, method := range methods {
		limit := l.s.cfg.StartTimeout
		if method != listTools {
			limit = min(limit, otherTimeout)
		}
		listCtx, cancel := context.WithTimeoutCause(ctx, limit, errStartTimeout)
		changed, err := l.list(listCtx, method)
		cancel()
		if err != nil && ctx.Err() == nil && l.session.gone() == nil { // an end is no failure
			l.warn(method, "listing failed: "+l.s.deps.mask(err.Error()))
			l.s.deps.Logger.Warn("listing failed, the old list stays", "server", l.s.cfg.Name, "method", method, "err", l.s.deps.mask(err.Error()))
		}
		if changed && changedBy[method] != "" {
			told[changedBy[method]] = true
		}
	}
	for notification := range told {
		if l.s.deps.Heard != nil {
			l.s.deps.Heard(l.s.cfg.Name, notification, nil, nil)
		}
	}
}

// otherTimeout is how long a server may take to list what is not tools: until
// then, hosts' lists wait for it for a moment.
const otherTimeout = 10 * time.Second

// warn keeps a warning about a list for the status.
func (l *life) warn(method, text string) {
	l.s.update(func(st *status) {
		st.warnings = maps.Clone(st.warnings)
		if st.warnings == nil {
			st.warnings = map[string][]string{}
		}
		st.warnings[method] = []string{method + ": " + text}
	})
}

// more lists what is not tools, sets the log level and renews subscriptions. A
// server is ready before: nothing of this may keep a call waiting.
func (l *life) more(ctx context.Context) {
	if !l.s.cfg.Twin {
		l.s.mu.Lock()
		f := l.s.st.features
		l.s.mu.Unlock()
		var methods []string
		if f.Resources {
			methods = append(methods, ListResources, ListTemplates)
		}
		if f.Prompts {
			methods = append(methods, ListPrompts)
		}
		l.refresh(ctx, methods...)
	}
	l.s.update(func(st *status) { st.more = true })
	if !l.s.cfg.Twin {
		l.s.restore(ctx, l.session)
	}
	if l.s.deps.Listed != nil && !l.s.cfg.Twin {
		l.s.deps.Listed(l.s)
	}
}

// idleTimer fires after the configured time without a call; never, if there is
// none.
func (l *life) idleTimer() *time.Timer {
	if l.s.cfg.IdleStop <= 0 {
		t := time.NewTimer(time.Hour)
		t.Stop()
		return t
	}
	return time.NewTimer(l.s.cfg.IdleStop)
}

// retire takes the session out of use if nobody has used it for long. A call has
// a place also while its host answers what the server wants to know. A call
// that crosses with this finds it ended before it was sent, and takes the next.
func (l *life) retire() bool {
	last := time.Unix(0, l.session.used.Load())
	if len(l.s.places) > 0 || l.session.inFlight() > 0 || l.s.subscribed() || time.Since(last) < l.s.cfg.IdleStop {
		return false
	}
	l.s.session.CompareAndSwap(l.session, nil)
	return l.session.endIfIdle(errIdle)
}

// listRest is the least time between two listings: some servers say that their
// tools changed once for each of a hundred tools.
const listRest = 100 * time.Millisecond

// rest lets what a server says right after a listing come together.
func (l *life) rest(ctx context.Context) {
	select {
	case <-time.After(listRest):
	case <-l.dead:
	case <-ctx.Done():
	}
}

// close ends the server in good order.
func (l *life) close() {
	l.cancel()
	_ = l.session.conn.Close() // has no closer of its own
	if l.proc != nil {
		l.proc.stop()
	} else {
		_ = l.peer.Close()
	}
	<-l.dead
	<-l.session.conn.Ended()
	l.session.asks.running.Wait()
	if l.session.sdk != nil {
		_ = l.session.sdk.Close() // the stream is gone: nothing is lost
	}
}

// gone returns why the session has ended, nil while it lives.
func (s *session) gone() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended
}

// failure is why a start or a session failed, for status.
type failure struct {
	code, text string
	tail       []string
	stray      int64 // lines on stdout that are no messages
	strayFirst []string
	modern     bool // the next start should begin the new way
}

func (f *failure) Error() string { return f.text }

func failureOf(err error) *failure {
	var f *failure
	if errors.As(err, &f) {
		return f
	}
	return &failure{code: "failed", text: err.Error()}
}

func notStarted(command string, err error) *failure {
	var path *fs.PathError
	if errors.As(err, &path) && path.Op == "chdir" {
		return &failure{code: "start_failed", text: fmt.Sprintf("could not be started in %q: %v", path.Path, path.Err)}
	}
	if errors.Is(err, exec.ErrNotFound) || strings.Contains(err.Error(), "no such file") {
		return &failure{code: "command_not_found", text: fmt.Sprintf("command %q was not found: install it, or give its absolute path", command)}
	}
	return &failure{code: "start_failed", text: "could not be started: " + err.Error()}
}

// diagnose says why a handshake or a session failed.
func (l *life) diagnose(err error) *failure {
	f := &failure{}
	code, said := l.instead()
	if errors.Is(err, errStartTimeout) || errors.Is(err, context.DeadlineExceeded) {
		f.code = cmp.Or(code, "handshake_timeout")
		f.text = fmt.Sprintf("handshake timeout: no answer within %s of its start", l.s.cfg.StartTimeout)
	} else {
		l.afterEnd(f, err)
	}
	if f.code == code || code == codeNoProtocol && f.code != "exited" {
		f.text += "; " + said
	}
	f.stray, f.strayFirst = l.session.stray.get()
	f.text = printable([]byte(f.text), 600) // it may quote the server
	f.tail = l.tail()
	return f
}

// afterEnd tells an exit from an answer that was refused.
func (l *life) afterEnd(f *failure, err error) {
	var list *listError
	var ended *exitedError
	if errors.As(err, &ended) {
		err = l.session.gone()
	} else if !errors.As(err, &list) { // the SDK's error does not say that the process is gone
		wait(l.dead, 300*time.Millisecond)
		select {
		case <-l.session.conn.Ended():
			wait(l.dead, 2*time.Second) // reap is at work
		default:
		}
		if gone := l.session.gone(); gone != nil {
			err = gone
		}
	}
	switch {
	case errors.As(err, &ended):
		f.code, f.text = "exited", "ended ("+ended.how+")"
	case errors.As(err, &list):
		f.code, f.text = "list_failed", l.s.deps.mask(err.Error())
	case strings.Contains(err.Error(), "unsupported protocol version"):
		f.code, f.text = "protocol_version", "answered initialize with a protocol version that nobody knows: "+err.Error()
	default:
		f.code, f.text = cmp.Or(unreached(err), "handshake_failed"), "handshake failed: "+l.s.deps.mask(err.Error())
		f.modern = refusesInitialize(err)
	}
}

// refusesInitialize reports whether a server answered initialize as one does
// that does not know it.
func refusesInitialize(err error) bool {
	var e *jsonrpc.Error
	return errors.As(err, &e) &&
		(e.Code == jsonrpc.CodeMethodNotFound || e.Code == jsonrpc.CodeInvalidRequest || e.Code == jsonrpc.CodeInvalidParams || e.Code == mcp.CodeUnsupportedProtocolVersion)
}

// transport hands the session's connection to the SDK.
type transport struct{ s *session }

// Connect implements [mcp.Transport].
func (t transport) Connect(context.Context) (mcp.Connection, error) { return t.s.conn, nil }
