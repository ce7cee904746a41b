package surface

import (
	"context"
	"encoding/json"
	"errors"
	"hash/maphash"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"heddle"
	"heddle/internal/gateway"
	"heddle/internal/wire"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// HTTP is the way in for hosts that speak HTTP: /mcp for all servers in one
// mode, /mcp/<server> for one of them under its own names, and /sse for hosts of
// the oldest protocol. Both eras of the protocol are spoken at one URL.
type HTTP struct {
	o       HTTPOptions
	guard   guard
	changed chan struct{}
	over    chan struct{} // closed at the end of Run
	streams streams
	waiting waiting

	leveling sync.Mutex

	mu        sync.Mutex
	endpoints map[string]*endpoint // by server; "" is all
}

// HTTPOptions configure an [HTTP].
type HTTPOptions struct {
	// Mode is that of /mcp; an endpoint of one server is always native.
	Mode Mode
	// Native is the mode of the endpoints of single servers.
	Native Mode
	// Gateway returns the current gateway to all servers, or to the one of that
	// name; nil if there is no such server.
	Gateway func(server string) *gateway.Gateway
	// Servers are the names for the instructions.
	Servers  []string
	Logger   *slog.Logger
	Version  string
	MaxFrame int
	// Started is told of each session once its host has said who it is; may be nil.
	Started func(SessionInfo)
	// Token must be in each request, if it is not empty.
	Token string
	// Loopback says that only this machine reaches the address, so that only names
	// of this machine may be in requests.
	Loopback bool
}

// Limits of what hosts may have open.
const (
	maxSessions    = 1000
	sessionTimeout = 30 * time.Minute
	eventMemory    = 16 << 20 // bytes of events kept for streams that break
)

// endpoint is one URL's sessions, of both eras.
type endpoint struct {
	h        *HTTP
	name     string // of the one server; "" is all
	mode     Mode
	server   *mcp.Server
	legacy   http.Handler
	modern   http.Handler
	listed   atomic.Uint64 // hash of the last list that a host was given; 0 before
	seed     maphash.Seed
	stateful sessions
	aliased  atomic.Bool // there are ids that the SDK cannot keep
}

// NewHTTP returns a way in that does nothing until Run; its Handler may serve
// before.
func NewHTTP(o HTTPOptions) *HTTP {
	return &HTTP{o: o, guard: guard{token: o.Token, loopback: o.Loopback}, changed: make(chan struct{}, 1), over: make(chan struct{}), endpoints: map[string]*endpoint{}}
}

// Run tells hosts of changes, and forgets those that went without a word, until
// ctx ends.
func (h *HTTP) Run(ctx context.Context) error {
	look := time.NewTicker(time.Minute)
	defer look.Stop()
	for {
		select {
		case <-h.changed:
		case <-look.C:
			for _, e := range h.all() {
				e.stateful.prune(ctx, e.server)
			}
			continue
		case <-ctx.Done():
			h.streams.end()
			close(h.over)
			return nil
		}
		wait := settle
		if !booted(ctx, h.o.Gateway("")) {
			wait = bootSettle
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
		for _, e := range h.all() {
			e.tell(ctx)
		}
	}
}

// booted asks without waiting.
func booted(ctx context.Context, g *gateway.Gateway) bool {
	now, cancel := context.WithCancel(ctx)
	cancel()
	return g.Booted(now)
}

// tell tells the hosts of an endpoint when the list that one was given is not
// true any more.
func (e *endpoint) tell(ctx context.Context) {
	g := e.gateway()
	if g == nil {
		return
	}
	hash := e.hash(e.session(nil).list(booted(ctx, g)))
	if last := e.listed.Load(); last != 0 && last != hash {
		e.listed.Store(hash)
		pokeTools(e.server)
	}
}

func (e *endpoint) hash(list json.RawMessage) uint64 { return maphash.Bytes(e.seed, list) | 1 }

// End ends all sessions. No request may come any more.
func (h *HTTP) End() {
	for _, e := range h.all() {
		e.stateful.endAll()
		for ss := range e.server.Sessions() {
			_ = ss.Close() // its stream is gone
		}
	}
}

// Changed says that the tools may have changed. It does not block.
func (h *HTTP) Changed() {
	select {
	case h.changed <- struct{}{}:
	default: // one is waiting already
	}
	h.streams.each(func(s *Stdio) { s.Changed() })
}

// Heard tells hosts what a server said unasked; to names the host that it
// concerns, if that is known.
func (h *HTTP) Heard(ctx context.Context, server, method string, params json.RawMessage, to heddle.Host) {
	h.streams.each(func(s *Stdio) {
		if to == nil || to.ID() == s.ID() {
			s.Heard(ctx, server, method, params, to)
		}
	})
	if host, ok := to.(*httpHost); ok {
		host.heard(server, method, params)
		return
	}
	for _, e := range h.all() {
		switch {
		case e.name != "" && e.name != server:
		case method == "notifications/message":
			e.log(ctx, logMessage(server, params))
		default:
			go e.heard(ctx, server, method, params) // the SDK writes, and may wait for a host
		}
	}
}

func (e *endpoint) heard(ctx context.Context, server, method string, params json.RawMessage) {
	if g := e.gateway(); g != nil {
		heard(ctx, e.server, g, server, method, params)
	}
}

// log tells the sessions of a log message, each in the order of the messages.
func (e *endpoint) log(ctx context.Context, message json.RawMessage) {
	for ss := range e.server.Sessions() {
		if ss.ID() != "" {
			e.session(ss).logs.do(func() { logTo(ctx, ss, message) })
		}
	}
}

// Host returns nil: of several hosts none is the one to ask.
func (h *HTTP) Host() heddle.Host { return nil }

// AwaitCapabilities returns nil: of several hosts each can something else.
func (h *HTTP) AwaitCapabilities(context.Context) json.RawMessage { return nil }

// Stray returns how many lines were no messages: HTTP has none.
func (h *HTTP) Stray() int64 { return 0 }

func (h *HTTP) all() []*endpoint {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []*endpoint
	for _, e := range h.endpoints {
		out = append(out, e)
	}
	return out
}

// Handler serves requests.
func (h *HTTP) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) { h.serve(w, r, "") })
	mux.HandleFunc("/mcp/{$}", func(w http.ResponseWriter, r *http.Request) { h.serve(w, r, "") })
	mux.HandleFunc("/mcp/{server}", func(w http.ResponseWriter, r *http.Request) { h.serve(w, r, r.PathValue("server")) })
	mux.HandleFunc("GET /sse", h.openStream)
	mux.HandleFunc("POST /sse", h.postStream)
	return h.guard.wrap(mux)
}

