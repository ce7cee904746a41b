// Package dataset is the gateway's side of SQL: it owns the datasets of each
// principal and the worker process that has them as tables. It never links the
// engine and never changes a capture.
//
// The worker is a cache. What a dataset is made of stays in a capture or a pinned
// file, and a table that the worker does not have, because it is new, has died or
// had no room, is made again from there when a query names it.
//
// Start at [Store.Add], which makes datasets of a result, and [Store.Query]; then
// table.go for what is loaded when, worker.go for the process, pins.go for what
// outlives it.
package dataset

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"heddle"
	"heddle/internal/capture"
	"heddle/internal/dataset/protocol"
	"heddle/internal/dataset/records"
)

// Options say where the worker is and what it may take. The zero value has none.
type Options struct {
	// Command is the path of heddle-sql; "" offers no SQL.
	Command string
	// Captures keep what queries return.
	Captures *capture.Store
	// Memory is what the engine may use, in bytes; 0 is 512 MB.
	Memory int64
	// Timeout is how long a query may take; 0 is 30 s.
	Timeout time.Duration
	// StateDir is where pinned datasets are kept; "" keeps none.
	StateDir string
	// ExportDir is where exports are written; "" refuses them.
	ExportDir string
	// TempDir is where a worker's private directory is made; "" is the system's.
	TempDir string
	// Now is the clock; nil is time.Now.
	Now    func() time.Time
	Logger *slog.Logger
}

// Store has the datasets of all principals. It is safe for concurrent use.
type Store struct {
	o Options

	mu     sync.Mutex
	owners map[heddle.Principal]*owner
	closed bool
	lacks  string // why there is no SQL, "" if nothing is known to be wrong
	engine *protocol.Hello
}

// New returns a store. It starts nothing: a worker comes with the first dataset.
func New(o Options) *Store {
	if o.Memory == 0 {
		o.Memory = 512 << 20
	}
	if o.Timeout == 0 {
		o.Timeout = 30 * time.Second
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Store{o: o, owners: map[heddle.Principal]*owner{}}
	if o.Command == "" {
		s.lacks = "heddle-sql was found neither beside heddle nor in PATH"
	}
	return s
}

// Check looks whether the worker is of any use at all, such as one that was built
// without the engine, so that no SQL is offered where there is none.
func (s *Store) Check(ctx context.Context) {
	sweep(s.o.TempDir)
	if s.o.Command == "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.o.Command, "-version")
	cmd.Env, cmd.WaitDelay = []string{}, grace
	out, err := cmd.CombinedOutput()
	if err != nil && ctx.Err() == nil {
		s.without(fmt.Errorf("heddle-sql: %w: %s", err, strings.TrimSpace(cut(string(out), maxLine))))
	}
}

// without says that there is no SQL from now on.
func (s *Store) without(why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lacks == "" {
		s.lacks = strings.TrimRight(why.Error(), ". ")
	}
}

// Close ends all workers and removes what they had on disk. Pinned datasets stay.
func (s *Store) Close() {
	s.mu.Lock()
	s.closed = true
	owners := s.owners
	s.owners = map[heddle.Principal]*owner{}
	s.mu.Unlock()
	for _, o := range owners {
		o.close()
	}
}

// Status says how SQL stands, for `heddle status`.
type Status struct {
	// Lacks says why there is no SQL; "" if there is, as far as is known.
	Lacks string `json:"lacks,omitempty"`
	// Engine and Unsealed are known once a worker has started: what it runs, and the
	// parts of its seal that this system does not have.
	Engine   string   `json:"engine,omitempty"`
	Unsealed []string `json:"unsealed,omitempty"`
	// Datasets is how many there are, Workers how many processes run.
	Datasets int `json:"datasets"`
	Workers  int `json:"workers"`
}

// Status returns how SQL stands now.
func (s *Store) Status() Status {
	s.mu.Lock()
	st := Status{Lacks: s.lacks}
	if s.engine != nil {
		st.Engine, st.Unsealed = s.engine.Engine, s.engine.Lacks
	}
	owners := make([]*owner, 0, len(s.owners))
	for _, o := range s.owners {
		owners = append(owners, o)
	}
	s.mu.Unlock()
	for _, o := range owners {
		o.mu.Lock()
		st.Datasets += len(o.sets)
		if o.worker != nil && o.worker.alive() {
			st.Workers++
		}
		o.mu.Unlock()
	}
	return st
}

// Available reports whether SQL is offered.
func (s *Store) Available() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lacks == "" && !s.closed
}

// Dataset is a table that queries can name. Its fields do not change once it can be
// found, but for those of usage, which it keeps to itself.
type Dataset struct {
	// Ref is its name in SQL.
	Ref string
	// Profile is what the worker said of it when it was made.
	Profile protocol.Profile
	// Table is where its records were found; of a query's result, a snapshot.
	Table      records.Table
	Provenance Provenance
	Created    time.Time
	// Capture is the ref of the capture that has it; "" of a pinned one.
	Capture string
	// Pinned says that it is kept in the state directory, Implicit that a query made
	// it without being asked to.
	Pinned, Implicit bool

	source source
	types  []string // of a snapshot

	// Guarded by the owner's mu.
	in    *worker // the worker that has it as a table
	used  time.Time
	users int

	loading sync.Mutex // one load at a time
}

