package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"heddle"
	"heddle/internal/figures"
	"heddle/internal/surface"

	"github.com/spf13/cobra"
)

func (a *app) profileCommand() *cobra.Command {
	var share bool
	c := &cobra.Command{
		Use:   "profile",
		Short: "Show how the last session went",
		Long: "Show the last session that called a tool: what its host listed and would have listed, how results were delivered,\n" +
			"and for each tool calls, times in milliseconds and tokens.\n\n" +
			"A result is exact, projected (a short text in place of it), dataset (a table that can be queried), own (an answer of\n" +
			"heddle's own tools) or failed. Tokens that were not counted on their way are estimated from bytes.\n\n" +
			"With --share, a card of fixed size to show to others: counts, tokens, percent and times, and no name of a server,\n" +
			"tool or host, no path, no argument and no reference.",
		Args: exactArgs(0, 0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error { return a.profile(c.Context(), share) },
	}
	c.Flags().BoolVar(&share, "share", false, "print a card without names")
	a.jsonFlag(c)
	return c
}

func (a *app) profile(ctx context.Context, share bool) error {
	s, err := a.lastSession(ctx)
	switch {
	case err != nil:
		return err
	case s == nil:
		return a.emit(nil, func() { fmt.Fprintln(a.out, nothingYet) })
	case share:
		s.Mode = modeWord(s.Mode)
		return a.emit(s.Card, func() { fmt.Fprint(a.out, card(&s.Card)) })
	}
	return a.emit(s, func() { a.printProfile(s) })
}

// lastSession returns nil if no session has been recorded yet.
func (a *app) lastSession(ctx context.Context) (*figures.Session, error) {
	defer a.reading()()
	r, err := a.book(ctx)
	if err != nil || r == nil {
		return nil, err
	}
	defer r.Close()
	return figures.Last(ctx, r)
}

func (a *app) printProfile(s *figures.Session) {
	fmt.Fprintf(a.out, "Session of %s: %s mode, %s, %s in %s.\n", s.Started.Local().Format("2006-01-02 15:04:05"), plain(s.Mode),
		short(plain(s.Client), 40), many(s.Calls, "call"), lasting(s.Length))
	if s.Saved < 0 {
		fmt.Fprintf(a.out, "heddle cost %s tokens more than it saved.\n\n", thousands(-s.Saved))
	} else {
		fmt.Fprintf(a.out, "heddle saved %s of %s tokens (%d %%).\n\n", thousands(s.Saved), thousands(s.Without()), s.Percent)
	}
	a.printTokens(s.Tokens)
	if s.Calls == 0 {
		return
	}
	columns := width(a.out)
	forms := &table{head: []string{"DELIVERED", "CALLS", "FROM SERVERS", "TO HOST", "SERVER MS", "HEDDLE MS"}, words: 1, bars: []int64{}, barHead: "CALLS"}
	for _, f := range s.Forms {
		forms.add(plain(string(f.Form)), thousands(f.Calls), thousands(f.Upstream), thousands(f.Delivered), millis(f.Server), millis(f.Heddle))
		forms.bars = append(forms.bars, f.Calls)
	}
	fmt.Fprintln(a.out)
	forms.write(a.out, columns)
	if len(s.Kinds) > 0 {
		kinds := &table{head: []string{"ERROR", "CALLS"}, words: 1}
		for _, k := range s.Kinds {
			kinds.add(plain(string(k.Kind)), thousands(k.Calls))
		}
		fmt.Fprintln(a.out)
		kinds.write(a.out, columns)
	}
	fmt.Fprintln(a.out)
	a.printUsed(s.Tools, columns)
}

// printUsed shows a line a tool of a session.
func (a *app) printUsed(tools []figures.Tool, columns int) {
	out := &table{head: []string{"TOOL", "CALLS", "FAILED", "P50 MS", "MAX MS", "FROM SERVER", "TO HOST"}, words: 1, bars: []int64{}, barHead: "TOKENS TO HOST"}
	for _, t := range tools[:min(len(tools), mostTools)] {
		middle, most := "–", "–"
		if t.Timed > 0 {
			middle, most = millis(t.P50), millis(t.Max)
		}
		out.add(toolName(t), thousands(t.Calls), thousands(t.Failed+t.ToolErrors), middle, most, thousands(t.Upstream), thousands(t.Delivered))
		out.bars = append(out.bars, t.Delivered)
	}
	out.write(a.out, columns)
	if n := len(tools) - mostTools; n > 0 {
		fmt.Fprintf(a.out, "%s more; --json has all.\n", count(n, "tool"))
	}
}

// lasting is a length of time in words that are short.
func lasting(ms float64) string {
	d := time.Duration(ms * float64(time.Millisecond))
	switch {
	case d >= time.Hour:
		return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
	case d >= time.Minute:
		return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
	case d >= time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return millis(ms) + " ms"
}

const (
	cardWidth = 76 // within the frame
	cardBar   = 34
)

// card is what --share prints, the same on every terminal and in a pipe.
func card(c *figures.Card) string {
	var b strings.Builder
	edge := strings.Repeat("─", cardWidth)
	fmt.Fprintf(&b, "┌%s┐\n", edge)
	line := func(left, right string) {
		right = short(right, cardWidth-6-utf8.RuneCountInString(left))
		gap := cardWidth - 4 - utf8.RuneCountInString(left) - utf8.RuneCountInString(right)
		fmt.Fprintf(&b, "│  %s%s%s  │\n", left, strings.Repeat(" ", gap), right)
	}
	line("heddle "+c.Version, "one session, "+c.Mode+" mode")
	line("", "")
	most := max(c.Without(), c.With())
	line("without heddle  "+bar(c.Without(), most, cardBar), thousands(c.Without())+" tokens")
	line("with heddle     "+bar(c.With(), most, cardBar), thousands(c.With())+" tokens")
	line("saved", fmt.Sprintf("%s tokens  %4d %%", thousands(c.Saved), c.Percent))
	line("", "")
	line("tool definitions", fmt.Sprintf("%s → %s tokens  %4d %%", thousands(c.Native), thousands(c.Surface+c.Shown), figures.Percent(c.Native-c.Surface-c.Shown, c.Native)))
	line("results", fmt.Sprintf("%s → %s tokens  %4d %%", thousands(c.Upstream), thousands(c.Delivered+c.Read), figures.Percent(c.Upstream-c.Delivered-c.Read, c.Upstream)))
	line("", "")
	line(fmt.Sprintf("%s of %s", many(c.Calls, "call"), count(c.ToolsUsed, "tool")), "in "+lasting(c.Length))
	line("delivered", delivered(c.Forms))
	line("mean time of a call", meanTimes(c.Forms))
	fmt.Fprintf(&b, "└%s┘\n", edge)
	return b.String()
}

// modeWord is the mode, if it is one of heddle's own words: a ledger is a file
// that others can write to.
func modeWord(mode string) string {
	if slices.Contains(surface.Names(), mode) {
		return mode
	}
	return "another"
}

// delivered says how many results came in which form.
func delivered(forms []figures.Form) string {
	calls := map[heddle.Form]int64{}
	for _, f := range forms {
		calls[f.Form] += f.Calls
	}
	var parts []string
	for _, f := range []heddle.Form{heddle.FormExact, heddle.FormProjected, heddle.FormDataset, heddle.FormOwn, "failed"} {
		if calls[f] > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", thousands(calls[f]), f))
		}
	}
	return strings.Join(parts, ", ")
}

// meanTimes are those of calls that servers answered.
func meanTimes(forms []figures.Form) string {
	var server, own, calls float64
	for _, f := range forms {
		if f.Form != heddle.FormOwn && f.Form != "failed" {
			n := float64(f.Calls)
			server, own, calls = server+n*f.Server, own+n*f.Heddle, calls+n
		}
	}
	if calls == 0 {
		return "–"
	}
	return fmt.Sprintf("servers %s ms, heddle %s ms", millis(server/calls), millis(own/calls))
}
