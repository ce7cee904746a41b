package surface

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"

	"heddle/internal/gateway"
	"heddle/internal/wire"
)

// A host of the oldest protocol opens a stream of events and posts its messages
// to the URL that the first event names. To heddle that is a stream of frames
// each way, like stdio, and it is served as such.

// streams are the hosts that are connected so.
type streams struct {
	mu   sync.Mutex
	open map[string]*stream
	over bool
}

type stream struct {
	host   *Stdio
	in     *io.PipeWriter // what the host posts
	cancel context.CancelFunc
}

func (s *streams) add(id string, one *stream) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over || len(s.open) >= maxSessions {
		return false
	}
	if s.open == nil {
		s.open = map[string]*stream{}
	}
	s.open[id] = one
	return true
}

func (s *streams) get(id string) *stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open[id]
}

func (s *streams) remove(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, id)
}

// each calls f with every host; f must not block.
func (s *streams) each(f func(*Stdio)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.open {
		f(one.host)
	}
}

// end ends all streams; no new ones begin.
func (s *streams) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	for _, one := range s.open {
		one.cancel()
	}
}

// openStream serves a host until it goes.
func (h *HTTP) openStream(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	in, posts := io.Pipe()
	host := NewStdio(StdioOptions{
		Mode: h.o.Mode, Gateway: func() *gateway.Gateway { return h.o.Gateway("") }, Servers: h.o.Servers, Logger: h.o.Logger,
		Version: h.o.Version, MaxFrame: h.o.MaxFrame, Started: h.o.Started,
		Level: func(ctx context.Context) { h.wanted(ctx, h.o.Gateway("")) },
	})
	id := newSessionID() + newSessionID() // who knows it may post
	if !h.streams.add(id, &stream{host, posts, cancel}) {
		w.Header().Set("Retry-After", "30")
		http.Error(w, "too many sessions are open", http.StatusServiceUnavailable)
		return
	}
	defer h.streams.remove(id)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache, no-transform")
	alive := keepAlive(w)
	defer alive.stop()
	if _, err := fmt.Fprintf(alive, "event: endpoint\ndata: /sse?sessionId=%s\n\n", id); err != nil {
		return
	}
	alive.Flush()
	go func() {
		<-ctx.Done()
		_ = posts.CloseWithError(io.EOF)
	}()
	_ = host.Run(ctx, in, eventWriter{alive}) // the stream's end is how such a host goes
}

// postStream takes a message of a host that has a stream.
func (h *HTTP) postStream(w http.ResponseWriter, r *http.Request) {
	one := h.streams.get(r.URL.Query().Get("sessionId"))
	if one == nil {
		http.Error(w, "there is no such session", http.StatusNotFound)
		return
	}
	if !isJSON(r) {
		http.Error(w, "Content-Type must be application/json", http.StatusUnsupportedMediaType)
		return
	}
	body, ok := h.body(w, r)
	if !ok {
		return
	}
	if _, err := one.in.Write(append(wire.OneLine(bytes.TrimSpace(body)), '\n')); err != nil {
		http.Error(w, "the session has ended", http.StatusNotFound)
		return
	}
	w.WriteHeader(http.StatusAccepted)
}

// eventWriter turns frames, which come whole, into events.
type eventWriter struct{ w *aliveWriter }

// Write implements [io.Writer].
func (e eventWriter) Write(p []byte) (int, error) {
	var b bytes.Buffer
	for line := range bytes.Lines(p) {
		b.WriteString("event: message\ndata: ")
		b.Write(bytes.TrimRight(line, "\n"))
		b.WriteString("\n\n")
	}
	if _, err := e.w.Write(b.Bytes()); err != nil {
		return 0, err
	}
	e.w.Flush()
	return len(p), nil
}
