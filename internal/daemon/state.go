package daemon

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"heddle/internal/dataset"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"heddle"
	"heddle/internal/catalog"
	"heddle/internal/policy/schema"
	"heddle/internal/upstream"
)

// State is what a running daemon tells `heddle status`, through a file.
type State struct {
	PID     int       `json:"pid"`
	Version string    `json:"version"`
	Mode    string    `json:"mode"`
	Config  string    `json:"config"`
	Started time.Time `json:"started"`
	// Listen is the URL that hosts find heddle at; "" over stdio.
	Listen  string    `json:"listen,omitempty"`
	Written time.Time `json:"written"`
	// Health is "starting", "healthy" or "degraded".
	Health   string        `json:"health"`
	Servers  []ServerState `json:"servers"`
	Warnings []Warning     `json:"warnings,omitempty"`
	Names    []Name        `json:"names,omitempty"`
	// Tools are all that the servers list, with what the guards make of them.
	Tools    []Verdict    `json:"tools,omitempty"`
	Audit    AuditState   `json:"audit"`
	Ledger   LedgerState  `json:"ledger"`
	Captures CaptureState `json:"captures"`
	// SQL says how datasets stand.
	SQL dataset.Status `json:"sql"`
	// HostStray counts lines of the host that were no messages.
	HostStray int64 `json:"host_stray_lines,omitempty"`
}

// ServerState is a server with what the policy leaves of its tools.
type ServerState struct {
	upstream.Status
	// Allowed is how many of the server's tools exist for the host.
	Allowed int `json:"allowed_tools"`
}

// Warning is one odd definition or name.
type Warning struct {
	Server  string `json:"server"`
	Tool    string `json:"tool,omitempty"`
	Kind    string `json:"kind"`
	Message string `json:"message"`
}

// Name is a tool whose exposed name is not simply made of its own.
type Name struct {
	Server  string `json:"server"`
	Tool    string `json:"tool"`
	Exposed string `json:"exposed"`
}

// LedgerState counts rows.
type LedgerState struct {
	Path    string `json:"path,omitempty"`
	Written uint64 `json:"written"`
	Dropped uint64 `json:"dropped"`
	// Problem says why rows cannot be written now; "" if they can.
	Problem string `json:"problem,omitempty"`
}

// AuditState counts lines.
type AuditState struct {
	// Output is where lines go: the path of a file, "stderr", or "" for nowhere.
	Output  string `json:"output,omitempty"`
	Written uint64 `json:"written"`
	Dropped uint64 `json:"dropped"`
	// Problem says why lines cannot be written now; "" if they can.
	Problem string `json:"problem,omitempty"`
}

// CaptureState counts large results that are kept.
type CaptureState struct {
	Count int `json:"count"`
	// Bytes is their size, Memory and Disk what they take.
	Bytes  int64 `json:"bytes"`
	Memory int64 `json:"memory_bytes"`
	Disk   int64 `json:"disk_bytes"`
	// Evicted is how many were given up for want of room.
	Evicted uint64 `json:"evicted"`
}

// State returns the daemon's state now.
func (d *Daemon) State() State {
	g := d.current.Load()
	s := State{
		PID: os.Getpid(), Version: heddle.Version, Mode: d.o.Mode, Config: g.config.Path, Started: d.started, Listen: d.listen(), Written: time.Now(),
		Ledger: LedgerState{Path: d.o.LedgerPath, Written: d.ledger.Written(), Dropped: d.ledger.Dropped(), Problem: d.ledger.Problem()},
	}
	s.Audit = AuditState{Written: d.audit.Written(), Dropped: d.audit.Dropped(), Problem: d.audit.Problem()}
	switch a := d.o.Config.Audit; a.Output {
	case "file":
		s.Audit.Output = a.Path
	case "stderr":
		s.Audit.Output = a.Output
	}
	s.Tools = d.Verdicts()
	c := d.results.Stats()
	s.Captures = CaptureState{Count: c.Captures, Bytes: c.Raw, Memory: c.Memory, Disk: c.Disk, Evicted: c.Evicted}
	s.SQL = d.sets.Status()
	if f := d.front.Load(); f != nil {
		s.HostStray = (*f).Stray()
	}
	snapshot := g.catalog.Snapshot()
	allowed := map[string]int{}
	for _, t := range snapshot.Tools() {
		allowed[t.Ref.Server]++
	}
	var servers []upstream.Status
	for _, u := range g.pool.Servers() {
		st := u.Status()
		servers = append(servers, st)
		s.Servers = append(s.Servers, ServerState{Status: st, Allowed: allowed[st.Name]})
	}
	s.Health = health(servers)
	for _, w := range snapshot.Warnings() {
		s.Warnings = append(s.Warnings, Warning{Server: w.Server, Tool: w.Tool, Kind: w.Kind, Message: w.Message})
	}
	if found := d.schemas.Load(); found != nil {
		for _, w := range *found {
			s.Warnings = append(s.Warnings, Warning{Server: w.Server, Tool: w.Tool, Kind: w.Kind, Message: w.Message})
		}
	}
	for _, t := range snapshot.Tools() {
		if t.Exposed != t.Ref.Server+"_"+t.Ref.Name {
			s.Names = append(s.Names, Name{Server: t.Ref.Server, Tool: t.Ref.Name, Exposed: t.Exposed})
		}
	}
	return s
}

