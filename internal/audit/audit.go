// Package audit owns the record of what was decided, for people and programs that
// watch over heddle: JSON lines, one a call and one for each of some other events (a
// tool held back, a result released, …), in a file that is rotated or on stderr.
//
// It never holds arguments or results. Every text is masked, cut and escaped, so that
// a name stays one line of one meaning, whatever is in it.
//
// It fails open: no call fails or waits because a line cannot be written. A disk that
// is full, often because of heddle's neighbours, would otherwise stop all work, and
// everyone who can fill one could make heddle refuse. What would have been written is
// not needed for a decision: decisions are made before, by the policy, which fails
// closed. So [Log.Record] puts the call into a bounded queue and returns; one
// goroutine, [Log.Run], writes. What finds no room is counted, said on heddle's log and
// in the file itself, as a line of the event "lost", as soon as that can be written.
// Lines are not forced to the disk one by one: a power cut may cost the last ones.
//
// Start with audit.go (the callers' side), then writer.go (when is written, what
// happens on failure), file.go (the file, which several processes share) and line.go
// (what a line looks like).
package audit

import (
	"errors"
	"io"
	"log/slog"
	"sync/atomic"
	"time"

	"heddle/internal/ledger"
)

// Options configure a [Log]. The zero value writes nothing.
type Options struct {
	// Path is the file; "" is none.
	Path string
	// Output takes the lines if there is no Path, a whole line a Write; nil discards.
	Output io.Writer
	// MaxSize is how many bytes the file may have before it is rotated; 0 is 10 MB.
	MaxSize int64
	// MaxFiles is how many rotated files are kept beside the file, as Path.1 (the
	// newest), Path.2, …; 0 is 5.
	MaxFiles int
	// Mask replaces secrets in a text; nil changes nothing. Only the goroutine of Run
	// calls it.
	Mask func(string) string
	// Queue is how many lines may wait to be written; 0 is 8192.
	Queue int
	// Logger is told what goes wrong, at most once a minute; nil discards.
	Logger *slog.Logger
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// Log takes lines from any number of goroutines and has them written by [Log.Run].
type Log struct {
	o       Options
	target  target // nil discards
	queue   queue
	written atomic.Uint64
	problem atomic.Pointer[string] // why the last attempt to write failed, nil if it did not
}

// target is where lines go. Only the goroutine of Run uses it.
type target interface {
	// write writes whole lines and returns how many it wrote. An error although it wrote
	// all is about something that its owner should know.
	write(lines [][]byte) (int, error)
}

// New returns a log. It starts nothing and opens nothing; lines wait in the queue until
// [Log.Run] is called.
func New(o Options) *Log {
	if o.MaxSize <= 0 {
		o.MaxSize = 10e6
	}
	if o.MaxFiles <= 0 {
		o.MaxFiles = 5
	}
	if o.Queue <= 0 {
		o.Queue = 8192
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	l := &Log{o: o, queue: queue{max: o.Queue, wake: make(chan struct{}, 1)}}
	switch {
	case o.Path != "":
		l.target = &file{path: o.Path, maxSize: o.MaxSize, maxFiles: o.MaxFiles, lockWait: lockWait}
	case o.Output != nil:
		l.target = stream{o.Output}
	}
	return l
}

// Record queues the line of a call. invoked says that the call was sent to its server,
// which the row does not know. It never blocks and never fails: a full queue drops the
// line and counts it. The row's decisions must not be changed afterwards.
func (l *Log) Record(r ledger.Row, invoked bool) {
	if l.target != nil {
		l.queue.add(newCall(&r, invoked))
	}
}

// Session queues a line for a session of a host, under the rules of [Log.Record], and
// remembers the host's name for the lines of its calls. A session that is handed in
// again has no second line.
func (l *Log) Session(s ledger.SessionRow) {
	if l.target != nil {
		if s.Started.IsZero() {
			s.Started = l.o.Now()
		}
		l.queue.add(newSession(s))
	}
}

// Event queues a line for something that is no call, under the rules of [Log.Record].
// The name and the keys are constants of the caller; of the attributes the first 16 are
// kept. Values that are no text, number or boolean are written as their text.
func (l *Log) Event(name string, attrs ...slog.Attr) {
	if l.target != nil {
		l.queue.add(newEvent(l.o.Now(), name, attrs))
	}
}

// Dropped returns how many lines were lost: the queue was full, or heddle ended before
// they could be written.
func (l *Log) Dropped() uint64 { return l.queue.lost() }

// Written returns how many lines were written.
func (l *Log) Written() uint64 { return l.written.Load() }

// Problem says why lines cannot be written now, "" if they can.
func (l *Log) Problem() string {
	if p := l.problem.Load(); p != nil {
		return *p
	}
	return ""
}

// stream writes to what is not a file of heddle's own.
type stream struct{ w io.Writer }

func (s stream) write(lines [][]byte) (int, error) {
	for i, line := range lines {
		if _, err := s.w.Write(line); err != nil {
			return i, err
		}
	}
	return len(lines), nil
}

var errStuck = errors.New("audit: the last lines could not be written in time")
