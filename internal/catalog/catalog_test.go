package catalog

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"heddle"
)

// source makes a known server of definitions.
func source(server string, definitions ...string) Source {
	s := Source{Server: server, Known: true, State: "ready"}
	for _, d := range definitions {
		s.Definitions = append(s.Definitions, json.RawMessage(d))
	}
	return s
}

// named makes a known server of tools with these names.
func named(server string, names ...string) Source {
	s := Source{Server: server, Known: true, State: "ready"}
	for _, name := range names {
		s.Definitions = append(s.Definitions, namedDefinition(name))
	}
	return s
}

func namedDefinition(name string) json.RawMessage {
	quoted, _ := json.Marshal(name)
	return json.RawMessage(`{"name":` + string(quoted) + `,"inputSchema":{"type":"object"}}`)
}

// catalogs reads the copied tools/list results, one server each.
func catalogs(t testing.TB) []Source {
	t.Helper()
	files, err := filepath.Glob("testdata/catalogs/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no catalogs: %v", err)
	}
	var sources []Source
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var list struct{ Tools []json.RawMessage }
		if err := json.Unmarshal(raw, &list); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		server := strings.TrimSuffix(filepath.Base(file), ".json")
		sources = append(sources, Source{Server: server, Definitions: list.Tools, Known: true, State: "ready"})
	}
	return sources
}

func exposed(s *Snapshot) []string {
	var names []string
	for _, t := range s.Tools() {
		names = append(names, t.Exposed)
	}
	return names
}

func native(s *Snapshot) []string {
	var names []string
	for _, t := range s.Tools() {
		names = append(names, t.Native)
	}
	return names
}

// kinds returns "tool: kind" of every warning.
func kinds(s *Snapshot) []string {
	var all []string
	for _, w := range s.Warnings() {
		all = append(all, w.Tool+": "+w.Kind)
	}
	return all
}

