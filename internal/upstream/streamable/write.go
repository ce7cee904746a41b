package streamable

import (
	"bytes"
	"context"
	"encoding/json"

	"heddle/internal/wire"
)

const (
	initialize  = "initialize"
	initialized = "notifications/initialized"
	cancelled   = "notifications/cancelled"
)

// modern begins the protocol versions that have no session.
const modern = "2026"

// flight is one message on its way, and if it is a request its wait for the
// answer.
type flight struct {
	body   []byte
	id     json.RawMessage // nil for what gets no answer
	method string          // "" for an answer of ours
	params params
	// session is what the request carried, and sse how it went; set before it is
	// sent.
	session string
	sse     bool

	// The rest is guarded by the link's lock.
	settled bool   // answered, failed or given up: nobody waits
	apart   bool   // accepted; the answer comes on the server's own stream
	abort   func() // ends its requests; nil before it was sent
	aborted bool
}

// params are the members of params that say how a message is sent.
type params struct {
	version   string          // of the protocol, from _meta; "" for one with handshake
	name      json.RawMessage // name, or uri
	arguments json.RawMessage
	cancels   json.RawMessage // the request that a cancellation is about
}

func (f *flight) isRequest() bool { return f.id != nil && f.method != "" }

// modern reports whether the message stands alone, outside any session.
func (f *flight) modern() bool { return f.params.version >= modern }

// newFlight reads what must be known of a frame. What is no message goes up all
// the same: the server says what it thinks of it.
func newFlight(line []byte) *flight {
	f := &flight{body: bytes.Clone(line)}
	m, err := wire.Parse(f.body)
	if err != nil {
		return f
	}
	f.id, f.method = m.ID, m.Method
	if m.Params == nil || m.Params[0] != '{' {
		return f
	}
	_ = wire.Members(m.Params, func(key string, v json.RawMessage) bool { // Parse found it valid
		switch key {
		case "_meta":
			f.params.version = protocolVersion(v)
		case "name":
			if m.Method != "resources/read" {
				f.params.name = v
			}
		case "uri":
			if m.Method == "resources/read" {
				f.params.name = v
			}
		case "arguments":
			f.params.arguments = v
		case "requestId":
			f.params.cancels = v
		}
		return true
	})
	return f
}

// protocolVersion returns the version in a _meta, "" if it has none.
func protocolVersion(meta json.RawMessage) string {
	if len(meta) == 0 || meta[0] != '{' {
		return ""
	}
	v, _ := wire.Unquote(wire.Member(meta, metaVersion))
	return v
}

// Write sends whole frames, each ended by a newline. It never waits for the
// network: every message goes out in a goroutine of its own, but initialize and
// notifications/initialized go in order and before all that follows them. p may be
// reused. The error is why the link has ended.
func (l *Link) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		line, after, _ := bytes.Cut(rest, []byte{'\n'})
		rest = after
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if err := l.take(newFlight(line)); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// take sends a message or, during the handshake, keeps it for later.
func (l *Link) take(f *flight) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.quiet != nil:
		if l.room(f) {
			l.refuse(f)
		}
	case l.err != nil:
		return l.err
	case f.method == cancelled && f.id == nil:
		l.cancel(f)
	case !l.room(f):
		if f.isRequest() {
			l.crew.Add(1)
			l.run(func(context.Context) { l.report(f.id, ErrBusy) })
		}
	default:
		l.queue(f)
	}
	return nil
}

// queue sends a message, or keeps it while the handshake is under way. It is
// called with the lock.
func (l *Link) queue(f *flight) {
	if l.holding {
		l.held = append(l.held, f)
		return
	}
	l.launch(f)
}

// room counts a message, or says that there are too many. It is called with the
// lock.
func (l *Link) room(f *flight) bool {
	if f.isRequest() {
		if len(l.open) >= maxOpen {
			return false
		}
		l.open[string(f.id)] = f
		return true
	}
	if l.others >= maxOpen {
		return false
	}
	l.others++
	return true
}

// launch sends a message. It is called with the lock.
func (l *Link) launch(f *flight) {
	if f.method == initialize || f.method == initialized {
		l.holding = true
	}
	l.crew.Add(1)
	l.run(func(ctx context.Context) { l.send(ctx, f) })
}

// release sends what waited for the handshake, up to the next message that all
// others wait for. It is called with the lock.
func (l *Link) release() {
	l.holding = false
	for len(l.held) > 0 && !l.holding {
		f := l.held[0]
		l.held = l.held[1:]
		if !f.settled {
			l.launch(f)
		}
	}
}

// settle takes a message out of the tables and reports whether anybody still
// waited for it. What waited for it goes out.
func (l *Link) settle(f *flight) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if f.settled {
		return false
	}
	l.drop(f)
	if l.err != nil {
		return l.quiet != nil
	}
	if f.method == initialize || f.method == initialized {
		l.release()
	}
	return true
}

// drop is the part of settle that keeps the books. It is called with the lock.
func (l *Link) drop(f *flight) {
	f.settled = true
	if !f.isRequest() {
		l.others--
	} else if l.open[string(f.id)] == f {
		delete(l.open, string(f.id))
		l.hush()
	}
}

// fail reports a request that gets no answer; not if ctx says that this is what we
// wanted.
func (l *Link) fail(ctx context.Context, f *flight, err error) {
	if l.settle(f) && f.isRequest() && ctx.Err() == nil {
		l.report(f.id, err)
	}
}

// cancel gives up a request: the connection it waits on is closed, which since
// 2026-07-28 is all that a server needs; before, it is told first. It is called
// with the lock.
func (l *Link) cancel(c *flight) {
	f := l.find(c.params.cancels)
	if f == nil { // answered, so that there is nothing to cancel, unless answers come elsewhere
		if l.sse && l.room(c) {
			l.queue(c)
		}
		return
	}
	waiting := f.abort == nil && l.holding && l.isHeld(f)
	l.drop(f)
	switch {
	case waiting: // it never went out, and release skips it
	case f.modern(), f.method == initialize, l.others >= maxOpen:
		l.stop(f)
		if f.method == initialize {
			l.release()
		}
	default:
		l.others++
		l.crew.Add(1)
		l.run(func(ctx context.Context) { l.tell(ctx, c, f) })
	}
}

func (l *Link) find(id json.RawMessage) *flight {
	if f := l.open[string(id)]; f != nil {
		return f
	}
	for _, f := range l.open {
		if wire.SameID(f.id, id) {
			return f
		}
	}
	return nil
}

func (l *Link) isHeld(f *flight) bool {
	for _, h := range l.held {
		if h == f {
			return true
		}
	}
	return false
}

// stop ends the requests of f. It is called with the lock.
func (l *Link) stop(f *flight) {
	f.aborted = true
	if f.abort != nil {
		f.abort()
	}
}

// tell sends a cancellation and then ends what it cancels, which a server that
// does not take the one must not keep open.
func (l *Link) tell(ctx context.Context, c, f *flight) {
	told, cancel := context.WithTimeout(ctx, farewell)
	l.send(told, c)
	cancel()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stop(f)
}
