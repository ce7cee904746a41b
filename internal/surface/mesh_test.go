package surface_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"heddle/internal/mcptest"
	"heddle/internal/tokens"
	"heddle/internal/wire"

	"github.com/google/go-cmp/cmp"
)

func TestMeshTools(t *testing.T) {
	s := newStage(t, stageOptions{mode: "mesh", servers: map[string]mcptest.Options{"issues": issues()}})
	want := []string{"mesh_search_tools", "mesh_describe_tool", "mesh_invoke_tool", "mesh_status"}
	if diff := cmp.Diff(want, toolNames(t, s.list())); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
	for query, first := range map[string]string{"create an issue": "issues::create_issue(", "issues_secret_purge": "issues::secret_purge("} {
		answer := text(t, s.Call("mesh_search_tools", `{"query":"`+query+`"}`))
		lines := matchesOf(answer)
		if len(lines) == 0 || len(lines) > 5 {
			t.Fatalf("%s: %s", query, answer)
		}
		if _, rest, _ := strings.Cut(lines[0], " "); !strings.HasPrefix(rest, first) {
			t.Errorf("%s: %s, want %s first", query, lines[0], first)
		}
	}
	if lines := matchesOf(text(t, s.Call("mesh_search_tools", `{"query":"issue","limit":1}`))); len(lines) != 1 {
		t.Errorf("limit 1: %q", lines)
	}
	nothing := text(t, s.Call("mesh_search_tools", `{"query":"send gmail email"}`))
	if !strings.HasPrefix(nothing, "No tool fits this query.") || !strings.Contains(nothing, "issues (5 tools)") || len(matchesOf(nothing)) > 0 {
		t.Errorf("no match: %s", nothing)
	}
}

// matchesOf are the lines of an answer of mesh_search_tools that begin with a
// score.
func matchesOf(answer string) (out []string) {
	for line := range strings.Lines(answer) {
		var score float64
		if _, err := fmt.Sscanf(line, "%f ", &score); err == nil {
			out = append(out, strings.TrimSpace(line))
		}
	}
	return out
}

func TestMeshDescribe(t *testing.T) {
	definition := json.RawMessage(`{"name":"find","title":"Find","description":"Finds a thing. It takes a while.","inputSchema":{"type":"object","title":"FindArguments","properties":{"q":{"type":"string","title":"Q","description":"What to find. Be brief."}},"required":["q"]},"outputSchema":{"type":"object"}}`)
	s := newStage(t, stageOptions{mode: "mesh", servers: map[string]mcptest.Options{"a": {Tools: []json.RawMessage{definition}}, "b": {Tools: toolsNamed("find")}}})
	small := text(t, s.Call("mesh_describe_tool", `{"server":"a","tool_name":"find"}`))
	if diff := cmp.Diff(oneForm(t, `{"name":"find","description":"Finds a thing","inputSchema":{"type":"object","properties":{"q":{"type":"string","description":"What to find"}},"required":["q"]}}`), oneForm(t, small)); diff != "" {
		t.Errorf("minified (-want +got):\n%s", diff)
	}
	for _, args := range []string{`{"server":"a","tool_name":"find","minify":false}`, `{"server":"a","tool_name":"a_find","minify":false}`, `{"server":"","tool_name":"a::find","minify":false}`} {
		if diff := cmp.Diff(oneForm(t, string(definition)), oneForm(t, text(t, s.Call("mesh_describe_tool", args)))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", args, diff)
		}
	}
}

