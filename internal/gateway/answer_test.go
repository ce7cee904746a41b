package gateway

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"heddle"
	"heddle/internal/catalog"
	"heddle/internal/tokens"
	"heddle/internal/upstream"
	"heddle/internal/wire"
)

// thousand is a catalog of 1,000 tools: 694 of the set that the queries were
// written for, the others from what real servers listed.
func thousand(t testing.TB) *catalog.Snapshot {
	t.Helper()
	raw, err := os.ReadFile("../catalog/testdata/search/mcp/catalog.json")
	if err != nil {
		t.Fatal(err)
	}
	sources, err := catalog.ReadSources(raw)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for i := range sources {
		sources[i].Instructions = "" // they come once a session
		n += len(sources[i].Definitions)
	}
	for _, s := range realServers(t) {
		s.Definitions = s.Definitions[:min(len(s.Definitions), 1000-n)]
		n += len(s.Definitions)
		sources = append(sources, s)
	}
	s := catalog.Build(sources, catalog.Options{})
	if len(s.Tools()) < 990 {
		t.Fatalf("%d tools, want about 1,000", len(s.Tools()))
	}
	return s
}

func realServers(t testing.TB) (out []catalog.Source) {
	t.Helper()
	f, err := os.Open("../catalog/minify/testdata/catalogs.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 8<<20)
	for lines.Scan() {
		var s struct {
			Server string
			Tools  []json.RawMessage
		}
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			t.Fatal(err)
		}
		out = append(out, catalog.Source{Server: "real-" + s.Server, Definitions: s.Tools, Known: true})
	}
	return out
}

// queries are what people asked of the set.
func queries(t testing.TB) (out []string) {
	t.Helper()
	raw, err := os.ReadFile("../catalog/testdata/search/mcp/queries.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		var q struct{ Query, Kind string }
		if err := json.Unmarshal([]byte(line), &q); err == nil && q.Query != "" && q.Kind != "task" && len(q.Query) <= maxQuery {
			out = append(out, q.Query)
		}
	}
	if len(out) < 50 {
		t.Fatalf("%d queries", len(out))
	}
	return out
}

// What find_tool costs a model among 1,000 tools: at most 620 tokens in the
// middle, 10 kB at worst; the best match has its schema.
func TestAnswerIsSmall(t *testing.T) {
	count, err := tokens.New()
	if err != nil {
		t.Fatal(err)
	}
	s := thousand(t)
	var costs []int
	whole, parts := 0, 0
	for _, q := range queries(t) {
		matches := s.Find(q, "", maxMatches)
		if len(matches) == 0 {
			continue
		}
		answer := matchText(matches, "", kept)
		costs = append(costs, count.Count(answer))
		if len(answer) > maxAnswer {
			t.Errorf("%q: %d bytes", q, len(answer))
		}
		for i, line := range matchLines(t, answer) {
			has := wire.Member([]byte(line), "inputSchema") != nil
			if i == 0 && !has {
				t.Errorf("%q: the best match has no schema: %.300s", q, line)
			}
			if !has && wire.Member([]byte(line), "signature") == nil {
				t.Errorf("%q: neither schema nor signature: %.300s", q, line)
			}
			if has {
				whole++
			} else {
				parts++
			}
		}
	}
	slices.Sort(costs)
	median := costs[len(costs)/2]
	t.Logf("%d answers: median %d tokens, p90 %d, most %d; %d matches whole, %d with their signature", len(costs), median, costs[len(costs)*9/10], costs[len(costs)-1], whole, parts)
	if median > 620 {
		t.Errorf("the median answer costs %d tokens, want at most 620", median)
	}
}

func matchLines(t *testing.T, answer string) (out []string) {
	t.Helper()
	for line := range strings.Lines(answer) {
		if strings.HasPrefix(line, "{") {
			if !json.Valid([]byte(line)) {
				t.Fatalf("no JSON: %s", line)
			}
			out = append(out, line)
		}
	}
	return out
}

