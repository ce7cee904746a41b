package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

const (
	// smallBuffer is what an idle stream holds; many upstreams are idle.
	smallBuffer = 8 << 10
	// handOff is the size from which a frame keeps the reader's buffer instead of
	// being copied out of it.
	handOff = 32 << 10
)

// Reader splits a stream into frames: lines without their line break. It is for
// one goroutine.
type Reader struct {
	src     io.Reader
	max     int
	buf     []byte
	start   int // of unread data
	end     int
	scanned int // no newline before this index
	err     error
}

// NewReader reads frames of at most max bytes from src.
func NewReader(src io.Reader, max int) *Reader {
	return &Reader{src: src, max: max}
}

// TooLargeError is a frame over the limit. It was read to its end and dropped,
// the stream goes on after it.
type TooLargeError struct {
	// ID is the id of the message, nil if it has none at its top level.
	ID json.RawMessage
	// Size is the length of the frame and Limit what it may be, in bytes.
	Size  int64
	Limit int
}

// Error implements error.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("message too large (%d bytes, limit %d)", e.Size, e.Limit)
}

// Next returns the next frame that is not blank, without surrounding white
// space. The caller owns it. A [*TooLargeError] is not the end; any other error
// is.
func (r *Reader) Next() ([]byte, error) {
	for {
		line, err := r.line()
		if err != nil {
			return nil, err
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return r.own(line), nil
		}
	}
}

// line returns the next line; it aliases the buffer.
func (r *Reader) line() ([]byte, error) {
	for {
		if i := bytes.IndexByte(r.buf[r.scanned:r.end], '\n'); i >= 0 {
			line := r.buf[r.start : r.scanned+i]
			r.start = r.scanned + i + 1
			r.scanned = r.start
			if len(line) > r.max {
				return nil, tooLarge(line, r.max)
			}
			return line, nil
		}
		r.scanned = r.end
		if r.err != nil {
			if r.start == r.end {
				return nil, r.err
			}
			line := r.buf[r.start:r.end] // the last line may lack its break
			r.start = r.end
			if len(line) > r.max {
				return nil, tooLarge(line, r.max)
			}
			return line, nil
		}
		if r.end-r.start > r.max {
			return nil, r.discard()
		}
		r.fill()
	}
}

func tooLarge(line []byte, limit int) *TooLargeError {
	var f idFinder
	f.feed(line)
	return &TooLargeError{ID: f.id(), Size: int64(len(line)), Limit: limit}
}

// fill reads once, making room first.
func (r *Reader) fill() {
	if r.start == r.end {
		r.start, r.end, r.scanned = 0, 0, 0
	}
	if r.end == len(r.buf) {
		r.room()
	}
	n, err := r.src.Read(r.buf[r.end:])
	r.end += n
	r.err = err
}

// room moves what is left to the front, or into a larger buffer if it already
// fills half of this one.
func (r *Reader) room() {
	left := r.end - r.start
	to := r.buf
	if left > len(r.buf)/2 || len(r.buf) == 0 {
		to = make([]byte, max(smallBuffer, 2*len(r.buf)))
	}
	copy(to, r.buf[r.start:r.end])
	r.buf = to
	r.scanned -= r.start
	r.start, r.end = 0, left
}

// own gives the line to the caller. A large one keeps the buffer, and the rest
// of the buffer moves to a fresh one.
func (r *Reader) own(line []byte) []byte {
	if len(line) < handOff {
		return bytes.Clone(line)
	}
	rest := r.buf[r.start:r.end]
	fresh := make([]byte, max(smallBuffer, 2*len(rest)))
	r.end = copy(fresh, rest)
	r.start, r.scanned = 0, 0
	r.buf = fresh
	return line
}

// discard drops the frame that is being read, up to its newline, looking for
// its id on the way.
func (r *Reader) discard() error {
	var f idFinder
	size := int64(0)
	take := func(b []byte) {
		f.feed(b)
		size += int64(len(b))
	}
	take(r.buf[r.start:r.end])
	r.buf = make([]byte, 64<<10)
	for {
		n, err := r.src.Read(r.buf)
		if i := bytes.IndexByte(r.buf[:n], '\n'); i >= 0 {
			take(r.buf[:i])
			r.start, r.end, r.scanned = i+1, n, i+1
			r.err = err
			break
		}
		take(r.buf[:n])
		if err != nil {
			r.start, r.end, r.scanned = 0, 0, 0
			r.err = err
			break
		}
	}
	return &TooLargeError{ID: f.id(), Size: size, Limit: r.max}
}

// idFinder finds the top-level "id" of a message that is too large to keep,
// wherever in it the id stands.
type idFinder struct {
	depth  int
	str    bool
	esc    bool
	key    []byte // last string at depth 1, at most 64 bytes
	colon  bool   // after the colon of a member at depth 1
	isID   bool
	found  []byte
	settle bool // found is complete
}

func (f *idFinder) feed(b []byte) {
	for i := 0; i < len(b); i++ {
		switch {
		case !f.str:
			f.outside(b[i])
		case f.depth == 1 || f.esc:
			f.inString(b[i])
		default: // nothing in it matters but its end
			skip := bytes.IndexAny(b[i:], `"\\`)
			if skip < 0 {
				return
			}
			i += skip
			f.inString(b[i])
		}
	}
}

func (f *idFinder) inString(c byte) {
	switch {
	case f.esc:
		f.esc = false
	case c == '\\':
		f.esc = true
	case c == '"':
		f.str = false
	}
	f.keep(c)
}

// keep adds c to the key or the id that is being read.
func (f *idFinder) keep(c byte) {
	switch {
	case f.depth != 1:
	case f.isID && !f.settle && len(f.found) < 256:
		f.found = append(f.found, c)
	case !f.colon && len(f.key) < 64:
		f.key = append(f.key, c)
	}
}

func (f *idFinder) outside(c byte) {
	switch c {
	case '"':
		f.str = true
		if f.depth == 1 && !f.colon {
			f.key = f.key[:0]
		}
		f.keep(c)
	case '{', '[':
		f.depth++
	case '}', ']':
		f.member()
		f.depth--
	case ':':
		if f.depth == 1 {
			f.colon = true
			f.isID = string(f.key) == `"id"`
		}
	case ',':
		f.member()
	case ' ', '\t', '\r':
	default:
		f.keep(c)
	}
}

// member ends a member at depth 1.
func (f *idFinder) member() {
	if f.depth == 1 {
		f.settle = f.settle || f.isID
		f.colon, f.isID = false, false
	}
}

func (f *idFinder) id() json.RawMessage {
	if len(f.found) == 0 || !Valid(f.found) {
		return nil
	}
	return f.found
}
