package capture

import (
	"bytes"
	"container/list"
	"errors"
	"io"
	"time"

	"heddle"
)

var newline = []byte{'\n'}

// Capture is one result, exactly as it came. It never changes; it may be evicted,
// and then every method that reads says so with the error of [Store.Get]. It is
// safe for concurrent use and need not be closed.
type Capture struct {
	// Ref is its name, usable in SQL as it is and never given twice.
	Ref string
	// Tool is the tool that it is a result of.
	Tool heddle.ToolRef
	Kind Kind
	// Size is its length in bytes.
	Size int64
	// Created is when it came.
	Created time.Time
	// Lines is how many lines it has; a last one without an end counts.
	Lines int

	store     *Store
	principal heddle.Principal
	chunks    []chunk
	packed    int64 // size compressed

	// What follows is guarded by the store's mu. The bytes in data never change.
	at    whereabouts
	data  [][]byte // by chunk, while in memory
	file  string   // path, while on disk
	place *list.Element
	used  time.Time
	holds int
	same  sameKey // of one that is put once
}

// Hold keeps the capture from being evicted until release is called, which must
// be done exactly once. Closing the store ends it all the same.
func (c *Capture) Hold() (release func(), err error) {
	if err := c.hold(); err != nil {
		return nil, err
	}
	return c.release, nil
}

func (c *Capture) hold() error {
	s := c.store
	s.mu.Lock()
	if c.at != nowhere {
		c.holds++
		s.touch(c)
		s.mu.Unlock()
		return nil
	}
	s.mu.Unlock()
	return s.gone("capture.read", c.principal, c.Ref)
}

func (c *Capture) release() {
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	c.holds--
}

// ReadAt implements [io.ReaderAt]. It decompresses no more than the chunks that it
// reads from.
func (c *Capture) ReadAt(p []byte, off int64) (int, error) {
	n, _, err := c.readAt(p, off)
	return n, err
}

// readAt is ReadAt that also says how many newlines are before off.
func (c *Capture) readAt(p []byte, off int64) (n int, lines int64, err error) {
	if off < 0 {
		return 0, 0, errors.New("capture: negative offset")
	}
	if err := c.hold(); err != nil {
		return 0, 0, err
	}
	defer c.release()
	if off >= c.Size {
		return 0, 0, io.EOF
	}
	buf := c.store.codec.buffer()
	defer c.store.codec.free(buf)
	for i := int(off / chunkSize); n < len(p) && i < len(c.chunks); i++ {
		b, err := c.chunk(i, *buf)
		if err != nil {
			return n, lines, err
		}
		if skip := off + int64(n) - int64(i)*chunkSize; skip > 0 {
			lines = int64(bytes.Count(b[:skip], newline))
			b = b[skip:]
		}
		n += copy(p[n:], b)
	}
	lines += c.chunks[off/chunkSize].lines
	if n < len(p) {
		return n, lines, io.EOF
	}
	return n, lines, nil
}

// chunk returns the content of the i-th chunk, in buf, which has chunkSize bytes.
// The caller holds the capture.
func (c *Capture) chunk(i int, buf []byte) ([]byte, error) {
	s := c.store
	s.mu.Lock()
	at, file := c.at, c.file
	var stored []byte
	if at == inMemory {
		stored = c.data[i]
	}
	s.mu.Unlock()
	ch := c.chunks[i]
	n := int(min(chunkSize, c.Size-int64(i)*chunkSize))
	switch at {
	case nowhere: // the store was closed
		return nil, s.gone("capture.read", c.principal, c.Ref)
	case onDisk:
		tmp := s.codec.buffer()
		defer s.codec.free(tmp)
		stored = (*tmp)[:ch.size]
		if err := s.spill.read(file, stored, ch.pos); err != nil {
			if s.isClosed() { // since we looked
				return nil, s.gone("capture.read", c.principal, c.Ref)
			}
			return nil, c.unreadable(err)
		}
		if checksum(stored) != ch.crc {
			return nil, c.unreadable(errDamaged)
		}
	}
	b, err := s.codec.decode(buf, stored, ch, n)
	if err != nil {
		return nil, c.unreadable(err)
	}
	return b, nil
}

// Bytes returns all of it in new memory. For a large one use [Capture.Reader] or
// [Capture.ReadAt].
func (c *Capture) Bytes() ([]byte, error) {
	b := make([]byte, c.Size)
	if c.Size == 0 {
		return b, nil
	}
	if _, err := c.ReadAt(b, 0); err != nil {
		return nil, err
	}
	return b, nil
}

// Reader returns a reader of all of it, which keeps the capture from being evicted
// until it is closed. It is not safe for concurrent use.
func (c *Capture) Reader() (io.ReadCloser, error) {
	if err := c.hold(); err != nil {
		return nil, err
	}
	return &reader{c: c, buf: c.store.codec.buffer()}, nil
}

// reader decompresses each chunk once.
type reader struct {
	c    *Capture
	buf  *[]byte
	next int    // chunk
	rest []byte // of the one before, in buf
}

var errReaderClosed = errors.New("capture: the reader is closed")

// Read implements [io.Reader].
func (r *reader) Read(p []byte) (int, error) {
	switch {
	case r.buf == nil:
		return 0, errReaderClosed
	case len(p) == 0:
		return 0, nil
	case len(r.rest) == 0 && r.next == len(r.c.chunks):
		return 0, io.EOF
	case len(r.rest) == 0:
		b, err := r.c.chunk(r.next, *r.buf)
		if err != nil {
			return 0, err
		}
		r.rest, r.next = b, r.next+1
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// Close implements [io.Closer]. A second call does nothing.
func (r *reader) Close() error {
	if r.buf != nil {
		r.c.store.codec.free(r.buf)
		r.buf, r.rest = nil, nil
		r.c.release()
	}
	return nil
}
