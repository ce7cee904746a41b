package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestHostFile(t *testing.T) {
	text := "\ufeff" + `{
  // a note
  "theme": {"x": [1, {"x": 1, "x": 2}]}, "tools": {"deny": ["*"]},
  "mcpServers": {
    "a": {"command": "x", "args": ["https://h/p//q", "--c=/*keep*/",], "env": {"PORT": 8080}, "timeout": 60, "alwaysAllow": []}, /* off: "b": {} */
    "Two Words": {"type": "stdio", "command": "y", "url": null},
    "two-words": {"command": "z"},
    "TWO words": {"command": "z"},
    "heddle": {"command": "heddle", "args": ["start"]},
    "查询": {"command": "q"},
    "web": {"type": "http", "url": "https://example.com/mcp"},
    "web2": {"serverUrl": "https://example.com/mcp"},
    "odd": {"type": "sdk"},
    "off": {"command": "x", "disabled": true},
    "off2": {"command": "x", "enabled": false},
    "dup": {"command": "one"},
    "dup": {"command": "two"},
  },
}`
	c := loadText(t, "mcp.json", text, vars())
	type row struct{ Name, Original, Command, Unusable string }
	var got []row
	for _, s := range c.Servers {
		got = append(got, row{s.Name, s.Original, s.Command, s.Unusable})
	}
	want := []row{
		{"a", "a", "x", ""},
		{"two-words-2", "Two Words", "y", ""},
		{"two-words", "two-words", "z", ""},
		{"two-words-3", "TWO words", "z", ""},
		{"heddle-2", "heddle", "heddle", ""},
		{"server", "查询", "q", ""},
		{"web", "web", "", ""},
		{"web2", "web2", "", ""},
		{"odd", "odd", "", noStart},
		{"off", "off", "x", ""},
		{"off2", "off2", "x", ""},
		{"dup", "dup", "two", ""},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("servers (-want +got):\n%s", diff)
	}
	if c.Form != "host" || !c.Servers[9].Disabled || !c.Servers[10].Disabled {
		t.Errorf("form %q, disabled %v %v; want host, true, true", c.Form, c.Servers[9].Disabled, c.Servers[10].Disabled)
	}
	if diff := cmp.Diff([]string{"https://h/p//q", "--c=/*keep*/"}, c.Servers[0].Args); diff != "" {
		t.Errorf("args (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"PORT": "8080"}, c.Servers[0].Env); diff != "" {
		t.Errorf("env (-want +got):\n%s", diff)
	}
	golden(t, "testdata/host_warnings.golden", warnings(c))
}

func TestHostForms(t *testing.T) {
	tests := []struct{ name, text, form string }{
		{".mcp.json", `{"mcpServers": {}}`, "host"},
		{"mcp.json", `{"servers": {}, "inputs": []}`, "host"},
		{"settings.jsonc", "// x\n{\"mcpServers\": null}", "host"},
		{"config", ` {"mcpServers": {}}`, "host"},
		{"config", "version: 2\n", "heddle"},
		{"heddle.json", `{"version": 2, "servers": {}}`, "heddle"},
		{"mcp.json", `{"version": 2, "mcpServers": {}}`, "host"},
		{"mcp.json", `{"version": "1.0", "servers": {}}`, "host"},
		{"both.json", `{"mcpServers": {}, "servers": {"a": {}}}`, "host"},
	}
	for _, tt := range tests {
		c, err := Decode([]byte(tt.text), "/x/"+tt.name, Env{})
		if err != nil || c.Form != tt.form || len(c.Servers) != 0 {
			t.Errorf("%s %s: %+v, %v; want form %s without servers", tt.name, tt.text, c, err, tt.form)
		}
	}
}

func TestHostKeepsMalformedReferences(t *testing.T) {
	c := one(t, "host", "sed ${x%.*}", nil, vars())
	if got := warnings(c); !strings.Contains(got, "it is passed as written") {
		t.Errorf("warnings %q, want one about the reference", got)
	}
}
