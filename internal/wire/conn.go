package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// ErrUnknownID says that a response answers no request of ours.
var ErrUnknownID = errors.New("answer to a request that was never sent")

// ErrSessionLost says that the peer has forgotten the session. A request that
// fails with it has had no effect and may be sent in the next.
var ErrSessionLost = errors.New("the server does not know its session any more")

// Lane is what a [Conn] asks about each message before the SDK sees it. All
// methods but Sent are called from the goroutine that reads, one at a time.
// None must block for longer than a moment but Next.
type Lane interface {
	// Next is called before each frame is read. It may wait, to hold back a peer
	// that asks for more than it takes.
	Next()
	// Take reports whether it has taken the message: the SDK then never sees it.
	// The message's slices are the lane's to keep.
	Take(m *Message) bool
	// Stray is told of a line that is no message: noise or bad JSON. m has the id
	// if the line is at least an object with one.
	Stray(line []byte, m *Message, err error)
	// TooLarge is told of a message that was dropped for its size.
	TooLarge(e *TooLargeError)
	// Sent is told of each response that the SDK writes, after the write.
	Sent(method string, r *jsonrpc.Response)
}

// Conn is an [mcp.Connection] over newline-delimited frames. Ids of the peer's
// requests keep their JSON type and digits: the SDK sees numbers of Conn's own
// instead, mapped back when it answers.
//
// Run reads; what the lane does not take waits for the SDK's Read.
type Conn struct {
	r     Source
	w     *Writer
	lane  Lane
	close func() error

	inbox   chan jsonrpc.Message
	ended   chan struct{} // closed when Run has ended
	err     error         // why; set before ended is closed
	closing chan struct{} // closed by Close

	mu      sync.Mutex
	nextID  int64
	open    map[int64]request // the peer's requests that the SDK has not answered
	idle    chan struct{}     // closed while open is empty; nil until somebody waits
	batches map[string]*batch // by id of a member that is not answered yet
	bad     int64             // bytes of invalid UTF-8 seen
	closed  bool
	fewer   *sync.Cond // open has shrunk, or closed is set

	closeOnce sync.Once
	closeErr  error
}

type request struct {
	id     json.RawMessage
	method string
}

// Source is where frames come from: a [Reader] of a stream, or what makes frames
// of something else.
type Source interface {
	// Next returns the next frame, one JSON value on one line. A [*TooLargeError]
	// costs that frame alone, any other error ends the connection.
	Next() ([]byte, error)
}

// NewConn returns a connection that reads from r and writes to w. closer is
// called once, by the first Close.
func NewConn(r Source, w *Writer, lane Lane, closer func() error) *Conn {
	c := &Conn{
		r: r, w: w, lane: lane, close: closer,
		inbox: make(chan jsonrpc.Message, 16), ended: make(chan struct{}), closing: make(chan struct{}), open: map[int64]request{},
	}
	c.fewer = sync.NewCond(&c.mu)
	return c
}

// Writer is where frames of a lane go.
func (c *Conn) Writer() *Writer { return c.w }

// SessionID implements [mcp.Connection]; stdio sessions have none.
func (c *Conn) SessionID() string { return "" }

// Close implements [mcp.Connection]: the SDK sees the end of the stream at once.
// Run goes on until the stream itself ends.
func (c *Conn) Close() error {
	c.closeOnce.Do(func() {
		close(c.closing)
		c.mu.Lock()
		c.closed = true
		c.mu.Unlock()
		c.fewer.Broadcast()
		c.closeErr = c.close()
	})
	return c.closeErr
}

// BadBytes returns how many bytes of invalid UTF-8 were replaced so far.
func (c *Conn) BadBytes() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bad
}

// Run reads until the stream ends and returns why it did; nil for a plain end.
// It is the goroutine that the lane's methods are called from.
func (c *Conn) Run() error {
	defer close(c.ended)
	for {
		c.lane.Next()
		frame, err := c.r.Next()
		var large *TooLargeError
		switch {
		case errors.As(err, &large):
			c.lane.TooLarge(large)
			continue
		case err != nil:
			c.err = err
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		c.Feed(c.clean(frame))
	}
}

// Below waits until the SDK has fewer than n requests to answer, or Close.
func (c *Conn) Below(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.open) >= n && !c.closed {
		c.fewer.Wait()
	}
}

