package cli

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"heddle/internal/config"
	"heddle/internal/demo"

	"golang.org/x/sys/unix"
)

// screen is a terminal of so many columns, and what was written to it.
type screen struct {
	tty  *os.File
	ptmx *os.File

	mu   sync.Mutex
	text bytes.Buffer
	more chan struct{} // has a token after something was written
}

func newScreen(t *testing.T, columns int) *screen {
	t.Helper()
	ptmx, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no terminals here: ", err)
	}
	fd := int(ptmx.Fd())
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Skip("no terminals here: ", err)
	}
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no terminals here: ", err)
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 50, Col: uint16(columns)}); err != nil {
		t.Fatal(err)
	}
	s := &screen{tty: tty, ptmx: ptmx, more: make(chan struct{}, 1)}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		buf := make([]byte, 4096)
		for {
			n, err := ptmx.Read(buf)
			s.mu.Lock()
			s.text.Write(buf[:n])
			s.mu.Unlock()
			select {
			case s.more <- struct{}{}:
			default:
			}
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() { _ = tty.Close(); <-ended; _ = ptmx.Close() })
	return s
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.ReplaceAll(s.text.String(), "\r\n", "\n")
}

// await waits for text on the screen.
func (s *screen) await(t *testing.T, text string) {
	t.Helper()
	limit := time.After(20 * time.Second)
	for !strings.Contains(s.String(), text) {
		select {
		case <-s.more:
		case <-limit:
			t.Fatalf("%q never came:\n%s", text, s)
		}
	}
}

// TestReportsOnATerminal shows the ledger of a real session on terminals: with
// charts that fit their width.
func TestReportsOnATerminal(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a session: not with -short")
	}
	state := t.TempDir()
	if err := os.Mkdir(filepath.Join(state, "heddle"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := demo.Run(t.Context(), demo.Options{Dir: filepath.Join(state, "heddle"), Logger: slog.New(slog.DiscardHandler)}); err != nil {
		t.Fatal(err)
	}
	env := config.Env{Lookup: func(name string) (string, bool) { return state, name == "XDG_STATE_HOME" }}
	for _, columns := range []int{40, 90, 200} {
		s := newScreen(t, columns)
		a := &app{out: s.tty, err: s.tty, env: env}
		for name, run := range map[string]func(context.Context) error{
			"stats":      func(ctx context.Context) error { return a.stats(ctx, statsFlags{}) },
			"stats --db": func(ctx context.Context) error { return a.stats(ctx, statsFlags{db: true}) },
			"profile":    func(ctx context.Context) error { return a.profile(ctx, false) },
		} {
			if err := run(t.Context()); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		fmt.Fprintln(s.tty, "the end")
		s.await(t, "the end\n")
		checkCharts(t, s.String(), columns)
	}
}

// checkCharts wants lines with bars to fit the terminal, and bars where there is
// room.
func checkCharts(t *testing.T, text string, columns int) {
	t.Helper()
	bars := 0
	for line := range strings.Lines(text) {
		if strings.Contains(line, "█") {
			bars++
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > columns {
				t.Errorf("a chart line of %d columns on a terminal of %d: %s", n, columns, line)
			}
		}
	}
	if columns >= 90 && bars < 20 {
		t.Errorf("%d lines with bars on a terminal of %d columns:\n%s", bars, columns, text)
	}
}

// TestStatusLine shows what is waited for after half a second, keeps it current, lets
// others write above it and wipes it.
func TestStatusLine(t *testing.T) {
	s := newScreen(t, 30)
	var what atomic.Value
	what.Store("starting github and quite some other servers")
	a := &app{err: s.tty}
	done := a.statusLine().show(func() string { return what.Load().(string) })
	s.await(t, "\rstarting github and quite so…")
	what.Store("counting")
	s.await(t, "\rcounting …"+strings.Repeat(" ", 19))
	fmt.Fprintln(a.err, "a warning")
	s.await(t, "\r"+strings.Repeat(" ", 10)+"\ra warning\n\rcounting …")
	done()
	done()
	fmt.Fprintln(a.err, "the end")
	s.await(t, "\rcounting …\r"+strings.Repeat(" ", 10)+"\rthe end\n")

	quick := newScreen(t, 30)
	(&app{err: quick.tty}).statusLine().show(func() string { return "nothing" })()
	if got := quick.String(); got != "" {
		t.Errorf("what was fast is on the terminal: %q", got)
	}
	var pipe bytes.Buffer
	a = &app{err: &pipe}
	a.statusLine().show(func() string { t.Error("asked what is waited for"); return "" })()
	fmt.Fprint(a.err, "said")
	if pipe.String() != "said" {
		t.Errorf("a pipe got %q", pipe.String())
	}
}
