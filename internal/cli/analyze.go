package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"heddle"
	"heddle/internal/catalog"
	"heddle/internal/daemon"
	"heddle/internal/figures"
	"heddle/internal/surface"
	"heddle/internal/tokens"
	"heddle/internal/upstream"

	"github.com/spf13/cobra"
)

func (a *app) analyzeCommand() *cobra.Command {
	var rates figures.Rates
	var wait time.Duration
	c := &cobra.Command{
		Use:   "analyze",
		Short: "Count what tool definitions cost, now and in each mode",
		Long: "Start the configured servers, which may be those of a host's own file (--config .mcp.json), and count in tokens of\n" +
			"o200k_base what the definitions of their tools cost a model without heddle, by server and tool, and what each mode\n" +
			"would list instead. Then say what to do: compact mode, native mode, or no gateway at all.\n\n" +
			"Compact mode shows definitions where they are searched for, so a search is priced too: its answer in the middle of\n" +
			"many. Definitions are counted as servers write them, less output schemas, which no host shows to a model.\n\n" +
			"With --price and --prefill, also what the definitions cost in each request that no cache answers.",
		Example: "  heddle analyze --config .mcp.json\n  heddle analyze --price 3 --prefill 2500",
		Args:    exactArgs(0, 0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			for flag, v := range map[string]float64{"price": rates.Price, "prefill": rates.Prefill} {
				if c.Flags().Changed(flag) && !(v > 0 && v < mostRate) {
					return &usageError{fmt.Errorf("--%s takes a number above 0 and below %.0f", flag, mostRate), "see `heddle analyze --help`"}
				}
			}
			if wait <= 0 {
				return &usageError{fmt.Errorf("--timeout takes a time above 0"), "for example --timeout 2m"}
			}
			return a.analyze(c.Context(), rates, wait)
		},
	}
	c.Flags().Float64Var(&rates.Price, "price", 0, "what a million tokens of input cost, in any currency")
	c.Flags().Float64Var(&rates.Prefill, "prefill", 0, "how many tokens of input a model reads in a second")
	c.Flags().DurationVar(&wait, "timeout", doctorWait, "how long servers may take to start; those that take longer are not counted")
	a.federateFlag(c)
	a.jsonFlag(c)
	return c
}

// mostRate bounds what --price and --prefill may say.
const mostRate = 1e12

func (a *app) analyze(ctx context.Context, rates figures.Rates, wait time.Duration) error {
	cfg, err := a.load()
	if err != nil {
		return err
	}
	line := a.statusLine() // before the daemon: what it logs must not tear the line
	d, err := a.daemon(cfg, "analyze", options{eager: true})
	if err != nil {
		return err
	}
	counter := sync.OnceValues(tokens.New)
	var out *figures.Analysis
	err = d.Run(ctx, func(ctx context.Context) error {
		defer line.show(func() string { return startingServers(d.Pool().Servers(), "counting tokens") })()
		go func() { _, _ = counter() }() // takes a while, and the servers start meanwhile
		patience, cancel := context.WithTimeout(ctx, wait)
		d.Pool().Booted(patience)
		cancel()
		count, err := counter()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			return err
		}
		listed, err := listedBy(d, surface.Options{KeepOutputSchema: cfg.Results.OutputSchema == "keep", MeshResults: cfg.Results.Mesh})
		if err != nil {
			return err
		}
		out = figures.Analyze(listed, count, rates)
		return nil
	})
	if err != nil {
		return err
	}
	started := 0
	for _, s := range out.Servers {
		if s.State == string(upstream.StateReady) {
			started++
		} else {
			fmt.Fprintf(a.err, "heddle: warning: %s is not counted: %s\n", s.Name, strings.TrimSpace(s.State+" "+s.Reason))
		}
	}
	if started == 0 {
		return &hinted{errors.New("no server could be started, so there is nothing to count"), "`heddle validate` says of each server what is wrong"}
	}
	return a.emit(out, func() { a.printAnalysis(out, rates) })
}

