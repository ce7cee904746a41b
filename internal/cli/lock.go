package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"heddle"
	"heddle/internal/config"
	"heddle/internal/daemon"
	"heddle/internal/lock"
	"heddle/internal/upstream"

	"github.com/spf13/cobra"
)

func (a *app) lockCommand() *cobra.Command {
	var check bool
	c := &cobra.Command{
		Use:   "lock",
		Short: "Approve the definitions of all tools as they are now",
		Long: "Start the servers once and write the definitions of all allowed tools to heddle.lock, beside the configuration. With\n" +
			"catalog.lock: enforce a tool whose definition is not the approved one is neither listed nor callable; with warn it is\n" +
			"flagged. What is suspicious in a definition is shown, and not approved: heddle approve does that, tool by tool.\n\n" +
			"With --check, nothing is written: differences are shown, and the exit code is 1 if there are any.",
		Example: "  heddle lock\n  heddle lock --check",
		Args:    exactArgs(0, 0, "no arguments"),
		RunE:    func(c *cobra.Command, _ []string) error { return a.lock(c.Context(), check) },
	}
	c.Flags().BoolVar(&check, "check", false, "compare and write nothing")
	a.jsonFlag(c)
	return c
}

func (a *app) approveCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "approve SERVER::TOOL",
		Short:   "Approve the definition of one tool as it is now",
		Long:    "Start the tool's server, show what changed in the tool's definition since it was approved and what is suspicious in it,\nand write it to heddle.lock as approved. Look first with `heddle lock --check`.",
		Example: "  heddle approve github::create_issue",
		Args:    exactArgs(1, 1, "the tool's name as SERVER::TOOL"),
		RunE:    func(c *cobra.Command, args []string) error { return a.approve(c.Context(), args[0]) },
	}
	a.jsonFlag(c)
	return c
}

// change is what lock and approve say of one tool.
type change struct {
	Server string `json:"server"`
	Tool   string `json:"tool"`
	// State is "new", "changed", "gone", or "approved" for one that is as it was.
	State       string   `json:"state"`
	RenamedFrom string   `json:"renamed_from,omitempty"`
	Diff        string   `json:"diff,omitempty"`
	Findings    []string `json:"findings,omitempty"`
	// Written says that the file has it now.
	Written bool `json:"written"`
}

// lockReport is all that the commands say.
type lockReport struct {
	File     string   `json:"file"`
	Approved int      `json:"approved"` // tools that are as they were
	Changes  []change `json:"changes"`
	// Unknown are servers that could not be asked.
	Unknown []string `json:"unknown_servers,omitempty"`
}

func (a *app) lock(ctx context.Context, check bool) error {
	cfg, err := a.load()
	if err != nil {
		return err
	}
	all, gone, r, err := a.definitions(ctx, cfg)
	if err != nil {
		return err
	}
	for i := range all {
		r.add(&all[i])
	}
	for _, ref := range gone {
		r.Changes = append(r.Changes, change{Server: ref.Server, Tool: ref.Name, State: "gone"})
	}
	if !check {
		err = lock.Update(r.File, func(f *lock.File) error { return r.write(f, all, gone) })
		if err != nil {
			return err
		}
	}
	if err := a.emit(r, func() { a.printLock(r, check) }); err != nil {
		return err
	}
	if check && (len(r.Changes) > 0 || len(r.Unknown) > 0) {
		return &silent{exitFailure}
	}
	return nil
}

// definitions starts the servers and compares what they list with the file.
func (a *app) definitions(ctx context.Context, cfg *config.Config) (all []daemon.Definition, gone []heddle.ToolRef, r *lockReport, err error) {
	line := a.statusLine() // before the daemon: what it logs must not tear the line
	d, err := a.daemon(cfg, "lock", options{eager: true})
	if err != nil {
		return nil, nil, nil, err
	}
	r = &lockReport{File: daemon.LockPath(cfg), Changes: []change{}}
	err = d.Run(ctx, func(ctx context.Context) error {
		defer line.show(func() string { return startingServers(d.Pool().Servers(), "comparing definitions") })()
		d.Pool().Booted(ctx)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		a.warnFailed(d.Pool().Servers())
		for _, s := range d.Pool().Servers() {
			if st := s.Status(); st.State != upstream.StateReady && st.Code != "off" {
				r.Unknown = append(r.Unknown, st.Name)
			}
		}
		all, gone, err = d.Definitions()
		return err
	})
	return all, gone, r, err
}

