// Package trial owns what `heddle verify` does: it runs heddle as a host would,
// from the host's directory and with the little of the environment that a host
// gives, and sees what comes of it.
//
// It calls no tool and changes nothing. What was started has ended when it
// returns.
package trial

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// Entry is what a host starts.
type Entry struct {
	Command string
	Args    []string
	// Dir is the directory that it is started in, Env its whole environment.
	Dir string
	Env []string
}

// Session is what a host sees.
type Session struct {
	// Server is the name and version that heddle gave, Protocol what both agreed on.
	Server, Protocol string
	// Tools are the names that were listed.
	Tools []string
	// Took is how long it was until the tools were there.
	Took time.Duration
}

// Error is why a host would see nothing.
type Error struct {
	// Step is "start", "initialize" or "tools/list".
	Step string
	// Stderr are the last lines that were written there.
	Stderr []string
	Err    error
}

// Error returns the step and the reason.
func (e *Error) Error() string { return e.Step + ": " + e.Err.Error() }

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Err }

// patience is how long the hosts wait that wait longest.
const patience = 60 * time.Second

// Open starts the entry, shakes hands as the host of that name, lists the tools
// and ends it.
func Open(ctx context.Context, e Entry, host string) (Session, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	stderr := &tail{}
	begin := time.Now()
	p, err := start(e.command(stderr))
	if err != nil {
		return Session{}, &Error{"start", nil, err}
	}
	defer p.end()
	s, err := p.greet(ctx, host)
	if err == nil {
		s.Tools, err = p.tools(ctx)
	}
	var failed *Error
	if errors.As(err, &failed) {
		p.end() // so that it has said all that it had to say
		failed.Stderr = stderr.lines()
	}
	s.Took = time.Since(begin)
	return s, err
}

func (e Entry) command(stderr *tail) *exec.Cmd {
	c := exec.Command(e.Command, e.Args...)
	c.Dir, c.Env, c.Stderr = e.Dir, e.Env, stderr
	return c
}

// Server is how a server behind heddle does when it is started from there.
type Server struct {
	Name   string `json:"name"`
	State  string `json:"state"`
	Reason string `json:"reason,omitempty"`
	Tools  int    `json:"tools"`
}

// Servers starts each server once, as the entry's heddle does, and says what
// became of it.
func Servers(ctx context.Context, e Entry) ([]Server, error) {
	stderr := &tail{}
	e.Args = append([]string{"validate", "--json"}, flagsOf(e.Args)...)
	c := e.command(stderr)
	var out bytes.Buffer
	c.Stdout = &out
	if err := c.Start(); err != nil {
		return nil, &Error{"start", nil, err}
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	var err error
	select {
	case err = <-ended:
	case <-ctx.Done(): // an interrupt lets it end its servers
		interrupt(c)
		<-ended
		return nil, context.Cause(ctx)
	}
	var report struct{ Servers []Server }
	if json.Unmarshal(out.Bytes(), &report) != nil { // it has said why on stderr
		return nil, &Error{"validate", stderr.lines(), fmt.Errorf("heddle validate: %w", err)}
	}
	return report.Servers, nil
}

// flagsOf returns the flags of an entry that say which servers it has.
func flagsOf(args []string) []string {
	var out []string
	for i, a := range args {
		name, _, joined := strings.Cut(a, "=")
		switch {
		case name != "--config" && name != "-c" && name != "--profile":
		case joined:
			out = append(out, a)
		case i+1 < len(args):
			out = append(out, a, args[i+1])
		}
	}
	return out
}

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const (
	tailBytes = 8 << 10
	tailLines = 10
)

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if over := len(t.text) - tailBytes; over > 0 {
		t.text = t.text[over:]
	}
	return len(p), nil
}

func (t *tail) lines() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := strings.TrimSpace(string(t.text))
	if text == "" {
		return nil
	}
	all := strings.Split(text, "\n")
	return all[max(0, len(all)-tailLines):]
}
