package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"heddle"

	"github.com/cenkalti/backoff/v5"
)

// State is where a server is in its life.
type State string

// The states of a server. Boot ends with the first of ready, retrying, failed
// or disabled.
const (
	StateWaiting  State = "waiting"  // for a place to start
	StateStarting State = "starting" // process and handshake
	StateReady    State = "ready"
	StateIdle     State = "idle"     // not started, or ended after long rest: starts when used
	StateRetrying State = "retrying" // failed, starts again by itself; its tools stay listed
	StateFailed   State = "failed"   // failed too often: tools delisted; still retried, but rarely
	StateDisabled State = "disabled" // by configuration
	StateStopped  State = "stopped"
)

// maxPause bounds the pause between starts of a server that keeps failing.
const maxPause = 5 * time.Minute

// stable is how long a session must live for its server's failures to be
// forgotten.
const stable = 30 * time.Second

// Server is one supervised upstream. Its methods may be called from any
// goroutine.
type Server struct {
	cfg     Config
	deps    Deps
	breaker *breaker
	places  chan struct{} // max_concurrency
	session atomic.Pointer[session]
	opening atomic.Pointer[life] // one that has not shaken hands yet
	twin    *Server              // nil for a twin
	wake    chan struct{}        // somebody wants an idle server
	modern  modernProbe
	proven  atomic.Bool // a session of it was ready once

	wishes wishes // of hosts, for the next session too

	mu      sync.Mutex
	st      status
	booted  bool          // st.booted, once the daemon knows
	changed chan struct{} // closed and replaced after each change of st
}

// status is what mu guards.
type status struct {
	state    State
	since    time.Time
	booted   bool // the first start has had its outcome
	reason   string
	code     string
	failures int // starts and sessions that failed in a row
	restarts int
	retry    time.Time
	tail     []string // stderr at the last failure
	stray    int64    // lines on stdout then that were no messages
	noise    []string // the first of them
	pid      int
	protocol string
	modern   bool // the server refuses initialize: begin with server/discover

	listing      uint64 // counts changes of what follows
	listed       bool
	tools        []json.RawMessage
	instructions string

	features Features
	lists    map[string][]json.RawMessage // of what is not tools, by method
	more     bool                         // lists is what the server said
	warnings map[string][]string          // by method
}

// New returns a server that does nothing until Run.
func New(cfg Config, deps Deps) *Server {
	s := &Server{
		cfg: cfg, deps: deps, places: make(chan struct{}, max(1, cfg.MaxConcurrency)), changed: make(chan struct{}), wake: make(chan struct{}, 1),
	}
	s.breaker = newBreaker(cfg)
	s.st.state, s.st.since = StateWaiting, time.Now()
	if k := cfg.Known; k != nil {
		s.st.listed, s.st.tools, s.st.lists, s.st.more = true, k.Tools, k.Lists, true
		s.st.instructions, s.st.features, s.st.protocol = k.Instructions, k.Features, k.Protocol
		s.st.listing++
	}
	if s.resting() {
		s.st.state, s.st.booted, s.booted = StateIdle, true, true
	}
	if !cfg.Twin {
		s.twin = newTwin(cfg, deps)
	}
	if cfg.Unusable != "" {
		s.st.state, s.st.reason, s.st.booted, s.st.code = StateDisabled, cfg.Unusable, true, "unusable"
		if cfg.Off {
			s.st.code = "off"
		}
		s.booted = true
	}
	return s
}

// Name returns the server's normalised name.
func (s *Server) Name() string { return s.cfg.Name }

// Hash identifies the configuration that the server runs with.
func (s *Server) Hash() string { return s.cfg.Hash }

// update changes the status, tells the daemon and then wakes everybody who waits
// for a change: whoever wakes finds the catalog up to date.
func (s *Server) update(f func(*status)) { s.publish(f, func() {}) }

