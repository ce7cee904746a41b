package catalog

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"heddle/internal/catalog/search"
)

// labelled is a query and what it needs: each need is met by any of several
// tools, "server/name" apart by strokes.
type labelled struct {
	Query    string
	Relevant []string
	Kind     string
}

// figures are how well queries are answered. R1, R3 and R5 are the share of the
// needs met by so many tools, at most as many as that; MRR is the mean reciprocal
// rank of the first tool that meets one, of 20.
type figures struct{ R1, R3, R5, MRR float64 }

func (f figures) String() string {
	return fmt.Sprintf("%.3f %.3f %.3f %.3f", f.R1, f.R3, f.R5, f.MRR)
}

// readCatalog reads a catalog.json of testdata/search.
func readCatalog(t testing.TB, set string) []Source {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata/search", set, "catalog.json"))
	if err != nil {
		t.Fatal(err)
	}
	sources, err := ReadSources(raw)
	if err != nil {
		t.Fatal(err)
	}
	return sources
}

// readQueries reads the queries of a file in testdata/search, cut to what a host
// may send.
func readQueries(t testing.TB, file string) (queries []labelled) {
	t.Helper()
	for _, line := range readLines(t, file) {
		var q labelled
		if err := json.Unmarshal([]byte(line), &q); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if r := []rune(q.Query); len(r) > 256 {
			q.Query = string(r[:256])
		}
		queries = append(queries, q)
	}
	return queries
}

// readLines reads a file in testdata/search without its comments.
func readLines(t testing.TB, file string) (lines []string) {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata/search", file))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		if line := strings.TrimSpace(s.Text()); line != "" && line[0] != '#' {
			lines = append(lines, line)
		}
	}
	if s.Err() != nil || lines == nil {
		t.Fatalf("%s: no lines (%v)", file, s.Err())
	}
	return lines
}

// misspelt swaps two letters of the longest word of each query.
func misspelt(queries []labelled) []labelled {
	out := slices.Clone(queries)
	for i, q := range out {
		longest := slices.MaxFunc(strings.Fields(q.Query), func(a, b string) int { return len(a) - len(b) })
		if n := len(longest) / 2; n > 1 && strings.Trim(longest, "abcdefghijklmnopqrstuvwxyz") == "" {
			wrong := longest[:n] + longest[n+1:n+2] + longest[n:n+1] + longest[n+2:]
			out[i].Query = strings.Replace(q.Query, longest, wrong, 1)
		}
	}
	return out
}

// measure answers the queries from the snapshot.
func measure(s *Snapshot, queries []labelled) figures {
	var sum figures
	for _, q := range queries {
		f := score(s.Rank(q.Query, "", 20), q.Relevant)
		sum.R1, sum.R3, sum.R5, sum.MRR = sum.R1+f.R1, sum.R3+f.R3, sum.R5+f.R5, sum.MRR+f.MRR
	}
	n := float64(len(queries))
	return figures{sum.R1 / n, sum.R3 / n, sum.R5 / n, sum.MRR / n}
}

func score(matches []Match, needs []string) (f figures) {
	met := map[string]bool{}
	share := func(k int) float64 { return float64(min(len(met), k)) / float64(min(len(needs), k)) }
	for i := range 20 {
		if i < len(matches) {
			ref := matches[i].Tool.Ref
			for _, need := range needs {
				// A tool meets one need; a need is met by one tool.
				if !met[need] && slices.Contains(strings.Split(need, "|"), ref.Server+"/"+ref.Name) {
					met[need] = true
					if f.MRR == 0 {
						f.MRR = 1 / float64(i+1)
					}
					break
				}
			}
		}
		switch i {
		case 0:
			f.R1 = share(1)
		case 2:
			f.R3 = share(3)
		case 4:
			f.R5 = share(5)
		}
	}
	return f
}

// without makes the snapshot search without some signals.
func without(s *Snapshot, off search.Signals) {
	x := &indexed{tools: s.tools, abouts: abouts(s.servers)}
	x.index = search.New(search.All&^off, len(x.tools), x.document)
	s.index = new(lazyIndex)
	s.index.done.Store(x)
}

// nothing returns the share of the queries that are said to fit nothing.
func nothing(s *Snapshot, queries []string) float64 {
	none := 0
	for _, q := range queries {
		if len(s.Find(q, "", 3)) == 0 {
			none++
		}
	}
	return float64(none) / float64(len(queries))
}

// texts returns the queries that are one capability each: a whole task is asked
// in several queries.
func texts(queries []labelled) (out []string) {
	for _, q := range queries {
		if q.Kind != "task" {
			out = append(out, q.Query)
		}
	}
	return out
}

// The floors are a point below what was reached, so that a change of the ranking
// that costs more is noticed. See docs/search.md for what other rankers reach.
func TestFigures(t *testing.T) {
	mcp, bfcl := Build(readCatalog(t, "mcp"), Options{}), Build(readCatalog(t, "bfcl"), Options{})
	mcpQueries := readQueries(t, "mcp/queries.jsonl")
	cases := []struct {
		name    string
		s       *Snapshot
		queries []labelled
		floor   figures
	}{
		{"mcp", mcp, mcpQueries, figures{.747, .847, .880, .823}},
		{"misspelt", mcp, misspelt(mcpQueries), figures{.747, .847, .876, .823}},
		{"Chinese", mcp, readQueries(t, "chinese.jsonl"), figures{.90, .97, .98, .94}},
		{"bfcl", bfcl, readQueries(t, "bfcl/queries.jsonl"), figures{.690, .862, .895, .781}},
	}
	for _, c := range cases {
		got := measure(c.s, c.queries)
		t.Logf("%-9s %s", c.name, got)
		if got.R1 < c.floor.R1 || got.R3 < c.floor.R3 || got.R5 < c.floor.R5 || got.MRR < c.floor.MRR {
			t.Errorf("%s: %s, want at least %s", c.name, got, c.floor)
		}
	}
}

// A query that nothing fits must be told from one that something does.
func TestVerdict(t *testing.T) {
	mcp, bfcl := Build(readCatalog(t, "mcp"), Options{}), Build(readCatalog(t, "bfcl"), Options{})
	cases := []struct {
		name        string
		s           *Snapshot
		queries     []string
		least, most float64 // share of the queries said to fit nothing
	}{
		{"no answer", mcp, readLines(t, "no_answer.txt"), 0.60, 1},
		{"no answer, published", mcp, texts(readQueries(t, "mcp/no_answer.jsonl")), 0, 1},
		{"answered, mcp", mcp, texts(readQueries(t, "mcp/queries.jsonl")), 0, 0.04},
		{"answered, bfcl", bfcl, texts(readQueries(t, "bfcl/queries.jsonl")), 0, 0.05},
		{"answered, Chinese", mcp, texts(readQueries(t, "chinese.jsonl")), 0, 0.04},
	}
	for _, c := range cases {
		got := nothing(c.s, c.queries)
		t.Logf("%-22s %.1f%% of %d", c.name, 100*got, len(c.queries))
		if got < c.least || got > c.most {
			t.Errorf("%s: %.1f%% are said to fit nothing, want %.0f%% to %.0f%%", c.name, 100*got, 100*c.least, 100*c.most)
		}
	}
}
