package upstream

import (
	"context"
	"io"
	"log/slog"
	"strings"
	"time"
)

// Config is one server. It is not changed after [New].
type Config struct {
	// Name is the normalised server name.
	Name string
	// Command and Args start a stdio server in Dir with exactly Env.
	Command string
	Args    []string
	Env     []string
	Dir     string
	// Connect opens an in-process session instead of a process. The connection
	// carries newline-delimited JSON-RPC; closing it ends the server.
	Connect func(ctx context.Context) (io.ReadWriteCloser, error)

	// StartTimeout is counted from the server's own spawn, Timeout from the moment
	// a call is sent or last made progress, MaxTimeout from the moment it was sent.
	StartTimeout, Timeout, MaxTimeout time.Duration
	// MaxConcurrency is how many calls may be at the server at once.
	MaxConcurrency int
	// MaxFrame is the largest message in bytes.
	MaxFrame int
	// MaxAttempts is how often a failing server is restarted before its tools are
	// delisted; 0 never restarts. BaseDelay is the first pause, which doubles.
	MaxAttempts int
	BaseDelay   time.Duration
	// Failures in a row open the circuit for Cooldown.
	Failures int
	Cooldown time.Duration
	// Unusable says why the server is not started at all; "" starts it. Off says
	// that it is not meant to be.
	Unusable string
	Off      bool
	// Hash changes when anything above does.
	Hash string
}

// Deps are what all servers of a daemon share.
type Deps struct {
	Logger *slog.Logger
	// Spawner starts processes.
	Spawner *Spawner
	// Starts has a place for each start that may use the CPU at once.
	Starts chan struct{}
	// Mask hides secrets in text that leaves the process.
	Mask func(string) string
	// Changed is called, without locks held, after a server's tools or state
	// changed and before anybody who waits for that is woken, Published afterwards.
	// Neither must block; either may be nil.
	Changed, Published func()
	// Version is heddle's own, for the handshake.
	Version string
}

// mask hides secrets and shortens text for errors and status.
func (d *Deps) mask(s string) string {
	if d.Mask != nil {
		s = d.Mask(s)
	}
	return s
}

// Masker returns a function that replaces each secret by "[redacted]".
func Masker(secrets []string) func(string) string {
	if len(secrets) == 0 {
		return func(s string) string { return s }
	}
	var pairs []string
	for _, s := range secrets {
		pairs = append(pairs, s, "[redacted]")
	}
	return strings.NewReplacer(pairs...).Replace
}
