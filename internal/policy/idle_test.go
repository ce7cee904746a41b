package policy

import (
	"testing"

	"heddle"

	"github.com/google/go-cmp/cmp"
)

// TestIdle has the ways in which an allow list silently lets less pass than was
// meant: a space, another case, another separator.
func TestIdle(t *testing.T) {
	p, err := New(Config{
		Allow: []string{"atl_search", " atl_get", "Atl_Get", "atl_*", "atl:search", "atl/get", "gone_*"},
		Deny:  []string{"SEARCH", "atl/delete_*"},
		Servers: map[string]ServerRules{
			"atl": {Allow: []string{"get", "got"}}, "off": {Deny: []string{"x"}},
		},
		Params: map[string]map[string]ParamRule{"atl_get": {"a": {Required: true}}, "atl_gt": {"a": {Required: true}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []Idle{
		{"tools.allow", " atl_get"}, {"tools.allow", "Atl_Get"}, {"tools.allow", "atl:search"}, {"tools.allow", "gone_*"},
		{"tools.deny", "atl/delete_*"}, {"servers.atl.tools.allow", "got"}, {"tools.params", "atl_gt"},
	}
	got := p.Idle([]heddle.ToolRef{{Server: "atl", Name: "search"}, {Server: "atl", Name: "get"}})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("idle patterns (-want +got):\n%s", diff)
	}
}
