package dataset

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"heddle"
	"heddle/internal/dataset/protocol"
	"heddle/internal/dataset/records"
)

// owner is what one principal has: datasets, and the worker that has some of them
// as tables. Nobody else's query ends it.
type owner struct {
	store     *Store
	principal heddle.Principal

	mu     sync.Mutex
	sets   map[string]*Dataset
	worker *worker
	busy   int // requests in flight
	idle   *time.Timer
	gone   bool
	broken map[string]bool // pinned files that cannot be read

	starting sync.Mutex // one start at a time
	listings sync.Mutex // one table of the datasets at a time
}

const (
	// idleStop is how long a worker may do nothing before it is ended; what it had is
	// made again when a query names it.
	idleStop = 15 * time.Minute
	// maxTries is how often a request is sent: another one's death is not its own.
	maxTries = 3
)

// share returns how many bytes of the engine's memory tables may take: queries need
// the rest.
func (s *Store) share() int64 { return s.o.Memory / 2 }

// close ends the worker.
func (o *owner) close() {
	o.mu.Lock()
	o.gone = true
	w := o.worker
	if o.idle != nil {
		o.idle.Stop()
	}
	o.mu.Unlock()
	if w != nil {
		w.stop()
	}
}

// list returns the datasets, oldest first.
func (o *owner) list() []*Dataset {
	o.mu.Lock()
	defer o.mu.Unlock()
	all := make([]*Dataset, 0, len(o.sets))
	for _, d := range o.sets {
		all = append(all, d)
	}
	slices.SortFunc(all, func(a, b *Dataset) int {
		if c := a.Created.Compare(b.Created); c != 0 {
			return c
		}
		return strings.Compare(a.Ref, b.Ref)
	})
	return all
}

// acquire returns a worker that runs, a new one if there is none, and keeps it from
// being ended as idle until release is called.
func (o *owner) acquire(ctx context.Context) (w *worker, release func(), err error) {
	o.mu.Lock()
	o.busy++
	o.mu.Unlock()
	release = func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.busy--
		if o.idle == nil {
			o.idle = time.AfterFunc(idleStop, o.rest)
		}
		o.idle.Reset(idleStop)
	}
	o.starting.Lock()
	defer o.starting.Unlock()
	o.mu.Lock()
	w, gone := o.worker, o.gone
	o.mu.Unlock()
	switch {
	case gone:
		release()
		return nil, nil, &heddle.Error{Kind: heddle.KindUnavailable, Op: "dataset", Public: "heddle is shutting down."}
	case w != nil && w.alive():
		return w, release, nil
	}
	if w, err = start(ctx, &o.store.o); err != nil {
		release()
		return nil, nil, o.store.noWorker(ctx, err)
	}
	o.mu.Lock()
	o.worker, gone = w, o.gone
	o.mu.Unlock()
	if gone { // meanwhile
		w.stop()
	}
	o.store.mu.Lock()
	o.store.engine = &w.hello
	o.store.mu.Unlock()
	return w, release, nil
}

// noWorker says why none could be started. One that refuses to offer SQL will not
// offer it the next time either.
func (s *Store) noWorker(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return &heddle.Error{Kind: heddle.KindCancelled, Op: "dataset.start", Public: "The call was cancelled.", Err: err}
	}
	s.o.Logger.Warn("no SQL: the worker does not start", "err", err)
	if errors.Is(err, errRefuses) {
		s.without(err)
	}
	return &heddle.Error{
		Kind: heddle.KindUnavailable, Op: "dataset.start",
		Public: "The SQL worker does not start; heddle's log says why. read_result pages and searches without it.", Err: err,
	}
}

// rest ends the worker if nothing uses it.
func (o *owner) rest() {
	o.mu.Lock()
	w := o.worker
	if o.busy > 0 || w == nil {
		o.mu.Unlock()
		return
	}
	o.worker = nil
	o.mu.Unlock()
	w.stop()
}

// create makes a table of records that are here, and a dataset of it.
func (o *owner) create(ctx context.Context, d *Dataset, t records.Table, sample int) error {
	profile, err := o.load(ctx, d, &t, sample)
	if err != nil {
		return err
	}
	d.Profile = *profile
	o.mu.Lock()
	o.sets[d.Ref] = d
	o.mu.Unlock()
	o.makeRoom(ctx, d.Ref)
	return nil
}

