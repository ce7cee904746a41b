package hostfile

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// bench is a machine of a test's own.
type bench struct {
	*Editor
	t *testing.T
}

func newBench(t *testing.T) bench {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	env := Env{OS: runtime.GOOS, Home: filepath.Join(dir, "home"), Cwd: filepath.Join(dir, "project"), AppData: filepath.Join(dir, "appdata")}
	for _, d := range []string{env.Home, env.Cwd} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	now := func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }
	return bench{&Editor{Env: env, State: filepath.Join(dir, "state"), Now: now}, t}
}

// put writes a host's file and returns its path.
func (b bench) put(host string, scope Scope, text string) string {
	b.t.Helper()
	f, err := b.File(host, scope)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.write(f.Path, text)
}

func (b bench) write(path, text string) string {
	b.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
		b.t.Fatal(err)
	}
	return path
}

func (b bench) read(path string) string {
	b.t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		b.t.Fatal(err)
	}
	return string(data)
}

// request is an install that stands in for the server "weather".
func (b bench) request(host string, scope Scope) Request {
	return Request{
		Host: host, Scope: scope, Replace: SameName("weather"),
		Entry: Entry{Binary: "/usr/local/bin/heddle", Config: "/home/u/heddle.yml"},
	}
}

func (b bench) install(host string, scope Scope) *Change {
	b.t.Helper()
	c, err := b.Install(context.Background(), b.request(host, scope))
	if err != nil {
		b.t.Fatalf("install: %v", err)
	}
	return c
}

func (b bench) rollback(host string, scope Scope) *Change {
	b.t.Helper()
	c, err := b.Rollback(context.Background(), host, scope)
	if err != nil {
		b.t.Fatalf("rollback: %v", err)
	}
	return c
}

// files lists what is in a directory, with everything below it.
func (b bench) files(dir string) []string {
	b.t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err == nil && p != dir {
			rel, _ := filepath.Rel(dir, p)
			out = append(out, filepath.ToSlash(rel))
		}
		return nil
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return out
}

func TestCorpusIsLarge(t *testing.T) {
	if n := len(corpus()); n < 40 {
		t.Errorf("%d files, want 40 at least", n)
	}
}

func TestInstallAndRollback(t *testing.T) {
	for _, x := range corpus() {
		t.Run(x.host+"/"+x.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			path := b.put(x.host, x.scope, x.text)
			_, err := b.Install(context.Background(), b.request(x.host, x.scope))
			if x.refused != "" {
				if err == nil || !strings.Contains(err.Error(), x.refused) {
					t.Errorf("install: %v, want %q", err, x.refused)
				}
				if got := b.read(path); got != x.text {
					t.Errorf("a refused install left %q, want %q", got, x.text)
				}
				return
			}
			if err != nil {
				t.Fatalf("install: %v", err)
			}
			installed := b.read(path)
			checkInstalled(t, b, x, installed)
			if again := b.install(x.host, x.scope); !again.Empty() {
				t.Errorf("a second install would change\n%s", again.Diff())
			}
			b.rollback(x.host, x.scope)
			if got := b.read(path); got != x.text {
				t.Errorf("after rollback %q, want %q", got, x.text)
			}
			info, err := os.Stat(path)
			if err != nil || info.Mode().Perm() != 0o640 {
				t.Errorf("mode %v (%v), want 0640", info.Mode(), err)
			}
			for _, name := range b.files(b.State) { // backups alone are left
				if name != "lock" && !strings.HasPrefix(name, aside) {
					t.Errorf("state after rollback: %s", name)
				}
			}
		})
	}
}

// checkInstalled looks at a file after an install as its host would.
func checkInstalled(t *testing.T, b bench, x specimen, text string) {
	t.Helper()
	f, err := b.File(x.host, x.scope)
	if err != nil {
		t.Fatal(err)
	}
	servers, err := Read(f)
	if err != nil {
		t.Fatalf("read what was installed: %v\n%s", err, text)
	}
	heddles := 0
	for _, s := range servers {
		if s.Heddle {
			heddles++
			if s.Command != "/usr/local/bin/heddle" || strings.Join(s.Args, " ") != "start --mode "+string(f.Host.Mode)+" --config /home/u/heddle.yml" {
				t.Errorf("heddle is started by %q %q", s.Command, s.Args)
			}
		}
		if s.Name == "weather" && s.Project == "" && !s.Disabled {
			t.Errorf("weather is still there:\n%s", text)
		}
	}
	if heddles != 1 {
		t.Errorf("%d entries of heddle, want 1:\n%s", heddles, text)
	}
	if strings.HasPrefix(x.text, bomText) != strings.HasPrefix(text, bomText) {
		t.Error("the byte order mark came or went")
	}
	if strings.Contains(x.text, "\r\n") && strings.Count(text, "\n") != strings.Count(text, "\r\n") {
		t.Errorf("line ends are mixed: %q", text)
	}
	if strings.Contains(x.text, "\t\"") && strings.Contains(text, "\n  ") {
		t.Errorf("indented with spaces among tabs:\n%s", text)
	}
}

