package gateway_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"testing"
	"time"

	"heddle"
	"heddle/internal/config"
	"heddle/internal/daemon"
	"heddle/internal/upstream"
	"heddle/internal/wire"
)

// nobody is a host that cannot be asked.
type nobody struct{}

func (nobody) ID() string { return "nobody" }

func (nobody) Capabilities() json.RawMessage { return nil }

func (nobody) Request(context.Context, string, json.RawMessage) (json.RawMessage, error) {
	return nil, heddle.NewRPCError(-32601, "nobody is there")
}
func (nobody) Notify(context.Context, string, json.RawMessage) error { return nil }

// answers are what the cheapest server there can be says.
var answers = map[string]json.RawMessage{
	"initialize": json.RawMessage(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"up","version":"1"}}`),
	"tools/list": json.RawMessage(`{"tools":[{"name":"echo","inputSchema":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}}]}`),
	"tools/call": json.RawMessage(`{"content":[{"type":"text","text":"The quick brown fox jumps over the lazy dog."}]}`),
}

// answerAll serves one connection.
func answerAll(conn io.ReadWriter) {
	r := wire.NewReader(conn, 1<<20)
	var out []byte
	for {
		frame, err := r.Next()
		if err != nil {
			return
		}
		m, _ := wire.Parse(frame)
		if !m.IsRequest() {
			continue
		}
		if result := answers[m.Method]; result != nil {
			out = wire.AppendResponse(out[:0], m.ID, result)
		} else {
			out = wire.AppendError(out[:0], m.ID, heddle.NewRPCError(-32601, "no").Raw)
		}
		if _, err := conn.Write(out); err != nil {
			return
		}
	}
}

// BenchmarkCall is the whole way of a small call through the gateway to the
// cheapest server there can be, in the same process: what heddle itself costs.
// Profile it to see where that goes.
func BenchmarkCall(b *testing.B) {
	cfg, err := config.Decode([]byte("version: 2\n"), b.TempDir()+"/heddle.yml", config.Env{Lookup: func(string) (string, bool) { return "", false }})
	if err != nil {
		b.Fatal(err)
	}
	d := daemon.New(daemon.Options{
		Config: cfg, Logger: slog.New(slog.DiscardHandler), LedgerPath: b.TempDir() + "/ledger.db", Environ: func() []string { return nil },
		InProcess: []upstream.Config{{
			Name: "up", Connect: func(context.Context) (io.ReadWriteCloser, error) {
				ours, theirs := net.Pipe()
				go answerAll(theirs)
				return ours, nil
			},
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
