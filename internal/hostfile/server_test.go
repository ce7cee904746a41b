package hostfile

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"heddle/internal/config"
)

var testEnv = Env{OS: "linux", Home: "/home/u", Cwd: "/src/p"}

// readText reads text as the file of a host.
func readText(t *testing.T, host string, scope Scope, text string) []Server {
	t.Helper()
	e := Editor{Env: testEnv}
	f, err := e.File(host, scope)
	if err != nil {
		t.Fatal(err)
	}
	servers, err := readServers(f, []byte(text))
	if err != nil {
		t.Fatalf("%s: %v", host, err)
	}
	return servers
}

var loose = cmp.Options{cmpopts.IgnoreUnexported(Server{}), cmpopts.IgnoreFields(Server{}, "File", "Line", "Column"), cmpopts.EquateEmpty()}

// TestDialects reads an entry of each form that hosts have.
func TestDialects(t *testing.T) {
	tests := []struct {
		host string
		text string
		want Server
	}{
		{
			"claude-code", `{"mcpServers": {"a": {"type": "stdio", "command": "npx", "args": ["-y", "x"], "env": {"K": "v", "N": 1}, "cwd": "/w"}}}`,
			Server{Name: "a", Type: "stdio", Command: "npx", Args: []string{"-y", "x"}, Env: map[string]string{"K": "v", "N": "1"}, Cwd: "/w",
				Notes: []string{"its host starts it in the project's directory and does not look at cwd; heddle does"}},
		},
		{
			"claude-code", `{"mcpServers": {"a": {"type": "http", "url": "https://h/mcp", "headers": {"A": "b"}}}}`,
			Server{Name: "a", Type: "http", URL: "https://h/mcp", Headers: map[string]string{"A": "b"}},
		},
		{
			"claude-desktop", `{"mcpServers": {"a": {"command": "C:\\Program Files\\nodejs\\npx.cmd", "args": ["-y", "pkg", "C:\\My Docs\\A & B", "100%", "say \"hi\"", "a^b"]}}}`,
			Server{Name: "a", Type: "stdio", Command: `C:\Program Files\nodejs\npx.cmd`, Args: []string{"-y", "pkg", `C:\My Docs\A & B`, "100%", `say "hi"`, "a^b"}},
		},
		{
			"claude-desktop", `{"mcpServers": {"a": {"command": "cmd", "args": ["/c", "npx", "-y", "x"]}}}`,
			Server{Name: "a", Type: "stdio", Command: "npx", Args: []string{"-y", "x"}},
		},
		{
			"cursor", `{"mcpServers": {"a": {"url": "https://h/sse", "type": "sse"}}}`,
			Server{Name: "a", Type: "sse", URL: "https://h/sse"},
		},
		{
			"windsurf", `{"mcpServers": {"a": {"serverUrl": "https://h/mcp", "disabled": true, "disabledTools": ["x"]}}}`,
			Server{Name: "a", Type: "remote", URL: "https://h/mcp", Disabled: true, Deny: []string{"x"}},
		},
		{
			"vscode", `{"inputs": [{"id": "k"}], "servers": {"a": {"command": "x", "env": {"K": "${input:k}"}, "envFile": ".env"}}}`,
			Server{
				Name: "a", Type: "stdio", Command: "x", Env: map[string]string{"K": ""}, Extra: []string{"envFile"},
				Unusable: "env.K needs ${input:k}, which the host asks its user for; put it into the environment and write ${VAR}",
			},
		},
		{
			"zed", `{"context_servers": {"a": {"source": "custom", "command": {"path": "npx", "args": ["x"], "env": {"K": "v"}}}}}`,
			Server{Name: "a", Type: "stdio", Command: "npx", Args: []string{"x"}, Env: map[string]string{"K": "v"}},
		},
		{
			"zed", `{"context_servers": {"a": {"enabled": false, "command": "npx", "args": ["x"]}}}`,
			Server{Name: "a", Type: "stdio", Command: "npx", Args: []string{"x"}, Disabled: true},
		},
		{
			"zed", `{"context_servers": {"a": {"source": "extension", "settings": {}}}}`,
			Server{Name: "a", Unusable: isExtension, Extra: []string{"settings"}},
		},
		{
			"cline", `{"mcpServers": {"a": {"transport": {"type": "stdio", "command": "x", "args": ["y"]}, "autoApprove": ["z"]}}}`,
			Server{Name: "a", Type: "stdio", Command: "x", Args: []string{"y"}, Extra: []string{"autoApprove"}},
		},
		{
			"cline", `{"mcpServers": {"a": {"type": "streamableHttp", "url": "https://h/mcp"}}}`,
			Server{Name: "a", Type: "http", URL: "https://h/mcp"},
		},
		{
			"opencode", `{"mcp": {"a": {"type": "local", "command": ["bun", "x"], "environment": {"K": "{env:T}"}, "enabled": false}}}`,
			Server{Name: "a", Type: "stdio", Command: "bun", Args: []string{"x"}, Env: map[string]string{"K": "${T}"}, Disabled: true},
		},
		{
			"opencode", `{"mcp": {"a": {"type": "remote", "url": "https://h", "headers": {"A": "Bearer {file:~/.t}"}}}}`,
			Server{Name: "a", Type: "remote", URL: "https://h", Headers: map[string]string{"A": "Bearer ${file:~/.t}"}},
		},
		{
			"gemini", `{"mcpServers": {"a": {"httpUrl": "https://h/mcp", "headers": {"A": "$TOKEN"}, "includeTools": ["t"], "excludeTools": ["u"], "trust": true, "timeout": 5}}}`,
			Server{
				Name: "a", Type: "http", URL: "https://h/mcp", Headers: map[string]string{"A": "${TOKEN}"},
				Allow: []string{"t"}, Deny: []string{"u"}, Extra: []string{"trust", "timeout"},
			},
		},
		{
			"gemini", `{"mcpServers": {"a": {"url": "https://h/sse"}}}`,
			Server{Name: "a", Type: "sse", URL: "https://h/sse"},
		},
		{
			"copilot", `{"mcpServers": {"a": {"type": "local", "command": "x", "args": [], "tools": ["*"]}}}`,
			Server{Name: "a", Type: "stdio", Command: "x"},
		},
		{
			"copilot", `{"mcpServers": {"a": {"type": "local", "command": "x", "tools": ["only"]}}}`,
			Server{Name: "a", Type: "stdio", Command: "x", Allow: []string{"only"}},
		},
		{
			"codex", "[mcp_servers.a]\ncommand = \"x\"\nargs = ['y']\nenv_vars = [\"T\", { name = \"U\" }]\nenabled = false\nenabled_tools = [\"t\"]\nstartup_timeout_sec = 20\n[mcp_servers.a.env]\nK = \"v\"\n",
			Server{
				Name: "a", Type: "stdio", Command: "x", Args: []string{"y"}, Passthrough: []string{"T", "U"}, Disabled: true,
				Allow: []string{"t"}, Env: map[string]string{"K": "v"}, Extra: []string{"startup_timeout_sec"},
			},
		},
		{
			"codex", "[mcp_servers.a]\nurl = \"https://h/mcp\"\nbearer_token_env_var = \"T\"\nhttp_headers = { A = \"b\" }\nenv_http_headers = { C = \"D\" }\n",
			Server{Name: "a", Type: "http", URL: "https://h/mcp", Headers: map[string]string{"Authorization": "Bearer ${T}", "A": "b", "C": "${D}"}},
		},
		{"cursor", `{"mcpServers": {"a": {"command": "/opt/heddle-1.2", "args": ["start"]}}}`, Server{Name: "a", Type: "stdio", Command: "/opt/heddle-1.2", Args: []string{"start"}, Heddle: true}},
		{"cursor", `{"mcpServers": {"a": {"command": "cmd", "args": ["/c", "heddle.exe", "start"]}}}`, Server{Name: "a", Type: "stdio", Command: "heddle.exe", Args: []string{"start"}, Heddle: true}},
		{"opencode", `{"mcp": {"a": {"command": ["npx", "-y", "heddle@1.0.0", "start"]}}}`, Server{Name: "a", Type: "stdio", Command: "npx", Args: []string{"-y", "heddle@1.0.0", "start"}, Heddle: true}},
		{"cursor", `{"mcpServers": {"heddle": {"url": "http://localhost:8000/mcp"}}}`, Server{Name: "heddle", Type: "remote", URL: "http://localhost:8000/mcp", Heddle: true}},
		{"cursor", `{"mcpServers": {"a": {"url": "http://localhost:8000/mcp"}}}`, Server{Name: "a", Type: "remote", URL: "http://localhost:8000/mcp"}},
		{"cursor", `{"mcpServers": {"a": {}}}`, Server{Name: "a", Unusable: noStart}},
		{"cursor", `{"mcpServers": {"a": {"type": "http"}}}`, Server{Name: "a", Unusable: noURL}},
		{"cursor", `{"mcpServers": {"a": {"type": "ws", "url": "wss://h"}}}`, Server{Name: "a", Unusable: noKind}},
		{"cursor", `{"mcpServers": {"a": {"command": "x", "url": "https://h"}}}`, Server{Name: "a", Unusable: bothWays}},
		{"cursor", `{"mcpServers": {"a": "x"}}`, Server{Name: "a", Unusable: noObject}},
	}
	for _, tt := range tests {
		got := readText(t, tt.host, User, tt.text)
		if len(got) != 1 {
			t.Errorf("%s %s: %d servers", tt.host, tt.text, len(got))
			continue
		}
		if diff := cmp.Diff(tt.want, got[0], loose); diff != "" {
			t.Errorf("%s %s (-want +got)\n%s", tt.host, tt.text, diff)
		}
	}
}

