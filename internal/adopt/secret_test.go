package adopt

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heddle/internal/config"

	"github.com/google/go-cmp/cmp"
)

// TestPlainSecrets wants what stands under the name of a secret out of the new file,
// whatever it looks like, and all of it named; and the very texts for the server.
func TestPlainSecrets(t *testing.T) {
	env := map[string]string{
		"PGPASSWORD": "postgres", "DB_PASSWORD": "changeme", "SECRET": "1234", "MYSQL_PWD": "Tr0ub4dor&3", "JIRA_PASSWORD": "yourMajesty!99",
		"AWS_SECRET_ACCESS_KEY": "/wJalrXUtnFEMI/K7MDENGbPxRfiCYzzzzKEY", "MIX": "Bearer abcdef1234567890abcdef", "DSN": "postgres://u:<pw>@h/d",
		"PWD_FILE": "/run/secrets/pw", "PASSWORD_PATH": "x", "TOKEN": "", "USE_AUTH": "true", "MAX_TOKENS": "4096", "MODE": "fast",
	}
	args := []string{"--token=12345", "--pass", "hunter2", "--token-file", "/run/token", "--port", "8080", "Server=h;Password=Pa55;Encrypt=yes"}
	r := request(t, map[string]string{".mcp.json": string(mustJSON(map[string]any{"mcpServers": map[string]any{"a": map[string]any{"command": "x", "args": args, "env": env}}}))})
	p, err := New(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Write(); err != nil {
		t.Fatal(err)
	}
	text := string(p.text)
	for _, secret := range []string{"postgres", "changeme", "1234", "Tr0ub4dor", "yourMajesty", "wJalr", "abcdef", "<pw>", "hunter2", "Pa55"} {
		if strings.Contains(text, secret) {
			t.Errorf("%s is in the file:\n%s", secret, text)
		}
	}
	for _, open := range []string{"/run/secrets/pw", `"4096"`, `"true"`, "fast", "8080", "Server=h;Password=${", "Encrypt=yes"} {
		if !strings.Contains(text, open) {
			t.Errorf("%s is not in the file:\n%s", open, text)
		}
	}
	var fields []string
	for _, m := range p.Moved {
		fields = append(fields, m.Field)
	}
	want := []string{
		"env.AWS_SECRET_ACCESS_KEY", "env.DB_PASSWORD", "env.DSN", "env.JIRA_PASSWORD", "env.MIX", "env.MYSQL_PWD", "env.PGPASSWORD", "env.SECRET",
		"args[0]", "args[2]", "args[7]",
	}
	if diff := cmp.Diff(want, fields); diff != "" {
		t.Errorf("moved (-want +got)\n%s", diff)
	}
	cfg, err := config.Load(r.Path, config.Env{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(args, cfg.Servers[0].Args); diff != "" {
		t.Errorf("arguments (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(env, cfg.Servers[0].Env); diff != "" {
		t.Errorf("variables (-want +got)\n%s", diff)
	}
	if len(cfg.Warnings) > 0 {
		t.Errorf("the new file has warnings: %v", cfg.Warnings)
	}
}

// TestMovedInJSON wants the names of all that is printed as JSON alike.
func TestMovedInJSON(t *testing.T) {
	got, err := json.Marshal(Moved{"a", "url", "B"})
	if want := `{"server":"a","field":"url","variable":"B"}`; err != nil || string(got) != want {
		t.Errorf("%s, want %s (%v)", got, want, err)
	}
}

// TestNameOfAnotherFormat refuses a name by which the new file would be read as JSON or
// TOML.
func TestNameOfAnotherFormat(t *testing.T) {
	for _, name := range []string{"heddle.json", "x.JSON", "x.jsonc", "x.json5", "x.toml"} {
		r := request(t, map[string]string{".mcp.json": `{"mcpServers": {"a": {"command": "x"}}}`})
		r.Path, r.Force = filepath.Join(r.Env.Cwd, name), true
		_, err := New(r)
		if e, ok := err.(*Error); !ok || !strings.Contains(e.Message, "init writes YAML") || !strings.Contains(e.Hint, "heddle.yml") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"x.yml", "x.yaml", "x.conf", "heddle"} {
		r := request(t, map[string]string{".mcp.json": `{"mcpServers": {"a": {"command": "x"}}}`})
		r.Path = filepath.Join(r.Env.Cwd, name)
		p, err := New(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Write(); err != nil {
			t.Fatal(err)
		}
		if cfg, err := config.Load(r.Path, config.Env{}); err != nil || len(cfg.Servers) != 1 {
			t.Errorf("%s is not read: %v", name, err)
		}
	}
}

// TestRestrictions takes over what a host says against tools, in the entry and outside.
func TestRestrictions(t *testing.T) {
	r := request(t, map[string]string{
		".mcp.json":             `{"mcpServers": {"My Server": {"command": "x"}}}`,
		".claude/settings.json": `{"permissions": {"deny": ["mcp__My_Server__echo", "Bash(rm *)"], "ask": ["mcp__My_Server__write"]}}`,
	})
	p, err := New(r)
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Decode(p.text, r.Path, config.Env{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"echo"}, cfg.Servers[0].Tools.Deny); diff != "" {
		t.Errorf("deny (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]string{"my-server/write"}, cfg.Tools.Confirm); diff != "" {
		t.Errorf("confirm (-want +got)\n%s", diff)
	}
	if len(p.Notes) != 2 || !strings.Contains(p.Notes[0], "tool echo is denied, as in ") {
		t.Errorf("notes %q", p.Notes)
	}
	if _, err := os.Stat(r.Path); err == nil {
		t.Error("planning wrote")
	}
}