// publish is update with a step between the daemon and those who wait.
func (s *Server) publish(f func(*status), then func()) {
	s.mu.Lock()
	old := s.st.state
	f(&s.st)
	if s.st.state != old {
		s.st.since = time.Now()
	}
	s.mu.Unlock()
	if s.deps.Changed != nil {
		s.deps.Changed()
	}
	then()
	s.mu.Lock()
	s.booted = s.st.booted
	close(s.changed)
	s.changed = make(chan struct{})
	s.mu.Unlock()
	if s.deps.Published != nil {
		s.deps.Published()
	}
}

// Run keeps the server running until ctx ends, then ends it in good order. It
// returns once nothing of it is left.
func (s *Server) Run(ctx context.Context) error {
	if s.cfg.Unusable != "" {
		return nil
	}
	defer s.update(func(st *status) { st.state, st.reason, st.booted = StateStopped, "stopped", true })
	if s.twin != nil {
		ended := make(chan struct{})
		go func() { defer close(ended); _ = s.twin.Run(ctx) }()
		defer func() { <-ended }()
	}
	pause := s.pauses()
	for ctx.Err() == nil {
		if !s.rest(ctx) {
			return nil
		}
		began := time.Now()
		err := s.live(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if errors.Is(err, errIdle) {
			continue
		}
		if errors.Is(err, errRenew) { // sessions expire: that is no failure
			s.nap(ctx, renewRest-time.Since(began))
			continue
		}
		if time.Since(began) > stable {
			pause.Reset()
		}
		if !s.failed(err, pause.NextBackOff(), time.Since(began) > stable) {
			<-ctx.Done()
			return nil
		}
		s.sleep(ctx)
	}
	return nil
}

// pauses are the growing pauses between starts.
func (s *Server) pauses() *backoff.ExponentialBackOff {
	b := backoff.NewExponentialBackOff()
	b.InitialInterval = max(s.cfg.BaseDelay, time.Millisecond)
	b.Multiplier = 2
	b.RandomizationFactor = 0.2
	b.MaxInterval = maxPause
	return b
}

// failed notes the end of a start or session, and reports whether to try again.
func (s *Server) failed(err error, pause time.Duration, fresh bool) bool {
	f := failureOf(err)
	s.mu.Lock()
	second := f.modern && !s.st.modern // the next start is the other half of this handshake
	s.mu.Unlock()
	again := s.cfg.MaxAttempts > 0 || second
	if s.cfg.Twin && !s.proven.Load() { // the server does not speak this
		again = false
	}
	switch log := s.deps.Logger.With("server", s.cfg.Name, "reason", f.text); {
	case second, s.cfg.Twin && !again: // what it answered to is not an era that it speaks
		log.Info("server speaks another protocol")
	case again:
		log.Warn("server failed", "retry_in", pause.Round(time.Millisecond))
	default:
		log.Warn("server failed")
	}
	s.update(func(st *status) {
		if fresh {
			st.failures = 0
		}
		if !second {
			st.failures++
		}
		st.booted = st.booted || !second
		st.reason, st.code, st.tail, st.pid = f.text, f.code, f.tail, 0
		st.stray, st.noise = f.stray, f.strayFirst
		st.modern = st.modern || second
		if second { // it knows better, so it may come at once
			pause = 0
		}
		st.state, st.retry = StateRetrying, time.Now().Add(pause)
		if st.failures > s.cfg.MaxAttempts || !again {
			st.state, st.listed, st.tools = StateFailed, false, nil
			st.listing++
		}
		if !again {
			st.retry = time.Time{}
		}
	})
	return again
}

// renewRest is the least time between two sessions of a server that forgets them.
const renewRest = 200 * time.Millisecond

// sleep waits until the next start.
func (s *Server) sleep(ctx context.Context) {
	s.mu.Lock()
	d := time.Until(s.st.retry)
	s.mu.Unlock()
	s.nap(ctx, d)
}

func (s *Server) nap(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// live is one life of the server: start, serve, end. It returns why it ended.
func (s *Server) live(ctx context.Context) error {
	s.update(func(st *status) { st.state, st.retry = StateWaiting, time.Time{} })
	place, err := s.startPlace(ctx)
	if err != nil {
		return err
	}
	defer place.release()
	s.update(func(st *status) { st.state = StateStarting })
	life, err := s.open(ctx)
	if err != nil {
		return err
	}
	defer life.close()
	place.watch(life.proc)
	s.opening.Store(life)
	startCtx, cancel := context.WithTimeoutCause(ctx, s.cfg.StartTimeout, errStartTimeout)
	err = life.handshake(startCtx)
	s.opening.Store(nil)
	cancel()
	place.release()
	if err != nil {
		return life.diagnose(err)
	}
	defer s.session.Store(nil)
	s.publish(func(st *status) {
		st.state, st.reason, st.code, st.booted, st.tail = StateReady, "", "", true, nil
		if st.failures > 0 {
			st.restarts++
		}
	}, func() {
		s.proven.Store(true)
		life.session.used.Store(time.Now().UnixNano())
		s.session.Store(life.session)
	})
	s.deps.Logger.Info("server ready", "server", s.cfg.Name, "tools", len(s.Tools()))
	return life.serve(ctx)
}

// enter takes a place for one call.
func (s *Server) enter(ctx context.Context) error {
	select {
	case s.places <- struct{}{}:
		return nil
	default:
	}
	t := time.NewTimer(s.cfg.Timeout)
	defer t.Stop()
	select {
	case s.places <- struct{}{}:
		return nil
	case <-t.C:
		return errBusy
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// await waits for a server that is still starting, up to the call's deadline
// less a second; a host that waits as long as we do learns why.
func (s *Server) await(ctx context.Context) (*session, error) {
	limit := time.NewTimer(max(s.cfg.Timeout-time.Second, s.cfg.Timeout/2))
	defer limit.Stop()
	for {
		s.mu.Lock()
		st, changed := s.st, s.changed
		s.mu.Unlock()
		if sess := s.session.Load(); sess != nil {
			return sess, nil
		}
		if err := s.unavailable(&st); err != nil {
			return nil, err
		}
		s.Wake()
		select {
		case <-changed:
		case <-limit.C:
			if st.reason != "" { // it has failed before, and may again
				return nil, s.down(&st)
			}
			return nil, s.starting(&st)
		case <-ctx.Done():
			return nil, cancelledError(ctx)
		}
	}
}

// Ready reports whether a call would go up at once.
func (s *Server) Ready() bool { return s.session.Load() != nil }

// Wait returns once the server is ready, or with the error that a call to it
// would get.
func (s *Server) Wait(ctx context.Context) error {
	if s.Ready() {
		return nil
	}
	_, err := s.await(ctx)
	return err
}

// soon is how long a call waits for a server that failed and will be started
// again: longer pauses are refused at once.
const soon = 3 * time.Second

// unavailable returns why a call need not wait; nil if it should.
func (s *Server) unavailable(st *status) error {
	switch st.state {
	case StateWaiting, StateStarting:
		if st.failures == 0 || st.failures <= s.cfg.MaxAttempts {
			return nil
		}
	case StateRetrying:
		if time.Until(st.retry) < soon && !st.retry.IsZero() {
			return nil
		}
	case StateReady, StateIdle:
		return nil
	}
	return s.down(st)
}

// down says why a server takes no calls.
func (s *Server) down(st *status) error {
	e := &heddle.Error{Kind: heddle.KindUnavailable, Op: "upstream.call"}
	if !st.retry.IsZero() {
		e.RetryAfter = max(0, time.Until(st.retry))
	}
	e.Public = "Server " + s.cfg.Name + " is not available"
	if st.reason != "" {
		e.Public += ": " + st.reason
	}
	e.Public += tailText(st.tail) + "."
	return e
}

func (s *Server) starting(st *status) error {
	return &heddle.Error{
		Kind: heddle.KindStarting, Op: "upstream.call", RetryAfter: 5 * time.Second,
		Public: fmt.Sprintf("Server %s is still starting (for %s so far). It goes on starting; try again.", s.cfg.Name, time.Since(st.since).Round(time.Second)),
	}
}

func tailText(tail []string) string {
	if len(tail) == 0 {
		return ""
	}
	return "; last stderr lines: " + strings.Join(tail, " | ")
}

func cancelledError(ctx context.Context) error {
	return &heddle.Error{Kind: heddle.KindCancelled, Op: "upstream.call", Public: "The call was cancelled.", Err: context.Cause(ctx)}
}

// Internal errors of a call; explain turns them into words.
var (
	// What was about to be sent in an idle session has not been seen by anybody: it
	// may go up in the next. So has what failed with [wire.ErrSessionLost].
	errIdle = errors.New("the session ended for want of use")
	// errRenew ends a life whose session the server has forgotten.
	errRenew = errors.New("the session has expired")

	errBusy         = errors.New("no place free")
	errStartTimeout = errors.New("handshake timeout")
)

// exitedError says that the session ended while a call waited.
type exitedError struct {
	how  string
	tail []string
	// first is taken by the one call that the breaker counts: an exit is one
	// failure, however many calls it ends.
	first *atomic.Bool
}

func (e *exitedError) Error() string { return e.how }

// explain turns what went wrong with a call into what its host may read.
func (s *Server) explain(ctx context.Context, err error, sent bool) error {
	var (
		own   *heddle.Error
		rpc   *heddle.RPCError
		late  *timeoutError
		ended *exitedError
		link  *linkError
	)
	name := s.cfg.Name
	switch {
	case errors.As(err, &link) && !unseen(err):
		return link.describe(s, sent)
	case errors.As(err, &own), errors.As(err, &rpc):
		return err
	case unseen(err):
		return &heddle.Error{Kind: heddle.KindUnavailable, Op: "upstream.call", Err: err,
			Public: fmt.Sprintf("Server %s keeps forgetting its session, so the call never reached a tool. Try again later.", name)}
	case errors.As(err, &late):
		hint := "If it usually needs longer, raise its timeout."
		if late.total {
			hint = "It made progress, but not to the end; if it usually needs longer, raise its max_timeout."
		}
		return &heddle.Error{Kind: heddle.KindTimeout, Op: "upstream.call", Invoked: sent, Err: err,
			Public: fmt.Sprintf("Server %s did not answer within %s. The call was cancelled; what it did may have happened. %s", name, late.limit, hint)}
	case errors.Is(err, errBusy):
		return &heddle.Error{Kind: heddle.KindTimeout, Op: "upstream.call", Err: err,
			Public: fmt.Sprintf("Server %s had no place free for this call within %s (max_concurrency %d). Try again with fewer calls at once.", name, s.cfg.Timeout, cap(s.places))}
	case errors.As(err, &ended):
		return &heddle.Error{Kind: heddle.KindUpstreamExited, Op: "upstream.call", Invoked: sent, Err: err,
			Public: fmt.Sprintf("Server %s ended during the call (%s)%s. It is being restarted.", name, ended.how, tailText(ended.tail))}
	case ctx.Err() != nil:
		return &heddle.Error{Kind: heddle.KindCancelled, Op: "upstream.call", Invoked: sent, Public: "The call was cancelled.", Err: err}
	}
	return &heddle.Error{Kind: heddle.KindUpstreamExited, Op: "upstream.call", Invoked: sent, Err: err,
		Public: fmt.Sprintf("Server %s is gone. It is being restarted.", name)}
}

// Drain waits until no call is at the server, or ctx ends. No call gets a place
// afterwards, so it is for a server that is about to go.
func (s *Server) Drain(ctx context.Context) {
	for range cap(s.places) {
		select {
		case s.places <- struct{}{}:
		case <-ctx.Done():
			return
		}
	}
}

// Tools returns the definitions as the server listed them, nil before it did.
func (s *Server) Tools() []json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.st.tools
}

// Listing is what the catalog needs of a server.
type Listing struct {
	// Version counts the changes of all below but the state.
	Version      uint64
	Server       string
	Tools        []json.RawMessage
	Instructions string
	Listed       bool
	State        State
	Features     Features
	// Lists are its resources, templates and prompts, by the method that lists
	// them.
	Lists map[string][]json.RawMessage
}

// Listing returns the server's tools and state at one moment.
func (s *Server) Listing() Listing {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Listing{
		Version: s.st.listing, Server: s.cfg.Name, Tools: s.st.tools, Instructions: s.st.instructions, Listed: s.st.listed, State: s.st.state,
		Features: s.st.features, Lists: s.st.lists,
	}
}

// Booted waits until the server's first start has had its outcome, or ctx ends.
func (s *Server) Booted(ctx context.Context) bool {
	for {
		s.mu.Lock()
		booted, changed := s.booted, s.changed
		s.mu.Unlock()
		if booted {
			return true
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
}

// Settled waits until nothing more is known to come of what the server lists, or
// ctx ends.
func (s *Server) Settled(ctx context.Context) bool {
	for {
		s.mu.Lock()
		settled, changed := s.booted && (s.st.more || s.st.state != StateReady), s.changed
		s.mu.Unlock()
		if settled {
			return true
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
}

// Status is a server as `heddle status` shows it.
type Status struct {
	Name      string     `json:"name"`
	State     State      `json:"state"`
	Since     time.Time  `json:"since"`
	Code      string     `json:"code,omitempty"` // stable name of the reason
	Reason    string     `json:"reason,omitempty"`
	NextRetry *time.Time `json:"next_retry,omitempty"`
	Restarts  int        `json:"restarts"`
	Circuit   string     `json:"circuit"`
	PID       int        `json:"pid,omitempty"`
	Protocol  string     `json:"protocol,omitempty"`
	Tools     int        `json:"tools"`
	InFlight  int        `json:"in_flight"`
	Stderr    []string   `json:"stderr,omitempty"`
	// Stray counts lines on stdout that are no messages; the first few follow.
	Stray      int64    `json:"stray_lines,omitempty"`
	StrayFirst []string `json:"stray_first,omitempty"`
	// Late counts answers to requests that nobody waits for.
	Late     int64    `json:"late_answers,omitempty"`
	BadBytes int64    `json:"invalid_utf8_bytes,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
}

// Status returns the server's state for people.
func (s *Server) Status() Status {
	s.mu.Lock()
	st := s.st
	s.mu.Unlock()
	out := Status{
		Name: s.cfg.Name, State: st.state, Since: st.since, Code: st.code, Reason: st.reason, Restarts: st.restarts, Circuit: s.breaker.state(),
		PID: st.pid, Protocol: st.protocol, Tools: len(st.tools), Stderr: st.tail,
	}
	for _, method := range []string{listTools, ListResources, ListTemplates, ListPrompts} {
		out.Warnings = append(out.Warnings, st.warnings[method]...)
	}
	if !st.retry.IsZero() {
		out.NextRetry = &st.retry
	}
	sess := s.session.Load()
	switch life := s.opening.Load(); {
	case sess != nil:
		out.InFlight, out.Late, out.BadBytes = sess.inFlight(), sess.late.Load(), sess.conn.BadBytes()
		out.Stray, out.StrayFirst = sess.stray.get()
	case life != nil && st.state == StateStarting:
		out.Stderr = life.tail()
		out.Stray, out.StrayFirst = life.session.stray.get()
		if code, said := life.instead(); code != "" {
			out.Code, out.Reason = code, "no answer yet; "+said
		}
	case st.state != StateReady && st.state != StateIdle:
		out.Stray, out.StrayFirst = st.stray, slices.Clone(st.noise)
	}
	for i := range out.StrayFirst {
		out.StrayFirst[i] = s.deps.mask(out.StrayFirst[i])
	}
	return out
}

// seconds rounds up, so that "0 s" is never said of a wait.
func seconds(d time.Duration) int { return int(math.Ceil(d.Seconds())) }