func oneForm(t *testing.T, text string) string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// What is too large to show is shortened, never a huge answer or line.
func TestMeshIsBounded(t *testing.T) {
	var values []string
	for i := range 5000 {
		values = append(values, fmt.Sprintf("region-%05d", i))
	}
	enum, _ := json.Marshal(values)
	var many []string
	for i := range 700 {
		many = append(many, fmt.Sprintf(`"parameter_%04d":{"type":"string","description":"Number %d of them is in seconds."}`, i, i))
	}
	deep := strings.Repeat(`{"type":"object","description":"`+strings.Repeat("In seconds. ", 9)+`","properties":{"a":`, 90) + `{}` + strings.Repeat(`}}`, 90)
	long := strings.Repeat("Deploys é. ", 1200)
	var tools []json.RawMessage
	for name, schema := range map[string]string{
		"deploy_enum": `{"type":"object","properties":{"region":{"type":"string","enum":` + string(enum) + `}}}`,
		"deploy_many": `{"type":"object","properties":{` + strings.Join(many, ",") + `}}`,
		"deploy_deep": deep,
	} {
		tools = append(tools, fmt.Appendf(nil, `{"name":%q,"description":%q,"inputSchema":%s}`, name, long, schema))
	}
	for i := range 30 {
		tools = append(tools, fmt.Appendf(nil, `{"name":"deploy_%s_%d","description":%q,"inputSchema":{"type":"object"}}`, strings.Repeat("n", 90), i, long))
	}
	s := newStage(t, stageOptions{mode: "mesh", servers: map[string]mcptest.Options{"up": {Tools: tools}}})
	for _, call := range [][2]string{
		{"mesh_describe_tool", `{"server":"up","tool_name":"deploy_enum"}`}, {"mesh_describe_tool", `{"server":"up","tool_name":"deploy_enum","minify":false}`},
		{"mesh_describe_tool", `{"server":"up","tool_name":"deploy_many"}`}, {"mesh_describe_tool", `{"server":"up","tool_name":"deploy_deep"}`},
		{"mesh_describe_tool", `{"server":"up","tool_name":"deploy_deep","minify":false}`},
		{"mesh_search_tools", `{"query":"deploy","limit":20}`}, {"mesh_search_tools", `{"query":"fly to the moon"}`}, {"mesh_status", `{}`},
	} {
		answer := text(t, s.Call(call[0], call[1]))
		longest := 0
		for line := range strings.Lines(answer) {
			longest = max(longest, len(line))
		}
		if len(answer) > 10<<10 || longest > 2500 || strings.HasPrefix(answer, "[") || answer == "" {
			t.Errorf("%s: %d bytes, the longest line has %d: %.300s", call, len(answer), longest, answer)
		}
	}
	if answer := text(t, s.Call("mesh_describe_tool", `{"server":"up","tool_name":"deploy_enum"}`)); !strings.Contains(answer, "5000 values in all") || !strings.Contains(answer, "region-00009") {
		t.Errorf("a long enum: %.400s", answer)
	}
}

func TestMeshInvoke(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	s := newStage(t, stageOptions{mode: "mesh", ledger: path, servers: map[string]mcptest.Options{"a": {}, "b": {}}})
	s.boot()
	for _, args := range []string{
		`{"server":"a","tool_name":"echo","arguments":{"text":"x"}}`, `{"tool_name":"a::echo","arguments":{"text":"x"}}`,
		`{"tool_name":"a_echo","arguments":{"text":"x"}}`, `{"server":"a","tool_name":"a_echo","arguments":"{\"text\":\"x\"}"}`,
	} {
		if got := text(t, s.Call("mesh_invoke_tool", args)); got != "x" {
			t.Errorf("%s: %q", args, got)
		}
	}
	r := refusalOf(t, s.Call("mesh_invoke_tool", `{"tool_name":"echo"}`))
	if diff := cmp.Diff([]string{"a::echo", "b::echo"}, r.Near); r.Kind != "unknown_tool" || diff != "" || !strings.Contains(r.Message, "server") {
		t.Errorf("an ambiguous name: %+v", r)
	}
	if r := refusalOf(t, s.Call("mesh_invoke_tool", `{"server":"`+sentinel+`","tool_name":"echo"}`)); r.Kind != "unknown_tool" || !strings.Contains(r.Message, "a (13 tools)") {
		t.Errorf("no such server: %+v", r)
	}
	if r := refusalOf(t, s.Call("mesh_invoke_tool", `{"server":"a","tool_name":"`+sentinel+`"}`)); r.Kind != "unknown_tool" {
		t.Errorf("no such tool: %+v", r)
	}
	text(t, s.Call("mesh_search_tools", `{"query":"echo"}`))
	text(t, s.Call("mesh_describe_tool", `{"server":"a","tool_name":"echo"}`))
	text(t, s.Call("mesh_status", `{}`))
	if n := len(s.rows(path)); n != 10 {
		t.Errorf("%d rows for ten calls", n)
	}
}

