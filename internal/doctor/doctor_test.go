package doctor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"heddle/internal/config"
	"heddle/internal/hostfile"
	"heddle/internal/upstream"

	"github.com/google/go-cmp/cmp"
)

// machine returns one with a configuration, whose directories are empty.
func machine(t *testing.T, yml string) *Machine {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("programs here are shell scripts")
	}
	dir := t.TempDir()
	cfg, err := config.Decode([]byte(yml), filepath.Join(dir, "heddle.yml"), config.Env{})
	if err != nil {
		t.Fatal(err)
	}
	return &Machine{
		Version: "1.0", Config: cfg, Env: hostfile.Env{OS: "linux", Home: filepath.Join(dir, "home"), Cwd: filepath.Join(dir, "work")},
		Path: filepath.Join(dir, "shell") + ":" + filepath.Join(dir, "system"), WindowPath: filepath.Join(dir, "system"),
		StateDir: filepath.Join(dir, "state"), CacheDir: filepath.Join(dir, "cache"), TempDir: dir, Binary: filepath.Join(dir, "heddle"),
		Servers: func(context.Context) ([]Server, []Idle, error) { return nil, nil, nil },
		Stands:  func(s hostfile.Server) hostfile.Standing { return hostfile.Standing{Same: starts(cfg, s)} },
	}
}

// starts reports whether a configuration starts just what a host does.
func starts(cfg *config.Config, s hostfile.Server) bool {
	return slices.ContainsFunc(cfg.Servers, func(c config.Server) bool {
		return !c.Disabled && c.URL == s.URL && c.Command == s.Command && slices.Equal(c.Args, s.Args)
	})
}

// write makes a file below the machine's directory.
func (m *Machine) write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	path = filepath.Join(m.Config.Dir, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil { // whatever the umask is
		t.Fatal(err)
	}
}

// printed writes findings as lines, and wants a remedy for each that is not good.
func printed(t *testing.T, m *Machine, findings []Finding) []string {
	t.Helper()
	var out []string
	for _, f := range findings {
		if f.Level != OK && f.Remedy == "" {
			t.Errorf("no remedy for %q", f.What)
		}
		line := fmt.Sprintf("%s %s", f.Level, f.What)
		if f.Remedy != "" {
			line += " -> " + f.Remedy
		}
		out = append(out, strings.ReplaceAll(line, m.Config.Dir, "DIR"))
	}
	return out
}

func TestRuntimes(t *testing.T) {
	m := machine(t, `{version: 2, servers: {
		a: {command: npx, args: [x]}, b: {command: /opt/npx, args: ["github:o/r"]}, c: {command: uvx}, d: {command: docker}, e: {command: uvx}, f: {command: uvx},
		off: {command: uv, disabled: true}, url: {url: "https://h.example/mcp"}}}`)
	m.write(t, "system/node", "#!/bin/sh\necho v16.2.0\n", 0o755)
	m.write(t, "system/npx", "#!/bin/sh\necho 10.1.0\necho more\n", 0o755)
	m.write(t, "system/docker", "#!/bin/sh\necho no daemon >&2\nexit 1\n", 0o755)
	m.write(t, "system/uv", "#!/bin/sh\n", 0o755)
	m.write(t, "system/uvx", "no program", 0o644)
	want := []string{
		"warning node is v16.2.0 (DIR/system/node); most servers want 18 or newer -> install Node.js, https://nodejs.org",
		"ok npx 10.1.0, DIR/system/npx",
		"problem uvx is not in PATH, and c and 2 others need it -> install uv, https://docs.astral.sh/uv",
		"problem git is not in PATH, and b needs it -> install git, https://git-scm.com",
		"problem docker (DIR/system/docker) does not work: `docker version --format {{.Server.Version}}` failed: exit status 1 -> install Docker, https://docs.docker.com, and start it",
		"ok no server needs uv (here)",
	}
	if diff := cmp.Diff(want, printed(t, m, runtimes(t.Context(), m))); diff != "" {
		t.Errorf("runtimes (-want +got):\n%s", diff)
	}
}

