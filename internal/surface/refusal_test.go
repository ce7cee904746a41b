package surface_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"heddle/internal/mcptest"
	"heddle/internal/upstream"
	"heddle/internal/wire"

	"github.com/google/go-cmp/cmp"
)

// issues is a server whose tools ask for something.
func issues() mcptest.Options {
	return mcptest.Options{Tools: []json.RawMessage{
		json.RawMessage(`{"name":"create_issue","description":"Create an issue in a repository.","inputSchema":{"type":"object","properties":{"owner":{"type":"string"},"repo":{"type":"string","maxLength":20,"pattern":"^[a-z]+$"},"title":{"type":"string"},"labels":{"type":"array","items":{"type":"string"}},"state":{"enum":["open","closed"]},"query_model":{"type":"object","properties":{"limit":{"type":"integer"}}}},"required":["owner","repo","title"],"additionalProperties":false}}`),
		json.RawMessage(`{"name":"args","description":"Patch a thing.","inputSchema":{"type":"object","properties":{"patch":{"type":"object"},"ids":{"type":"array","items":{"type":"integer"}},"q":{"type":"string"}}}}`),
		mcptest.Tool("secret_purge"), mcptest.Tool("echo"), mcptest.Tool("slow"),
	}}
}

func issueStage() stageOptions {
	return stageOptions{servers: map[string]mcptest.Options{"up": issues()}, config: "tools: {deny: [\"up_secret_*\"]}\n"}
}

// sentinel is a value that no refusal may repeat.
const sentinel = "S3NTINEL"

func TestRefusal(t *testing.T) {
	tests := []struct {
		name, arguments string
		want            []string // "path keyword"
	}{
		{"missing", `{"title":"` + sentinel + `"}`, []string{"/owner required", "/repo required"}},
		{"type", `{"owner":7331,"repo":"a","title":"t"}`, []string{"/owner type"}},
		{"pattern", `{"owner":"o","repo":"` + sentinel + `","title":"t"}`, []string{"/repo pattern"}},
		{"length", `{"owner":"o","repo":"` + strings.Repeat("sentinel", 4) + `","title":"t"}`, []string{"/repo maxLength"}},
		{"item", `{"owner":"o","repo":"a","title":"t","labels":["` + sentinel + `",{"` + sentinel + `":1}]}`, []string{"/labels/1 type"}},
		{"enum", `{"owner":"o","repo":"a","title":"t","state":"` + sentinel + `"}`, []string{"/state enum"}},
		{"deep", `{"owner":"o","repo":"a","title":"t","query_model":{"limit":"` + sentinel + `"}}`, []string{"/query_model/limit type"}},
	}
	eachMode(t, issueStage(), func(t *testing.T, s *stage) {
		for _, test := range tests {
			m := s.run("up_create_issue", test.arguments)
			r := refusalOf(t, m)
			var got []string
			for _, v := range r.Violations {
				got = append(got, v.Path+" "+v.Keyword)
				if v.Message == "" {
					t.Errorf("%s: a violation without message: %+v", test.name, v)
				}
			}
			for _, w := range test.want {
				if !slices.Contains(got, w) {
					t.Errorf("%s: violations %q, want %q among them", test.name, got, w)
				}
			}
			if r.Kind != "invalid_arguments" || *r.Invoked || r.Tool != "up_create_issue" {
				t.Errorf("%s: %+v", test.name, r)
			}
			for _, secret := range []string{sentinel, "7331", "sentinelsentinel"} {
				if strings.Contains(string(m.Result), secret) {
					t.Errorf("%s: the refusal repeats a submitted value: %s", test.name, m.Result)
				}
			}
		}
		if n := mcptest.Count(s.servers["up"].Events(), "call"); n != 0 {
			t.Errorf("the server saw %d refused calls", n)
		}
	})
}

