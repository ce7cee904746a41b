// Package inproc owns the two ends of an MCP session that stays in this process:
// a host that speaks JSON-RPC over pipes, and a server whose tools are a function.
//
// Programs use it to show and to measure heddle from outside, with the bytes that
// a host and a server would see. It never knows what is between its two ends, and
// starts nothing before it is asked to.
//
// Start reading at [Connect] and at [Server].
package inproc

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

// hostFrame is the largest message in bytes that a host takes.
const hostFrame = 256 << 20

// Host is the client's end of one session. It speaks one request at a time. It is
// for one goroutine.
type Host struct {
	// Wire has every frame, if they are kept.
	Wire []Frame
	// ID is that of the last request.
	ID int

	kept   bool
	to     io.WriteCloser
	frames chan []byte   // that the other end wrote; closed at its end
	served chan error    // takes the end of the other side
	stop   chan struct{} // closed once nobody reads frames
	ending sync.Once
}

// Frame is one line of a session.
type Frame struct {
	// FromHost says who wrote it.
	FromHost bool
	// Line is the message without its line break.
	Line []byte
}

// Connect runs serve, which is the other side, on two pipes and returns the
// client's end of them, initialised under a name. The caller closes it. keep says
// that frames are kept.
func Connect(ctx context.Context, name string, keep bool, serve func(ctx context.Context, in io.Reader, out io.Writer) error) (*Host, error) {
	in, to := io.Pipe()
	from, out := io.Pipe()
	h := &Host{kept: keep, to: to, frames: make(chan []byte), served: make(chan error, 1), stop: make(chan struct{})}
	go func() {
		err := serve(ctx, in, out)
		_ = in.Close() // what the host writes now would wait for ever
		_ = out.Close()
		h.served <- err
	}()
	go h.read(from)
	params := fmt.Appendf(nil, `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":%s,"version":"1"}}`, wire.Quote(name))
	if _, err := h.Request(ctx, "initialize", params, nil); err != nil {
		return nil, errors.Join(err, h.Close())
	}
	return h, h.send(wire.AppendRequest(nil, nil, "notifications/initialized", nil))
}

// read passes frames on until the other side closes its end.
func (h *Host) read(from io.Reader) {
	defer close(h.frames)
	r := wire.NewReader(from, hostFrame)
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

func (h *Host) keep(f Frame) {
	if h.kept {
		h.Wire = append(h.Wire, f)
	}
}

func (h *Host) send(frame []byte) error {
	h.keep(Frame{FromHost: true, Line: frame[:len(frame)-1]})
	if _, err := h.to.Write(frame); err != nil {
		return fmt.Errorf("write to the other side: %w", err)
	}
	return nil
}

// next returns the next message of the other side's.
func (h *Host) next(ctx context.Context) (*wire.Message, error) {
	select {
	case frame, ok := <-h.frames:
		if !ok {
			return nil, errors.New("the other side closed the session")
		}
		h.keep(Frame{Line: frame})
		m, err := wire.Parse(frame)
		if err != nil {
			return nil, fmt.Errorf("the other side wrote %q: %w", frame, err)
		}
		return &m, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Request sends a request and waits for its result. Notifications that come
// before go to heard, which may be nil; when it returns true, the answer is not
// waited for any more and the result is nil.
func (h *Host) Request(ctx context.Context, method string, params json.RawMessage, heard func(*wire.Message) bool) (json.RawMessage, error) {
	h.ID++
	id := strconv.Itoa(h.ID)
	if err := h.send(wire.AppendRequest(nil, json.RawMessage(id), method, params)); err != nil {
		return nil, err
	}
	for {
		m, err := h.next(ctx)
		switch {
		case err != nil:
			return nil, err
		case m.IsResponse() && string(m.ID) == id && m.Error != nil:
			return nil, fmt.Errorf("%s: the answer is the error %s", method, m.Error)
		case m.IsResponse() && string(m.ID) == id:
			return m.Result, nil
		case m.IsResponse():
			return nil, fmt.Errorf("an answer to request %s, which nobody waits for", m.ID)
		case heard != nil && m.IsNotification() && heard(m):
			return nil, nil
		}
	}
}

// Cancel cancels the last request.
func (h *Host) Cancel(reason string) error {
	params := fmt.Appendf(nil, `{"requestId":%d,"reason":%s}`, h.ID, wire.Quote(reason))
	return h.send(wire.AppendRequest(nil, nil, "notifications/cancelled", params))
}

// Close ends the session as hosts do, by closing the other side's stdin, and waits
// for that side to end. Only the first time has an error.
func (h *Host) Close() (err error) {
	h.ending.Do(func() {
		close(h.stop)
		_ = h.to.Close()
		err = <-h.served
	})
	return err
}
