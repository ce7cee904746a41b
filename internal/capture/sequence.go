package capture

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"time"

	"heddle"
	"heddle/internal/filelock"
)

const (
	stateFile = "captures.json"
	stateLock = "captures.lock"
	// lockWait is how long a capture waits for others that take a number: they need
	// far less than a millisecond.
	lockWait = 500 * time.Millisecond
	// stateRetry is how long after a failure the file is left alone.
	stateRetry = 30 * time.Second
	// namesMost bounds the file.
	namesMost = 4096
)

// sequence gives each name its next number. Numbers are in a file that all
// processes share; where that fails they come from memory and begin so high, and
// at such a place, that nobody else gives the same ones.
type sequence struct {
	dir string // "" is memory alone
	now func() time.Time
	log *slog.Logger

	mu     sync.Mutex
	before *state // what others had given when this process first looked
	memory map[string]int64
	base   int64 // where the numbers in memory begin
	retry  time.Time
	told   bool
}

// state is the content of the file.
type state struct {
	// Floor is where the numbers of a name begin that is not in Names.
	Floor int64 `json:"floor,omitempty"`
	// Names has what was given last.
	Names map[string]given `json:"names"`
}

type given struct {
	N int64 `json:"n"`
	// Tool is whose results have the numbers, By whose they were; both are nil if
	// there were several of one.
	Tool *heddle.ToolRef   `json:"tool,omitempty"`
	By   *heddle.Principal `json:"by,omitempty"`
}

// next returns a ref that was never given before.
func (q *sequence) next(name string, tool heddle.ToolRef, p heddle.Principal) string {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.dir != "" && !q.now().Before(q.retry) {
		n, err := q.fromFile(name, tool, p)
		if err == nil {
			return ref(name, n)
		}
		q.retry = q.now().Add(stateRetry)
		if !q.told {
			q.told = true
			q.log.Warn("sequence numbers of captures cannot be kept across restarts", "err", err)
		}
	}
	if q.memory == nil {
		q.memory = map[string]int64{}
		if q.dir != "" {
			q.base = farAway()
		}
	}
	if q.memory[name] == 0 {
		q.memory[name] = q.base
	}
	q.memory[name]++
	return ref(name, q.memory[name])
}

// farAway is a start that two processes do not share and that counting from 1
// does not reach.
func farAway() int64 { return 1_000_000 * (1 + rand.Int64N(1_000_000)) }

// fromFile takes a number from the file, under its lock. The caller holds mu.
func (q *sequence) fromFile(name string, tool heddle.ToolRef, p heddle.Principal) (int64, error) {
	if err := os.MkdirAll(q.dir, 0o700); err != nil {
		return 0, err
	}
	lock, err := filelock.Within(filepath.Join(q.dir, stateLock), lockWait)
	if err != nil {
		return 0, fmt.Errorf("lock %s: %w", stateFile, err)
	}
	defer lock.Unlock()
	st, err := q.load()
	if err != nil {
		return 0, err
	}
	n := st.take(name, tool, p)
	return n, q.save(st)
}

// take notes the next number of a name.
func (st *state) take(name string, tool heddle.ToolRef, p heddle.Principal) int64 {
	g, known := st.Names[name]
	switch {
	case !known:
		g = given{N: st.Floor, Tool: &tool, By: &p}
	case g.Tool == nil || *g.Tool != tool || *g.By != p:
		g.Tool, g.By = nil, nil
	}
	g.N++
	for len(st.Names) >= namesMost && !known {
		for other, o := range st.Names { // any: its numbers go on above the floor
			st.Floor = max(st.Floor, o.N)
			delete(st.Names, other)
			break
		}
		g.N = st.Floor + 1
	}
	st.Names[name] = g
	return g.N
}

// load reads the file; none is an empty one. One that is no JSON was cut short by
// a crash: what it had is not known, so counting begins far away. The caller holds
// the lock, and mu.
func (q *sequence) load() (*state, error) {
	b, err := os.ReadFile(filepath.Join(q.dir, stateFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	st := &state{}
	if err == nil && !st.parse(b) {
		q.log.Warn("the sequence numbers of captures were damaged; they go on from a new start", "file", stateFile)
		*st = state{Floor: farAway()}
	}
	if st.Names == nil {
		st.Names = map[string]given{}
	}
	if q.before == nil {
		q.before = &state{Floor: st.Floor, Names: map[string]given{}}
		for name, g := range st.Names {
			q.before.Names[name] = g
		}
	}
	return st, nil
}

// parse reports whether b is a whole state.
func (st *state) parse(b []byte) bool {
	if json.Unmarshal(b, st) != nil || st.Floor < 0 {
		return false
	}
	for name, g := range st.Names {
		if g.N < 0 {
			return false
		}
		if g.Tool == nil || g.By == nil {
			g.Tool, g.By = nil, nil
			st.Names[name] = g
		}
	}
	return true
}

// save replaces the file. The caller holds the lock.
func (q *sequence) save(st *state) error {
	b, err := json.Marshal(st)
	if err != nil {
		return err
	}
	path := filepath.Join(q.dir, stateFile)
	tmp := path + ".new"
	if err := os.WriteFile(tmp, b, 0o600); err != nil {
		_ = os.Remove(tmp)
		return err
	}
	return os.Rename(tmp, path)
}

// elsewhere reports whether a number was given and is not one that this process
// remembers, perhaps to p, and to which tool if that is known.
func (q *sequence) elsewhere(name string, number int64, p heddle.Principal) (heddle.ToolRef, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.dir == "" || name == "" {
		return heddle.ToolRef{}, false
	}
	if q.before == nil {
		q.before = q.look()
	}
	if tool, ok := q.before.gave(name, number, p); ok {
		return tool, true
	}
	// Others may have gone on since. A number of theirs and one of ours look the same
	// where a name is of several principals, and ours are not to be told of.
	now := q.look()
	if now == nil || now.Names[name].By == nil {
		return heddle.ToolRef{}, false
	}
	return now.gave(name, number, p)
}

// gave reports whether a number was given, perhaps to p, and to which tool if that
// is known. A nil state gave nothing.
func (st *state) gave(name string, number int64, p heddle.Principal) (heddle.ToolRef, bool) {
	if st == nil {
		return heddle.ToolRef{}, false
	}
	g, ok := st.Names[name]
	switch {
	case !ok || number > g.N || g.By != nil && *g.By != p:
		return heddle.ToolRef{}, false
	case g.Tool == nil:
		return heddle.ToolRef{}, true
	}
	return *g.Tool, true
}

// look reads what has been given, nil if that cannot be read. The file is replaced
// as a whole; the lock is for Windows, which does not replace what is open. The
// caller holds mu.
func (q *sequence) look() *state {
	if lock, err := filelock.Within(filepath.Join(q.dir, stateLock), lockWait); err == nil {
		defer lock.Unlock()
	}
	b, err := os.ReadFile(filepath.Join(q.dir, stateFile))
	st := &state{}
	if err != nil || !st.parse(b) {
		return nil
	}
	return st
}