// listedBy returns what the servers of a daemon list, and its modes instead.
func listedBy(d *daemon.Daemon, o surface.Options) (figures.Catalog, error) {
	var out figures.Catalog
	for _, s := range d.Pool().Servers() {
		st := s.Status()
		server := figures.Server{Name: st.Name, State: string(st.State), Reason: st.Reason}
		// A catalog of this server alone and without rules: names as they are.
		alone := catalog.Build([]catalog.Source{{Server: st.Name, Definitions: s.Tools(), Known: true}}, catalog.Options{})
		for _, t := range alone.Tools() {
			server.Tools = append(server.Tools, figures.Definition{
				Name: t.Ref.Name, Allowed: d.Policy().Access(t.Ref).Allowed, Raw: alone.NativeDefinition(t, false),
			})
		}
		out.Servers = append(out.Servers, server)
	}
	for _, name := range surface.Names() {
		mode, err := surface.NewMode(name, o)
		if err != nil {
			return out, err
		}
		out.Modes = append(out.Modes, figures.Listing{Mode: name, Definitions: mode.Tools(d.Gateway(), heddle.Local, true)})
	}
	out.Searches = searches(d)
	return out, nil
}

const (
	mostSearches = 60  // that are tried
	longestQuery = 120 // characters: a model asks in a sentence
)

// searches returns answers of find_tool, each to the description of another tool.
func searches(d *daemon.Daemon) (answers []string) {
	all := d.Gateway().Snapshot(heddle.Local).Tools()
	for i := 0; i < len(all); i += 1 + len(all)/mostSearches {
		query := strings.TrimSuffix(short(firstLine(all[i].Description), longestQuery), "…")
		if strings.TrimSpace(query) == "" {
			query = strings.NewReplacer("_", " ", "-", " ").Replace(all[i].Ref.Name)
		}
		text, err := d.Gateway().Find(heddle.Local, query, "", func(string) bool { return false })
		if err == nil {
			answers = append(answers, text)
		}
	}
	return answers
}

// mostListed is how many tools of a server are printed for people.
const mostListed = 8

func (a *app) printAnalysis(r *figures.Analysis, rates figures.Rates) {
	columns := width(a.out)
	a.printServers(r, columns)
	head := []string{"MODE", "TOOLS", "TOKENS", "SAVED %"}
	if rates.Price > 0 {
		head = append(head, "PRICE")
	}
	if rates.Prefill > 0 {
		head = append(head, "SECONDS")
	}
	modes := &table{head: head, words: 1, bars: []int64{}, barHead: "TOKENS"}
	add := func(name string, c figures.Cost, saved string) {
		row := []string{name, thousands(int64(c.Tools)), thousands(int64(c.Tokens)), saved}
		if rates.Price > 0 {
			row = append(row, fmt.Sprintf("%.6f", c.Price))
		}
		if rates.Prefill > 0 {
			row = append(row, fmt.Sprintf("%.3f", c.Seconds))
		}
		modes.add(row...)
		modes.bars = append(modes.bars, int64(c.Tokens))
	}
	add("without heddle", r.Now, "")
	for _, m := range r.Modes {
		add(m.Mode, m.Cost, fmt.Sprint(m.Percent))
	}
	fmt.Fprintln(a.out)
	modes.write(a.out, columns)
	if rates.Price > 0 || rates.Prefill > 0 {
		fmt.Fprintln(a.out, "Price and seconds are those of one request that no cache answers.")
	}
	if r.Search.Tried > 0 {
		fmt.Fprintf(a.out, "In compact and extreme mode a search shows %s tokens more (the middle of %d that were tried).\n", thousands(int64(r.Search.Tokens)), r.Search.Tried)
	}
	what := r.Advice.Mode + " mode"
	if r.Advice.Mode == "none" {
		what = "no gateway"
	}
	fmt.Fprintf(a.out, "\nAdvice: %s: %s.\n", what, r.Advice.Reason)
}

// printServers shows what each server's tools cost, the dearest ones by name.
func (a *app) printServers(r *figures.Analysis, columns int) {
	out := &table{head: []string{"WITHOUT HEDDLE", "TOOLS", "TOKENS"}, words: 1, bars: []int64{}, barHead: "TOKENS"}
	add := func(name, tools string, tokens int) {
		out.add(name, tools, thousands(int64(tokens)))
		out.bars = append(out.bars, int64(tokens))
	}
	for _, s := range r.Servers {
		add(plain(s.Name), thousands(int64(s.Tools)), s.Tokens)
		rest := 0
		for i, t := range s.By {
			if i >= mostListed {
				rest += t.Tokens
				continue
			}
			name := "  " + short(plain(t.Tool), 40)
			if !t.Allowed {
				name += " (denied)"
			}
			add(name, "", t.Tokens)
		}
		if n := len(s.By) - mostListed; n > 0 {
			add(fmt.Sprintf("  %d more", n), "", rest)
		}
	}
	out.write(a.out, columns)
}
