package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"heddle"
	"heddle/internal/figures"
	"heddle/internal/ledger"

	"github.com/spf13/cobra"
)

// logFlags are what log is told.
type logFlags struct {
	tail, errors bool
	n            int
	server       string
}

func (a *app) logCommand() *cobra.Command {
	var f logFlags
	c := &cobra.Command{
		Use:   "log",
		Short: "Show the last calls",
		Long: "Show the last calls of all heddles of this user, oldest first, a line each: when it began, mode, tool, what became of\n" +
			"it, the form of its result (exact, projected, dataset, own), milliseconds, and tokens from the server → to the host;\n" +
			"~ is estimated from bytes. What became of it is ok, isError (the tool says that it failed) or the kind of error,\n" +
			"with the check that refused the call or changed its arguments. Arguments and results are not recorded.\n\n" +
			"With --json each line is an object.",
		Example: "  heddle log --errors -n 50\n  heddle log --tail --server github",
		Args:    exactArgs(0, 0, "no arguments"),
		RunE:    func(c *cobra.Command, _ []string) error { return a.log(c.Context(), f) },
	}
	c.Flags().BoolVarP(&f.tail, "tail", "f", false, "go on with new calls until interrupted")
	c.Flags().IntVarP(&f.n, "lines", "n", 20, "how many calls to show")
	c.Flags().StringVar(&f.server, "server", "", "show this server's calls alone")
	c.Flags().BoolVar(&f.errors, "errors", false, "show calls that were refused or failed alone")
	a.jsonFlag(c)
	return c
}

// pollEvery is how often --tail looks for new calls, and mostEntries how many it
// reads at once.
const (
	pollEvery   = 500 * time.Millisecond
	mostEntries = 1000
)

func (a *app) log(ctx context.Context, f logFlags) error {
	if f.n < 0 {
		return &usageError{fmt.Errorf("-n %d is no number of calls", f.n), "write 0 or more"}
	}
	t := &tail{app: a, filter: ledger.Filter{Server: f.server, Errors: f.errors}}
	defer t.close()
	err := t.recent(ctx, f.n)
	if err == nil && f.tail {
		err = t.follow(ctx)
	}
	if err != nil && ctx.Err() != nil {
		return nil // a signal is how --tail ends
	}
	if asked := f.n > 0 || t.last == 0; err == nil && asked && !t.any && !a.json && !f.tail {
		t.printNothing(f)
	}
	return unread(err)
}

// tail reads calls on from the last one that it has shown.
type tail struct {
	app    *app
	filter ledger.Filter
	reader *ledger.Reader // nil while there is no file
	last   int64
	any    bool
}

func (t *tail) close() {
	if t.reader != nil {
		_ = t.reader.Close() // read only: nothing is lost
	}
}

func (t *tail) printNothing(f logFlags) {
	if f.server != "" || f.errors {
		fmt.Fprintln(t.app.out, "No recorded call is of that kind.")
		return
	}
	fmt.Fprintln(t.app.out, nothingYet)
}

// recent shows the last n calls.
func (t *tail) recent(ctx context.Context, n int) (err error) {
	if t.reader, err = t.app.book(ctx); err != nil || t.reader == nil {
		return err
	}
	if t.last, err = t.reader.LastID(ctx); err != nil {
		return err
	}
	entries, err := t.reader.Recent(ctx, t.filter, n)
	if err != nil {
		return err
	}
	return t.show(entries)
}

// follow shows new calls until ctx ends.
func (t *tail) follow(ctx context.Context) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if err := t.reopen(ctx); err != nil {
			return err
		}
		if t.reader == nil {
			continue
		}
		if err := t.poll(ctx); err != nil {
			return err
		}
	}
}

// poll shows what is new. The id of the last call is at hand, so that asking for it
// costs nothing while there is nothing new.
func (t *tail) poll(ctx context.Context) error {
	newest, err := t.reader.LastID(ctx)
	if err != nil || newest == t.last {
		return err
	}
	if newest < t.last {
		t.last = 0 // every row was removed for its age, and ids began again
	}
	entries, err := t.reader.After(ctx, t.filter, t.last, mostEntries)
	if err != nil {
		return err
	}
	if len(entries) < mostEntries {
		t.last = max(t.last, newest) // what the filter leaves out is not read again
	}
	return t.show(entries)
}

// reopen opens the file where there is another one at its path, or one at last.
func (t *tail) reopen(ctx context.Context) (err error) {
	if t.reader != nil && t.reader.InPlace() {
		return nil
	}
	t.close()
	t.last = 0
	t.reader, err = t.app.book(ctx)
	return err
}

