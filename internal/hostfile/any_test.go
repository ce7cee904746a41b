package hostfile

import (
	"path/filepath"
	"testing"
)

func TestFileAt(t *testing.T) {
	b := newBench(t)
	tests := []struct{ name, text, host, dir string }{
		{".mcp.json", `{"mcpServers": {"a": {"command": "${workspaceFolder}/x"}}}`, "claude-code", b.Env.Cwd},
		{"mcp.json", `{"mcpServers": {"a": {"command": "${workspaceFolder}/x"}}}`, "file", b.Env.Cwd},
		{"sub/other.json", `{"servers": {"a": {"command": "${workspaceFolder}/x"}}}`, "file", filepath.Join(b.Env.Cwd, "sub")},
		{"zed.json", `{"context_servers": {"a": {"command": {"path": "${workspaceFolder}/x"}}}}`, "file", b.Env.Cwd},
		{"oc.json", `{"mcp": {"a": {"command": ["${workspaceFolder}/x"]}}}`, "file", b.Env.Cwd},
		{"c.toml", "[mcp_servers.a]\ncommand = \"${workspaceFolder}/x\"\n", "file", b.Env.Cwd},
	}
	for _, tt := range tests {
		f, err := FileAt(b.Env, b.write(filepath.Join(b.Env.Cwd, tt.name), tt.text))
		if err != nil || f.Host.Name != tt.host {
			t.Errorf("%s: %v (%v), want host %s", tt.name, f, err, tt.host)
			continue
		}
		servers, err := Read(f)
		if err != nil || len(servers) != 1 || servers[0].Command != tt.dir+"/x" {
			t.Errorf("%s: %+v, %v", tt.name, servers, err)
		}
	}
	for name, text := range map[string]string{"none.json": "{}", "broken.json": "{", "list.json": "[]"} {
		if _, err := FileAt(b.Env, b.write(filepath.Join(b.Env.Cwd, name), text)); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
	if _, err := FileAt(b.Env, filepath.Join(b.Env.Cwd, "missing.json")); err == nil {
		t.Error("a file that is not there was taken")
	}
}

func TestCurrent(t *testing.T) {
	b := newBench(t)
	if s, err := b.Current("cursor", User); s != nil || err != nil {
		t.Errorf("before: %v, %v", s, err)
	}
	b.install("cursor", User)
	if s, err := b.Current("cursor", User); err != nil || s == nil || s.Command != "/usr/local/bin/heddle" {
		t.Errorf("after: %v, %v", s, err)
	}
}

// TestFileOfARecord goes back where the install was, though the host has another
// file by now.
func TestFileOfARecord(t *testing.T) {
	b := newBench(t)
	jsonc := b.write(filepath.Join(b.Env.Cwd, "opencode.jsonc"), "{}\n")
	b.install("opencode", Project)
	b.write(filepath.Join(b.Env.Cwd, "opencode.json"), "{}\n")
	b.rollback("opencode", Project)
	if got := b.read(jsonc); got != "{}\n" {
		t.Errorf("after rollback %q", got)
	}
}

// TestApprovalOfAnEntryByHand sets the approval alone, and takes it back alone.
func TestApprovalOfAnEntryByHand(t *testing.T) {
	b := newBench(t)
	const byHand = `{"mcpServers": {"heddle": {"type": "stdio", "command": "/usr/local/bin/heddle", "args": ["start", "--mode", "compact", "--config", "/home/u/heddle.yml"]}}}`
	path := b.put("claude-code", Project, byHand)
	if c := b.install("claude-code", Project); len(c.Files) != 1 {
		t.Fatalf("%d files changed, want 1\n%s", len(c.Files), c.Diff())
	}
	b.rollback("claude-code", Project)
	if b.read(path) != byHand || len(b.files(b.Env.Cwd)) != 1 {
		t.Errorf("after rollback %v\n%s", b.files(b.Env.Cwd), b.read(path))
	}
	b.install("claude-code", Project)
	if _, err := b.Uninstall(t.Context(), "claude-code", Project); err != nil {
		t.Fatal(err)
	}
	if got := b.read(path); got != `{"mcpServers": {}}` || len(b.files(b.Env.Cwd)) != 1 {
		t.Errorf("after uninstall %v\n%s", b.files(b.Env.Cwd), got)
	}
}