// What is left out of a schema says nothing to a caller; what stands where data
// does is data.
func TestBare(t *testing.T) {
	for schema, want := range map[string]string{
		`{"$schema":"http://json-schema.org/draft-07/schema#","title":"T","type":"object","properties":{"title":{"type":"string","title":"Title"},"$comment":{"const":{"title":"x"}}},"required":["title"]}`: `{"type":"object","properties":{"title":{"type":"string"},"$comment":{"const":{"title":"x"}}},"required":["title"]}`,
		`{"anyOf":[{"title":"a","enum":["title"]},{"$ref":"#/$defs/title"}],"$defs":{"title":{"$comment":"c","default":{"title":1}}}}`:                                                                       `{"anyOf":[{"enum":["title"]},{"$ref":"#/$defs/title"}],"$defs":{"title":{"default":{"title":1}}}}`,
		`{"title":7,"items":[true,{"title":"x"}]}`: `{"title":7,"items":[true,{}]}`,
		`true`: `true`,
		``:     ``,
	} {
		if got := string(bare(json.RawMessage(schema))); got != want {
			t.Errorf("%s\n got %s\nwant %s", schema, got, want)
		}
	}
}

// A server's text is one bounded line that controls nothing.
func TestClean(t *testing.T) {
	for text, want := range map[string]string{
		"a\n\nb\tc":             "a b c",
		"x\x1b[31my\u202ez\x00": "x [31myz",
		"\xff\xfeok":            "ok",
		strings.Repeat("é", 12): strings.Repeat("é", 10) + "…",
	} {
		if got := clean(text, 10); got != want {
			t.Errorf("clean(%q) = %q, want %q", text, got, want)
		}
	}
}

// Where nothing fits, names that are near are named and the servers counted,
// within bounds; no match is made up.
func TestNoMatchIsBounded(t *testing.T) {
	var sources []catalog.Source
	for i := range 200 {
		sources = append(sources, catalog.Source{Server: fmt.Sprintf("incidents-%03d", i), Known: true, Definitions: []json.RawMessage{
			json.RawMessage(`{"name":"create_incident","description":"Create an incident","inputSchema":{"type":"object"}}`),
			json.RawMessage(`{"name":"list_issues","description":"List issues and read events of them","inputSchema":{"type":"object"}}`),
		}})
	}
	g := New(Stages{Catalog: catalog.New(catalog.Options{}), Pool: upstream.NewPool(nil)})
	g.catalog.Update(sources)
	for _, q := range []string{"send gmail email", "read google calendar events", strings.Repeat("z", 200)} {
		matches, text, err := g.Search(heddle.Local, q, "", 5)
		if err != nil || len(matches) > 0 {
			t.Errorf("%q: %d matches, %v, want none", q, len(matches), err)
			continue
		}
		if !strings.HasPrefix(text, "No tool fits this query.") || !strings.Contains(text, "incidents-000 (2 tools)") || !strings.Contains(text, "and 150 more") || !strings.Contains(text, "action, object and product") || len(text) > maxAnswer {
			t.Errorf("%q: %d bytes: %s", q, len(text), text)
		}
		if strings.Contains(text, "inputSchema") || strings.Contains(text, `{"name"`) {
			t.Errorf("%q: fillers: %s", q, text)
		}
		for line := range strings.Lines(text) {
			if len(line) > 700 {
				t.Errorf("%q: a line of %d bytes", q, len(line))
			}
		}
	}
	_, text, _ := g.Search(heddle.Local, "create_incidnt", "incidents-007", 5)
	if !strings.Contains(text, "incidents-007_create_incident") && text != "" {
		t.Errorf("near names of one server: %s", text)
	}
}

