package audit

import (
	"context"
	"time"
)

const (
	// flushEvery is how long lines wait for company: at most this much is lost when
	// the process is killed.
	flushEvery = 100 * time.Millisecond
	// soon is the pause between batches, in which others have the file.
	soon = 5 * time.Millisecond
	// batchMost is how many entries are written under one lock of the file. Others wait
	// for it meanwhile.
	batchMost = 256
	// maxBackoff bounds the wait after failures.
	maxBackoff = 5 * time.Second
	// warnEvery is how often a failure is worth a line on heddle's log.
	warnEvery = time.Minute
	// drainFor bounds the writing of what is queued when heddle ends.
	drainFor = 2 * time.Second
)

// never is the delay of a timer that is not needed.
const never = time.Duration(1<<63 - 1)

// writer is the state of [Log.Run]; only its goroutine touches it.
type writer struct {
	l       *Log
	encoder encoder

	entries int      // taken from the queue and not settled
	pending [][]byte // their lines that are not written yet
	noted   uint64   // of the lines lost, how many the file tells of

	backoff time.Duration
	warned  time.Time
	told    uint64 // of the lines lost, how many the log tells of
	failed  bool   // and said so
}

// Run writes what is queued until ctx ends, then what is left, for at most two seconds.
// It makes and opens nothing before the first line. No failure ends it: lines wait while
// the queue has room, and writing is tried again. Call it once; it returns nil, or an
// error if what it writes to took so long at the end that it was left: then a goroutine
// that hangs in the system is left as well.
//
// With a context that has ended it writes what is queued and returns, which is what a
// short command wants.
func (l *Log) Run(ctx context.Context) error {
	defer l.queue.close()
	if l.target == nil {
		<-ctx.Done()
		return nil
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		w := &writer{l: l, encoder: encoder{mask: l.o.Mask}}
		w.loop(ctx)
		w.drain()
	}()
	<-ctx.Done()
	select {
	case <-ended:
		return nil
	case <-time.After(drainFor + time.Second):
		return errStuck
	}
}

// loop sleeps while there is nothing to write: an idle heddle wakes for nothing.
func (w *writer) loop(ctx context.Context) {
	timer := time.NewTimer(never)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.l.queue.wake:
			timer.Reset(flushEvery)
		case <-timer.C:
			timer.Reset(w.step())
		}
	}
}

// step writes one batch and says when to come again.
func (w *writer) step() time.Duration {
	if err := w.write(); err != nil {
		w.backoff = min(max(2*w.backoff, flushEvery), maxBackoff)
		return w.backoff
	}
	w.backoff = 0
	if w.l.queue.len() > 0 {
		return soon
	}
	return never
}

// drain writes all that is queued. A failure is not worth another attempt: a full disk
// will not be emptied within two seconds.
func (w *writer) drain() {
	deadline := time.Now().Add(drainFor)
	for w.l.queue.len() > 0 && time.Now().Before(deadline) {
		if w.write() != nil {
			return
		}
	}
}

// write takes a batch, unless lines of the last one are left, and writes it. It returns
// an error if lines are left.
func (w *writer) write() error {
	if len(w.pending) == 0 {
		w.take()
	}
	var n int
	var err error
	if len(w.pending) > 0 {
		n, err = w.l.target.write(w.pending)
	}
	w.l.written.Add(uint64(n))
	w.pending = w.pending[n:]
	w.tell(err)
	if len(w.pending) > 0 {
		return err
	}
	w.l.queue.settle(w.entries)
	w.entries, w.pending = 0, nil
	return nil
}

// take encodes a batch. Lines that were lost since the last one are told of behind it;
// up to a queue of older ones may follow.
func (w *writer) take() {
	batch := w.l.queue.take(batchMost)
	w.entries = len(batch)
	for _, e := range batch {
		e.lines(&w.encoder)
	}
	if lost := w.l.queue.lost(); lost > w.noted {
		newLost(w.l.o.Now(), lost-w.noted).lines(&w.encoder)
		w.noted = lost
	}
	w.pending = w.encoder.take()
}

// tell logs what went wrong, at most once a minute, and that it is over.
func (w *writer) tell(err error) {
	dropped := w.l.Dropped()
	if err == nil {
		w.l.problem.Store(nil)
	} else {
		text := err.Error()
		w.l.problem.Store(&text)
	}
	log := w.l.o.Logger.With("path", w.l.o.Path, "dropped", dropped)
	now := w.l.o.Now()
	switch quiet := !w.warned.IsZero() && now.Sub(w.warned) < warnEvery; {
	case err == nil && w.failed:
		w.failed = false
		log.Info("audit is written again")
	case quiet:
	case err != nil && len(w.pending) > 0:
		w.warned, w.told, w.failed = now, dropped, true
		log.Warn("audit cannot be written; calls go on and lines wait", "error", err)
	case err != nil:
		w.warned = now
		log.Warn("audit is written, but not as it should be", "error", err)
	case dropped > w.told:
		w.warned, w.told = now, dropped
		log.Warn("audit has dropped lines")
	}
}
