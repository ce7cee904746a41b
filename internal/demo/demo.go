package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"heddle"
	"heddle/internal/daemon"
	"heddle/internal/inproc"
	"heddle/internal/ledger"
	"heddle/internal/surface"
	"heddle/internal/tokens"
	"heddle/internal/wire"
)

// Options say how to run the demo.
type Options struct {
	Logger *slog.Logger
	// Text is told of every step as it is done; nil for nobody.
	Text *Text
	// Dir is an existing directory for the ledger, which stays there; "" makes one
	// that is removed at the end.
	Dir string
}

// limit is when a run has gone wrong, whatever it waits for.
const limit = time.Minute

// Run plays the session and reports what it measured. An error says which step
// did not go as it should. Nothing is left when it returns, also when ctx ends
// first.
func Run(ctx context.Context, o Options) (*Report, error) { return run(ctx, o, script()) }

func run(ctx context.Context, o Options, parts []part) (r *Report, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errors.New("the demo took too long"))
	defer cancel()
	if o.Dir == "" {
		if o.Dir, err = os.MkdirTemp("", "heddle-demo-"); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(o.Dir)) }()
	}
	fleet, err := newFleet()
	if err != nil {
		return nil, err
	}
	fleet.results.keep = true
	path := filepath.Join(o.Dir, "ledger.db")
	d, err := fleet.daemon("compact", path, o.Logger)
	if err != nil {
		return nil, err
	}
	r = &Report{Version: heddle.Version, Encoding: tokens.Encoding, Evidence: Evidence{Ledger: path}}
	s := &session{fleet: fleet, daemon: d, text: o.Text, report: r, parts: parts, table: sync.OnceValues(tokens.New), began: time.Now()}
	defer s.book.close()
	table := make(chan struct{})
	go func() {
		defer close(table)
		_, _ = s.table() // takes a while, and the servers start meanwhile
	}()
	defer func() { <-table }()
	if err := d.Run(ctx, s.play); err != nil {
		return nil, err
	}
	return r, nil
}

// Serve runs the servers for a real host over in and out, until in or ctx ends.
// It keeps no ledger and leaves nothing behind.
func Serve(ctx context.Context, mode string, logger *slog.Logger, in io.Reader, out io.Writer) error {
	fleet, err := newFleet()
	if err != nil {
		return err
	}
	d, err := fleet.daemon(mode, "", logger)
	if err != nil {
		return err
	}
	return d.Run(ctx, func(ctx context.Context) error {
		m, err := surface.NewMode(mode, surface.Options{})
		if err != nil {
			return err
		}
		return d.ServeStdio(ctx, m, in, out)
	})
}

// daemon returns the daemon of the servers.
func (f *fleet) daemon(mode, ledger string, logger *slog.Logger) (*daemon.Daemon, error) {
	cfg, err := configuration()
	if err != nil {
		return nil, err
	}
	return daemon.New(daemon.Options{Config: cfg, Logger: logger, LedgerPath: ledger, Mode: mode, InProcess: f.upstreams()}), nil
}

// session is a run in progress. It is for one goroutine.
type session struct {
	fleet  *fleet
	daemon *daemon.Daemon
	text   *Text
	report *Report
	parts  []part
	table  func() (*tokens.Counter, error)
	began  time.Time

	host  *inproc.Host
	book  book
	step  *Step // that is played
	issue int   // number of the one that was opened
	done  int   // calls before it
}

