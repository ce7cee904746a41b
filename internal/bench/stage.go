package bench

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"heddle/internal/config"
	"heddle/internal/daemon"
	"heddle/internal/inproc"
	"heddle/internal/surface"
	"heddle/internal/upstream"
)

// stage runs sessions with one server.
type stage struct {
	server *inproc.Server
	logger *slog.Logger
	dir    string // for the state of the daemons
}

// newStage returns a stage. The caller removes what it leaves by close.
func newStage(server *inproc.Server, logger *slog.Logger) (*stage, error) {
	dir, err := os.MkdirTemp("", "heddle-bench-")
	if err != nil {
		return nil, err
	}
	return &stage{server, logger, dir}, nil
}

func (s *stage) close() error { return os.RemoveAll(s.dir) }

// in runs play in a session in a mode, with a daemon of its own.
func (s *stage) in(ctx context.Context, mode string, play func(context.Context, *client) error) error {
	cfg, err := config.Decode([]byte("version: 2\n"), "bench.yml", config.Env{})
	if err != nil {
		return err
	}
	m, err := surface.NewMode(mode, surface.Options{})
	if err != nil {
		return err
	}
	const patience = time.Minute
	d := daemon.New(daemon.Options{
		Config: cfg, Logger: s.logger, Mode: mode, StateDir: filepath.Join(s.dir, mode), TempDir: s.dir,
		InProcess: []upstream.Config{{
			Name: s.server.Name, Connect: s.server.Connect, Hash: "bench/" + s.server.Name,
			StartTimeout: 10 * time.Second, Timeout: patience, MaxTimeout: patience, MaxConcurrency: 16,
		}},
	})
	return d.Run(ctx, func(ctx context.Context) error {
		d.Pool().Booted(ctx)
		return s.session(ctx, mode, play, func(ctx context.Context, in io.Reader, out io.Writer) error {
			return d.ServeStdio(ctx, m, in, out)
		})
	})
}

// alone runs play in a session with the server and nothing between.
func (s *stage) alone(ctx context.Context, play func(context.Context, *client) error) error {
	return s.session(ctx, "", play, s.server.Serve)
}

func (s *stage) session(ctx context.Context, mode string, play func(context.Context, *client) error, serve func(context.Context, io.Reader, io.Writer) error) error {
	host, err := inproc.Connect(ctx, "heddle-bench", false, serve)
	if err != nil {
		return err
	}
	return errors.Join(play(ctx, &client{host, mode}), host.Close())
}
