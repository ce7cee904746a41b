package catalog

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"heddle"
)

func TestLongNames(t *testing.T) {
	const tool = "billing_cost_management_get_savings_plans_utilization_details"
	const server = "vendor-billing-cost-management-m" // 32 characters, the longest
	s := Build([]Source{named(server, tool, tool+"2"), named("x", tool, strings.Repeat("long", 75))}, Options{})
	diff(t, "exposed", exposed(s), []string{
		// printf %s SERVER_TOOL | sha256sum | cut -c1-8
		"vendor-billing-cost-management-m_billing_c_f54c321f",
		"vendor-billing-cost-management-m_billing_c_0a9f20a1",
		"x_billing_cost_management_get_savings_plan_d8af1265",
		"x_longlonglonglonglonglonglonglonglonglong_859df645",
	})
	diff(t, "native", native(s), []string{exposed(s)[0], tool + "2", exposed(s)[2], exposed(s)[3]})
	tight := Build([]Source{named(server, tool)}, Options{NameBudget: 20})
	diff(t, "budget 20", exposed(tight), []string{"vendor-bill_f54c321f"})
	if n := len(exposed(Build([]Source{named(server, tool)}, Options{NameBudget: 1}))[0]); n != minNameBudget {
		t.Errorf("budget 1: %d characters, want %d", n, minNameBudget)
	}
	wide := Build([]Source{named(server, tool)}, Options{NameBudget: 100})
	diff(t, "budget 100", exposed(wide), []string{server + "_" + tool})
}

func TestCollisions(t *testing.T) {
	s := Build([]Source{
		named("files", "read-file", "read_file", "read.file", "read/file", "read_file_2", "read file"),
		named("foo-bar", "search"), named("foo_bar", "search"), named("foo", "bar_search"),
	}, Options{})
	diff(t, "exposed", exposed(s), []string{
		"files_read-file", "files_read_file", "files_read_file_3", "files_read_file_4", "files_read_file_2", "files_read_file_5",
		"foo-bar_search", "foo_bar_search", "foo_bar_search_2",
	})
	diff(t, "native", native(s), []string{
		"read-file", "read_file", "read.file", "read/file", "read_file_2", "files_read_file_5",
		"foo-bar_search", "foo_bar_search", "bar_search",
	})
	diff(t, "warnings", kinds(s), []string{
		"read.file: name_collision", "read/file: name_collision", "read file: name_collision", "bar_search: name_collision",
	})
	diff(t, "message", s.Warnings()[0].Message, "its exposed name is that of files::read_file; exposed as files_read_file_3")
	if tool, ok := s.Lookup("foo_bar_search", false); !ok || tool.Ref.Server != "foo_bar" {
		t.Errorf("foo_bar_search leads to %v", tool)
	}
}

// Two servers and tools can have one full name, and so one hash.
func TestCollisionOfCutNames(t *testing.T) {
	long := strings.Repeat("x", 60)
	s := Build([]Source{named("a", "b_"+long), named("a_b", long)}, Options{})
	got := exposed(s)
	hash := got[0][len(got[0])-9:]
	diff(t, "exposed", got, []string{"a_b_" + long[:38] + hash, "a_b_" + long[:36] + hash + "_2"})
}

func TestOddNames(t *testing.T) {
	long := strings.Repeat("n", 300)
	s := Build([]Source{named("s", "", " ", "weather/get", "v1.user.get", "查询", "rm -rf", "a\x00b", "dup", "dup", "tools/list",
		"call_tool", "read_result", long, "🎉", "\u2003\n", strings.Repeat("m", 5000), "last")},
		Options{Own: []string{"read_result"}})
	cut := exposed(s)[8]
	diff(t, "exposed", exposed(s), []string{"s_weather_get", "s_v1_user_get", "s___", "s_rm_-rf", "s_dup", "s_tools_list",
		"s_call_tool", "s_read_result", cut, "s__", "s_last"})
	diff(t, "native", native(s), []string{"weather/get", "v1.user.get", "s___", "s_rm_-rf", "dup", "tools/list",
		"call_tool", "s_read_result", cut, "s__", "last"})
	diff(t, "warnings", kinds(s), []string{
		": no_name", " : no_name", "a\uFFFDb: control_characters", "dup: duplicate_name",
		shown(long) + ": name_too_long", "\u2003\uFFFD: no_name", shown(strings.Repeat("m", 5000)) + ": name_too_long",
		shown(long) + ": name_cut", "read_result: reserved_name",
	})
}

