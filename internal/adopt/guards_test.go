package adopt

import (
	"slices"
	"strings"
	"testing"

	"heddle/internal/config"

	"github.com/google/go-cmp/cmp"
)

// TestLocalHosts wants servers that open addresses for their user, or keep texts with
// links, to be let to this machine, and no others.
func TestLocalHosts(t *testing.T) {
	r := request(t, map[string]string{".mcp.json": `{"mcpServers": {
		"playwright": {"command": "npx", "args": ["-y", "@playwright/mcp@latest"]},
		"web": {"command": "uvx", "args": ["mcp-server-fetch"]},
		"devtools": {"command": "npx", "args": ["chrome-devtools-mcp"]},
		"weather": {"command": "docker", "args": ["run", "example/weather", "--url", "https://http.example/"]},
		"files": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "."]}
	}}`})
	p, err := New(r)
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Decode(p.text, r.Path, config.Env{})
	if err != nil {
		t.Fatal(err)
	}
	var local []string
	for _, s := range cfg.Servers {
		if slices.Contains(s.AllowPrivateHosts, "localhost") {
			local = append(local, s.Name)
		}
	}
	slices.Sort(local)
	if diff := cmp.Diff([]string{"devtools", "files", "playwright", "web"}, local); diff != "" {
		t.Error(diff)
	}
}

// TestGuardsOfAnother wants the sections that mcp-slim-guard has under the same names,
// and a word about those that cannot be read.
func TestGuardsOfAnother(t *testing.T) {
	const file = `version: 2
servers: {github: {command: npx, args: ["-y", "server"]}}
ssrf: {mode: log, block_private_ips: true, allow_domains: ["*.github.com"], block_domains: ["10.*", "192.168.*", "bad.example"]}
rate_limit: {default: "120/min", per_tool: {"github_*": "5/s"}, per_agent: {claude-code: "240/min"}}
injection_detection: {enabled: false}
audit: {output: syslog}
`
	r := request(t, map[string]string{"mcp-slim-guard.yml": file})
	r.From = "mcp-slim-guard.yml"
	p, err := New(r)
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Decode(p.text, r.Path, config.Env{})
	if err != nil {
		t.Fatal(err)
	}
	if s := cfg.Guards.SSRF; s == nil || s.Mode != "log" || !slices.Equal(s.BlockDomains, []string{"10.0.0.0/8", "192.168.0.0/16", "bad.example"}) {
		t.Errorf("ssrf is %+v", s)
	}
	if got := cfg.Guards.RateLimit; got.Default.String() != "120/min" || len(got.PerTool) != 1 || got.PerTool[0].Rate.String() != "5/s" {
		t.Errorf("rate_limit is %+v", got)
	}
	notes := strings.Join(p.Notes, "\n")
	for _, want := range []string{"rate_limit.per_agent is not taken over", "audit is not taken over: audit.output", "injection_detection is off there"} {
		if !strings.Contains(notes, want) {
			t.Errorf("no note says %q: %s", want, notes)
		}
	}
}
