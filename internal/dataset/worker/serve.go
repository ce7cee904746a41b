//go:build cgo

package worker

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync"
	"time"

	"heddle/internal/dataset/protocol"
)

// server takes requests and answers them.
type server struct {
	engine *engine
	exit   func(code int)
	log    io.Writer

	writing sync.Mutex
	out     io.Writer

	mu      sync.Mutex
	running map[uint64]context.CancelCauseFunc
	held    int64      // bytes of payloads that are read and not yet worked off
	freed   *sync.Cond // on mu

	queries, others chan struct{} // places for requests that run
}

func newServer(out, log io.Writer, exit func(int)) *server {
	s := &server{out: out, log: log, exit: exit, running: map[uint64]context.CancelCauseFunc{},
		queries: make(chan struct{}, maxQueries), others: make(chan struct{}, maxOthers)}
	s.freed = sync.NewCond(&s.mu)
	return s
}

// How many requests run side by side; the others wait, and their time runs. The engine
// has no more threads than that, and each costs the stack of a thread of ours: 8 MB of
// what the process may have. What a tool returned never waits for what somebody asks
// of it.
const (
	maxQueries = 6
	maxOthers  = 4
)

// maxHeld is how many bytes of payloads may be in memory; reading waits.
const maxHeld = protocol.MaxPayload

// read reads requests until there are no more, and starts each in a goroutine.
func (s *server) read(ctx context.Context, in io.Reader) error {
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		var q protocol.Request
		switch err := protocol.Read(r, &q); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		start := time.Now()
		payload, err := s.payload(r, q.Payload)
		switch {
		case err != nil:
			return err
		case q.Cancel != 0:
			s.cancel(q.Cancel)
			continue
		}
		ctx, end := s.begin(ctx, q, start)
		go func() {
			defer end()
			reply, payload, last := s.answer(ctx, q, payload)
			s.reply(reply, payload)
			if last {
				s.exit(1) // another worker starts with what is known outside
			}
		}()
	}
}

// payload reads the n bytes after a message, once there is room for them.
func (s *server) payload(r io.Reader, n int64) ([]byte, error) {
	if n < 0 || n > 2*protocol.MaxPayload {
		return nil, fmt.Errorf("a payload of %d bytes", n)
	}
	if n == 0 {
		return nil, nil
	}
	s.mu.Lock()
	for s.held > 0 && s.held+n > maxHeld {
		s.freed.Wait()
	}
	s.held += n
	s.mu.Unlock()
	payload := make([]byte, n)
	_, err := io.ReadFull(r, payload)
	return payload, err
}

// begin makes the context of a request, which ends at its time, when it is cancelled
// and with end.
func (s *server) begin(ctx context.Context, q protocol.Request, start time.Time) (request context.Context, end func()) {
	request, cancel := context.WithCancelCause(ctx)
	stop := func() {}
	if q.Timeout > 0 {
		request, stop = context.WithDeadline(request, start.Add(time.Duration(q.Timeout)*time.Millisecond))
	}
	s.mu.Lock()
	s.running[q.ID] = cancel
	s.mu.Unlock()
	return request, func() {
		stop()
		cancel(nil)
		s.mu.Lock()
		delete(s.running, q.ID)
		s.held -= q.Payload
		s.mu.Unlock()
		s.freed.Signal() // the reader alone waits
	}
}

func (s *server) cancel(id uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if cancel := s.running[id]; cancel != nil {
		cancel(errCancelled)
	}
}

// answer does what a request says. It always returns. last says that the worker has
// to end.
func (s *server) answer(ctx context.Context, q protocol.Request, payload []byte) (reply protocol.Reply, out [][]byte, last bool) {
	reply.ID = q.ID
	defer func() {
		if p := recover(); p != nil {
			reply = protocol.Reply{ID: q.ID, Kind: protocol.Failed, Error: public(fmt.Sprint("panic: ", p))}
			out = nil
			_, _ = fmt.Fprintf(s.log, "heddle-sql: panic: %v\n%s", p, debug.Stack())
		}
	}()
	var err error
	places := s.others
	if q.Query != nil {
		places = s.queries
	}
	select {
	case places <- struct{}{}:
		defer func() { <-places }()
	case <-ctx.Done():
		if err = ctx.Err(); errors.Is(err, context.DeadlineExceeded) {
			return protocol.Reply{ID: q.ID, Kind: protocol.Timeout, Error: protocol.Queued}, nil, false
		}
	}
	switch {
	case err != nil:
	case q.Load != nil:
		reply.Profile, err = s.engine.load(ctx, q.Load, payload)
	case q.Query != nil:
		reply.Result, out, err = s.engine.query(ctx, q.Query)
	case q.Adopt != nil:
		reply.Profile, err = s.engine.adopt(ctx, q.Adopt)
	case q.Describe != nil:
		reply.Profile, err = s.engine.describe(ctx, q.Describe)
	case q.Drop != nil:
		err = s.engine.drop(ctx, q.Drop)
	default:
		err = &fault{kind: protocol.Failed, text: "the request asks for nothing"}
	}
	if err != nil {
		f := asFault(ctx, err, s.engine.memory)
		return protocol.Reply{ID: q.ID, Kind: f.kind, Error: f.text, Names: f.names}, nil, f.last
	}
	return reply, out, false
}

// reply writes a reply. If nobody reads it any more, stdin has ended too.
func (s *server) reply(r protocol.Reply, payload [][]byte) {
	for _, p := range payload {
		r.Payload += int64(len(p))
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	err := protocol.Write(s.out, r, nil)
	for i := 0; i < len(payload) && err == nil; i++ {
		_, err = s.out.Write(payload[i])
	}
}
