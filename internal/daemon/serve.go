package daemon

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"

	"heddle"
	"heddle/internal/catalog"
	"heddle/internal/gateway"
	"heddle/internal/surface"
	"heddle/internal/upstream"

	"golang.org/x/sync/errgroup"
)

// HTTPOptions say how hosts are served over HTTP; see [surface.HTTPOptions].
type HTTPOptions struct {
	Mode, Native surface.Mode
	Token        string
	Loopback     bool
}

const (
	// headerTime is how long a request may take to say what it wants.
	headerTime = 10 * time.Second
	// endWait is how long requests may still run once the end has come.
	endWait = 1500 * time.Millisecond
)

// ServeHTTP serves hosts on a listener until ctx ends. It closes the listener.
func (d *Daemon) ServeHTTP(ctx context.Context, listener net.Listener, o HTTPOptions) error {
	var names []string
	for _, s := range d.Pool().Servers() {
		names = append(names, s.Name())
	}
	way := surface.NewHTTP(surface.HTTPOptions{
		Mode: o.Mode, Native: o.Native, Gateway: d.gatewayOf, Servers: names, Logger: d.o.Logger, Version: heddle.Version,
		MaxFrame: int(d.o.Config.Results.MaxFrame), Token: o.Token, Loopback: o.Loopback,
		Started: func(i surface.SessionInfo) { d.session(ctx, modeOf(o, i.Mode), i) },
	})
	url := "http://" + listener.Addr().String() + "/mcp"
	d.url.Store(&url)
	d.open(way)
	defer way.End()
	// Requests end with ctx; streams of events would otherwise never.
	requests, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	server := &http.Server{
		Handler: way.Handler(), ReadHeaderTimeout: headerTime, IdleTimeout: 2 * time.Minute,
		BaseContext: func(net.Listener) context.Context { return requests },
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return way.Run(ctx) })
	group.Go(func() error {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	})
	group.Go(func() error {
		<-ctx.Done()
		end, done := context.WithTimeout(context.WithoutCancel(ctx), endWait)
		defer done()
		if server.Shutdown(end) != nil {
			cancel()
			_ = server.Close()
		}
		return nil
	})
	return group.Wait()
}

// listen returns the URL of /mcp, "" over stdio.
func (d *Daemon) listen() string {
	if url := d.url.Load(); url != nil {
		return *url
	}
	return ""
}

func modeOf(o HTTPOptions, name string) surface.Mode {
	if name == o.Mode.Name() {
		return o.Mode
	}
	return o.Native
}

// views are gateways to single servers: each has a catalog of its own, in which
// every tool keeps its name. They are made when first asked for.
type views struct {
	mu  sync.Mutex
	all map[string]*view
}

type view struct {
	catalog *catalog.Catalog
	gateway *gateway.Gateway
	version uint64
}

// gatewayOf returns the current gateway to all servers, or to the one of that
// name, nil if there is none.
func (d *Daemon) gatewayOf(server string) *gateway.Gateway {
	g := d.current.Load()
	if server == "" {
		return g.gateway
	}
	s := g.pool.Server(server)
	if s == nil {
		return nil
	}
	g.views.mu.Lock()
	defer g.views.mu.Unlock()
	v := g.views.all[server]
	if v == nil {
		c := catalog.New(g.catalogOptions())
		v = &view{catalog: c, gateway: d.gateway(g, c, upstream.NewPool([]*upstream.Server{s}))}
		if g.views.all == nil {
			g.views.all = map[string]*view{}
		}
		g.views.all[server] = v
	}
	v.update(g, s)
	return v.gateway
}

// update brings the view up to date with what its server lists.
func (v *view) update(g *generation, s *upstream.Server) {
	l := s.Listing()
	if version := l.Version + 1; version != v.version {
		v.version = version
		v.catalog.Update([]catalog.Source{g.source(&l)})
	}
}
