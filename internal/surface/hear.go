package surface

import (
	"encoding/json"
	"slices"
	"sync"

	"heddle/internal/wire"
)

// logLevels are the levels of log messages, the most verbose first.
var logLevels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// loud reports whether a message of that level is wanted at a level; a session
// that has set none leaves it to the servers.
func loud(message json.RawMessage, wanted string) bool {
	level, _ := wire.Unquote(wire.Member(message, "level"))
	return wanted == "" || slices.Index(logLevels, level) >= slices.Index(logLevels, wanted)
}

// mostVerbose returns the level that serves all of them; "" if none is set.
func mostVerbose(levels []string) string {
	best := ""
	for _, l := range levels {
		if l != "" && (best == "" || slices.Index(logLevels, l) < slices.Index(logLevels, best)) {
			best = l
		}
	}
	return best
}

const (
	// maxLog is how large the data of a log message may be, keptLog how much of a
	// larger one is shown, in bytes.
	maxLog  = 16 << 10
	keptLog = 1000
)

// logMessage returns a server's log message as hosts see it: with the server's
// name in its logger, and not too large.
func logMessage(server string, params json.RawMessage) json.RawMessage {
	logger := server
	if own, ok := wire.Unquote(wire.Member(params, "logger")); ok && own != "" {
		logger += "/" + own
	}
	out := []byte(`{"logger":`)
	out = append(out, wire.Quote(logger)...)
	_ = wire.Members(params, func(key string, v json.RawMessage) bool {
		switch {
		case key == "logger":
			return true
		case key == "data" && len(v) > maxLog:
			v = wire.Quote(string(v[:keptLog]) + "… (cut by heddle)")
		}
		out = append(append(append(append(out, ','), wire.Quote(key)...), ':'), v...)
		return true
	})
	return append(out, '}')
}

// queue runs jobs that may wait for a host, one after the other. The zero value
// is ready. Of more than maxNotes that wait, the newest are lost.
type queue struct {
	mu      sync.Mutex
	jobs    []func()
	running bool
}

// do adds a job. It does not wait for it.
func (q *queue) do(job func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.jobs) >= maxNotes {
		return
	}
	q.jobs = append(q.jobs, job)
	if !q.running {
		q.running = true
		go q.run() // ends with the last job
	}
}

func (q *queue) run() {
	for {
		q.mu.Lock()
		if len(q.jobs) == 0 {
			q.running, q.jobs = false, nil
			q.mu.Unlock()
			return
		}
		job := q.jobs[0]
		q.jobs = q.jobs[1:]
		q.mu.Unlock()
		job()
	}
}