// TestWindowPath guards against an advice that does not help: a script by its
// absolute path still has env look for its interpreter.
func TestWindowPath(t *testing.T) {
	m := machine(t, `{version: 2, servers: {
		a: {command: only}, b: {command: only}, both: {command: both}, script: {command: script}, reached: {command: reached},
		own: {command: only, env: {PATH: /x}}, gone: {command: gone}, url: {url: "https://h.example/mcp"}}}`)
	m.write(t, "shell/only", "", 0o755)
	m.write(t, "shell/both", "", 0o755)
	m.write(t, "system/both", "", 0o755)
	m.write(t, "shell/script", "#!/usr/bin/env -S only --flag\n", 0o755)
	m.write(t, "system/reached", "#! /usr/bin/env only\n", 0o755)
	want := []string{
		"warning a host with a window does not find only: DIR/shell is in your shell's PATH alone; a, b and reached need it -> write `command: DIR/shell/only`",
		"warning a host with a window does not find script and only: DIR/shell is in your shell's PATH alone; script needs it -> write `env: {PATH: \"DIR/shell:${PATH}\"}`",
	}
	want[0] = strings.Replace(want[0], "a, b and reached need", "a and 2 others need", 1)
	got := printed(t, m, windowPath(t.Context(), m))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("path (-want +got):\n%s", diff)
	}
}

// TestServers has each reason that a server fails for, with a code, a remedy and its
// last words.
func TestServers(t *testing.T) {
	m := machine(t, `{version: 2, servers: {npm: {command: npx}, abs: {command: /opt/x}, own: {command: thing, env: {PATH: "/a:/b"}}}}`)
	m.Path = "/bin:/usr/bin"
	failed := func(name, code string) Server {
		return Server{Status: upstream.Status{Name: name, State: upstream.StateFailed, Code: code, Reason: "why", Stderr: []string{"last words"}}}
	}
	for code := range remedies() {
		f := m.server(new(failed("npm", code)), 0)[0]
		if f.Level != Problem || f.Code != code || f.Remedy == "" || len(f.Details) != 1 {
			t.Errorf("%s: got %+v, want a problem with a remedy and the last words", code, f)
		}
	}
	ready := upstream.Status{Name: "npm", State: upstream.StateReady, Tools: 1, Protocol: "p"}
	odd := ready
	odd.Stray, odd.StrayFirst, odd.BadBytes, odd.Warnings = 2, []string{"hello"}, 1, []string{"w"}
	m.Servers = func(context.Context) ([]Server, []Idle, error) {
		return []Server{
			failed("npm", "command_not_found"), failed("abs", "command_not_found"), failed("own", "command_not_found"),
			{Status: upstream.Status{Name: "s", State: upstream.StateStarting}},
			{Status: upstream.Status{Name: "w", State: upstream.StateWaiting}},
			{Status: upstream.Status{Name: "t", State: upstream.StateStarting, Code: "no_protocol", Reason: "no answer yet; text", Stray: 1, StrayFirst: []string{"Listening"}, Stderr: []string{"x"}}},
			{Status: upstream.Status{Name: "l", State: upstream.StateStarting, Code: "login", Reason: "no answer yet; log in", Stderr: []string{"log in at https://x"}}},
			{Status: upstream.Status{Name: "f", State: upstream.StateFailed, Code: "no_protocol", Reason: "timeout; text", Stray: 1, StrayFirst: []string{"HTTP/1.1 400"}}},
			{Status: upstream.Status{Name: "o", State: upstream.StateDisabled, Code: "off"}},
			{Status: ready, Took: 20 * time.Millisecond},
			{Status: ready, Took: 11 * time.Second},
			{Status: odd, Took: 1500 * time.Millisecond, Odd: []string{"1", "2", "3", "4"}},
		}, []Idle{{List: "tools.deny", Pattern: "x"}, {List: "tools.allow", Pattern: " npm_get", Near: []string{"npm_get", "npm_got"}}}, nil
	}
	want := []string{
		"problem npm: why -> install Node.js, https://nodejs.org",
		"problem abs: why -> correct its `command`: nothing is at that path",
		"problem own: why -> install it, or write its absolute path as `command`",
		"problem s is still starting after 0s -> what is downloaded first takes long once: try again, with a longer --timeout",
		"problem w did not have its turn within 0s: a few start at a time -> try again, with a longer --timeout",
		"problem t is still starting after 0s: no answer yet; text -> " + instead()["no_protocol"],
		"problem l is still starting after 0s: no answer yet; log in -> " + instead()["login"],
		"problem f: timeout; text -> " + instead()["no_protocol"],
		"ok o is disabled",
		"ok npm: 1 tool after 20 ms, protocol p",
		"warning npm: 1 tool after 11.0 s, protocol p -> install its package, and write the program that comes with it as `command`",
		"ok npm: 1 tool after 1.5 s, protocol p",
		"warning npm writes text to stdout that is no protocol: 2 lines -> have it log to stderr; other clients end the session over this",
		"warning npm sent bytes that are not UTF-8 and were replaced: 1 -> have it write UTF-8; for Python set PYTHONUTF8: \"1\" in its env",
		"warning npm: w -> update the server, or tell its author; the rest of it works",
		"warning npm has odd tools: 4 warnings -> tell its author; the tools work as far as that goes",
		"warning tools.deny: \"x\" matches no tool -> correct it, or remove it; `heddle validate` lists all tools",
		"warning tools.allow: \" npm_get\" matches no tool; near: npm_get, npm_got -> correct it, or remove it; `heddle validate` lists all tools",
	}
	got := servers(t.Context(), m)
	if diff := cmp.Diff(want, printed(t, m, got)); diff != "" {
		t.Errorf("servers (-want +got):\n%s", diff)
	}
	for i, want := range map[int][]string{
		0: {"last words", "searched: /bin /usr/bin"}, 1: {"last words"}, 2: {"last words", "searched: /a /b"},
		5: {"stdout: Listening", "stderr: x"}, 6: {"log in at https://x"}, 7: {"stdout: HTTP/1.1 400"}, 12: {"hello"}, 15: {"1", "2", "3", "and 1 more"},
	} {
		if diff := cmp.Diff(want, got[i].Details); diff != "" {
			t.Errorf("details of %q (-want +got):\n%s", got[i].What, diff)
		}
	}
	m.Servers = func(context.Context) ([]Server, []Idle, error) { return nil, nil, errors.New("no") }
	if got := servers(t.Context(), m); len(got) != 1 || got[0].Level != Problem {
		t.Errorf("servers that cannot be started at all: got %+v, want one problem", got)
	}
}

