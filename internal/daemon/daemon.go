package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"heddle"
	"heddle/internal/audit"
	"heddle/internal/capture"
	"heddle/internal/catalog"
	"heddle/internal/config"
	"heddle/internal/dataset"
	"heddle/internal/deliver"
	"heddle/internal/deliver/estimate"
	"heddle/internal/gateway"
	"heddle/internal/ledger"
	"heddle/internal/policy"
	"heddle/internal/policy/ssrf"
	"heddle/internal/surface"
	"heddle/internal/upstream"
)

// Options say what to run.
type Options struct {
	Config *config.Config
	// Load reads the configuration again after it changed; nil never reloads.
	Load   func() (*config.Config, error)
	Logger *slog.Logger
	// Watchdog is the command that runs [upstream.Watchdog]; nil for none.
	Watchdog []string
	// LedgerPath is the ledger's file; "" keeps none.
	LedgerPath string
	// StateDir is where `heddle status` looks; "" writes no state.
	StateDir string
	// CacheDir is where servers' catalogs are kept between runs; "" keeps none.
	CacheDir string
	Mode     string
	// Hosts says that hosts will be served. Servers then wait a moment to be told
	// what theirs can.
	Hosts bool
	// Eager starts every server at once, whatever is known of it.
	Eager bool
	// TempDir is where results go that have no room in memory; "" is the system's.
	TempDir string
	// SQL is the path of heddle-sql; "" makes no datasets.
	SQL string
	// Stderr takes the audit's lines, if the configuration wants them there.
	Stderr io.Writer
	// Environ returns the variables that children may be given.
	Environ func() []string
	// InProcess adds servers without a process.
	InProcess []upstream.Config
}

// Daemon is a running configuration.
type Daemon struct {
	o         Options
	spawner   *upstream.Spawner
	ledger    *ledger.Ledger
	results   *capture.Store
	sets      *dataset.Store
	audit     *audit.Log
	withheld  gateway.Quarantine
	resolver  ssrf.Resolver
	confirmed *gateway.Confirmations
	starts    chan struct{}
	started   time.Time
	nudge     chan struct{} // a server changed
	huge      chan struct{} // a result was

	current atomic.Pointer[generation]
	front   atomic.Pointer[front]
	opened  chan struct{} // closed with the first front
	opening sync.Once
	url     atomic.Pointer[string] // that hosts find heddle at

	servers sync.WaitGroup // of all generations
	reloads sync.Mutex     // one apply at a time
	updates sync.Mutex     // one reading of the servers at a time
	mask    atomic.Pointer[func(string) string]
	schemas atomic.Pointer[[]catalog.Warning]
}

// front is a way in for hosts.
type front interface {
	// Changed says that the tools may have changed, Heard what a server said; they
	// do not block.
	Changed()
	Heard(ctx context.Context, server, method string, params json.RawMessage, host heddle.Host)
	// Host is whom servers ask outside of any call; nil if there is nobody.
	Host() heddle.Host
	// AwaitCapabilities returns what all hosts can be asked; nil if that is not known
	// at the end of ctx.
	AwaitCapabilities(ctx context.Context) json.RawMessage
	// Stray counts lines that were no messages.
	Stray() int64
}

// generation is what one reading of the configuration built.
type generation struct {
	config  *config.Config
	catalog *catalog.Catalog
	policy  *policy.Policy
	review  *reviewer // nil reviews nothing
	pool    *upstream.Pool
	deliver *deliver.Deliverer
	gateway *gateway.Gateway
	stop    map[string]context.CancelFunc // ends a server's Run
	version uint64                        // sum of the listings' versions in catalog
	views   views
}

// New returns a daemon that does nothing until Run.
func New(o Options) *Daemon {
	results := capture.New(capture.Options{Memory: o.Config.Results.Memory, TTL: o.Config.Results.TTL, TempDir: o.TempDir, StateDir: o.StateDir, Logger: o.Logger})
	return &Daemon{
		o: o, spawner: upstream.NewSpawner(o.Watchdog), starts: make(chan struct{}, runtime.NumCPU()),
		ledger:  ledger.New(ledger.Options{Path: o.LedgerPath, Keep: o.Config.Ledger.Keep, Mask: masker(o.Config), Logger: o.Logger}),
		results: results,
		sets: dataset.New(dataset.Options{
			Command: o.SQL, Captures: results, Memory: o.Config.Results.SQLMemory, Timeout: o.Config.Results.QueryTimeout,
			StateDir: o.StateDir, ExportDir: o.Config.Results.ExportDir, TempDir: o.TempDir, Logger: o.Logger,
		}),
		audit: newAudit(o), resolver: ssrf.Cached(&net.Resolver{PreferGo: true}, resolveWithin), withheld: newWithheld(o), confirmed: gateway.NewConfirmations(),
		started: time.Now(), nudge: make(chan struct{}, 1), huge: make(chan struct{}, 1), opened: make(chan struct{}),
	}
}

