package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"heddle/internal/adopt"
	"heddle/internal/hostfile"

	"github.com/spf13/cobra"
)

func (a *app) initCommand() *cobra.Command {
	var from string
	var force bool
	c := &cobra.Command{
		Use:   "init",
		Short: "Write heddle.yml with the servers that you have",
		Long: "Write heddle.yml with the servers of .mcp.json, mcp.json, .cursor/mcp.json and .vscode/mcp.json in this directory,\n" +
			"or of another file or host. Secrets in plain text move into .env beside it. Nothing else is changed.",
		Args: exactArgs(0, 0, "no arguments"),
		RunE: func(*cobra.Command, []string) error { return a.init(from, force) },
	}
	c.Flags().StringVar(&from, "from", "", "a file, or a host: "+strings.Join(hostNames(), ", "))
	c.Flags().BoolVar(&force, "force", false, "overwrite a file that is there")
	_ = c.RegisterFlagCompletionFunc("from", cobra.FixedCompletions(hostNames(), cobra.ShellCompDirectiveDefault))
	a.jsonFlag(c)
	return c
}

// initReport is what init has done.
type initReport struct {
	Config    string        `json:"config"`
	Sources   []string      `json:"sources"`
	Servers   []initServer  `json:"servers"`
	Secrets   []adopt.Moved `json:"secrets"`
	DotEnv    string        `json:"dotenv,omitempty"`
	Gitignore string        `json:"gitignore,omitempty"`
	Unset     []string      `json:"unset"`
	Notes     []string      `json:"notes"`
}

type initServer struct {
	Name   string `json:"name,omitempty"` // in the new file; empty if it was left out
	Source string `json:"source"`
	File   string `json:"file"`
	Reason string `json:"reason,omitempty"`
}

func (a *app) init(from string, force bool) error {
	env, err := a.hostEnv()
	if err != nil {
		return hostError(err)
	}
	path := filepath.Join(env.Cwd, "heddle.yml")
	if a.config != "" {
		if path, err = filepath.Abs(a.config); err != nil {
			return err
		}
	}
	done := a.statusLine().show(func() string { return "reading the files of hosts" })
	p, err := adopt.New(adopt.Request{Env: env, Config: a.env, Path: path, From: from, Force: force})
	done()
	if err != nil {
		return adoptError(err)
	}
	if err := p.Write(); err != nil {
		return adoptError(err)
	}
	return a.emit(initReportOf(p), func() { a.printInit(p) })
}

// adoptError adds the hint.
func adoptError(err error) error {
	var e *adopt.Error
	if errors.As(err, &e) {
		return &hinted{e, e.Hint}
	}
	return hostError(err)
}

func initReportOf(p *adopt.Plan) initReport {
	r := initReport{
		Config: p.Path, Sources: orEmpty(p.Sources), Servers: []initServer{}, Secrets: p.Moved,
		Gitignore: p.Gitignore, Unset: orEmpty(p.Unset), Notes: orEmpty(p.Notes),
	}
	if r.Secrets == nil {
		r.Secrets = []adopt.Moved{}
	}
	if p.Secrets() {
		r.DotEnv = p.DotEnv
	}
	for _, d := range p.Decisions {
		r.Servers = append(r.Servers, initServer{Name: d.Name, Source: d.Server.Name, File: d.Server.File.Path, Reason: d.Reason})
	}
	return r
}

func (a *app) printInit(p *adopt.Plan) {
	var taken, left []hostfile.Decision
	for _, d := range p.Decisions {
		if d.Name != "" {
			taken = append(taken, d)
		} else {
			left = append(left, d)
		}
	}
	if len(p.Decisions) == 0 {
		fmt.Fprintf(a.out, "wrote %s without servers: there was nothing here to take them from.\n", p.Path)
		fmt.Fprintln(a.out, "Add some by hand, or begin anew with heddle init --force --from FILE|HOST.")
		return
	}
	fmt.Fprintf(a.out, "wrote %s with %s\n", p.Path, count(len(taken), "server"))
	for _, d := range taken {
		fmt.Fprintf(a.out, "  %-24s %s%s\n", d.Name, d.Server.File.Path, ifAny("  ", named(d)))
	}
	a.printList("not taken over:", left)
	if len(p.Moved) > 0 {
		fmt.Fprintf(a.out, "secrets are in %s now, which only you can read:\n", p.DotEnv)
	}
	for _, m := range p.Moved {
		fmt.Fprintf(a.out, "  %s %s is ${%s}\n", m.Server, m.Field, m.Variable)
	}
	if p.Gitignore != "" {
		fmt.Fprintf(a.out, "%s lists .env now\n", p.Gitignore)
	}
	a.printList("cannot run yet:", p.Unset)
	a.printList("notes:", p.Notes)
	fmt.Fprintf(a.out, "next: heddle validate, then heddle install --host %s\n", append(p.Hosts, "HOST")[0])
}

// named says how a name came about, if it is another one.
func named(d hostfile.Decision) string {
	if d.Verdict != hostfile.Renamed {
		return ""
	}
	return fmt.Sprintf("was %q: %s", d.Server.Name, d.Reason)
}

func ifAny(before, s string) string {
	if s == "" {
		return ""
	}
	return before + s
}

func orEmpty(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}
