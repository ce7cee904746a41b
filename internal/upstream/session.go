package upstream

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"heddle"
	"heddle/internal/wire"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// idPrefix marks the ids of our lane. The SDK's own are integers, so the two
// never meet.
const idPrefix = `"h`

// session is one connection to a server. The SDK keeps the handshake and
// everything rare; requests of the lane go past it and their results come back
// as raw bytes.
type session struct {
	name   string
	deps   *Deps
	ctx    context.Context // of the life: a lane's methods get none
	conn   *wire.Conn
	origin func() json.RawMessage // id of the request whose stream brought the last frame; nil where there is one stream
	sdk    *mcp.ClientSession
	modern string // version of the protocol without handshake, "" with one
	stray  strays
	asks   asks
	relist chan struct{} // the server says that lists have changed

	lastID atomic.Uint64
	used   atomic.Int64 // when a request last ended, in nanoseconds since 1970
	count  atomic.Int32 // requests that wait
	late   atomic.Int64 // answers to nobody

	mu      sync.Mutex
	pending map[uint64]*pending
	stale   []string      // methods of the lists that have changed
	ended   error         // set once no answer can come any more
	done    chan struct{} // closed when ended is set

	broken    chan struct{} // closed when the server takes no more input
	breakOnce sync.Once
}

// pending is a request of the lane that waits for its answer.
type pending struct {
	answer   chan answer // capacity 1: the reader never waits
	timer    *time.Timer
	host     heddle.Host
	token    json.RawMessage // the host's progress token, nil if it has none
	progress atomic.Int64    // when progress last came, in nanoseconds since 1970
}

type answer struct {
	result json.RawMessage
	err    error
}

var pendings = sync.Pool{New: func() any {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return &pending{answer: make(chan answer, 1), timer: t}
}}

// open registers a request and returns its number.
func (s *session) open(p *pending) (uint64, error) {
	n := s.lastID.Add(1)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended != nil {
		return 0, s.ended
	}
	s.pending[n] = p
	s.count.Add(1)
	return n, nil
}

// settle answers a request and reports whether it was still waiting. The answer
// is sent with the lock held, so that release knows: a request that is not in
// the table has its answer in its channel.
func (s *session) settle(n uint64, a answer) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.pending[n]
	if p == nil {
		return false
	}
	delete(s.pending, n)
	p.answer <- a
	return true
}

// release gives p back to the pool. An answer that crossed with the end of the
// wait is taken out first.
func (s *session) release(n uint64, p *pending) {
	s.used.Store(time.Now().UnixNano())
	s.count.Add(-1)
	s.mu.Lock()
	delete(s.pending, n)
	s.mu.Unlock()
	select {
	case <-p.answer:
	default: // received, or never sent
	}
	p.timer.Stop()
	s.asks.endCall(n)
	p.host, p.token = nil, nil
	p.progress.Store(0)
	pendings.Put(p)
}

// end fails everything that waits and all that comes later.
func (s *session) end(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endLocked(err)
}

// endIfIdle ends the session unless something waits.
func (s *session) endIfIdle(err error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.pending) > 0 {
		return false
	}
	s.endLocked(err)
	return true
}

// fail fails the request of that id, which the transport could not deliver or
// has no answer for. The SDK's own requests get an error from the peer.
func (s *session) fail(id json.RawMessage, err error) {
	if n, ok := number(id); ok {
		s.settle(n, answer{err: &linkError{err}})
		return
	}
	n, convErr := strconv.ParseInt(string(id), 10, 64)
	if convErr != nil {
		return
	}
	sdkID, _ := jsonrpc.MakeID(float64(n))
	s.conn.Inject(&jsonrpc.Response{ID: sdkID, Error: fmt.Errorf("%w", err)})
}

func (s *session) endLocked(err error) {
	if s.ended != nil {
		return
	}
	s.ended = err
	close(s.done)
	for n, p := range s.pending {
		delete(s.pending, n)
		p.answer <- answer{err: err}
	}
}

// inFlight returns how many requests of the lane wait.
func (s *session) inFlight() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.pending)
}

// number reads an id of the lane, `"h12"`.
func number(id json.RawMessage) (uint64, bool) {
	digits, ok := bytes.CutPrefix(id, []byte(idPrefix))
	if !ok || len(digits) < 2 {
		return 0, false
	}
	n, err := strconv.ParseUint(string(digits[:len(digits)-1]), 10, 64)
	return n, err == nil
}

