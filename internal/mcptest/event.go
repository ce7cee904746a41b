package mcptest

import (
	"bytes"
	"encoding/json"
	"os"
	"sync"
	"testing"
	"time"
)

// Deadline is how long the helpers of this package wait before they fail a test.
const Deadline = 20 * time.Second

// Event is one thing that happened to a [Server].
type Event struct {
	// Kind is start, discover, initialize, initialized, list (of tools), call,
	// cancelled, request (any other), notification (any other), response, signal or
	// eof.
	Kind string `json:"kind"`
	PID  int    `json:"pid"`
	// Children are the processes that a start started.
	Children []int `json:"children,omitempty"`
	// ID is the request's id, or the one that was cancelled, as it was written.
	ID string `json:"id,omitempty"`
	// Tool is the tool that was called, Method the request's or notification's.
	Tool   string `json:"tool,omitempty"`
	Method string `json:"method,omitempty"`
	// Params are the request's, or the whole of a response.
	Params json.RawMessage `json:"params,omitempty"`
}

// events keeps what happened, in memory and in a file.
type events struct {
	file *os.File

	mu   sync.Mutex
	list []Event
	more chan struct{} // closed and replaced by each event
}

func (l *events) add(e Event) {
	e.PID = os.Getpid()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, e)
	close(l.more)
	l.more = make(chan struct{})
	if l.file == nil {
		return
	}
	if line, err := json.Marshal(e); err == nil {
		_, _ = l.file.Write(append(line, '\n')) // one write: lines of several processes do not mix
	}
}

func (l *events) get() ([]Event, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]Event(nil), l.list...), l.more
}

// Events reads the events in a log file; none if there is no such file.
func Events(t testing.TB, path string) []Event {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	var out []Event
	for line := range bytes.Lines(data) {
		var e Event
		if json.Unmarshal(line, &e) == nil { // the last line may be half written
			out = append(out, e)
		}
	}
	return out
}

// Count returns how many of the events are of the kind.
func Count(events []Event, kind string) int {
	n := 0
	for _, e := range events {
		if e.Kind == kind {
			n++
		}
	}
	return n
}

// WaitEvents waits until the log file holds n events of the kind and returns
// all of that kind.
func WaitEvents(t testing.TB, path, kind string, n int) []Event {
	t.Helper()
	var out []Event
	Eventually(t, func() bool {
		out = nil
		for _, e := range Events(t, path) {
			if e.Kind == kind {
				out = append(out, e)
			}
		}
		return len(out) >= n
	}, "%d events %q in %s", n, kind, path)
	return out
}

// Eventually waits until ok returns true, looking again every few milliseconds,
// and fails the test after [Deadline]. It is for what has no event to wait for:
// files and processes of others.
func Eventually(t testing.TB, ok func() bool, format string, args ...any) {
	t.Helper()
	limit := time.NewTimer(Deadline)
	defer limit.Stop()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-limit.C:
			t.Fatalf("never came: "+format, args...)
		}
	}
}
