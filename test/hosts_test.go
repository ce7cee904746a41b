package test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"heddle/internal/mcptest"
)

// hostTime is how long a host may take on a busy machine.
const hostTime = 120 * time.Second

// realHost is a host program, and a file of its own that it has before heddle
// comes.
type realHost struct {
	name string
	// program is below node_modules.
	program string
	// user is true for the user's file and not a project's.
	user bool
	// file is in the project, or in the home directory; before is what is in it, with
	// %s for a server.
	file, before string
	server       func(command string, env map[string]string) string
	// trust is a file below the home directory that lets the host read the project's,
	// with %s for the project.
	trust, trusted string
	list           []string
	// connected is what the list says of heddle.
	connected string
}

var realHosts = []realHost{
	{
		name: "claude-code", program: "@anthropic-ai/claude-code-linux-x64/claude",
		file: ".mcp.json", before: "{\n\t\"mcpServers\": {\n\t\t\"fake\": %s\n\t}\n}\n", server: typedServer,
		trust: ".claude.json", trusted: `{"projects": {%s: {"hasTrustDialogAccepted": true}}}`,
		list: []string{"mcp", "list"}, connected: `(?m)^heddle: .* start --mode compact .* Connected`,
	},
	{
		name: "codex", program: "@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex",
		file: ".codex/config.toml", before: "# mine\nmodel = \"gpt-5\" # this one\n\n[mcp_servers.fake]\n%s\n[tui]\nnotifications = true\n", server: tomlServer,
		trust: ".codex/config.toml", trusted: "[projects.%s]\ntrust_level = \"trusted\"\n",
		list: []string{"mcp", "list", "--json"}, connected: `(?s)"name": "heddle",\s+"enabled": true,.*"--mode",\s+"native"`,
	},
	{
		name: "claude-code", program: "@anthropic-ai/claude-code-linux-x64/claude", user: true,
		file: ".claude.json", before: "{\n  \"numStartups\": 3,\n  \"mcpServers\": {\"fake\": %s}\n}", server: typedServer,
		list: []string{"mcp", "list"}, connected: `(?m)^heddle: .* start --mode compact .* Connected`,
	},
	{
		name: "codex", program: "@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex", user: true,
		file: ".codex/config.toml", before: "mcp_servers.fake = { %s } # mine\r\n", server: inlineServer,
		list: []string{"mcp", "list", "--json"}, connected: `(?s)"name": "heddle",\s+"enabled": true,.*"--mode",\s+"native"`,
	},
	{
		name: "gemini", program: ".bin/gemini",
		file: ".gemini/settings.json", before: "{\n  // mine\n  \"ui\": {\"hideTips\": true},\n  \"mcpServers\": {\"fake\": %s}\n}\n", server: plainServer,
		trust: ".gemini/trustedFolders.json", trusted: `{%s: "TRUST_FOLDER"}`,
		list: []string{"mcp", "list"}, connected: `heddle: .* - Connected`,
	},
	{
		name: "opencode", program: "opencode-linux-x64-baseline/bin/opencode",
		file: "opencode.json", before: "{\r\n  \"$schema\": \"https://opencode.ai/config.json\",\r\n  \"mcp\": {\"fake\": %s},\r\n  \"share\": \"disabled\"\r\n}\r\n", server: listServer,
		list: []string{"mcp", "list"}, connected: `heddle .*connected`,
	},
	{
		name: "qwen", program: ".bin/qwen",
		file: ".qwen/settings.json", before: "{\n  \"mcpServers\": {\"fake\": %s},\n  \"$version\": 3\n}", server: plainServer,
		list: []string{"mcp", "list"}, connected: `heddle: .* - Connected`,
	},
}

func plainServer(command string, env map[string]string) string {
	return string(mustJSON(map[string]any{"command": command, "args": []string{}, "env": env}))
}

func typedServer(command string, env map[string]string) string {
	return string(mustJSON(map[string]any{"type": "stdio", "command": command, "args": []string{}, "env": env}))
}

func listServer(command string, env map[string]string) string {
	return string(mustJSON(map[string]any{"type": "local", "command": []string{command}, "environment": env, "enabled": true}))
}

func tomlServer(command string, env map[string]string) string {
	text := "command = " + string(mustJSON(command)) + "\n\n[mcp_servers.fake.env]\n"
	for _, k := range sortedNames(env) {
		text += k + " = " + string(mustJSON(env[k])) + "\n"
	}
	return text
}

func inlineServer(command string, env map[string]string) string {
	var pairs []string
	for _, k := range sortedNames(env) {
		pairs = append(pairs, k+" = "+string(mustJSON(env[k])))
	}
	return "command = " + string(mustJSON(command)) + ", env = { " + strings.Join(pairs, ", ") + " }"
}

func sortedNames(m map[string]string) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

func mustJSON(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}

