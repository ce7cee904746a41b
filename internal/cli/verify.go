package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"heddle/internal/config"
	"heddle/internal/hostfile"
	"heddle/internal/trial"
	"heddle/internal/upstream"

	"github.com/spf13/cobra"
)

func (a *app) verifyCommand() *cobra.Command {
	var f hostFlags
	c := &cobra.Command{
		Use:   "verify",
		Short: "Run heddle as a host would and say what it sees",
		Long: "Run heddle as a host would, from its directory and with the few variables that it gives, list the tools, and start\n" +
			"each server once. It is the entry in the host's file that is run, or what install would put there. No tool is\n" +
			"called. Exit code 1 if the host would see no tools, or a server does not start.",
		Args: exactArgs(0, 0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error { return a.verify(c.Context(), f) },
	}
	f.flags(c)
	f.modeFlag(c)
	a.profileFlag(c)
	a.jsonFlag(c)
	return c
}

// verifyReport is what verify says.
type verifyReport struct {
	Host      string         `json:"host"`
	Scope     string         `json:"scope"`
	Installed bool           `json:"installed"`
	Command   []string       `json:"command"`
	Dir       string         `json:"dir"`
	Variables []string       `json:"variables"`
	Server    string         `json:"server,omitempty"`
	Protocol  string         `json:"protocol,omitempty"`
	Tools     []string       `json:"tools"`
	Millis    int64          `json:"ms"`
	Servers   []trial.Server `json:"servers"`
	Failed    string         `json:"failed,omitempty"`
	Stderr    []string       `json:"stderr,omitempty"`
}

func (a *app) verify(ctx context.Context, f hostFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	e, err := a.editor()
	if err != nil {
		return err
	}
	host, entry, r, err := a.entry(e, f)
	if err != nil {
		return err
	}
	r.Host, r.Dir, r.Command = host.Name, entry.Dir, append([]string{entry.Command}, entry.Args...)
	for _, kv := range entry.Env {
		name, _, _ := strings.Cut(kv, "=")
		r.Variables = append(r.Variables, name)
	}
	done := a.statusLine().show(func() string { return "running heddle as " + host.Title + " would" })
	tryEntry(ctx, entry, host, &r)
	done()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := a.emit(r, func() { a.printVerify(host, r) }); err != nil {
		return err
	}
	if r.Failed != "" || slices.ContainsFunc(r.Servers, bad) {
		return &silent{exitFailure}
	}
	return nil
}

// entry returns what the host starts: the entry in its file, or the one that plan
// would put there.
func (a *app) entry(e *hostfile.Editor, f hostFlags) (*hostfile.Host, trial.Entry, verifyReport, error) {
	r := verifyReport{Tools: []string{}, Servers: []trial.Server{}}
	var out trial.Entry
	file, err := e.File(f.host, hostfile.Scope(f.scope))
	if err != nil {
		return nil, out, r, hostError(err)
	}
	host := file.Host
	r.Scope = string(file.Scope)
	out.Dir, out.Env = host.Start(e.Env, file.Scope)
	current, err := e.Current(f.host, hostfile.Scope(f.scope))
	if err != nil {
		return nil, out, r, hostError(err)
	}
	if current == nil || f.mode != "" || a.subset != nil {
		p, err := a.installRequest(e, f)
		if err != nil {
			return nil, out, r, err
		}
		p.Entry.Mode, _ = host.CheckMode(p.Entry.Mode) // it was checked
		out.Command, out.Args = p.Entry.Binary, p.Entry.Args()
		return host, out, r, nil
	}
	r.Installed = true
	return host, out, r, a.installed(current, &out)
}

// installed fills in what an entry of the host's file says, as heddle reads it.
func (a *app) installed(s *hostfile.Server, out *trial.Entry) error {
	at := fmt.Sprintf("%s:%d:%d", s.File.Path, s.Line, s.Column)
	if s.URL != "" {
		return &hinted{fmt.Errorf("%s: the entry is a URL, which the host does not start", at), "see `heddle status` for the heddle that serves it"}
	}
	if s.Disabled {
		return &hinted{fmt.Errorf("%s: the entry is disabled", at), "enable it in the host"}
	}
	there := filepath.Join(filepath.Dir(s.File.Path), "heddle.json") // Config writes JSON, whatever the host does
	cfg, err := config.Part(hostfile.Config([]hostfile.Decision{{Server: *s, Name: "entry"}}), there, a.env)
	if err == nil && cfg.Servers[0].Unusable != "" {
		err = errors.New(cfg.Servers[0].Unusable)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", at, err)
	}
	x := cfg.Servers[0]
	out.Command, out.Args = x.Command, x.Args
	for _, key := range slices.Sorted(maps.Keys(x.Env)) {
		out.Env = append(out.Env, key+"="+x.Env[key])
	}
	if s.Cwd != "" {
		out.Dir = x.Cwd
	}
	return nil
}

// tryEntry runs the entry, then each server.
func tryEntry(ctx context.Context, entry trial.Entry, host *hostfile.Host, r *verifyReport) {
	s, err := trial.Open(ctx, entry, host.Name)
	r.Server, r.Protocol, r.Millis = s.Server, s.Protocol, s.Took.Milliseconds()
	r.Tools = append(r.Tools, s.Tools...)
	if err == nil && len(s.Tools) == 0 {
		err = errors.New("tools/list: the host would see no tool")
	}
	if err == nil {
		var servers []trial.Server
		servers, err = trial.Servers(ctx, entry)
		r.Servers = append(r.Servers, servers...)
	}
	if err == nil {
		return
	}
	r.Failed = err.Error()
	var failed *trial.Error
	if errors.As(err, &failed) {
		r.Stderr = failed.Stderr
	}
}

// bad reports whether a server that should run does not.
func bad(s trial.Server) bool {
	return s.State != string(upstream.StateReady) && !(s.State == string(upstream.StateDisabled) && s.Reason == "disabled in the configuration")
}

func (a *app) printVerify(host *hostfile.Host, r verifyReport) {
	which := "what install would put there"
	if r.Installed {
		which = "the entry in its file"
	}
	fmt.Fprintf(a.out, "%s, the %s's file: %s\n  %s\n  in %s, with %s\n", host.Title, r.Scope, which, strings.Join(r.Command, " "), r.Dir, strings.Join(r.Variables, ", "))
	if r.Server != "" {
		fmt.Fprintf(a.out, "initialize: %s, protocol %s\n", r.Server, r.Protocol)
	}
	if len(r.Tools) > 0 {
		shown := r.Tools[:min(len(r.Tools), 5)]
		more := ""
		if rest := len(r.Tools) - len(shown); rest > 0 {
			more = fmt.Sprintf(" and %d more", rest)
		}
		fmt.Fprintf(a.out, "tools/list: %s in %v: %s%s\n", count(len(r.Tools), "tool"), (time.Duration(r.Millis) * time.Millisecond).String(), strings.Join(shown, ", "), more)
	}
	for _, s := range r.Servers {
		line := fmt.Sprintf("  %-24s %s", s.Name, s.State)
		if s.State == string(upstream.StateReady) {
			line += ", " + count(s.Tools, "tool")
		}
		fmt.Fprintln(a.out, line+ifAny(": ", s.Reason))
	}
	if r.Failed == "" {
		return
	}
	fmt.Fprintf(a.out, "failed: %s\n", r.Failed)
	for _, l := range r.Stderr {
		fmt.Fprintf(a.out, "  stderr: %s\n", l)
	}
}
