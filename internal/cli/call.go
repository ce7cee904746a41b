package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode"

	"heddle"
	"heddle/internal/config"
	"heddle/internal/gateway"
	"heddle/internal/wire"

	"github.com/spf13/cobra"
)

func (a *app) callCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "call SERVER::TOOL [ARGUMENTS]",
		Short: "Call one tool and print its result",
		Long: "Call one tool and print its result, through the same checks as a host's call.\n" +
			"ARGUMENTS is a JSON object; - reads it from stdin. Only the tool's own server is started.",
		Example: `  heddle call files::read_text_file '{"path":"README.md"}'`,
		Args:    exactArgs(1, 2, "SERVER::TOOL and at most one JSON object"),
		RunE:    func(c *cobra.Command, args []string) error { return a.call(c.Context(), args) },
	}
	a.jsonFlag(c)
	return c
}

func (a *app) call(ctx context.Context, args []string) error {
	server, tool, ok := strings.Cut(args[0], "::")
	if !ok {
		server, tool, ok = strings.Cut(args[0], "/")
	}
	if !ok || server == "" || tool == "" {
		return &usageError{fmt.Errorf("%q names no tool", args[0]), "write SERVER::TOOL, for example github::create_issue"}
	}
	arguments, err := a.arguments(args[1:])
	if err != nil {
		return err
	}
	cfg, err := a.load()
	if err != nil {
		return err
	}
	if err := only(cfg, server); err != nil {
		return err
	}
	d, err := a.daemon(cfg, "cli", options{})
	if err != nil {
		return err
	}
	var result heddle.Delivery
	var near []string
	err = d.Run(ctx, func(ctx context.Context) error {
		c := &heddle.Call{Principal: heddle.Local, Session: "cli", Mode: "cli", Tool: cfg.Servers[0].Name + "::" + tool, Arguments: arguments, Host: terminal{}}
		var err error
		result, err = d.Gateway().Call(ctx, c)
		near = nearNames(d.Gateway(), err)
		return err
	})
	if err != nil {
		return callFailed(err, near)
	}
	return a.printResult(result.Raw)
}

// only keeps one server of the configuration.
func only(cfg *config.Config, name string) error {
	var names []string
	for _, s := range cfg.Servers {
		if s.Name == name || s.Original == name {
			cfg.Servers = []config.Server{s}
			return nil
		}
		names = append(names, s.Name)
	}
	return &usageError{fmt.Errorf("no server %q in %s", name, cfg.Path), "servers: " + strings.Join(names, ", ")}
}

// arguments reads the JSON object of the command line.
func (a *app) arguments(args []string) (json.RawMessage, error) {
	if len(args) == 0 {
		return nil, nil
	}
	text := []byte(args[0])
	if args[0] == "-" {
		var err error
		if text, err = io.ReadAll(a.in); err != nil {
			return nil, err
		}
	}
	if !wire.Valid(text) {
		return nil, &usageError{errors.New("the arguments are not valid JSON"), `write a JSON object, for example '{"path":"README.md"}'`}
	}
	return json.RawMessage(strings.TrimSpace(string(wire.OneLine(text)))), nil
}

// nearNames returns the names near an unknown one as the command line takes them.
func nearNames(g *gateway.Gateway, err error) (out []string) {
	var e *heddle.Error
	if !errors.As(err, &e) {
		return nil
	}
	for _, name := range e.Near {
		if t, ok := g.Snapshot(heddle.Local).Lookup(name, false); ok {
			out = append(out, t.Ref.String())
		}
	}
	return out
}

// callFailed gives a refused call its words for the command line.
func callFailed(err error, near []string) error {
	var e *heddle.Error
	var rpc *heddle.RPCError
	switch {
	case errors.As(err, &rpc):
		return fmt.Errorf("the server answered with error %d: %s", rpc.Code(), rpc.Message())
	case errors.As(err, &e):
		hint := ""
		switch {
		case e.Signature != "":
			hint = "signature: " + e.Signature
		case len(near) > 0:
			hint = "near names: " + strings.Join(near, ", ")
		}
		return &hinted{fmt.Errorf("%s: %s", e.Kind, e.Public), hint}
	}
	return err
}

// printResult prints the text of a result, or all of it as JSON.
func (a *app) printResult(raw json.RawMessage) error {
	failed := string(wire.Member(raw, "isError")) == "true"
	if a.json {
		fmt.Fprintf(a.out, "%s\n", raw)
	} else {
		blocks, _ := wire.Elements(wire.Member(raw, "content"))
		for _, b := range blocks {
			a.printBlock(b)
		}
		if s := wire.Member(raw, "structuredContent"); len(blocks) == 0 && s != nil {
			fmt.Fprintf(a.out, "%s\n", s)
		}
	}
	if failed {
		return &silent{exitFailure}
	}
	return nil
}

func (a *app) printBlock(b json.RawMessage) {
	if text, ok := wire.Unquote(wire.Member(b, "text")); ok {
		if f, ok := a.out.(*os.File); ok && isTerminal(f) { // which would act on what a server wrote
			text = strings.Map(func(r rune) rune {
				if unicode.IsControl(r) && r != '\n' && r != '\t' {
					return '\uFFFD'
				}
				return r
			}, text)
		}
		fmt.Fprintln(a.out, strings.TrimSuffix(text, "\n"))
		return
	}
	kind, _ := wire.Unquote(wire.Member(b, "type"))
	fmt.Fprintf(a.out, "[%s block of %d bytes; --json shows it]\n", kind, len(b))
}

// terminal is the host of a call from the command line: nobody listens to its
// progress, and it can be asked nothing.
type terminal struct{}

// ID implements [heddle.Host].
func (terminal) ID() string { return "cli" }

// Capabilities implements [heddle.Host].
func (terminal) Capabilities() json.RawMessage { return json.RawMessage(`{}`) }

// Request implements [heddle.Host].
func (terminal) Request(_ context.Context, method string, _ json.RawMessage) (json.RawMessage, error) {
	return nil, heddle.NewRPCError(-32601, method+" is not supported on the command line")
}

// Notify implements [heddle.Host].
func (terminal) Notify(context.Context, string, json.RawMessage) error { return nil }

// progress tells a person on a terminal what a command waits for; it says
// nothing when the output is piped. The returned function ends it.
func progress(w io.Writer, text string) (done func()) {
	f, ok := w.(*os.File)
	if !ok || !isTerminal(f) {
		return func() {}
	}
	t := time.AfterFunc(500*time.Millisecond, func() { fmt.Fprintf(f, "%s …\n", text) })
	return func() { t.Stop() }
}

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
