package cli

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"heddle/internal/adopt"
	"heddle/internal/config"
	"heddle/internal/hostfile"
	"heddle/internal/surface"

	"github.com/spf13/cobra"
)

// hostFlags say which file of which host is meant.
type hostFlags struct{ host, scope, mode string }

// flags adds them to a command.
func (f *hostFlags) flags(c *cobra.Command) {
	c.Flags().StringVar(&f.host, "host", "", "the host: "+strings.Join(hostNames(), ", "))
	c.Flags().StringVar(&f.scope, "scope", "", "whose file: project, the default where the host has one, or user")
	_ = c.RegisterFlagCompletionFunc("host", cobra.FixedCompletions(hostNames(), cobra.ShellCompDirectiveNoFileComp))
	_ = c.RegisterFlagCompletionFunc("scope", cobra.FixedCompletions([]string{"project", "user"}, cobra.ShellCompDirectiveNoFileComp))
}

// modeFlag adds --mode.
func (f *hostFlags) modeFlag(c *cobra.Command) {
	c.Flags().StringVarP(&f.mode, "mode", "m", "", "what the host sees: "+surface.ModeList()+" (default: what suits the host)")
	_ = c.RegisterFlagCompletionFunc("mode", cobra.FixedCompletions(surface.Names(), cobra.ShellCompDirectiveNoFileComp))
}

// check refuses what can be refused without looking at any file.
func (f *hostFlags) check() error {
	if f.host == "" {
		return &usageError{errors.New("--host is missing"), "the hosts are " + strings.Join(hostNames(), ", ")}
	}
	host, err := hostfile.Lookup(f.host)
	if err != nil {
		return hostError(err)
	}
	mode, err := host.CheckMode(hostfile.Mode(f.mode))
	if err != nil {
		return hostError(err)
	}
	if _, err := surface.NewMode(string(mode), surface.Options{}); err != nil {
		return &usageError{err, ""} // a host would start what does not start
	}
	return nil
}

func hostNames() []string {
	var out []string
	for _, h := range hostfile.Hosts() {
		out = append(out, h.Name)
	}
	slices.Sort(out)
	return out
}

// hostError gives an error of hostfile its hint and the place in the file. One
// that is about no file is about the command line.
func hostError(err error) error {
	var e *hostfile.Error
	if !errors.As(err, &e) {
		return err
	}
	if e.Path == "" && e.Err == nil {
		return &usageError{err, e.Hint}
	}
	if line, _, _ := strings.Cut(e.Excerpt, "\n"); strings.TrimSpace(line) != "" {
		err = fmt.Errorf("%w\n%s", err, e.Excerpt)
	}
	return &hinted{err, e.Hint}
}

// editor changes hosts' files.
func (a *app) editor() (*hostfile.Editor, error) {
	env, err := a.hostEnv()
	if err != nil {
		return nil, hostError(err)
	}
	if a.stateDir() == "" {
		return nil, &hinted{errors.New("there is no directory for the way back"), "set HOME"}
	}
	return &hostfile.Editor{Env: env, State: filepath.Join(a.stateDir(), "hosts"), Now: time.Now}, nil
}

// installRequest is what a host would get.
func (a *app) installRequest(e *hostfile.Editor, f hostFlags) (hostfile.Request, error) {
	var r hostfile.Request
	cfg, err := a.load()
	var missing *config.NotFoundError
	if errors.As(err, &missing) && missing.Asked == "" {
		return r, &usageError{errors.New("there is no heddle.yml here, nor above, nor in the user's configuration directory"),
			"run `heddle init` first: it makes one of the servers that you have; or name a file with --config"}
	}
	if err != nil {
		return r, err
	}
	if err := notItself(e, f, cfg.Path); err != nil {
		return r, err
	}
	binary, err := binary()
	if err != nil {
		return r, err
	}
	entry := hostfile.Entry{Binary: binary, Config: cfg.Path, Mode: hostfile.Mode(f.mode)}
	if cfg.Profile != nil {
		entry.Profile = cfg.Profile.Name
	}
	return hostfile.Request{Host: f.host, Scope: hostfile.Scope(f.scope), Entry: entry, Replace: adopt.Taken(cfg, a.env, e.Env)}, nil
}