func TestMeshStatus(t *testing.T) {
	s := newStage(t, stageOptions{mode: "mesh", config: "restart: {max_attempts: 0}\n", servers: map[string]mcptest.Options{"ok": {}, "broken": {InitError: json.RawMessage(`{"code":-32603,"message":"out of order"}`)}}})
	s.boot()
	for range 2 {
		text(t, s.Call("mesh_describe_tool", `{"server":"ok","tool_name":"echo"}`))
	}
	m := s.Call("mesh_status", `{}`)
	var v struct {
		Servers []struct{ Name, State, Circuit, Reason string }
		Indexed int `json:"tools_indexed"`
		Hits    int `json:"cache_hits"`
		Saved   int `json:"tokens_saved_estimate"`
	}
	if err := json.Unmarshal(wire.Member(m.Result, "structuredContent"), &v); err != nil {
		t.Fatal(err)
	}
	if len(v.Servers) != 2 || v.Indexed != 13 || v.Hits != 1 || v.Saved < 0 {
		t.Errorf("status %+v", v)
	}
	said := text(t, m)
	for _, want := range []string{"13 tools of 2 servers", "1 hits", "ok: ready, 13 tools", "circuit closed", "broken: failed", "out of order"} {
		if !strings.Contains(said, want) {
			t.Errorf("status says %s, want %q in it", said, want)
		}
	}
}

func TestMeshRefuses(t *testing.T) {
	s := newStage(t, stageOptions{mode: "mesh"})
	for _, test := range []struct{ tool, arguments, kind, path, says string }{
		{"mesh_search_tools", `{}`, "invalid_query", "", "empty"},
		{"mesh_search_tools", `{"query":" "}`, "invalid_query", "", "empty"},
		{"mesh_search_tools", `{"query":"` + strings.Repeat("é", 257) + `"}`, "invalid_query", "", "256"},
		{"mesh_search_tools", `{"query":7}`, "invalid_arguments", "/query", "string"},
		{"mesh_search_tools", `{"query":"x","limit":0}`, "invalid_arguments", "/limit", "1 to 20"},
		{"mesh_search_tools", `{"query":"x","limit":21}`, "invalid_arguments", "/limit", "1 to 20"},
		{"mesh_search_tools", `{"query":"x","limit":2.5}`, "invalid_arguments", "/limit", "1 to 20"},
		{"mesh_search_tools", `{"query":"x","limit":"5"}`, "invalid_arguments", "/limit", "1 to 20"},
		{"mesh_search_tools", `{"query":"x","limit":null}`, "invalid_arguments", "/limit", "1 to 20"},
		{"mesh_search_tools", `{"query":"x","top":5}`, "invalid_arguments", "", "only query, server, limit are known"},
		{"mesh_search_tools", `{"query":"x","server":"nobody"}`, "invalid_query", "", "up (13 tools)"},
		{"mesh_describe_tool", `{"server":"up"}`, "invalid_arguments", "/tool_name", "required"},
		{"mesh_describe_tool", `{"tool_name":"echo"}`, "invalid_arguments", "/server", "required"},
		{"mesh_describe_tool", `{"server":"up","tool_name":"echo","minify":"no"}`, "invalid_arguments", "/minify", "true or false"},
		{"mesh_describe_tool", `{"server":"up","tool_name":"` + sentinel + `"}`, "unknown_tool", "", "no tool"},
		{"mesh_describe_tool", `{"server":"nobody","tool_name":"echo"}`, "unknown_tool", "", "no such server"},
		{"mesh_invoke_tool", `{}`, "invalid_arguments", "/tool_name", "required"},
		{"mesh_invoke_tool", `{"tool_name":"up_echo","args":{}}`, "invalid_arguments", "", "only server, tool_name, arguments are known"},
		{"mesh_invoke_tool", `{"tool_name":"up_echo","arguments":"` + sentinel + `"}`, "invalid_arguments", "/arguments", "object"},
		{"mesh_status", `{"verbose":true}`, "invalid_arguments", "", "none are taken"},
		{"mesh_status", `[]`, "invalid_arguments", "", "object"},
		{"up_echo", `{"text":"x"}`, "unknown_tool", "", "mesh_invoke_tool"},
		{"find_tool", `{"query":"x"}`, "unknown_tool", "", "mesh_search_tools"},
		{"read_result", `{}`, "unknown_tool", "", "mesh_search_tools"},
	} {
		m := s.Call(test.tool, test.arguments)
		r := refusalOf(t, m)
		if r.Kind != test.kind || *r.Invoked || !strings.Contains(r.Message, test.says) {
			t.Errorf("%s %.60s: %+v, want %s that says %q", test.tool, test.arguments, r, test.kind, test.says)
		}
		if test.path != "" && (len(r.Violations) != 1 || r.Violations[0].Path != test.path) {
			t.Errorf("%s %.60s: violations %+v, want one at %s", test.tool, test.arguments, r.Violations, test.path)
		}
		if strings.Contains(string(m.Result), sentinel) {
			t.Errorf("%s: the refusal repeats what was submitted: %s", test.tool, m.Result)
		}
	}
	if n := mcptest.Count(s.servers["up"].Events(), "call"); n != 0 {
		t.Errorf("the server saw %d calls", n)
	}
}

