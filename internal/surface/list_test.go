package surface_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"heddle/internal/mcptest"
	"heddle/internal/wire"

	"github.com/google/go-cmp/cmp"
	"github.com/tiktoken-go/tokenizer"
)

const changed = "notifications/tools/list_changed"

func (s *stage) list() wire.Message {
	s.t.Helper()
	return s.Request("tools/list", "{}")
}

// ownTools are the tools of the modes that show no others, and searchTool the one
// of them that searches.
var (
	ownTools = map[string][]string{
		"compact": {"find_tool", "call_tool", "read_result"},
		"extreme": {"find_tool", "call_tool", "read_result"},
		"mesh":    {"mesh_search_tools", "mesh_describe_tool", "mesh_invoke_tool", "mesh_status"},
	}
	searchTool = map[string]string{"compact": "find_tool", "extreme": "find_tool", "mesh": "mesh_search_tools"}
)

func TestLists(t *testing.T) {
	eachMode(t, stageOptions{servers: map[string]mcptest.Options{
		"a": {Tools: toolsNamed("one", "search", "read_result")}, "b": {Tools: toolsNamed("two", "search", "b/slash")},
	}}, func(t *testing.T, s *stage) {
		want := ownTools[s.mode]
		switch s.mode {
		case "native":
			want = []string{"one", "a_search", "a_read_result", "two", "b_search", "b/slash", "read_result"}
		case "loom":
			want = []string{"a_one", "a_search", "a_read_result", "b_two", "b_search", "b_b_slash", "read_result"}
		}
		if diff := cmp.Diff(want, toolNames(t, s.list())); diff != "" {
			t.Errorf("tools (-want +got):\n%s", diff)
		}
	})
}

// A burst of changes is told once; the list is right by then.
func TestListChanged(t *testing.T) {
	eachMode(t, stageOptions{}, func(t *testing.T, s *stage) {
		before := string(s.list().Result)
		for i, name := range []string{"fresh", "another"} {
			text(t, s.run("up_add_tool", `{"name":"`+name+`","times":20}`))
			if searchTool[s.mode] == "" {
				s.WaitReceived(changed, i+1)
				if got := toolNames(t, s.list()); !slices.Contains(got, name) && !slices.Contains(got, "up_"+name) {
					t.Errorf("tools %q, want %s among them", got, name)
				}
				continue
			}
			mcptest.Eventually(t, func() bool {
				answer := text(t, s.Call(searchTool[s.mode], `{"query":"up_`+name+`"}`))
				return strings.Contains(answer, `"up_`+name+`"`) || strings.Contains(answer, " up::"+name+"(")
			}, "%s among what is found", name)
		}
		if after := string(s.list().Result); searchTool[s.mode] != "" && after != before {
			t.Errorf("the mode's list changed with the tools behind it:\n%s\n%s", before, after)
		}
		s.close()
		if got, want := len(s.Received(changed)), map[string]int{"native": 2, "loom": 2}[s.mode]; got != want {
			t.Errorf("%d notifications, want %d", got, want)
		}
	})
}

// Nothing changed, nothing sent.
func TestListNotChanged(t *testing.T) {
	eachMode(t, stageOptions{}, func(t *testing.T, s *stage) {
		s.list()
		lists := mcptest.Count(s.servers["up"].Events(), "list")
		for i := range 2 {
			s.servers["up"].Notify(changed, nil)
			s.servers["up"].WaitEvents(t, "list", lists+i+1)
		}
		text(t, s.run("up_add_tool", `{"name":"fresh","times":1}`))
		if searchTool[s.mode] == "" {
			s.WaitReceived(changed, 1)
		} else {
			s.servers["up"].WaitEvents(t, "list", lists+3)
			text(t, s.run("up_echo", "{}"))
		}
		s.close()
		if got, want := len(s.Received(changed)), map[string]int{"native": 1, "loom": 1}[s.mode]; got != want {
			t.Errorf("%d notifications, want %d", got, want)
		}
	})
}

// Hosts pay for every byte that differs: their caches go by the whole prompt.
func TestListIsTheSameEveryTime(t *testing.T) {
	for _, mode := range modes {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			lists := map[string]bool{}
			for range 2 {
				s := newStage(t, stageOptions{mode: mode, servers: map[string]mcptest.Options{"a": {}, "b": {InitDelay: 30}, "c": {}}})
				for range 2 {
					lists[string(s.list().Result)] = true
				}
				s.close()
			}
			if len(lists) != 1 {
				t.Errorf("%d different lists of two starts: %v", len(lists), lists)
			}
		})
	}
}

// The servers stand in a description without counts until all have started, and
// with counts that stay from then on.
func TestDescriptionChangesOnceAtBoot(t *testing.T) {
	t.Parallel()
	s := newStage(t, stageOptions{mode: "compact", servers: map[string]mcptest.Options{
		"fast": {}, "slow": {InitDelay: 3000}, "slower": {InitDelay: 3500},
	}})
	first := string(s.list().Result)
	if want := "Servers: fast, slow, slower."; !strings.Contains(first, want) {
		t.Errorf("before the boot has settled: %s, want %q in it", first, want)
	}
	s.WaitReceived(changed, 1)
	second := string(s.list().Result)
	if want := "Servers: fast (13), slow (13), slower (13)."; !strings.Contains(second, want) {
		t.Errorf("after the boot: %s, want %q in it", second, want)
	}
	text(t, s.run("fast_add_tool", `{"name":"fresh","times":3}`))
	mcptest.Eventually(t, func() bool {
		return strings.Contains(text(t, s.Call("find_tool", `{"query":"fast_fresh"}`)), "fast_fresh")
	}, "the new tool")
	if third := string(s.list().Result); third != second {
		t.Errorf("the list changed again:\n%s\n%s", second, third)
	}
	s.close()
	if got := len(s.Received(changed)); got != 1 {
		t.Errorf("%d notifications, want 1", got)
	}
}

