package ledger

import (
	"context"
	"time"
)

const (
	// flushEvery is how long rows wait for company: at most this much is lost
	// when the process is killed.
	flushEvery = 200 * time.Millisecond
	// batchRows is how many calls one transaction writes. Together with
	// flushEvery it is the writer's pace: at most 10,240 rows a second, which
	// costs less than a tenth of a core. Calls that come faster are dropped
	// rather than slowed by a writer that competes with them for the processor.
	batchRows = 2048
	// idleClose is how long an unused file stays open. Closing it gives back a
	// megabyte or two, and lets others take the file away.
	idleClose = 30 * time.Second
	// maxBackoff bounds the wait after failures of the file system.
	maxBackoff = 5 * time.Second
	// refuseFor is how long a file that is not ours to write is left alone before
	// it is looked at again.
	refuseFor = time.Minute
	// lockPatience is how long another process may hold the file before that is
	// worth a warning.
	lockPatience = 3 * time.Second
	// drainFor bounds the writing of what is queued when heddle ends.
	drainFor = 2 * time.Second
	// drainPause is the wait between attempts while ending.
	drainPause = 20 * time.Millisecond
)

// never is the delay of a timer that is not needed.
const never = time.Duration(1<<63 - 1)

// writer is the state of [Ledger.Run]; only its goroutine touches it.
type writer struct {
	l     *Ledger
	store *store // nil while closed
	batch batch  // taken from the queue, not written yet

	idle      bool // the timer that runs is the one that closes the file
	backoff   time.Duration
	refused   time.Time // until then the file is left alone and rows are dropped
	refusal   error
	failing   time.Time // since when the file is locked; zero if it is not
	nextPrune time.Time
	warned    map[string]bool
}

// Run writes what is queued until ctx ends, then what is left, for at most two
// seconds, and closes the file. It opens or creates nothing before the first
// row. No failure ends it: rows wait while the queue has room, causes are logged
// once each, and writing is tried again. Call it once; it returns nil.
func (l *Ledger) Run(ctx context.Context) error {
	defer close(l.done)
	defer l.queue.close()
	if l.path == "" {
		<-ctx.Done()
		return nil
	}
	w := &writer{l: l, warned: map[string]bool{}}
	defer w.close()
	w.loop(ctx)
	// The rows of the last calls are written after the end of ctx, under a
	// deadline of their own.
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainFor)
	defer cancel()
	w.drain(last)
	return nil
}

// loop sleeps while there is nothing to write: an idle heddle wakes for nothing.
func (w *writer) loop(ctx context.Context) {
	// Interrupting a transaction could leave open whether it was committed, and
	// its rows would be written twice. None takes long: SQLite waits for locks
	// for a bounded time.
	inner := context.WithoutCancel(ctx)
	timer := time.NewTimer(never)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.l.queue.wake:
			w.idle = false
			timer.Reset(w.l.every)
		case <-timer.C:
			timer.Reset(w.step(inner))
		case reply := <-w.l.flush:
			reply <- w.flush(inner)
			timer.Reset(w.l.every)
		}
	}
}

// step writes one batch and says when to come again.
func (w *writer) step(ctx context.Context) time.Duration {
	if w.idle {
		w.idle = false
		w.close()
		w.l.queue.trim()
		return never
	}
	if err := w.write(ctx); err != nil {
		return w.backoff
	}
	w.warnFull()
	again := w.prune(ctx)
	switch {
	case again || w.l.queue.len() > 0:
		return w.l.every
	case w.store != nil:
		w.idle = true
		return idleClose
	}
	return never
}

// flush writes all that is queued now, without the pace of step.
func (w *writer) flush(ctx context.Context) error {
	w.idle = false
	for left := w.l.queue.len(); left > 0; {
		n, err := w.writeCounted(ctx)
		if err != nil {
			return err
		}
		left -= n
	}
	return nil
}

// drain writes all that is queued until ctx ends. Only a lock is worth another
// attempt: a full disk will not be emptied within two seconds.
func (w *writer) drain(ctx context.Context) {
	inner := context.WithoutCancel(ctx)
	for w.l.queue.len() > 0 && ctx.Err() == nil {
		err := w.write(inner)
		if err == nil {
			continue
		}
		if f := classify(err); f.fate == retryLater {
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(drainPause):
		}
	}
}

