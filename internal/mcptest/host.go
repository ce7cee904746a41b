package mcptest

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"sync"
	"testing"
	"time"

	"heddle/internal/wire"
)

// Host is a raw client. It keeps everything that it receives. Its methods fail
// the test after [Deadline] and are for the test's own goroutine, but for Start
// and Send, which any goroutine may call.
type Host struct {
	t  testing.TB
	w  io.WriteCloser
	in *wire.Reader

	writing sync.Mutex

	mu       sync.Mutex
	nextID   int
	received []wire.Message // all but responses that somebody waits for
	lines    [][]byte
	pending  map[string]chan wire.Message // by raw id
	more     chan struct{}                // closed and replaced by each message
	ended    chan struct{}
	reply    func(wire.Message) json.RawMessage
}

// NewHost returns a host that reads from r and writes to w. The test's cleanup
// closes w.
func NewHost(t testing.TB, r io.Reader, w io.WriteCloser) *Host {
	h := &Host{t: t, w: w, in: wire.NewReader(r, 512<<20), pending: map[string]chan wire.Message{}, more: make(chan struct{}), ended: make(chan struct{})}
	t.Cleanup(func() { _ = w.Close() })
	go h.read()
	return h
}

func (h *Host) read() {
	defer close(h.ended)
	for {
		frame, err := h.in.Next()
		if err != nil {
			return
		}
		m, _ := wire.Parse(frame) // what is no message stays in Lines
		h.take(frame, m)
	}
}

func (h *Host) take(frame []byte, m wire.Message) {
	h.mu.Lock()
	h.lines = append(h.lines, frame)
	c := h.pending[string(m.ID)]
	if m.IsResponse() && c != nil {
		delete(h.pending, string(m.ID))
		c <- m
	} else {
		h.received = append(h.received, m)
	}
	close(h.more)
	h.more = make(chan struct{})
	reply := h.reply
	h.mu.Unlock()
	if m.IsRequest() && reply != nil {
		if result := reply(m); result != nil {
			_ = h.write(wire.AppendResponse(nil, m.ID, result))
		}
	}
}

// Reply answers the server's requests with what f returns, from the goroutine
// that reads; nil leaves a request open.
func (h *Host) Reply(f func(wire.Message) json.RawMessage) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.reply = f
}

func (h *Host) write(frame []byte) error {
	h.writing.Lock()
	defer h.writing.Unlock()
	_, err := h.w.Write(frame)
	return err
}

// Send writes one line as it is; the newline is added.
func (h *Host) Send(line string) {
	if err := h.write([]byte(line + "\n")); err != nil {
		h.t.Errorf("send %.100q: %v", line, err)
	}
}

// Start sends a request under this raw id and returns where its response comes.
func (h *Host) Start(id, method, params string) <-chan wire.Message {
	c := make(chan wire.Message, 1)
	h.mu.Lock()
	h.pending[id] = c
	h.mu.Unlock()
	var raw json.RawMessage
	if params != "" {
		raw = json.RawMessage(params)
	}
	if err := h.write(wire.AppendRequest(nil, json.RawMessage(id), method, raw)); err != nil {
		h.t.Errorf("send %s: %v", method, err)
	}
	return c
}

// Wait waits for a response that Start asked for.
func (h *Host) Wait(c <-chan wire.Message) wire.Message {
	h.t.Helper()
	limit := time.NewTimer(Deadline)
	defer limit.Stop()
	select {
	case m := <-c:
		return m
	case <-h.ended:
		select {
		case m := <-c:
			return m
		default:
			h.t.Fatalf("the stream ended before the response")
		}
	case <-limit.C:
		h.t.Fatalf("no response within %s", Deadline)
	}
	return wire.Message{}
}

// Request sends a request under an id of its own and returns the response.
// params is raw JSON, "" for none.
func (h *Host) Request(method, params string) wire.Message {
	h.t.Helper()
	return h.Wait(h.Start(h.id(), method, params))
}

func (h *Host) id() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.nextID++
	return strconv.Itoa(h.nextID)
}

// Notify sends a notification.
func (h *Host) Notify(method, params string) {
	var raw json.RawMessage
	if params != "" {
		raw = json.RawMessage(params)
	}
	if err := h.write(wire.AppendRequest(nil, nil, method, raw)); err != nil {
		h.t.Errorf("send %s: %v", method, err)
	}
}

// Initialize performs the handshake with this protocol version and returns the
// result. It fails the test if the server refuses.
func (h *Host) Initialize(version string) json.RawMessage {
	h.t.Helper()
	return h.InitializeWith(version, "{}")
}

// InitializeWith is Initialize of a host with these capabilities.
func (h *Host) InitializeWith(version, capabilities string) json.RawMessage {
	h.t.Helper()
	m := h.Request("initialize", fmt.Sprintf(`{"protocolVersion":%q,"capabilities":%s,"clientInfo":{"name":"mcptest","version":"1"}}`, version, capabilities))
	if m.Error != nil {
		h.t.Fatalf("initialize %s: %s", version, m.Error)
	}
	h.Notify("notifications/initialized", "")
	return m.Result
}

// Call runs a tool with raw arguments and returns the response.
func (h *Host) Call(tool, arguments string) wire.Message {
	h.t.Helper()
	return h.Request("tools/call", CallParams(tool, arguments))
}

// CallParams returns the params of a tools/call.
func CallParams(tool, arguments string) string {
	return fmt.Sprintf(`{"name":%s,"arguments":%s}`, wire.Quote(tool), arguments)
}

// Received returns the notifications and requests of the method so far; "" is
// all, strays and responses that nobody waited for included.
func (h *Host) Received(method string) []wire.Message {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []wire.Message
	for _, m := range h.received {
		if method == "" || m.Method == method {
			out = append(out, m)
		}
	}
	return out
}

// WaitReceived waits for n notifications or requests of the method.
func (h *Host) WaitReceived(method string, n int) []wire.Message {
	h.t.Helper()
	limit := time.NewTimer(Deadline)
	defer limit.Stop()
	for {
		h.mu.Lock()
		more := h.more
		h.mu.Unlock()
		got := h.Received(method)
		if len(got) >= n {
			return got
		}
		select {
		case <-more:
		case <-h.ended:
			if got = h.Received(method); len(got) < n {
				h.t.Fatalf("the stream ended after %d of %d messages %q", len(got), n, method)
			}
			return got
		case <-limit.C:
			h.t.Fatalf("%d of %d messages %q within %s", len(got), n, method, Deadline)
		}
	}
}

// Lines returns every frame so far, without line breaks.
func (h *Host) Lines() [][]byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([][]byte(nil), h.lines...)
}

// CloseWrite closes the way to the server.
func (h *Host) CloseWrite() { _ = h.w.Close() }

// WaitEnded waits for the end of the stream from the server.
func (h *Host) WaitEnded() {
	h.t.Helper()
	limit := time.NewTimer(Deadline)
	defer limit.Stop()
	select {
	case <-h.ended:
	case <-limit.C:
		h.t.Fatalf("the stream did not end within %s", Deadline)
	}
}

// TextOf returns the text of a result's first content block, "" if there is none.
func TextOf(result json.RawMessage) string {
	var v struct {
		Content []struct{ Text string }
	}
	if json.Unmarshal(result, &v) != nil || len(v.Content) == 0 {
		return ""
	}
	return v.Content[0].Text
}