func TestHosts(t *testing.T) {
	m := machine(t, `{version: 2, servers: {notes: {command: notes, args: [a]}, web: {url: "https://h.example/mcp"}, off: {command: off, disabled: true}}}`)
	if got := printed(t, m, hosts(t.Context(), m)); len(got) != 1 || got[0] != "ok no host lists a server here" {
		t.Errorf("without files: %q", got)
	}
	dir := m.Config.Dir
	m.write(t, "opt/heddle", "", 0o755)
	m.write(t, "heddle.yml", "version: 2\nprofiles: {work: {servers: []}}\n", 0o600)
	// The user's file has heddle, the project's a server that heddle has too.
	m.write(t, "home/.claude.json", `{"mcpServers": {"heddle": {"command": "`+dir+`/opt/heddle", "args": ["start"]}, "other": {"command": "x"}}, "projects": {
		"`+dir+`/elsewhere": {"mcpServers": {"notes": {"command": "notes", "args": ["a"]}}},
		"`+dir+`/work": {"mcpServers": {"mine": {"command": "notes", "args": ["a"]}, "notes": {"command": "another"}}}}}`, 0o600)
	m.write(t, "work/.mcp.json", "{\"mcpServers\": {\n\"renamed\": {\"command\": \"notes\", \"args\": [\"a\"]}}}", 0o600)
	m.write(t, "home/.cursor/mcp.json", `{"mcpServers": {"heddle": {"command": "/opt/no/heddle", "args": ["start"]}}}`, 0o600)
	m.write(t, "home/.gemini/settings.json", `{"mcpServers": {"h": {"command": "heddle", "args": ["start"]}, "web": {"httpUrl": "https://h.example/mcp"}}}`, 0o600)
	m.write(t, "home/.qwen/settings.json", `{"mcpServers": {"h": {"command": "`+dir+`/opt/heddle", "args": ["start", "--config", "/no/heddle.yml"]}}}`, 0o600)
	m.write(t, "home/.copilot/mcp-config.json", `{"mcpServers": {"notes": {"type": "local", "command": "n"}, "off": {"type": "local", "command": "n"}}}`, 0o600)
	m.write(t, "home/.codeium/windsurf/mcp_config.json", `{"mcpServers": {"a": {"env": {"TOKEN": "SENTINEL" "b"}}}}`, 0o600)
	m.write(t, "home/.codex/config.toml", "[mcp_servers.heddle]\ncommand = \""+dir+"/opt/heddle\"\nargs = [\"start\", \"--config\", \""+dir+"/heddle.yml\", \"--profile=renamed\"]\n[mcp_servers.more]\ncommand = \"x\"\n", 0o600)
	m.write(t, "home/.gemini/config/mcp_config.json", `{"mcpServers": {"heddle": {"url": "http://127.0.0.1:8000/mcp"}, "off": {"command": "off"}}}`, 0o600)
	got := printed(t, m, hosts(t.Context(), m))
	for _, want := range []string{
		"warning a file of Windsurf cannot be read: DIR/home/.codeium/windsurf/mcp_config.json:1:",
		"warning Claude Code lists 2 servers that heddle has too: its model pays twice -> take out mine by hand, in DIR/home/.claude.json under projects, DIR/work; " +
			"`heddle install --host claude-code` takes out renamed, and keeps the way back",
		"problem Cursor starts /opt/no/heddle, which is not there (DIR/home/.cursor/mcp.json:1) -> `heddle install --host cursor --scope user` writes it anew",
		"warning Gemini CLI starts heddle, which it finds only if it was started from a shell (DIR/home/.gemini/settings.json:1) -> ",
		"warning Gemini CLI lists 1 server that heddle has too",
		"problem Qwen Code starts heddle with /no/heddle.yml, which is not there (DIR/home/.qwen/settings.json:1) -> ",
		"ok Copilot CLI lists 2 servers, and not heddle: `heddle install --host copilot`",
		"problem Codex starts heddle with DIR/heddle.yml, which does not start: there is no profile \"renamed\" in DIR/heddle.yml; it has work (DIR/home/.codex/config.toml:1) -> correct it, or ",
		"ok Antigravity starts heddle and 1 other server",
	} {
		if !strings.Contains("\n"+strings.Join(got, "\n"), "\n"+want) {
			t.Errorf("hosts: want %q", want)
		}
	}
	if text := strings.Join(got, "\n"); len(got) != 9 || strings.Contains(text, "SENTINEL") {
		t.Errorf("hosts: got %d findings, want 9 and no secret:\n%s", len(got), text)
	}
}

