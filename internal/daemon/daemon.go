package daemon

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"heddle"
	"heddle/internal/catalog"
	"heddle/internal/config"
	"heddle/internal/gateway"
	"heddle/internal/ledger"
	"heddle/internal/policy"
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
	Mode     string
	// Environ returns the variables that children may be given.
	Environ func() []string
	// InProcess adds servers without a process.
	InProcess []upstream.Config
}

// Daemon is a running configuration.
type Daemon struct {
	o       Options
	spawner *upstream.Spawner
	ledger  *ledger.Ledger
	starts  chan struct{}
	started time.Time
	nudge   chan struct{} // a server changed

	current atomic.Pointer[generation]
	host    atomic.Pointer[surface.Stdio]

	servers sync.WaitGroup // of all generations
	reloads sync.Mutex     // one apply at a time
	updates sync.Mutex     // one reading of the servers at a time
	mask    atomic.Pointer[func(string) string]
	schemas atomic.Pointer[[]catalog.Warning]
}

// generation is what one reading of the configuration built.
type generation struct {
	config  *config.Config
	catalog *catalog.Catalog
	policy  *policy.Policy
	pool    *upstream.Pool
	gateway *gateway.Gateway
	stop    map[string]context.CancelFunc // ends a server's Run
	version uint64                        // sum of the listings' versions in catalog
}

// New returns a daemon that does nothing until Run.
func New(o Options) *Daemon {
	return &Daemon{
		o: o, spawner: upstream.NewSpawner(o.Watchdog), starts: make(chan struct{}, runtime.NumCPU()),
		ledger:  ledger.New(ledger.Options{Path: o.LedgerPath, Keep: o.Config.Ledger.Keep, Logger: o.Logger}),
		started: time.Now(), nudge: make(chan struct{}, 1),
	}
}

// Gateway returns the gateway of the current generation.
func (d *Daemon) Gateway() *gateway.Gateway { return d.current.Load().gateway }

// Pool returns the servers of the current generation.
func (d *Daemon) Pool() *upstream.Pool { return d.current.Load().pool }

// Policy returns the policy of the current generation.
func (d *Daemon) Policy() *policy.Policy { return d.current.Load().policy }

// Run builds everything, calls serve with it running, and takes it down when
// serve returns or ctx ends. Nothing is left when it returns.
func (d *Daemon) Run(ctx context.Context, serve func(context.Context) error) error {
	// Each layer outlives the one above: servers need the spawner's thread until
	// they are gone, and their last calls a ledger.
	spawner := background(ctx, d.spawner.Run)
	defer spawner()
	book := background(ctx, d.ledger.Run)
	defer book()
	servers, stopServers := context.WithCancel(context.WithoutCancel(ctx))
	defer d.servers.Wait()
	defer stopServers()
	if err := d.apply(servers, d.o.Config); err != nil {
		return err
	}
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
	d.host.Store(host)
	return host.Run(ctx, in, out)
}

// session writes the ledger's row of a host's session, once as it begins and
// again with the sizes after the boot.
func (d *Daemon) session(ctx context.Context, mode surface.Mode, i surface.SessionInfo) {
	row := ledger.SessionRow{
		ID: i.ID, Started: time.Now(), Principal: i.Principal, Mode: i.Mode,
		Client: i.Client, ClientVersion: i.ClientVersion, Protocol: i.Protocol,
	}
	d.ledger.Session(row)
	d.servers.Go(func() {
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		g := d.Gateway()
		booted := g.Booted(ctx)
		row.NativeBytes = nativeBytes(g, i.Principal)
		row.SurfaceBytes = 0
		for _, t := range mode.Tools(g, i.Principal, booted) {
			row.SurfaceBytes += int64(len(t))
		}
		d.ledger.Session(row)
	})
}

func nativeBytes(g *gateway.Gateway, p heddle.Principal) (n int64) {
	for _, t := range g.Snapshot(p).Tools() {
		n += int64(len(t.Definition))
	}
	return n
}

