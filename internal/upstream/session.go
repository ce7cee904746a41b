package upstream

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"

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
	conn   *wire.Conn
	sdk    *mcp.ClientSession
	modern json.RawMessage // members of _meta that each request needs since 2026-07-28
	stray  strays
	probe  probe

	lastID atomic.Uint64
	count  atomic.Int32 // requests that wait
	late   atomic.Int64 // answers to nobody

	mu      sync.Mutex
	pending map[uint64]*pending
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
	s.count.Add(-1)
	s.mu.Lock()
	delete(s.pending, n)
	s.mu.Unlock()
	select {
	case <-p.answer:
	default: // received, or never sent
	}
	p.timer.Stop()
	p.host, p.token = nil, nil
	p.progress.Store(0)
	pendings.Put(p)
}

// end fails everything that waits and all that comes later.
func (s *session) end(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
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
	return false
}

func (s *session) takeResponse(m *wire.Message) bool {
	n, ok := number(m.ID)
	if !ok {
		return s.probe.answered(m)
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

// clientMethods are the requests that only a client sends. One that comes back
// is our own, from a program that echoes its input; answering it would look
// like an answer of its own when that is echoed too.
var clientMethods = map[string]bool{"initialize": true, "server/discover": true, "tools/list": true, "tools/call": true, "subscriptions/listen": true}

// takeRequest answers what heddle cannot carry to a host. Only pings go to the
// SDK.
func (s *session) takeRequest(m *wire.Message) bool {
	switch {
	case m.Method == "ping":
		return false
	case clientMethods[m.Method]:
		s.Stray([]byte("an echo of "+m.Method), m, nil)
		return true
	}
	e := heddle.NewRPCError(jsonrpc.CodeMethodNotFound, m.Method+" is not supported by this client")
	_ = s.conn.Writer().Offer(wire.AppendError(nil, m.ID, e.Raw)) // a server that does not read has no use for it
	return true
}

// takeProgress forwards progress of a lane's call under the host's token.
func (s *session) takeProgress(params json.RawMessage) bool {
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
	// The token's bytes are replaced where they stand; all else stays as it was.
	out := make(json.RawMessage, 0, len(params)+len(token))
	out = append(append(append(out, params[:start]...), token...), params[end:]...)
	_ = host.Notify(context.Background(), "notifications/progress", out) // progress may be lost
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

// request sends a request of the lane and waits for its answer until ctx ends.
func (s *session) request(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	p := pendings.Get().(*pending)
	n, err := s.open(p)
	if err != nil {
		return nil, err
	}
	defer s.release(n, p)
	frame := wire.AppendRequest(nil, appendID(nil, n), method, s.withMeta(params))
	if err := s.conn.Writer().Write(ctx, frame); err != nil {
		return nil, s.notWritten(ctx, err)
	}
	select {
	case a := <-p.answer:
		return a.result, a.err
	case <-ctx.Done():
		s.cancel(n, "no longer wanted")
		return nil, context.Cause(ctx)
	}
}

// withMeta adds the members of _meta that the protocol demands since
// 2026-07-28 to params without one.
func (s *session) withMeta(params json.RawMessage) json.RawMessage {
	if s.modern == nil {
		return params
	}
	meta := append(append([]byte(`{"_meta":{`), s.modern...), '}')
	if len(params) > 2 {
		meta = append(append(meta, ','), params[1:]...)
		return meta
	}
	return append(meta, '}')
}

// cancel tells the server that nobody waits for the request any more.
func (s *session) cancel(n uint64, reason string) {
	s.mu.Lock()
	delete(s.pending, n) // an answer that comes now is late
	s.mu.Unlock()
	params := append([]byte(`{"requestId":`), appendID(nil, n)...)
	params = append(params, `,"reason":`...)
	params = append(append(params, wire.Quote(reason)...), '}')
	_ = s.conn.Writer().Offer(wire.AppendRequest(nil, nil, "notifications/cancelled", params)) // best effort, as the protocol has it
}

// errTimeout and errMaxTimeout say which deadline passed.
type timeoutError struct {
	limit time.Duration
	total bool
}

func (e *timeoutError) Error() string { return "no answer within " + e.limit.String() }

// call sends tools/call and waits for the answer; timeout starts again with
// each progress, up to max after the start.
func (s *session) call(ctx context.Context, c *heddle.Call, tool string, timeout, most time.Duration) (json.RawMessage, error) {
	p := pendings.Get().(*pending)
	p.host, p.token = c.Host, progressToken(c.Meta)
	n, err := s.open(p)
	if err != nil {
		return nil, err
	}
	defer s.release(n, p)
	buf := frames.Get().(*[]byte)
	*buf = s.appendCall((*buf)[:0], n, c, tool)
	err = s.conn.Writer().WriteWithin(ctx, *buf, timeout)
	if cap(*buf) <= 64<<10 {
		frames.Put(buf)
	}
	if err != nil {
		if errors.Is(err, wire.ErrFull) {
			return nil, &timeoutError{timeout, false}
		}
		return nil, s.notWritten(ctx, err)
	}
	return s.await(ctx, n, p, timeout, most)
}

// notWritten says why a request did not reach the server. A server that has just
// ended shows first in the write that it does not take; how it ended is known a
// moment later. One that lives on but takes no more input is as good as ended.
func (s *session) notWritten(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		s.breakOnce.Do(func() { close(s.broken) })
		wait(s.done, time.Second)
	}
	if gone := s.gone(); gone != nil {
		return gone
	}
	return err
}

var frames = sync.Pool{New: func() any { b := make([]byte, 0, 1024); return &b }}

func (s *session) await(ctx context.Context, n uint64, p *pending, timeout, most time.Duration) (json.RawMessage, error) {
	begin := time.Now()
	p.timer.Reset(min(timeout, most))
	for {
		select {
		case a := <-p.answer:
			return a.result, a.err
		case <-ctx.Done():
			s.cancel(n, "the host cancelled the call")
			return nil, context.Cause(ctx)
		case <-p.timer.C:
			last := time.Unix(0, max(p.progress.Load(), begin.UnixNano()))
			left := min(timeout-time.Since(last), most-time.Since(begin))
			if left > 0 {
				p.timer.Reset(left)
				continue
			}
			s.cancel(n, "timeout")
			if total := most-time.Since(begin) <= 0; total {
				return nil, &timeoutError{most, true}
			}
			return nil, &timeoutError{timeout, false}
		}
	}
}

// appendCall appends the request frame. Arguments and _meta go up byte for
// byte, but for the progress token, which must be ours for the answer to find
// its call.
func (s *session) appendCall(b []byte, n uint64, c *heddle.Call, tool string) []byte {
	b = append(b, `{"jsonrpc":"2.0","id":`...)
	b = appendID(b, n)
	b = append(b, `,"method":"tools/call","params":{"name":`...)
	b = appendName(b, tool)
	b = append(b, `,"arguments":`...)
	if c.Arguments == nil {
		b = append(b, `{}`...)
	} else {
		b = append(b, c.Arguments...)
	}
	b = append(b, c.Extra...)
	b = append(b, `,"_meta":{`...)
	start := len(b)
	b = appendMeta(b, c.Meta, n, s.modern != nil)
	if s.modern != nil {
		if len(b) > start {
			b = append(b, ',')
		}
		b = append(b, s.modern...)
	}
	b = append(b, `}}}`...)
	return append(b, '\n')
}

// appendMeta appends the members of the host's _meta with the progress token
// replaced by ours. A host that sends no _meta at all gets a token too, so that
// progress extends the deadline; in a _meta without a token nothing is added,
// because what a host wrote goes up as it wrote it. modern says that the caller
// adds what describes the client: that is heddle, not the host.
func appendMeta(b []byte, meta json.RawMessage, n uint64, modern bool) []byte {
	if meta == nil {
		b = append(b, `"progressToken":`...)
		return appendID(b, n)
	}
	first := true
	_ = wire.Members(meta, func(key string, v json.RawMessage) bool {
		if modern && (key == mcp.MetaKeyProtocolVersion || key == mcp.MetaKeyClientInfo || key == mcp.MetaKeyClientCapabilities) {
			return true
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = appendName(b, key)
		b = append(b, ':')
		if key == "progressToken" {
			b = appendID(b, n)
		} else {
			b = append(b, v...)
		}
		return true
	})
	return b
}

// progressToken returns the token in a host's _meta, nil if it has none. The
// protocol allows strings and numbers.
func progressToken(meta json.RawMessage) json.RawMessage {
	if meta == nil {
		return nil
	}
	token := wire.Member(meta, "progressToken")
	if token == nil || token[0] != '"' && token[0] != '-' && (token[0] < '0' || token[0] > '9') {
		return nil
	}
	return token
}

// appendName appends a tool's name as a JSON string.
func appendName(b []byte, name string) []byte {
	for i := range len(name) {
		if c := name[i]; c < 0x20 || c >= 0x7f || c == '"' || c == '\\' {
			return append(b, wire.Quote(name)...)
		}
	}
	b = append(b, '"')
	b = append(b, name...)
	return append(b, '"')
}

// strays counts lines on stdout that are no messages and keeps the first few.
type strays struct {
	mask  func(string) string
	mu    sync.Mutex
	count int64
	first []string
}

const (
	straysKept  = 5
	strayLength = 200
	strayMasked = 8 << 10 // secrets are hidden before the cut, which may go through one
)

func (s *strays) add(line []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count++
	if len(s.first) < straysKept {
		text := s.mask(string(line[:min(len(line), strayMasked)]))
		s.first = append(s.first, printable([]byte(text), strayLength))
	}
}

func (s *strays) get() (int64, []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count, append([]string(nil), s.first...)
}

// printable cuts b to n bytes and escapes what a terminal would act on or would
// not show.
func printable(b []byte, n int) string {
	cut := len(b) > n
	if cut {
		b = b[:n]
	}
	var out strings.Builder
	for _, r := range string(b) {
		if unicode.IsPrint(r) {
			out.WriteRune(r)
		} else {
			q := strconv.QuoteRune(r)
			out.WriteString(q[1 : len(q)-1])
		}
	}
	if cut {
		out.WriteString("…")
	}
	return out.String()
}
