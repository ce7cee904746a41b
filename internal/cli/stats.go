package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"heddle/internal/daemon"
	"heddle/internal/figures"

	"github.com/spf13/cobra"
)

// statsFlags are what stats is told.
type statsFlags struct {
	db    bool
	sql   string
	since string
}

func (a *app) statsCommand() *cobra.Command {
	var f statsFlags
	c := &cobra.Command{
		Use:   "stats",
		Short: "Show what heddle saved, and what its ledger holds",
		Long: "Show how many tokens heddle saved: the definitions of all tools less what hosts listed and were shown instead,\n" +
			"and what servers answered less what hosts got of it, in all, by day and by mode. Tokens that were not counted on\n" +
			"their way are estimated from bytes; what a refusal says is not counted.\n\n" +
			"With --db, how calls went: errors by kind, and for each tool calls, times in milliseconds (of the calls that were\n" +
			"not refused) and tokens saved.\n\n" +
			"With --federate, what the tools of all hosts' servers on this machine cost a model, and would cost in each mode, as\n" +
			"analyze counts it: the servers are started once.\n\n" +
			"With --sql, the answer of one SELECT. The tables are\n" +
			"  calls     id, time, principal, session, mode, tool (as the host named it), server, name, kind ('' is success),\n" +
			"            is_error, decisions, form, queue_us, policy_us, upstream_us, deliver_us, total_us, upstream_bytes,\n" +
			"            delivered_bytes, upstream_tokens, delivered_tokens, definition_tokens (NULL: not counted), cache_hit\n" +
			"  sessions  id, started, principal, mode, client, client_version, protocol, native_bytes, surface_bytes,\n" +
			"            native_tokens, surface_tokens\n" +
			"Times are microseconds since 1970, durations microseconds. The ledger is opened to be read and cannot be changed.",
		Example: "  heddle stats --since 7d\n" +
			"  heddle stats --db\n" +
			"  heddle stats --sql \"SELECT server, name, count(*) FROM calls WHERE kind = 'timeout' GROUP BY 1, 2\"",
		Args: exactArgs(0, 0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			if a.federate {
				if f.db || f.since != "" || c.Flags().Changed("sql") {
					return &usageError{errors.New("--federate goes with --json alone"), "it counts definitions, not calls: leave out the other flags"}
				}
				return a.analyze(c.Context(), figures.Rates{}, doctorWait)
			}
			if c.Flags().Changed("sql") {
				if f.db || f.since != "" {
					return &usageError{errors.New("--sql goes with --json alone"), "write the time into the query, for example WHERE time > …"}
				}
				return a.query(c.Context(), f.sql)
			}
			return a.stats(c.Context(), f)
		},
	}
	c.Flags().BoolVar(&f.db, "db", false, "show calls, errors and times of each tool")
	c.Flags().StringVar(&f.sql, "sql", "", "print what this SELECT on the ledger returns")
	c.Flags().StringVar(&f.since, "since", "", "leave out what is older: 30m, 12h, 7d, 2w or a day as 2026-01-31")
	a.federateFlag(c)
	a.jsonFlag(c)
	return c
}

func (a *app) stats(ctx context.Context, f statsFlags) error {
	from, err := since(f.since, time.Now())
	if err != nil {
		return err
	}
	d, err := a.readStats(ctx, f.db, from)
	if err != nil {
		return err
	}
	if !from.IsZero() {
		d.Since = &from
	}
	if d.Dropped, err = a.dropped(); err != nil {
		return err
	}
	if f.db {
		return a.emit(d, func() { a.printDatabase(d) })
	}
	return a.emit(d.Stats, func() { a.printStats(&d.Stats) })
}

// readStats reads the ledger, whole if all is to be shown, else the sums alone.
func (a *app) readStats(ctx context.Context, all bool, from time.Time) (*figures.Database, error) {
	defer a.reading()()
	r, err := a.book(ctx)
	if err != nil {
		return nil, err
	}
	if r == nil {
		return &figures.Database{Stats: figures.Sum(nil, time.Local), Kinds: []figures.Kind{}, Tools: []figures.Tool{}}, nil
	}
	defer r.Close()
	if all {
		return figures.Read(ctx, r, from, time.Local)
	}
	s, err := figures.Savings(ctx, r, from, time.Local)
	return &figures.Database{Stats: s}, err
}

// dropped counts the rows that the heddles that run could not write.
func (a *app) dropped() (n uint64, err error) {
	states, err := daemon.ReadStates(a.stateDir())
	for _, s := range states {
		n += s.Ledger.Dropped
	}
	return n, err
}

// printEmpty says that there is nothing to report, if there is not.
func (a *app) printEmpty(s *figures.Stats) bool {
	switch {
	case !s.Empty():
		return false
	case s.Since != nil:
		fmt.Fprintf(a.out, "Nothing was recorded since %s.\n", s.Since.Format("2006-01-02 15:04"))
	default:
		fmt.Fprintln(a.out, nothingYet)
	}
	a.printDropped(s)
	return true
}

func (a *app) printDropped(s *figures.Stats) {
	if s.Dropped > 0 {
		fmt.Fprintf(a.out, "\n%s of heddles that run could not be written and are missing here; `heddle status` says why.\n", many(int64(s.Dropped), "row"))
	}
}

