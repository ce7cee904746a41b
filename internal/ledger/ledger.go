// Package ledger owns the record of what heddle did: an append-only SQLite file
// with one row a call and one row a session.
//
// It never holds arguments or results, and it never fails or delays a call:
// [Ledger.End] puts the row into a bounded queue in memory and returns. One
// goroutine, [Ledger.Run], writes the queue in batches. What cannot be queued or
// written is dropped and counted. Several processes may write to one file.
//
// Start with ledger.go (the callers' side), then writer.go (when and how often
// is written, what happens on failure) and store.go (the file). read.go is the
// way back out; sums.go and tools.go add up for reports, follow.go reads on, and
// query.go runs a user's SELECT.
package ledger

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"heddle"
)

// Options configure a [Ledger]. The zero value keeps no ledger.
type Options struct {
	// Path is the file; "" discards every row silently.
	Path string
	// Keep is how long rows stay; 0 is for ever.
	Keep time.Duration
	// Queue is how many rows may wait to be written; 0 is 8192.
	Queue int
	// Mask hides secrets in texts before they are written; nil hides none. Only the
	// goroutine of Run calls it.
	Mask func(string) string
	// Logger is told what goes wrong, once a cause; nil discards.
	Logger *slog.Logger
	// Now is the clock of the rows; nil is time.Now.
	Now func() time.Time
}

// Ledger takes rows from any number of goroutines and has them written by
// [Ledger.Run].
type Ledger struct {
	path    string
	keep    time.Duration
	log     *slog.Logger
	mask    masking
	now     func() time.Time
	queue   queue
	flush   chan chan error
	done    chan struct{} // closed when Run has returned
	written atomic.Uint64
	problem atomic.Pointer[string] // why the last attempt to write failed, nil if it did not

	// every is how long rows wait, flushEvery; tests that flush by hand have it
	// longer. tune is more SQL for each connection: tests make the disk small.
	every time.Duration
	tune  string
}

var errStopped = errors.New("ledger: the writer has stopped")

// New returns a ledger. It starts nothing and opens nothing; rows wait in the
// queue until [Ledger.Run] is called.
func New(o Options) *Ledger {
	if o.Queue <= 0 {
		o.Queue = 8192
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Ledger{
		path:  o.Path,
		keep:  o.Keep,
		log:   o.Logger,
		mask:  o.Mask,
		now:   o.Now,
		queue: queue{max: o.Queue, wake: make(chan struct{}, 1)},
		flush: make(chan chan error),
		done:  make(chan struct{}),
		every: flushEvery,
	}
}

// Begin returns the row of a call that starts now. The caller fills in what
// becomes of the call and hands the row to [Ledger.End].
func (l *Ledger) Begin(c *heddle.Call) Row {
	return Row{
		Time:      l.now(),
		Principal: c.Principal,
		Session:   c.Session,
		Mode:      c.Mode,
		Tool:      c.Tool,
	}
}

// End stamps the row's total and queues it. It never blocks and never fails: a
// full queue drops the row and counts it. The row's decisions must not be
// changed afterwards.
func (l *Ledger) End(r Row) {
	if l.path == "" {
		return
	}
	r.Total = l.now().Sub(r.Time)
	r.limit()
	l.queue.addCall(&r)
}

// Session queues the row of a session under the rules of [Ledger.End]. A
// session that is handed in again, because its catalog has settled, replaces
// the sizes of its row.
func (l *Ledger) Session(s SessionRow) {
	if l.path == "" {
		return
	}
	if s.Started.IsZero() {
		s.Started = l.now()
	}
	s.limit()
	l.queue.addSession(s)
}

// Dropped returns how many rows were lost: the queue was full, or the file could
// not be written.
func (l *Ledger) Dropped() uint64 { return l.queue.droppedRows() }

// Written returns how many rows are in the file for good.
func (l *Ledger) Written() uint64 { return l.written.Load() }

// Problem says why rows cannot be written now, "" if they can.
func (l *Ledger) Problem() string {
	if p := l.problem.Load(); p != nil {
		return *p
	}
	return ""
}

// Flush returns when all rows queued before are written, or with the error of
// the one attempt to do so; rows that another attempt may save stay queued. It
// needs a running [Ledger.Run].
func (l *Ledger) Flush(ctx context.Context) error {
	if l.path == "" {
		return nil
	}
	reply := make(chan error, 1)
	select {
	case l.flush <- reply:
	case <-l.done:
		return errStopped
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-reply:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}
