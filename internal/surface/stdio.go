package surface

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"heddle"
	"heddle/internal/gateway"
	"heddle/internal/wire"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Stdio is the one host at the other end of stdin and stdout.
//
// Its connection has two lanes. The SDK keeps the session: handshake, lists,
// requests of the protocol without handshake, everything rare. A tools/call of
// an initialised session never reaches it: it goes to the gateway from where it
// was read, and its answer is written from there.
type Stdio struct {
	s       *session
	o       StdioOptions
	conn    *wire.Conn
	sdk     *sdkConn
	server  atomic.Pointer[mcp.Server]
	changed chan struct{}
	asked   asked

	capabilities atomic.Pointer[json.RawMessage] // what the host said it can
	introduced   chan struct{}                   // closed once it has said so
	stateless    atomic.Bool                     // it has sent a request of the protocol without handshake

	version atomic.Pointer[string] // agreed on in the handshake; nil before
	hello   chan struct{}          // closed once initialize is answered; nil before it came
	listed  atomic.Uint64          // hash of the last list that the host was given; 0 before
	seed    maphash.Seed

	workers *workers
	calls   sync.WaitGroup
	running atomic.Int32 // how many
	mu      sync.Mutex
	open    map[string]*inFlight // calls of the fast lane by id
	bytes   int                  // of their params and of results that are not written
	less    *sync.Cond           // a call has ended
	ended   bool                 // no new calls
	stray   int64
	said    time.Time // when a stray line was last logged
}

type inFlight struct{ cancel context.CancelCauseFunc }

// StdioOptions configure a [Stdio].
type StdioOptions struct {
	Mode Mode
	// Gateway returns the current gateway; a reload changes it.
	Gateway func() *gateway.Gateway
	// Servers are the names for the instructions.
	Servers  []string
	Logger   *slog.Logger
	Version  string
	MaxFrame int
	// Started is told of the session once the host has said who it is; may be nil.
	Started func(SessionInfo)
	// Level is called when the host has set its log level, where others than this
	// host have a say in what servers are asked for; may be nil.
	Level func(ctx context.Context)
}

// SessionInfo is what is known of a host's session.
type SessionInfo struct {
	ID, Mode, Client, ClientVersion, Protocol string
	Principal                                 heddle.Principal
}

// NewStdio returns a host that does nothing until Run.
func NewStdio(o StdioOptions) *Stdio {
	h := &Stdio{o: o, changed: make(chan struct{}, 1), open: map[string]*inFlight{}, seed: maphash.MakeSeed(), workers: newWorkers()}
	h.less = sync.NewCond(&h.mu)
	h.asked.ready, h.introduced = make(chan struct{}), make(chan struct{})
	h.s = &session{id: newSessionID(), principal: heddle.Local, mode: o.Mode, gateway: o.Gateway, logger: o.Logger}
	return h
}

// drainWait is how long calls in flight may take once the host has closed its
// end: a script that writes its requests and closes still gets its answers.
const drainWait = 1500 * time.Millisecond

