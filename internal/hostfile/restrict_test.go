package hostfile

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRestrictions reads what hosts' settings say about the tools of one server.
func TestRestrictions(t *testing.T) {
	for _, tt := range []struct {
		host, path, text string
		want             map[string]bool // by tool, whether the host asks
	}{
		{"claude-code", ".claude/settings.json", `{"permissions": {
			"deny": ["mcp__my_server__echo", "Bash(rm *)", "mcp__my_server_2__echo", "mcp__my_server"], "ask": ["mcp__my_server__write_file"], "allow": ["mcp__my_server__read"]}}`,
			map[string]bool{"echo": false, "*": false, "write_file": true}},
		{"gemini", ".gemini/settings.json", `{"tools": {"exclude": ["mcp_my_server_env", "run_shell_command"]}, "excludeTools": ["my_server__old"]}`,
			map[string]bool{"env": false, "old": false}},
		{"opencode", "opencode.json", `{"tools": {"my_server_a": false, "my_server_b": true, "bash": false}, "permission": {"my_server_*": "ask", "edit": "deny"}}`,
			map[string]bool{"a": false, "*": true}},
		{"cursor", ".cursor/mcp.json", `{}`, map[string]bool{}},
	} {
		b := newBench(t)
		b.write(b.Env.join(b.Env.Cwd, tt.path), tt.text)
		f, err := b.File(tt.host, Project)
		if err != nil {
			t.Fatal(err)
		}
		rules, err := Server{Name: "my server", File: f}.Restrictions()
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]bool{}
		for _, r := range rules {
			got[r.Tool] = r.Ask
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", tt.host, diff)
		}
	}
	b := newBench(t)
	b.write(b.Env.join(b.Env.Home, ".claude/settings.json"), "{")
	f, err := b.File("claude-code", Project)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (Server{Name: "x", File: f}).Restrictions(); err == nil {
		t.Error("a file that cannot be read counts as empty")
	}
}
