package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"

	"heddle/internal/wire"
)

// host is the client's end of one session. It speaks JSON-RPC over pipes, one
// request at a time, and keeps every frame. It is for one goroutine.
type host struct {
	to     io.WriteCloser
	frames chan []byte   // that heddle wrote; closed at its end
	served chan error    // takes the end of heddle's side
	stop   chan struct{} // closed once nobody reads frames
	ending sync.Once
	id     int // of the last request
	wire   []Frame
}

// Frame is one line of a session.
type Frame struct {
	// FromHost says who wrote it.
	FromHost bool
	// Line is the message without its line break.
	Line []byte
}

// connect runs serve, which is heddle's side, on two pipes and returns the
// client's end of them, initialised. The caller closes it.
func connect(ctx context.Context, serve func(ctx context.Context, in io.Reader, out io.Writer) error) (*host, error) {
	in, to := io.Pipe()
	from, out := io.Pipe()
	h := &host{to: to, frames: make(chan []byte), served: make(chan error, 1), stop: make(chan struct{})}
	go func() {
		err := serve(ctx, in, out)
		_ = in.Close() // what the host writes now would wait for ever
		_ = out.Close()
		h.served <- err
	}()
	go h.read(from)
	params := json.RawMessage(`{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"heddle-demo","version":"1"}}`)
	if _, err := h.request(ctx, "initialize", params, nil); err != nil {
		return nil, errors.Join(err, h.close())
	}
	return h, h.send(wire.AppendRequest(nil, nil, "notifications/initialized", nil))
}

// read passes frames on until heddle closes its end.
func (h *host) read(from io.Reader) {
	defer close(h.frames)
	r := wire.NewReader(from, maxFrame)
	for {
		frame, err := r.Next()
		if err != nil {
			return
		}
		select {
		case h.frames <- frame:
		case <-h.stop:
		}
	}
}

func (h *host) send(frame []byte) error {
	h.wire = append(h.wire, Frame{FromHost: true, Line: frame[:len(frame)-1]})
	if _, err := h.to.Write(frame); err != nil {
		return fmt.Errorf("write to heddle: %w", err)
	}
	return nil
}

// next returns the next message of heddle's.
func (h *host) next(ctx context.Context) (*wire.Message, error) {
	select {
	case frame, ok := <-h.frames:
		if !ok {
			return nil, errors.New("heddle closed the session")
		}
		h.wire = append(h.wire, Frame{Line: frame})
		m, err := wire.Parse(frame)
		if err != nil {
			return nil, fmt.Errorf("heddle wrote %q: %w", frame, err)
		}
		return &m, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// request sends a request and waits for its result. Notifications that come
// before go to heard, which may be nil; when it returns true, the answer is not
// waited for any more and the result is nil.
func (h *host) request(ctx context.Context, method string, params json.RawMessage, heard func(*wire.Message) bool) (json.RawMessage, error) {
	h.id++
	id := strconv.Itoa(h.id)
	if err := h.send(wire.AppendRequest(nil, json.RawMessage(id), method, params)); err != nil {
		return nil, err
	}
	for {
		m, err := h.next(ctx)
		switch {
		case err != nil:
			return nil, err
		case m.IsResponse() && string(m.ID) == id && m.Error != nil:
			return nil, fmt.Errorf("%s: heddle answered with the error %s", method, m.Error)
		case m.IsResponse() && string(m.ID) == id:
			return m.Result, nil
		case m.IsResponse():
			return nil, fmt.Errorf("heddle answered request %s, which nobody waits for", m.ID)
		case heard != nil && m.IsNotification() && heard(m):
			return nil, nil
		}
	}
}

// cancel cancels the last request.
func (h *host) cancel(reason string) error {
	params := fmt.Appendf(nil, `{"requestId":%d,"reason":%s}`, h.id, wire.Quote(reason))
	return h.send(wire.AppendRequest(nil, nil, "notifications/cancelled", params))
}

// close ends the session as hosts do, by closing heddle's stdin, and waits for
// heddle's side to end. Only the first time has an error.
func (h *host) close() (err error) {
	h.ending.Do(func() {
		close(h.stop)
		_ = h.to.Close()
		err = <-h.served
	})
	return err
}
