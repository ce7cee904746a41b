package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
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
	proc    *process           // nil in-process
	peer    io.ReadWriteCloser // nil for a process
	session *session
	relist  chan struct{} // the server says that its tools changed
	dead    chan struct{} // closed once session has ended
}

// open starts the server and the reading of its output.
func (s *Server) open(ctx context.Context) (*life, error) {
	l := &life{s: s, relist: make(chan struct{}, 1), dead: make(chan struct{})}
	var r io.Reader
	var w io.Writer
	if s.cfg.Connect != nil {
		peer, err := s.cfg.Connect(ctx)
		if err != nil {
			return nil, &failure{code: "start_failed", text: "could not be started: " + err.Error()}
		}
		l.peer, r, w = peer, peer, peer
	} else {
		proc, err := s.deps.Spawner.spawn(ctx, &s.cfg)
		if err != nil {
			return nil, notStarted(s.cfg.Command, err)
		}
		l.proc, r, w = proc, proc.stdout, proc.stdin
		s.update(func(st *status) { st.pid = proc.cmd.Process.Pid })
	}
	sess := &session{
		name: s.cfg.Name, pending: map[uint64]*pending{}, done: make(chan struct{}), broken: make(chan struct{}), stray: strays{mask: s.deps.mask},
	}
	sess.conn = wire.NewConn(wire.NewReader(r, s.cfg.MaxFrame), wire.NewWriter(w), sess, func() error { return nil })
	sess.conn.Writer().Gather(&sess.count)
	l.session = sess
	go func() { _ = sess.conn.Run() }() // ends with the stream, which close ends
	go l.reap()
	return l, nil
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
	l.session.end(&exitedError{how: how, tail: l.tail(), first: new(atomic.Bool)})
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

// handshake connects the SDK's session and lists the tools.
func (l *life) handshake(ctx context.Context) error {
	l.s.mu.Lock()
	legacy, patient := l.s.st.legacy, l.s.st.patient
	l.s.mu.Unlock()
	opts := &mcp.ClientSessionOptions{}
	if legacy {
		opts.ProtocolVersion = legacyVersion
	}
	if patient {
		l.session.probe.wait = l.s.cfg.StartTimeout
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "heddle", Version: l.s.deps.Version}, &mcp.ClientOptions{
		Logger:         slog.New(slog.DiscardHandler),
		Capabilities:   &mcp.ClientCapabilities{},
		MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true},
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) {
			select {
			case l.relist <- struct{}{}:
			default: // one is waiting already
			}
		},
	})
	sdk, err := client.Connect(ctx, transport{l.session}, opts)
	if err != nil {
		return err
	}
	l.session.sdk = sdk
	init := sdk.InitializeResult()
	if init.ProtocolVersion >= modernVersion {
		l.session.modern = modernMeta(init.ProtocolVersion, l.s.deps.Version)
	}
	l.s.update(func(st *status) { st.protocol, st.instructions = init.ProtocolVersion, init.Instructions })
	return l.list(ctx)
}

// modernMeta returns the members of _meta that each request carries since
// 2026-07-28.
func modernMeta(version, ours string) json.RawMessage {
	return fmt.Appendf(nil, `%q:%q,%q:{"name":"heddle","version":%q},%q:{}`,
		mcp.MetaKeyProtocolVersion, version, mcp.MetaKeyClientInfo, ours, mcp.MetaKeyClientCapabilities)
}

// serve keeps the tools current until the session or ctx ends.
func (l *life) serve(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-l.dead:
			return l.diagnose(l.session.gone())
		case <-l.relist:
			listCtx, cancel := context.WithTimeoutCause(ctx, l.s.cfg.StartTimeout, errStartTimeout)
			err := l.list(listCtx)
			cancel()
			if err != nil && ctx.Err() == nil { // an end is no failure
				l.s.deps.Logger.Warn("listing failed, the old tools stay", "server", l.s.cfg.Name, "err", l.s.deps.mask(err.Error()))
			}
			l.rest(ctx)
		}
	}
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

// maxPages bounds a listing that never ends.
const maxPages = 10000