// Ended is closed once Run has ended.
func (c *Conn) Ended() <-chan struct{} { return c.ended }

// Err returns why Run has ended, nil before that.
func (c *Conn) Err() error {
	select {
	case <-c.ended:
		return c.err
	default:
		return nil
	}
}

// Feed handles one frame as if it had been read. It must be called from the
// goroutine of Run.
func (c *Conn) Feed(frame []byte) {
	m, err := Parse(frame)
	if err != nil {
		c.lane.Stray(frame, &m, err)
		return
	}
	if c.lane.Take(&m) {
		return
	}
	if msg := c.forSDK(&m); msg != nil {
		c.pass(msg)
	}
}

// pass hands a message to the SDK, which reads without waiting for its handlers.
func (c *Conn) pass(msg jsonrpc.Message) {
	select {
	case c.inbox <- msg:
	case <-c.closing:
	}
}

// Inject gives the SDK a message that the peer did not send, such as an answer
// that it failed to give in time.
func (c *Conn) Inject(msg jsonrpc.Message) {
	select {
	case c.inbox <- msg:
	case <-c.ended:
	case <-c.closing:
	}
}

// Read implements [mcp.Connection]: it returns the next message that the lane
// does not take.
func (c *Conn) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case msg := <-c.inbox:
		return msg, nil
	default:
	}
	select {
	case msg := <-c.inbox:
		return msg, nil
	case <-c.ended:
		return c.last(ctx)
	case <-c.closing:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// last is Read after the end of the stream. The SDK cancels what it is handling
// when it sees that end, so it does not see it before everything is answered: a
// script that writes its requests and closes still gets its answers.
func (c *Conn) last(ctx context.Context) (jsonrpc.Message, error) {
	select { // what was read before the end comes first, whatever else is ready
	case msg := <-c.inbox:
		return msg, nil
	default:
	}
	select {
	case msg := <-c.inbox:
		return msg, nil
	case <-c.Idle():
	case <-c.closing:
	case <-ctx.Done():
	}
	return nil, c.err
}

// Idle returns a channel that is closed once the SDK has answered every request
// that was read so far.
func (c *Conn) Idle() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.idle == nil {
		c.idle = make(chan struct{})
		c.settle()
	}
	return c.idle
}

// settle closes idle if nothing is open; a new request opens a new one. It is
// called with the lock held.
func (c *Conn) settle() {
	if len(c.open) == 0 && c.idle != nil {
		select {
		case <-c.idle:
		default:
			close(c.idle)
		}
	}
}

func (c *Conn) clean(frame []byte) []byte {
	frame, bad := Clean(frame)
	if bad > 0 {
		c.mu.Lock()
		c.bad += int64(bad)
		c.mu.Unlock()
	}
	return frame
}

// forSDK returns the message as the SDK should see it; nil if there is nothing
// to see.
func (c *Conn) forSDK(m *Message) jsonrpc.Message {
	switch {
	case m.IsResponse():
		return c.response(m)
	case m.IsRequest():
		return c.request(m)
	case m.Method == "notifications/cancelled":
		return c.cancelled(m)
	}
	return &jsonrpc.Request{Method: m.Method, Params: m.Params}
}

// request gives a request of the peer an id of ours.
func (c *Conn) request(m *Message) jsonrpc.Message {
	c.mu.Lock()
	c.nextID++
	n := c.nextID
	if len(c.open) == 0 {
		c.idle = nil
	}
	c.open[n] = request{id: m.ID, method: m.Method}
	c.mu.Unlock()
	id, _ := jsonrpc.MakeID(float64(n))
	return &jsonrpc.Request{ID: id, Method: m.Method, Params: m.Params, Extra: m.Extra}
}

