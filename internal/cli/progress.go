package cli

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"heddle/internal/upstream"
)

const (
	quietFor     = 500 * time.Millisecond // what is faster needs no word
	redrawnEvery = 100 * time.Millisecond
)

// statusLine is a stderr that may be a terminal: its last line says what a command
// waits for, and what is written meanwhile stands above it. Piped, it is what it
// wraps.
type statusLine struct {
	w       io.Writer
	columns int // 0 if it is no terminal

	mu    sync.Mutex
	shown string
}

// statusLine makes stderr one.
func (a *app) statusLine() *statusLine {
	l := &statusLine{w: a.err, columns: width(a.err)}
	a.err = l
	return l
}

// Write implements [io.Writer].
func (l *statusLine) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.draw("")
	return l.w.Write(p)
}

// draw puts text in place of what is shown; the caller holds the lock.
func (l *statusLine) draw(text string) {
	if text == l.shown {
		return
	}
	gone := utf8.RuneCountInString(l.shown) - utf8.RuneCountInString(text)
	fmt.Fprint(l.w, "\r", text, strings.Repeat(" ", max(0, gone)))
	if text == "" {
		fmt.Fprint(l.w, "\r")
	}
	l.shown = text
}

// show says what is waited for, as what has it now, once that takes longer than a
// moment. The returned function ends it and wipes the line; it must be called, and
// may be called again.
func (l *statusLine) show(what func() string) (done func()) {
	if l.columns == 0 {
		return func() {}
	}
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		wait := time.NewTimer(quietFor)
		defer wait.Stop()
		for {
			select {
			case <-stop:
				l.put("")
				return
			case <-wait.C:
				l.put(short(what()+" …", l.columns-1))
				wait.Reset(redrawnEvery)
			}
		}
	}()
	return sync.OnceFunc(func() { close(stop); <-ended })
}

func (l *statusLine) put(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.draw(text)
}

// reading says that a ledger is read, which takes a while where it is long.
func (a *app) reading() (done func()) {
	return a.statusLine().show(func() string { return "reading the ledger" })
}

// startingServers names the servers that are still starting.
// then is what is waited for once they have started.
func startingServers(servers []*upstream.Server, then string) string {
	var names []string
	for _, s := range servers {
		switch st := s.Status(); st.State {
		case upstream.StateStarting, upstream.StateWaiting:
			names = append(names, st.Name)
		}
	}
	if len(names) == 0 {
		return then
	}
	return fmt.Sprintf("starting %d of %s: %s", len(names), count(len(servers), "server"), strings.Join(names, ", "))
}