// list reads all pages of tools/list and publishes them.
func (l *life) list(ctx context.Context) error {
	var (
		tools    []json.RawMessage
		warnings []string
		cursor   json.RawMessage
		seen     = map[string]bool{}
	)
	for page := 0; ; page++ {
		params := json.RawMessage(`{}`)
		if cursor != nil {
			params = append(append([]byte(`{"cursor":`), cursor...), '}')
		}
		raw, err := l.session.request(ctx, "tools/list", params)
		if err != nil {
			if page == 0 {
				if hasNoTools(err) {
					break
				}
				return &listError{err}
			}
			warnings = append(warnings, fmt.Sprintf("tools/list: page %d failed (%s): the list is incomplete", page+1, l.s.deps.mask(err.Error())))
			break
		}
		more, next, err := parsePage(raw)
		if err != nil {
			return &listError{err}
		}
		tools = append(tools, more...)
		if next == nil {
			break
		}
		if seen[string(next)] || page+1 >= maxPages {
			warnings = append(warnings, fmt.Sprintf("tools/list: the server repeats a cursor or does not end (page %d): the list may be incomplete", page+1))
			break
		}
		seen[string(next)] = true
		cursor = next
	}
	l.s.update(func(st *status) { st.tools, st.warnings, st.listed = tools, warnings, true; st.listing++ })
	return nil
}

// hasNoTools reports whether the server knows no tools/list at all.
func hasNoTools(err error) bool {
	var rpc interface{ Code() int64 }
	return errors.As(err, &rpc) && rpc.Code() == jsonrpc.CodeMethodNotFound
}

// parsePage returns the tools of one page and the cursor of the next, nil if
// there is none. Some servers end with an empty cursor.
func parsePage(raw json.RawMessage) (tools []json.RawMessage, next json.RawMessage, err error) {
	list := wire.Member(raw, "tools")
	if list == nil {
		return nil, nil, errors.New(`the result has no "tools"`)
	}
	if tools, err = wire.Elements(list); err != nil {
		return nil, nil, errors.New(`"tools" is not an array`)
	}
	next = wire.Member(raw, "nextCursor")
	if len(next) < 3 || next[0] != '"' {
		next = nil
	}
	return tools, next, nil
}

// close ends the server in good order.
func (l *life) close() {
	_ = l.session.conn.Close() // has no closer of its own
	if l.proc != nil {
		l.proc.stop()
	} else {
		_ = l.peer.Close()
	}
	<-l.dead
	<-l.session.conn.Ended()
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
	legacy     bool // the next start should not probe for the new protocol
	patient    bool // the next start should wait longer for the probe
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

type listError struct{ err error }

func (e *listError) Error() string { return "tools/list failed: " + e.err.Error() }
func (e *listError) Unwrap() error { return e.err }

// diagnose says why a handshake or a session failed.
func (l *life) diagnose(err error) *failure {
	f := &failure{}
	if errors.Is(err, errStartTimeout) || errors.Is(err, context.DeadlineExceeded) {
		f.code = "handshake_timeout"
		f.text = fmt.Sprintf("handshake timeout: no answer within %s of its start", l.s.cfg.StartTimeout)
	} else {
		l.afterEnd(f, err)
	}
	if n, first := l.session.stray.get(); n > 0 && f.code != "exited" {
		f.text += fmt.Sprintf("; it wrote %d lines to stdout that are no protocol messages, first %q", n, l.s.deps.mask(first[0]))
	}
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
		f.legacy = l.session.sdk == nil && l.session.probe.unanswered()
	case errors.As(err, &list):
		f.code, f.text = "list_failed", l.s.deps.mask(err.Error())
	case strings.Contains(err.Error(), "unsupported protocol version"):
		f.code, f.text = "protocol_version", "answered initialize with a protocol version that nobody knows: "+err.Error()
	default:
		f.code, f.text = "handshake_failed", "handshake failed: "+l.s.deps.mask(err.Error())
		f.patient = l.session.probe.cameLate()
	}
}

// transport hands the session's connection to the SDK.
type transport struct{ s *session }

// Connect implements [mcp.Transport].
func (t transport) Connect(context.Context) (mcp.Connection, error) {
	return probing{t.s.conn, &t.s.probe}, nil
}

// probing is the connection that watches over the SDK's server/discover.
type probing struct {
	*wire.Conn
	probe *probe
}

// Write implements [mcp.Connection].
func (c probing) Write(ctx context.Context, msg jsonrpc.Message) error {
	if r, ok := msg.(*jsonrpc.Request); ok && r.Method == "server/discover" {
		c.probe.start(c.Conn, r.ID)
	}
	return c.Conn.Write(ctx, msg)
}