// cancelled translates the id of a cancellation. One that names no open request
// is dropped, as the protocol asks.
func (c *Conn) cancelled(m *Message) jsonrpc.Message {
	want := Member(m.Params, "requestId")
	c.mu.Lock()
	defer c.mu.Unlock()
	for n, r := range c.open {
		if want != nil && SameID(r.id, want) {
			return &jsonrpc.Request{Method: m.Method, Params: fmt.Appendf(nil, `{"requestId":%d}`, n)}
		}
	}
	return nil
}

// response hands an answer to the SDK, whose own ids are integers.
func (c *Conn) response(m *Message) jsonrpc.Message {
	n, err := strconv.ParseInt(string(m.ID), 10, 64)
	if err != nil {
		c.lane.Stray(m.ID, m, ErrUnknownID)
		return nil
	}
	id, _ := jsonrpc.MakeID(float64(n))
	if m.Error != nil {
		e := &jsonrpc.Error{}
		if json.Unmarshal(m.Error, e) != nil {
			e = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the peer's error is not an error object"}
		}
		return &jsonrpc.Response{ID: id, Error: e}
	}
	return &jsonrpc.Response{ID: id, Result: m.Result}
}

// Write implements [mcp.Connection].
func (c *Conn) Write(ctx context.Context, msg jsonrpc.Message) error {
	switch m := msg.(type) {
	case *jsonrpc.Response:
		n, _ := m.ID.Raw().(int64)
		c.mu.Lock()
		r := c.open[n]
		c.mu.Unlock()
		err := c.Respond(ctx, r.id, appendSDK(nil, r.id, m))
		c.lane.Sent(r.method, m)
		c.mu.Lock()
		delete(c.open, n)
		c.settle()
		c.mu.Unlock()
		c.fewer.Signal()
		return err
	case *jsonrpc.Request:
		var id json.RawMessage
		if m.IsCall() {
			id, _ = json.Marshal(m.ID.Raw())
		}
		return c.w.Write(ctx, AppendRequest(nil, id, m.Method, m.Params))
	}
	return fmt.Errorf("unknown message %T", msg)
}

// appendSDK appends the SDK's response under the peer's id.
func appendSDK(b []byte, id json.RawMessage, m *jsonrpc.Response) []byte {
	if m.Error == nil {
		return AppendResponse(b, id, m.Result)
	}
	e := &jsonrpc.Error{Code: jsonrpc.CodeInternalError}
	if errors.As(m.Error, &e) {
		e = &jsonrpc.Error{Code: e.Code, Message: e.Message, Data: e.Data}
	}
	var direct *jsonrpc.Error
	if d, ok := m.Error.(*jsonrpc.Error); ok {
		direct = d
	}
	switch {
	case direct != nil:
	case strings.Contains(m.Error.Error(), "unmarshaling "): // the SDK repeats what it was sent, and its own types
		e.Code, e.Message = jsonrpc.CodeInvalidParams, "params do not have the form that the method demands"
	default: // the wrapping text says more than the wrapped one
		e.Message = m.Error.Error()
	}
	return AppendError(b, id, encode(e))
}

// encode marshals v without escaping HTML.
func encode(v any) json.RawMessage {
	var s strings.Builder
	enc := json.NewEncoder(&s)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return json.RawMessage(`{"code":-32603,"message":"internal error"}`)
	}
	return json.RawMessage(strings.TrimSuffix(s.String(), "\n"))
}

// Member returns the value of a member of the object b, nil if it has none.
func Member(b json.RawMessage, key string) json.RawMessage {
	var found json.RawMessage
	_ = Members(b, func(k string, v json.RawMessage) bool {
		if k == key {
			found = v
		}
		return true
	})
	return found
}

// SameID reports whether two ids are the same JSON value: type and digits
// count, spelling of a string does not.
func SameID(a, b json.RawMessage) bool {
	if string(a) == string(b) {
		return true
	}
	if len(a) == 0 || len(b) == 0 || a[0] != '"' || b[0] != '"' {
		return false
	}
	x, ok1 := Unquote(a)
	y, ok2 := Unquote(b)
	return ok1 && ok2 && x == y
}

var _ mcp.Connection = (*Conn)(nil)

var _ io.Closer = (*Conn)(nil)
