package catalog

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"heddle/internal/catalog/search"
)

// signals names what the ranking listens to, as docs/search.md does.
var signals = []struct {
	name string
	off  search.Signals
}{
	{"nothing", 0},
	{"stemming", search.Stems},
	{"server names", search.ServerNames},
	{"titles", search.Titles},
	{"descriptions", search.Descriptions},
	{"parameter names", search.Parameters},
	{"parameter texts and allowed values", search.ParameterTexts},
	{"what servers say of themselves", search.Abouts},
	{"name coverage", search.NameCoverage},
	{"query coverage", search.QueryCoverage},
	{"verb groups", search.Verbs},
	{"short forms", search.Abbreviations},
	{"words written as one", search.Compounds},
	{"misspelt and cut words", search.Typos},
	{"Chinese words", search.Chinese},
	{"paths and URLs", search.Literals},
}

// The table in docs/search.md says what each signal is worth; -update writes it.
func TestAblation(t *testing.T) {
	if testing.Short() {
		t.Skip("indexes everything once for each signal: not with -short")
	}
	const doc, start, end = "../../docs/search.md", "<!-- ablation -->\n", "<!-- end -->"
	raw, err := os.ReadFile(doc)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(raw), start)
	table, after, ended := strings.Cut(rest, end)
	if !ok || !ended {
		t.Fatalf("%s has no place for the table", doc)
	}
	got := ablation(t)
	if *update {
		if err := os.WriteFile(doc, []byte(before+start+got+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	diff(t, "the table in "+doc, strings.Split(got, "\n"), strings.Split(table, "\n"))
}

// ablation measures every set without one signal after the other.
func ablation(t *testing.T) string {
	mcp, bfcl := Build(readCatalog(t, "mcp"), Options{}), Build(readCatalog(t, "bfcl"), Options{})
	english := readQueries(t, "mcp/queries.jsonl")
	columns := []struct {
		name    string
		s       *Snapshot
		queries []labelled
	}{
		{"mcp", mcp, english},
		{"mcp, misspelt", mcp, misspelt(english)},
		{"mcp, Chinese", mcp, readQueries(t, "chinese.jsonl")},
		{"bfcl", bfcl, readQueries(t, "bfcl/queries.jsonl")},
	}
	var out strings.Builder
	head, rule := "| without |", "| --- |"
	for _, c := range columns {
		head += fmt.Sprintf(" %s |", c.name)
		rule += " --- |"
	}
	fmt.Fprintf(&out, "%s\n%s\n", head, rule)
	for _, signal := range signals {
		without(mcp, signal.off)
		without(bfcl, signal.off)
		fmt.Fprintf(&out, "| %s |", signal.name)
		for _, c := range columns {
			f := measure(c.s, c.queries)
			fmt.Fprintf(&out, " %s %s |", points(f.R1), points(f.R3))
		}
		out.WriteByte('\n')
	}
	return out.String()
}

// points is a share as tables write it: .745.
func points(share float64) string { return strings.TrimPrefix(fmt.Sprintf("%.3f", share), "0") }
