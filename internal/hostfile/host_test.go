package hostfile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPaths is where every host has its files on every system. macOS and Windows
// are from the hosts' documentation.
func TestPaths(t *testing.T) {
	linux := Env{OS: "linux", Home: "/home/u", Cwd: "/src/p"}
	mac := Env{OS: "darwin", Home: "/Users/u", Cwd: "/src/p"}
	windows := Env{OS: "windows", Home: `C:\Users\u`, AppData: `C:\Users\u\AppData\Roaming`, Cwd: `D:\src\p`}
	tests := []struct {
		host  string
		scope Scope
		want  [3]string // Linux, macOS, Windows
	}{
		{"claude-code", User, [3]string{"/home/u/.claude.json", "/Users/u/.claude.json", `C:\Users\u\.claude.json`}},
		{"claude-code", Project, [3]string{"/src/p/.mcp.json", "/src/p/.mcp.json", `D:\src\p\.mcp.json`}},
		{"claude-desktop", User, [3]string{
			"/home/u/.config/Claude/claude_desktop_config.json", "/Users/u/Library/Application Support/Claude/claude_desktop_config.json",
			`C:\Users\u\AppData\Roaming\Claude\claude_desktop_config.json`,
		}},
		{"codex", User, [3]string{"/home/u/.codex/config.toml", "/Users/u/.codex/config.toml", `C:\Users\u\.codex\config.toml`}},
		{"codex", Project, [3]string{"/src/p/.codex/config.toml", "/src/p/.codex/config.toml", `D:\src\p\.codex\config.toml`}},
		{"cursor", User, [3]string{"/home/u/.cursor/mcp.json", "/Users/u/.cursor/mcp.json", `C:\Users\u\.cursor\mcp.json`}},
		{"cursor", Project, [3]string{"/src/p/.cursor/mcp.json", "/src/p/.cursor/mcp.json", `D:\src\p\.cursor\mcp.json`}},
		{"vscode", User, [3]string{
			"/home/u/.config/Code/User/mcp.json", "/Users/u/Library/Application Support/Code/User/mcp.json", `C:\Users\u\AppData\Roaming\Code\User\mcp.json`,
		}},
		{"vscode", Project, [3]string{"/src/p/.vscode/mcp.json", "/src/p/.vscode/mcp.json", `D:\src\p\.vscode\mcp.json`}},
		{"windsurf", User, [3]string{
			"/home/u/.codeium/windsurf/mcp_config.json", "/Users/u/.codeium/windsurf/mcp_config.json", `C:\Users\u\.codeium\windsurf\mcp_config.json`,
		}},
		{"zed", User, [3]string{"/home/u/.config/zed/settings.json", "/Users/u/.config/zed/settings.json", `C:\Users\u\AppData\Roaming\Zed\settings.json`}},
		{"zed", Project, [3]string{"/src/p/.zed/settings.json", "/src/p/.zed/settings.json", `D:\src\p\.zed\settings.json`}},
		{"cline", User, [3]string{
			"/home/u/.cline/data/settings/cline_mcp_settings.json", "/Users/u/.cline/data/settings/cline_mcp_settings.json",
			`C:\Users\u\.cline\data\settings\cline_mcp_settings.json`,
		}},
		{"opencode", User, [3]string{
			"/home/u/.config/opencode/opencode.json", "/Users/u/.config/opencode/opencode.json", `C:\Users\u\.config\opencode\opencode.json`,
		}},
		{"opencode", Project, [3]string{"/src/p/opencode.json", "/src/p/opencode.json", `D:\src\p\opencode.json`}},
		{"gemini", User, [3]string{"/home/u/.gemini/settings.json", "/Users/u/.gemini/settings.json", `C:\Users\u\.gemini\settings.json`}},
		{"gemini", Project, [3]string{"/src/p/.gemini/settings.json", "/src/p/.gemini/settings.json", `D:\src\p\.gemini\settings.json`}},
		{"antigravity", User, [3]string{
			"/home/u/.gemini/config/mcp_config.json", "/Users/u/.gemini/config/mcp_config.json", `C:\Users\u\.gemini\config\mcp_config.json`,
		}},
		{"qwen", User, [3]string{"/home/u/.qwen/settings.json", "/Users/u/.qwen/settings.json", `C:\Users\u\.qwen\settings.json`}},
		{"qwen", Project, [3]string{"/src/p/.qwen/settings.json", "/src/p/.qwen/settings.json", `D:\src\p\.qwen\settings.json`}},
		{"copilot", User, [3]string{"/home/u/.copilot/mcp-config.json", "/Users/u/.copilot/mcp-config.json", `C:\Users\u\.copilot\mcp-config.json`}},
	}
	seen := map[string]int{}
	for _, tt := range tests {
		for i, env := range []Env{linux, mac, windows} {
			e := Editor{Env: env}
			f, err := e.File(tt.host, tt.scope)
			if err != nil || f.Path != tt.want[i] {
				t.Errorf("%s %s on %s: %q (%v), want %q", tt.host, tt.scope, env.OS, f.Path, err, tt.want[i])
			}
		}
		seen[tt.host]++
	}
	for _, h := range Hosts() {
		if seen[h.Name] != len(h.Scopes()) {
			t.Errorf("%s has scopes %v, the test %d", h.Name, h.Scopes(), seen[h.Name])
		}
	}
}

