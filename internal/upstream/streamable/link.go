// Package streamable makes a server behind HTTP look like a stream of frames: it
// speaks streamable HTTP (2025-03-26 to 2025-11-25 with sessions, 2026-07-28
// without) and the older HTTP+SSE, and hands over what comes back byte for byte.
//
// It knows which request an answer belongs to and nothing about what is in it:
// results are never decoded. It sends each message once; what it repeats is
// listening alone.
//
// Start at [Link]. write.go has the order in which messages go out, post.go a
// request's way, stream.go the event streams, sse.go the older transport,
// header.go what goes into headers, status.go the errors.
package streamable

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"heddle/internal/wire"
)

// Config is one server.
type Config struct {
	URL string
	// Kind is "" for streamable HTTP that falls back to HTTP+SSE, or one of the two
	// alone: "http", "sse".
	Kind string
	// Header is sent with each request; its references are resolved.
	Header http.Header
	// Client sends the requests. It must have no cookie jar, because headers are
	// shared between requests, and belongs to the caller.
	Client *http.Client
	// MaxFrame is the largest message in bytes.
	MaxFrame int
	// Version is heddle's own, for User-Agent.
	Version string
	// Failed is told of a request that cannot get an answer any more: its id as
	// written, and why. It is called from goroutines of the link and must not call
	// Close. Nil tells nobody.
	Failed func(id json.RawMessage, err error)
}

// Errors of a link.
var (
	// ErrSessionLost says that the server has forgotten the session; a new link
	// begins a new one. A request that fails with it has had no effect.
	ErrSessionLost = wire.ErrSessionLost
	// ErrInterrupted says that the session was lost while a request was open. The
	// request may have had its effect.
	ErrInterrupted = errors.New("the server lost its session while the request was open; it may have had its effect")
	// ErrBusy says that too many requests are open already.
	ErrBusy = errors.New("too many requests are open at once")
)

const (
	// queue is how many frames wait for Next before their streams wait.
	queue = 16
	// maxOpen is how many requests may be open, and how many other messages on
	// their way besides.
	maxOpen = 1024
	// farewell bounds the end of the session.
	farewell = time.Second
	// lastWords is how long requests that are open may still be answered once the
	// session is lost.
	lastWords = 250 * time.Millisecond
)

// Link is one connection to a server. Next and Origin are for one goroutine;
// Write and Close are for any.
type Link struct {
	c      Config
	url    *url.URL
	scrub  *strings.Replacer // hides what must not stand in errors
	run    func(f func(ctx context.Context))
	end    context.CancelFunc
	bye    func() // says to the server that the session is over
	frames chan frame
	ended  chan struct{} // closed once err is set
	origin json.RawMessage
	marks  marks
	crew   sync.WaitGroup

	mu        sync.Mutex
	err       error         // why the link ended, or is about to
	quiet     chan struct{} // while the session is lost: closed once nothing is open
	head      http.Header   // of a request within the session; replaced, never changed
	session   string
	target    *url.URL // where messages go
	sse       bool     // HTTP+SSE
	listening bool     // the server has a stream of its own to answer on
	holding   bool     // the handshake is under way
	held      []*flight
	open      map[string]*flight // requests without an answer, by id as written
	others    int                // messages on their way that get no answer
}

// frame is what Next returns.
type frame struct {
	data   []byte
	origin json.RawMessage
	err    error
}

// Open returns a link to c.URL. It does no I/O for streamable HTTP; HTTP+SSE
// begins to connect. The end of ctx ends the link; Close must be called all the
// same.
func Open(ctx context.Context, c Config) (*Link, error) {
	u, err := url.Parse(c.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("the URL must be an absolute http or https URL")
	}
	if c.Kind != "" && c.Kind != "http" && c.Kind != "sse" {
		return nil, fmt.Errorf("unknown kind of connection %q", c.Kind)
	}
	u.Fragment, u.RawFragment = "", ""
	inner, cancel := context.WithCancel(ctx)
	l := &Link{
		c: c, url: u, target: u, end: cancel, scrub: scrubber(u, c.Header),
		frames: make(chan frame, queue), ended: make(chan struct{}), open: map[string]*flight{},
	}
	l.head = baseHeader(&c)
	l.run = func(f func(context.Context)) {
		go func() {
			defer l.crew.Done()
			f(inner)
		}()
	}
	unhook := context.AfterFunc(ctx, func() { l.finish(context.Cause(ctx)) })
	l.bye = func() {
		unhook()
		away, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewell) // the session outlives the link otherwise
		defer cancel()
		l.leave(away)
	}
	if c.Kind == "sse" {
		l.sse, l.holding = true, true
		l.crew.Add(1)
		l.run(l.subscribe)
	}
	return l, nil
}

// baseHeader returns what every message carries.
func baseHeader(c *Config) http.Header {
	h := make(http.Header, len(c.Header)+5)
	h.Set("User-Agent", "heddle/"+c.Version)
	for name, values := range c.Header {
		h[http.CanonicalHeaderKey(name)] = values
	}
	h.Set("Content-Type", "application/json")
	h.Set("Accept", "application/json, text/event-stream")
	return h
}