func diff(t *testing.T, what string, got, want any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

func TestDeniedToolsDoNotExist(t *testing.T) {
	s := Build([]Source{named("a", "read", "delete"), named("b", "delete")}, Options{
		Allowed: func(ref heddle.ToolRef) bool { return ref != heddle.ToolRef{Server: "a", Name: "delete"} },
	})
	diff(t, "exposed", exposed(s), []string{"a_read", "b_delete"})
	diff(t, "native", native(s), []string{"read", "delete"})
	for _, name := range []string{"a_delete", "a::delete", "a/delete"} {
		if tool, ok := s.Lookup(name, false); ok {
			t.Errorf("Lookup(%q) = %v, want nothing", name, tool.Ref)
		}
	}
	if got := s.Find("a_delete", "", 3); len(got) > 0 && got[0].Tool.Ref.Server == "a" {
		t.Errorf("Find found a denied tool")
	}
	if got := s.Servers()[0].Tools; got != 1 {
		t.Errorf("server a has %d tools, want 1", got)
	}
}

func TestUpdate(t *testing.T) {
	c := New(Options{})
	if c.Snapshot() == nil || c.Generation() != 0 {
		t.Fatalf("a new catalog has snapshot %v, generation %d", c.Snapshot(), c.Generation())
	}
	step := func(what string, wantChanged bool, wantGeneration uint64, sources ...Source) *Snapshot {
		t.Helper()
		if got := c.Update(sources); got != wantChanged {
			t.Errorf("%s: changed = %v, want %v", what, got, wantChanged)
		}
		if got := c.Generation(); got != wantGeneration {
			t.Errorf("%s: generation = %d, want %d", what, got, wantGeneration)
		}
		return c.Snapshot()
	}
	one := source("a", `{"name":"x","description":"d","inputSchema":{}}`)
	spaced := source("a", `{ "description":"\u0064", "inputSchema":{},  "name":"x" }`)
	first := step("first", true, 1, one)
	if again := step("same", false, 1, one); again != first {
		t.Errorf("the same sources made another snapshot")
	}
	if again := step("key order and white space", false, 1, spaced); again != first {
		t.Errorf("another key order made another snapshot")
	}
	failing := one
	failing.State = "failed"
	state := step("state", false, 1, failing)
	diff(t, "state", state.Servers()[0].State, "failed")
	if state.Tools()[0] != first.Tools()[0] || state.index != first.index {
		t.Errorf("another state made other tools or another index")
	}
	more := step("a server more", true, 2, spaced, named("b", "x"))
	tool := more.Tools()[0]
	if tool == first.Tools()[0] || tool.Native != "a_x" || first.Tools()[0].Native != "x" {
		t.Errorf("a shared tool was renamed: old %q, new %q", first.Tools()[0].Native, tool.Native)
	}
	if &tool.Definition[0] != &first.Tools()[0].Definition[0] {
		t.Errorf("an unchanged definition was replaced")
	}
	third := step("another server more", true, 3, one, named("b", "x"), named("c", "y"))
	if third.Tools()[0] != more.Tools()[0] || third.Tools()[1] != more.Tools()[1] {
		t.Errorf("unchanged tools were made anew")
	}
	diff(t, "warnings of reused tools", kinds(third), []string{"x: empty_schema"})
	step("unknown", true, 4, Source{Server: "a", Definitions: one.Definitions})
	step("none", true, 5)
}

func TestDigest(t *testing.T) {
	base := func() []Source {
		return []Source{source("a", `{"name":"x","inputSchema":{"maximum":1.0}}`, `{"name":"y"}`), named("b", "z")}
	}
	want := Build(base(), Options{}).Digest()
	if got := Build(base(), Options{}).Digest(); got != want {
		t.Errorf("digest is not deterministic: %s, %s", got, want)
	}
	changes := map[string]func([]Source){
		"number spelling": func(s []Source) { s[0].Definitions[0] = []byte(`{"name":"x","inputSchema":{"maximum":1}}`) },
		"tool order":      func(s []Source) { slices.Reverse(s[0].Definitions) },
		"server order":    func(s []Source) { slices.Reverse(s) },
		"server name":     func(s []Source) { s[1].Server = "c" },
		"instructions":    func(s []Source) { s[1].Instructions = "hello" },
		"known":           func(s []Source) { s[1].Known = false },
		"a tool less":     func(s []Source) { s[0].Definitions = s[0].Definitions[:1] },
	}
	for name, change := range changes {
		s := base()
		change(s)
		if Build(s, Options{}).Digest() == want {
			t.Errorf("%s: the digest did not change", name)
		}
	}
	s := base()
	s[0].State = "starting"
	if Build(s, Options{}).Digest() != want {
		t.Errorf("the state changed the digest")
	}
}

func TestFingerprint(t *testing.T) {
	of := func(json string) string { return new(canonical).fingerprint([]byte(json)) }
	deep := func(inner string) string { return strings.Repeat("[", 10_000) + inner + strings.Repeat("]", 10_000) }
	long := strings.Repeat("long ", 40)
	same := [][2]string{
		{`{"a":1,"b":[2,{"c":null,"d":true}]}`, " { \"b\" : [ 2 , {\"d\":true,\n\"c\":null} ],\t\"a\":1}\n"},
		{`{"a":"\u00e9/\ud83d\ude00"}`, `{"\u0061":"é\/😀"}`},
		{`{"a":1,"a":2}`, `{"a":2}`},
		{`{"x":{"a":"` + long + `","b":"` + long + `"}}`, `{"x":{"b":"` + long + `","a":"` + long + `"}}`},
		{deep("1"), deep("1")},
	}
	for _, c := range same {
		if of(c[0]) != of(c[1]) {
			t.Errorf("fingerprints differ: %.80s and %.80s", c[0], c[1])
		}
	}
	different := []string{
		`{}`, `[]`, `""`, `null`, `"null"`, `1`, `1.0`, `"1"`, `[1,2]`, `[2,1]`, `["1,2"]`, `[[1],2]`, `[[1,2]]`, `{"a":{}}`, `{"a":[]}`,
		`"\ud800"`, `"\ud801"`, `"\ufffd"`, `{"a":"b"}`, `{"b":"a"}`, `["a","b"]`, `"ab"`, `["ab"]`, deep("1"), deep("2"),
	}
	seen := map[string]string{}
	for _, c := range different {
		if other, ok := seen[of(c)]; ok {
			t.Errorf("equal fingerprints: %.80s and %.80s", c, other)
		}
		seen[of(c)] = c
	}
}

func TestLookup(t *testing.T) {
	s := Build([]Source{
		named("github", "create_issue", "search", "v1.user/get"),
		named("gitlab", "search", "github::search", "github/create_issue", "read_result", "gitlab_search"),
	}, Options{Own: []string{"read_result"}})
	cases := []struct {
		name   string
		native bool
		want   string // "" for nothing
	}{
		{"github_create_issue", false, "github::create_issue"},
		{"github::create_issue", false, "github::create_issue"},
		{"github/create_issue", false, "github::create_issue"},
		{"create_issue", false, "github::create_issue"},
		{"search", false, ""}, // two have it
		{"github::search", false, "github::search"},
		{"gitlab::github::search", false, "gitlab::github::search"},
		{"github/v1.user/get", false, "github::v1.user/get"},
		{"v1.user/get", false, "github::v1.user/get"},
		{"github_v1_user_get", false, "github::v1.user/get"},
		{"read_result", false, ""}, // heddle's own
		{"gitlab_read_result", false, "gitlab::read_result"},
		{"gitlab_search", false, "gitlab::search"},
		{"gitlab_gitlab_search", false, "gitlab::gitlab_search"},
		{"GITHUB_create_issue", false, ""},
		{"", false, ""},
		{"create_issue", true, "github::create_issue"},
		{"github_create_issue", true, "github::create_issue"},
		{"github::create_issue", true, ""},
		{"search", true, ""},
		{"gitlab_search", true, "gitlab::search"},
		{"gitlab_gitlab_search", true, "gitlab::gitlab_search"},
		{"read_result", true, ""},
		{"v1.user/get", true, "github::v1.user/get"},
	}
	for _, c := range cases {
		got := ""
		if tool, ok := s.Lookup(c.name, c.native); ok {
			got = tool.Ref.String()
		}
		if got != c.want {
			t.Errorf("Lookup(%q, %v) = %q, want %q", c.name, c.native, got, c.want)
		}
	}
	for _, tool := range s.Tools() {
		if got, _ := s.Lookup(tool.Exposed, false); got != tool {
			t.Errorf("exposed name %q leads elsewhere", tool.Exposed)
		}
		if got, _ := s.Lookup(tool.Native, true); got != tool {
			t.Errorf("native name %q leads elsewhere", tool.Native)
		}
	}
}

func TestNear(t *testing.T) {
	s := Build(catalogs(t), Options{})
	cases := []struct {
		name   string
		native bool
		want   string // the first; "" for none
	}{
		{"github-legacy_create_isue", false, "github-legacy_create_issue"},
		{"list_directry", false, "filesystem_list_directory"},
		{"list_directry", true, "list_directory"},
		{"directoryList", true, "list_directory"},
		{"slack-legacy.post.message", false, "slack-legacy_slack_post_message"},
		{"zzzzqqqq", false, ""},
		{"", false, ""},
		{strings.Repeat("x", 100_000), false, ""},
		{strings.Repeat("Ⱥ", 200), false, ""},
	}
	for _, c := range cases {
		got := s.Near(c.name, 3, c.native)
		if len(got) > 3 || (c.want == "" && len(got) > 0) || (c.want != "" && (len(got) == 0 || got[0] != c.want)) {
			t.Errorf("Near(%.40q, 3, %v) = %q, want first %q", c.name, c.native, got, c.want)
		}
	}
	if got := s.Near("list_directory", -1, false); len(got) > 0 {
		t.Errorf("Near with n = -1 returned %q", got)
	}
}

func TestEditDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"kitten", "sitting", 3}, {"abc", "acb", 2}} {
		if got := editDistance(c.a, c.b); got != c.want {
			t.Errorf("editDistance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

// thousand returns sources of a thousand real tools.
func thousand(t testing.TB) []Source {
	real := catalogs(t)
	var sources []Source
	for n := 0; ; {
		for _, s := range real {
			s.Server = fmt.Sprintf("%s-%d", s.Server, len(sources)/len(real))
			s.Definitions = s.Definitions[:min(len(s.Definitions), 1000-n)]
			n += len(s.Definitions)
			sources = append(sources, s)
			if n == 1000 {
				return sources
			}
		}
	}
}

func BenchmarkBuild1000(b *testing.B) {
	sources := thousand(b)
	b.ReportAllocs()
	for b.Loop() {
		Build(sources, Options{})
	}
}

// BenchmarkUpdate1000 is what a list_changed costs that changes one tool.
func BenchmarkUpdate1000(b *testing.B) {
	sources := thousand(b)
	c := New(Options{})
	last := &sources[len(sources)-1]
	last.Definitions = slices.Clone(last.Definitions)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		last.Definitions[0] = namedDefinition(fmt.Sprint("tool", i))
		c.Update(sources)
	}
}

func BenchmarkLookup(b *testing.B) {
	s := Build(thousand(b), Options{})
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := s.Lookup("github-legacy-3::create_issue", false); !ok {
			b.Fatal("not found")
		}
	}
}

func BenchmarkNear1000(b *testing.B) {
	s := Build(thousand(b), Options{})
	b.ReportAllocs()
	for b.Loop() {
		s.Near("github_legacy_create_isue", 3, false)
	}
}

func BenchmarkNativeDefinition1000(b *testing.B) {
	s := Build(thousand(b), Options{})
	b.ReportAllocs()
	for b.Loop() {
		for _, t := range s.Tools() {
			s.NativeDefinition(t, false)
		}
	}
}