// Run serves the host until it closes its end or ctx ends. Nothing of it is left
// when it returns.
func (h *Stdio) Run(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	lane := &hostLane{Stdio: h, ctx: ctx}
	h.conn = wire.NewConn(wire.NewReader(in, h.o.MaxFrame), wire.NewWriter(out), lane, func() error { return nil })
	h.conn.Writer().Gather(&h.running)
	server := h.newServer()
	h.server.Store(server)
	h.sdk = &sdkConn{Conn: h.conn, open: map[int64]json.RawMessage{}}
	sdk, err := server.Connect(ctx, h.sdk, nil)
	if err != nil {
		return err
	}
	read := make(chan error, 1)
	go func() { read <- h.conn.Run() }() // blocks in a read of stdin; the process ends with it
	var side sync.WaitGroup
	side.Go(func() { h.notify(ctx, server) })
	select {
	case err = <-read:
		h.drain(drainWait)
	case <-h.conn.Writer().Failed():
		err = fmt.Errorf("write to the host: %w", h.conn.Writer().Err())
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	h.stop(cancel)
	h.asked.end()
	side.Wait()
	flush, done := context.WithTimeout(context.WithoutCancel(ctx), time.Second) // what was answered should arrive
	defer done()
	_ = h.conn.Writer().Flush(flush)
	_ = h.conn.Close()
	_ = sdk.Close()
	return err
}

// drain waits for the calls in flight, at most d.
func (h *Stdio) drain(d time.Duration) {
	h.sdk.unlisten()
	calls := make(chan struct{})
	go func() {
		h.calls.Wait() // stop ends what drain does not wait for
		close(calls)
	}()
	t := time.NewTimer(d)
	defer t.Stop()
	for _, done := range []<-chan struct{}{h.conn.Idle(), calls} {
		select {
		case <-done:
		case <-t.C:
			return
		}
	}
}

// stop cancels what is in flight and waits for it.
func (h *Stdio) stop(cancel context.CancelCauseFunc) {
	h.mu.Lock()
	h.ended = true
	h.mu.Unlock()
	cancel(errors.New("the host is gone"))
	h.less.Broadcast()
	h.workers.stop()
}

// newServer builds the SDK's side of the session.
func (h *Stdio) newServer() *mcp.Server {
	f := &front{
		session: func(context.Context, mcp.Request) (*session, heddle.Host) { return h.s, h },
		list:    func(ctx context.Context, _ *session) json.RawMessage { return h.list(ctx) },
		level: func(ctx context.Context, _ *session, level string) {
			h.s.level.Store(&level)
			h.beside(func() { h.wanted(ctx, level) })
		},
	}
	return sdkServer(f, h.o.Version, Instructions(h.o.Mode.Name(), h.o.Servers), h.initialized)
}

// wanted asks the servers for log messages.
func (h *Stdio) wanted(ctx context.Context, level string) {
	if h.o.Level != nil {
		h.o.Level(ctx)
		return
	}
	h.o.Gateway().Wanted(ctx, level)
}

// beside runs a job that nobody waits for; none begins once the host is gone.
func (h *Stdio) beside(job func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.ended {
		h.workers.run(job)
	}
}

func (h *Stdio) initialized(_ context.Context, r *mcp.InitializedRequest) {
	h.asked.open()
	if h.o.Started == nil {
		return
	}
	info := SessionInfo{ID: h.s.id, Mode: h.o.Mode.Name(), Principal: h.s.principal}
	if p := r.Session.InitializeParams(); p != nil && p.ClientInfo != nil {
		info.Client, info.ClientVersion = p.ClientInfo.Name, p.ClientInfo.Version
	}
	if v := h.version.Load(); v != nil {
		info.Protocol = *v
	}
	h.o.Started(info)
}

// listWait is how long a list waits for servers that are still starting.
const listWait = 2 * time.Second

// list answers tools/list.
func (h *Stdio) list(ctx context.Context) json.RawMessage {
	ctx, cancel := context.WithTimeout(ctx, listWait)
	defer cancel()
	raw := h.s.list(h.o.Gateway().Booted(ctx))
	h.listed.Store(h.hash(raw))
	return raw
}

// Changed says that the tools may have changed. It does not block.
func (h *Stdio) Changed() {
	select {
	case h.changed <- struct{}{}:
	default: // one is waiting already
	}
}

// Changes that come together, such as those of a boot, are told together.
const (
	bootSettle = 250 * time.Millisecond
	settle     = 20 * time.Millisecond
)

// notify tells the host when the list that it was given is not true any more.
// Nothing changed, nothing sent.
func (h *Stdio) notify(ctx context.Context, server *mcp.Server) {
	now, cancel := context.WithCancel(ctx)
	cancel() // an ended context asks without waiting
	for {
		select {
		case <-h.changed:
		case <-ctx.Done():
			return
		}
		wait := bootSettle
		if h.o.Gateway().Booted(now) {
			wait = settle
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return
		}
		hash := h.hash(h.s.list(h.o.Gateway().Booted(now)))
		if last := h.listed.Load(); last != 0 && last != hash {
			h.listed.Store(hash)
			pokeTools(server)
		}
	}
}

// hash identifies a list; it is never 0, which means that none was given yet.
func (h *Stdio) hash(list json.RawMessage) uint64 { return maphash.Bytes(h.seed, list) | 1 }

// Stray returns how many lines of the host were no messages.
func (h *Stdio) Stray() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.stray
}