// load has a worker make the table of a dataset. t is where its records are, nil to
// find them again; the profile is nil if it was described before.
func (o *owner) load(ctx context.Context, d *Dataset, t *records.Table, sample int) (*protocol.Profile, error) {
	d.loading.Lock()
	defer d.loading.Unlock()
	quiet := t == nil
	for try := 1; ; try++ {
		w, release, err := o.acquire(ctx)
		if err != nil {
			return nil, err
		}
		if o.has(d, w) { // somebody else has loaded it
			release()
			return nil, nil
		}
		if t == nil {
			again, err := d.source()
			if err != nil {
				release()
				return nil, err
			}
			t = &again
		}
		reply, _, err := w.do(ctx, protocol.Request{Load: &protocol.Load{
			Name: d.Ref, Table: *t, Types: d.types, Sample: sample, Quiet: quiet,
		}}, t.Data, o.store.o.Timeout)
		release()
		switch {
		case errors.Is(err, errDied) && try < maxTries:
			continue
		case err != nil:
			return nil, o.failure(ctx, err)
		case try == 1 && (reply.Kind == protocol.Memory || reply.Kind == protocol.Broken):
			w.stop() // its memory is in pieces, or full of others: a new one has all of it
			continue
		case reply.Kind != "":
			return nil, o.refusal(reply)
		}
		o.mu.Lock()
		d.in, d.used = w, o.store.o.Now()
		o.mu.Unlock()
		return reply.Profile, nil
	}
}

// has reports whether a worker has the dataset as a table.
func (o *owner) has(d *Dataset, w *worker) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return d.in == w
}

// with sends a request that needs tables, which are loaded first and kept while it
// runs. Tables that only the worker's gate finds in a query are loaded when it
// misses them. by is the worker that has answered: what it kept, no other has.
func (o *owner) with(ctx context.Context, refs []string, r protocol.Request) (reply protocol.Reply, payload []byte, by *worker, err error) {
	for try := 1; ; try++ {
		reply, payload, by, err = o.once(ctx, refs, r)
		switch {
		case errors.Is(err, errDied) && try < maxTries:
			continue
		case err != nil:
			return reply, nil, by, o.failure(ctx, err)
		case reply.Kind == protocol.Missing && try < maxTries:
			if slices.Contains(reply.Names, everything) {
				refs = nil
				for _, d := range o.list() {
					refs = append(refs, d.Ref)
				}
				r.Query.All = true
			} else {
				refs = append(refs, reply.Names...)
			}
			slices.Sort(refs)
			refs = slices.Compact(refs)
			continue
		case reply.Kind != "":
			return reply, nil, by, o.refusal(reply)
		}
		return reply, payload, by, nil
	}
}

// everything is the name by which a query misses all tables: it asks what there
// are.
const everything = "*"

// once loads tables and sends a request, both to the same worker.
func (o *owner) once(ctx context.Context, refs []string, r protocol.Request) (reply protocol.Reply, payload []byte, w *worker, err error) {
	release, err := o.use(refs)
	if err != nil {
		return reply, nil, nil, err
	}
	defer release()
	w, done, err := o.acquire(ctx)
	if err != nil {
		return reply, nil, nil, err
	}
	defer done()
	for _, ref := range refs {
		o.mu.Lock()
		d := o.find(ref)
		o.mu.Unlock()
		if d == nil || o.has(d, w) {
			continue
		}
		if _, err := o.load(ctx, d, nil, 0); err != nil {
			if r.Query != nil && r.Query.All {
				continue // what is gone is not among what there is
			}
			return reply, nil, w, err
		}
	}
	o.makeRoom(ctx, refs...)
	reply, payload, err = w.do(ctx, r, nil, o.store.o.Timeout)
	return reply, payload, w, err
}

// use keeps datasets from being unloaded until release is called.
func (o *owner) use(refs []string) (release func(), err error) {
	used, missing := o.pick(refs)
	if len(missing) > 0 {
		return nil, o.unknown(missing...)
	}
	return func() { o.leave(used) }, nil
}

// leave ends the use of datasets.
func (o *owner) leave(used []*Dataset) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, d := range used {
		d.users--
	}
}

// find returns the dataset of a name as SQL reads it, in any case; nil if there is
// none. The caller holds mu.
func (o *owner) find(name string) *Dataset {
	if d := o.sets[name]; d != nil {
		return d
	}
	return o.sets[strings.ToLower(name)] // all names are in lower case
}

