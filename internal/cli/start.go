package cli

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"heddle/internal/config"
	"heddle/internal/daemon"
	"heddle/internal/surface"
	"heddle/internal/upstream"

	"github.com/spf13/cobra"
)

func (a *app) startCommand() *cobra.Command {
	var mode string
	var strict bool
	c := &cobra.Command{
		Use:   "start",
		Short: "Serve one host over stdin and stdout",
		Long:  "Serve one host over stdin and stdout. This is the command that a host's configuration runs.",
		Args:  exactArgs(0, 0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			return a.start(c.Context(), mode, strict)
		},
	}
	c.Flags().StringVarP(&mode, "mode", "m", "compact", "what the host sees: "+surface.ModeList())
	c.Flags().BoolVar(&strict, "strict", false, "exit with code 1 if a server does not start")
	a.federateFlag(c)
	a.profileFlag(c)
	_ = c.RegisterFlagCompletionFunc("mode", cobra.FixedCompletions(surface.Names(), cobra.ShellCompDirectiveNoFileComp))
	return c
}

// profileFlag adds --profile. That it is given counts, even with no name: nothing
// but its absence means everything.
func (a *app) profileFlag(c *cobra.Command) {
	name := c.Flags().String("profile", "", "a profile of the configuration: only its servers and tools")
	c.PreRun = func(*cobra.Command, []string) {
		if c.Flags().Changed("profile") {
			a.subset = name
		}
	}
}

// chosen returns a configuration as the profile leaves it, if one was asked for.
func (a *app) chosen(cfg *config.Config, err error) (*config.Config, error) {
	if err != nil || a.subset == nil {
		return cfg, err
	}
	if cfg, err = cfg.WithProfile(*a.subset); err != nil {
		return nil, &usageError{err, "profiles stand in the section profiles of heddle.yml"}
	}
	return cfg, nil
}

func (a *app) start(ctx context.Context, name string, strict bool) error {
	cfg, err := a.load()
	if err != nil {
		return err
	}
	mode, err := surface.NewMode(name, surface.Options{KeepOutputSchema: cfg.Results.OutputSchema == "keep", MeshResults: cfg.Results.Mesh})
	if err != nil {
		return &usageError{err, ""}
	}
	if err := a.refuseLoop(cfg); err != nil {
		return err
	}
	a.warn(cfg.Warnings)
	d, err := a.daemon(cfg, name, options{serves: true, eager: strict})
	if err != nil {
		return err
	}
	a.shareCores()
	in, out := stdio(a.in, os.Stdout)
	err = d.Run(ctx, func(ctx context.Context) error {
		if !strict {
			return d.ServeStdio(ctx, mode, in, out)
		}
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		go func() {
			if err := d.Strict(ctx); err != nil {
				cancel(err)
			}
		}()
		return d.ServeStdio(ctx, mode, in, out)
	})
	if errors.Is(err, context.Canceled) { // a signal is an orderly end
		return nil
	}
	return err
}

// shareCores leaves half of the cores to the host and the servers, unless
// GOMAXPROCS says otherwise. A gateway mostly waits; on few cores the threads
// that Go wakes to spread its work only take them from the servers that the
// host is waiting for.
func (a *app) shareCores() {
	if _, set := a.env.Lookup("GOMAXPROCS"); !set {
		runtime.GOMAXPROCS(max(1, runtime.NumCPU()/2))
	}
}

// options say what a daemon is for. One that serves follows changes of the file
// and shows in `heddle status`; an eager one starts every server at once.
type options struct{ serves, eager bool }

// daemon builds the daemon of a configuration. Commands that no host is behind have the
// SQL worker too: what they say of hosts' lists hangs on it.
func (a *app) daemon(cfg *config.Config, mode string, is options) (*daemon.Daemon, error) {
	a.own = upstream.Masker(cfg.Secrets())
	logger, err := a.logger()
	if err != nil {
		return nil, err
	}
	o := daemon.Options{
		Config: cfg, Logger: logger, Watchdog: watchdog(), LedgerPath: a.ledgerPath(), CacheDir: a.cacheDir(), Mode: mode, SQL: worker(), Stderr: a.err, Environ: a.environ,
		Hosts: is.serves, Eager: is.eager,
	}
	if is.serves {
		o.Load = func() (*config.Config, error) { return a.chosen(a.again(cfg.Path)) }
		o.StateDir = a.stateDir()
	}
	return daemon.New(o), nil
}

// worker returns the path of heddle-sql, which is beside heddle or in PATH; "" if it
// is in neither.
func worker() string {
	const name = "heddle-sql"
	if exe, err := os.Executable(); err == nil {
		if p, err := exec.LookPath(filepath.Join(filepath.Dir(exe), name)); err == nil {
			return p
		}
	}
	if p, err := exec.LookPath(name); err == nil {
		return p
	}
	return ""
}
