package catalog

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite golden files")

// The queries are labelled: what must be among the first three, or that nothing
// may be found. The golden file shows the whole ranking, so that a change of it
// is read in review.
func TestRanking(t *testing.T) {
	s := Build(catalogs(t), Options{})
	queries := []struct{ query, want string }{
		{"create a github issue", "github-legacy_create_issue"},
		{"github-legacy::create_issue", "github-legacy_create_issue"},
		{"create_issue", "github-legacy_create_issue"},
		{"read file", "filesystem_read_text_file"},
		{"post a message to a slack channel", "slack-legacy_slack_post_message"},
		{"driving directions between two addresses", "google-maps_maps_directions"},
		{"take a screenshot of the web page", "puppeteer_puppeteer_screenshot"},
		{"listing pods", "kubernetes-containers_pods_list"},
		{"run sql", "postgres_query"},
		{"search the knowledge graph", "memory_search_nodes"},
		{"merge requests in gitlab", "gitlab-legacy_create_merge_request"},
		{"rename a file or move it to another folder", "filesystem_move_file"},
		{"geographic coordinates of an address", "google-maps_maps_geocode"},
		{"query the weather forecast", ""},
		{"send gmail email", ""},
		{"the tool that does it", ""},
	}
	var out bytes.Buffer
	for _, q := range queries {
		matches := s.Find(q.query, "", 5)
		fmt.Fprintf(&out, "%s\n", q.query)
		found := q.want == ""
		for i, m := range matches {
			fmt.Fprintf(&out, "\t%7.2f %s\n", m.Score, m.Tool.Exposed)
			found = found || i < 3 && m.Tool.Exposed == q.want
		}
		if !found {
			t.Errorf("%q: %s is not among the first three", q.query, q.want)
		}
		if q.want == "" && len(matches) > 0 {
			t.Errorf("%q found %s, want nothing", q.query, matches[0].Tool.Exposed)
		}
	}
	const golden = "testdata/ranking.golden"
	if *update {
		if err := os.WriteFile(golden, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	diff(t, "ranking", strings.Split(out.String(), "\n"), strings.Split(string(want), "\n"))
}

func TestFind(t *testing.T) {
	s := Build([]Source{
		source("tasks", `{"name":"schedule_task","description":"Schedule a recurring task"}`, `{"name":"spreadsheet_open"}`,
			`{"name":"websearch","description":"Search Google for web results"}`,
			`{"name":"ask","description":"Put a question","inputSchema":{"type":"object","properties":{"maxTokens":{},"where":{"type":"object","properties":{"warehouse":{"description":"of the shipment"}}}}}}`),
		source("billing", `{"name":"查询账单","description":"按月份查询账单"}`, `{"name":"schedule_task","title":"Plan invoices"}`, `{"name":"v2.GetInvoicePDF"}`),
	}, Options{})
	cases := []struct{ query, server, want string }{
		{"scheduling", "", "tasks_schedule_task billing_schedule_task"},
		{"scheduling", "billing", "billing_schedule_task"},
		{"schedule_task", "", "tasks_schedule_task billing_schedule_task"},
		{" Billing::Schedule_Task ", "", "billing_schedule_task tasks_schedule_task"},
		{"billing/schedule_task", "", "billing_schedule_task tasks_schedule_task"},
		{"tasks_schedule_task", "billing", "billing_schedule_task"},
		{"read file", "", ""},
		{"look something up online", "", "tasks_websearch billing_____"},
		{"contacts for a company", "", ""},
		{"max_tokens", "", "tasks_ask"},
		{"warehouses", "", "tasks_ask"},
		{"账单", "", "billing_____"},
		{"get invoice pdfs", "", "billing_v2_GetInvoicePDF"},
		{"invoice", "nobody", ""},
		{"", "", ""},
		{"the of", "", ""},
		{"?!", "", ""},
	}
	for _, c := range cases {
		var got []string
		for _, m := range s.Find(c.query, c.server, 2) {
			got = append(got, m.Tool.Exposed)
		}
		diff(t, fmt.Sprintf("Find(%q, %q)", c.query, c.server), strings.Join(got, " "), c.want)
	}
	if got := s.Find("scheduling", "", 0); len(got) != 0 {
		t.Errorf("n = 0 found %d", len(got))
	}
	if got := Build(nil, Options{}).Find("x", "", 3); len(got) != 0 {
		t.Errorf("an empty catalog found %d", len(got))
	}
}

// A word that every tool has is no reason to show one.
func TestFindNothing(t *testing.T) {
	var names []string
	for i := range 100 {
		names = append(names, fmt.Sprintf("send_incident_%d", i), fmt.Sprintf("read_issue_events_%d", i), fmt.Sprintf("list_issues_%d", i))
	}
	s := Build([]Source{named("ops", names...)}, Options{})
	for _, query := range []string{"send gmail email", "read google calendar events"} {
		if got := s.Find(query, "", 5); len(got) > 0 {
			t.Errorf("%q found %s", query, got[0].Tool.Exposed)
		}
	}
}

// Equal tools are found in the order of the catalog.
func TestFindTies(t *testing.T) {
	s := Build([]Source{named("c", "move"), named("a", "move"), named("b", "move")}, Options{})
	for range 20 {
		var got []string
		for _, m := range s.Find("moving", "", 3) {
			got = append(got, m.Tool.Ref.Server)
		}
		diff(t, "order", got, []string{"c", "a", "b"})
	}
}