// TestForgivingJSON is what editors leave in hosts' files.
func TestForgivingJSON(t *testing.T) {
	text := "\ufeff{\"mcpServers\":{ // note\n \"a\":{\"command\":\"x\",\"args\":[\"https://h/p//q\",\"--c=/*keep*/\"],}, /* off: \"b\":{} */ },}"
	got := readText(t, "cursor", User, text)
	if len(got) != 1 || got[0].Line != 2 || got[0].Column != 2 {
		t.Fatalf("%+v", got)
	}
	if diff := cmp.Diff([]string{"https://h/p//q", "--c=/*keep*/"}, got[0].Args); diff != "" {
		t.Errorf("args (-want +got)\n%s", diff)
	}
}

func TestReadErrorsHaveAPlace(t *testing.T) {
	e := Editor{Env: testEnv}
	f, err := e.File("cursor", User)
	if err != nil {
		t.Fatal(err)
	}
	_, err = readServers(f, []byte("{\n  \"mcpServers\": {\n    \"a\": {\"env\": {\"TOKEN\": hunter2hunter2}}\n  }\n}\n"))
	var x *Error
	if !errors.As(err, &x) || x.Line != 3 || x.Column != 28 {
		t.Fatalf("%v, want 3:28", err)
	}
	want := "    \"x\": {\"env\": {\"xxxxx\": xxxxxxxxxxxxxx}}\n                           ^"
	if x.Excerpt != want {
		t.Errorf("excerpt\n%s\nwant\n%s", x.Excerpt, want)
	}
	if strings.Contains(err.Error()+x.Excerpt, "hunter") {
		t.Errorf("the error has the secret: %v", err)
	}
	f, _ = e.File("codex", User)
	_, err = readServers(f, []byte("[mcp_servers.a]\ncommand = hunter2\n"))
	if !errors.As(err, &x) || x.Line != 2 || strings.Contains(err.Error()+x.Excerpt, "hunter") {
		t.Errorf("%v, want line 2 and no secret", err)
	}
}