// pick returns datasets, used from now on, unless some are missing.
func (o *owner) pick(refs []string) (used []*Dataset, missing []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, ref := range refs {
		if d := o.find(ref); d != nil {
			used = append(used, d)
		} else {
			missing = append(missing, ref)
		}
	}
	if len(missing) > 0 {
		return nil, missing
	}
	now := o.store.o.Now()
	for _, d := range used {
		d.users++
		d.used = now
	}
	return used, nil
}

// makeRoom unloads tables until the rest fits: what queries made unasked first, then
// what was not used for longest; never one in use, nor the ones named. They are
// loaded again when a query names them.
func (o *owner) makeRoom(ctx context.Context, keep ...string) {
	o.mu.Lock()
	w := o.worker
	var loaded []*Dataset
	var total int64
	for _, d := range o.sets {
		if d.in == w && w != nil {
			loaded = append(loaded, d)
			total += d.Profile.Bytes
		}
	}
	slices.SortFunc(loaded, func(a, b *Dataset) int {
		if a.Implicit != b.Implicit {
			if a.Implicit {
				return -1
			}
			return 1
		}
		return a.used.Compare(b.used)
	})
	var drop []string
	for _, d := range loaded {
		if total <= o.store.share() {
			break
		}
		if d.users == 0 && !slices.Contains(keep, d.Ref) {
			d.in = nil
			total -= d.Profile.Bytes
			drop = append(drop, d.Ref)
		}
	}
	o.mu.Unlock()
	o.drop(ctx, w, drop)
}

// remove forgets datasets and unloads them.
func (o *owner) remove(ctx context.Context, gone []*Dataset) {
	var loaded []string
	o.mu.Lock()
	w := o.worker
	for _, d := range gone {
		delete(o.sets, d.Ref)
		if w != nil && d.in == w {
			loaded = append(loaded, d.Ref)
		}
	}
	o.mu.Unlock()
	o.drop(ctx, w, loaded)
}

// drop has a worker drop tables. One that is dead has dropped all.
func (o *owner) drop(ctx context.Context, w *worker, tables []string) {
	if len(tables) > 0 {
		_, _, _ = w.do(context.WithoutCancel(ctx), protocol.Request{Drop: tables}, nil, o.store.o.Timeout)
	}
}

// Forget removes the datasets of a capture that is given up.
func (s *Store) Forget(ctx context.Context, p heddle.Principal, ref string) {
	o, err := s.owner(p)
	if err != nil {
		return
	}
	var gone []*Dataset
	for _, d := range o.list() {
		if d.Capture == ref {
			gone = append(gone, d)
		}
	}
	o.remove(ctx, gone)
}

// failure is the error for what went wrong on this side of the worker.
func (o *owner) failure(ctx context.Context, err error) error {
	var own *heddle.Error
	switch {
	case errors.As(err, &own):
		return err
	case ctx.Err() != nil:
		return &heddle.Error{Kind: heddle.KindCancelled, Op: "dataset", Public: "The call was cancelled.", Err: err}
	case errors.Is(err, errDied):
		return &heddle.Error{
			Kind: heddle.KindUnavailable, Op: "dataset", Err: err,
			Public: "The SQL worker ended on this, most likely for want of memory. The datasets are still there; ask for less at a time: fewer rows, a LIMIT, no long lists or strings.",
		}
	}
	return &heddle.Error{Kind: heddle.KindInternal, Op: "dataset", Public: "heddle failed on this. Its log says why.", Err: err}
}

// refusal is the error for what the worker answered.
func (o *owner) refusal(r protocol.Reply) error {
	e := &heddle.Error{Kind: heddle.KindInvalidQuery, Op: "dataset.query", Public: r.Error, Err: errors.New(string(r.Kind))}
	switch r.Kind {
	case protocol.Timeout:
		e.Kind = heddle.KindTimeout
		e.Public = fmt.Sprintf("The query took longer than %v and was stopped. Filter or aggregate earlier, or raise results.query_timeout.", o.store.o.Timeout)
		if r.Error == protocol.Queued {
			e.Public = fmt.Sprintf("The query waited %v for other queries and did not run. Ask again once they have ended.", o.store.o.Timeout)
		}
	case protocol.Cancelled:
		e.Kind, e.Public = heddle.KindCancelled, "The query was cancelled."
	case protocol.TooLarge, protocol.Memory:
		e.Kind = heddle.KindResultTooLarge
	case protocol.Missing:
		return o.unknown(r.Names...)
	case protocol.Broken:
		e.Kind, e.Public = heddle.KindUnavailable, "The SQL engine failed and was started anew. The datasets are still there; try another form of the query."
	}
	return e
}
