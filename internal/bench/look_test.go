package bench

import (
	"log/slog"
	"regexp"
	"testing"
)

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

// TestLook reads as the reader does, with others beside that look like the answer.
func TestLook(t *testing.T) {
	for _, c := range []struct {
		name       string
		goal       goal
		text, seen string
		want       string // "" is none
	}{
		{"a record", goal{words: "b2", field: "city"}, `[{"id":"a1","city":"Rom"},{"id":"b2","city":"Pisa"}]`, "", "Pisa"},
		{"a number", goal{words: "b2", field: "n"}, `{"n": -1.5, "id": "b2"}`, "", "-1.5"},
		{"a nested value", goal{words: "b2", field: "by"}, `{"id":"b2","approval":{"by":"Ada"}},{"by":"Bob"}`, "", "Ada"},
		{"a level up", goal{words: "b2", field: "by"}, `{"by":"Ada","at":{"id":"b2"}}`, "", "Ada"},
		{"a record that is cut", goal{words: "b2", field: "city"}, `…"x":1},{"id":"b2","city":"Pisa","na`, "", "Pisa"},
		{"a field that is cut", goal{words: "b2", field: "city"}, `{"id":"a1","city":"Rom"},{"id":"b2","ci`, "", ""},
		{"another's field", goal{words: "b2", field: "city"}, `{"id":"a1","city":"Rom"},{"id":"b2"}`, "", ""},
		{"a row of CSV", goal{words: "b2,x", field: "city"}, "b2,y,Rom\nb2,x,Pisa\n", "id,kind,city\n", "Pisa"},
		{"a quoted cell", goal{words: "b2", field: "city"}, "\"b2\",x,\"Pisa, old\"\n", "id\tkind\tcity\n", "Pisa, old"},
		{"no heading", goal{words: "b2", field: "city"}, "b2,y,Rom\n", "b2,y,Rom\n", ""},
		{"wide spaces", goal{words: "b2", field: "NODE"}, "b2    1/1  n7\n", "NAME  READY  NODE\n", "n7"},
		{"a line", goal{words: "b2", form: regexp.MustCompile(`got (\d+)`)}, "a1 got 1\nb2 got 2\n", "", "2"},
		{"a line below", goal{words: "b2", form: regexp.MustCompile(`got (\d+)`)}, "got 1\nb2\n\ngot 2\ngot 3", "", "2"},
		{"too far below", goal{words: "b2", form: regexp.MustCompile(`got (\d+)`)}, "b2\n\n\n\n\n\ngot 2", "", ""},
		{"far, as asked", goal{words: "b2", form: regexp.MustCompile(`got (\d+)`), lines: 9}, "b2\n\n\n\n\n\ngot 2", "", "2"},
		{"nothing", goal{words: "b2", field: "city"}, `{"id":"a1","city":"Rom"}`, "", ""},
	} {
		if got, ok := c.goal.look(c.text, c.seen); got != c.want || ok != (c.want != "") {
			t.Errorf("%s: got %q %v, want %q", c.name, got, ok, c.want)
		}
	}
	sum := goal{form: regexp.MustCompile(`(?m)^x,(\d+)$`)}
	if got := sum.sum("x,3\ny,4\nx,5\n"); got != "8" {
		t.Errorf("sum: %s", got)
	}
	rows := goal{form: regexp.MustCompile(`(?m)^x,.*$`)}
	if got := rows.sum("x,3\ny,4\nx,5\n"); got != "2" {
		t.Errorf("count: %s", got)
	}
}

// TestDelivery reads what heddle writes around a projection.
func TestDelivery(t *testing.T) {
	a := &answer{texts: []string{"before", `[t_1: about 9 tokens, captured whole. 5 rows [of 9]. read_result {"result_ref":"t_1"} pages the exact text; with "query" it searches.]` + "\n\nA sentence.\n\nJSON array of 9 records: …\nCSV: no"}}
	if got := a.kind(); got != "JSON records" {
		t.Errorf("kind: %q", got)
	}
	a.texts = append(a.texts, a.texts[1], `read_result {"result_ref":"t_2"}`)
	if got := a.refs(); len(got) != 2 || got[0] != "t_1" || got[1] != "t_2" {
		t.Errorf("refs: %q", got)
	}
	if got := (&answer{texts: []string{"CSV: as it is"}}).kind(); got != "" {
		t.Errorf("kind of what was not shortened: %q", got)
	}
}
