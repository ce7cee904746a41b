package cli

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"heddle/internal/hostfile"

	"github.com/spf13/cobra"
)

func (a *app) planCommand() *cobra.Command {
	var f hostFlags
	c := &cobra.Command{
		Use:   "plan",
		Short: "Show what install would change in a host's file",
		Long: "Show what install would change in a host's file, as a diff in which values of variables and headers and whatever\n" +
			"else looks like a secret are masked, and write nothing.",
		Args: exactArgs(0, 0, "no arguments"),
		RunE: func(*cobra.Command, []string) error { return a.plan(f) },
	}
	f.flags(c)
	f.modeFlag(c)
	a.profileFlag(c)
	a.jsonFlag(c)
	return c
}

func (a *app) installCommand() *cobra.Command {
	var f hostFlags
	c := &cobra.Command{
		Use:   "install",
		Short: "Put heddle into a host's file, in place of its servers",
		Long: "Put heddle into a host's file, in place of the servers that it runs from now on. Everything else in the file stays\n" +
			"byte for byte, and rollback brings back what was there.",
		Args: exactArgs(0, 0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error { return a.install(c.Context(), f) },
	}
	f.flags(c)
	f.modeFlag(c)
	a.profileFlag(c)
	a.jsonFlag(c)
	return c
}

func (a *app) rollbackCommand() *cobra.Command {
	return a.undoCommand("rollback", "Bring back a host's file as it was before install",
		"Bring back a host's file as it was before install. If somebody changed the rest of it since, heddle's part alone is\nreversed.", (*hostfile.Editor).Rollback)
}

func (a *app) uninstallCommand() *cobra.Command {
	return a.undoCommand("uninstall", "Take heddle out of a host's file and leave the rest as it is",
		"Take heddle out of a host's file and leave the rest as it is: the servers that heddle stood in for do not come back.", (*hostfile.Editor).Uninstall)
}

// undoCommand is a command that takes heddle out of a file.
func (a *app) undoCommand(name, short, long string, do func(*hostfile.Editor, context.Context, string, hostfile.Scope) (*hostfile.Change, error)) *cobra.Command {
	var f hostFlags
	c := &cobra.Command{
		Use: name, Short: short, Long: long,
		Args: exactArgs(0, 0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			e, err := a.editor()
			if err != nil {
				return err
			}
			done := a.statusLine().show(func() string { return "changing the host's files" })
			change, err := do(e, c.Context(), f.host, hostfile.Scope(f.scope))
			done()
			if err != nil {
				return hostError(err)
			}
			return a.emit(reportOf(change, true), func() { a.printUndone(change) })
		},
	}
	f.flags(c)
	a.jsonFlag(c)
	return c
}

// toInstall is what plan shows and install does.
func (a *app) toInstall(f hostFlags) (e *hostfile.Editor, r hostfile.Request, err error) {
	if err = f.check(); err != nil {
		return e, r, err
	}
	if e, err = a.editor(); err != nil {
		return e, r, err
	}
	r, err = a.installRequest(e, f)
	return e, r, err
}

func (a *app) plan(f hostFlags) error {
	e, r, err := a.toInstall(f)
	if err != nil {
		return err
	}
	done := a.statusLine().show(func() string { return "reading the host's files" })
	c, err := e.Plan(r)
	done()
	if err != nil {
		return hostError(err)
	}
	return a.emit(reportOf(c, false), func() {
		if c.Empty() {
			a.printThere(c)
			return
		}
		fmt.Fprintf(a.out, "%s, the %s's file, mode %s. Nothing is written by plan.\n\n%s\n", c.Host.Title, c.Scope, c.Entry.Mode, c.Diff())
		a.printInstall(c)
		fmt.Fprintf(a.out, "to do it: heddle install %s\n", a.installFlags(c))
	})
}

func (a *app) install(ctx context.Context, f hostFlags) error {
	e, r, err := a.toInstall(f)
	if err != nil {
		return err
	}
	done := a.statusLine().show(func() string { return "changing the host's files" })
	c, err := e.Install(ctx, r)
	done()
	if err != nil {
		return hostError(err)
	}
	return a.emit(reportOf(c, true), func() {
		if c.Empty() {
			a.printThere(c)
			return
		}
		fmt.Fprintf(a.out, "heddle is in %s now, mode %s:\n", c.Host.Title, c.Entry.Mode)
		for _, f := range c.Files {
			fmt.Fprintf(a.out, "  %s\n", f.Path)
		}
		a.printInstall(c)
		a.printList("what the file was before is kept as:", c.Backups)
		fmt.Fprintf(a.out, "to see that it works: heddle verify %s\nto undo it: heddle rollback %s\n", flagsOf(c), flagsOf(c))
	})
}

// printThere says that an install has nothing to do.
func (a *app) printThere(c *hostfile.Change) {
	fmt.Fprintf(a.out, "heddle is in %s already, mode %s, just as it should be: nothing to change.\n", c.Host.Title, c.Entry.Mode)
	a.printInstall(c)
}

func (a *app) printInstall(c *hostfile.Change) {
	if len(c.Removed) > 0 {
		fmt.Fprintf(a.out, "in place of %s: %s\n", count(len(c.Removed), "server"), strings.Join(serverNames(c.Removed), ", "))
	}
	if len(c.Restored) > 0 {
		fmt.Fprintf(a.out, "back again: %s\n", strings.Join(c.Restored, ", "))
	}
	a.printList("these stay in the file, beside heddle:", c.Stays)
	a.printList("the host still sees these too, and pays twice for them:", c.Remaining)
	a.printList("for you to know or do:", c.Notes)
}

func (a *app) printUndone(c *hostfile.Change) {
	if c.Empty() {
		fmt.Fprintf(a.out, "heddle is not in %s's file any more: nothing to change.\n", c.Host.Title)
	}
	for _, f := range c.Files {
		what := "is without heddle now"
		if f.New == nil {
			what = "is gone again: heddle made it"
		}
		fmt.Fprintf(a.out, "%s %s\n", f.Path, what)
	}
	if len(c.Restored) > 0 {
		fmt.Fprintf(a.out, "back again: %s\n", strings.Join(c.Restored, ", "))
	}
	a.printList("a backup of what was there before heddle is kept as:", c.Backups)
	a.printList("for you to know or do:", c.Notes)
}

// flagsOf are the flags that mean the same host and file.
func flagsOf(c *hostfile.Change) string {
	s := "--host " + c.Host.Name
	if c.Scope != c.Host.Scopes()[0] {
		s += " --scope " + string(c.Scope)
	}
	return s
}

// installFlags are those that make just this change.
func (a *app) installFlags(c *hostfile.Change) string {
	s := flagsOf(c)
	if c.Entry.Mode != c.Host.Mode {
		s += " --mode " + string(c.Entry.Mode)
	}
	if c.Entry.Profile != "" {
		s += " --profile " + c.Entry.Profile
	}
	if a.config != "" {
		s += " --config " + shellWord(a.config)
	}
	return s
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./+:@%=,~-]+$`)

// shellWord writes a text as it can be pasted into a shell.
func shellWord(s string) string {
	if plainWord.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
