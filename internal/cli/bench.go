package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"heddle/internal/bench"

	"github.com/spf13/cobra"
)

// benchFlags are what a bench is told.
type benchFlags struct {
	mode   string
	verify bool
	file   string
}

func (a *app) benchCommand() *cobra.Command {
	var f benchFlags
	c := &cobra.Command{
		Use:   "bench " + strings.Join(bench.Names(), "|"),
		Short: "Measure what heddle saves, and that all of it can be read back",
		Long: "Run real sessions, over the real protocol, against a server in this process, and count what its host receives.\n" +
			"Nothing needs to be installed, no configuration is read, and nothing is left behind.\n\n" +
			"task answers 24 questions in English and Chinese, without heddle and in each mode. compression delivers recorded\n" +
			"results of real servers and reads them back. stress has 100 tools and a result of 8,000 rows. guards has a page of its\n" +
			"own.",
		Example:   "  heddle bench task --verify",
		Args:      benchName,
		ValidArgs: bench.Names(),
		RunE:      func(c *cobra.Command, args []string) error { return a.bench(c.Context(), args[0], f) },
	}
	c.Flags().StringVarP(&f.mode, "mode", "m", "", "measure this mode alone: native, compact or extreme (default: all for task, else compact)")
	c.Flags().BoolVar(&f.verify, "verify", false, "exit with code 1 if a figure is worse than the one recorded in this build")
	c.Flags().StringVar(&f.file, "out", "", "write the report as JSON into this file too")
	_ = c.RegisterFlagCompletionFunc("mode", cobra.FixedCompletions(bench.Modes(), cobra.ShellCompDirectiveNoFileComp))
	a.jsonFlag(c)
	c.AddCommand(a.benchGuardsCommand())
	return c
}

// benchName demands the name of one bench.
func benchName(_ *cobra.Command, args []string) error {
	hint := "use task, compression, stress or guards"
	switch {
	case len(args) == 0:
		return &usageError{errors.New("heddle bench takes the name of a bench"), hint}
	case len(args) > 1:
		return &usageError{errors.New("heddle bench takes one name"), hint}
	case !slices.Contains(bench.Names(), args[0]):
		return &usageError{fmt.Errorf("unknown bench %q", args[0]), hint}
	}
	return nil
}

func (a *app) bench(ctx context.Context, name string, f benchFlags) error {
	if a.config != "" {
		return &usageError{errors.New("a bench reads no configuration"), "leave --config away"}
	}
	if f.mode != "" && !slices.Contains(bench.Modes(), f.mode) {
		return &usageError{fmt.Errorf("mode %q cannot be measured", f.mode), "use " + strings.Join(bench.Modes(), ", ")}
	}
	if f.file != "" { // said now, not after it was measured
		if _, err := os.Stat(filepath.Dir(f.file)); err != nil {
			return &usageError{fmt.Errorf("--out: %w", err), "name a file in a directory that exists"}
		}
	}
	logger, err := a.logger()
	if err != nil {
		return err
	}
	done := a.statusLine().show(func() string { return "measuring: " + name })
	report, err := bench.Run(ctx, name, bench.Options{Mode: f.mode, Logger: logger})
	done()
	if err != nil && ctx.Err() != nil { // a signal: the user has seen enough
		return &silent{exitFailure}
	}
	if err != nil {
		return &hinted{err, "nothing is wrong with your configuration, which a bench does not read; please report this"}
	}
	if err := a.printBench(report, f.file); err != nil {
		return err
	}
	if f.verify {
		return a.verifyBench(report)
	}
	return nil
}

// printBench writes the report to stdout, and to a file if one is named.
func (a *app) printBench(report *bench.Report, file string) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(report); err != nil {
		return err
	}
	if file != "" {
		if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
			return err
		}
	}
	var err error
	if a.json {
		_, err = a.out.Write(b.Bytes())
	} else {
		err = report.Text(a.out)
	}
	if errors.Is(err, syscall.EPIPE) {
		return &silent{exitFailure}
	}
	return err
}

// verifyBench names each figure that is worse than the recorded one.
func (a *app) verifyBench(report *bench.Report) error {
	worse, err := report.Verify()
	if err != nil {
		return err
	}
	for _, w := range worse {
		a.fail(errors.New(w), "")
	}
	if len(worse) > 0 {
		return &silent{exitFailure}
	}
	fmt.Fprintf(a.err, "heddle: all figures are at least as good as the recorded ones\n")
	return nil
}
