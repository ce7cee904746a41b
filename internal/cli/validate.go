package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"heddle/internal/config"
	"heddle/internal/daemon"
	"heddle/internal/upstream"

	"github.com/spf13/cobra"
)

func (a *app) validateCommand() *cobra.Command {
	var offline bool
	c := &cobra.Command{
		Use:   "validate",
		Short: "Check the configuration and say which tools it allows",
		Long: "Check the configuration, start its servers once and say of every tool whether it is allowed or denied,\n" +
			"and by which rule. Exit code 2 if the configuration has errors or a server lacks a variable.",
		Args: exactArgs(0, 0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error { return a.validate(c.Context(), offline) },
	}
	c.Flags().BoolVar(&offline, "offline", false, "check the file alone and start nothing")
	a.profileFlag(c)
	a.jsonFlag(c)
	return c
}

// report is all that validate says.
type report struct {
	Config   string           `json:"config"`
	Warnings []string         `json:"warnings"`
	Servers  []serverReport   `json:"servers"`
	Tools    []daemon.Verdict `json:"tools"`
}

type serverReport struct {
	Name   string `json:"name"`
	State  string `json:"state"`
	Reason string `json:"reason,omitempty"`
	Tools  int    `json:"tools"`
}

func (a *app) validate(ctx context.Context, offline bool) error {
	cfg, err := a.load()
	if err != nil {
		return err
	}
	r := report{Config: cfg.Path, Warnings: []string{}, Servers: []serverReport{}, Tools: []daemon.Verdict{}}
	for _, w := range cfg.Warnings {
		r.Warnings = append(r.Warnings, w.String())
	}
	if offline {
		for _, s := range cfg.Servers {
			r.Servers = append(r.Servers, serverReport{Name: s.Name, State: offlineState(s), Reason: s.Unusable})
		}
	} else if err := a.tryServers(ctx, cfg, &r); err != nil {
		return err
	}
	if a.json {
		enc := json.NewEncoder(a.out)
		enc.SetIndent("", "  ")
		err = enc.Encode(r)
	} else {
		r.print(a.out)
	}
	if err != nil {
		return err
	}
	return lacking(cfg)
}

func offlineState(s config.Server) string {
	switch {
	case s.Unusable != "":
		return "unusable"
	case s.Disabled:
		return "disabled"
	}
	return "configured"
}

// lacking fails if a server cannot be used as configured.
func lacking(cfg *config.Config) error {
	var names []string
	for _, s := range cfg.Servers {
		if s.Unusable != "" && !s.Disabled {
			names = append(names, s.Name+": "+s.Unusable)
		}
	}
	if names == nil {
		return nil
	}
	return &usageError{errors.New(strings.Join(names, "; ")), "only these servers are disabled by this; the others work"}
}

// tryServers starts every server once and adds what it lists to the report.
func (a *app) tryServers(ctx context.Context, cfg *config.Config, r *report) error {
	line := a.statusLine() // before the daemon: what it logs must not tear the line
	d, err := a.daemon(cfg, "validate", options{eager: true})
	if err != nil {
		return err
	}
	return d.Run(ctx, func(ctx context.Context) error {
		defer line.show(func() string { return startingServers(d.Pool().Servers(), "checking tools") })()
		d.Pool().Booted(ctx)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		r.add(d)
		return nil
	})
}

func (r *report) add(d *daemon.Daemon) {
	var names []string
	for _, s := range d.Pool().Servers() {
		st := s.Status()
		names = append(names, st.Name)
		r.Servers = append(r.Servers, serverReport{Name: st.Name, State: string(st.State), Reason: st.Reason, Tools: st.Tools})
		for _, w := range st.Warnings {
			r.Warnings = append(r.Warnings, st.Name+": "+w)
		}
	}
	r.Tools = d.Verdicts()
	for _, w := range d.Policy().Reach(names) {
		r.Warnings = append(r.Warnings, w.String())
	}
	for _, p := range idlePatterns(d) {
		r.Warnings = append(r.Warnings, p.String())
	}
	state := d.State()
	for _, w := range state.Warnings {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%s::%s: %s: %s", w.Server, w.Tool, w.Kind, w.Message))
	}
}

func (r *report) print(w io.Writer) {
	fmt.Fprintf(w, "%s is valid.\n", r.Config)
	for _, s := range r.Servers {
		line := fmt.Sprintf("\n%s: %s", s.Name, s.State)
		if s.State == string(upstream.StateReady) {
			line += ", " + count(s.Tools, "tool")
		}
		if s.Reason != "" {
			line += ": " + s.Reason
		}
		fmt.Fprintln(w, line)
		printVerdicts(w, "  ", toolsOf(s.Name, r.Tools))
	}
	if len(r.Warnings) > 0 {
		fmt.Fprintln(w, "\nwarnings:")
	}
	for _, s := range r.Warnings {
		fmt.Fprintf(w, "  %s\n", s)
	}
}

// printVerdicts says of each tool of a server whether it is there and by which rule,
// and what its calls are held to: once for most, and below a tool where that differs.
func printVerdicts(w io.Writer, margin string, tools []daemon.Verdict) {
	counts := map[string]int{}
	most := ""
	for i := range tools {
		if held := heldTo(&tools[i]); tools[i].Allowed {
			if counts[held]++; counts[held] > counts[most] {
				most = held
			}
		}
	}
	if most != "" {
		fmt.Fprintf(w, "%scalls: %s\n", margin, most)
	}
	for i := range tools {
		t := &tools[i]
		word, rule := "denied ", t.Rule
		switch {
		case t.Held != "":
			word, rule = "held   ", t.Held
		case t.Allowed:
			word = "allowed"
		}
		fmt.Fprintf(w, "%s%s  %-40q %s\n", margin, word, t.Tool, rule)
		if held := heldTo(t); t.Allowed && held != most {
			if held == "" {
				held = "no guard"
			}
			fmt.Fprintf(w, "%s         calls: %s\n", margin, held)
		}
		for _, f := range t.Flags {
			fmt.Fprintf(w, "%s         flagged: %s\n", margin, f)
		}
	}
}

// heldTo says what the calls of a tool are held to besides its schema.
func heldTo(t *daemon.Verdict) string {
	var out []string
	if t.Confirm != "" {
		out = append(out, "ask the user ("+t.Confirm+")")
	}
	if t.RateLimit != "" {
		out = append(out, t.RateLimit)
	}
	if t.SSRF != "metadata" {
		out = append(out, "ssrf "+t.SSRF)
	}
	if len(t.PrivateHosts) > 0 {
		out = append(out, "may reach "+strings.Join(t.PrivateHosts, " "))
	}
	if t.Injection != "off" {
		out = append(out, "injection "+t.Injection+", results "+t.Results)
	}
	if t.Secrets != "off" {
		out = append(out, "secrets "+t.Secrets)
	}
	return strings.Join(out, "; ")
}

// toolsOf are the verdicts about one server's tools.
func toolsOf(server string, all []daemon.Verdict) (out []daemon.Verdict) {
	for _, t := range all {
		if t.Server == server {
			out = append(out, t)
		}
	}
	return out
}
