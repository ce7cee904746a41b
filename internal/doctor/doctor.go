// Package doctor owns the checks of `heddle doctor`: what keeps heddle and its
// servers from working on this machine, and what to do about it.
//
// It changes nothing and calls no tool. It starts runtimes to ask for their
// version, and heddle-sql to check itself; what the servers did when they were
// started it is told. No value of a variable, a header or an argument gets into a
// finding.
//
// Start at [Checks]: a check is a function there, and a new one goes there.
package doctor

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"heddle/internal/config"
	"heddle/internal/hostfile"
	"heddle/internal/upstream"
)

// Level says how bad a finding is.
type Level string

// The levels.
const (
	// OK is as it should be.
	OK Level = "ok"
	// Warning works now, but costs something or may fail elsewhere.
	Warning Level = "warning"
	// Problem does not work.
	Problem Level = "problem"
)

// Finding is one thing that a check found.
type Finding struct {
	// Check is the name of the check.
	Check string `json:"check"`
	Level Level  `json:"level"`
	// Subject is what it is about: a server, a program, a file.
	Subject string `json:"subject"`
	// Code is a stable name of what is wrong with a server; "" for other things.
	Code string `json:"code,omitempty"`
	What string `json:"what"`
	// Remedy says what to do; "" if there is nothing to do.
	Remedy string `json:"remedy,omitempty"`
	// Details are lines of others, such as a server's last words.
	Details []string `json:"details,omitempty"`
}

// Machine is what the checks look at.
type Machine struct {
	Version string
	// Config is nil if ConfigErr says why there is none.
	Config    *config.Config
	ConfigErr error
	// Fileless is true if Config is no file's, but what hosts' files have.
	Fileless bool
	// Stands says how heddle stands to a host's server; nil is that it has none.
	Stands func(hostfile.Server) hostfile.Standing
	Env    hostfile.Env
	// Path is where programs are looked for, WindowPath where a host does that was
	// not started from a shell; "" for the latter is no difference.
	Path, WindowPath string
	// Binary is this program.
	Binary string
	// StateDir, CacheDir and TempDir are directories that heddle writes to; "" for
	// none.
	StateDir, CacheDir, TempDir string
	// Worker is the path of heddle-sql; "" if there is none.
	Worker string
	// Port is where hosts over HTTP find heddle by default.
	Port int
	// Servers starts the servers and returns how that went, and which patterns match
	// none of their tools.
	Servers func(context.Context) ([]Server, []Idle, error)
	Running []Running
}

// Server is a server that was started, or was not.
type Server struct {
	upstream.Status
	// Took is the time from its start to its list of tools; 0 if it has none.
	Took time.Duration
	// Odd says what is odd about its tools.
	Odd []string
}

// Idle is a pattern of the configuration that matches no tool.
type Idle struct {
	List, Pattern string
	// Near are names of tools like it.
	Near []string
}

// String says it in one line.
func (i Idle) String() string {
	text := fmt.Sprintf("%s: %q matches no tool", i.List, i.Pattern)
	if len(i.Near) > 0 {
		text += "; near: " + strings.Join(i.Near, ", ")
	}
	return text
}

// Running is a heddle that runs on this machine.
type Running struct {
	PID                     int
	Version, Config, Listen string
	Degraded                bool
}

// Check is one area that is looked at.
type Check struct {
	Name string
	run  func(context.Context, *Machine) []Finding
}

// Checks are all checks, in the order of their findings.
func Checks() []Check {
	return []Check{
		{"configuration", configuration},
		{"runtimes", runtimes},
		{"path", windowPath},
		{"servers", servers},
		{"hosts", hosts},
		{"sql", sql},
		{"ports", ports},
		{"files", files},
		{"heddles", heddles},
	}
}

// Run makes all checks side by side and returns what they found, in their order.
func Run(ctx context.Context, m *Machine) []Finding {
	checks := Checks()
	found := make([][]Finding, len(checks))
	var all sync.WaitGroup
	for i, c := range checks {
		all.Go(func() { found[i] = c.run(ctx, m) })
	}
	all.Wait()
	out := []Finding{}
	for i, c := range checks {
		for _, f := range found[i] {
			f.Check = c.Name
			out = append(out, f)
		}
	}
	return out
}

// Count returns how many findings have that level.
func Count(findings []Finding, l Level) (n int) {
	for _, f := range findings {
		if f.Level == l {
			n++
		}
	}
	return n
}