// health says in a word how the servers are.
func health(servers []upstream.Status) string {
	word := "healthy"
	for _, s := range servers {
		switch {
		case switchedOff(&s):
		case s.State == upstream.StateReady && s.Circuit == "closed", s.State == upstream.StateIdle:
		case s.State == upstream.StateWaiting || s.State == upstream.StateStarting:
			if word == "healthy" {
				word = "starting"
			}
		default:
			word = "degraded"
		}
	}
	return word
}

// switchedOff reports whether a server is not meant to run. One that lacks a
// variable is.
func switchedOff(s *upstream.Status) bool { return s.Code == "off" }

// warnSchema is the kind of warning for a schema that no dialect compiles.
const warnSchema = "schema_does_not_compile"

// checkSchemas finds the tools whose arguments cannot be validated, so that
// status can name them before anybody calls them.
func (d *Daemon) checkSchemas(g *generation) {
	var out []catalog.Warning
	throwaway := schema.New(1) // what is never called should not stay compiled
	for _, t := range g.catalog.Snapshot().Tools() {
		if err := throwaway.Compile(t); err != nil {
			out = append(out, catalog.Warning{
				Server: t.Ref.Server, Tool: t.Ref.Name, Kind: warnSchema,
				Message: "calls are passed on without validation: " + err.Error(),
			})
		}
	}
	d.schemas.Store(&out)
}

// stateEvery is how often the state is written while nothing happens, for the
// counters in it.
const stateEvery = 10 * time.Second

// stateFile is one daemon's file for `heddle status`.
type stateFile struct {
	path   string
	last   []byte
	logger *slog.Logger
	failed bool
}

func runDir(stateDir string) string { return filepath.Join(stateDir, "run") }

func newStateFile(dir string, logger *slog.Logger) *stateFile {
	f := &stateFile{logger: logger}
	if dir == "" {
		return f
	}
	if err := os.MkdirAll(runDir(dir), 0o700); err != nil {
		logger.Warn("no state for heddle status", "err", err)
		return f
	}
	f.path = filepath.Join(runDir(dir), fmt.Sprintf("%d.json", os.Getpid()))
	return f
}

// write replaces the file if the state changed. A failure is logged once: status
// matters less than serving.
func (f *stateFile) write(s State) {
	if f.path == "" {
		return
	}
	written := s.Written
	s.Written = time.Time{}
	b, err := json.MarshalIndent(s, "", " ")
	if err != nil || bytes.Equal(b, f.last) {
		return
	}
	f.last = b
	s.Written = written
	b, _ = json.MarshalIndent(s, "", " ")
	tmp := f.path + ".tmp"
	if err = os.WriteFile(tmp, b, 0o600); err == nil {
		err = os.Rename(tmp, f.path)
	}
	if err != nil && !f.failed {
		f.failed = true
		f.logger.Warn("state not written", "err", err)
	}
}

func (f *stateFile) remove() {
	if f.path != "" {
		_ = os.Remove(f.path) // a stale file is removed by the next status
	}
}

// ReadStates returns the states of the daemons that run, oldest first, and
// removes the files of those that do not.
func ReadStates(stateDir string) ([]State, error) {
	entries, err := os.ReadDir(runDir(stateDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []State
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".json") {
			continue
		}
		path := filepath.Join(runDir(stateDir), e.Name())
		b, err := os.ReadFile(path)
		var s State
		if err != nil || json.Unmarshal(b, &s) != nil {
			continue // being written, or not ours
		}
		if !alive(s.PID, s.Started) {
			_ = os.Remove(path)
			continue
		}
		out = append(out, s)
	}
	return out, nil
}
