package upstream

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync/atomic"
	"testing"
	"time"

	"heddle/internal/mcptest"
	"heddle/internal/wire"
)

// forgetful is a link whose server forgets its session with every third call: it
// refuses that one.
type forgetful struct {
	io.ReadWriteCloser
	frames *wire.Reader
	failed func(json.RawMessage, error)
	calls  *atomic.Int32
	lost   chan struct{}
}

// Next implements [wire.Source].
func (f *forgetful) Next() ([]byte, error) {
	frame, err := f.frames.Next()
	select {
	case <-f.lost:
		return nil, wire.ErrSessionLost
	default:
		return frame, err
	}
}

// Origin implements [Link].
func (f *forgetful) Origin() json.RawMessage { return nil }

// Write implements [io.Writer].
func (f *forgetful) Write(p []byte) (int, error) {
	m, err := wire.Parse(p[:len(p)-1])
	if err == nil && m.Method == "tools/call" && f.calls.Add(1)%3 == 0 {
		f.failed(append(json.RawMessage(nil), m.ID...), wire.ErrSessionLost)
		close(f.lost)
		_ = f.Close()
		return len(p), nil
	}
	return f.ReadWriteCloser.Write(p)
}

// A server that forgets its sessions is well: the next one begins at once, the
// call that was refused goes up in it, and nothing is counted as a failure.
func TestExpiredSessionsAreRenewed(t *testing.T) {
	t.Parallel()
	cfg, mem := memoryConfig("web", mcptest.Options{})
	cfg.MaxAttempts, cfg.BaseDelay = 2, time.Hour
	connect, calls := cfg.Connect, &atomic.Int32{}
	cfg.Connect = nil
	cfg.Open = func(ctx context.Context, failed func(json.RawMessage, error)) (Link, error) {
		peer, err := connect(ctx)
		if err != nil {
			return nil, err
		}
		return &forgetful{peer, wire.NewReader(peer, cfg.MaxFrame), failed, calls, make(chan struct{})}, nil
	}
	r := start(t, cfg).ready()
	for n := range 12 {
		r.echo(fmt.Sprint("call ", n))
	}
	st := r.Status()
	if st.State != StateReady || st.Restarts != 0 || st.Circuit != "closed" || mem.count() < 5 {
		t.Errorf("%s after %d restarts in %d sessions, circuit %s", st.State, st.Restarts, mem.count(), st.Circuit)
	}
}
