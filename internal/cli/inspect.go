package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"heddle"
	"heddle/internal/catalog"
	"heddle/internal/catalog/minify"
	"heddle/internal/config"
	"heddle/internal/policy/schema"
	"heddle/internal/tokens"
	"heddle/internal/wire"

	"github.com/spf13/cobra"
)

func (a *app) inspectCommand() *cobra.Command {
	var raw, stats bool
	c := &cobra.Command{
		Use:   "inspect SERVER::TOOL",
		Short: "Show one tool: its parameters, its definition, what it costs",
		Long: "Start the tool's server and show the tool. Its name may also be SERVER/TOOL, or the one that hosts see.\n" +
			"With --raw the definition is printed as the server wrote it, and nothing else. With --stats follows what it costs\n" +
			"a model in tokens: as listed, minified and as a signature.",
		Example: "  heddle inspect github::create_issue",
		Args:    exactArgs(1, 1, "the name of one tool"),
		RunE: func(c *cobra.Command, args []string) error {
			if raw && (stats || a.json) {
				return &usageError{errors.New("--raw goes with no other flag"), "leave out --stats and --json"}
			}
			return a.inspect(c.Context(), args[0], raw, stats)
		},
	}
	c.Flags().BoolVar(&raw, "raw", false, "print the definition exactly as the server wrote it")
	c.Flags().BoolVar(&stats, "stats", false, "count tokens of the definition, minified, and of its signature")
	a.jsonFlag(c)
	return c
}

// inspect starts the server that the name belongs to, or all if that cannot be
// told, and prints the tool.
func (a *app) inspect(ctx context.Context, name string, raw, stats bool) error {
	cfg, err := a.load()
	if err != nil {
		return err
	}
	name, err = ownerOnly(cfg, name)
	if err != nil {
		return err
	}
	line := a.statusLine() // before the daemon: what it logs must not tear the line
	d, err := a.daemon(cfg, "inspect", options{})
	if err != nil {
		return err
	}
	var tool *heddle.Tool
	var near []string
	err = d.Run(ctx, func(ctx context.Context) error {
		defer line.show(func() string { return startingServers(d.Pool().Servers(), "reading definitions") })()
		d.Pool().Booted(ctx)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		a.warnFailed(d.Pool().Servers())
		snapshot := d.Gateway().Snapshot(heddle.Local)
		tool, _ = snapshot.Lookup(name, false)
		if tool == nil {
			near = nearTools(snapshot, name)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if tool == nil {
		hint := "`heddle validate` lists all tools"
		if len(near) > 0 {
			hint = "near names: " + strings.Join(near, ", ")
		}
		return &hinted{errors.New("there is no tool of that name"), hint}
	}
	if raw {
		_, err := a.out.Write(tool.Definition)
		return err
	}
	return a.printTool(tool, stats)
}

// ownerOnly keeps the server that the tool's name begins with, if there is one,
// and returns the name with that server's own spelling.
func ownerOnly(cfg *config.Config, name string) (string, error) {
	for _, separator := range []string{"::", "/"} {
		server, tool, ok := strings.Cut(name, separator)
		if !ok || server == "" || tool == "" {
			continue
		}
		if err := only(cfg, server); err != nil {
			return "", err
		}
		return cfg.Servers[0].Name + "::" + tool, nil
	}
	owner := ""
	for _, s := range cfg.Servers {
		if strings.HasPrefix(name, s.Name+"_") && len(s.Name) > len(owner) {
			owner = s.Name
		}
	}
	if owner == "" {
		return name, nil
	}
	return name, only(cfg, owner)
}

// nearTools returns names like one that is unknown, as the command line takes
// them.
func nearTools(s *catalog.Snapshot, name string) (out []string) {
	for _, n := range s.Near(name, 3, false) {
		if t, ok := s.Lookup(n, false); ok {
			out = append(out, t.Ref.String())
		}
	}
	return out
}

// inspected is a tool as inspect prints it.
type inspected struct {
	Name        string             `json:"name"`
	Server      string             `json:"server"`
	Tool        string             `json:"tool"`
	Title       string             `json:"title,omitempty"`
	Description string             `json:"description"`
	Signature   string             `json:"signature"`
	Parameters  []schema.Parameter `json:"parameters"`
	Annotations json.RawMessage    `json:"annotations,omitempty"`
	Fingerprint string             `json:"fingerprint"`
	Definition  json.RawMessage    `json:"definition"`
	Tokens      *cost              `json:"tokens,omitempty"`
}

// cost is what a tool costs a model, in tokens.
type cost struct {
	Encoding string `json:"encoding"`
	// Original is name, description and input schema as the server listed them.
	Original  int `json:"original"`
	Minified  int `json:"minified"`
	Signature int `json:"signature"`
}

func (a *app) printTool(t *heddle.Tool, stats bool) error {
	v := inspected{
		Name: t.Exposed, Server: t.Ref.Server, Tool: t.Ref.Name, Title: t.Title, Description: t.Description,
		Signature: schema.Signature(t.Exposed, t), Parameters: schema.Parameters(t),
		Annotations: wire.Member(t.Definition, "annotations"), Fingerprint: t.Fingerprint, Definition: t.Definition,
	}
	if v.Parameters == nil {
		v.Parameters = []schema.Parameter{}
	}
	if stats {
		var err error
		if v.Tokens, err = costOf(t, v.Signature); err != nil {
			return err
		}
	}
	if a.json {
		enc := json.NewEncoder(a.out)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(v)
	}
	return v.print(a)
}

func costOf(t *heddle.Tool, signature string) (*cost, error) {
	count, err := tokens.New()
	if err != nil {
		return nil, err
	}
	listed, err := compactJSON(struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		InputSchema json.RawMessage `json:"inputSchema"`
	}{t.Ref.Name, t.Description, t.Listed})
	if err != nil {
		return nil, err
	}
	return &cost{tokens.Encoding, count.Count(listed), count.Count(string(minify.Definition(t.Definition))), count.Count(signature)}, nil
}

func compactJSON(v any) (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "", err
	}
	return strings.TrimSpace(b.String()), nil
}

// print writes the tool for people.
func (v *inspected) print(a *app) error {
	fmt.Fprintf(a.out, "%s::%s\n", plain(v.Server), plain(v.Tool))
	head := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(head, "  name\t%s\n", plain(v.Name))
	fmt.Fprintf(head, "  server\t%s\n", plain(v.Server))
	if v.Title != "" {
		fmt.Fprintf(head, "  title\t%s\n", firstLine(v.Title))
	}
	if hints := annotations(v.Annotations); hints != "" {
		fmt.Fprintf(head, "  annotations\t%s\n", hints)
	}
	fmt.Fprintf(head, "  fingerprint\t%s\n", v.Fingerprint)
	if err := head.Flush(); err != nil {
		return err
	}
	if text := strings.TrimSpace(v.Description); text != "" {
		fmt.Fprintf(a.out, "\n%s\n", plainLines(text))
	}
	fmt.Fprintf(a.out, "\n%s\n", plain(v.Signature))
	if err := v.printParameters(a); err != nil {
		return err
	}
	if v.Tokens == nil {
		return nil
	}
	fmt.Fprintf(a.out, "\ntokens (%s)\n", v.Tokens.Encoding)
	table := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "  original\t%d\t\t\n  minified\t%d\t%s\t\n  signature\t%d\t%s\t\n",
		v.Tokens.Original, v.Tokens.Minified, saved(v.Tokens.Minified, v.Tokens.Original), v.Tokens.Signature, saved(v.Tokens.Signature, v.Tokens.Original))
	return table.Flush()
}