// TestProjects reads the servers of single directories.
func TestProjects(t *testing.T) {
	got := readText(t, "claude-code", User, `{"projects": {"/src/p": {"mcpServers": {"a": {"command": "${workspaceFolder}/x"}}}, "/src/q": {}}, "mcpServers": {"b": {"command": "${workspaceFolder}/x"}}}`)
	if len(got) != 2 || got[1].Project != "/src/p" || got[1].Command != "/src/p/x" || got[0].Unusable == "" {
		t.Errorf("%+v", got)
	}
}

// TestReferences is the table of refs.go, and that heddle reads what comes out
// as the host would have.
func TestReferences(t *testing.T) {
	tests := []struct{ host, in, want, value string }{
		{"claude-code", "${BIN:-npx}", "${BIN:-npx}", "npx"},
		{"claude-code", "$HOME", "$$HOME", "$HOME"},
		{"claude-code", "${A:-${B:-c}}", "${A:-${B:-c}}", "c"},
		{"claude-code", "$${LIT}", "$${LIT}", "${LIT}"},
		{"claude-code", "${}", "$${}", "${}"},
		{"claude-code", "${X", "$${X", "${X"},
		{"claude-code", "a${T}b", "a${T}b", "atokb"},
		{"claude-code", "${env:T}", "${T}", "tok"},
		{"claude-code", "${env:U:-x}", "${U:-x}", "x"},
		{"claude-code", "100%", "100%", "100%"},
		{"claude-code", "pa$$word", "pa$$$$word", "pa$$word"},
		{"claude-code", "https://${H:-h:8080}/mcp", "https://${H:-h:8080}/mcp", "https://h:8080/mcp"},
		{"claude-code", "Bearer ${T}", "Bearer ${T}", "Bearer tok"},
		{"claude-code", "${x%.*}", "$${x%.*}", "${x%.*}"},
		{"claude-code", "{env:T}", "{env:T}", "{env:T}"},
		{"cursor", "${file:/a$b}", "${file:/a$$b}", ""},
		{"cursor", "${keyring:n}", "${keyring:n}", ""},
		{"cursor", "${userHome}/x${/}y${pathSeparator}z", "/home/u/x/y/z", "/home/u/x/y/z"},
		{"cursor", "${workspaceFolder}/${workspaceFolderBasename}", "/src/p/p", "/src/p/p"},
		{"gemini", "$T-x", "${T}-x", "tok-x"},
		{"gemini", "$5", "$$5", "$5"},
		{"opencode", "{env:T}", "${T}", "tok"},
		{"opencode", "$${env:T}x", "$${env:T}x", "${env:T}x"},
		{"opencode", "a{env:T}{x}", "a${T}{x}", "atok{x}"},
		{"opencode", "$x{env:T}", "$$x${T}", "$xtok"},
	}
	lookup := func(name string) (string, bool) {
		if name == "T" {
			return "tok", true
		}
		return "", false
	}
	for _, tt := range tests {
		e := Editor{Env: testEnv}
		f, err := e.File(tt.host, Project)
		if err != nil {
			t.Fatal(err)
		}
		s := Server{}
		got := translator{env: testEnv, dialect: f.Host.dialect, project: testEnv.Cwd, server: &s}.text("args", tt.in)
		if got != tt.want || s.Unusable != "" {
			t.Errorf("%s %q: %q (%s), want %q", tt.host, tt.in, got, s.Unusable, tt.want)
		}
		if tt.value == "" { // is not here
			continue
		}
		text := Config([]Decision{{Name: "a", Server: Server{Type: "stdio", Command: "x", Args: []string{got}}}})
		c, err := config.Decode(text, "/x/heddle.json", config.Env{Lookup: lookup})
		if err != nil || len(c.Servers) != 1 || len(c.Servers[0].Args) != 1 || c.Servers[0].Args[0] != tt.value {
			t.Errorf("%q: heddle reads %+v (%v), want %q", got, c, err, tt.value)
		}
	}
	for in, want := range map[string]string{
		"${input:k}": "${input:k}", "${command:x.y}": "${command:…}", "${workspaceFolder}": "${workspaceFolder}", "${config:hunter2}": "${config:…}",
	} {
		s := Server{}
		translator{env: testEnv, dialect: vscode, server: &s}.text("args", in)
		if !strings.Contains(s.Unusable, want) || strings.Contains(s.Unusable, "hunter2") {
			t.Errorf("%s: %q, want a reason with %s", in, s.Unusable, want)
		}
	}
}

