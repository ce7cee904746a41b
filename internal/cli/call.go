package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
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
	line := a.statusLine() // before the daemon: what it logs must not tear the line
	d, err := a.daemon(cfg, "cli", options{})
	if err != nil {
		return err
	}
	var result heddle.Delivery
	var near []string
	err = d.Run(ctx, func(ctx context.Context) error {
		host := terminal{in: a.in, out: a.err}
		host.waits = line.show(func() string { return startingServers(d.Pool().Servers(), "waiting for "+args[0]) })
		defer host.waits()
		c := &heddle.Call{Principal: heddle.Local, Session: "cli", Mode: "cli", Tool: cfg.Servers[0].Name + "::" + tool, Arguments: arguments, Host: host}
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
		if f := fileOf(a.out); f != nil && isTerminal(f) { // which would act on what a server wrote
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
// progress, and all that it can be asked is yes or no, by a person at a terminal.
type terminal struct {
	in    *os.File
	out   io.Writer
	waits func() // ends the line that says what is waited for
}

// ID implements [heddle.Host].
func (terminal) ID() string { return "cli" }

// Capabilities implements [heddle.Host].
func (terminal) Capabilities() json.RawMessage { return json.RawMessage(`{}`) }

// Request implements [heddle.Host].
func (t terminal) Request(_ context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	fields := wire.Member(wire.Member(params, "requestedSchema"), "properties")
	if method != "elicitation/create" || len(fields) > len("{}") || t.in == nil || !isTerminal(t.in) || width(t.out) == 0 {
		return nil, heddle.NewRPCError(-32601, method+" is not supported on the command line")
	}
	t.waits()
	message, _ := wire.Unquote(wire.Member(params, "message"))
	fmt.Fprintf(t.out, "%s\n[y/N] ", visible(message))
	answer, err := bufio.NewReader(t.in).ReadString('\n')
	if word := strings.ToLower(strings.TrimSpace(answer)); err == nil && (word == "y" || word == "yes") {
		return json.RawMessage(`{"action":"accept","content":{}}`), nil
	}
	return json.RawMessage(`{"action":"decline"}`), nil
}

// Notify implements [heddle.Host].
func (terminal) Notify(context.Context, string, json.RawMessage) error { return nil }

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