// hostLane is the [wire.Lane] of the host's connection.
type hostLane struct {
	*Stdio
	ctx context.Context // of all calls: it ends with the host
}

// How much a host may ask for without taking answers. What it sends beyond that
// stays in its pipe. They are far above what hosts do, since a cancellation
// waits in the same pipe.
const (
	maxOpen  = 1024
	maxBytes = 64 << 20
)

// Next implements [wire.Lane]: it holds back a host that asks for more than it
// reads.
func (l *hostLane) Next() {
	l.conn.Writer().Room(l.ctx.Done())
	l.conn.Below(maxOpen)
	l.mu.Lock()
	for l.ctx.Err() == nil && (len(l.open) >= maxOpen || l.bytes >= maxBytes) {
		l.less.Wait()
	}
	l.mu.Unlock()
}

// Take implements [wire.Lane].
func (l *hostLane) Take(m *wire.Message) bool {
	l.greeted(m)
	switch {
	case m.IsResponse():
		return l.asked.answered(m)
	case m.IsNotification() && m.Method == "notifications/cancelled":
		return l.cancel(wire.Member(m.Params, "requestId"))
	case !m.IsRequest():
		return false
	case m.Method == "tools/call" && l.version.Load() != nil && !isModern(m.Params):
		l.start(m)
		return true
	}
	if m.Params != nil {
		m.Extra = withRaw(m.Params, m.ID)
		if !l.stateless.Load() && isModern(m.Params) {
			l.stateless.Store(true)
			l.mu.Lock()
			l.introduce(nil) // it cannot be asked anything within a call
			l.mu.Unlock()
		}
	}
	return false
}

// start runs a call in a goroutine of its own.
func (l *hostLane) start(m *wire.Message) {
	ctx, cancel := context.WithCancelCause(l.ctx)
	call := &inFlight{cancel}
	key := string(m.ID)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		cancel(nil)
		return
	}
	id, params := m.ID, m.Params
	l.open[key] = call
	l.bytes += len(params)
	l.calls.Add(1)
	l.running.Add(1)
	l.workers.run(func() {
		defer l.calls.Done()
		l.run(ctx, id, params)
		l.running.Add(-1)
		l.mu.Lock()
		if l.open[key] == call { // a host that uses an id twice keeps the later one
			delete(l.open, key)
		}
		l.bytes -= len(params)
		l.mu.Unlock()
		l.less.Signal()
		cancel(nil)
	})
}

// errCancelled is the cause of a call that the host cancelled; it gets no
// answer, as the protocol asks.
var errCancelled = errors.New("cancelled by the host")

var buffers = sync.Pool{New: func() any { b := make([]byte, 0, 4096); return &b }}

func (l *hostLane) run(ctx context.Context, id, params json.RawMessage) {
	result, rpcError := l.s.call(ctx, l.Stdio, params)
	if context.Cause(ctx) == errCancelled {
		l.conn.Drop(ctx, id)
		return
	}
	l.weigh(len(result)) // it waits in memory for a host that is behind
	defer l.weigh(-len(result))
	buf := buffers.Get().(*[]byte)
	if rpcError != nil {
		*buf = wire.AppendError((*buf)[:0], id, rpcError)
	} else {
		*buf = wire.AppendResponse((*buf)[:0], id, result)
	}
	if err := l.conn.Respond(l.ctx, id, *buf); err != nil && l.ctx.Err() == nil {
		l.o.Logger.Debug("answer not written", "err", err)
	}
	if cap(*buf) <= 64<<10 {
		buffers.Put(buf)
	}
}