func TestMerge(t *testing.T) {
	servers := append(readText(t, "claude-code", User, `{"mcpServers": {
		"github": {"command": "npx", "args": ["gh"], "env": {"T": "made-up"}},
		"Sequential Thinking": {"command": "npx", "args": ["st"]},
		"gw": {"command": "heddle", "args": ["start"]},
		"asks": {"command": "x", "args": ["${input:k}"]},
		"mesh": {"command": "x"},
		"late": {"command": "y", "disabled": true}
	}, "projects": {"/elsewhere": {"mcpServers": {"far": {"command": "x"}}}, "/src": {"mcpServers": {"near": {"command": "x"}}}}}`),
		readText(t, "cursor", Project, `{"mcpServers": {
		"github": {"env": {"T": "made-up"}, "args": ["gh"], "command": "npx"},
		"late": {"command": "y"}
	}}`)...)
	servers = append(servers, readText(t, "codex", User, "[mcp_servers.github]\ncommand = \"npx\"\nargs = [\"gh\", \"--other\"]\n")...)
	decisions := Merge(testEnv, servers)
	var got []string
	for _, d := range decisions {
		got = append(got, d.String())
	}
	const claude, cursor = "Claude Code, /home/u/.claude.json", "Cursor, /src/p/.cursor/mcp.json"
	want := []string{
		"github (" + claude + "): kept",
		"Sequential Thinking (" + claude + "): renamed to sequential-thinking: names in heddle are lower case, without spaces",
		"gw (" + claude + "): skipped: it is heddle itself",
		"asks (" + claude + "): skipped: args needs ${input:k}, which the host asks its user for; put it into the environment and write ${VAR}",
		"mesh (" + claude + "): renamed to mesh-claude-code: heddle keeps that name for itself",
		"late (" + claude + "): dropped: it is the same in /src/p/.cursor/mcp.json",
		"far (" + claude + ", for /elsewhere): skipped: it is for another directory",
		"near (" + claude + ", for /src): kept",
		"github (" + cursor + "): dropped: it is the same in /home/u/.claude.json",
		"late (" + cursor + "): kept",
		"github (Codex, /home/u/.codex/config.toml): renamed to github-codex: /home/u/.claude.json has another server of that name",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("decisions (-want +got)\n%s", diff)
	}
	c, err := config.Decode(Config(decisions), "/x/heddle.json", config.Env{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range c.Servers {
		names = append(names, s.Name)
	}
	if diff := cmp.Diff([]string{"github", "sequential-thinking", "mesh-claude-code", "near", "late", "github-codex"}, names); diff != "" {
		t.Errorf("heddle reads (-want +got)\n%s", diff)
	}
}

// TestConfigHasEverything decodes all that an entry can have.
func TestConfigHasEverything(t *testing.T) {
	servers := readText(t, "codex", User, "[mcp_servers.a]\ncommand = \"x\"\nenv_vars = [\"T\"]\ncwd = \"/w\"\nenabled = false\nenabled_tools = [\"t\"]\ndisabled_tools = [\"u\"]\nenv = { K = \"v\" }\n[mcp_servers.b]\nurl = \"https://h\"\nhttp_headers = { A = \"b\" }\n")
	c, err := config.Decode(Config(Merge(testEnv, servers)), "/x/heddle.json", config.Env{})
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Servers) != 2 || len(c.Warnings) > 0 {
		t.Errorf("%+v", c)
	}
}