// endpointOf returns the endpoint of a server, nil if there is no such server.
func (h *HTTP) endpointOf(server string) *endpoint {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.o.Gateway(server) == nil {
		return nil
	}
	e := h.endpoints[server]
	if e == nil {
		e = h.newEndpoint(server)
		h.endpoints[server] = e
	}
	return e
}

func (h *HTTP) newEndpoint(server string) *endpoint {
	e := &endpoint{h: h, name: server, mode: h.o.Mode, seed: maphash.MakeSeed()}
	servers := h.o.Servers
	if server != "" {
		e.mode, servers = h.o.Native, []string{server}
	}
	f := &front{
		session: e.front,
		list:    e.list,
		level:   e.level,
	}
	e.server = sdkServer(f, h.o.Version, Instructions(e.mode.Name(), servers), e.initialized)
	e.server.AddSendingMiddleware(sendRaw)
	get := func(*http.Request) *mcp.Server { return e.server }
	events := mcp.NewMemoryEventStore(nil)
	events.SetMaxBytes(eventMemory)
	logger := slog.New(slog.DiscardHandler)
	e.legacy = mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{
		Logger: logger, EventStore: events, SessionTimeout: sessionTimeout, MaxRequestBodyBytes: -1, DisableLocalhostProtection: true,
	})
	e.modern = mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{
		Logger: logger, Stateless: true, PropagateRequestCancellation: true, MaxRequestBodyBytes: -1, DisableLocalhostProtection: true,
	})
	return e
}

