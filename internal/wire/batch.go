package wire

import (
	"bytes"
	"context"
	"encoding/json"
)

// batch is a JSON-RPC batch whose answers are still coming. Only protocol
// version 2025-03-26 has batches.
type batch struct {
	left    int
	answers [][]byte
}

// FeedBatch handles the elements of a batch as if each had been read alone, and
// gathers their answers into one array. It must be called from the goroutine of
// Run.
func (c *Conn) FeedBatch(elements []json.RawMessage) {
	b := &batch{}
	c.mu.Lock()
	for _, e := range elements {
		if m, err := Parse(e); err == nil && m.IsRequest() {
			if c.batches == nil {
				c.batches = map[string]*batch{}
			}
			if c.batches[string(m.ID)] == nil { // a second answer under the same id goes out alone
				c.batches[string(m.ID)] = b
				b.left++
			}
		}
	}
	c.mu.Unlock()
	for _, e := range elements {
		c.Feed(e)
	}
}

// Respond writes the response frame for a request of the peer; with the other
// answers of its batch if it came in one.
func (c *Conn) Respond(ctx context.Context, id json.RawMessage, frame []byte) error {
	c.mu.Lock()
	if b := c.batches[string(id)]; b != nil { // reading a nil map is free
		delete(c.batches, string(id))
		b.answers = append(b.answers, bytes.TrimRight(bytes.Clone(frame), "\n"))
		if b.left--; b.left > 0 {
			c.mu.Unlock()
			return nil
		}
		frame = append(append([]byte{'['}, bytes.Join(b.answers, []byte{','})...), ']', '\n')
	}
	c.mu.Unlock()
	return c.w.Write(ctx, frame)
}

// Drop forgets a request that will get no answer, so that its batch does not
// wait for it.
func (c *Conn) Drop(ctx context.Context, id json.RawMessage) {
	c.mu.Lock()
	b := c.batches[string(id)]
	if b == nil {
		c.mu.Unlock()
		return
	}
	delete(c.batches, string(id))
	var frame []byte
	if b.left--; b.left == 0 && len(b.answers) > 0 {
		frame = append(append([]byte{'['}, bytes.Join(b.answers, []byte{','})...), ']', '\n')
	}
	c.mu.Unlock()
	if frame != nil {
		_ = c.w.Write(ctx, frame) // the host is gone if this fails
	}
}
