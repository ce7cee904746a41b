package config

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestRemote(t *testing.T) {
	c := loadText(t, "heddle.yml", `
version: 2
servers:
  docs:
    url: https://example.com/mcp?a=b
    type: sse
    headers: {authorization: "Bearer ${DOCS_TOKEN}", X-Region: europe, X-Pad: "  p  ", x-api-key: literal-key-1}
    ca_file: certs/${CA}.pem
    start: lazy
    idle_stop: 0
  made: {url: "https://${HOST}/mcp"}
  home: {url: "http://127.0.0.1:8080", ca_file: ~/ca.pem, type: http, start: eager, idle_stop: 1h}
`, vars("DOCS_TOKEN", "token-of-docs", "HOST", "made.test", "CA", "mine"))
	got := []Server{}
	for _, s := range c.Servers {
		got = append(got, Server{Name: s.Name, URL: s.URL, Type: s.Type, Headers: s.Headers, CAFile: s.CAFile, Start: s.Start, IdleStop: s.IdleStop, Unusable: s.Unusable, Command: s.Command})
	}
	want := []Server{
		{
			Name: "docs", URL: "https://example.com/mcp?a=b", Type: "sse", CAFile: filepath.Join(c.Dir, "certs/mine.pem"), Start: "lazy",
			Headers: map[string]string{"Authorization": "Bearer token-of-docs", "X-Region": "europe", "X-Pad": "p", "X-Api-Key": "literal-key-1"},
		},
		{Name: "made", URL: "https://made.test/mcp", Headers: map[string]string{}},
		{Name: "home", URL: "http://127.0.0.1:8080", Type: "http", CAFile: "/home/u/ca.pem", Start: "eager", IdleStop: time.Hour, Headers: map[string]string{}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("servers (-want +got):\n%s", diff)
	}
	for _, secret := range []string{"token-of-docs", "Bearer token-of-docs", "literal-key-1"} {
		if !slices.Contains(c.Secrets(), secret) {
			t.Errorf("%q is not masked", secret)
		}
	}
	if slices.Contains(c.Secrets(), "europe") {
		t.Error("an ordinary header is masked")
	}
	if w := warnings(c); !strings.Contains(w, "servers.docs.headers.x-api-key: looks like a secret in plain text") || strings.Count(w, "\n") != 1 {
		t.Errorf("warnings %s", w)
	}
}

// TestRemoteGaps: what cannot be resolved costs that server alone, and no reason
// shows a value.
func TestRemoteGaps(t *testing.T) {
	c := loadText(t, "heddle.yml", `
version: 2
servers:
  token: {url: "https://example.com/", headers: {Authorization: "Bearer ${NONE}"}}
  host: {url: "https://${NONE}/"}
  login: {url: "https://${LOGIN}@example.com/"}
  scheme: {url: "${SCHEME}"}
  line: {url: "https://example.com/", headers: {X-A: "${LINE}"}}
  ca: {url: "https://example.com/", ca_file: "${EMPTY:-}"}
  off: {url: "https://${NONE}/", disabled: true}
  good: {url: "https://example.com/"}
`, vars("LOGIN", "user:hidden-1", "SCHEME", "file:///hidden-2", "LINE", "a\nhidden-3"))
	want := []string{
		"NONE is not set", "NONE is not set", "its url holds a user or a password", "its url must be an absolute http or https URL",
		"its header X-A holds a line break", "its ca_file is empty", "", "",
	}
	for i, s := range c.Servers {
		if !strings.HasPrefix(s.Unusable, want[i]) || (s.Unusable == "") != (want[i] == "") || strings.Contains(s.Unusable, "hidden") {
			t.Errorf("%s: unusable %q, want %q", s.Name, s.Unusable, want[i])
		}
	}
}

func TestRemoteHash(t *testing.T) {
	hash := func(text string) string {
		t.Helper()
		c, err := Decode([]byte("version: 2\nservers: {a: {"+text+"}}"), "/x/heddle.yml", vars("T", "value-1"))
		if err != nil {
			t.Fatal(err)
		}
		return c.Servers[0].Hash
	}
	seen := map[string]string{}
	for _, text := range []string{
		"url: https://a/", "url: https://b/", "url: https://a/, type: sse", "url: https://a/, headers: {X: a}", "url: https://a/, headers: {X: '${T}'}",
		"url: https://a/, ca_file: /c", "url: https://a/, start: lazy", "url: https://a/, idle_stop: 1s", "command: https://a/",
	} {
		h := hash(text)
		if other, ok := seen[h]; ok {
			t.Errorf("%q and %q have one hash", text, other)
		}
		if seen[h] = text; hash(text) != h {
			t.Errorf("the hash of %q changes", text)
		}
	}
}

func TestHostRemote(t *testing.T) {
	c := loadText(t, "mcp.json", `{"mcpServers": {
  "plain": {"url": "https://a.test/mcp"},
  "cursor": {"type": "streamable-http", "url": "https://a.test/mcp", "headers": {"Authorization": "Bearer ${env:T}", "Accept": "x"}},
  "vscode": {"type": "http", "url": "https://a.test/mcp", "headers": {"X-Key": "${input:key}"}},
  "cline": {"type": "streamableHttp", "url": "https://a.test/mcp", "disabled": true},
  "opencode": {"type": "remote", "url": "https://a.test/mcp"},
  "old": {"type": "sse", "url": "https://a.test/sse"},
  "windsurf": {"serverUrl": "https://a.test/mcp"},
  "gemini": {"httpUrl": "https://a.test/mcp", "url": "https://a.test/sse"},
  "both": {"type": "http", "command": "x", "args": ["y"], "url": "https://a.test/mcp"},
  "both2": {"type": "stdio", "command": "x", "url": "https://a.test/mcp", "headers": {"A": "b"}},
  "ws": {"type": "ws", "url": "wss://a.test/"},
  "bare": {"type": "http"},
  "login": {"url": "https://u:hidden@a.test/"},
  "workspace": {"url": "${workspaceFolder}"}
}}`, vars("T", "token-1"))
	type row struct{ Name, Command, URL, Type, Unusable string }
	var got []row
	for _, s := range c.Servers {
		why, _, _ := strings.Cut(s.Unusable, ";")
		got = append(got, row{s.Name, s.Command, s.URL, s.Type, why})
	}
	const u = "https://a.test/mcp"
	want := []row{
		{"plain", "", u, "", ""},
		{"cursor", "", u, "http", ""},
		{"vscode", "", u, "http", "${input:key} is asked for by its host"},
		{"cline", "", u, "http", ""},
		{"opencode", "", u, "", ""},
		{"old", "", "https://a.test/sse", "sse", ""},
		{"windsurf", "", u, "", ""},
		{"gemini", "", u, "", ""},
		{"both", "", u, "http", ""},
		{"both2", "x", "", "", ""},
		{"ws", "", "", "", noKind},
		{"bare", "", "", "", noURL},
		{"login", "", "https://u:hidden@a.test/", "", "its url holds a user or a password"},
		{"workspace", "", "${workspaceFolder}", "", "${workspaceFolder} is known to its host alone"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("servers (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"Authorization": "Bearer token-1"}, c.Servers[1].Headers); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
	golden(t, "testdata/host_remote.golden", warnings(c))
}