// A tool's signature comes with its first refusal in a session and not again.
func TestSignatureComesOnce(t *testing.T) {
	eachMode(t, issueStage(), func(t *testing.T, s *stage) {
		first := s.run("up_create_issue", `{"repository":"a/b"}`)
		r := refusalOf(t, first)
		if !strings.Contains(r.Signature, "owner") || !strings.Contains(r.Signature, "title") || !strings.Contains(mcptest.TextOf(first.Result), "Signature: "+r.Signature) {
			t.Errorf("the first refusal has the signature %q, want one with owner and title, in the text too: %s", r.Signature, first.Result)
		}
		if again := refusalOf(t, s.run("up_create_issue", `{}`)); again.Signature != "" {
			t.Errorf("the second refusal has the signature %q again", again.Signature)
		}
		if other := refusalOf(t, s.run("up_args", `{"ids":{}}`)); other.Signature == "" {
			t.Errorf("the first refusal of another tool has no signature: %+v", other)
		}
	})
}

func TestUnknownTool(t *testing.T) {
	eachMode(t, issueStage(), func(t *testing.T, s *stage) {
		s.list()
		for _, name := range []string{"up_create_isue", "up_createissue", "up_issue_create"} {
			m := s.run(name, `{"title":"`+sentinel+`"}`)
			r := refusalOf(t, m)
			want := "up_create_issue"
			if s.mode == "native" {
				want = "create_issue"
			}
			if r.Kind != "unknown_tool" || !slices.Contains(r.Near, want) || !strings.Contains(r.Message, want) || *r.Invoked || r.Tool != name {
				t.Errorf("%s: %+v, want unknown_tool with the near name %s", name, r, want)
			}
			if strings.Contains(string(m.Result), sentinel) {
				t.Errorf("the refusal repeats a submitted value: %s", m.Result)
			}
		}
		r := refusalOf(t, s.run("zzzz", "{}"))
		if r.Kind != "unknown_tool" || len(r.Near) != 0 {
			t.Errorf("zzzz: %+v, want unknown_tool without near names", r)
		}
	})
}

// What is denied does not exist: not in a list, not in a search, not as a near
// name, and a call says what it says of any name that nobody has.
func TestDeniedDoesNotExist(t *testing.T) {
	eachMode(t, issueStage(), func(t *testing.T, s *stage) {
		if got := toolNames(t, s.list()); slices.ContainsFunc(got, func(n string) bool { return strings.Contains(n, "secret") }) {
			t.Errorf("listed: %q", got)
		}
		if s.mode == "compact" || s.mode == "extreme" {
			for _, query := range []string{"secret purge", "up_secret_purge", "up::secret_purge", "secret_purge", "tool of mcptest"} {
				if got := text(t, s.Call("find_tool", `{"query":"`+query+`"}`)); strings.Contains(got, "secret") {
					t.Errorf("find_tool %q: %s", query, got)
				}
			}
		}
		for _, name := range []string{"up_secret_purge", "secret_purge", "up::secret_purge", "up/secret_purge", "UP_SECRET_PURGE", "up_secret_purg"} {
			m := s.run(name, "{}")
			r := refusalOf(t, m)
			nobody := refusalOf(t, s.run(strings.Replace(name, "secret", "qqqqqq", 1), "{}"))
			if r.Kind != "unknown_tool" || r.Message != nobody.Message || slices.ContainsFunc(r.Near, func(n string) bool { return strings.Contains(n, "secret") }) {
				t.Errorf("%s: %s, want what a name that nobody has gets: %s", name, m.Result, nobody.Message)
			}
		}
		if n := mcptest.Count(s.servers["up"].Events(), "call"); n != 0 {
			t.Errorf("the server saw %d calls of a denied tool", n)
		}
	})
}

func TestCallWaitsForAStart(t *testing.T) {
	eachMode(t, stageOptions{servers: map[string]mcptest.Options{"up": {InitDelay: 300}}}, func(t *testing.T, s *stage) {
		if got := text(t, s.run("up_echo", `{"text":"patience"}`)); got != "patience" {
			t.Errorf("got %q", got)
		}
	})
}

