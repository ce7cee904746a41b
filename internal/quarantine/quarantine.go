// Package quarantine keeps results that a guard withheld, on disk, until their user
// looks at them, releases or deletes them, or they are old. It keeps the exact bytes. It
// never decides whether a result is withheld, never shows one, and has no goroutines.
//
// Other processes are `heddle quarantine list|show|release` and other heddles, so all
// state is in files below one directory that is the user's alone: for each result its
// bytes and a small file that tells of it. One lock guards the directory, for as long as
// it takes to look through it or to write one result.
//
// What is kept is bounded in number, size and age: the oldest go first.
//
// Start at [Store.Put] and [Store.GetFor]; then dir.go for the files.
package quarantine

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"heddle"
	"heddle/internal/filelock"
)

// Item tells of a withheld result.
type Item struct {
	// ID is its name, "q_" and twelve letters and digits. None is given twice.
	ID        string           `json:"id"`
	Time      time.Time        `json:"time"`
	Principal heddle.Principal `json:"principal"`
	Session   string           `json:"session"`
	Server    string           `json:"server"`
	Tool      string           `json:"tool"` // as its server names it
	// Findings are why it was withheld, at most 100.
	Findings []Finding `json:"findings"`
	// Bytes is the size of the result, SHA256 its digest in hex.
	Bytes  int    `json:"bytes"`
	SHA256 string `json:"sha256"`
	// Released is when the user let it pass; nil is never.
	Released *time.Time `json:"released,omitempty"`
}

// Finding is one thing that a guard found. It never carries the text.
type Finding struct {
	Rule string `json:"rule"`
	// Pointer is a JSON pointer to the text; Start and End are bytes within it.
	Pointer string `json:"pointer"`
	Start   int    `json:"start"`
	End     int    `json:"end"`
}

