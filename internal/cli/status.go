package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"heddle/internal/daemon"
	"heddle/internal/dataset"
	"heddle/internal/upstream"

	"github.com/spf13/cobra"
)

func (a *app) statusCommand() *cobra.Command {
	var tools bool
	c := &cobra.Command{
		Use:   "status",
		Short: "Show the heddles that run and how their servers are",
		Long:  "Show the heddles that run on this machine, their servers, and what is odd about their tools.\nExit code 1 if any of them is degraded.",
		Args:  exactArgs(0, 0, "no arguments"),
		RunE:  func(*cobra.Command, []string) error { return a.status(tools) },
	}
	c.Flags().BoolVar(&tools, "tools", false, "show every tool and what its calls are held to")
	a.jsonFlag(c)
	return c
}

func (a *app) status(tools bool) error {
	states, err := daemon.ReadStates(a.stateDir())
	if err != nil {
		return err
	}
	degraded := false
	for _, s := range states {
		degraded = degraded || s.Health == "degraded"
	}
	if a.json {
		if states == nil {
			states = []daemon.State{}
		}
		enc := json.NewEncoder(a.out)
		enc.SetIndent("", "  ")
		err = enc.Encode(states)
	} else {
		a.printStates(states, tools)
	}
	if err == nil && degraded {
		return &silent{exitFailure}
	}
	return err
}

func (a *app) printStates(states []daemon.State, tools bool) {
	if len(states) == 0 {
		fmt.Fprintln(a.out, "No heddle is running.")
	}
	for i, s := range states {
		if i > 0 {
			fmt.Fprintln(a.out)
		}
		fmt.Fprintf(a.out, "heddle %s  pid %d  mode %s  %s  up %s\n", s.Version, s.PID, s.Mode, s.Health, age(s.Started))
		if s.Listen != "" {
			fmt.Fprintf(a.out, "at     %s\n", s.Listen)
		}
		fmt.Fprintf(a.out, "config %s\n", s.Config)
		fmt.Fprintf(a.out, "ledger %d rows written, %d dropped\n", s.Ledger.Written, s.Ledger.Dropped)
		if s.Ledger.Problem != "" {
			fmt.Fprintf(a.out, "ledger cannot be written: %s\n", s.Ledger.Problem)
		}
		if s.Audit.Output != "" {
			fmt.Fprintf(a.out, "audit  %d lines written, %d dropped: %s\n", s.Audit.Written, s.Audit.Dropped, s.Audit.Output)
		}
		if s.Audit.Problem != "" {
			fmt.Fprintf(a.out, "audit  cannot be written: %s\n", s.Audit.Problem)
		}
		if s.Captures.Count > 0 {
			fmt.Fprintf(a.out, "kept   %s captured, %.1f MB\n", count(s.Captures.Count, "result"), float64(s.Captures.Bytes)/1e6)
		}
		a.printSQL(s.SQL)
		if s.HostStray > 0 {
			fmt.Fprintf(a.out, "host   wrote %d lines that are no protocol messages\n", s.HostStray)
		}
		for _, u := range s.Servers {
			a.printServer(u)
			a.printGuards(u.Name, s.Tools, tools)
		}
		a.printWarnings(s)
	}
}

// printGuards counts what the guards make of a server's tools, or shows all.
func (a *app) printGuards(server string, all []daemon.Verdict, each bool) {
	asks, held, flagged := 0, 0, 0
	tools := toolsOf(server, all)
	if each {
		printVerdicts(a.out, "      ", tools)
	}
	for _, t := range tools {
		switch {
		case t.Held != "":
			held++
		case len(t.Flags) > 0:
			flagged++
		}
		if t.Allowed && t.Confirm != "" {
			asks++
		}
	}
	for _, line := range []struct {
		n    int
		text string
	}{{asks, "ask the user before a call"}, {held, "wait for approval: heddle lock --check"}, {flagged, "have a suspicious definition: heddle validate"}} {
		if line.n > 0 {
			fmt.Fprintf(a.out, "      %d %s\n", line.n, line.text)
		}
	}
}

func (a *app) printServer(u daemon.ServerState) {
	line := fmt.Sprintf("  %-24s %-9s %s", u.Name, u.State, count(u.Allowed, "tool"))
	if denied := u.Tools - u.Allowed; denied > 0 {
		line += fmt.Sprintf(" (%d not allowed)", denied)
	}
	if u.State == upstream.StateReady {
		line += fmt.Sprintf("  protocol %s  circuit %s", u.Protocol, u.Circuit)
	}
	if u.Restarts > 0 {
		line += fmt.Sprintf("  restarts %d", u.Restarts)
	}
	fmt.Fprintln(a.out, line)
	if u.Reason != "" {
		fmt.Fprintf(a.out, "      %s: %s\n", u.Code, u.Reason)
	}
	if u.NextRetry != nil {
		fmt.Fprintf(a.out, "      next try in %s\n", max(0, time.Until(*u.NextRetry)).Round(time.Second))
	}
	for _, l := range u.Stderr {
		fmt.Fprintf(a.out, "      stderr: %s\n", l)
	}
	if u.Stray > 0 {
		fmt.Fprintf(a.out, "      writes non-protocol text to stdout: %d lines, first: %s\n", u.Stray, strings.Join(u.StrayFirst, " | "))
	}
	if u.BadBytes > 0 {
		fmt.Fprintf(a.out, "      sent %d bytes that are not UTF-8; they were replaced\n", u.BadBytes)
	}
	if u.Late > 0 {
		fmt.Fprintf(a.out, "      %d answers came too late or to nobody\n", u.Late)
	}
	for _, w := range u.Warnings {
		fmt.Fprintf(a.out, "      %s\n", w)
	}
}

func (a *app) printWarnings(s daemon.State) {
	if len(s.Warnings) > 0 {
		fmt.Fprintln(a.out, "warnings:")
	}
	for _, w := range s.Warnings {
		fmt.Fprintf(a.out, "  %s::%s  %s: %s\n", w.Server, w.Tool, w.Kind, w.Message)
	}
	if len(s.Names) > 0 {
		fmt.Fprintln(a.out, "names that are not simply <server>_<tool>:")
	}
	for _, n := range s.Names {
		fmt.Fprintf(a.out, "  %s::%s  is exposed as %s\n", n.Server, n.Tool, n.Exposed)
	}
}

// count is a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func age(t time.Time) string { return time.Since(t).Round(time.Second).String() }

// printSQL says what there is of SQL, and what its seal lacks on this system.
func (a *app) printSQL(s dataset.Status) {
	switch {
	case s.Lacks != "":
		fmt.Fprintf(a.out, "sql    none: %s\n", s.Lacks)
	case s.Workers > 0 || s.Datasets > 0:
		fmt.Fprintf(a.out, "sql    %s, %s, %s\n", count(s.Datasets, "dataset"), count(s.Workers, "worker"), s.Engine)
	}
	for _, l := range s.Unsealed {
		fmt.Fprintf(a.out, "sql    the worker's seal is not complete: %s\n", l)
	}
}