func TestCallToAServerThatStarts(t *testing.T) {
	quick := func(c *upstream.Config) { c.Timeout = time.Second }
	eachMode(t, stageOptions{servers: map[string]mcptest.Options{"up": {InitDelay: 1500}}, upstream: quick}, func(t *testing.T, s *stage) {
		r := refusalOf(t, s.run("up_echo", `{"text":"x"}`))
		if r.Kind != "starting" || r.RetryAfterMS <= 0 || *r.Invoked || !strings.Contains(r.Message, "up") {
			t.Errorf("got %+v, want starting with retry_after_ms", r)
		}
		s.boot() // the start went on
		if got := text(t, s.run("up_echo", `{"text":"x"}`)); got != "x" {
			t.Errorf("after the start: %q", got)
		}
	})
}

func TestTimeout(t *testing.T) {
	quick := func(c *upstream.Config) { c.Timeout = 200 * time.Millisecond }
	eachMode(t, stageOptions{upstream: quick}, func(t *testing.T, s *stage) {
		s.boot()
		r := refusalOf(t, s.run("up_slow", `{"ms":60000}`))
		if r.Kind != "timeout" || !*r.Invoked || !strings.Contains(r.Message, "200ms") {
			t.Errorf("got %+v, want timeout with upstream_invoked", r)
		}
		call := s.servers["up"].WaitEvents(t, "call", 1)[0]
		if got := s.servers["up"].WaitEvents(t, "cancelled", 1)[0].ID; got != call.ID {
			t.Errorf("cancelled %s, want %s", got, call.ID)
		}
	})
}

func TestUpstreamExits(t *testing.T) {
	eachMode(t, stageOptions{}, func(t *testing.T, s *stage) {
		s.boot()
		waiting := s.Start(`"w"`, "tools/call", s.params("up_slow", `{"ms":60000}`))
		s.servers["up"].WaitEvents(t, "call", 1)
		for name, m := range map[string]wire.Message{"crash": s.run("up_crash", `{"code":3}`), "the call beside it": s.Wait(waiting)} {
			if r := refusalOf(t, m); r.Kind != "upstream_exited" || !*r.Invoked {
				t.Errorf("%s: %+v, want upstream_exited", name, r)
			}
		}
	})
}

// Models send objects and arrays as text; what the schema says counts.
func TestTextIsParsed(t *testing.T) {
	eachMode(t, issueStage(), func(t *testing.T, s *stage) {
		got := text(t, s.run("up_args", `{"patch":"{\"k\":\"v\",\"n\":9007199254740993}","ids":"[1,2]","q":"{\"keep\":\"me\"}"}`, `"_meta":{}`))
		want := `{"arguments":{"patch":{"k":"v","n":9007199254740993},"ids":[1,2],"q":"{\"keep\":\"me\"}"},"_meta":{}}`
		if got != want {
			t.Errorf("the server got %s, want %s", got, want)
		}
		r := refusalOf(t, s.run("up_args", `{"patch":"`+sentinel+` not json"}`))
		if r.Kind != "invalid_arguments" || len(r.Violations) != 1 || r.Violations[0].Path != "/patch" {
			t.Errorf("text that is no JSON: %+v", r)
		}
		got = text(t, s.run("up_args", `"{\"q\":\"x\\u00e9\",\"n\":9007199254740993}"`, `"_meta":{}`))
		if want := `{"arguments":{"q":"x\u00e9","n":9007199254740993},"_meta":{}}`; got != want {
			t.Errorf("arguments as text: the server got %s, want %s", got, want)
		}
	})
}