func (a *app) printStats(s *figures.Stats) {
	if a.printEmpty(s) {
		return
	}
	a.printSaved(s)
	fmt.Fprintln(a.out)
	a.printTokens(s.Tokens)
	columns := width(a.out)
	days := &table{head: []string{"DAY", "SESSIONS", "CALLS", "SAVED", "%"}, words: 1, bars: []int64{}, barHead: "TOKENS SAVED"}
	first := max(0, len(s.Days)-mostDays)
	for _, d := range s.Days[first:] {
		days.add(d.Day, thousands(d.Sessions), thousands(d.Calls), thousands(d.Saved), fmt.Sprint(d.Percent))
		days.bars = append(days.bars, d.Saved)
	}
	fmt.Fprintln(a.out)
	days.write(a.out, columns)
	if first > 0 {
		fmt.Fprintf(a.out, "%s before; --json has all.\n", count(first, "day"))
	}
	modes := &table{head: []string{"MODE", "SESSIONS", "CALLS", "SAVED", "%"}, words: 1, bars: []int64{}, barHead: "TOKENS SAVED"}
	for _, m := range s.Modes {
		modes.add(plain(m.Mode), thousands(m.Sessions), thousands(m.Calls), thousands(m.Saved), fmt.Sprint(m.Percent))
		modes.bars = append(modes.bars, m.Saved)
	}
	fmt.Fprintln(a.out)
	modes.write(a.out, columns)
	a.printDropped(s)
}

const (
	mostDays  = 31 // that are printed for people
	mostTools = 40
)

// printSaved is the line that says it all.
func (a *app) printSaved(s *figures.Stats) {
	from := ""
	if s.Since != nil {
		from = " since " + s.Since.Format("2006-01-02 15:04")
	}
	calls := fmt.Sprintf("%s and %s%s", many(s.Sessions, "session"), many(s.Calls, "call"), from)
	if s.Saved < 0 {
		fmt.Fprintf(a.out, "heddle cost %s tokens more than it saved, in %s.\n", thousands(-s.Saved), calls)
		return
	}
	fmt.Fprintf(a.out, "heddle saved %s of %s tokens (%d %%), in %s.\n", thousands(s.Saved), thousands(s.Without()), s.Percent, calls)
}

// printTokens shows where the tokens went.
func (a *app) printTokens(t figures.Tokens) {
	out := &table{head: []string{"TOKENS", "WITHOUT HEDDLE", "WITH HEDDLE"}, words: 1}
	out.add("definitions that hosts list", thousands(t.Native), thousands(t.Surface))
	out.add("definitions that searches show", "–", thousands(t.Shown))
	out.add("results of servers", thousands(t.Upstream), thousands(t.Delivered))
	out.add("results that are read on", "–", thousands(t.Read))
	out.add("in all", thousands(t.Without()), thousands(t.With()))
	out.write(a.out, 0)
}

func (a *app) printDatabase(d *figures.Database) {
	if a.printEmpty(&d.Stats) {
		return
	}
	a.printSaved(&d.Stats)
	fmt.Fprintf(a.out, "Refused or failed: %s. Tools that said that they failed: %s. Searches: %s", thousands(d.Failed), thousands(d.ToolErrors), thousands(d.Searches))
	if d.CacheHits > 0 {
		fmt.Fprintf(a.out, ", with definitions from the cache: %s", thousands(d.CacheHits))
	}
	fmt.Fprintln(a.out, ".")
	columns := width(a.out)
	a.printErrors(d, columns)
	fmt.Fprintln(a.out)
	a.printTools(d.Tools, columns)
	days := &table{head: []string{"DAY", "CALLS", "FAILED"}, words: 1, bars: []int64{}, barHead: "CALLS"}
	for _, day := range d.Days[max(0, len(d.Days)-mostDays):] {
		days.add(day.Day, thousands(day.Calls), thousands(day.Failed))
		days.bars = append(days.bars, day.Calls)
	}
	fmt.Fprintln(a.out)
	days.write(a.out, columns)
	a.printDropped(&d.Stats)
}

func (a *app) printErrors(d *figures.Database, columns int) {
	kinds := &table{head: []string{"ERROR", "CALLS"}, words: 1, bars: []int64{}}
	add := func(kind string, n int64) {
		kinds.add(kind, thousands(n))
		kinds.bars = append(kinds.bars, n)
	}
	for _, k := range d.Kinds {
		add(plain(string(k.Kind)), k.Calls)
	}
	if d.ToolErrors > 0 {
		add("isError, of the tool", d.ToolErrors)
	}
	if len(kinds.rows) > 0 {
		fmt.Fprintln(a.out)
		kinds.write(a.out, columns)
	}
}

// printTools shows a line a tool.
func (a *app) printTools(tools []figures.Tool, columns int) {
	out := &table{head: []string{"TOOL", "CALLS", "FAILED", "P50 MS", "P95 MS", "P99 MS", "SAVED"}, words: 1, bars: []int64{}, barHead: "CALLS"}
	for _, t := range tools[:min(len(tools), mostTools)] {
		times := []string{"–", "–", "–"}
		if t.Timed > 0 {
			times = []string{millis(t.P50), millis(t.P95), millis(t.P99)}
		}
		out.add(append(append([]string{toolName(t)}, thousands(t.Calls), thousands(t.Failed+t.ToolErrors)), append(times, thousands(t.Saved))...)...)
		out.bars = append(out.bars, t.Calls)
	}
	out.write(a.out, columns)
	if n := len(tools) - mostTools; n > 0 {
		fmt.Fprintf(a.out, "%s more; --json has all.\n", count(n, "tool"))
	}
}

// toolName is the tool's name for people, not too long for a table.
func toolName(t figures.Tool) string {
	if t.Name == "" {
		return "(names without a tool)"
	}
	return short(plain(t.Server)+"::"+plain(t.Name), 40)
}
