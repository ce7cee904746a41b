package audit

import "sync"

// entry is what becomes a line, or several, or none.
type entry interface {
	// lines encodes it. Only the goroutine of Run calls this.
	lines(e *encoder)
}

// queue holds what waits to be written. It counts as waiting until settled, so also
// while the writer has it.
type queue struct {
	max  int
	wake chan struct{} // told when the queue is no longer empty

	mu      sync.Mutex
	entries []entry
	waiting int
	dropped uint64
	closed  bool
}

func (q *queue) add(e entry) {
	q.mu.Lock()
	if q.closed || q.waiting >= q.max {
		q.dropped++
		q.mu.Unlock()
		return
	}
	q.waiting++
	q.entries = append(q.entries, e)
	first := q.waiting == 1
	q.mu.Unlock()
	if first {
		select {
		case q.wake <- struct{}{}:
		default: // one is under way
		}
	}
}

// take unhooks up to n entries.
func (q *queue) take(n int) []entry {
	q.mu.Lock()
	defer q.mu.Unlock()
	if n >= len(q.entries) {
		out := q.entries
		q.entries = nil
		return out
	}
	out := q.entries[:n:n]
	q.entries = q.entries[n:]
	return out
}

// settle ends the wait of n entries that are written.
func (q *queue) settle(n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = max(0, q.waiting-n) // after close nothing waits
}

func (q *queue) len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.waiting
}

func (q *queue) lost() uint64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.dropped
}

// close drops what is left, and everything later.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.dropped += uint64(q.waiting)
	q.waiting, q.entries = 0, nil
}