// TestFileless has hosts' files in place of a configuration: no file is named that is not
// there, and there is nothing to install before there is one.
func TestFileless(t *testing.T) {
	m := machine(t, `{version: 2, servers: {notes: {command: notes}}}`)
	m.Fileless, m.Config.Path = true, filepath.Join(m.Config.Dir, "--federate")
	m.write(t, "home/.cursor/mcp.json", `{"mcpServers": {"notes": {"command": "notes"}}}`, 0o600)
	m.write(t, "work/.cursor/mcp.json", `{"mcpServers": {"notes": {"command": "notes"}, "heddle": {"command": "heddle", "args": ["start"]}}}`, 0o600)
	m.write(t, "home/.gemini/settings.json", `{"mcpServers": {"notes": {"command": "notes"}}}`, 0o600)
	m.write(t, "system/heddle", "", 0o755)
	got := append(printed(t, m, configuration(t.Context(), m)), printed(t, m, hosts(t.Context(), m))...)
	want := []string{
		"ok there is no heddle.yml; the files of hosts have 1 server",
		"warning Cursor lists 2 servers that heddle has too: its model pays twice -> `heddle init --from cursor`, then `heddle install --host cursor --scope user` takes out notes, and keeps the way back; " +
			"`heddle init --from cursor`, then `heddle install --host cursor` takes out notes, and keeps the way back",
		"ok Gemini CLI lists 1 server, and not heddle: `heddle init --from gemini`, then `heddle install --host gemini --scope user`",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("without a file (-want +got):\n%s", diff)
	}
	m.Config.Servers = nil
	if got := configuration(t.Context(), m)[0]; got.Level != Warning || got.Remedy == "" || strings.Contains(got.What, "--federate") {
		t.Errorf("without servers: %+v", got)
	}
}

func TestFiles(t *testing.T) {
	m := machine(t, `{version: 2, servers: {a: {command: x}}}`)
	m.write(t, ".env", "A=1", 0o600)
	want := []string{"ok DIR/.env is yours alone", "ok can be written: DIR/state, DIR/cache, DIR"}
	if diff := cmp.Diff(want, printed(t, m, files(t.Context(), m))); diff != "" {
		t.Errorf("good files (-want +got):\n%s", diff)
	}
	m.write(t, ".env", "A=1", 0o640)
	m.write(t, "heddle.yml", "version: 2", 0o666)
	m.write(t, "blocked", "", 0o600)
	m.StateDir, m.TempDir = filepath.Join(m.Config.Dir, "blocked", "heddle"), filepath.Join(m.Config.Dir, "none")
	if err := os.Chmod(m.CacheDir, 0o777); err != nil {
		t.Fatal(err)
	}
	want = []string{
		"warning others can read DIR/.env (mode 0640), so heddle would not -> chmod 600 DIR/.env",
		"warning others can write to DIR/heddle.yml (mode 0666), and heddle runs the commands in it -> chmod go-w DIR/heddle.yml",
		"problem DIR/blocked/heddle cannot be made for the ledger: not a directory -> give yourself access to it, or set XDG_STATE_HOME",
		"warning others can write to DIR/cache (mode 0777) -> chmod 700 DIR/cache",
		"problem DIR/none cannot be written, and holds large results: no such file or directory -> give yourself access to it, or set TMPDIR",
	}
	if diff := cmp.Diff(want, printed(t, m, files(t.Context(), m))); diff != "" {
		t.Errorf("bad files (-want +got):\n%s", diff)
	}
}