// source finds a dataset's records again: the table with its data. It fails with a
// [heddle.Error] of kind result_expired if they are gone.
type source func() (records.Table, error)

// Input is what Add makes datasets of.
type Input struct {
	// Name is the first table's; the others get it with the end of their path.
	Name   string
	Tables []records.Table
	// Again finds the tables once more, in the same order.
	Again func() ([]records.Table, error)
	// Capture is the ref of the capture that they are in.
	Capture    string
	Provenance Provenance
	// Sample is how many rows a profile shows.
	Sample int
}

// Add makes datasets of the tables of a result, all or none.
func (s *Store) Add(ctx context.Context, p heddle.Principal, n Input) ([]*Dataset, error) {
	o, err := s.owner(p)
	if err != nil {
		return nil, err
	}
	var made []*Dataset
	for i, t := range n.Tables {
		name := n.Name
		if i > 0 {
			name += "_" + lastKey(t.Path)
		}
		d := &Dataset{Ref: o.free(name), Table: t, Provenance: n.Provenance, Created: s.o.Now(), Capture: n.Capture}
		d.Provenance.Source = t.Source
		d.source = nth(i, n.Again)
		d.Table.Data = nil // the source has it
		if err := o.create(ctx, d, t, n.Sample); err != nil {
			o.remove(ctx, made)
			return nil, err
		}
		made = append(made, d)
	}
	return made, nil
}

// nth is the source of the i-th of several tables. It holds no data.
func nth(i int, again func() ([]records.Table, error)) source {
	return func() (records.Table, error) {
		tables, err := again()
		if err == nil && i >= len(tables) {
			err = fmt.Errorf("table %d of %d", i+1, len(tables))
		}
		if err != nil {
			return records.Table{}, err
		}
		return tables[i], nil
	}
}

// lastKey is the last key of a path, as a part of a name.
func lastKey(path string) string {
	key := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '_'
	}, path[strings.LastIndexByte(path, '.')+1:])
	return cmp.Or(strings.Trim(key, "_"), "part")
}

// free returns name, or with the first number that no dataset has with it: a pinned one
// may have any.
func (o *owner) free(name string) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	ref := name
	for n := 2; o.sets[ref] != nil; n++ {
		ref = fmt.Sprintf("%s_%d", name, n)
	}
	return ref
}

// List returns the principal's datasets, oldest first, pinned ones of earlier runs
// included.
func (s *Store) List(ctx context.Context, p heddle.Principal) []*Dataset {
	o, err := s.owner(p)
	if err != nil {
		return nil
	}
	o.reopen(ctx)
	return o.list()
}

// Get returns a dataset by its name. The error lists the names that there are.
func (s *Store) Get(ctx context.Context, p heddle.Principal, ref string) (*Dataset, error) {
	o, err := s.owner(p)
	if err != nil {
		return nil, err
	}
	o.reopen(ctx)
	if used, _ := o.pick([]string{ref}); used != nil {
		o.leave(used)
		return used[0], nil
	}
	return nil, o.unknown(ref)
}

// Describe returns the profile of a dataset with so many rows and fresh hints.
func (s *Store) Describe(ctx context.Context, p heddle.Principal, ref string, sample int) (*Dataset, protocol.Profile, error) {
	d, err := s.Get(ctx, p, ref)
	if err != nil {
		return nil, protocol.Profile{}, err
	}
	o, err := s.owner(p)
	if err != nil {
		return nil, protocol.Profile{}, err
	}
	reply, _, _, err := o.with(ctx, []string{d.Ref}, protocol.Request{Describe: &protocol.Describe{Name: d.Ref, Sample: sample}})
	if err != nil {
		return nil, protocol.Profile{}, err
	}
	return d, *reply.Profile, nil
}

// owner returns what a principal has.
func (s *Store) owner(p heddle.Principal) (*owner, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, &heddle.Error{Kind: heddle.KindUnavailable, Op: "dataset", Public: "heddle is shutting down."}
	case s.lacks != "":
		return nil, &heddle.Error{
			Kind: heddle.KindUnavailable, Op: "dataset",
			Public: "There is no SQL here: " + s.lacks + ". read_result pages and searches without it.",
		}
	}
	o := s.owners[p]
	if o == nil {
		o = &owner{store: s, principal: p, sets: map[string]*Dataset{}}
		s.owners[p] = o
	}
	return o, nil
}

// unknown is the error about a name that no dataset has.
func (o *owner) unknown(refs ...string) error {
	e := &heddle.Error{Kind: heddle.KindInvalidQuery, Op: "dataset"}
	known := o.list()
	if len(known) == 0 {
		e.Public = fmt.Sprintf("There is no dataset %s, and no other: a tabular result over the threshold makes one.", strings.Join(refs, ", "))
		return e
	}
	slices.Reverse(known) // newest first
	const most = 20
	var names []string
	for _, d := range known[:min(most, len(known))] {
		names = append(names, d.Ref)
	}
	e.Public = fmt.Sprintf("There is no dataset %s. There are: %s", strings.Join(refs, ", "), strings.Join(names, ", "))
	if len(known) > most {
		e.Public += fmt.Sprintf(" and %d more", len(known)-most)
	}
	e.Public += "."
	return e
}
