package wire

import (
	"context"
	"errors"
	"io"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// fullAt is how much may wait for a peer that does not read before writers
	// wait, and dropAt before notifications are dropped.
	fullAt = 8 << 20
	dropAt = 1 << 20
	// keepAt is the largest buffer kept for the next burst.
	keepAt = 64 << 10
)

// ErrFull says that a frame was not written because the peer does not read.
var ErrFull = errors.New("peer does not read")

// Writer writes whole frames to a stream, any number of callers at once. A
// frame goes straight to the kernel when it takes it; what it does not take, and
// what arrives while another caller writes, is gathered and written together.
// So a peer that does not read never blocks a caller inside a system call, and
// many calls in flight share their writes.
type Writer struct {
	dst io.Writer
	// try writes what the kernel takes at once; nil where dst cannot say so.
	try func([]byte) (int, error)
	// crowd counts the requests in flight; nil counts none. See Gather.
	crowd *atomic.Int32

	mu      sync.Mutex
	pending []byte
	spare   []byte
	writing bool
	err     error
	drained chan struct{} // closed once pending is empty; nil if nobody waits
	failed  chan struct{} // closed with the first error
}

// NewWriter writes to dst. If dst is an [*os.File] in non-blocking mode, small
// frames are written without waiting or handing over to another goroutine.
func NewWriter(dst io.Writer) *Writer {
	return &Writer{dst: dst, try: tryFor(dst), failed: make(chan struct{})}
}

// Gather has frames that come at the same time written together while more than
// one request is in flight, as inFlight says. A lone request is not held up. It
// must be called before the first write.
func (w *Writer) Gather(inFlight *atomic.Int32) { w.crowd = inFlight }

// Write writes one frame, which must end in a newline. It returns once the
// frame is written or queued; it waits, until ctx ends, only while too much is
// queued. frame may be reused after it returns.
func (w *Writer) Write(ctx context.Context, frame []byte) error {
	return w.write(ctx, frame, nil)
}

// WriteWithin is Write that waits no longer than d, and then fails with
// [ErrFull].
func (w *Writer) WriteWithin(ctx context.Context, frame []byte, d time.Duration) error {
	return w.write(ctx, frame, func() <-chan time.Time { return time.After(d) })
}

// write calls limit for the channel that ends its wait, once it has to wait.
func (w *Writer) write(ctx context.Context, frame []byte, limit func() <-chan time.Time) error {
	var late <-chan time.Time
	for {
		w.mu.Lock()
		if w.err != nil {
			w.mu.Unlock()
			return w.err
		}
		if len(w.pending) < fullAt {
			break
		}
		wait := w.waiter()
		w.mu.Unlock()
		if late == nil && limit != nil {
			late = limit()
		}
		select {
		case <-wait:
		case <-late:
			return ErrFull
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return w.add(frame)
}

// Offer is Write for frames that may be lost, such as progress: it never waits,
// and drops the frame with [ErrFull] while the peer is behind.
func (w *Writer) Offer(frame []byte) error {
	w.mu.Lock()
	switch {
	case w.err != nil:
		defer w.mu.Unlock()
		return w.err
	case len(w.pending) > dropAt:
		w.mu.Unlock()
		return ErrFull
	}
	return w.add(frame)
}

// add queues or writes frame. It is called with the lock and gives it up.
func (w *Writer) add(frame []byte) error {
	if w.writing || w.try == nil {
		w.pending = append(w.pending, frame...)
		if !w.writing {
			w.writing = true
			go w.flush()
		}
		w.mu.Unlock()
		return nil
	}
	w.writing = true
	if w.crowd != nil && w.crowd.Load() > 1 {
		w.pending = append(w.pending, frame...)
		w.mu.Unlock()
		runtime.Gosched() // others are about to write as well: one system call for all
		w.mu.Lock()
		frame = w.take()
	}
	for {
		w.mu.Unlock()
		n, err := w.try(frame)
		w.mu.Lock()
		switch {
		case err != nil:
			w.fail(err)
		case n < len(frame):
			w.pending = append(append(make([]byte, 0, len(frame)-n+len(w.pending)), frame[n:]...), w.pending...)
			go w.flush()
		case len(w.pending) > 0: // gathered meanwhile
			frame = w.take()
			continue
		default:
			w.idle()
		}
		err = w.err
		w.mu.Unlock()
		return err
	}
}

// flush writes what is pending, waiting for the peer, until nothing is.
func (w *Writer) flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.pending) > 0 && w.err == nil {
		batch := w.take()
		w.mu.Unlock()
		_, err := w.dst.Write(batch)
		w.mu.Lock()
		if err != nil {
			w.fail(err)
			return
		}
	}
	w.idle()
}

// take returns what is pending and leaves an empty buffer in its place.
func (w *Writer) take() []byte {
	batch := w.pending
	w.pending, w.spare = w.spare[:0], nil
	if cap(batch) <= keepAt {
		w.spare = batch // free again by the time that take is called next
	}
	return batch
}

func (w *Writer) fail(err error) {
	if w.err == nil {
		close(w.failed)
	}
	w.err = err
	w.pending = nil
	w.idle()
}

func (w *Writer) idle() {
	w.writing = false
	if w.drained != nil {
		close(w.drained)
		w.drained = nil
	}
}

func (w *Writer) waiter() <-chan struct{} {
	if w.drained == nil {
		w.drained = make(chan struct{})
	}
	return w.drained
}

// Failed returns a channel that is closed once a write has failed; nothing can be
// written any more. Err says why.
func (w *Writer) Failed() <-chan struct{} { return w.failed }

// Err returns the error of the first write that failed, nil if none has.
func (w *Writer) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// Room waits while too much is queued for a peer that does not read, until the
// writer fails or stop is closed.
func (w *Writer) Room(stop <-chan struct{}) {
	for {
		w.mu.Lock()
		if w.err != nil || len(w.pending) < fullAt {
			w.mu.Unlock()
			return
		}
		wait := w.waiter()
		w.mu.Unlock()
		select {
		case <-wait:
		case <-w.failed:
		case <-stop:
			return
		}
	}
}

// Flush waits until everything queued is written, the stream has failed or ctx
// has ended.
func (w *Writer) Flush(ctx context.Context) error {
	w.mu.Lock()
	if w.err != nil || !w.writing {
		defer w.mu.Unlock()
		return w.err
	}
	wait := w.waiter()
	w.mu.Unlock()
	select {
	case <-wait:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