func TestPathsThatVariablesMove(t *testing.T) {
	vars := map[string]string{"CODEX_HOME": "/c", "CLAUDE_CONFIG_DIR": "/cl", "XDG_CONFIG_HOME": "/x"}
	env := Env{OS: "linux", Home: "/home/u", Cwd: "/p", Getenv: func(name string) string { return vars[name] }}
	e := Editor{Env: env}
	for host, want := range map[string]string{
		"codex": "/c/config.toml", "claude-code": "/cl/.claude.json", "zed": "/x/zed/settings.json",
		"vscode": "/x/Code/User/mcp.json", "opencode": "/x/opencode/opencode.json",
	} {
		if f, err := e.File(host, User); err != nil || f.Path != want {
			t.Errorf("%s: %q (%v), want %q", host, f.Path, err, want)
		}
	}
	vars = map[string]string{"CODEX_HOME": "relative"}
	if f, _ := e.File("codex", User); f.Path != "/home/u/.codex/config.toml" {
		t.Errorf("with a relative CODEX_HOME: %q", f.Path)
	}
}

func TestFind(t *testing.T) {
	b := newBench(t)
	b.put("cursor", User, "{}")
	b.put("claude-code", Project, "not json")
	b.write(filepath.Join(b.Env.Cwd, "opencode.jsonc"), "{}")
	if err := os.Symlink("nowhere", filepath.Join(b.Env.Home, ".claude.json")); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range Find(b.Env) {
		got = append(got, f.Host.Name+" "+string(f.Scope)+" "+filepath.Base(f.Path))
	}
	want := []string{"claude-code user .claude.json", "claude-code project .mcp.json", "cursor user mcp.json", "opencode project opencode.jsonc"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("found (-want +got)\n%s", diff)
	}
	if f, err := b.File("opencode", Project); err != nil || filepath.Base(f.Path) != "opencode.jsonc" {
		t.Errorf("OpenCode's file is %v (%v), want the one that is there", f, err)
	}
}

func TestModes(t *testing.T) {
	tests := []struct {
		host, mode, want, err string
	}{
		{"codex", "", "native", ""},
		{"codex", "compact", "compact", ""},
		{"claude-code", "", "compact", ""},
		{"claude-code", "extreme", "extreme", ""},
		{"claude-code", "native", "", "mode native is not for Claude Code: it drops, without a word, every tool whose schema has an anyOf"},
		{"cursor", "", "compact", ""},
		{"cursor", "native", "native", ""},
		{"Gemini CLI", "mesh", "mesh", ""},
		{"gemini", "tiny", "", `there is no mode "tiny"`},
	}
	for _, tt := range tests {
		h, err := Lookup(tt.host)
		if err != nil {
			t.Fatal(err)
		}
		got, err := h.CheckMode(Mode(tt.mode))
		if string(got) != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s %q: %q, %v; want %q, %q", tt.host, tt.mode, got, err, tt.want, tt.err)
		}
	}
	if _, err := Lookup("emacs"); err == nil || !strings.Contains(err.(*Error).Hint, "claude-code, claude-desktop, codex") {
		t.Errorf("unknown host: %v", err)
	}
}

func TestScopes(t *testing.T) {
	for host, want := range map[string][]Scope{"claude-code": {Project, User}, "cursor": {Project, User}, "windsurf": {User}, "copilot": {User}} {
		h, err := Lookup(host)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, h.Scopes()); diff != "" {
			t.Errorf("%s (-want +got)\n%s", host, diff)
		}
	}
	e := Editor{Env: Env{OS: "linux", Home: "/h", Cwd: "/p"}}
	if f, err := e.File("codex", ""); err != nil || f.Scope != Project {
		t.Errorf("default scope: %v, %v", f, err)
	}
	for _, scope := range []Scope{Project, "system"} {
		if _, err := e.File("windsurf", scope); err == nil {
			t.Errorf("Windsurf took scope %s", scope)
		}
	}
}

