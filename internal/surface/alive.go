package surface

import (
	"net/http"
	"strconv"
	"sync"
	"time"
)

// aliveEvery is how long a stream may be silent: proxies cut one after a minute.
const aliveEvery = 20 * time.Second

// aliveWriter writes a comment into a stream of events that has been silent for
// long. Any other response passes as it is.
type aliveWriter struct {
	http.ResponseWriter

	mu    sync.Mutex
	timer *time.Timer
	over  bool

	aliased bool // ids may stand under aliases
}

func keepAlive(w http.ResponseWriter) *aliveWriter { return &aliveWriter{ResponseWriter: w} }

// WriteHeader implements [http.ResponseWriter].
func (a *aliveWriter) WriteHeader(code int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.begin()
	a.ResponseWriter.WriteHeader(code)
}

// Write implements [io.Writer]. Events come whole, so a comment is never within
// one.
func (a *aliveWriter) Write(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.begin()
	if !a.aliased {
		return a.ResponseWriter.Write(p)
	}
	if _, err := a.ResponseWriter.Write(realIDs(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush implements [http.Flusher].
func (a *aliveWriter) Flush() {
	a.mu.Lock()
	defer a.mu.Unlock()
	_ = http.NewResponseController(a.ResponseWriter).Flush() // best effort
}

// arm starts the clock of a response that nothing is written into before its
// answer. It must be called once the response has its headers.
func (a *aliveWriter) arm() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.timer == nil {
		a.begin()
	}
}

// begin starts the clock anew. It is called with the lock held.
func (a *aliveWriter) begin() {
	switch {
	case a.over || !isEventStream(a.Header()):
	case a.timer == nil:
		a.timer = time.AfterFunc(aliveEvery, a.comment)
	default:
		a.timer.Reset(aliveEvery)
	}
}

func (a *aliveWriter) comment() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.over {
		return
	}
	if _, err := a.ResponseWriter.Write([]byte(": alive\n\n")); err != nil {
		return
	}
	_ = http.NewResponseController(a.ResponseWriter).Flush() // best effort
	a.timer.Reset(aliveEvery)
}

// stop ends the comments; the response must not be touched after its handler has
// returned.
func (a *aliveWriter) stop() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.over = true
	if a.timer != nil {
		a.timer.Stop()
	}
}

// aliveHeader names the response that a request waits for, on its way through the
// SDK: only once the SDK has handed over a request are the headers of its response
// known.
const aliveHeader = "Heddle-Alive"

// waiting are the responses that are waited for.
type waiting struct {
	mu   sync.Mutex
	last int
	open map[string]*aliveWriter
}

// add returns the name of a response, and what forgets it.
func (w *waiting) add(a *aliveWriter) (name string, forget func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.open == nil {
		w.open = map[string]*aliveWriter{}
	}
	w.last++
	name = strconv.Itoa(w.last)
	w.open[name] = a
	return name, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.open, name)
	}
}

// arm arms the response of the request with this header.
func (w *waiting) arm(header http.Header) {
	w.mu.Lock()
	a := w.open[header.Get(aliveHeader)]
	w.mu.Unlock()
	if a != nil {
		a.arm()
	}
}
