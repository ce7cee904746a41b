package cli

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"syscall"

	"heddle/internal/demo"
	"heddle/internal/surface"

	"github.com/spf13/cobra"
)

func (a *app) demoCommand() *cobra.Command {
	var mode string
	var serve bool
	c := &cobra.Command{
		Use:   "demo",
		Short: "Show heddle at work on six simulated servers",
		Long: "Run a real session, over the real protocol, against six simulated servers with about 50 tools, and show what it\n" +
			"cost and saved. Nothing needs to be installed, no configuration is read, and nothing is left behind. It takes a\n" +
			"few seconds. Exit code 1 if anything did not go as it should.\n\n" +
			"With --serve the same servers are offered to a host over stdin and stdout.",
		Args: exactArgs(0, 0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			switch {
			case serve && a.json:
				return &usageError{errors.New("--json does not go with --serve"), "stdout of --serve is the protocol"}
			case serve:
				return a.serveDemo(c.Context(), mode)
			case c.Flags().Changed("mode"):
				return &usageError{errors.New("--mode needs --serve"), "the demo shows native and compact side by side"}
			}
			return a.demo(c.Context())
		},
	}
	c.Flags().BoolVar(&serve, "serve", false, "offer the servers to a host over stdin and stdout")
	c.Flags().StringVarP(&mode, "mode", "m", "compact", "what the host of --serve sees, as for start")
	_ = c.RegisterFlagCompletionFunc("mode", cobra.FixedCompletions(surface.Names(), cobra.ShellCompDirectiveNoFileComp))
	a.jsonFlag(c)
	return c
}

// demoFlag is the other spelling of the command.
const demoFlag = "--demo"

// demoArgs turns `heddle --demo …` into `heddle demo …`.
func demoArgs(args []string) []string {
	if len(args) > 0 && args[0] == demoFlag {
		return append([]string{"demo"}, args[1:]...)
	}
	return args
}

// demoLogger is logger, but for who names a configuration, which the demo would
// not read.
func (a *app) demoLogger() (*slog.Logger, error) {
	if a.config != "" {
		return nil, &usageError{errors.New("the demo reads no configuration"), "leave --config away"}
	}
	return a.logger()
}

func (a *app) demo(ctx context.Context) error {
	logger, err := a.demoLogger()
	if err != nil {
		return err
	}
	o := demo.Options{Logger: logger}
	if !a.json {
		o.Text = demo.NewText(a.out, a.colors())
	}
	report, err := demo.Run(ctx, o)
	if err == nil && a.json {
		enc := json.NewEncoder(a.out)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		err = enc.Encode(report)
	}
	if errors.Is(err, syscall.EPIPE) || err != nil && ctx.Err() != nil { // whoever watches has seen enough
		return &silent{exitFailure}
	}
	if err != nil {
		return &hinted{err, "nothing is wrong with your configuration, which the demo does not read; please report this"}
	}
	return nil
}

func (a *app) serveDemo(ctx context.Context, mode string) error {
	if _, err := surface.NewMode(mode, surface.Options{}); err != nil {
		return &usageError{err, ""}
	}
	logger, err := a.demoLogger()
	if err != nil {
		return err
	}
	a.shareCores()
	in, out := stdio(a.in, os.Stdout)
	err = demo.Serve(ctx, mode, logger, in, out)
	if errors.Is(err, context.Canceled) { // a signal is an orderly end
		return nil
	}
	return err
}

// colors reports whether stdout is a terminal that shows colours and a user who
// wants them.
func (a *app) colors() bool {
	f := fileOf(a.out)
	if f == nil || !isTerminal(f) {
		return false
	}
	no, _ := a.env.Lookup("NO_COLOR")
	term, _ := a.env.Lookup("TERM")
	return no == "" && term != "" && term != "dumb"
}