// TestLayout is what users see of an install's layout.
func TestLayout(t *testing.T) {
	tests := []struct{ name, host, before, after string }{
		{
			"between comments", "cursor",
			"{\n  \"mcpServers\": {\n    // the weather\n    \"weather\": {\"command\": \"npx\"}, // behind\n    \"notes\": {\"command\": \"uvx\"} // last\n    // end\n  }\n}\n",
			"{\n  \"mcpServers\": {\n    // the weather\n    // behind\n    \"notes\": {\"command\": \"uvx\"}, // last\n    // end\n    \"heddle\": {\n      \"command\": \"/usr/local/bin/heddle\",\n      \"args\": [\"start\", \"--mode\", \"compact\", \"--config\", \"/home/u/heddle.yml\"]\n    }\n  }\n}\n",
		},
		{
			"minified", "cursor",
			`{"mcpServers":{"weather":{"command":"npx"}},"x":1}`,
			`{"mcpServers":{"heddle":{"command":"/usr/local/bin/heddle","args":["start","--mode","compact","--config","/home/u/heddle.yml"]}},"x":1}`,
		},
		{
			"no servers", "cursor",
			"{\n\t\"theme\": \"dark\",\n}\n",
			"{\n\t\"theme\": \"dark\",\n\t\"mcpServers\": {\n\t\t\"heddle\": {\n\t\t\t\"command\": \"/usr/local/bin/heddle\",\n\t\t\t\"args\": [\"start\", \"--mode\", \"compact\", \"--config\", \"/home/u/heddle.yml\"]\n\t\t}\n\t},\n}\n",
		},
		{
			"codex", "codex",
			"model = \"o5\"\n\n[mcp_servers.weather]\ncommand = \"npx\"\n\n# look\n[tui]\nx = 1\n",
			"model = \"o5\"\n\n# look\n[tui]\nx = 1\n\n[mcp_servers.heddle]\ncommand = \"/usr/local/bin/heddle\"\nargs = [\"start\", \"--mode\", \"native\", \"--config\", \"/home/u/heddle.yml\"]\n",
		},
		{
			"codex in braces", "codex",
			"mcp_servers = { weather = { command = \"npx\" }, notes = { command = \"uvx\" } }\n",
			"mcp_servers = { notes = { command = \"uvx\" }, heddle = { command = \"/usr/local/bin/heddle\", args = [\"start\", \"--mode\", \"native\", \"--config\", \"/home/u/heddle.yml\"] } }\n",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			path := b.put(tt.host, User, tt.before)
			b.install(tt.host, User)
			if diff := cmp.Diff(tt.after, b.read(path)); diff != "" {
				t.Errorf("after install (-want +got)\n%s", diff)
			}
		})
	}
}

func TestPlanWritesNothing(t *testing.T) {
	b := newBench(t)
	path := b.put("cursor", User, "{\n  \"mcpServers\": {\n    "+weather+"\n  }\n}\n")
	c, err := b.Plan(b.request("cursor", User))
	if err != nil {
		t.Fatal(err)
	}
	if got := b.read(path); !strings.Contains(got, "weather") || exists(b.State) {
		t.Errorf("plan wrote: %s, state %v", got, exists(b.State))
	}
	if string(c.Files[0].Old) != b.read(path) || !bytes.Contains(c.Files[0].New, []byte("heddle")) {
		t.Errorf("old %q, new %q", c.Files[0].Old, c.Files[0].New)
	}
}

func TestNewFile(t *testing.T) {
	b := newBench(t)
	c := b.install("vscode", Project)
	path := filepath.Join(b.Env.Cwd, ".vscode", "mcp.json")
	want := "{\n  \"servers\": {\n    \"heddle\": {\n      \"type\": \"stdio\",\n      \"command\": \"/usr/local/bin/heddle\",\n" +
		"      \"args\": [\"start\", \"--mode\", \"compact\", \"--config\", \"/home/u/heddle.yml\"]\n    }\n  }\n}\n"
	if diff := cmp.Diff(want, b.read(path)); diff != "" {
		t.Errorf("new file (-want +got)\n%s", diff)
	}
	if !strings.Contains(c.Diff(), "--- /dev/null") {
		t.Errorf("diff\n%s", c.Diff())
	}
	b.rollback("vscode", Project)
	if left := b.files(b.Env.Cwd); len(left) != 0 {
		t.Errorf("after rollback there is %v, want nothing", left)
	}
}

// TestNewFileThatOthersUse keeps what came into the file after the install.
func TestNewFileThatOthersUse(t *testing.T) {
	b := newBench(t)
	b.install("codex", User)
	path := filepath.Join(b.Env.Home, ".codex", "config.toml")
	b.write(path, "model = \"o5\"\n"+b.read(path))
	c := b.rollback("codex", User)
	if got := b.read(path); got != "model = \"o5\"\n" && got != "model = \"o5\"\n\n" {
		t.Errorf("after rollback %q", got)
	}
	if len(c.Notes) != 2 || !strings.Contains(c.Notes[0], "only heddle's own part is reversed") {
		t.Errorf("notes %q", c.Notes)
	}
}

func TestRollbackWithoutInstall(t *testing.T) {
	b := newBench(t)
	_, err := b.Rollback(context.Background(), "cursor", User)
	if !errors.Is(err, ErrNotInstalled) {
		t.Errorf("%v, want ErrNotInstalled", err)
	}
	b.put("cursor", User, `{"mcpServers": {"heddle": {"command": "heddle", "args": ["start"]}}}`)
	_, err = b.Rollback(context.Background(), "cursor", User)
	var e *Error
	if !errors.As(err, &e) || !strings.Contains(e.Hint, "uninstall") {
		t.Errorf("%v, want a hint at uninstall", err)
	}
}
