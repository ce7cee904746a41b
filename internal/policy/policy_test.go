package policy

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"heddle"
)

func newPolicy(t testing.TB, c Config) *Policy {
	t.Helper()
	p, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func toolOf(server, name, schema string) *heddle.Tool {
	t := &heddle.Tool{Ref: heddle.ToolRef{Server: server, Name: name}, Fingerprint: server + "/" + name}
	if schema != "" {
		t.InputSchema = json.RawMessage(schema)
	}
	return t
}

func callOf(args string) *heddle.Call {
	c := &heddle.Call{Tool: "github_search"}
	if args != "" {
		c.Arguments = json.RawMessage(args)
	}
	return c
}

// The corpus has both lists always present.
func TestAuthorizationCorpus(t *testing.T) {
	f, err := os.Open("testdata/authz.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := 0
	for lines := bufio.NewScanner(f); lines.Scan(); n++ {
		var c struct {
			ID, Server, Tool, Expect, Why string
			Allow, Deny                   []string
		}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		got := "deny"
		p, err := New(Config{Allow: c.Allow, Deny: c.Deny})
		if err == nil && p.Access(heddle.ToolRef{Server: c.Server, Name: c.Tool}).Allowed {
			got = "allow"
		}
		if got != c.Expect {
			t.Errorf("%s: %q/%.40q with allow %q, deny %q: got %s, want %s (%s)", c.ID, c.Server, c.Tool, c.Allow, c.Deny, got, c.Expect, c.Why)
		}
	}
	if n != 42 {
		t.Errorf("read %d cases, want 42", n)
	}
}

func TestAccess(t *testing.T) {
	type lists = map[string]ServerRules
	tests := []struct {
		name         string
		c            Config
		server, tool string
		want         Access
	}{
		{"no lists", Config{}, "fs", "查询", Access{true, `allow "*"`}},
		{"star", Config{Allow: []string{"*"}}, "fs", "查询 x", Access{true, `allow "*"`}},
		{"empty allow", Config{Allow: []string{}}, "fs", "read", Access{false, "not in tools.allow"}},
		{"exposed name", Config{Allow: []string{"fs_read*"}}, "fs", "read.file", Access{true, `allow "fs_read*"`}},
		{"exposed name with what hosts replace", Config{Allow: []string{"fs_read_file"}}, "fs", "read.file", Access{true, `allow "fs_read_file"`}},
		{"exposed name as written", Config{Allow: []string{"fs_read.file"}}, "fs", "read.file", Access{true, `allow "fs_read.file"`}},
		{"allow is not for bare names", Config{Allow: []string{"read_*"}}, "fs", "read_file", Access{false, "not in tools.allow"}},
		{"deny is", Config{Deny: []string{"DELETE_*"}}, "fs", "delete_file", Access{false, `deny "DELETE_*"`}},
		{"deny wins", Config{Allow: []string{"fs/delete_file"}, Deny: []string{"*/delete_*"}}, "fs", "delete_file", Access{false, `deny "*/delete_*"`}},
		{"a star stops at a slash", Config{Allow: []string{"apify/*"}}, "apify", "actor/run", Access{false, "not in tools.allow"}},
		{"two stars do not", Config{Allow: []string{"apify/**"}}, "apify", "actor/run", Access{true, `allow "apify/**"`}},
		{"a denied star stops nowhere", Config{Deny: []string{"apify/*"}}, "apify", "actor/run", Access{false, `deny "apify/*"`}},
		{"the first slash splits", Config{Allow: []string{"apify/actor/run"}}, "apify", "actor/run", Access{true, `allow "apify/actor/run"`}},
		{"braces", Config{Allow: []string{"fs/{get,put}_x"}}, "fs", "put_x", Access{true, `allow "fs/{get,put}_x"`}},
		{"cut names are matched before cutting", Config{Deny: []string{"a_*_details"}}, "a", strings.Repeat("long_", 20) + "details", Access{false, `deny "a_*_details"`}},
		{"server allow", Config{Servers: lists{"fs": {Allow: []string{"read_*"}}}}, "fs", "read_file", Access{true, `servers.fs.tools.allow "read_*"`}},
		{"server allow refuses", Config{Servers: lists{"fs": {Allow: []string{"read_*"}}}}, "fs", "write_file", Access{false, "not in servers.fs.tools.allow"}},
		{"server lists are for that server", Config{Servers: lists{"fs": {Allow: []string{}}}}, "gh", "x", Access{true, `allow "*"`}},
		{"both must allow", Config{Allow: []string{"gh/*"}, Servers: lists{"fs": {Allow: []string{"*"}}}}, "fs", "x", Access{false, "not in tools.allow"}},
		{"server deny", Config{Servers: lists{"github": {Deny: []string{"x"}}}}, "github", "X", Access{false, `servers.github.tools.deny "x"`}},
		{"server list with the pair", Config{Servers: lists{"fs": {Deny: []string{"fs/x", "fs_y"}}}}, "fs", "y", Access{false, `servers.fs.tools.deny "fs_y"`}},
		{"server list with a slash in the name", Config{Servers: lists{"apify": {Allow: []string{"actor/run"}}}}, "apify", "actor/run", Access{true, `servers.apify.tools.allow "actor/run"`}},
		{"lookalike letters", Config{Allow: []string{"fs/*"}}, "fs", "reаd", Access{false, "not in tools.allow"}},
		{"invisible letters", Config{}, "fs", "re\u200bad", Access{false, "tool name has an invisible character"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, ref := newPolicy(t, tt.c), heddle.ToolRef{Server: tt.server, Name: tt.tool}
			if diff := cmp.Diff(tt.want, p.Access(ref)); diff != "" {
				t.Errorf("Access(%s) (-want +got):\n%s", ref, diff)
			}
			if again := p.Access(ref); again != tt.want {
				t.Errorf("Access(%s) from the cache: got %v, want %v", ref, again, tt.want)
			}
		})
	}
}

func TestGlob(t *testing.T) {
	tests := []struct {
		pattern, yes, no string
	}{
		{"*", "a/b c", ""},
		{"a*b*c", "a/x/b-c", "a/x/b-"},
		{"a?c", "aäc", "ac"},
		{"[a-c]x", "bx", "dx"},
		{"[^a-c]x", "dx", "bx"},
		{"[!a-c]x", "dx", "bx"},
		{`[\]\-a]`, "-", "b"},
		{`\*\[`, "*[", "x["},
		{"{a,b{}c", "", ""},
		{"a{,b}{c,d}", "abd", "ab"},
		{`{\,,x}`, ",", "y"},
		{strings.Repeat("*a", 20), strings.Repeat("ba", 20), strings.Repeat("b", 5000)},
	}
	for _, tt := range tests {
		g, err := parseGlob(tt.pattern)
		if tt.yes == "" {
			if err == nil {
				t.Errorf("parseGlob(%q): got no error", tt.pattern)
			}
			continue
		}
		if err != nil {
			t.Errorf("parseGlob(%q): %v", tt.pattern, err)
			continue
		}
		m := matching{slash: true}
		if !g.match(tt.yes, m) || tt.no != "" && g.match(tt.no, m) {
			t.Errorf("%q: got %v for %q, %v for %q", tt.pattern, g.match(tt.yes, m), tt.yes, g.match(tt.no, m), tt.no)
		}
	}
	deep, _ := parseGlob("fs*/**")
	if deep.match("a", matching{}) || !deep.match("fs/a/b", matching{}) {
		t.Error("** does not cross a slash")
	}
}

func TestMalformedPatternsAreNamed(t *testing.T) {
	tests := []struct {
		c    Config
		want string
	}{
		{Config{Allow: []string{"ok", "fs/[x"}}, `tools.allow: malformed pattern "fs/[x"`},
		{Config{Deny: []string{""}}, `tools.deny: malformed pattern ""`},
		{Config{Deny: []string{`a\`}}, `tools.deny: malformed pattern "a\\"`},
		{Config{Deny: []string{"[z-a]"}}, `tools.deny: malformed pattern "[z-a]"`},
		{Config{Deny: []string{"{a,b"}}, `tools.deny: malformed pattern "{a,b"`},
		{Config{Servers: map[string]ServerRules{"fs": {Deny: []string{"[]"}}}}, `servers.fs.tools.deny: malformed pattern "[]"`},
		{Config{Params: map[string]map[string]ParamRule{"x[": {}}}, `tools.params: malformed pattern "x["`},
		{Config{Params: map[string]map[string]ParamRule{"x": {"q": {Pattern: "("}}}}, `tools.params.x.q: malformed pattern "("`},
	}
	for _, tt := range tests {
		if _, err := New(tt.c); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("New(%+v): got %v, want %s", tt.c, err, tt.want)
		}
	}
}

func TestReach(t *testing.T) {
	p := newPolicy(t, Config{
		Allow:  []string{"upstream_*", "*", "upstream/*", "a_x", "[ab]_y"},
		Deny:   []string{"UPSTREAM_B_del*", "*_delete"},
		Params: map[string]map[string]ParamRule{"a_b_*": {"q": {Required: true}}},
	})
	var got []string
	for _, w := range p.Reach([]string{"upstream_b", "a", "upstream", "a_b", "b"}) {
		got = append(got, w.String())
	}
	want := []string{
		"tools.allow: upstream_* reaches 2 servers: upstream, upstream_b",
		"tools.allow: [ab]_y reaches 2 servers: a, b",
		"tools.deny: UPSTREAM_B_del* reaches 2 servers: upstream, upstream_b",
		"tools.params: a_b_* reaches 2 servers: a, a_b",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Reach (-want +got):\n%s", diff)
	}
}

const searchSchema = `{"type":"object","properties":{"q":{"type":"string"},"ids":{"type":"array"},"page":{"type":"integer"}},"required":["q"]}`

func TestBefore(t *testing.T) {
	type decisions = []heddle.Decision
	tests := []struct {
		name, schema, args string
		up, public         string
		want               decisions
	}{
		{"fits", searchSchema, `{"q":"x","page":1.0}`, `{"q":"x","page":1.0}`, "", nil},
		{"absent", "", "", "{}", "", nil},
		{"text is parsed", searchSchema, `{"q":"x", "ids":"[1]"}`, `{"q":"x", "ids":[1]}`, "", decisions{{Check: "schema", Action: "changed", Rule: "parsed /ids"}}},
		{"does not fit", searchSchema, `{"page":"secret"}`, "", "Arguments of github_search do not fit its schema: /q: required property is missing (string); /page: must be integer: send a number, not text.",
			decisions{{Check: "schema", Action: "refused", Rule: "required /q, type /page"}}},
		{"no object", searchSchema, `[]`, "", "Arguments of github_search do not fit its schema: the arguments must be a JSON object, such as {}.",
			decisions{{Check: "schema", Action: "refused", Rule: "type"}}},
		{"schema does not compile", `{"type":"any"}`, `{"a":1}`, `{"a":1}`, "", decisions{{Check: "schema", Action: "noted", Rule: "schema does not compile: passed unvalidated"}}},
		{"no object where the schema does not compile", `{"type":"any"}`, `5`, "", "Arguments of github_search do not fit its schema: the arguments must be a JSON object, such as {}.",
			decisions{{Check: "schema", Action: "refused", Rule: "type"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v := newPolicy(t, Config{}).Before(t.Context(), callOf(tt.args), toolOf("github", "search", tt.schema))
			if diff := cmp.Diff(tt.want, v.Decisions); diff != "" {
				t.Errorf("decisions (-want +got):\n%s", diff)
			}
			checkVerdict(t, v, tt.up, tt.public)
		})
	}
}

func checkVerdict(t *testing.T, v Verdict, up, public string) {
	t.Helper()
	if public == "" {
		if v.Action != Allow || v.Err != nil || string(v.Arguments) != up {
			t.Errorf("got %v %s, %v, want allow %s", v.Action, v.Arguments, v.Err, up)
		}
		return
	}
	if v.Action != Refuse || v.Err == nil {
		t.Fatalf("got %v, %v, want a refusal", v.Action, v.Err)
	}
	if v.Err.Public != public {
		t.Errorf("public text\n got %s\nwant %s", v.Err.Public, public)
	}
	if v.Err.Kind != heddle.KindInvalidArguments || v.Err.Tool != "github_search" || v.Err.Invoked || len(v.Err.Violations) == 0 {
		t.Errorf("got %#v", v.Err)
	}
}

func TestRefusedTextIsShort(t *testing.T) {
	long := strings.Repeat("ä", 300)
	var props []string
	for i := range 20 {
		props = append(props, fmt.Sprintf("%q", long+fmt.Sprint(i)))
	}
	v := newPolicy(t, Config{}).Before(t.Context(), callOf(`{}`), toolOf("s", "t", `{"required":[`+strings.Join(props, ",")+`]}`))
	if v.Err == nil || len(v.Err.Public) > 600 || len(v.Err.Violations) != 8 {
		t.Errorf("got %v", v.Err)
	}
}

// What is not allowed does not exist, also where it was resolved by mistake.
func TestUnauthorizedToolDoesNotExist(t *testing.T) {
	v := newPolicy(t, Config{Deny: []string{"github/*"}}).Before(t.Context(), callOf(`{"q":1}`), toolOf("github", "search", searchSchema))
	if v.Action != Refuse || v.Err.Kind != heddle.KindUnknownTool {
		t.Fatalf("got %v, %v, want a refusal as unknown", v.Action, v.Err)
	}
	want := []heddle.Decision{{Check: "authorization", Action: "refused", Rule: `deny "github/*"`}}
	if diff := cmp.Diff(want, v.Decisions); diff != "" {
		t.Errorf("decisions (-want +got):\n%s", diff)
	}
}

func TestParameterRules(t *testing.T) {
	three := 3
	p := newPolicy(t, Config{Params: map[string]map[string]ParamRule{
		"GitHub_search": {"q": {MaxLength: &three, Pattern: `^[a-zäöü\d]+$`, Required: true}},
		"other/*":       {"q": {MaxLength: new(int)}},
		"github/*":      {"/filter/org": {Pattern: "^acme$"}},
	}})
	const must = "must match the pattern "
	tests := []struct{ args, want string }{
		{`{"q":"äöü"}`, ""},
		{`{"q":123}`, ""},
		{`{"q":"a","filter":{"org":"acme"}}`, ""},
		{`{"q":"a","filter":{"org":null}}`, ""},
		{`{}`, "/q: required parameter is missing"},
		{`{"q":null}`, "/q: required parameter is missing"},
		{`{"Q":"a"}`, "/q: required parameter is missing"},
		{`{"q":"äöüa"}`, "/q: must have at most 3 characters"},
		{`{"q":"A"}`, "/q: " + must + `^[a-zäöü\d]+$`},
		{`{"q":["a"]}`, "/q: must have at most 3 characters"},
		{`{"q":[]}`, "/q: must be text or a number"},
		{`{"q":"EVIL","q":"a"}`, "/q: must be given once, in the spelling of the schema"},
		{`{"q":"a","Q":"EVIL"}`, "/q: must be given once, in the spelling of the schema"},
		{`{"q":"a","filter":{"org":"evil"}}`, "/filter/org: " + must + "^acme$"},
		{`{"q":"a","filter":{"org":"evil"},"filter":{"org":"acme"}}`, "/filter/org: must be given once, in the spelling of the schema"},
	}
	for _, tt := range tests {
		v := p.Before(t.Context(), callOf(tt.args), toolOf("github", "search", ""))
		want := ""
		if tt.want != "" {
			want = "Arguments of github_search do not fit a rule of this gateway: " + tt.want + "."
		}
		checkVerdict(t, v, tt.args, want)
		if tt.want != "" && (v.Err.Violations[0].Keyword != "params" || v.Decisions[0].Check != "params") {
			t.Errorf("%s: got %+v, %+v, want params", tt.args, v.Err.Violations, v.Decisions)
		}
	}
}

func TestAfterPassesResultsUntouched(t *testing.T) {
	res := heddle.Result{Raw: json.RawMessage(`{"content":[]}`)}
	got := newPolicy(t, Config{}).After(t.Context(), callOf(""), toolOf("s", "t", ""), res)
	if got.Withheld != nil || got.Warning != "" || len(got.Decisions) > 0 || &got.Result.Raw[0] != &res.Raw[0] {
		t.Errorf("got %+v, want the same bytes", got)
	}
}

func TestAllowedAccessDoesNotAllocate(t *testing.T) {
	p := newPolicy(t, Config{Allow: []string{"github_*"}})
	ref := heddle.ToolRef{Server: "github", Name: "search"}
	p.Access(ref)
	if n := testing.AllocsPerRun(100, func() { p.Access(ref) }); n > 0 {
		t.Errorf("Access allocates %v times, want 0", n)
	}
}

func BenchmarkBefore(b *testing.B) {
	p := newPolicy(b, Config{Allow: []string{"github_*"}, Deny: []string{"delete_*"}})
	call, tool := callOf(`{"q":"x","ids":[1,2],"page":3}`), toolOf("github", "search", searchSchema)
	b.ReportAllocs()
	for b.Loop() {
		if v := p.Before(b.Context(), call, tool); v.Action != Allow {
			b.Fatal(v.Err)
		}
	}
}

// Nothing of the arguments can be hidden from who is asked by something long before it.
func TestQuestionShowsEveryArgument(t *testing.T) {
	p := newPolicy(t, Config{Confirm: []string{"fs_*"}})
	v := p.Before(t.Context(), callOf(`{"note":"`+strings.Repeat("harmless ", 3000)+`","path":"/etc/passwd"}`), toolOf("fs", "remove", ""))
	if v.Action != Ask || !strings.Contains(v.Question, `path: "/etc/passwd"`) || !strings.Contains(v.Question, "27002 bytes in all") || len(v.Question) > 1000 {
		t.Errorf("%v: the question is %q", v.Action, v.Question)
	}
}
