package config

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// decode reads a file that is right. TOKEN is set.
func decode(t *testing.T, text, name string) *Config {
	t.Helper()
	cfg, err := Decode([]byte(text), "/etc/heddle/"+name, Env{Lookup: func(name string) (string, bool) {
		return "abcdef", name == "TOKEN"
	}})
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func TestArrayForm(t *testing.T) {
	cfg := decode(t, `{
	  // as mcp-loom has it
	  "servers": [
	    {"name": "Data Base", "command": "npx", "args": ["-y", "db"], "envPassthrough": ["PGHOST"], "provenanceDenylist": ["password"], "color": "red"},
	    {"name": "files", "command": "./files", "env": {"A": "${TOKEN}"}, "cwd": "sub"},
	  ],
	  "tokenThreshold": 800, "memoryBudgetBytes": 1048576, "duckdbMemoryLimit": "128MB", "exportDir": "out", "queryTimeoutMs": 1500,
	  "restart": {"maxAttempts": 0, "baseDelayMs": 250},
	}`, "loom.config.json")
	db, files := cfg.Servers[0], cfg.Servers[1]
	if diff := cmp.Diff([]any{"data-base", []string{"PGHOST"}, []string{"password"}}, []any{db.Name, db.EnvPassthrough, db.ProvenanceDenylist}); diff != "" {
		t.Errorf("the first server differs (-want +got):\n%s", diff)
	}
	if files.Env["A"] != "abcdef" || files.Cwd != "/etc/heddle/sub" {
		t.Errorf("the second server has A=%s in %s", files.Env["A"], files.Cwd)
	}
	r := cfg.Results
	if r.ThresholdTokens != 800 || r.Memory != 1<<20 || r.SQLMemory != 128e6 || r.ExportDir != "/etc/heddle/out" || r.QueryTimeout != 1500*time.Millisecond {
		t.Errorf("results are %+v", r)
	}
	if want := (Restart{MaxAttempts: 0, BaseDelay: 250 * time.Millisecond}); cfg.Restart != want {
		t.Errorf("restart is %+v, want %+v", cfg.Restart, want)
	}
}

func TestCodexTOML(t *testing.T) {
	const text = "\ufeff" + `model = "gpt-5" # everything else belongs to Codex
[mcp_servers.git]
command = "npx"
args = [
  "-y", # a comment
  "git",
]
env = { A = "1", "B.C" = "${TOKEN}" }
env_vars = ["HOME", { name = "TOKEN", source = "local" }]
startup_timeout_sec = 20
tool_timeout_sec = 2400.5
enabled_tools = ["status"]
disabled_tools = ["push"]

[mcp_servers."web docs"]
url = "https://docs.example.com/mcp"
bearer_token_env_var = "TOKEN"
http_headers.X-Team = "web"
env_http_headers = { X-Key = "TOKEN" }

[mcp_servers.off]
command = "off"
enabled = false

[[other]]
a = 1
[[other]]
a = 2
`
	cfg := decode(t, text, "config.toml")
	if diff := cmp.Diff([]string{"git", "web-docs", "off"}, serverNames(cfg)); diff != "" {
		t.Fatalf("servers differ (-want +got):\n%s", diff)
	}
	git, web, off := cfg.Servers[0], cfg.Servers[1], cfg.Servers[2]
	for _, c := range []struct {
		what      string
		got, want any
	}{
		{"args", git.Args, []string{"-y", "git"}},
		{"env", git.Env, map[string]string{"A": "1", "B.C": "abcdef"}},
		{"passthrough", git.EnvPassthrough, []string{"HOME", "TOKEN"}},
		{"times", []time.Duration{git.StartTimeout, git.Timeout, git.MaxTimeout}, []time.Duration{20 * time.Second, 2400500 * time.Millisecond, 2400500 * time.Millisecond}},
		{"tools", git.Tools, Tools{Allow: []string{"status"}, Deny: []string{"push"}}},
		{"headers", web.Headers, map[string]string{"Authorization": "Bearer abcdef", "X-Team": "web", "X-Key": "abcdef"}},
		{"disabled", off.Disabled, true},
		{"form", cfg.Form, "host"},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s differ (-want +got):\n%s", c.what, diff)
		}
	}
}