// notItself refuses a configuration that is the host's own file: its servers would
// go from where heddle reads them.
func notItself(e *hostfile.Editor, f hostFlags, path string) error {
	file, err := e.File(f.host, hostfile.Scope(f.scope))
	if err != nil {
		return hostError(err)
	}
	own, err := os.Stat(file.Path)
	cfg, cfgErr := os.Stat(path)
	if err == nil && cfgErr == nil && os.SameFile(own, cfg) {
		return &usageError{fmt.Errorf("%s is %s's own file: heddle would take the servers out of where it reads them", path, file.Host.Title),
			"run `heddle init` first, which writes them to heddle.yml"}
	}
	return nil
}

// binary is the path that a host starts heddle by: that in PATH if it is this very
// program, since an update keeps it, where the file that it leads to may go.
func binary() (string, error) {
	exe, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find heddle's own file: %w", err)
	}
	if found, err := exec.LookPath("heddle"); err == nil {
		a, errA := os.Stat(exe)
		b, errB := os.Stat(found)
		if abs, err := filepath.Abs(found); err == nil && errA == nil && errB == nil && os.SameFile(a, b) {
			return abs, nil
		}
	}
	return exe, nil
}

// changeReport is what plan, install, rollback and uninstall say.
type changeReport struct {
	Action    string       `json:"action"`
	Host      string       `json:"host"`
	Scope     string       `json:"scope"`
	Mode      string       `json:"mode,omitempty"`
	Command   []string     `json:"command,omitempty"`
	Changed   bool         `json:"changed"`
	Written   bool         `json:"written"`
	Files     []fileReport `json:"files"`
	Replaced  []string     `json:"replaced"`
	Restored  []string     `json:"restored"`
	Remaining []string     `json:"remaining"`
	Stays     []stayReport `json:"stays"`
	Notes     []string     `json:"notes"`
	Backups   []string     `json:"backups"`
}

// stayReport is a server that stays in the host's file beside heddle.
type stayReport struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

type fileReport struct {
	Path   string `json:"path"`
	Target string `json:"target"`
	Diff   string `json:"diff"`
}

func reportOf(c *hostfile.Change, written bool) changeReport {
	r := changeReport{
		Action: c.Action, Host: c.Host.Name, Scope: string(c.Scope), Changed: !c.Empty(), Written: written && !c.Empty(),
		Files: []fileReport{}, Replaced: serverNames(c.Removed), Restored: orEmpty(c.Restored), Remaining: []string{}, Stays: []stayReport{},
		Notes: orEmpty(c.Notes), Backups: orEmpty(c.Backups),
	}
	if c.Entry.Binary != "" {
		r.Mode, r.Command = string(c.Entry.Mode), append([]string{c.Entry.Binary}, c.Entry.Args()...)
	}
	for _, f := range c.Files {
		r.Files = append(r.Files, fileReport{f.Path, f.Target, f.Diff()})
	}
	for _, s := range c.Remaining {
		r.Remaining = append(r.Remaining, s.String())
	}
	for _, s := range c.Stays {
		r.Stays = append(r.Stays, stayReport{s.Server.Name, s.Why})
	}
	return r
}

func serverNames(servers []hostfile.Server) []string {
	out := []string{}
	for _, s := range servers {
		out = append(out, s.Name)
	}
	return out
}

// printList prints lines under a title, if there are any.
func (a *app) printList(title string, items any) {
	var lines []string
	switch items := items.(type) {
	case []string:
		lines = items
	case []hostfile.Decision:
		for _, d := range items {
			lines = append(lines, d.String())
		}
	case []hostfile.Server:
		for _, s := range items {
			lines = append(lines, s.String())
		}
	case []hostfile.Stay:
		for _, s := range items {
			lines = append(lines, s.Server.Name+": "+s.Why)
		}
	}
	if len(lines) == 0 {
		return
	}
	fmt.Fprintln(a.out, title)
	for _, l := range lines {
		fmt.Fprintf(a.out, "  %s\n", l)
	}
}
