package surface_test

import (
	"context"
	"net"
	"net/http"
	"testing"
	"time"

	"heddle/internal/daemon"
	"heddle/internal/mcptest"
	"heddle/internal/surface"
)

// webStage is a real daemon that serves hosts over HTTP on a port of its own.
type webStage struct {
	*stage
	url string // without a path
}

func newWebStage(t *testing.T, o stageOptions, http daemon.HTTPOptions) *webStage {
	t.Helper()
	if o.servers == nil {
		o.servers = map[string]mcptest.Options{"up": {}}
	}
	s := &webStage{stage: &stage{t: t, mode: o.mode, servers: map[string]*mcptest.Server{}, peers: map[string]*peers{}, log: &buffer{}, ended: make(chan struct{})}}
	http.Mode = s.build(o)
	native, err := surface.NewMode("native", surface.Options{})
	if err != nil {
		t.Fatal(err)
	}
	http.Native = native
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.url = "http://" + listener.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer close(s.ended)
		s.err = s.daemon.Run(ctx, func(ctx context.Context) error { return s.daemon.ServeHTTP(ctx, listener, http) })
		if s.err != nil && ctx.Err() == nil {
			t.Errorf("daemon: %v", s.err)
		}
	}()
	t.Cleanup(func() {
		cancel()
		limit := time.NewTimer(mcptest.Deadline)
		defer limit.Stop()
		select {
		case <-s.ended:
		case <-limit.C:
			t.Error("the daemon did not end")
		}
	})
	return s
}

// host is a new session at a path; version "-" makes no handshake.
func (s *webStage) host(path, version, capabilities string) *mcptest.Web {
	s.t.Helper()
	w := mcptest.NewWeb(s.t, s.url+path, http.Header{})
	if version != "-" {
		w.InitializeWith(version, capabilities)
	}
	return w
}

// receive waits for a value.
func receive[T any](t testing.TB, what string, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(mcptest.Deadline):
		t.Fatalf("never came: %s", what)
	}
	panic("unreachable")
}

// stream is a host of the oldest protocol.
func (s *webStage) stream(capabilities string) *mcptest.Stream {
	s.t.Helper()
	h := mcptest.NewStream(s.t, s.url+"/sse", http.Header{})
	h.InitializeWith("2024-11-05", capabilities)
	return h
}