// play is the whole run, with the daemon running.
func (s *session) play(ctx context.Context) error {
	s.daemon.Pool().Booted(ctx)
	if err := s.price(ctx); err != nil {
		return fmt.Errorf("what the host would have paid: %w", err)
	}
	defer s.host.Close() // a second time does nothing
	for _, p := range s.parts {
		step := Step{Name: p.name, Title: p.title, Why: p.why}
		s.step = &step
		if err := p.play(s, ctx); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		if err := s.finish(ctx); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	s.report.Evidence.Compact = s.host.Wire
	s.report.Evidence.Results = s.fleet.results.since(0)
	if err := s.host.Close(); err != nil {
		return err
	}
	sessions, err := s.sessions(ctx)
	if err != nil {
		return err
	}
	s.report.sum(sessions, time.Since(s.began))
	if s.report.Savings.Saved <= 0 {
		return fmt.Errorf("savings: %d tokens", s.report.Savings.Saved)
	}
	return s.text.savings(s.report)
}

// open begins a session in a mode and lists its tools.
func (s *session) open(ctx context.Context, mode string) (h *inproc.Host, list []byte, err error) {
	m, err := surface.NewMode(mode, surface.Options{})
	if err != nil {
		return nil, nil, err
	}
	h, err = inproc.Connect(ctx, "heddle-demo", true, func(ctx context.Context, in io.Reader, out io.Writer) error {
		return s.daemon.ServeStdio(ctx, m, in, out)
	})
	if err != nil {
		return nil, nil, err
	}
	if list, err = h.Request(ctx, "tools/list", nil, nil); err != nil {
		return nil, nil, errors.Join(err, h.Close())
	}
	return h, list, nil
}

// price lists the tools in two real sessions: one of a host that is shown
// everything, one of a host that is shown heddle's three tools. The second stays
// open.
func (s *session) price(ctx context.Context) error {
	h, native, err := s.open(ctx, "native")
	if err != nil {
		return err
	}
	s.report.Evidence.Native = h.Wire
	if err := h.Close(); err != nil {
		return err
	}
	h, compact, err := s.open(ctx, "compact")
	if err != nil {
		return err
	}
	s.host = h
	count, err := s.table()
	if err != nil {
		return errors.Join(err, h.Close())
	}
	// heddle's own tool is none that a host without heddle would pay for.
	s.report.Native = listing(native, count, func(name string) bool { return slices.Contains(surface.OwnNames(), name) })
	s.report.Compact = listing(compact, count, nil)
	total := 0
	for _, srv := range s.fleet.servers {
		n := listing(native, count, func(name string) bool { return srv.tools[name] == nil }).Tools
		s.report.Servers = append(s.report.Servers, ServerCount{srv.Name, n})
		total += n
	}
	if total != s.report.Native.Tools || s.report.Native.Tokens <= s.report.Compact.Tokens {
		return errors.Join(fmt.Errorf("%d tools of the servers, but %+v native and %+v compact", total, s.report.Native, s.report.Compact), h.Close())
	}
	return s.text.catalog(s.report)
}

// finish completes the calls of a step from the ledger and shows it.
func (s *session) finish(ctx context.Context) error {
	n := len(s.step.Calls)
	rows, err := s.rows(ctx, s.done+n)
	if err != nil {
		return err
	}
	count, err := s.table()
	if err != nil {
		return err
	}
	for i, c := range s.step.Calls {
		c.fill(&rows[s.done+i], count)
		if told := c.kind(); c.answer != nil && told != c.Kind {
			return fmt.Errorf("request %d: the answer says %q and the ledger %q", c.Request, told, c.Kind)
		}
	}
	s.done += n
	s.report.Steps = append(s.report.Steps, *s.step)
	return s.text.step(len(s.report.Steps)+1, s.step)
}

// rows returns the rows of the first n calls. The row of a cancelled call may
// come a moment after the cancellation.
func (s *session) rows(ctx context.Context, n int) ([]ledger.Row, error) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		rows, err := s.book.calls(ctx, s.daemon, s.report.Evidence.Ledger)
		if err != nil || len(rows) == n {
			return rows, err
		}
		if len(rows) > n {
			return nil, fmt.Errorf("%d calls made %d rows in the ledger", n, len(rows))
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, fmt.Errorf("%d calls made %d rows in the ledger: %w", n, len(rows), context.Cause(ctx))
		}
	}
}

// sessions counts the sessions in the ledger, and compares the sizes there with
// those of the lists that were received.
func (s *session) sessions(ctx context.Context) (int, error) {
	rows, err := s.book.sessions(ctx)
	if err != nil {
		return 0, err
	}
	for _, row := range rows {
		if row.Mode == "compact" && (row.NativeBytes != int64(s.report.Native.Bytes) || row.SurfaceBytes != int64(s.report.Compact.Bytes)) {
			return 0, fmt.Errorf("the ledger has %d and %d bytes of definitions, the wire %d and %d", row.NativeBytes, row.SurfaceBytes, s.report.Native.Bytes, s.report.Compact.Bytes)
		}
	}
	return len(rows), nil
}

// book reads the ledger of the run.
type book struct{ reader *ledger.Reader }

// calls returns all rows so far, oldest first.
func (b *book) calls(ctx context.Context, d *daemon.Daemon, path string) (rows []ledger.Row, err error) {
	if err := d.Flush(ctx); err != nil {
		return nil, err
	}
	if b.reader == nil {
		if b.reader, err = ledger.OpenReader(ctx, path); err != nil {
			return nil, err
		}
	}
	rows, err = b.reader.Calls(ctx, 1000)
	slices.Reverse(rows)
	return rows, err
}

func (b *book) sessions(ctx context.Context) ([]ledger.SessionRow, error) {
	return b.reader.Sessions(ctx, 1000)
}

func (b *book) close() {
	if b.reader != nil {
		_ = b.reader.Close() // read only: nothing is lost
	}
}

// call runs a tool of heddle's and notes it in the step. heard takes the
// progress; when it returns true, the call is cancelled.
func (s *session) call(ctx context.Context, tool string, args []byte, token string, heard func() bool) (*Call, error) {
	params := fmt.Appendf(nil, `{"name":%s,"arguments":%s`, wire.Quote(tool), args)
	if token != "" {
		params = fmt.Appendf(params, `,"_meta":{"progressToken":%s}`, wire.Quote(token))
	}
	params = append(params, '}')
	c := &Call{Arguments: args}
	s.step.Calls = append(s.step.Calls, c)
	before := len(s.fleet.results.since(0))
	stop := false
	answer, err := s.host.Request(ctx, "tools/call", params, func(m *wire.Message) bool {
		if t, _ := wire.Unquote(wire.Member(m.Params, "progressToken")); m.Method != "notifications/progress" || t != token {
			return false
		}
		c.Progress++
		c.progress = m.Params
		stop = heard()
		return stop
	})
	c.Request = s.host.ID
	if err != nil {
		return nil, err
	}
	if stop {
		return c, s.host.Cancel("the user changed their mind")
	}
	c.answer = answer
	if got := s.fleet.results.since(before); len(got) == 1 {
		c.upstream = got[0].Raw
	} else if len(got) > 1 {
		return nil, fmt.Errorf("one call made %d results", len(got))
	}
	return c, nil
}
