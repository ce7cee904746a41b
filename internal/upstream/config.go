package upstream

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"strings"
	"time"

	"heddle"
	"heddle/internal/wire"
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
	// Open reaches a server over something else than a stream, such as HTTP. failed
	// is told of each request, by its id, that cannot get an answer any more. The
	// link ends with ctx or Close.
	Open func(ctx context.Context, failed func(id json.RawMessage, err error)) (Link, error)

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
	// Lazy does not start a server that is known from Known before it is used.
	// IdleStop ends one that nobody has used for so long; 0 never does.
	Lazy     bool
	IdleStop time.Duration
	// Known is what the server listed when it last ran; nil if that is not known.
	// Cache names where it is kept.
	Known *Known
	Cache string
	// Twin makes it the second session of a server, for hosts of the protocol
	// without handshake: started when used, and it lists nothing.
	Twin bool
	// Unusable says why the server is not started at all; "" starts it. Off says
	// that it is not meant to be.
	Unusable string
	Off      bool
	// Hash changes when anything above does.
	Hash string
}

// Link is a connection that carries frames, but not as one stream of bytes.
type Link interface {
	wire.Source
	io.WriteCloser
	// Origin is the id of the request on whose stream the last frame of Next came;
	// nil for none.
	Origin() json.RawMessage
}

// Known is what a server has, as it said itself: what a catalog needs to offer
// its tools before it runs.
type Known struct {
	Tools        []json.RawMessage            `json:"tools"`
	Lists        map[string][]json.RawMessage `json:"lists,omitempty"` // by method
	Instructions string                       `json:"instructions,omitempty"`
	Protocol     string                       `json:"protocol,omitempty"`
	Features     Features                     `json:"features"`
}

// Deps are what all servers of a daemon share.
type Deps struct {
	Logger *slog.Logger
	// Spawner starts processes.
	Spawner *Spawner
	// Starts has a place for each start that may use the CPU at once.
	Starts chan struct{}
	// Mask hides secrets in text that leaves the process, MaskJSON those in what a server
	// says unasked, which stays JSON. Either may be nil.
	Mask     func(string) string
	MaskJSON func(json.RawMessage) json.RawMessage
	// Changed is called, without locks held, after a server's tools or state
	// changed and before anybody who waits for that is woken, Published afterwards.
	// Neither must block; either may be nil.
	Changed, Published func()
	// Listed is called once a server has listed all that it has, and Heard with
	// each notification that hosts may want; host is whom it concerns, nil for
	// whoever does. Neither must block; either may be nil.
	Listed func(*Server)
	Heard  func(server, method string, params json.RawMessage, host heddle.Host)
	// Capabilities returns what the host can be asked, as it said itself; nil if that
	// is not known, even after a moment's wait. It may be nil.
	Capabilities func(context.Context) json.RawMessage
	// Host returns the host to ask when a server asks outside any call; nil, or
	// returning nil, if there is none.
	Host func() heddle.Host
	// Version is heddle's own, for the handshake.
	Version string
}

// mask hides secrets in text for errors and status.
func (d *Deps) mask(s string) string {
	if d.Mask != nil {
		s = d.Mask(s)
	}
	return s
}

// said returns the params of a notification as hosts may have them.
func (d *Deps) said(params json.RawMessage) json.RawMessage {
	if d.MaskJSON != nil && params != nil {
		params = d.MaskJSON(params)
	}
	return params
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