// ownCalls are calls of heddle's own tools that are refused before anything else.
func TestOwnToolsRefuse(t *testing.T) {
	s := newStage(t, stageOptions{mode: "compact"})
	tests := []struct{ tool, arguments, kind, path, says string }{
		{"call_tool", `{"tool":"up_echo","arguments":{},"args":{}}`, "invalid_arguments", "", "only tool, arguments, sql are known"},
		{"call_tool", `{"name":"up_echo","arguments":{}}`, "invalid_arguments", "", "only tool, arguments, sql are known"},
		{"call_tool", `{}`, "invalid_arguments", "/tool", "required"},
		{"call_tool", `{"tool":""}`, "invalid_arguments", "/tool", "required"},
		{"call_tool", `{"tool":7}`, "invalid_arguments", "/tool", "string"},
		{"call_tool", `[]`, "invalid_arguments", "", "object"},
		{"call_tool", `"text"`, "invalid_arguments", "", "object"},
		{"call_tool", `{"tool":"up_echo","arguments":"` + sentinel + `"}`, "invalid_arguments", "/arguments", "object"},
		{"find_tool", `{}`, "invalid_query", "", "empty"},
		{"find_tool", `{"query":""}`, "invalid_query", "", "empty"},
		{"find_tool", `{"query":" \n\t"}`, "invalid_query", "", "empty"},
		{"find_tool", `{"query":7}`, "invalid_arguments", "/query", "string"},
		{"find_tool", `{"query":"echo","limit":5}`, "invalid_arguments", "", "only query, server are known"},
		{"find_tool", `{"query":"` + strings.Repeat("é", 257) + `"}`, "invalid_query", "", "256"},
		{"find_tool", `{"query":"echo","server":"nobody"}`, "invalid_query", "", "up (13 tools)"},
		{"read_result", `{"result_ref":"x","` + sentinel + `":1}`, "invalid_arguments", "", "are known"},
		{"read_result", `{"result_ref":7}`, "invalid_arguments", "/result_ref", "string"},
		{"read_result", `{"result_ref":"` + sentinel + `"}`, "result_expired", "", "No result has this name"},
		{"read_result", `{}`, "invalid_arguments", "/result_ref", "required"},
		{"read_result", `{"result_ref":"x","query":"` + sentinel + `","cursor":"` + sentinel + `"}`, "invalid_arguments", "/cursor", "exclude"},
		{"up_echo", `{"text":"` + sentinel + `"}`, "unknown_tool", "", "call_tool"},
		{"mesh_invoke_tool", `{}`, "unknown_tool", "", "call_tool"},
	}
	for _, test := range tests {
		m := s.Call(test.tool, test.arguments)
		r := refusalOf(t, m)
		if r.Kind != test.kind || *r.Invoked || !strings.Contains(r.Message, test.says) || r.Tool != test.tool {
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

func TestReadResultInNativeMode(t *testing.T) {
	s := newStage(t, stageOptions{mode: "native"})
	if r := refusalOf(t, s.Call("read_result", `{"result_ref":"x"}`)); r.Kind != "result_expired" || !strings.Contains(r.Message, "No results are held") {
		t.Errorf("got %+v", r)
	}
	for _, name := range []string{"find_tool", "call_tool"} {
		if r := refusalOf(t, s.Call(name, `{}`)); r.Kind != "unknown_tool" {
			t.Errorf("%s: %+v, want unknown_tool", name, r)
		}
	}
}

// found are the objects in an answer of find_tool, a line each.
func found(t *testing.T, answer string) (names []string, lines []string) {
	t.Helper()
	for line := range strings.Lines(answer) {
		if !strings.HasPrefix(line, "{") {
			continue
		}
		var v struct{ Name string }
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		names = append(names, v.Name)
		lines = append(lines, strings.TrimSuffix(line, "\n"))
	}
	return names, lines
}

func TestFindTool(t *testing.T) {
	s := newStage(t, stageOptions{mode: "compact", servers: map[string]mcptest.Options{"issues": issues(), "other": {}}})
	m := s.Call("find_tool", `{"query":"create an issue"}`)
	names, lines := found(t, text(t, m))
	if names[0] != "issues_create_issue" || len(names) > 3 {
		t.Errorf("found %q, want issues_create_issue first and at most three", names)
	}
	if wire.Member(m.Result, "structuredContent") != nil {
		t.Errorf("find_tool answers in text alone: %s", m.Result)
	}
	definition := issues().Tools[0]
	got := wire.Member([]byte(lines[0]), "inputSchema")
	if diff := cmp.Diff(string(wire.Member(definition, "inputSchema")), string(got)); diff != "" {
		t.Errorf("the schema is not complete (-want +got):\n%s", diff)
	}
	for _, exact := range []string{"issues_secret_purge", "issues::secret_purge", "issues/secret_purge", "secret_purge"} {
		names, _ := found(t, text(t, s.Call("find_tool", `{"query":"`+exact+`"}`)))
		if len(names) == 0 || names[0] != "issues_secret_purge" {
			t.Errorf("%s: found %q, want the exact name first", exact, names)
		}
	}
	for _, query := range []string{strings.Repeat("é", 249) + " create", "echo"} { // 256 code points are allowed
		text(t, s.Call("find_tool", `{"query":"`+query+`"}`))
	}
	answer := text(t, s.Call("find_tool", `{"query":"send gmail email"}`))
	if names, _ := found(t, answer); len(names) != 0 || !strings.Contains(answer, "issues (5 tools)") || !strings.Contains(answer, "other (13 tools)") {
		t.Errorf("no match: %s, want the servers with their counts", answer)
	}
	names, _ = found(t, text(t, s.Call("find_tool", `{"query":"echo","server":"other"}`)))
	if diff := cmp.Diff([]string{"other_echo"}, names[:1]); diff != "" {
		t.Errorf("with a server (-want +got):\n%s", diff)
	}
}

// An answer stays within what hosts show, and the full schema still validates.
func TestFindToolWithHugeDefinitions(t *testing.T) {
	var values []string
	for i := range 5000 {
		values = append(values, fmt.Sprintf("region-%05d", i))
	}
	enum, _ := json.Marshal(values)
	long := strings.Repeat("Long description é. ", 3000)
	huge := func(name string) json.RawMessage {
		return fmt.Appendf(nil, `{"name":%q,"description":%q,"inputSchema":{"type":"object","properties":{"region":{"type":"string","enum":%s}},"required":["region"]}}`, name, long, enum)
	}
	s := newStage(t, stageOptions{mode: "compact", servers: map[string]mcptest.Options{"up": {
		Tools:   []json.RawMessage{huge("deploy_region"), huge("deploy_region_again"), huge("deploy_region_more")},
		Results: map[string]json.RawMessage{"deploy_region": mcptest.Text("deployed")},
	}}})
	for _, query := range []string{"deploy region", "up_deploy_region"} {
		answer := text(t, s.Call("find_tool", `{"query":"`+query+`"}`))
		names, lines := found(t, answer)
		if len(answer) > 10<<10 || len(names) != 3 {
			t.Errorf("%s: %d bytes, found %q, want three in 10 kB:\n%.300s", query, len(answer), names, answer)
		}
		if !strings.Contains(lines[0], "5000 values in all") || !strings.Contains(lines[0], `"region-00000"`) {
			t.Errorf("%s: the first match does not show how many values there are and the first of them: %.300s", query, lines[0])
		}
	}
	if got := text(t, s.run("up_deploy_region", `{"region":"region-04998"}`)); got != "deployed" {
		t.Errorf("got %q", got)
	}
	m := s.run("up_deploy_region", `{"region":"`+sentinel+`"}`)
	if r := refusalOf(t, m); r.Kind != "invalid_arguments" || len(m.Result) > 4000 || strings.Contains(string(m.Result), sentinel) {
		t.Errorf("a value that is not in the list: %d bytes, %.600s", len(m.Result), m.Result)
	}
}

// find_tool says why a server has nothing to find.
func TestFindToolNamesFailingServers(t *testing.T) {
	s := newStage(t, stageOptions{mode: "compact", servers: map[string]mcptest.Options{"broken": {InitError: json.RawMessage(`{"code":-32603,"message":"out of order"}`)}}})
	answer := text(t, s.Call("find_tool", `{"query":"anything"}`))
	if !strings.Contains(answer, "broken") || !strings.Contains(answer, "out of order") {
		t.Errorf("got %s, want the server and its reason", answer)
	}
}

// Some hosts send null for what they do not give.
func TestNullIsAbsent(t *testing.T) {
	s := newStage(t, stageOptions{mode: "compact"})
	s.list()
	got := string(s.Call("read_result", `{"result_ref":"none_1","query":null,"cursor":null}`).Result)
	if !strings.Contains(got, "result_expired") {
		t.Errorf("read_result with nulls: %s", got)
	}
	if got := string(s.Call("find_tool", `{"query":"echo","server":null}`).Result); !strings.Contains(got, "up_echo") {
		t.Errorf("find_tool with null: %s", got)
	}
}
