package capture

import (
	"container/list"
	"errors"
)

// whereabouts is where a capture's bytes are.
type whereabouts int8

const (
	nowhere whereabouts = iota // evicted, or the store is closed
	inMemory
	onDisk
)

var errNoRoom = errors.New("the captures in use leave no room for it")

// place finds room for a new capture and lists it. Lists are ordered by last use,
// so their first is both the least recently used and the first to expire. The
// caller holds room.
func (s *Store) place(c *Capture) error {
	if c.packed > s.o.Memory {
		return s.toDisk(c)
	}
	for {
		victim := s.memoryVictim(c.packed)
		if victim == nil {
			break
		}
		if err := s.toDisk(victim); err != nil {
			// Without a disk there is the memory alone, and what was used within TTL
			// keeps its place.
			if !s.dropExpired() {
				return err
			}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list(c)
	c.at, c.place = inMemory, s.memory.PushBack(c)
	s.stats.Memory += c.packed
	return nil
}

// memoryVictim returns what must leave the memory for need bytes, nil if they fit.
func (s *Store) memoryVictim(need int64) *Capture {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stats.Memory+need <= s.o.Memory {
		return nil
	}
	return s.memory.Front().Value.(*Capture)
}

// dropExpired gives up one capture in memory that was not used for TTL and is not
// in use now. It reports whether there was one.
func (s *Store) dropExpired() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for e := s.memory.Front(); e != nil; e = e.Next() {
		c := e.Value.(*Capture)
		if s.o.Now().Sub(c.used) < s.o.TTL {
			return false
		}
		if c.holds == 0 {
			s.evict(c)
			return true
		}
	}
	return false
}

// toDisk writes a capture, new or from memory, to the spill directory. If the one
// from memory is older than all that would have to go for it, it goes itself. A
// reader of it is not disturbed: it holds the bytes or reads the file. The caller
// holds room, so that nobody else moves captures.
func (s *Store) toDisk(c *Capture) error {
	gone, err := s.makeDiskRoom(c)
	if gone || err != nil {
		return err
	}
	file, err := s.spill.write(c.data)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.at == inMemory {
		s.memory.Remove(c.place)
		s.stats.Memory -= c.packed
	} else {
		s.list(c)
	}
	c.data, c.file, c.at = nil, file, onDisk
	c.place = insertByUse(s.disk, c)
	s.stats.Disk += c.packed
	s.stats.Spilled++
	return nil
}

// Chill moves a capture of which few reads are expected to disk, where it takes no
// memory. Where that does not work it stays.
func (s *Store) Chill(c *Capture) {
	release, err := c.Hold() // it may not go for its own sake
	if err != nil {
		return
	}
	defer release()
	s.room.Lock()
	defer s.room.Unlock()
	s.mu.Lock()
	at := c.at
	s.mu.Unlock()
	if at == inMemory {
		_ = s.toDisk(c) // then it is where it was
	}
}

// insertByUse keeps the list in the order of use: what comes from memory may be
// older than what is on disk.
func insertByUse(l *list.List, c *Capture) *list.Element {
	for e := l.Back(); e != nil; e = e.Prev() {
		if !c.used.Before(e.Value.(*Capture).used) {
			return l.InsertAfter(c, e)
		}
	}
	return l.PushFront(c)
}

// makeDiskRoom evicts until c fits on disk; gone says that c was evicted itself.
func (s *Store) makeDiskRoom(c *Capture) (gone bool, err error) {
	if c.packed > s.o.Disk {
		return false, errNoRoom
	}
	for {
		s.mu.Lock()
		if s.stats.Disk+c.packed <= s.o.Disk {
			s.mu.Unlock()
			return false, nil
		}
		victim := s.diskVictim()
		if c.at == inMemory && c.holds == 0 && (victim == nil || c.used.Before(victim.used)) {
			victim = c
		}
		if victim == nil {
			s.mu.Unlock()
			return false, errNoRoom
		}
		file := s.evict(victim)
		s.mu.Unlock()
		s.spill.remove(file)
		if victim == c {
			return true, nil
		}
	}
}

// diskVictim returns the least recently used capture on disk that nobody reads.
// The caller holds mu.
func (s *Store) diskVictim() *Capture {
	for e := s.disk.Front(); e != nil; e = e.Next() {
		if c := e.Value.(*Capture); c.holds == 0 {
			return c
		}
	}
	return nil
}

// list makes a capture one that can be found. The caller holds mu.
func (s *Store) list(c *Capture) {
	s.captures[key{c.principal, c.Ref}] = c
	s.stats.Captures++
	s.stats.Raw += c.Size
}

// evict gives a capture up and returns the file that is then to be removed, "" if
// it has none. The caller holds mu.
func (s *Store) evict(c *Capture) (file string) {
	switch c.at {
	case inMemory:
		s.memory.Remove(c.place)
		s.stats.Memory -= c.packed
	case onDisk:
		s.disk.Remove(c.place)
		s.stats.Disk -= c.packed
	}
	k := key{c.principal, c.Ref}
	delete(s.captures, k)
	if s.same[c.same] == c {
		delete(s.same, c.same)
	}
	s.past.add(k, pastCapture{tool: c.Tool, evicted: s.o.Now()})
	s.stats.Captures--
	s.stats.Raw -= c.Size
	s.stats.Evicted++
	file = c.file
	c.data, c.file, c.place, c.at = nil, "", nil, nowhere
	return file
}
