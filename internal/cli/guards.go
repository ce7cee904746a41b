package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"heddle/internal/bench/guards"

	"github.com/spf13/cobra"
)

func (a *app) benchGuardsCommand() *cobra.Command {
	verify := false
	c := &cobra.Command{
		Use:   "guards DIR",
		Short: "Measure what the guards find, and what they find that is none",
		Long: "Run the guards on labelled corpora and print each rate with its number of cases and 95 % Wilson interval. DIR has any of\n" +
			"ssrf.jsonl, authz.jsonl, poisoning.jsonl, secrets.jsonl and injection.jsonl; those that the guards were built with are\n" +
			"in internal/policy/testdata of heddle's source.",
		Example: "  heddle bench guards internal/policy/testdata",
		Args:    exactArgs(1, 1, "a directory with corpora"),
		RunE:    func(c *cobra.Command, args []string) error { return a.benchGuards(c.Context(), args[0], verify) },
	}
	c.Flags().BoolVar(&verify, "verify", false, "exit with code 1 if a figure misses its bar")
	a.jsonFlag(c)
	return c
}

func (a *app) benchGuards(ctx context.Context, dir string, verify bool) error {
	done := a.statusLine().show(func() string { return "measuring the guards" })
	r, err := guards.Measure(ctx, dir)
	done()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &usageError{err, "name a directory with ssrf.jsonl, authz.jsonl, poisoning.jsonl, secrets.jsonl or injection.jsonl"}
	case err != nil:
		return &hinted{err, "each line is one JSON object; internal/policy/testdata/README.md says which fields it has"}
	}
	if err := a.emit(r, func() { a.printGuardFigures(r) }); err != nil {
		return err
	}
	if verify && !r.Holds() {
		return &silent{exitFailure}
	}
	return nil
}

func (a *app) printGuardFigures(r *guards.Report) {
	t := &table{head: []string{"GUARD", "FIGURE", "OF", "RATE %", "95 % INTERVAL", "BY GROUP %", "BAR"}, words: 2}
	for _, f := range r.Figures {
		groups, bar := "", ""
		if f.Groups > 0 {
			groups = fmt.Sprintf("%.1f", 100*f.Groups)
		}
		if f.Bar != "" {
			if bar = f.Bar; !f.Holds {
				bar += ", missed"
			}
		}
		t.add(f.Guard, f.Name, fmt.Sprintf("%d/%d", f.Hits, f.N), fmt.Sprintf("%.1f", 100*f.Rate), fmt.Sprintf("%.1f–%.1f", 100*f.Low, 100*f.High), groups, bar)
	}
	t.write(a.out, 0)
	for _, m := range r.Missing {
		fmt.Fprintf(a.out, "%s is not there.\n", m)
	}
}
