package capture

import (
	"container/list"
	"errors"
	"log/slog"
	"sync"
	"time"

	"heddle"
)

// The limits where [Options] has none.
const (
	defaultMemory = 256 << 20
	defaultTTL    = time.Hour
	diskPerMemory = 4
)

// Kind says what the bytes of a capture are.
type Kind string

// The kinds of captures.
const (
	// KindText is what a model reads of a result: its texts and, where that says
	// something else, its structured content, joined by line breaks.
	KindText Kind = "text"
	// KindJSON is the JSON of a whole result object, or any other JSON.
	KindJSON Kind = "json"
)

// Options says where captures go and how many there may be. The zero value works.
type Options struct {
	// Memory is how many bytes, compressed, are kept in memory; 0 is 256 MB.
	Memory int64
	// Disk is how many bytes, compressed, the spill directory may hold; 0 is four
	// times Memory, a negative number none.
	Disk int64
	// TTL is how long a capture is safe after its last use when there is room for
	// it neither in memory nor on disk; 0 is an hour. Without such pressure a
	// capture outlives it.
	TTL time.Duration
	// TempDir is where the spill directory is made, with the first capture that has
	// no room in memory; "" is the system's.
	TempDir string
	// StateDir is where the sequence numbers of names are kept, for all processes
	// that use it; "" keeps them in memory.
	StateDir string
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// Logger is told once of each thing that does not work; nil is nobody.
	Logger *slog.Logger
}

// Store keeps the captures of all principals. It is safe for concurrent use and
// must be closed.
type Store struct {
	o     Options
	codec codec
	seq   sequence
	spill spill

	// room is held by the one Put that makes room, across writing files. It is
	// taken before mu.
	room sync.Mutex

	// mu guards what follows and the state of every capture; it is never held while
	// a file is read or written.
	mu       sync.Mutex
	closed   bool
	captures map[key]*Capture
	same     map[sameKey]*Capture // of [Store.PutOnce]
	memory   *list.List           // of *Capture in memory, least recently used first
	disk     *list.List           // of *Capture on disk, likewise
	past     past
	stats    Stats
}

// key is how captures are found: without the principal nothing is.
type key struct {
	principal heddle.Principal
	ref       string
}

// sameKey is how a capture is found again that would say the same.
type sameKey struct {
	principal   heddle.Principal
	name, print string
}

// Stats counts what a [Store] has and had.
type Stats struct {
	// Captures is how many are held.
	Captures int
	// Raw is their size in bytes, Memory and Disk what they take, compressed.
	Raw, Memory, Disk int64
	// Evicted is how many were given up for want of room, Spilled how many went to
	// the spill directory.
	Evicted, Spilled uint64
}

// New returns an empty store. It opens and starts nothing.
func New(o Options) *Store {
	if o.Memory <= 0 {
		o.Memory = defaultMemory
	}
	if o.Disk == 0 {
		o.Disk = diskPerMemory * o.Memory
	}
	if o.TTL <= 0 {
		o.TTL = defaultTTL
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Store{
		o:        o,
		seq:      sequence{dir: o.StateDir, now: o.Now, log: o.Logger},
		spill:    spill{parent: o.TempDir, log: o.Logger},
		captures: map[key]*Capture{},
		same:     map[sameKey]*Capture{},
		memory:   list.New(),
		disk:     list.New(),
	}
}

// Close gives up all captures and removes the spill directory. It waits for a
// read from a file that is under way, not for readers between two of them: those
// are told that the capture is gone. A second call does nothing.
func (s *Store) Close() error {
	s.room.Lock()
	defer s.room.Unlock()
	s.mu.Lock()
	s.closed = true
	for k, c := range s.captures {
		c.data, c.at = nil, nowhere
		delete(s.captures, k)
	}
	clear(s.same)
	s.memory.Init()
	s.disk.Init()
	s.stats.Captures, s.stats.Raw, s.stats.Memory, s.stats.Disk = 0, 0, 0, 0
	s.mu.Unlock()
	return s.spill.close()
}

var errClosed = errors.New("the store is closed")

// Put keeps content, which the caller may reuse afterwards, as a result of tool
// for one principal. An error means that there is room for it neither in memory
// nor on disk; nothing is left of it then.
func (s *Store) Put(p heddle.Principal, tool heddle.ToolRef, kind Kind, content []byte) (*Capture, error) {
	return s.put(p, tool, tool.Name, kind, content)
}

// PutOnce is [Store.Put] for what is shown again and again: as long as a capture of
// the same name and print is held for the principal, it returns that. tool is what
// to call again for it; one without a server is heddle's own.
func (s *Store) PutOnce(p heddle.Principal, tool heddle.ToolRef, name, print string, content []byte) (*Capture, error) {
	k := sameKey{p, name, print}
	s.mu.Lock()
	c := s.same[k]
	if c != nil {
		s.touch(c)
	}
	s.mu.Unlock()
	if c != nil {
		return c, nil
	}
	c, err := s.put(p, tool, name, KindJSON, content)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.at != nowhere { // another one may have needed the room
		c.same = k
		s.same[k] = c
	}
	return c, nil
}

// PutAs is [Store.Put] for what is named after something else than the tool.
func (s *Store) PutAs(p heddle.Principal, tool heddle.ToolRef, name string, kind Kind, content []byte) (*Capture, error) {
	return s.put(p, tool, name, kind, content)
}

// put is Put under a name of its own.
func (s *Store) put(p heddle.Principal, tool heddle.ToolRef, name string, kind Kind, content []byte) (*Capture, error) {
	now := s.o.Now()
	c := &Capture{
		Tool: tool, Kind: kind, Size: int64(len(content)), Created: now,
		store: s, principal: p, used: now,
	}
	if err := s.codec.pack(c, content); err != nil {
		return nil, internal("capture.put", err)
	}
	s.room.Lock()
	defer s.room.Unlock()
	if s.isClosed() {
		return nil, internal("capture.put", errClosed)
	}
	c.Ref = s.seq.next(refName(name), tool, p)
	if err := s.place(c); err != nil {
		return nil, internal("capture.put", err)
	}
	return c, nil
}

// Get returns a principal's capture. If there is none, the error is a
// [heddle.Error] of kind result_expired that says what is known of the name and
// what else the principal has; its cause is a [*Gone] if the tool is known.
// Another principal's capture is told from none by nothing.
func (s *Store) Get(p heddle.Principal, ref string) (*Capture, error) {
	ref = cleanRef(ref)
	s.mu.Lock()
	c := s.captures[key{p, ref}]
	if c != nil {
		s.touch(c)
	}
	s.mu.Unlock()
	if c != nil {
		return c, nil
	}
	return nil, s.gone("capture.get", p, ref)
}

// Drop gives up a capture that nobody was told of.
func (s *Store) Drop(p heddle.Principal, ref string) {
	s.room.Lock()
	defer s.room.Unlock()
	s.mu.Lock()
	file := ""
	if c := s.captures[key{p, ref}]; c != nil && c.holds == 0 {
		file = s.evict(c)
	}
	s.mu.Unlock()
	if file != "" {
		s.spill.remove(file)
	}
}

// Stats returns the counts now.
func (s *Store) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stats
}

func (s *Store) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// touch notes a use. The caller holds mu.
func (s *Store) touch(c *Capture) {
	c.used = s.o.Now()
	switch c.at {
	case inMemory:
		s.memory.MoveToBack(c.place)
	case onDisk:
		s.disk.MoveToBack(c.place)
	}
}

func internal(op string, err error) error {
	return &heddle.Error{Kind: heddle.KindInternal, Op: op, Public: "The result could not be kept.", Err: err}
}