// What the model pays for mesh mode does not depend on what is behind it.
func TestMeshTokens(t *testing.T) {
	count, err := tokens.New()
	if err != nil {
		t.Fatal(err)
	}
	first := ""
	for _, n := range []int{50, 5000} {
		var names []string
		for i := range n {
			names = append(names, fmt.Sprintf("tool_%d", i))
		}
		s := newStage(t, stageOptions{mode: "mesh", servers: map[string]mcptest.Options{"up": {Tools: toolsNamed(names...)}}})
		s.boot()
		list := string(s.list().Result)
		servers := fmt.Sprintf(" Servers: up (%d).", n)
		if !strings.Contains(list, servers) {
			t.Fatalf("%s, want %q in it", list, servers)
		}
		list = strings.Replace(list, servers, "", 1)
		if first == "" {
			first = list
		}
		if list != first {
			t.Errorf("%d tools: the list differs:\n%s\n%s", n, list, first)
		}
	}
	got := count.Count(first)
	t.Logf("%d tokens", got)
	if got > 450 {
		t.Errorf("mesh's list costs %d tokens, want at most 450", got)
	}
}

// A server's own instructions come with its first match, once a session.
func TestInstructionsAreToldOnce(t *testing.T) {
	about := "Always pass ids.\n\nNever guess.\x1b[2J " + strings.Repeat("More of it. ", 200)
	for mode, search := range map[string]string{"compact": "find_tool", "mesh": "mesh_search_tools"} {
		s := newStage(t, stageOptions{mode: mode, servers: map[string]mcptest.Options{"issues": withInstructions(issues(), about), "other": {}}})
		ask := func(query string) string { return text(t, s.Call(search, `{"query":"`+query+`"}`)) }
		if got := text(t, s.Call(search, `{"query":"echo","server":"other"}`)); strings.Contains(got, "Server issues says") {
			t.Errorf("%s: told without a match: %s", mode, got)
		}
		got := ask("create an issue")
		if !strings.Contains(got, "Server issues says: Always pass ids. Never guess. [2J More of it.") || strings.Contains(got, "\x1b") || len(got) > 4000 {
			t.Errorf("%s: the first match: %s", mode, got)
		}
		if got := ask("create an issue"); strings.Contains(got, "says:") {
			t.Errorf("%s: told again: %s", mode, got)
		}
	}
}

func withInstructions(o mcptest.Options, text string) mcptest.Options {
	o.Instructions = text
	return o
}