func TestNativeNames(t *testing.T) {
	own := Options{Own: []string{"read_result"}}
	cases := []struct {
		name    string
		sources []Source
		native  []string
	}{
		{"unique", []Source{named("a", "x"), named("b", "y")}, []string{"x", "y"}},
		{"shared by all", []Source{named("a", "x", "y"), named("b", "x"), named("c", "x")}, []string{"a_x", "y", "b_x", "c_x"}},
		{"heddle's own", []Source{named("a", "read_result")}, []string{"a_read_result"}},
		{"exposed name is heddle's own", []Source{named("read", "result"), named("b", "result")}, []string{"read_result_2", "b_result"}},
		{"another's exposed name", []Source{named("a", "x"), named("b", "x"), named("c", "a_x")}, []string{"a_x", "b_x", "c_a_x"}},
		{"and so on", []Source{named("e", "d_c_a_x"), named("d", "c_a_x"), named("c", "a_x"), named("b", "x"), named("a", "x")},
			[]string{"e_d_c_a_x", "d_c_a_x", "c_a_x", "b_x", "a_x"}},
		{"another's exposed name, unused", []Source{named("a", "x"), named("c", "a_x")}, []string{"x", "a_x"}},
	}
	for _, c := range cases {
		diff(t, c.name, native(Build(c.sources, own)), c.native)
	}
}

// genSources draws servers whose names and tools collide in every way.
func genSources(t *rapid.T) []Source {
	servers := rapid.SliceOfNDistinct(rapid.StringMatching(`[ab][ab_-]{0,3}`), 1, 5, rapid.ID[string]).Draw(t, "servers")
	name := rapid.OneOf(
		rapid.StringMatching(`[ab._/ -]{1,5}(_2|_3)?`),
		rapid.StringMatching(`(a|b)_[ab_]{0,60}`),
		rapid.String(),
		rapid.SampledFrom([]string{"read_result", "a_b", "a_b_2", "b_a_b", "result", "查询"}),
	)
	var sources []Source
	for _, server := range servers {
		sources = append(sources, named(server, rapid.SliceOfN(name, 0, 12).Draw(t, server)...))
	}
	return sources
}

func TestNamesAreUnique(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		budget := rapid.IntRange(16, 60).Draw(t, "budget")
		o := Options{NameBudget: budget, Own: []string{"read_result", "a_b"}}
		checkNames(t, Build(genSources(t), o), o)
	})
}

// checkNames checks what holds of names whatever the servers list.
func checkNames(t interface{ Errorf(string, ...any) }, s *Snapshot, o Options) {
	valid := regexp.MustCompile(`^[a-zA-Z0-9_-]{1,` + strconv.Itoa(o.NameBudget) + `}$`)
	exposedBy, nativeBy := map[string]*heddle.Tool{}, map[string]*heddle.Tool{}
	for _, name := range o.Own {
		exposedBy[name], nativeBy[name] = &heddle.Tool{}, &heddle.Tool{}
	}
	for _, tool := range s.Tools() {
		if !valid.MatchString(tool.Exposed) {
			t.Errorf("%q is exposed as %q", tool.Ref, tool.Exposed)
		}
		if !validNative(tool.Native) {
			t.Errorf("%q is native as %q", tool.Ref, tool.Native)
		}
		if tool.Native != tool.Ref.Name && tool.Native != tool.Exposed {
			t.Errorf("%q is native as %q, neither its own name nor its exposed one %q", tool.Ref, tool.Native, tool.Exposed)
		}
		if other := exposedBy[tool.Exposed]; other != nil {
			t.Errorf("%q and %q are exposed as %q", tool.Ref, other.Ref, tool.Exposed)
		}
		if other := nativeBy[tool.Native]; other != nil {
			t.Errorf("%q and %q are native as %q", tool.Ref, other.Ref, tool.Native)
		}
		exposedBy[tool.Exposed], nativeBy[tool.Native] = tool, tool
	}
	for _, tool := range s.Tools() {
		if got, _ := s.Lookup(tool.Exposed, false); got != tool {
			t.Errorf("exposed %q does not lead to %q", tool.Exposed, tool.Ref)
		}
		if got, _ := s.Lookup(tool.Native, true); got != tool {
			t.Errorf("native %q does not lead to %q", tool.Native, tool.Ref)
		}
	}
}

// Which other servers are connected changes no exposed name but for suffixes.
func TestNamesDoNotDependOnOthers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sources := genSources(t)
		plain := func(name string, ref heddle.ToolRef) bool {
			n := newExposedName(ref, DefaultNameBudget)
			for i := range 100 {
				suffix := ""
				if i > 0 {
					suffix = "_" + strconv.Itoa(i+1)
				}
				if name == n.with(suffix, DefaultNameBudget) {
					return true
				}
			}
			return false
		}
		all := Build(sources, Options{})
		if again := Build(sources, Options{}); !Unchanged(all, again) {
			t.Fatalf("two builds differ")
		}
		some := append([]Source{}, sources...)
		for i := range some {
			some[i].Known = rapid.Bool().Draw(t, "known")
		}
		collided := map[heddle.ToolRef]bool{}
		fewer := Build(some, Options{})
		for _, s := range []*Snapshot{all, fewer} {
			for _, w := range s.Warnings() {
				if w.Kind == WarnNameCollision {
					collided[heddle.ToolRef{Server: w.Server, Name: w.Tool}] = true
				}
			}
		}
		names := map[heddle.ToolRef]string{}
		for _, tool := range all.Tools() {
			names[tool.Ref] = tool.Exposed
		}
		for _, tool := range fewer.Tools() {
			if !plain(tool.Exposed, tool.Ref) {
				t.Errorf("%q is exposed as %q", tool.Ref, tool.Exposed)
			}
			if names[tool.Ref] != tool.Exposed && !collided[heddle.ToolRef{Server: tool.Ref.Server, Name: shown(tool.Ref.Name)}] {
				t.Errorf("%q is %q with all servers, %q with some", tool.Ref, names[tool.Ref], tool.Exposed)
			}
		}
	})
}