// scrubber hides what a URL and headers keep to themselves, wherever an error of
// the network or the text of a server repeats it.
func scrubber(u *url.URL, h http.Header) *strings.Replacer {
	var pairs []string
	hide := func(s string) {
		if len(s) >= 6 { // shorter ones stand in ordinary text
			pairs = append(pairs, s, "[redacted]")
		}
	}
	hide(u.RawQuery)
	if u.User != nil {
		hide(u.User.String())
	}
	for _, values := range u.Query() {
		for _, v := range values {
			hide(v)
		}
	}
	for _, values := range h {
		for _, v := range values {
			hide(v)
			if _, secret, ok := strings.Cut(v, " "); ok { // Bearer …
				hide(secret)
			}
		}
	}
	return strings.NewReplacer(pairs...)
}

// Next returns the next frame: one message, or one array of messages, on one line
// without its break. The caller owns it. A [*wire.TooLargeError] is not the end; any
// other error is: [ErrSessionLost], [io.EOF] after Close, the cause of the context's
// end, or why a stream of HTTP+SSE ended.
func (l *Link) Next() ([]byte, error) {
	var f frame
	select {
	case f = <-l.frames:
	default:
		select {
		case f = <-l.frames:
		case <-l.ended:
			select { // what came before the end comes first
			case f = <-l.frames:
			default:
				f = frame{err: l.why()}
			}
		}
	}
	l.origin = f.origin
	return f.data, f.err
}

// Origin returns the id, as written, of the request on whose stream the last
// frame of Next came; nil if it came on a stream that belongs to no request. What
// a server asks for on a call's stream belongs to that call.
func (l *Link) Origin() json.RawMessage { return l.origin }

// why returns why the link ended, nil while it lives.
func (l *Link) why() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// finish ends the link; the first reason counts.
func (l *Link) finish(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.err = err
		l.shut()
	}
}

// shut ends what runs and wakes Next. It is called with the lock.
func (l *Link) shut() {
	l.held = nil
	close(l.ended)
	l.end()
}

// Close ends the session at the server, within a second, and every stream, and
// waits for the link's goroutines. Requests that are open are not reported. It
// may be called more than once.
func (l *Link) Close() error {
	l.finish(io.EOF)
	l.end() // also of a link that is about to end by itself
	l.bye()
	l.crew.Wait()
	return nil
}

// leave deletes the session, if there is one that the server knows.
func (l *Link) leave(ctx context.Context) {
	l.mu.Lock()
	known := l.session != ""
	l.session = ""
	header := l.head
	lost := errors.Is(l.err, ErrSessionLost)
	l.mu.Unlock()
	if !known || lost {
		return
	}
	req := l.request(ctx, http.MethodDelete, l.url, header, nil)
	if resp, err := l.c.Client.Do(req); err == nil {
		drain(resp)
	}
}

// lose ends the link because its session is gone. f, if not nil, is the request
// that was refused for it. Others that are open may be refused as well, or even be
// answered, so they get a moment; whoever waits is told before Next says so.
func (l *Link) lose(ctx context.Context, f *flight) {
	if f != nil {
		l.fail(ctx, f, ErrSessionLost)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return
	}
	l.err, l.quiet = ErrSessionLost, make(chan struct{})
	for _, h := range l.held {
		l.refuse(h)
	}
	l.hush()
	l.crew.Add(1)
	l.run(l.loseRest)
}

// refuse reports a message that is not sent because the session is lost. It is
// called with the lock.
func (l *Link) refuse(f *flight) {
	if !f.isRequest() || f.settled {
		return
	}
	l.drop(f)
	l.crew.Add(1)
	l.run(func(context.Context) { l.report(f.id, ErrSessionLost) })
}

// hush notes that nothing is open any more. It is called with the lock.
func (l *Link) hush() {
	if l.quiet != nil && len(l.open) == 0 {
		select {
		case <-l.quiet:
		default:
			close(l.quiet)
		}
	}
}

// loseRest waits for the requests that are open, gives the rest up and ends the
// link.
func (l *Link) loseRest(ctx context.Context) {
	t := time.NewTimer(lastWords)
	defer t.Stop()
	select {
	case <-l.quiet:
	case <-t.C:
	case <-ctx.Done():
	}
	l.mu.Lock()
	var rest []json.RawMessage
	for _, f := range l.open {
		f.settled = true
		rest = append(rest, f.id)
	}
	clear(l.open)
	l.mu.Unlock()
	if ctx.Err() == nil { // else nobody asks
		for _, id := range rest {
			l.report(id, ErrInterrupted)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.quiet = nil
	l.shut()
}

func (l *Link) report(id json.RawMessage, err error) {
	if l.c.Failed != nil {
		l.c.Failed(id, err)
	}
}

// push hands a frame to Next and reports whether the link still takes any.
func (l *Link) push(ctx context.Context, f frame) bool {
	select {
	case l.frames <- f:
		return true
	default:
	}
	select {
	case l.frames <- f:
		return true
	case <-ctx.Done():
		return false
	}
}

// tooLarge is a message that was not kept.
func (l *Link) tooLarge(id json.RawMessage, size int64) *wire.TooLargeError {
	return &wire.TooLargeError{ID: id, Size: size, Limit: l.c.MaxFrame}
}