// Gateway returns the gateway of the current generation.
func (d *Daemon) Gateway() *gateway.Gateway { return d.current.Load().gateway }

// Pool returns the servers of the current generation.
func (d *Daemon) Pool() *upstream.Pool { return d.current.Load().pool }

// Policy returns the policy of the current generation.
func (d *Daemon) Policy() *policy.Policy { return d.current.Load().policy }

// Flush returns when the ledger's file has every call that has ended. It needs a
// running Run.
func (d *Daemon) Flush(ctx context.Context) error { return d.ledger.Flush(ctx) }

// Run builds everything, calls serve with it running, and takes it down when
// serve returns or ctx ends. Nothing is left when it returns.
func (d *Daemon) Run(ctx context.Context, serve func(context.Context) error) error {
	// Each layer outlives the one above: servers need the spawner's thread until
	// they are gone, and their last calls a ledger.
	spawner := background(ctx, d.spawner.Run)
	defer spawner()
	book := background(ctx, d.ledger.Run)
	defer book()
	lines := background(ctx, d.audit.Run)
	defer lines()
	defer func() { _ = d.results.Close() }() // it says itself what it could not remove
	defer d.sets.Close()
	servers, stopServers := context.WithCancel(context.WithoutCancel(ctx))
	defer d.servers.Wait()
	defer stopServers()
	if err := d.apply(servers, d.o.Config); err != nil {
		return err
	}
	d.servers.Go(d.results.Sweep)
	d.servers.Go(func() { d.sets.Check(servers) })
	side := background(ctx, func(ctx context.Context) error { return d.maintain(ctx, servers) })
	defer side()
	return serve(ctx)
}

// background runs f with a context that only the returned function ends, which
// also waits for f.
func background(ctx context.Context, f func(context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = f(ctx) // every one of these reports its own failures
	}()
	return func() { cancel(); <-done }
}

// ServeStdio runs a host over stdin and stdout.
func (d *Daemon) ServeStdio(ctx context.Context, mode surface.Mode, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // what waits for the boot on the session's behalf ends with it
	var names []string
	for _, s := range d.Pool().Servers() {
		names = append(names, s.Name())
	}
	host := surface.NewStdio(surface.StdioOptions{
		Mode: mode, Gateway: d.Gateway, Servers: names, Logger: d.o.Logger, Version: heddle.Version,
		MaxFrame: int(d.o.Config.Results.MaxFrame), Started: func(i surface.SessionInfo) { d.session(ctx, mode, i) },
	})
	d.open(host)
	return host.Run(ctx, in, out)
}

func (d *Daemon) open(f front) {
	d.front.Store(&f)
	d.opening.Do(func() { close(d.opened) })
}

// greetWait is how long a server waits for the host to say what it can: hosts say
// so first of all.
const greetWait = 500 * time.Millisecond

// capabilities returns what the host can be asked; nil if that is not known.
func (d *Daemon) capabilities(ctx context.Context) json.RawMessage {
	if !d.o.Hosts {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, greetWait)
	defer cancel()
	select {
	case <-d.opened:
		return (*d.front.Load()).AwaitCapabilities(ctx)
	case <-ctx.Done():
		return nil
	}
}

// host returns whom servers ask outside of any call.
func (d *Daemon) host() heddle.Host {
	if f := d.front.Load(); f != nil {
		return (*f).Host()
	}
	return nil
}

// session writes the ledger's row of a host's session, once as it begins and
// again with the sizes after the boot.
func (d *Daemon) session(ctx context.Context, mode surface.Mode, i surface.SessionInfo) {
	row := ledger.SessionRow{
		ID: i.ID, Started: time.Now(), Principal: i.Principal, Mode: i.Mode,
		Client: i.Client, ClientVersion: i.ClientVersion, Protocol: i.Protocol,
	}
	d.ledger.Session(row)
	d.audit.Session(row)
	d.servers.Go(func() {
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		g := d.Gateway()
		booted := g.Booted(ctx)
		var native []json.RawMessage
		snapshot := g.Snapshot(i.Principal)
		for _, t := range snapshot.Tools() { // less output schemas, which no host shows to a model
			native = append(native, snapshot.NativeDefinition(t, false))
		}
		row.NativeBytes, row.NativeTokens = sizes(native)
		row.SurfaceBytes, row.SurfaceTokens = sizes(mode.Tools(g, i.Principal, booted))
		d.ledger.Session(row)
	})
}

