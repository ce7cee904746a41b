package gateway_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"testing"
	"time"

	"heddle"
	"heddle/internal/config"
	"heddle/internal/daemon"
	"heddle/internal/mcptest"
	"heddle/internal/upstream"
)

// nobody is a host that cannot be asked.
type nobody struct{}

func (nobody) Request(context.Context, string, json.RawMessage) (json.RawMessage, error) {
	return nil, heddle.NewRPCError(-32601, "nobody is there")
}
func (nobody) Notify(context.Context, string, json.RawMessage) error { return nil }

// BenchmarkCall is the whole way of a small call through the gateway, to a server
// in the same process: what heddle itself costs, without any system call of a
// pipe. Profile it to see where that goes.
func BenchmarkCall(b *testing.B) {
	server := mcptest.NewServer(mcptest.Options{})
	cfg, err := config.Decode([]byte("version: 2\n"), b.TempDir()+"/heddle.yml", config.Env{Lookup: func(string) (string, bool) { return "", false }})
	if err != nil {
		b.Fatal(err)
	}
	d := daemon.New(daemon.Options{
		Config: cfg, Logger: slog.New(slog.DiscardHandler), LedgerPath: b.TempDir() + "/ledger.db", Environ: func() []string { return nil },
		InProcess: []upstream.Config{{
			Name: "up", Connect: func(ctx context.Context) (io.ReadWriteCloser, error) { return server.Connect(ctx) },
			StartTimeout: time.Minute, Timeout: time.Minute, MaxTimeout: time.Minute, MaxConcurrency: 64,
		}},
	})
	err = d.Run(b.Context(), func(ctx context.Context) error {
		d.Pool().Booted(ctx)
		args := json.RawMessage(`{"text":"The quick brown fox jumps over the lazy dog."}`)
		b.ReportAllocs()
		for b.Loop() {
			c := &heddle.Call{Principal: heddle.Local, Session: "bench", Mode: "native", Tool: "echo", Arguments: args, Host: nobody{}}
			if _, err := d.Gateway().Call(ctx, c); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}