// weigh counts bytes that the host's calls hold.
func (l *hostLane) weigh(n int) {
	l.mu.Lock()
	l.bytes += n
	l.mu.Unlock()
	if n < 0 {
		l.less.Signal()
	}
}

// cancel cancels the call of that id, and reports whether it is one of this
// lane.
func (l *hostLane) cancel(id json.RawMessage) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	call := l.open[string(id)]
	if call == nil {
		for key, c := range l.open {
			if wire.SameID(json.RawMessage(key), id) {
				call = c
			}
		}
	}
	if call == nil {
		return false
	}
	call.cancel(errCancelled)
	return true
}

// greeted waits for the answer to an initialize that came before: which lane the
// next request takes depends on it, and hosts may send both at once.
func (l *hostLane) greeted(m *wire.Message) {
	l.mu.Lock()
	hello := l.hello
	if m.IsRequest() && m.Method == "initialize" && hello == nil {
		l.hello = make(chan struct{})
		l.introduce(wire.Member(m.Params, "capabilities"))
	}
	l.mu.Unlock()
	if hello == nil || !m.IsRequest() {
		return
	}
	select {
	case <-hello:
	case <-l.ctx.Done():
	}
}

// introduce notes what the host says it can, the first time that it does. It is
// called with the lock held.
func (h *Stdio) introduce(capabilities json.RawMessage) {
	if h.capabilities.Load() != nil {
		return
	}
	if capabilities == nil {
		capabilities = json.RawMessage(`{}`)
	}
	h.capabilities.Store(&capabilities)
	close(h.introduced)
}

// Sent implements [wire.Lane]: the fast lane opens once the host has its answer
// to initialize.
func (l *hostLane) Sent(method string, r *jsonrpc.Response) {
	if method != "initialize" {
		return
	}
	if version, ok := wire.Unquote(wire.Member(r.Result, "protocolVersion")); ok && r.Error == nil {
		l.version.Store(&version)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.hello != nil {
		close(l.hello)
		l.hello = nil
	}
}

// batchVersion is the one protocol version with batches.
const batchVersion = "2025-03-26"

// Stray implements [wire.Lane].
func (l *hostLane) Stray(line []byte, m *wire.Message, err error) {
	if line[0] == '[' {
		if elements, err := wire.Elements(line); err == nil && len(elements) > 0 && l.batches() {
			l.conn.FeedBatch(elements)
			return
		}
	}
	l.count(err)
	code, text := jsonrpc.CodeParseError, "the line is "+err.Error()
	switch {
	case errors.Is(err, wire.ErrUnknownID):
		return
	case errors.Is(err, wire.ErrInvalidRequest) || line[0] == '[':
		code, text = jsonrpc.CodeInvalidRequest, "not a JSON-RPC 2.0 message of this session"
	case line[0] != '{': // noise, not a damaged message
		return
	}
	id := m.ID
	if id == nil && errors.Is(err, wire.ErrDepth) {
		id = wire.FindID(line) // the line is sound so far, and the host can tell which request it was
	}
	l.refuse(id, code, text)
}

func (l *hostLane) batches() bool {
	v := l.version.Load()
	return v != nil && *v == batchVersion
}

// refuse answers what is no request that could be run.
func (l *hostLane) refuse(id json.RawMessage, code int, text string) {
	_ = l.conn.Respond(l.ctx, id, wire.AppendError(nil, id, heddle.NewRPCError(code, text).Raw)) // Next has seen to it that there is room
}

// TooLarge implements [wire.Lane].
func (l *hostLane) TooLarge(e *wire.TooLargeError) {
	l.count(e)
	l.refuse(e.ID, jsonrpc.CodeInvalidRequest, e.Error()+"; see results.max_frame")
}

// count notes a stray line and logs it, at most once a second.
func (l *hostLane) count(err error) {
	l.mu.Lock()
	l.stray++
	quiet := time.Since(l.said) < time.Second
	if !quiet {
		l.said = time.Now()
	}
	l.mu.Unlock()
	if !quiet {
		l.o.Logger.Warn("stray line from the host", "err", err)
	}
}
