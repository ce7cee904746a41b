package catalog

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
)

// found returns the exposed names of matches.
func found(matches []Match) string {
	var names []string
	for _, m := range matches {
		names = append(names, m.Tool.Exposed)
	}
	return strings.Join(names, " ")
}

// Each snapshot is searched in its own tools, whatever was indexed before it and
// in whatever order the indexes are made.
func TestFindFollowsTheCatalog(t *testing.T) {
	c := New(Options{})
	steps := []struct {
		sources []Source
		search  bool // before the next step
		want    string
	}{
		{[]Source{named("a", "move_cat", "feed_cat")}, true, "a_feed_cat"},
		{[]Source{named("z", "feed_dog"), named("a", "feed_cat", "move_cat")}, false, "a_feed_cat z_feed_dog"},
		{[]Source{named("z", "feed_dog"), named("a", "move_cat")}, true, "z_feed_dog"},
		{[]Source{named("a", "move_cat")}, true, ""},
		{[]Source{source("a", `{"name":"move_cat","description":"Feeds it too"}`)}, true, "a_move_cat"},
	}
	var snapshots []*Snapshot
	for _, step := range steps {
		c.Update(step.sources)
		s := c.Snapshot()
		snapshots = append(snapshots, s)
		if step.search {
			diff(t, fmt.Sprint(step.sources), found(s.Find("feed", "", 5)), step.want)
		}
	}
	for i, s := range snapshots {
		diff(t, fmt.Sprint("later: ", steps[i].sources), found(s.Find("feed", "", 5)), steps[i].want)
	}
}

func TestFindConcurrently(t *testing.T) {
	c := New(Options{})
	var searches sync.WaitGroup
	for i := range 20 {
		c.Update([]Source{named("a", "feed_cat", fmt.Sprintf("feed_dog_%d", i))})
		s := c.Snapshot()
		for range 2 {
			searches.Go(func() {
				if got := found(s.Find("feed cat", "", 1)); got != "a_feed_cat" {
					t.Errorf("found %q", got)
				}
			})
		}
	}
	searches.Wait()
}

func TestExactness(t *testing.T) {
	s := Build([]Source{named("git-hub", "Create Issue", "ＡＢ", "k")}, Options{})
	cases := []struct {
		query string
		want  int // of the first tool that is named exactly
	}{
		{"git-hub_Create_Issue", 2},
		{"GIT-HUB::create issue", 2},
		{"git-hub/create issue", 2},
		{"create issue", 1},
		{"ａｂ", 1},
		{"\u212a", 1}, // the Kelvin sign is a K
		{"create issu", 0},
		{"git-hub::", 0},
		{"", 0},
	}
	for _, c := range cases {
		best := 0
		for _, tool := range s.Tools() {
			best = max(best, exactness(tool, c.query))
		}
		if best != c.want {
			t.Errorf("exactness of %q: got %d, want %d", c.query, best, c.want)
		}
	}
}

// Search reads names, descriptions and allowed values of a schema, but no more of
// a huge one than its bound.
func TestDocument(t *testing.T) {
	schema := `{"type":"object","description":"root","properties":{"owner":{"description":"who","enum":["me",7,"you"]},` +
		`"list":{"items":{"properties":{"deep":{}}}},"any":{"anyOf":[{"description":"one"},{"properties":{"two":{}}}]},"odd":{"description":3,"enum":{}}}}`
	s := Build([]Source{source("a", `{"name":"x","title":"T","description":"D","inputSchema":`+schema+`}`)}, Options{})
	d := document(s.tools[0], strings.Repeat("é", 400))
	diff(t, "names", strings.Join(d.Params, " "), "owner list deep any two odd")
	diff(t, "texts", strings.Join(d.ParamTexts, " "), "root who me you one")
	diff(t, "texts", d.Server+d.Name+d.Title+d.Description, "axTD")
	if len(d.About) > aboutBytes {
		t.Errorf("%d bytes of what the server says", len(d.About))
	}
	long, _ := json.Marshal(strings.Repeat("word ", paramBytes))
	s = Build([]Source{source("a", fmt.Sprintf(`{"name":"x","inputSchema":{"properties":{"a":{"description":%s},"b":{"description":"late"}}}}`, long))}, Options{})
	if d := document(s.tools[0], ""); len(strings.Join(d.ParamTexts, "")) > paramBytes+4 {
		t.Errorf("%d bytes of one schema are read", len(strings.Join(d.ParamTexts, "")))
	}
}

func TestReadSources(t *testing.T) {
	got, err := ReadSources([]byte(`[{"server":"B","name":"x"},{"server":"a","name":"y","serverDescription":"says"},{"server":"B","name":"z"}]`))
	if err != nil {
		t.Fatal(err)
	}
	var tools []string
	for _, tool := range Build(got, Options{}).Tools() {
		tools = append(tools, tool.Ref.String())
	}
	diff(t, "tools", strings.Join(tools, " "), "B::x B::z a::y")
	diff(t, "instructions", got[1].Instructions, "says")
	for _, bad := range []string{``, `{}`, `[1]`, `[{"name":"x"}]`, `[{"server":1}]`} {
		if _, err := ReadSources([]byte(bad)); err == nil {
			t.Errorf("ReadSources(%q) has no error", bad)
		}
	}
}
