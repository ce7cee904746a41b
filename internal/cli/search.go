package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"heddle"
	"heddle/internal/catalog"
	"heddle/internal/upstream"

	"github.com/spf13/cobra"
)

const (
	shownMatches  = 5  // of a search for people
	rankedMatches = 20 // of a search in a file, as rankers are compared by
	maxQueryLine  = 1 << 20
)

func (a *app) searchCommand() *cobra.Command {
	var server, file string
	c := &cobra.Command{
		Use:   "search QUERY",
		Short: "Search the tools of all servers",
		Long: "Start the servers and print the tools that fit the query, best first, as a host's find_tool finds them.\n\n" +
			"With --catalog no server is started and no configuration read: FILE is a JSON array of tool definitions, each\n" +
			"with its \"server\". A QUERY of - reads one query a line. Every query is answered by one line: a JSON array of the\n" +
			"20 best \"server/name\", whether they fit or not.",
		Example: "  heddle search create issue github",
		Args: func(c *cobra.Command, args []string) error {
			if strings.TrimSpace(strings.Join(args, " ")) == "" {
				return &usageError{errors.New("heddle search takes a query"), "describe one capability: action, object and product"}
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			query := strings.Join(args, " ")
			if file != "" && a.federate {
				return &usageError{errors.New("--catalog does not go with --federate"), "leave out one of them"}
			}
			if file != "" {
				return a.searchFile(file, query, server)
			}
			return a.search(c.Context(), query, server)
		},
	}
	c.Flags().StringVar(&server, "server", "", "search this server's tools alone")
	c.Flags().StringVar(&file, "catalog", "", "search the tools in this file")
	a.federateFlag(c)
	a.jsonFlag(c)
	return c
}

// found is a match as search prints it.
type found struct {
	Name        string  `json:"name"`
	Server      string  `json:"server"`
	Tool        string  `json:"tool"`
	Description string  `json:"description"`
	Score       float64 `json:"score"`
}

// search starts the servers, or the one that is asked for, and prints what fits.
func (a *app) search(ctx context.Context, query, server string) error {
	if query == "-" {
		return &usageError{errors.New("- needs --catalog"), "write the query, or name a file with --catalog"}
	}
	cfg, err := a.load()
	if err != nil {
		return err
	}
	if server != "" {
		if err := only(cfg, server); err != nil {
			return err
		}
	}
	line := a.statusLine() // before the daemon: what it logs must not tear the line
	d, err := a.daemon(cfg, "search", options{})
	if err != nil {
		return err
	}
	matches := []found{}
	err = d.Run(ctx, func(ctx context.Context) error {
		defer line.show(func() string { return startingServers(d.Pool().Servers(), "searching") })()
		d.Pool().Booted(ctx)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		a.warnFailed(d.Pool().Servers())
		for _, m := range d.Gateway().Snapshot(heddle.Local).Find(query, "", shownMatches) {
			matches = append(matches, found{m.Tool.Exposed, m.Tool.Ref.Server, m.Tool.Ref.Name, m.Tool.Description, m.Score})
		}
		return nil
	})
	if err != nil {
		return err
	}
	return a.printFound(matches)
}

// warnFailed names the servers whose tools could not be searched.
func (a *app) warnFailed(servers []*upstream.Server) {
	for _, s := range servers {
		if st := s.Status(); st.State != upstream.StateReady && st.State != upstream.StateIdle {
			fmt.Fprintf(a.err, "heddle: warning: %s is not searched: %s\n", st.Name, strings.TrimSpace(string(st.State)+" "+st.Reason))
		}
	}
}

func (a *app) printFound(matches []found) error {
	if a.json {
		enc := json.NewEncoder(a.out)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(matches)
	}
	if len(matches) == 0 {
		fmt.Fprintln(a.out, "No tool fits this query.")
	}
	for _, m := range matches {
		fmt.Fprintf(a.out, "%s::%s\n", m.Server, m.Tool)
		if line := firstLine(m.Description); line != "" {
			fmt.Fprintf(a.out, "    %s\n", line)
		}
	}
	return nil
}

// firstLine returns the first line of a description, not too long for a terminal
// and without what could control one.
func firstLine(text string) string {
	const most = 100
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	line = strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return ' '
		}
		return r
	}, line)
	if r := []rune(line); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return line
}

// searchFile ranks the tools of a file for one query, or for each line of stdin.
func (a *app) searchFile(path, query, server string) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return &usageError{err, ""}
	}
	sources, err := catalog.ReadSources(raw)
	if err != nil {
		return &usageError{fmt.Errorf("%s: %w", path, err), ""}
	}
	snapshot := catalog.Build(sources, catalog.Options{})
	if query != "-" {
		return printRanking(a.out, snapshot, query, server)
	}
	lines := bufio.NewScanner(a.in)
	lines.Buffer(nil, maxQueryLine)
	for lines.Scan() {
		if err := printRanking(a.out, snapshot, lines.Text(), server); err != nil {
			return err
		}
	}
	return lines.Err()
}

// printRanking prints the tools that have most of the query. If too few have any
// of it, others follow in the order of the file: rankers are compared by lists of
// one length.
func printRanking(w io.Writer, s *catalog.Snapshot, query, server string) error {
	names := []string{}
	add := func(t *heddle.Tool) {
		name := t.Ref.Server + "/" + t.Ref.Name
		if len(names) < rankedMatches && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, m := range s.Rank(query, server, rankedMatches) {
		add(m.Tool)
	}
	for _, t := range s.Tools() {
		if len(names) == rankedMatches {
			break
		}
		if server == "" || t.Ref.Server == server {
			add(t)
		}
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(names)
}