func appendID(b []byte, n uint64) []byte {
	b = strconv.AppendUint(append(b, idPrefix...), n, 10)
	return append(b, '"')
}

// Take implements [wire.Lane].
func (s *session) Take(m *wire.Message) bool {
	switch {
	case m.IsResponse():
		return s.takeResponse(m)
	case m.IsRequest():
		return s.takeRequest(m)
	case m.Method == "notifications/progress":
		return s.takeProgress(m.Params)
	}
	return s.takeNotification(m)
}

func (s *session) takeResponse(m *wire.Message) bool {
	n, ok := number(m.ID)
	if !ok {
		return false
	}
	a := answer{result: m.Result}
	if m.Error != nil {
		a = answer{err: s.rpcError(m.Error)}
	}
	if !s.settle(n, a) {
		s.late.Add(1)
	}
	return true
}

// rpcError is the server's error as it wrote it, if hosts can read it.
func (s *session) rpcError(raw json.RawMessage) error {
	var e struct {
		Code    *json.Number `json:"code"`
		Message *string      `json:"message"`
	}
	if json.Unmarshal(raw, &e) != nil || e.Code == nil || e.Message == nil {
		return s.damaged("is an error without code and message")
	}
	return &heddle.RPCError{Raw: raw}
}

// takeProgress forwards progress of a lane's call under the host's token.
func (s *session) takeProgress(params json.RawMessage) bool {
	params = s.deps.said(params)
	var start, end int
	_ = wire.Spans(params, func(key string, from, to int) bool {
		if key == "progressToken" {
			start, end = from, to
		}
		return true
	})
	n, ok := number(params[start:end])
	if !ok {
		return false
	}
	host, token := s.progressed(n)
	if token == nil {
		return true
	}
	// The token's bytes are replaced where they stand; all else stays as it is.
	out := make(json.RawMessage, 0, len(params)+len(token))
	out = append(append(append(out, params[:start]...), token...), params[end:]...)
	_ = host.Notify(s.ctx, "notifications/progress", out) // progress may be lost
	return true
}

// progressed notes that a call made progress and returns where to tell it.
func (s *session) progressed(n uint64) (heddle.Host, json.RawMessage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.pending[n]
	if p == nil {
		return nil, nil
	}
	p.progress.Store(time.Now().UnixNano())
	return p.host, p.token
}

// Next implements [wire.Lane]. A server is never held back: it may itself wait
// for us to read.
func (s *session) Next() {}

// Stray implements [wire.Lane]. A damaged answer fails the call whose id it
// bears; nothing else would before its deadline.
func (s *session) Stray(line []byte, _ *wire.Message, err error) {
	if err == wire.ErrUnknownID {
		s.late.Add(1)
		return
	}
	if line[0] == '[' { // some libraries answer in batches
		if elements, err := wire.Elements(line); err == nil && len(elements) > 0 && elements[0][0] == '{' {
			for _, e := range elements {
				s.conn.Feed(e)
			}
			return
		}
	}
	s.stray.add(line)
	if n, ok := number(wire.FindID(line)); ok {
		s.settle(n, answer{err: s.damaged("is " + err.Error())})
	}
}

// damaged is the error of a call whose answer cannot be used.
func (s *session) damaged(how string) error {
	return &heddle.Error{
		Kind: heddle.KindUpstreamError, Op: "upstream.call", Invoked: true,
		Public: fmt.Sprintf("Server %s answered, but its answer %s. What the call did may have happened.", s.name, how),
	}
}

// TooLarge implements [wire.Lane]: the one call whose answer was too large
// fails, the session lives.
func (s *session) TooLarge(e *wire.TooLargeError) {
	n, ok := number(e.ID)
	if !ok {
		s.stray.add(fmt.Appendf(nil, "%v", e))
		return
	}
	s.settle(n, answer{err: &heddle.Error{
		Kind: heddle.KindResultTooLarge, Op: "upstream.call", Invoked: true, Err: e,
		Public: fmt.Sprintf("The result of %s is too large (%d bytes, limit %d). Ask for less, or raise results.max_frame.", s.name, e.Size, e.Limit),
	}})
}

// Sent implements [wire.Lane].
func (s *session) Sent(string, *jsonrpc.Response) {}