// Options bound a [Store]. The zero value has the defaults.
type Options struct {
	Items int           // how many results are kept; 0 is 200
	Bytes int64         // of all together, on disk; 0 is 256 MB
	Age   time.Duration // how long; 0 is seven days
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// Store is the quarantine in a directory. It is safe for concurrent use, also by
// several processes.
type Store struct {
	dir string
	o   Options
}

// Errors of a store. Those that a host may see come as a [heddle.Error] whose cause they
// are.
var (
	// ErrNotFound: there is no such result, or it is somebody else's.
	ErrNotFound = errors.New("no such result in quarantine")
	// ErrHeld: the result was not released.
	ErrHeld = errors.New("the result is withheld")
	// ErrTooLarge: a result is larger than all may be together. It is not kept.
	ErrTooLarge = errors.New("the result is too large for the quarantine")
	// ErrDamaged: a result's files are not what was written.
	ErrDamaged = errors.New("the result's files are damaged")
)

const (
	maxFindings = 100
	maxText     = 512 // of each text of an item, in bytes
	// lockWait is how long others may hold the directory. They need a fraction of a
	// second, unless they write something large.
	lockWait = 3 * time.Second
)

// Open returns the store of a directory, which is made with the first result and must
// be for this alone.
func Open(dir string, o Options) *Store {
	if o.Items <= 0 {
		o.Items = 200
	}
	if o.Bytes <= 0 {
		o.Bytes = 256e6
	}
	if o.Age <= 0 {
		o.Age = 7 * 24 * time.Hour
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Store{dir: dir, o: o}
}

// Put keeps a result and returns its ID. ID, Bytes, SHA256 and Released of the item are
// the store's to set, as is Time if it is zero. The oldest results go if there is no
// room. An error says that the result is not kept; it is to be withheld all the same.
func (s *Store) Put(it Item, raw []byte) (string, error) {
	if len(it.Principal) > maxText {
		return "", errors.New("quarantine: the principal's name is too long") // cut, it could be another's
	}
	sum := sha256.Sum256(raw)
	it.ID, it.Bytes, it.SHA256, it.Released = newID(), len(raw), hex.EncodeToString(sum[:]), nil
	if it.Time.IsZero() {
		it.Time = s.o.Now()
	}
	it.Time = it.Time.UTC()
	it.limit()
	meta, err := it.encode()
	if err != nil {
		return "", fmt.Errorf("quarantine: %w", err)
	}
	size := int64(len(meta) + len(raw))
	if size > s.o.Bytes {
		return "", ErrTooLarge
	}
	unlock, err := s.lock(true)
	if err != nil {
		return "", fmt.Errorf("quarantine: %w", err)
	}
	defer unlock()
	err = s.sweep(func(items int, bytes int64) bool { return items < s.o.Items && bytes+size <= s.o.Bytes })
	if err == nil {
		err = s.write(it.ID, meta, raw)
	}
	if err != nil {
		return "", fmt.Errorf("quarantine: %w", err)
	}
	return it.ID, nil
}

// newID returns an ID of 60 random bits.
func newID() string {
	b := make([]byte, 8)
	_, _ = rand.Read(b) // never fails
	return idPrefix + strings.ToLower(base32.StdEncoding.EncodeToString(b))[:idLetters]
}

// limit bounds the file that tells of the item: names come from servers.
func (it *Item) limit() {
	it.Session, it.Server, it.Tool = cut(it.Session), cut(it.Server), cut(it.Tool)
	it.Findings = slices.Clone(it.Findings[:min(maxFindings, len(it.Findings))])
	for i := range it.Findings {
		f := &it.Findings[i]
		f.Rule, f.Pointer = cut(f.Rule), cut(f.Pointer)
	}
}

func cut(s string) string {
	if len(s) <= maxText {
		return s
	}
	n := maxText
	for n > maxText-utf8.UTFMax && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// Broken is a result of which only its files are known.
type Broken struct {
	// File is the name of the file that cannot be read, below the directory.
	File string
	Err  error
}

// List returns all results, newest first, and what is there but cannot be read. It
// removes what is too old.
func (s *Store) List() ([]Item, []Broken, error) {
	unlock, err := s.lock(false)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("quarantine: %w", err)
	}
	defer unlock()
	if err := s.sweep(func(int, int64) bool { return true }); err != nil {
		return nil, nil, fmt.Errorf("quarantine: %w", err)
	}
	kept, err := s.scan()
	if err != nil {
		return nil, nil, fmt.Errorf("quarantine: %w", err)
	}
	var items []Item
	var broken []Broken
	for _, k := range slices.Backward(kept) {
		if k.err != nil {
			broken = append(broken, Broken{filepath.Base(s.metaPath(k.id)), k.err})
		} else {
			items = append(items, k.item)
		}
	}
	return items, broken, nil
}

// Get returns a result, released or not, for the user who looks at it. The error wraps
// [ErrNotFound] or [ErrDamaged]; with the latter the item is returned if it could be
// read.
func (s *Store) Get(id string) (Item, []byte, error) {
	it, f, err := s.find(id, nil)
	if err != nil {
		return it, nil, err
	}
	return readAll(it, f)
}

// GetFor returns a result to the principal whose call it was, once it is released. The
// error is a [heddle.Error] and wraps [ErrHeld] or [ErrNotFound]. It tells nothing of
// others' results.
func (s *Store) GetFor(p heddle.Principal, id string) (Item, []byte, error) {
	it, f, err := s.find(id, func(it *Item) error {
		switch {
		case it.Principal != p:
			return ErrNotFound
		case it.Released == nil:
			return ErrHeld
		}
		return nil
	})
	var raw []byte
	if err == nil {
		it, raw, err = readAll(it, f)
	}
	if err == nil {
		return it, raw, nil
	}
	e := &heddle.Error{Kind: heddle.KindResultExpired, Op: "quarantine.get", Err: err}
	switch {
	case errors.Is(err, ErrHeld):
		e.Kind = heddle.KindDenied
		e.Public = id + " is withheld. Its user can look at it with `heddle quarantine show " + id + "` and let it pass with `heddle quarantine release " + id + "`."
	case errors.Is(err, ErrNotFound):
		e.Public = "No result in quarantine has this name, or it was removed."
	default:
		e.Kind, e.Public = heddle.KindInternal, "The result in quarantine cannot be read. heddle's log says why."
	}
	return Item{}, nil, e
}

// find opens the bytes of a result if may lets it. An open file is not disturbed when
// the result is removed, so the lock is not held while it is read.
func (s *Store) find(id string, may func(*Item) error) (it Item, raw io.ReadCloser, err error) {
	unlock, err := s.lockFor(id)
	if err != nil {
		return it, nil, err
	}
	defer unlock()
	if it, err = s.readMeta(id); err != nil {
		return it, nil, err
	}
	if s.tooOld(it.Time) {
		return Item{}, nil, ErrNotFound
	}
	if may != nil {
		if err := may(&it); err != nil {
			return Item{}, nil, err
		}
	}
	f, err := s.openRaw(id)
	return it, f, err
}

// readAll reads and closes the bytes of a result, and wants those that were written.
func readAll(it Item, f io.ReadCloser) (Item, []byte, error) {
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, int64(it.Bytes)+1))
	if err != nil {
		return it, nil, fmt.Errorf("quarantine: %w", err)
	}
	if sum := sha256.Sum256(raw); hex.EncodeToString(sum[:]) != it.SHA256 {
		return it, nil, ErrDamaged
	}
	return it, raw, nil
}

// Release lets a result pass to its principal. It may be released twice; the first time
// counts. The error wraps [ErrNotFound] or [ErrDamaged].
func (s *Store) Release(id string) error {
	unlock, err := s.lockFor(id)
	if err != nil {
		return err
	}
	defer unlock()
	it, err := s.readMeta(id)
	if err != nil {
		return err
	}
	switch {
	case s.tooOld(it.Time):
		return ErrNotFound
	case it.Released != nil:
		return nil
	}
	now := s.o.Now().UTC()
	it.Released = &now
	meta, err := it.encode()
	if err == nil {
		err = replace(s.metaPath(id), meta)
	}
	if err != nil {
		return fmt.Errorf("quarantine: %w", err)
	}
	return nil
}

// Delete removes a result, also a damaged one. The error wraps [ErrNotFound].
func (s *Store) Delete(id string) error {
	unlock, err := s.lockFor(id)
	if err != nil {
		return err
	}
	defer unlock()
	return s.remove(id)
}

// lockFor locks the directory for what concerns one result.
func (s *Store) lockFor(id string) (unlock func(), err error) {
	if !validID(id) {
		return nil, ErrNotFound
	}
	unlock, err = s.lock(false)
	if errors.Is(err, os.ErrNotExist) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("quarantine: %w", err)
	}
	return unlock, nil
}

// lock keeps others out of the directory, which it makes if told so.
func (s *Store) lock(create bool) (unlock func(), err error) {
	if create {
		if err := makePrivate(s.dir); err != nil {
			return nil, err
		}
	}
	l, err := filelock.Within(filepath.Join(s.dir, lockName), lockWait)
	if err != nil {
		return nil, err
	}
	return l.Unlock, nil
}
