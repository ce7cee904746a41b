package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"heddle/internal/daemon"
	"heddle/internal/quarantine"
	"heddle/internal/secret"
	"heddle/internal/wire"

	"github.com/spf13/cobra"
)

func (a *app) quarantineCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "quarantine",
		Short: "Look at results that were withheld, and let them through",
		Long: "With injection_detection.results: block, a result that contains instructions to a model does not reach the host. It is\n" +
			"kept for a week, for a person to look at. Once released, the host's read_result has it under the name that it was\n" +
			"told, with a line before it that says what it is.",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return &usageError{fmt.Errorf("unknown command %q", "quarantine "+args[0]), "there are list, show and release"}
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	list := &cobra.Command{
		Use: "list", Short: "List what is withheld, the newest first", Args: exactArgs(0, 0, "no arguments"),
		RunE: func(*cobra.Command, []string) error { return a.quarantineList() },
	}
	exact := false
	show := &cobra.Command{
		Use: "show ID", Short: "Show a withheld result, and what was found in it",
		Long: "Show what was found in a withheld result, with the text around it, and the result. What a terminal would act on, and\nwhat cannot be seen, is escaped, and secrets are masked. With --json --exact, the result as the server wrote it.",
		Args: exactArgs(1, 1, "the ID that the host was told, like q_12"),
		RunE: func(_ *cobra.Command, args []string) error { return a.quarantineShow(args[0], exact) },
	}
	release := &cobra.Command{
		Use: "release ID", Short: "Let a withheld result through to the host that it was for",
		Args: exactArgs(1, 1, "the ID that the host was told, like q_12"),
		RunE: func(_ *cobra.Command, args []string) error { return a.quarantineRelease(args[0]) },
	}
	show.Flags().BoolVar(&exact, "exact", false, "show secrets too")
	for _, sub := range []*cobra.Command{list, show, release} {
		a.jsonFlag(sub)
		c.AddCommand(sub)
	}
	return c
}

// quarantine opens the store of withheld results.
func (a *app) quarantine() *quarantine.Store {
	return quarantine.Open(daemon.QuarantineDir(a.stateDir()), quarantine.Options{})
}

func (a *app) quarantineList() error {
	items, broken, err := a.quarantine().List()
	if err != nil {
		return err
	}
	for _, b := range broken { // the others are listed all the same
		fmt.Fprintf(a.err, "heddle: warning: %s cannot be read: %v\n", b.File, b.Err)
	}
	if items == nil {
		items = []quarantine.Item{}
	}
	return a.emit(items, func() {
		if len(items) == 0 {
			fmt.Fprintln(a.out, "Nothing is withheld.")
			return
		}
		t := &table{head: []string{"ID", "WHEN", "TOOL", "FOUND", "BYTES", ""}, words: 4}
		for _, i := range items {
			released := ""
			if i.Released != nil {
				released = "released"
			}
			t.add(i.ID, i.Time.Local().Format("2006-01-02 15:04"), plain(i.Server+"::"+i.Tool), foundIn(&i), thousands(int64(i.Bytes)), released)
		}
		t.write(a.out, width(a.out))
	})
}

func foundIn(i *quarantine.Item) string {
	var rules []string
	for _, f := range i.Findings {
		if len(rules) == 0 || rules[len(rules)-1] != f.Rule {
			rules = append(rules, f.Rule)
		}
	}
	return plain(strings.Join(rules, ", "))
}

func (a *app) quarantineShow(id string, exact bool) error {
	item, raw, err := a.quarantine().Get(id)
	if err != nil {
		return quarantineError(err)
	}
	if !exact {
		raw, _ = secret.MaskJSON(raw)
	}
	out := struct {
		quarantine.Item
		Result json.RawMessage `json:"result"`
	}{item, raw}
	return a.emit(out, func() {
		fmt.Fprintf(a.out, "%s  %s  %s\n", item.ID, item.Time.Local().Format(time.DateTime), plain(item.Server+"::"+item.Tool))
		for _, f := range item.Findings {
			fmt.Fprintf(a.out, "found %s at %s, bytes %d to %d\n", plain(f.Rule), plain(f.Pointer), f.Start, f.End)
		}
		fmt.Fprintln(a.out)
		fmt.Fprintln(a.out, visible(textOf(raw)))
	})
}

func (a *app) quarantineRelease(id string) error {
	if err := a.quarantine().Release(id); err != nil {
		return quarantineError(err)
	}
	item, _, err := a.quarantine().Get(id)
	if err != nil {
		return quarantineError(err)
	}
	return a.emit(item, func() {
		fmt.Fprintf(a.out, "%s is released: read_result with result_ref %s has it, in any host of yours.\n", id, id)
	})
}

// textOf returns the texts of a result; of one without any, all of it.
func textOf(raw json.RawMessage) string {
	blocks, _ := wire.Elements(wire.Member(raw, "content"))
	var texts []string
	for _, b := range blocks {
		if text, ok := wire.Unquote(wire.Member(b, "text")); ok {
			texts = append(texts, text)
		}
	}
	if len(texts) == 0 {
		return string(raw)
	}
	return strings.Join(texts, "\n")
}

// visible writes what cannot be seen, and what a terminal would act on, as escapes.
func visible(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r == '\n' || unicode.IsPrint(r) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\u{%X}`, r)
		}
	}
	return b.String()
}

func quarantineError(err error) error {
	if errors.Is(err, quarantine.ErrNotFound) {
		return &hinted{errors.New("nothing is withheld under that ID"), "`heddle quarantine list` lists what is"}
	}
	return err
}