// apply builds a generation, swaps it in and lets the servers go that it has not
// kept. servers is the context that servers run under.
func (d *Daemon) apply(servers context.Context, c *config.Config) error {
	d.reloads.Lock()
	defer d.reloads.Unlock()
	p, err := policy.New(policyConfig(c))
	if err != nil {
		return fmt.Errorf("policy: %w", err)
	}
	mask := upstream.Masker(c.Secrets())
	d.mask.Store(&mask)
	old := d.current.Load()
	next := &generation{config: c, policy: p, stop: map[string]context.CancelFunc{}}
	var pool []*upstream.Server
	var fresh []*upstream.Server
	for _, uc := range d.upstreams(c) {
		s := kept(old, uc)
		if s == nil {
			s = upstream.New(uc, upstream.Deps{
				Logger: d.o.Logger, Spawner: d.spawner, Starts: d.starts, Changed: d.changed, Published: d.published, Version: heddle.Version,
				Mask: func(s string) string { return (*d.mask.Load())(s) },
			})
			fresh = append(fresh, s)
		} else {
			next.stop[s.Name()] = old.stop[s.Name()]
		}
		pool = append(pool, s)
	}
	next.pool = upstream.NewPool(pool)
	next.catalog = catalog.New(catalog.Options{
		Allowed:    func(r heddle.ToolRef) bool { return p.Access(r).Allowed },
		NameBudget: c.Catalog.NameBudget, Own: surface.OwnNames(),
	})
	if old != nil {
		next.catalog.Inherit(old.catalog)
	}
	next.update()
	next.gateway = gateway.New(next.catalog, p, next.pool, d.ledger)
	d.current.Store(next)
	for _, s := range fresh {
		d.start(servers, next, s)
	}
	d.retire(servers, old, next)
	d.changed()
	d.published()
	return nil
}

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
func (d *Daemon) published() {
	select {
	case d.nudge <- struct{}{}:
	default: // one is waiting already
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
		sources = append(sources, catalog.Source{Server: l.Server, Definitions: l.Tools, Instructions: l.Instructions, Known: l.Listed, State: string(l.State)})
	}
	if version != g.version {
		g.version = version
		g.catalog.Update(sources)
	}
}

// maintain keeps the catalog, the state file and the configuration current.
func (d *Daemon) maintain(ctx, servers context.Context) error {
	state := newStateFile(d.o.StateDir, d.o.Logger)
	defer state.remove()
	edits, stopWatching := d.watch()
	defer stopWatching()
	tick := time.NewTicker(stateEvery)
	defer tick.Stop()
	checked := uint64(0)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-d.nudge:
			g := d.current.Load()
			if h := d.host.Load(); h != nil {
				h.Changed()
			}
			if n := g.catalog.Generation(); n != checked && booted(g) {
				checked = n
				d.checkSchemas(g)
				Trim()
			}
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

// policyConfig is the part of a configuration that the policy needs.
func policyConfig(c *config.Config) policy.Config {
	out := policy.Config{Allow: c.Tools.Allow, Deny: c.Tools.Deny, Servers: map[string]policy.ServerRules{}, Params: map[string]map[string]policy.ParamRule{}}
	for _, s := range c.Servers {
		out.Servers[s.Name] = policy.ServerRules{Allow: s.Tools.Allow, Deny: s.Tools.Deny}
	}
	for tool, params := range c.Tools.Params {
		rules := map[string]policy.ParamRule{}
		for name, r := range params {
			rules[name] = policy.ParamRule{MaxLength: r.MaxLength, Pattern: r.Pattern, Required: r.Required}
		}
		out.Params[tool] = rules
	}
	return out
}

// upstreams is the part of a configuration that the servers need.
func (d *Daemon) upstreams(c *config.Config) []upstream.Config {
	var out []upstream.Config
	for _, s := range c.Servers {
		u := upstream.Config{
			Name: s.Name, Command: s.Command, Args: s.Args, Env: childEnv(d.o.Environ(), &s, c.Path), Dir: s.Cwd,
			StartTimeout: s.StartTimeout, Timeout: s.Timeout, MaxTimeout: s.MaxTimeout, MaxConcurrency: s.MaxConcurrency,
			Unusable: s.Unusable,
		}
		if u.Off = s.Disabled; u.Off && u.Unusable == "" {
			u.Unusable = "disabled in the configuration"
		}
		out = append(out, common(u, c, s.Hash))
	}
	for _, u := range d.o.InProcess {
		out = append(out, common(u, c, u.Hash))
	}
	return out
}

// common adds what all servers of a configuration share.
func common(u upstream.Config, c *config.Config, hash string) upstream.Config {
	u.MaxFrame = int(c.Results.MaxFrame)
	u.MaxAttempts, u.BaseDelay = c.Restart.MaxAttempts, c.Restart.BaseDelay
	u.Failures, u.Cooldown = c.Breaker.Failures, c.Breaker.Cooldown
	sum := sha256.Sum256(fmt.Appendf(nil, "%s|%v|%v|%v|%d|%v|%v|%d|%v|%s", hash, u.StartTimeout, u.Timeout, u.MaxTimeout, u.MaxConcurrency, u.MaxFrame, u.MaxAttempts, u.Failures, u.Cooldown, u.Unusable))
	u.Hash = hex.EncodeToString(sum[:])
	return u
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