// TestHosts takes the server of each real host over, and lets the host itself say
// that it runs heddle in its place, and that it has its own server back after.
func TestHosts(t *testing.T) {
	dir := hostsDir(t)
	heddle := buildHeddle(t)
	for _, h := range realHosts {
		t.Run(h.name+"/"+h.scope(), func(t *testing.T) {
			s := newStay(t, h, dir, heddle)
			s.heddle(t, "init", "--from", h.name)
			s.heddle(t, "install", "--host", h.name, "--scope", h.scope())
			if got := s.host(t, h.list...); !regexp.MustCompile(h.connected).MatchString(got) || strings.Contains(got, "fake") {
				t.Errorf("%s %v says\n%s", h.name, h.list, got)
			}
			s.heddle(t, "verify", "--host", h.name, "--scope", h.scope())
			s.heddle(t, "rollback", "--host", h.name, "--scope", h.scope())
			s.checkBack(t)
			if got := s.host(t, h.list...); strings.Contains(got, "heddle") || !strings.Contains(got, "fake") {
				t.Errorf("after rollback %s %v says\n%s", h.name, h.list, got)
			}
		})
	}
}

func (h realHost) scope() string {
	if h.user {
		return "user"
	}
	return "project"
}

// path is the host's file.
func (s *stay) path() string {
	if s.user {
		return filepath.Join(s.home, s.file)
	}
	return filepath.Join(s.project, s.file)
}

// stay is heddle's time with a host, in directories of its own.
type stay struct {
	realHost
	program, binary, home, project, before string
	env                                    []string
}

// hostsDir returns where the hosts are installed.
func hostsDir(t *testing.T) string {
	t.Helper()
	if testing.Short() || runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("starts programs for Linux on amd64: not with -short")
	}
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("there is no node")
	}
	dir := os.Getenv("HEDDLE_HOSTS_DIR")
	if dir == "" {
		dir, _ = filepath.Abs("hosts/node_modules")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("the hosts are not installed: npm ci --prefix test/hosts --ignore-scripts (%v)", err)
	}
	return dir
}

func buildHeddle(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "heddle")
	if out, err := exec.Command("go", "build", "-o", binary, "../cmd/heddle").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return binary
}

func newStay(t *testing.T, h realHost, dir, heddle string) *stay {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &stay{realHost: h, program: filepath.Join(dir, h.program), binary: heddle, home: filepath.Join(root, "home"), project: filepath.Join(root, "project")}
	if _, err := os.Stat(s.program); err != nil {
		t.Skipf("not installed: %v", err)
	}
	command, _, variables := mcptest.Command(mcptest.Options{})
	env := map[string]string{}
	for _, kv := range variables {
		k, v, _ := strings.Cut(kv, "=")
		env[k] = v
	}
	s.before = fmt.Sprintf(h.before, h.server(command, env))
	s.write(t, filepath.Join(s.project, "README"), "a project with nothing else in it\n")
	s.write(t, s.path(), s.before)
	s.write(t, filepath.Join(s.home, "README"), "a home with nothing else in it\n")
	if h.trust != "" {
		s.write(t, filepath.Join(s.home, h.trust), fmt.Sprintf(h.trusted, mustJSON(s.project)))
	}
	s.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + s.home, "TMPDIR=" + root, "LANG=C.UTF-8", "TERM=dumb", "CI=1", "NO_COLOR=1",
		"DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "OPENCODE_DISABLE_AUTOUPDATE=1",
	}
	return s
}

func (s *stay) write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// heddle runs a command of heddle, which must succeed.
func (s *stay) heddle(t *testing.T, args ...string) {
	t.Helper()
	if out, err := s.run(t, s.binary, args...); err != nil {
		t.Fatalf("heddle %v: %v\n%s", args, err, out)
	}
}

// host runs the host and returns what it says. Its status is not said to mean
// anything by any of them.
func (s *stay) host(t *testing.T, args ...string) string {
	t.Helper()
	out, err := s.run(t, s.program, args...)
	if err != nil {
		t.Logf("%s %v: %v", s.name, args, err)
	}
	return out
}

func (s *stay) run(t *testing.T, program string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(t.Context(), hostTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = s.project, s.env, 5*time.Second
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// checkBack wants the file as it was; of one that the host has written itself
// since, all but the layout.
func (s *stay) checkBack(t *testing.T) {
	t.Helper()
	raw, err := os.ReadFile(s.path())
	if err != nil {
		t.Fatal(err)
	}
	if string(raw) == s.before {
		return
	}
	t.Logf("%s rewrote its file", s.name)
	var got, want map[string]any
	if json.Unmarshal(raw, &got) != nil || json.Unmarshal([]byte(s.before), &want) != nil || strings.Contains(string(raw), "heddle") ||
		string(mustJSON(got["mcpServers"])) != string(mustJSON(want["mcpServers"])) {
		t.Errorf("after rollback the file has\n%s\nwant\n%s", raw, s.before)
	}
}