func TestSystem(t *testing.T) {
	m := machine(t, `{version: 2}`)
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	m.Port = l.Addr().(*net.TCPAddr).Port
	if got := ports(t.Context(), m)[0]; got.Level != Warning {
		t.Errorf("a taken port: got %+v, want a warning", got)
	}
	m.Running = []Running{
		{PID: 1, Version: "1.0", Listen: fmt.Sprintf("http://127.0.0.1:%d/mcp", m.Port)},
		{PID: 2, Version: "0.9"},
		{PID: 3, Version: "1.0", Config: "/c.yml", Degraded: true},
	}
	if got := ports(t.Context(), m)[0]; got.Level != OK || !strings.Contains(got.What, "pid 1") {
		t.Errorf("a port of heddle's own: got %+v", got)
	}
	_ = l.Close()
	if got := ports(t.Context(), m)[0]; got.Level != OK || !strings.Contains(got.What, "free") {
		t.Errorf("a free port: got %+v", got)
	}
	want := []string{
		"warning pid 2 runs heddle 0.9, and this is 1.0 -> restart the host that started it",
		"warning pid 3 is degraded: a server of /c.yml does not run -> `heddle status` has the reason",
	}
	if diff := cmp.Diff(want, printed(t, m, heddles(t.Context(), m))); diff != "" {
		t.Errorf("heddles (-want +got):\n%s", diff)
	}
}

func TestSQL(t *testing.T) {
	m := machine(t, `{version: 2}`)
	for _, tt := range []struct {
		script string
		want   []string
	}{
		{"", []string{"warning heddle-sql is neither beside heddle nor in PATH: results are kept, but there is no SQL over them -> put it beside DIR/heddle"}},
		{`echo '{"engine": "DuckDB v1"}'`, []string{"ok DuckDB v1, DIR/worker"}},
		{`echo '{"engine": "DuckDB v1", "lacks": ["no Landlock"]}'`, []string{
			"ok DuckDB v1, DIR/worker",
			"warning the seal of heddle-sql is not complete: no Landlock -> queries are still checked before they run; a newer system has all of the seal",
		}},
		{`echo '{"engine": "DuckDB v1", "error": "self-test"}'; exit 1`, []string{"warning DIR/worker does not work here, so there is no SQL: self-test -> use the heddle-sql that came with this heddle, built with cgo"}},
		{`echo built without cgo >&2; exit 1`, []string{"warning DIR/worker does not work here, so there is no SQL: exit status 1 -> use the heddle-sql that came with this heddle, built with cgo"}},
	} {
		m.Worker = ""
		if tt.script != "" {
			m.write(t, "worker", "#!/bin/sh\n"+tt.script+"\n", 0o755)
			m.Worker = filepath.Join(m.Config.Dir, "worker")
		}
		if diff := cmp.Diff(tt.want, printed(t, m, sql(t.Context(), m))); diff != "" {
			t.Errorf("heddle-sql %q (-want +got):\n%s", tt.script, diff)
		}
	}
}

// TestBroken has the other checks go on without a configuration.
func TestBroken(t *testing.T) {
	m := machine(t, `{version: 2}`)
	m.Config, m.ConfigErr = nil, &config.ProblemsError{Problems: []config.Problem{{Path: "/c", Message: "one", Hint: "do"}, {Path: "/c", Message: "two"}}}
	got := Run(t.Context(), m)
	if Count(got, Problem) != 2 || got[0].Check != "configuration" || got[0].What != "/c: one" || got[0].Remedy != "do" {
		t.Errorf("a broken configuration: got %+v", got)
	}
	last := ""
	order := ""
	for _, f := range got {
		if f.Check != last {
			last = f.Check
			order += f.Check + " "
		}
	}
	if want := "configuration runtimes hosts sql ports files heddles "; order != want {
		t.Errorf("checks: got %q, want %q", order, want)
	}
	for _, err := range []error{&config.NotFoundError{Looked: []string{"/a"}}, &config.NotFoundError{Asked: "--config"}, errors.New("x")} {
		if f := broken(err); len(f) != 1 || f[0].Level != Problem || f[0].Remedy == "" {
			t.Errorf("%v: got %+v, want one problem with a remedy", err, f)
		}
	}
}