// add notes how a tool differs from the file.
func (r *lockReport) add(d *daemon.Definition) {
	if d.State == lock.Approved {
		r.Approved++
		return
	}
	c := change{Server: d.Tool.Ref.Server, Tool: d.Tool.Ref.Name, State: string(d.State), RenamedFrom: d.RenamedFrom, Findings: d.Findings}
	if d.State == lock.Changed {
		c.Diff = lock.Diff(d.Before, d.Definition)
	}
	r.Changes = append(r.Changes, c)
}

// write approves what is not suspicious and forgets what is gone.
func (r *lockReport) write(f *lock.File, all []daemon.Definition, gone []heddle.ToolRef) error {
	at := time.Now()
	for i := range all {
		d := &all[i]
		if len(d.Findings) > 0 || d.State == lock.Approved {
			continue
		}
		if err := f.Approve(d.Tool, at); err != nil {
			return fmt.Errorf("%s: %w", lock.Show(d.Tool.Ref.String()), err)
		}
		r.mark(d.Tool.Ref)
	}
	for _, ref := range gone {
		f.Remove(ref)
		r.mark(ref)
	}
	return nil
}

func (r *lockReport) mark(ref heddle.ToolRef) {
	for i := range r.Changes {
		if c := &r.Changes[i]; c.Server == ref.Server && c.Tool == ref.Name {
			c.Written = true
		}
	}
}

func (a *app) printLock(r *lockReport, check bool) {
	left := 0
	for _, c := range r.Changes {
		a.printChange(&c)
		if !c.Written && c.State != "gone" {
			left++
		}
	}
	if len(r.Changes) > 0 {
		fmt.Fprintln(a.out)
	}
	switch {
	case len(r.Changes) == 0:
		fmt.Fprintf(a.out, "%s: %s, all as approved.\n", r.File, count(r.Approved, "tool"))
	case check:
		fmt.Fprintf(a.out, "%s: %s as approved, %s not. `heddle approve SERVER::TOOL` approves one, `heddle lock` all that is not suspicious.\n", r.File, count(r.Approved, "tool"), count(len(r.Changes), "difference"))
	default:
		fmt.Fprintf(a.out, "%s: written.\n", r.File)
		if left > 0 {
			fmt.Fprintf(a.out, "%s not approved, because of what is in them: look at them, then `heddle approve SERVER::TOOL`.\n", count(left, "tool"))
		}
	}
	if len(r.Unknown) > 0 {
		they, them := "they do", "them"
		if len(r.Unknown) == 1 {
			they, them = "it does", "it"
		}
		fmt.Fprintf(a.out, "%s could not be compared, because %s not run; what was approved of %s stays.\n", count(len(r.Unknown), "server"), they, them)
	}
}

func (a *app) printChange(c *change) {
	state := c.State
	if c.RenamedFrom != "" {
		state += ", like " + lock.Show(c.RenamedFrom) + ", which is gone"
	}
	fmt.Fprintf(a.out, "%s  %s\n", plain(c.Server+"::"+c.Tool), state)
	for _, f := range c.Findings {
		fmt.Fprintf(a.out, "  suspicious: %s\n", f)
	}
	if c.Diff != "" {
		fmt.Fprint(a.out, indent(c.Diff, "  "))
	}
}

func (a *app) approve(ctx context.Context, name string) error {
	if server, tool, ok := strings.Cut(name, "::"); !ok || server == "" || tool == "" {
		return &usageError{fmt.Errorf("%q names no tool", name), "write SERVER::TOOL, as heddle lock --check lists them"}
	}
	cfg, err := a.load()
	if err != nil {
		return err
	}
	name, err = ownerOnly(cfg, name)
	if err != nil {
		return err
	}
	all, _, r, err := a.definitions(ctx, cfg)
	if err != nil {
		return err
	}
	for i := range all {
		d := &all[i]
		if d.Tool.Ref.String() != name {
			continue
		}
		r.add(d)
		err := lock.Update(r.File, func(f *lock.File) error { return f.Approve(d.Tool, time.Now()) })
		if err != nil {
			return err
		}
		r.mark(d.Tool.Ref)
		return a.emit(r, func() {
			for _, c := range r.Changes {
				a.printChange(&c)
			}
			word := "approved"
			if d.State == lock.Approved {
				word = "is approved as it is"
			}
			fmt.Fprintf(a.out, "%s %s: %s\n", plain(name), word, r.File)
		})
	}
	return &hinted{errors.New("there is no tool of that name"), "`heddle lock --check` lists all that are not approved, as SERVER::TOOL"}
}