// An ambiguous name is answered with what it could be; a server settles it.
func TestToolByPair(t *testing.T) {
	g := New(Stages{Catalog: catalog.New(catalog.Options{}), Pool: upstream.NewPool(nil)})
	g.catalog.Update([]catalog.Source{
		{Server: "a", Known: true, Definitions: []json.RawMessage{json.RawMessage(`{"name":"go","inputSchema":{"type":"object"}}`), json.RawMessage(`{"name":"only","inputSchema":{"type":"object"}}`)}},
		{Server: "b", Known: true, Definitions: []json.RawMessage{json.RawMessage(`{"name":"go","inputSchema":{"type":"object"}}`)}},
	})
	for _, test := range []struct{ server, name, want, says string }{
		{"a", "go", "a::go", ""}, {"b", "go", "b::go", ""}, {"", "a::go", "a::go", ""}, {"", "b_go", "b::go", ""}, {"a", "a_go", "a::go", ""}, {"a", "a::go", "a::go", ""}, {"", "only", "a::only", ""},
		{"", "go", "", "a::go b::go"}, {"b", "only", "", "no tool of that name"}, {"c", "go", "", "no such server"}, {"b", "a::go", "", "no tool of that name"},
	} {
		tool, err := g.Tool(heddle.Local, test.server, test.name)
		got := ""
		if tool != nil {
			got = tool.Ref.String()
		}
		said := ""
		if e, ok := err.(*heddle.Error); ok {
			said = e.Public + " " + strings.Join(e.Near, " ")
		}
		if got != test.want || !strings.Contains(said, test.says) {
			t.Errorf("%q %q: %q %q, want %q that says %q", test.server, test.name, got, said, test.want, test.says)
		}
	}
}

// Words count, not parts of them: "scheduling" finds what schedules, and "read" is
// no part of a spreadsheet. What is known of a server that does not run yet is
// found like the rest.
func TestSearchGoesByWords(t *testing.T) {
	tool := func(name, description string) json.RawMessage {
		return fmt.Appendf(nil, `{"name":%q,"description":%q,"inputSchema":{"type":"object"}}`, name, description)
	}
	g := New(Stages{Catalog: catalog.New(catalog.Options{}), Pool: upstream.NewPool(nil)})
	g.catalog.Update([]catalog.Source{
		{Server: "jobs", Known: true, State: "idle", Definitions: []json.RawMessage{tool("schedule_task", "Schedule a recurring task"), tool("cancel_task", "Cancel a task")}},
		{Server: "sheets", Known: true, Definitions: []json.RawMessage{tool("spreadsheet_open", "Opens a spreadsheet"), tool("spreadsheet_share", "Shares a spreadsheet")}},
		{Server: "web", Known: true, Definitions: []json.RawMessage{tool("websearch", "Search Google for web results")}},
		{Server: "files", Known: true, Definitions: []json.RawMessage{tool("read_file", "Reads a file")}},
		{Server: "crm", Known: true, Definitions: []json.RawMessage{tool("company_contacts", "Lists contacts of a company"), tool("list_deals", "Lists deals")}},
		{Server: "later", Known: false, State: "starting"},
	})
	for query, want := range map[string]string{
		"scheduling": "jobs::schedule_task", "read file": "files::read_file", "search the web for something": "web::websearch", "contacts for a company": "crm::company_contacts",
	} {
		matches, text, err := g.Search(heddle.Local, query, "", 3)
		if err != nil || len(matches) == 0 || matches[0].Tool.Ref.String() != want {
			t.Errorf("%q: %v %q %v, want %s first", query, matches, text, err, want)
			continue
		}
		for _, m := range matches {
			if query == "read file" && m.Tool.Ref.Server == "sheets" {
				t.Errorf("%q found %s", query, m.Tool.Ref)
			}
		}
	}
	matches, _, err := g.Search(heddle.Local, "look something up online", "", 3)
	if err != nil || !slices.ContainsFunc(matches, func(m catalog.Match) bool { return m.Tool.Ref.Name == "websearch" }) {
		t.Errorf("look something up online: %v %v, want websearch among three", matches, err)
	}
}
