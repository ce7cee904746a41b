package search

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTerms(t *testing.T) {
	cases := []struct{ text, want string }{
		{"create_issue createIssue Create-Issues create.issue", "creat issu creat issu creat issu creat issu"},
		{"HTTPServer getUserID v2 k8s ms365 IDs", "http server get user id v2 k8 ms 365 id"},
		{"scheduling schedules scheduled schedule", "schedul schedul schedul schedul"},
		{"queries query movies movie classes class status statuses", "queri queri movi movi class class status status"},
		{"running added feeds string filling boxes", "run add feed string fill box"},
		{"the tool that does it's thing", "thing"},
		{"查询账单 x データー 한", "查询 询账 账单 x デー ータ ター 한"},
		{"Größe naïve Привет", "größ naïv привет"},
		{"a\xffb \xe6\x9f", "b"},
		{"", ""},
	}
	for _, c := range cases {
		if d := cmp.Diff(strings.Fields(c.want), Terms(c.text), cmp.Transformer("join", func(s []string) string { return strings.Join(s, " ") })); d != "" {
			t.Errorf("Terms(%q) (-want +got):\n%s", c.text, d)
		}
	}
}

func TestSearch(t *testing.T) {
	documents := []Document{
		{Server: "a", Name: "spreadsheet", Description: "Opens a sheet"},
		{Server: "a", Name: "read_file", Description: "Reads"},
		{Server: "github", Name: "fork", Description: "Forks a repository"},
		{Server: "other", Name: "other", Params: []string{"fork"}},
	}
	x := New(len(documents), func(i int) Document { return documents[i] })
	cases := []struct {
		query string
		want  []int
	}{
		{"read", []int{1}},
		{"GitHub fork", []int{2}},
		{"fork", []int{2, 3}},
		{"repos", []int{2}},
		{"sheet", []int{0}},
		{strings.Repeat("word ", 10_000), nil},
	}
	for _, c := range cases {
		var got []int
		for _, hit := range x.Search(c.query, func(int) bool { return true }) {
			got = append(got, hit.Doc)
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("Search(%.40q) (-want +got):\n%s", c.query, d)
		}
	}
}