// An update that reuses tools ends where a build from nothing does, but for names
// that were given before.
func TestUpdateEqualsBuild(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := New(Options{})
		for range 4 {
			sources := genSources(t)
			before := c.given.clone()
			c.Update(sources)
			want, got := build(sources, Options{}, nil, before), c.Snapshot()
			if got.Digest() != want.Digest() || len(got.Warnings()) != len(want.Warnings()) {
				t.Fatalf("update: %q, %v\nbuild: %q, %v", exposed(got), got.Warnings(), exposed(want), want.Warnings())
			}
		}
	})
}

// A name never leads to another tool than it once did, whatever comes and goes.
func TestNamesNeverMove(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := New(Options{Own: []string{"read_result"}})
		led := [2]map[string]heddle.ToolRef{{}, {}}
		for range 5 {
			c.Update(genSources(t))
			s := c.Snapshot()
			for _, tool := range s.Tools() {
				for mode, name := range []string{tool.Exposed, tool.Native} {
					got, ok := s.Lookup(name, mode == 1)
					if !ok || got != tool {
						t.Fatalf("%q is listed for %v and leads to %v", name, tool.Ref, got)
					}
					if was, ok := led[mode][name]; ok && was != tool.Ref {
						t.Fatalf("%q led to %v and leads to %v", name, was, tool.Ref)
					}
					led[mode][name] = tool.Ref
				}
			}
			for mode := range led {
				for name, ref := range led[mode] {
					if got, ok := s.Lookup(name, mode == 1); ok && got.Ref != ref {
						t.Fatalf("%q led to %v and leads to %v", name, ref, got.Ref)
					}
				}
			}
		}
	})
}

// The two cases that were seen: a server that comes late, and one that goes.
func TestNamesOfServersThatComeAndGo(t *testing.T) {
	search := func(server string, known bool) Source {
		return Source{Server: server, Known: known, Definitions: []json.RawMessage{namedDefinition("search")}}
	}
	c := New(Options{})
	meaning := func(name string, want string) {
		t.Helper()
		got := "nothing"
		if tool, ok := c.Snapshot().Lookup(name, true); ok {
			got = tool.Ref.Server
		}
		if got != want {
			t.Errorf("%s leads to %s, want %s", name, got, want)
		}
	}
	c.Update([]Source{search("a", true), search("b", false)})
	meaning("search", "a")
	c.Update([]Source{search("a", true), search("b", true)})
	meaning("search", "a")
	meaning("b_search", "b")
	c.Update([]Source{search("a", false), search("b", true)})
	meaning("search", "nothing")
	meaning("b_search", "b")
	next := New(Options{})
	next.Inherit(c)
	next.Update([]Source{search("b", true)})
	if tool, ok := next.Snapshot().Lookup("search", true); ok {
		t.Errorf("after a reload search leads to %v", tool.Ref)
	}
}

func FuzzBuild(f *testing.F) {
	for _, seed := range []string{
		`{"name":"x","inputSchema":{"type":"object"}}`, `{"name":"\ud800\u0000","name":"y"}`, `{"name":"a b","inputSchema":{"type":["object"]}}`,
		`{"name":"x","inputSchema":{},"outputSchema":{},"outputSchema":1}`, `{"name":"x","inputSchema":{"properties":{"a":{"anyOf":[true,{"description":"d"}]}}}`,
		`{"name":"`, `{"name":"x\`, `{"a"`, `{"name" "x"}`, `{,}`, `[[[`, `{"name":"\u12"}`, `{"name":"查询","description":"ー查a1"}`,
	} {
		f.Add([]byte(seed), "srv", 51)
	}
	f.Fuzz(func(t *testing.T, definition []byte, server string, budget int) {
		o := Options{NameBudget: 16 + (budget&0xFF+256)%256, Own: []string{"read_result"}}
		src := []Source{
			{Server: server, Known: true, Definitions: []json.RawMessage{definition, definition, namedDefinition("read_result")}},
			{Server: "other", Known: true, Definitions: []json.RawMessage{definition, namedDefinition("fine")}},
		}
		s := Build(src, o)
		checkNames(t, s, o)
		if _, ok := s.Lookup("other_fine", false); !ok {
			t.Errorf("a sibling was lost")
		}
		for _, tool := range s.Tools() {
			if !json.Valid(tool.Listed) || !json.Valid(s.NativeDefinition(tool, false)) || !json.Valid(s.NativeDefinition(tool, true)) {
				t.Errorf("%q: invalid JSON listed", tool.Ref)
			}
			s.Find(tool.Description, "", 3)
		}
		s.Near(string(definition), 3, true)
	})
}
