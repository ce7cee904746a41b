package ledger

import "sync"

// chunkRows is how many rows the queue grows by.
const chunkRows = 64

// maxSpare is how many empty chunks are kept for reuse: what 200 ms at 5,000
// calls a second fill.
const maxSpare = 16

// chunk is a piece of the queue.
type chunk struct {
	n    int
	rows [chunkRows]Row
}

// queue holds the rows that wait to be written: in chunks, so that an idle
// heddle pays for none and no lock is held for longer than it takes to append
// one row or to unhook some chunks.
type queue struct {
	max  int
	wake chan struct{} // told when the queue is no longer empty

	mu       sync.Mutex
	calls    []*chunk
	sessions []SessionRow
	waiting  int // rows not settled: in the queue, or in a batch being written
	dropped  uint64
	spare    []*chunk
	closed   bool
}

// batch is what the writer has taken from the queue and writes as one.
type batch struct {
	calls    []*chunk
	sessions []SessionRow
}

func (b *batch) len() int {
	n := len(b.sessions)
	for _, c := range b.calls {
		n += c.n
	}
	return n
}

// admit counts a row in, or as dropped. The caller holds the lock.
func (q *queue) admit() bool {
	if q.closed || q.waiting >= q.max {
		q.dropped++
		return false
	}
	q.waiting++
	return true
}

func (q *queue) addCall(r *Row) {
	q.mu.Lock()
	if !q.admit() {
		q.mu.Unlock()
		return
	}
	last := len(q.calls) - 1
	if last < 0 || q.calls[last].n == chunkRows {
		q.calls = append(q.calls, q.newChunk())
		last++
	}
	c := q.calls[last]
	c.rows[c.n] = *r
	c.n++
	first := q.waiting == 1
	q.mu.Unlock()
	if first {
		q.signal()
	}
}

func (q *queue) addSession(s SessionRow) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.admit() {
		return
	}
	q.sessions = append(q.sessions, s)
	if q.waiting == 1 {
		q.signal()
	}
}

// signal wakes the writer; a wake-up already under way is enough.
func (q *queue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// newChunk returns an empty chunk. The caller holds the lock.
func (q *queue) newChunk() *chunk {
	n := len(q.spare)
	if n == 0 {
		return new(chunk)
	}
	c := q.spare[n-1]
	q.spare = q.spare[:n-1]
	return c
}

// take unhooks about limit calls and all sessions. They count as waiting until
// settled.
func (q *queue) take(limit int) batch {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := min(len(q.calls), max(1, limit/chunkRows))
	b := batch{calls: q.calls[:n:n], sessions: q.sessions}
	q.calls, q.sessions = q.calls[n:], nil
	if len(q.calls) == 0 {
		q.calls = nil
	}
	return b
}

// settle ends the wait of a batch, which was written or is lost, and empties it.
func (q *queue) settle(b *batch, lost bool) {
	n := b.len()
	for _, c := range b.calls {
		clear(c.rows[:c.n])
		c.n = 0
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting -= n
	if lost {
		q.dropped += uint64(n)
	}
	for _, c := range b.calls {
		if len(q.spare) < maxSpare {
			q.spare = append(q.spare, c)
		}
	}
	*b = batch{}
}

// trim gives the spare chunks back to the runtime.
func (q *queue) trim() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.spare = nil
}

func (q *queue) len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.waiting
}

func (q *queue) droppedRows() uint64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.dropped
}

// close drops what is left, the writer's batch included, and every later row.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.dropped += uint64(q.waiting)
	q.waiting, q.calls, q.sessions, q.spare = 0, nil, nil, nil
}