func (t *tail) show(entries []ledger.Entry) error {
	for i := range entries {
		e := &entries[i]
		t.last, t.any = max(t.last, e.ID), true
		line := callLine(&e.Row)
		if t.app.json {
			raw, err := json.Marshal(callOf(&e.Row))
			if err != nil {
				return err
			}
			line = string(raw)
		}
		if _, err := fmt.Fprintln(t.app.out, line); err != nil {
			return err
		}
	}
	return nil
}

// callLine is a call on one line.
func callLine(r *ledger.Row) string {
	line := fmt.Sprintf("%s  %-7s  %-36s  %-20s  %-9s  %9s  %s", r.Time.Local().Format("2006-01-02 15:04:05"), plain(r.Mode), called(r), outcome(r),
		plain(string(r.Form)), millis(figures.Milliseconds(r.Total)), exchanged(r))
	return strings.TrimRight(line, " ")
}

// called is the tool of a call: with its server if it has one, else as the host
// named it.
func called(r *ledger.Row) string {
	switch {
	case r.Server != "":
		return plain(r.Server) + "::" + plain(r.Name)
	case r.Form == heddle.FormOwn:
		return "heddle::" + plain(r.Tool)
	}
	return plain(r.Tool)
}

// outcome is what became of a call, with the check that had a part in it.
func outcome(r *ledger.Row) string {
	word := "ok"
	switch {
	case r.Kind != "":
		word = plain(string(r.Kind))
	case r.IsError:
		word = "isError"
	}
	for i := len(r.Decisions) - 1; i >= 0; i-- {
		if d := r.Decisions[i]; d.Action != "noted" {
			return fmt.Sprintf("%s (%s %s)", word, plain(d.Check), plain(d.Action))
		}
	}
	return word
}

// exchanged is the tokens that came from the server and went to the host.
func exchanged(r *ledger.Row) string {
	if r.Kind != "" {
		return "" // the words of an error are not in the ledger
	}
	from := "–"
	if r.Server != "" {
		from = tokensText(r.UpstreamTokens, r.UpstreamBytes)
	}
	return from + " → " + tokensText(r.DeliveredTokens, r.DeliveredBytes)
}

func tokensText(t ledger.Tokens, bytes int64) string {
	if t.Known {
		return thousands(t.N)
	}
	return "~" + thousands(ledger.Estimate(bytes))
}

// loggedCall is a call as JSON. Tokens that were not counted are null.
type loggedCall struct {
	Time            time.Time   `json:"time"`
	Session         string      `json:"session"`
	Mode            string      `json:"mode"`
	Tool            string      `json:"tool"`
	Server          string      `json:"server"`
	Name            string      `json:"name"`
	Kind            heddle.Kind `json:"kind"`
	IsError         bool        `json:"is_error"`
	Decisions       []decided   `json:"decisions"`
	Form            heddle.Form `json:"form"`
	Total           float64     `json:"total_ms"`
	Queue           float64     `json:"queue_ms"`
	Policy          float64     `json:"policy_ms"`
	Upstream        float64     `json:"upstream_ms"`
	Deliver         float64     `json:"deliver_ms"`
	UpstreamBytes   int64       `json:"upstream_bytes"`
	DeliveredBytes  int64       `json:"delivered_bytes"`
	UpstreamTokens  *int64      `json:"upstream_tokens"`
	DeliveredTokens *int64      `json:"delivered_tokens"`
}

// decided is a [heddle.Decision].
type decided struct {
	Check  string `json:"check"`
	Action string `json:"action"`
	Rule   string `json:"rule"`
}

func callOf(r *ledger.Row) loggedCall {
	c := loggedCall{
		Time: r.Time, Session: r.Session, Mode: r.Mode, Tool: r.Tool, Server: r.Server, Name: r.Name, Kind: r.Kind, IsError: r.IsError,
		Decisions: []decided{}, Form: r.Form, UpstreamBytes: r.UpstreamBytes, DeliveredBytes: r.DeliveredBytes,
		Total: figures.Milliseconds(r.Total), Queue: figures.Milliseconds(r.Queue), Policy: figures.Milliseconds(r.Policy),
		Upstream: figures.Milliseconds(r.Upstream), Deliver: figures.Milliseconds(r.Deliver),
	}
	for _, d := range r.Decisions {
		c.Decisions = append(c.Decisions, decided(d))
	}
	if r.UpstreamTokens.Known {
		c.UpstreamTokens = &r.UpstreamTokens.N
	}
	if r.DeliveredTokens.Known {
		c.DeliveredTokens = &r.DeliveredTokens.N
	}
	return c
}
