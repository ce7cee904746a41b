package adopt

import (
	"path/filepath"
	"strings"
	"testing"

	"heddle/internal/config"
	"heddle/internal/hostfile"
)

// TestTaken compares servers of a host with those of a configuration.
func TestTaken(t *testing.T) {
	const yml = `version: 2
tools: {deny: ["same/denied"]}
servers:
  same: {command: npx, args: [a, "${KEY}"], env: {TOKEN: "${TOKEN}", MORE: x}}
  web: {url: "https://h.example/mcp", headers: {Authorization: "Bearer ${TOKEN}"}}
  github: {command: foo-local}
  unset: {command: x, env: {A: "${NOPE}"}}
  off: {command: off, disabled: true}
  path: {command: ./bin/server}
  lists: {command: l, tools: {allow: [a, b], deny: ["x_*"]}}
`
	lookup := func(name string) (string, bool) {
		v, ok := map[string]string{"KEY": "k", "TOKEN": "t"}[name]
		return v, ok
	}
	for _, tt := range []struct {
		name, file, text string
		same             bool
		want             []string // in the reason, or in what differs
	}{
		{"just the same", ".mcp.json", `"same": {"command": "npx", "args": ["a", "k"], "env": {"TOKEN": "t"}}`, true, nil},
		{"with its reference", ".mcp.json", `"same": {"command": "npx", "args": ["a", "${KEY}"]}`, true, nil},
		{"another account", ".mcp.json", `"same": {"command": "npx", "args": ["a", "k"], "env": {"TOKEN": "u"}}`, true, []string{"variables TOKEN"}},
		{"other arguments", ".mcp.json", `"same": {"command": "npx", "args": ["b", "k"]}`, false, []string{"has another server of that name"}},
		{"another name", ".mcp.json", `"renamed": {"command": "npx", "args": ["a", "k"], "env": {"TOKEN": "t", "MORE": "x"}}`, true, nil},
		{"another name, another account", ".mcp.json", `"renamed": {"command": "npx", "args": ["a", "k"], "env": {"TOKEN": "u", "MORE": "x"}}`, false, nil},
		{"a URL", ".mcp.json", `"web": {"type": "http", "url": "https://h.example/mcp", "headers": {"Authorization": "Bearer t"}}`, true, nil},
		{"a URL, another header", ".mcp.json", `"web": {"type": "http", "url": "https://h.example/mcp", "headers": {"Authorization": "Bearer u"}}`, true, []string{"headers Authorization"}},
		{"a name, another kind", ".mcp.json", `"github": {"type": "http", "url": "https://api.example/mcp"}`, false, []string{"has another server of that name"}},
		{"heddle cannot run it", ".mcp.json", `"unset": {"command": "x"}`, false, []string{"heddle cannot run it: NOPE is not set"}},
		{"nobody can", ".mcp.json", `"unset": {"command": "x", "env": {"A": "${NOPE}"}}`, false, []string{"heddle cannot run it: NOPE is not set"}},
		{"turned off", ".mcp.json", `"off": {"command": "off"}`, false, []string{"it is disabled in "}},
		{"its host alone knows", ".vscode/mcp.json", `"same": {"command": "npx", "args": ["a", "${input:k}"]}`, false, []string{"cannot tell whether it is the same", "${input:k}"}},
		{"unknown", ".mcp.json", `"new": {"command": "n"}`, false, nil},
		{"a path of the project", ".mcp.json", `"path": {"command": "./bin/server"}`, true, nil},
		{"excluded tools", ".gemini/settings.json", `"same": {"command": "npx", "args": ["a", "k"], "excludeTools": ["env", "denied"]}`, true,
			[]string{`the host lets nobody call env.`, `under servers, same: tools: {deny: ["env"]}`}},
		{"listed tools", ".gemini/settings.json", `"same": {"command": "npx", "args": ["a", "k"], "includeTools": ["b", "a"]}`, true, []string{`tools: {allow: ["a", "b"]}`}},
		{"listed here too", ".gemini/settings.json", `"lists": {"command": "l", "includeTools": ["a", "b"], "excludeTools": ["x_y", "other"]}`, true, nil},
	} {
		servers := "mcpServers"
		if strings.HasPrefix(tt.file, ".vscode") {
			servers = "servers"
		}
		files := map[string]string{tt.file: `{"` + servers + `": {` + tt.text + `}}`}
		r := request(t, files)
		check(t, tt.name, r, yml, config.Env{Lookup: lookup}, tt.file, tt.same, tt.want)
	}
	r := request(t, map[string]string{
		".mcp.json":             `{"mcpServers": {"path": {"command": "./bin/server"}}}`,
		".claude/settings.json": `{"permissions": {"deny": ["mcp__path__rm"], "ask": ["mcp__path__mv"]}}`,
	})
	check(t, "permissions", r, yml, config.Env{Lookup: lookup}, ".mcp.json", true,
		[]string{`under servers, path: tools: {deny: ["rm"]}`, `tools: {confirm: ["path/mv"]}`})
}

// check compares the first server of a file with a configuration.
func check(t *testing.T, name string, r Request, yml string, env config.Env, file string, same bool, want []string) {
	t.Helper()
	cfg, err := config.Decode([]byte(yml), r.Path, env)
	if err != nil {
		t.Fatal(err)
	}
	f, err := hostfile.FileAt(r.Env, filepath.Join(r.Env.Cwd, file))
	if err != nil {
		t.Fatal(err)
	}
	servers, err := hostfile.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	got := Taken(cfg, env, r.Env)(servers[0])
	said := got.Why + strings.Join(got.Differs, "\n")
	if got.Same != same || (said != "") != (want != nil) {
		t.Errorf("%s: %+v, want %v and %q", name, got, same, want)
	}
	for _, w := range want {
		if !strings.Contains(said, w) {
			t.Errorf("%s: %q, want %q in it", name, said, w)
		}
	}
}
