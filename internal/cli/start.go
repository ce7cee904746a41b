package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"

	"heddle/internal/config"
	"heddle/internal/daemon"
	"heddle/internal/surface"

	"github.com/spf13/cobra"
)

func (a *app) startCommand() *cobra.Command {
	var mode, profile string
	var strict bool
	c := &cobra.Command{
		Use:   "start",
		Short: "Serve one host over stdin and stdout",
		Long:  "Serve one host over stdin and stdout. This is the command that a host's configuration runs.",
		Args:  exactArgs(0, 0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			if profile != "" {
				return &usageError{errors.New("--profile: not in this build"), ""}
			}
			return a.start(c.Context(), mode, strict)
		},
	}
	c.Flags().StringVarP(&mode, "mode", "m", "compact", "what the host sees: "+surface.ModeList())
	c.Flags().BoolVar(&strict, "strict", false, "exit with code 1 if a server does not start")
	c.Flags().StringVar(&profile, "profile", "", "")
	_ = c.Flags().MarkHidden("profile") // refused by name until it is built
	_ = c.RegisterFlagCompletionFunc("mode", cobra.FixedCompletions(surface.Names(), cobra.ShellCompDirectiveNoFileComp))
	return c
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
	chain, _ := a.env.Lookup(daemon.ChainVar)
	if daemon.InChain(chain, cfg.Path) {
		return &usageError{fmt.Errorf("%s would start itself without end: this heddle was started by a heddle with the same configuration", cfg.Path),
			"remove heddle from the servers of that file"}
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

// daemon builds the daemon of a configuration.
func (a *app) daemon(cfg *config.Config, mode string, is options) (*daemon.Daemon, error) {
	logger, err := a.logger()
	if err != nil {
		return nil, err
	}
	o := daemon.Options{
		Config: cfg, Logger: logger, Watchdog: watchdog(), LedgerPath: a.ledgerPath(), CacheDir: a.cacheDir(), Mode: mode, Environ: os.Environ,
		Hosts: is.serves, Eager: is.eager,
	}
	if is.serves {
		o.Load = func() (*config.Config, error) { return config.Load(cfg.Path, a.env) }
		o.StateDir = a.stateDir()
	}
	return daemon.New(o), nil
}