// serve hands a request to the handler of its era, with its raw params beside
// it: the SDK's own have lost digits and order by the time that heddle sees them.
func (h *HTTP) serve(w http.ResponseWriter, r *http.Request, server string) {
	e := h.endpointOf(server)
	if e == nil {
		http.Error(w, "there is no server of that name", http.StatusNotFound)
		return
	}
	modern := r.Header.Get("Mcp-Protocol-Version") >= "2026" || r.Header.Get("Mcp-Method") != ""
	if r.Method == http.MethodPost && isJSON(r) { // any other body the SDK refuses
		var ok bool
		if modern, ok = h.post(w, r, e); !ok {
			return
		}
	}
	if r.Method == http.MethodDelete {
		e.stateful.end(context.WithoutCancel(r.Context()), r.Header.Get("Mcp-Session-Id")) // the SDK waits for the session's calls
	}
	if r.Method == http.MethodGet {
		var cancel context.CancelFunc
		r, cancel = h.listening(r)
		defer cancel()
	}
	alive := keepAlive(w)
	alive.aliased = e.aliased.Load()
	defer alive.stop()
	name, forget := h.waiting.add(alive)
	defer forget()
	r.Header.Set(aliveHeader, name)
	if modern {
		e.modern.ServeHTTP(alive, r)
	} else {
		e.legacy.ServeHTTP(alive, r)
	}
}

// body reads a request's body within the limit.
func (h *HTTP) body(w http.ResponseWriter, r *http.Request) ([]byte, bool) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, int64(h.o.MaxFrame)))
	if err == nil {
		body, _ = wire.Clean(body)
		return body, true
	}
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		http.Error(w, "the message is too large; see results.max_frame", http.StatusRequestEntityTooLarge)
	} else {
		http.Error(w, "the body could not be read", http.StatusBadRequest)
	}
	return nil, false
}

// open reports whether there is a session of that id.
func (e *endpoint) open(id string) bool {
	for ss := range e.server.Sessions() {
		if ss.ID() == id {
			return true
		}
	}
	return false
}

// full reports whether no more sessions may be opened.
func (e *endpoint) full() bool {
	n := 0
	for range e.server.Sessions() {
		n++
	}
	return n >= maxSessions
}

func (e *endpoint) gateway() *gateway.Gateway { return e.h.o.Gateway(e.name) }

// session returns what heddle keeps of a session, new for one without handshake.
func (e *endpoint) session(ss *mcp.ServerSession) *session {
	if ss != nil && ss.ID() != "" {
		return e.stateful.get(ss.ID(), e.newSession)
	}
	return e.newSession("")
}

func (e *endpoint) newSession(id string) *session {
	if id == "" {
		id = newSessionID()
	}
	return &session{id: id, principal: heddle.Local, mode: e.mode, gateway: e.gateway, logger: e.h.o.Logger, gone: make(chan struct{})}
}

func (e *endpoint) front(ctx context.Context, req mcp.Request) (*session, heddle.Host) {
	ss, _ := req.GetSession().(*mcp.ServerSession)
	if extra := req.GetExtra(); extra != nil {
		e.h.waiting.arm(extra.Header)
	}
	s := e.session(ss)
	return s, newHTTPHost(ctx, s, ss)
}

// list answers tools/list.
func (e *endpoint) list(ctx context.Context, s *session) json.RawMessage {
	ctx, cancel := context.WithTimeout(ctx, listWait)
	defer cancel()
	raw := s.list(e.gateway().Booted(ctx))
	e.listed.Store(e.hash(raw))
	return raw
}

// level notes what a session wants to hear.
func (e *endpoint) level(ctx context.Context, s *session, level string) {
	s.level.Store(&level)
	go e.h.wanted(ctx, e.gateway()) // ends with the servers' answers; no host waits for it
}

// wanted asks servers for what the most curious of all hosts wants to hear.
func (h *HTTP) wanted(ctx context.Context, g *gateway.Gateway) {
	h.leveling.Lock() // what was wanted last is asked for last
	defer h.leveling.Unlock()
	var levels []string
	for _, e := range h.all() {
		levels = append(levels, e.stateful.levels()...)
	}
	h.streams.each(func(s *Stdio) {
		if l := s.s.level.Load(); l != nil {
			levels = append(levels, *l)
		}
	})
	g.Wanted(ctx, mostVerbose(levels))
}

func (e *endpoint) initialized(_ context.Context, r *mcp.InitializedRequest) {
	if e.h.o.Started == nil {
		return
	}
	info := SessionInfo{ID: e.session(r.Session).id, Mode: e.mode.Name(), Principal: heddle.Local}
	if p := r.Session.InitializeParams(); p != nil {
		info.Protocol = p.ProtocolVersion
		if p.ClientInfo != nil {
			info.Client, info.ClientVersion = p.ClientInfo.Name, p.ClientInfo.Version
		}
	}
	e.h.o.Started(info)
}

// isEventStream reports whether a response is a stream of events.
func isEventStream(header http.Header) bool {
	return strings.HasPrefix(header.Get("Content-Type"), "text/event-stream")
}
