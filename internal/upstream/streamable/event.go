package streamable

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
	"sync"
	"time"

	"heddle/internal/wire"
)

// event is one server-sent event.
type event struct {
	name     string // "" is message
	id       string
	hasID    bool
	retry    time.Duration
	hasRetry bool
	data     []byte // the caller's to keep; nil if the event has none
}

// says reports whether an event says anything at all.
func (e *event) says() bool { return e.name != "" || e.hasID || e.hasRetry || e.data != nil }

// errOversize says that an event is too large; the reader stands within it.
var errOversize = errors.New("event too large")

const (
	// handOff is the size from which an event keeps the buffer instead of being
	// copied out of it.
	handOff = 32 << 10
	// fieldRoom is for "data: " before the data itself.
	fieldRoom = 6
)

// events reads an event stream. It is for one goroutine.
type events struct {
	r   *bufio.Reader
	max int
	// buf has the data of the event, from from on, and behind it, from line on,
	// the line that is being read.
	buf        []byte
	from, line int
	lines      int  // of data
	mid        bool // errOversize came before the end of a line
	begun      bool
	err        error // of the stream, once its last line was read
}

var readers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, 16<<10) }}

func newEvents(src io.Reader, most int) *events {
	r := readers.Get().(*bufio.Reader)
	r.Reset(&breaks{src: src})
	return &events{r: r, max: most}
}

// free gives the buffer back; the reader must not be used any more.
func (e *events) free() {
	e.r.Reset(nil)
	readers.Put(e.r)
}

// size returns how much of an event that is too large has been read.
func (e *events) size() int64 { return int64(len(e.buf) - e.from) }

// next returns the next event that says anything. After [errOversize] the caller
// calls drop or gives up; any other error is the end.
func (e *events) next() (event, error) {
	var ev event
	e.buf, e.from, e.lines = e.buf[:0], 0, 0
	for {
		if e.err != nil {
			return ev, e.err
		}
		if err := e.readLine(); err != nil {
			return ev, err
		}
		if len(e.buf) > e.line {
			e.field(&ev)
			if e.lines > 0 && len(e.buf)-e.from > e.max {
				return ev, errOversize
			}
			if e.err == nil {
				continue
			}
		}
		if e.err != nil && (e.lines == 0 || !wire.Valid(e.buf[e.from:])) { // some servers end without the last blank line, others break off
			return ev, e.err
		}
		if e.lines > 0 {
			ev.data = e.own()
		}
		if ev.says() {
			return ev, nil
		}
	}
}

// readLine appends a line to buf, without its end.
func (e *events) readLine() error {
	e.line, e.mid = len(e.buf), false
	for {
		piece, err := e.r.ReadSlice('\n')
		e.buf = append(e.buf, piece...)
		switch {
		case err == nil:
			e.buf = e.buf[:len(e.buf)-1]
		case err != bufio.ErrBufferFull:
			e.err = err
		case len(e.buf)-e.from > e.max+fieldRoom:
			e.mid = true
			return errOversize
		default:
			continue
		}
		if !e.begun {
			e.begun = true
			if bytes.HasPrefix(e.buf, []byte("\ufeff")) {
				e.buf = e.buf[:copy(e.buf, e.buf[len("\ufeff"):])]
			}
		}
		return nil
	}
}

// field reads one line of an event.
func (e *events) field(ev *event) {
	line := e.buf[e.line:]
	name, value, _ := bytes.Cut(line, []byte{':'})
	value = bytes.TrimPrefix(value, []byte{' '})
	switch string(name) {
	case "data":
		e.add(value)
		return
	case "event":
		ev.name = string(value)
	case "id":
		if bytes.IndexByte(value, 0) < 0 {
			ev.id, ev.hasID = string(value), true
		}
	case "retry":
		if ms, err := strconv.ParseUint(string(value), 10, 31); err == nil {
			ev.retry, ev.hasRetry = time.Duration(ms)*time.Millisecond, true
		}
	}
	e.buf = e.buf[:e.line]
}

// add keeps a line of data, which stands at the end of buf. The first one stays
// where it is, however large.
func (e *events) add(value []byte) {
	e.lines++
	if e.lines == 1 {
		e.from = len(e.buf) - len(value)
		return
	}
	e.buf[e.line] = '\n' // "data" was here, so there is room
	n := copy(e.buf[e.line+1:], value)
	e.buf = e.buf[:e.line+1+n]
}

// own gives the data to the caller. Large data keeps the buffer.
func (e *events) own() []byte {
	data := e.buf[e.from:]
	if len(data) < handOff {
		return append(make([]byte, 0, len(data)), data...)
	}
	e.buf, e.from = nil, 0
	return data
}

// drop reads an event that is too large to its end, looking for the id of the
// message in it.
func (e *events) drop(limit int) *wire.TooLargeError {
	rest := &remains{e: e, pending: e.buf[e.from:], mid: e.mid}
	if e.mid { // the line was not read as a field
		head, part := e.buf[e.from:e.line], bytes.TrimPrefix(e.buf[e.line:], []byte("data:"))
		rest.pending = append(append(head[:len(head):len(head)], ' '), part...)
	}
	_, err := wire.NewReader(rest, 0).Next() // which has a finder for ids and, with no room at all, keeps nothing
	e.buf, e.from = nil, 0
	var large *wire.TooLargeError
	if !errors.As(err, &large) {
		large = &wire.TooLargeError{}
	}
	large.Limit = limit
	return large
}

// remains reads the data of an event that is too large, on one line.
type remains struct {
	e       *events
	pending []byte
	mid     bool // the next bytes go on with a line
	skip    bool // which is not one of data
	over    bool
}

// Read implements [io.Reader].
func (r *remains) Read(p []byte) (int, error) {
	for len(r.pending) == 0 {
		if r.over {
			return 0, io.EOF
		}
		r.more()
	}
	n := copy(p, r.pending)
	r.pending = r.pending[n:]
	for i, c := range p[:n] {
		if c == '\n' {
			p[i] = ' '
		}
	}
	return n, nil
}

func (r *remains) more() {
	piece, err := r.e.r.ReadSlice('\n')
	begins := !r.mid
	r.mid = err == bufio.ErrBufferFull
	if err != nil && !r.mid {
		r.over, r.e.err = true, err
	}
	if begins {
		if string(piece) == "\n" {
			r.over = true
			return
		}
		value, ok := bytes.CutPrefix(piece, []byte("data:"))
		r.skip, piece = !ok, value
	}
	if !r.skip {
		r.pending = piece
	}
}

// breaks turns every kind of line break into a line feed.
type breaks struct {
	src  io.Reader
	half bool // a carriage return was the last byte
}

// Read implements [io.Reader].
func (b *breaks) Read(p []byte) (int, error) {
	for {
		n, err := b.src.Read(p)
		if n > 0 && (b.half || bytes.IndexByte(p[:n], '\r') >= 0) {
			n = b.unify(p[:n])
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

// unify rewrites p in place and returns its new length.
func (b *breaks) unify(p []byte) int {
	n := 0
	for _, c := range p {
		half := b.half
		b.half = c == '\r'
		switch {
		case c == '\n' && half: // its other half is written
			continue
		case c == '\r':
			c = '\n'
		}
		p[n] = c
		n++
	}
	return n
}