func TestEntryIsChecked(t *testing.T) {
	b := newBench(t)
	for _, entry := range []Entry{
		{Binary: "heddle", Config: "/c"},
		{Binary: "/b", Config: "heddle.yml"},
		{Binary: "/b", Config: "/c", Mode: "native"},
	} {
		var e *Error
		if _, err := b.Plan(Request{Host: "claude-code", Entry: entry}); !errors.As(err, &e) || e.Hint == "" {
			t.Errorf("%+v: %v, want an error with a hint", entry, err)
		}
	}
}

// TestApproval is what hosts want before they start a project's server.
func TestApproval(t *testing.T) {
	b := newBench(t)
	local := filepath.Join(b.Env.Cwd, ".claude", "settings.local.json")
	c := b.install("claude-code", Project)
	if want := "{\n  \"enabledMcpjsonServers\": [\"heddle\"]\n}\n"; b.read(local) != want {
		t.Errorf("approval %q, want %q", b.read(local), want)
	}
	if !strings.Contains(strings.Join(c.Notes, "\n"), "only in a directory that you trust") {
		t.Errorf("notes %q say nothing of trust", c.Notes)
	}
	b.rollback("claude-code", Project)
	if left := b.files(b.Env.Cwd); len(left) != 0 {
		t.Errorf("after rollback there is %v", left)
	}

	b.write(local, "{\n  \"enabledMcpjsonServers\": [\n    \"notes\", // mine\n  ],\n}\n")
	b.put("claude-code", User, `{"projects": {`+quote(b.Env.Cwd)+`: {"hasTrustDialogAccepted": true}}}`)
	c = b.install("claude-code", Project)
	if want := "{\n  \"enabledMcpjsonServers\": [\n    \"notes\", // mine\n    \"heddle\",\n  ],\n}\n"; b.read(local) != want {
		t.Errorf("approval %q, want %q", b.read(local), want)
	}
	if strings.Contains(strings.Join(c.Notes, "\n"), "trust") {
		t.Errorf("notes %q speak of trust, which is there", c.Notes)
	}

	b = newBench(t)
	b.write(filepath.Join(b.Env.Cwd, ".claude", "settings.json"), `{"enableAllProjectMcpServers": true}`)
	if c := b.install("claude-code", Project); len(c.Files) != 1 {
		t.Errorf("%d files changed, want the host's own", len(c.Files))
	}
}

func TestTrust(t *testing.T) {
	b := newBench(t)
	notes := func(host string) string {
		t.Helper()
		c, err := b.Plan(b.request(host, Project))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(c.Notes, "\n")
	}
	if got := notes("codex"); !strings.Contains(got, "trust_level = \"trusted\"") {
		t.Errorf("Codex: %q", got)
	}
	b.put("codex", User, "[projects."+quote(b.Env.Cwd)+"]\ntrust_level = \"trusted\"\n")
	if got := notes("codex"); strings.Contains(got, "trust") {
		t.Errorf("Codex, trusted: %q", got)
	}
	if got := notes("gemini"); !strings.Contains(got, "TRUST_FOLDER") {
		t.Errorf("Gemini: %q", got)
	}
	b.write(filepath.Join(b.Env.Home, ".gemini", "trustedFolders.json"), `{`+quote(filepath.Dir(b.Env.Cwd))+`: "TRUST_FOLDER"}`)
	if got := notes("gemini"); strings.Contains(got, "TRUST_FOLDER") {
		t.Errorf("Gemini, trusted: %q", got)
	}
}

// TestRemaining names what the host still pays for twice.
func TestRemaining(t *testing.T) {
	b := newBench(t)
	b.put("claude-code", Project, "{\"mcpServers\": {"+weather+"}}")
	b.put("claude-code", User, "{\"mcpServers\": {"+weather+"}, \"projects\": {"+quote(b.Env.Cwd)+": {\"mcpServers\": {"+weather+"}}, \"/other\": {\"mcpServers\": {"+weather+"}}}}")
	c, err := b.Plan(b.request("claude-code", Project))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range c.Remaining {
		got = append(got, s.Project+":"+s.Name)
	}
	if diff := cmp.Diff([]string{":weather", b.Env.Cwd + ":weather"}, got); diff != "" {
		t.Errorf("remaining (-want +got)\n%s", diff)
	}
	if len(c.Removed) != 1 {
		t.Errorf("removed %v", c.Removed)
	}
}