// sizes returns what definitions have in bytes and cost in tokens.
func sizes(definitions []json.RawMessage) (bytes int64, tokens ledger.Tokens) {
	for _, t := range definitions {
		bytes += int64(len(t))
		tokens.N += int64(estimate.Text(t))
	}
	tokens.Known = true
	return bytes, tokens
}

// apply builds a generation, swaps it in and lets the servers go that it has not
// kept. servers is the context that servers run under.
func (d *Daemon) apply(servers context.Context, c *config.Config) error {
	d.reloads.Lock()
	defer d.reloads.Unlock()
	p, err := policy.New(policyConfig(c, d.resolver))
	if err != nil {
		return fmt.Errorf("policy: %w", err)
	}
	mask := masker(c)
	d.mask.Store(&mask)
	old := d.current.Load()
	next := &generation{config: c, policy: p, review: newReviewer(c, d.reviewLog()), stop: map[string]context.CancelFunc{}}
	if old != nil {
		p.Inherit(old.policy)
	}
	var pool []*upstream.Server
	var fresh []*upstream.Server
	for _, uc := range d.upstreams(c) {
		s := kept(old, uc)
		if s == nil {
			s = upstream.New(uc, d.deps(servers, uc.Cache))
			fresh = append(fresh, s)
		} else {
			next.stop[s.Name()] = old.stop[s.Name()]
		}
		pool = append(pool, s)
	}
	next.pool = upstream.NewPool(pool)
	next.catalog = catalog.New(next.catalogOptions())
	if old != nil {
		next.catalog.Inherit(old.catalog)
	}
	next.update()
	next.deliver = d.deliverer(c)
	next.gateway = d.gateway(next, next.catalog, next.pool)
	d.current.Store(next)
	for _, s := range fresh {
		d.start(servers, next, s)
	}
	d.retire(servers, old, next)
	d.changed()
	d.published()
	return nil
}

// deps are what a server shares with the others; cached names its file in the
// cache, "" if it has none.
func (d *Daemon) deps(ctx context.Context, cached string) upstream.Deps {
	mask := func(s string) string { return (*d.mask.Load())(s) }
	deps := upstream.Deps{
		Logger: d.o.Logger, Spawner: d.spawner, Starts: d.starts, Changed: d.changed, Published: d.published, Version: heddle.Version,
		Mask: mask, MaskJSON: func(raw json.RawMessage) json.RawMessage { return maskedJSON(mask, raw) },
		Host: d.host, Capabilities: d.capabilities,
		Heard: func(server, method string, params json.RawMessage, host heddle.Host) {
			if f := d.front.Load(); f != nil {
				(*f).Heard(ctx, server, method, params, host)
			}
		},
	}
	if cached != "" {
		deps.Listed = func(s *upstream.Server) {
			d.servers.Go(func() { d.cache().store(cached, s) })
		}
	}
	return deps
}

func (d *Daemon) cache() catalogCache { return catalogCache{d.o.CacheDir, d.o.Logger} }

// kept returns the old generation's server of that configuration, nil if there
// is none.
func kept(old *generation, c upstream.Config) *upstream.Server {
	if old == nil {
		return nil
	}
	if s := old.pool.Server(c.Name); s != nil && s.Hash() == c.Hash {
		return s
	}
	return nil
}

func (d *Daemon) start(ctx context.Context, g *generation, s *upstream.Server) {
	ctx, cancel := context.WithCancel(ctx)
	g.stop[s.Name()] = cancel
	d.servers.Go(func() { _ = s.Run(ctx) }) // ends with ctx, and has logged its failures
}

// drainLimit is how long a call may still run at a server that the new
// configuration does not have.
const drainLimit = 30 * time.Second

// retire ends the servers of old that next has not kept, each once its calls are
// done.
func (d *Daemon) retire(ctx context.Context, old, next *generation) {
	if old == nil {
		return
	}
	for _, s := range old.pool.Servers() {
		if next.pool.Server(s.Name()) == s {
			continue
		}
		stop := old.stop[s.Name()]
		d.servers.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, drainLimit)
			defer cancel()
			s.Drain(ctx)
			stop()
		})
	}
}

// changed puts what a server lists into the catalog, before anybody learns that
// the server changed.
func (d *Daemon) changed() {
	d.updates.Lock()
	if g := d.current.Load(); g != nil {
		g.update()
	}
	d.updates.Unlock()
}

// published has maintain do the rest, now that everybody may know.
func (d *Daemon) published() { signal(d.nudge) }

