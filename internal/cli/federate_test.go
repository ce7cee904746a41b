package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"heddle/internal/config"
	"heddle/internal/daemon"
)

// federating returns an app in a directory and a home of its own, where Cursor has
// this file.
func federating(t *testing.T, cursor string) (a *app, file string, told *bytes.Buffer) {
	t.Helper()
	home, dir := t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(home, "config"))
	t.Setenv("XDG_STATE_HOME", filepath.Join(home, "state"))
	t.Setenv(daemon.ChainVar, "/above.yml")
	t.Chdir(dir)
	file = filepath.Join(home, ".cursor", "mcp.json")
	put(t, file, cursor)
	told = &bytes.Buffer{}
	return &app{err: told, out: told, env: config.OSEnv(), federate: true}, file, told
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func names(cfg *config.Config) (out []string) {
	for _, s := range cfg.Servers {
		out = append(out, s.Name)
	}
	return out
}

// TestFederateSkipsItself guards against a heddle over HTTP that is its own server:
// only the address tells, whatever the host calls it.
func TestFederateSkipsItself(t *testing.T) {
	a, _, told := federating(t, `{"mcpServers": {"gateway": {"url": "http://localhost:8123/mcp"}, "web": {"url": "http://localhost:8124/mcp"}, "a": {"command": "a"}}}`)
	a.listen = "127.0.0.1:8123"
	cfg, err := a.load()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := names(cfg), []string{"web", "a"}; !slices.Equal(got, want) {
		t.Errorf("servers: got %v, want %v", got, want)
	}
	if !strings.Contains(told.String(), "gateway (Cursor, ") || !strings.Contains(told.String(), "skipped: it is heddle itself") {
		t.Errorf("told %q", told)
	}
	want := daemon.ChainVar + "=/above.yml\n" + federated
	if !slices.Contains(a.environ(), want) {
		t.Errorf("servers are not told of the chain %q", want)
	}
	if err := a.refuseLoop(cfg); err != nil {
		t.Errorf("below another configuration: %v", err)
	}
	t.Setenv(daemon.ChainVar, "/above.yml\n"+federated)
	if err := a.refuseLoop(cfg); err == nil {
		t.Error("below another that federates: no error")
	}
}

// TestFederateAgain keeps what hosts had when heddle began: one may be writing its
// file while heddle reads its own anew. A configuration that comes wins.
func TestFederateAgain(t *testing.T) {
	a, file, told := federating(t, `{"mcpServers": {"a": {"command": "a", "env": {"K": "${A_SECRET}", "API_KEY": "literal-value"}}, "b": {"command": "b"}, "bad": {"command": "x", "args": ["${"]}}}`)
	t.Setenv("A_SECRET", "hidden-value")
	cfg, err := a.load()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := names(cfg), []string{"a", "b", "bad"}; !slices.Equal(got, want) {
		t.Errorf("servers: got %v, want %v", got, want)
	}
	if got := cfg.Secrets(); !slices.Contains(got, "hidden-value") || !slices.Contains(got, "literal-value") {
		t.Error("values of the hosts' files are not masked")
	}
	if len(cfg.Warnings) == 0 || cfg.Warnings[0].Path != file || cfg.Warnings[0].Line != 1 {
		t.Errorf("warnings are not at the host's file: %v", cfg.Warnings)
	}
	if strings.Contains(told.String(), "value") {
		t.Errorf("a value is told: %s", told)
	}
	put(t, file, "{")
	put(t, "heddle.yml", "version: 2\nservers: {a: {command: own}}\n")
	if cfg, err = a.again(cfg.Path); err != nil {
		t.Fatal(err)
	}
	if got, want := names(cfg), []string{"a", "b", "bad"}; !slices.Equal(got, want) || cfg.Servers[0].Command != "own" {
		t.Errorf("read again: got %v and %q, want %v and the configuration's own", got, cfg.Servers[0].Command, want)
	}
	put(t, "heddle.yml", "version: 2\nservers: {a: {comand: own}}\n")
	if _, err := a.again(cfg.Path); err == nil {
		t.Error("a configuration that became bad: no error")
	}
}