// No tool of a failing server is missed: the list answers without it.
func TestListWithFailingServers(t *testing.T) {
	eachMode(t, stageOptions{config: "restart: {max_attempts: 0}\n", servers: map[string]mcptest.Options{
		"ok": {Tools: toolsNamed("fine")}, "broken": {InitError: json.RawMessage(`{"code":-32603,"message":"no"}`)}, "unlisted": {ListError: json.RawMessage(`{"code":-32603,"message":"no"}`)},
	}}, func(t *testing.T, s *stage) {
		want := ownTools[s.mode]
		switch s.mode {
		case "native":
			want = []string{"fine", "read_result"}
		case "loom":
			want = []string{"ok_fine", "read_result"}
		}
		if diff := cmp.Diff(want, toolNames(t, s.list())); diff != "" {
			t.Errorf("tools (-want +got):\n%s", diff)
		}
		r := refusalOf(t, s.run("broken_echo", "{}"))
		if (r.Kind != "unavailable" && r.Kind != "unknown_tool") || *r.Invoked {
			t.Errorf("a tool of the broken server: %+v", r)
		}
	})
}

// Model APIs refuse schemas with a combinator at the root, some hosts bare
// boolean sub-schemas.
func TestOwnDefinitionsArePortable(t *testing.T) {
	for _, mode := range modes {
		s := newStage(t, stageOptions{mode: mode, sql: mcptest.SQL(t), servers: map[string]mcptest.Options{"up": {Tools: toolsNamed("only")}}})
		list, err := wire.Elements(wire.Member(s.list().Result, "tools"))
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range list {
			name, _ := wire.Unquote(wire.Member(d, "name"))
			if name == "only" || name == "up_only" {
				continue
			}
			var schema map[string]any
			if err := json.Unmarshal(wire.Member(d, "inputSchema"), &schema); err != nil {
				t.Fatal(err)
			}
			if schema["type"] != "object" || schema["additionalProperties"] != false {
				t.Errorf("%s: %v, want a closed object", name, schema)
			}
			for _, k := range []string{"oneOf", "anyOf", "allOf", "if", "not", "$ref", "enum"} {
				if schema[k] != nil {
					t.Errorf("%s: %s at the root", name, k)
				}
			}
			noBareBooleans(t, name, schema)
			if wire.Member(d, "annotations") == nil || len(string(wire.Member(d, "description"))) < 10 {
				t.Errorf("%s: no annotations or description: %s", name, d)
			}
		}
	}
}

func noBareBooleans(t *testing.T, at string, schema map[string]any) {
	for k, v := range schema {
		_, isBool := v.(bool)
		if isBool && k != "additionalProperties" {
			t.Errorf("%s/%s: a bare boolean", at, k)
		}
		if sub, ok := v.(map[string]any); ok {
			noBareBooleans(t, at+"/"+k, sub)
		}
	}
}

// What the model pays for compact mode does not depend on what is behind it.
func TestCompactTokens(t *testing.T) {
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	var first string
	for _, n := range []int{1, 50, 500} {
		var names []string
		for i := range n {
			names = append(names, fmt.Sprintf("tool_%d", i))
		}
		s := newStage(t, stageOptions{mode: "compact", servers: map[string]mcptest.Options{"up": {Tools: toolsNamed(names...)}}})
		all := string(s.list().Result)
		servers := fmt.Sprintf(" Servers: up (%d).", n)
		if !strings.Contains(all, servers) {
			t.Fatalf("%s, want %q in it", all, servers)
		}
		list := strings.Replace(all, servers, "", 1)
		if first == "" {
			first = list
		}
		if list != first {
			t.Errorf("%d tools: the list differs from that of one:\n%s\n%s", n, list, first)
		}
	}
	tokens, _, err := codec.Encode(first)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d tokens, %d bytes", len(tokens), len(first))
	if len(tokens) > 280 {
		t.Errorf("compact's list costs %d tokens, want at most 280", len(tokens))
	}
}

// However many servers there are, naming them stays short.
func TestServerListIsBounded(t *testing.T) {
	servers := map[string]mcptest.Options{}
	for i := range 60 {
		servers[fmt.Sprintf("server-with-a-long-name-%02d", i)] = mcptest.Options{Tools: toolsNamed("t")}
	}
	s := newStage(t, stageOptions{mode: "compact", servers: servers})
	all := string(s.list().Result)
	_, rest, _ := strings.Cut(all, " Servers: ")
	list, _, _ := strings.Cut(rest, `.","inputSchema"`)
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	tokens, _, err := codec.Encode(list)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(list, "more") || len(tokens) > 200 {
		t.Errorf("%d tokens: %s", len(tokens), list)
	}
}