// signal puts a token into a channel with room for one, unless one is waiting
// already.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// update brings the catalog up to date with what the servers list. Most changes
// of a server are none of its list.
func (g *generation) update() {
	var sources []catalog.Source
	version := uint64(1) // so that the first update is never skipped
	for _, s := range g.pool.Servers() {
		l := s.Listing()
		version += l.Version
		sources = append(sources, g.source(&l))
	}
	if version != g.version {
		g.version = version
		g.catalog.Update(sources)
	}
}

// source is a server's part of a catalog. What it says of itself is told to models,
// unless it tells them what to do.
func (g *generation) source(l *upstream.Listing) catalog.Source {
	about := l.Instructions
	if g.review != nil {
		about = g.review.instructions(about)
	}
	return catalog.Source{Server: l.Server, Definitions: l.Tools, Instructions: about, Known: l.Listed, State: string(l.State)}
}

// deliverer decides about results as a configuration says. What was captured
// under an earlier one stays. What hosts were told of their tools when they came
// goes on to hold: whether there is read_result, and output schemas.
func (d *Daemon) deliverer(c *config.Config) *deliver.Deliverer {
	first := d.o.Config.Results
	denied := map[string][]string{}
	for _, s := range c.Servers {
		denied[s.Name] = s.ProvenanceDenylist
	}
	return deliver.New(deliver.Options{
		Threshold: c.Results.ThresholdTokens, Mesh: first.Mesh, KeepOutput: first.OutputSchema == "keep",
		Captures: d.results, Datasets: d.sets, Denied: denied, Logger: d.o.Logger, Huge: func() { signal(d.huge) },
	})
}

// reviewLog is told what is odd about the lock, where hosts are served: the commands
// that deal with it say so themselves.
func (d *Daemon) reviewLog() *slog.Logger {
	if d.o.Hosts {
		return d.o.Logger
	}
	return nil
}

// catalogOptions are what all catalogs of a generation share.
func (g *generation) catalogOptions() catalog.Options {
	o := catalog.Options{
		Allowed:    func(r heddle.ToolRef) bool { return g.policy.Access(r).Allowed },
		NameBudget: g.config.Catalog.NameBudget, Own: surface.OwnNames(),
	}
	if g.review != nil {
		o.Review = g.review.Review
	}
	return o
}

// gateway puts the stages of a generation together, for all its servers or some.
func (d *Daemon) gateway(g *generation, c *catalog.Catalog, p *upstream.Pool) *gateway.Gateway {
	return gateway.New(gateway.Stages{
		Catalog: c, Policy: g.policy, Pool: p, Deliver: g.deliver, Ledger: d.ledger, Audit: d.audit, Quarantine: d.withheld, Confirmations: d.confirmed,
	})
}

// trimAfter is how long after the last huge result memory is given back: it has
// gone to its host by then, and many in a row cost one look at the heap.
const trimAfter = time.Second

// maintain keeps the catalog, the state file and the configuration current.
func (d *Daemon) maintain(ctx, servers context.Context) error {
	state := newStateFile(d.o.StateDir, d.o.Logger)
	defer state.remove()
	edits, stopWatching := d.watch()
	defer stopWatching()
	tick := time.NewTicker(stateEvery)
	defer tick.Stop()
	checked := uint64(0)
	var trim <-chan time.Time // while memory is to be given back
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-d.nudge:
			g := d.current.Load()
			if f := d.front.Load(); f != nil {
				(*f).Changed()
			}
			if n := g.catalog.Generation(); n != checked && booted(g) {
				checked = n
				d.checkSchemas(g)
				Trim()
			}
		case <-d.huge:
			trim = time.After(trimAfter)
			continue
		case <-trim:
			trim = nil
			Trim()
		case <-edits:
			d.reload(servers)
		case <-tick.C:
		}
		state.write(d.State())
	}
}

func booted(g *generation) bool {
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // asks without waiting
	return g.pool.Booted(ctx)
}

// reload applies the configuration file as it is now. A bad file changes
// nothing.
func (d *Daemon) reload(servers context.Context) {
	c, err := d.o.Load()
	if err == nil {
		err = d.apply(servers, c)
	}
	if err != nil {
		d.o.Logger.Error("configuration not reloaded: everything stays as it is", "err", err)
		return
	}
	d.o.Logger.Info("configuration reloaded", "servers", len(c.Servers))
}

// ErrStrict is returned by [Daemon.Strict] when a server did not start.
var ErrStrict = errors.New("not every server started")

// Strict waits for the boot and fails if any server that should run does not.
func (d *Daemon) Strict(ctx context.Context) error {
	d.Pool().Booted(ctx)
	for _, s := range d.Pool().Servers() {
		if st := s.Status(); st.State != upstream.StateReady && !switchedOff(&st) {
			return fmt.Errorf("%w: %s: %s", ErrStrict, st.Name, st.Reason)
		}
	}
	return nil
}