func (w *writer) write(ctx context.Context) error {
	_, err := w.writeCounted(ctx)
	return err
}

// writeCounted takes a batch, unless the last one is still to be written, and
// writes it. It returns how many rows are settled. After an error the batch is
// kept or dropped as the error's class says.
func (w *writer) writeCounted(ctx context.Context) (int, error) {
	if w.batch.len() == 0 {
		w.batch = w.l.queue.take(batchRows)
	}
	n := w.batch.len()
	if n == 0 {
		return 0, nil
	}
	err := w.refusal
	if err == nil || !w.l.now().Before(w.refused) {
		err = w.attempt(ctx)
	}
	if err != nil {
		w.failed(err)
		return 0, err
	}
	w.l.written.Add(uint64(n))
	w.l.problem.Store(nil)
	w.l.queue.settle(&w.batch, false)
	w.backoff, w.refusal, w.failing = 0, nil, time.Time{}
	return n, nil
}

// attempt writes the batch once, opening the file if need be.
func (w *writer) attempt(ctx context.Context) error {
	if w.store != nil && !w.store.inPlace() {
		w.close() // the file was deleted or replaced: its successor gets the rows
	}
	if w.store == nil {
		s, err := open(ctx, w.l.path, w.l.tune)
		if err != nil {
			return err
		}
		s.mask = w.l.mask
		w.store = s
	}
	return w.store.insert(ctx, &w.batch)
}

// failed decides about the batch and the next attempt.
func (w *writer) failed(err error) {
	text := err.Error()
	w.l.problem.Store(&text)
	f := classify(err)
	switch f.fate {
	case retrySoon:
		w.backoff = flushEvery
		now := w.l.now()
		if w.failing.IsZero() {
			w.failing = now
		}
		if now.Sub(w.failing) >= lockPatience {
			w.warn(f.cause, "ledger is locked by another process; rows wait", err)
		}
		return
	case retryLater:
		w.backoff = min(max(2*w.backoff, flushEvery), maxBackoff)
		w.warn(f.cause, "ledger cannot be written; rows wait", err)
	case refuse:
		w.backoff = flushEvery
		if w.refusal == nil || !w.l.now().Before(w.refused) {
			w.refused = w.l.now().Add(refuseFor)
		}
		w.refusal = err
		w.l.queue.settle(&w.batch, true)
		w.warn(f.cause, "ledger is left as it is; rows are dropped", err)
	case discard:
		w.backoff = flushEvery
		w.l.queue.settle(&w.batch, true)
		w.warn(f.cause, "ledger did not take rows; they are dropped", err)
	}
	// A connection that has failed is not trusted, and an open one would keep a
	// full or broken file system busy.
	w.close()
}

// prune deletes some old rows when the day's turn has come, and reports whether
// more are left.
func (w *writer) prune(ctx context.Context) bool {
	now := w.l.now()
	if w.l.keep <= 0 || w.store == nil || now.Before(w.nextPrune) {
		return false
	}
	next, err := w.store.prune(ctx, now, w.l.keep)
	switch f := classify(err); {
	case err == nil:
		w.nextPrune = next
	case f.fate == retrySoon:
		w.nextPrune = now.Add(time.Minute)
	default:
		w.nextPrune = now.Add(time.Hour)
		w.warn("prune", "ledger cannot delete old rows", err)
	}
	return !now.Before(w.nextPrune)
}

func (w *writer) warnFull() {
	if n := w.l.queue.droppedRows(); n > 0 {
		w.warn("full", "ledger has dropped rows", nil, "rows", n)
	}
}

// warn logs each cause once in the life of the process.
func (w *writer) warn(cause, msg string, err error, args ...any) {
	if w.warned[cause] {
		return
	}
	w.warned[cause] = true
	args = append(args, "path", w.l.path)
	if err != nil {
		args = append(args, "error", err)
	}
	w.l.log.Warn(msg, args...)
}

func (w *writer) close() {
	if w.store == nil {
		return
	}
	if err := w.store.close(); err != nil {
		w.l.log.Debug("close ledger", "path", w.l.path, "error", err)
	}
	w.store = nil
}
