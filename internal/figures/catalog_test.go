package figures

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// bytes counts a token a byte.
type bytes struct{}

func (bytes) Count(text string) int { return len(text) }

// listed is n definitions of so many bytes each.
func listed(n, size int) (out []json.RawMessage) {
	for range n {
		out = append(out, json.RawMessage(strings.Repeat("x", size)))
	}
	return out
}

func server(name string, n, size int) Server {
	s := Server{Name: name, State: "ready"}
	for _, raw := range listed(n, size) {
		s.Tools = append(s.Tools, Definition{Name: "t", Allowed: true, Raw: raw})
	}
	return s
}

func TestAnalyze(t *testing.T) {
	s := server("hub", 2, 10)
	s.Tools[1] = Definition{Name: "big", Raw: json.RawMessage(strings.Repeat("x", 90))}
	gone := Server{Name: "gone", State: "failed", Reason: "exited"}
	got := Analyze(Catalog{
		Servers:  []Server{s, gone},
		Modes:    []Listing{{"native", listed(3, 20)}, {"compact", listed(3, 25)}},
		Searches: []string{"xxxx", "x", "xx"},
	}, bytes{}, Rates{Price: 2, Prefill: 50})
	want := &Analysis{
		Encoding: "o200k_base",
		Servers: []ServerCost{
			{Name: "hub", State: "ready", Cost: Cost{Tools: 2, Bytes: 100, Tokens: 100, Price: 0.0002, Seconds: 2}, By: []ToolCost{{"big", false, 90, 90}, {"t", true, 10, 10}}},
			{Name: "gone", State: "failed", Reason: "exited", By: []ToolCost{}},
		},
		Now: Cost{Tools: 2, Bytes: 100, Tokens: 100, Price: 0.0002, Seconds: 2},
		Modes: []ModeCost{
			{Mode: "native", Cost: Cost{Tools: 3, Bytes: 60, Tokens: 60, Price: 0.00012, Seconds: 1.2}, Percent: 40},
			{Mode: "compact", Cost: Cost{Tools: 3, Bytes: 75, Tokens: 75, Price: 0.00015, Seconds: 1.5}, Percent: 25},
		},
		Search: Search{Tokens: 2, Tried: 3},
		Advice: got.Advice,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("analysis (-want +got):\n%s", diff)
	}
}

// Compact mode is advised where it pays in a session with searches, and nothing
// else is: not a gateway in front of one small server.
func TestAdvice(t *testing.T) {
	search := []string{strings.Repeat("x", 200)} // three definitions or so
	compact := Listing{"compact", listed(3, 100)}
	native := func(n, size int) Listing {
		return Listing{"native", append(listed(n, size), listed(1, 100)...)}
	}
	for _, c := range []struct {
		name string
		in   Catalog
		want Advice
	}{
		{"many tools", Catalog{[]Server{server("a", 50, 100)}, []Listing{native(50, 100), compact}, search}, Advice{Mode: "compact", Session: 1100, Searches: 4, Until: 23}},
		{"one server with five small tools", Catalog{[]Server{server("a", 5, 100)}, []Listing{native(5, 100), compact}, search}, Advice{Mode: "none", Session: 1100, Searches: 4, Until: 1}},
		{"two servers with few", Catalog{[]Server{server("a", 5, 100), server("b", 2, 100)}, []Listing{native(7, 100), compact}, search}, Advice{Mode: "native", Session: 1100, Searches: 4, Until: 2}},
		{"rules leave out some", Catalog{[]Server{server("a", 5, 100)}, []Listing{native(3, 100), compact}, search}, Advice{Mode: "native", Session: 1100, Searches: 4, Until: 1}},
		{"hardly worth it", Catalog{[]Server{server("a", 12, 100), server("b", 1, 1)}, []Listing{native(13, 100), compact}, search}, Advice{Mode: "native", Session: 1100, Searches: 4, Until: 4}},
		{"no tools", Catalog{[]Server{{Name: "a"}}, []Listing{native(0, 1), compact}, nil}, Advice{Mode: "none", Session: 300, Searches: 4}},
	} {
		got := Analyze(c.in, bytes{}, Rates{}).Advice
		if got.Reason == "" || strings.HasSuffix(got.Reason, ".") {
			t.Errorf("%s: reason %q", c.name, got.Reason)
		}
		got.Reason = ""
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}