func saved(now, before int) string {
	return fmt.Sprintf("%.0f%% saved", 100*(1-float64(now)/float64(max(before, 1))))
}

func (v *inspected) printParameters(a *app) error {
	if len(v.Parameters) == 0 {
		fmt.Fprintln(a.out, "\nNo parameters.")
		return nil
	}
	fmt.Fprintln(a.out)
	table := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "PARAMETER\tTYPE\tREQUIRED\tDEFAULT\tDESCRIPTION")
	for _, p := range v.Parameters {
		required := "no"
		if p.Required {
			required = "yes"
		}
		line := strings.Join([]string{plain(p.Name), short(plain(p.Type), 60), required, plain(p.Default), firstLine(p.Description)}, "\t")
		fmt.Fprintln(table, strings.TrimRight(line, "\t"))
	}
	return table.Flush()
}

// annotations are the hints of a definition as "readOnlyHint: true, …".
func annotations(raw json.RawMessage) string {
	var out []string
	_ = wire.Members(raw, func(key string, v json.RawMessage) bool {
		if key != "title" {
			out = append(out, plain(key)+": "+short(plain(string(v)), 40))
		}
		return true
	})
	return strings.Join(out, ", ")
}

func short(text string, n int) string {
	if r := []rune(text); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return text
}

// plain is a text without what could control a terminal or end a line.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return ' '
		}
		return r
	}, text)
}

// indent puts a margin before each line.
func indent(text, margin string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(margin + line)
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		b.WriteByte('\n')
	}
	return b.String()
}

// plainLines is plain for a text of several lines.
func plainLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(plain(l), " ")
	}
	return strings.Join(lines, "\n")
}
