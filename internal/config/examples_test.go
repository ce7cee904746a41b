package config

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestExamples: every example loads without a warning.
func TestExamples(t *testing.T) {
	entries, err := os.ReadDir("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if filepath.Ext(e.Name()) == ".mjs" { // plays a session
			continue
		}
		c := mustLoad(t, "../../examples/"+e.Name(), vars("HOME", "/home/u", "GITHUB_TOKEN", "x"))
		if len(c.Servers) == 0 || len(c.Warnings) > 0 {
			t.Errorf("%s: %d servers, warnings %q; want some and none", e.Name(), len(c.Servers), warnings(c))
		}
		for _, s := range c.Servers {
			if s.Unusable != "" {
				t.Errorf("%s: %s is unusable: %s", e.Name(), s.Name, s.Unusable)
			}
		}
	}
}

var fence = regexp.MustCompile("(?s)```(yaml|json)\n(.*?)```")

// TestReference: every example of the reference page is accepted, and the page
// names every key.
func TestReference(t *testing.T) {
	data, err := os.ReadFile("../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	for _, m := range fence.FindAllStringSubmatch(page, -1) {
		path, text := "/x/heddle.yml", m[2]
		if m[1] == "json" {
			path = "/x/mcp.json"
		} else if !strings.Contains(text, "version: 2") {
			text = "version: 2\n" + text
		}
		if _, err := Decode([]byte(text), path, vars()); err != nil {
			t.Errorf("%v\nin the example\n%s", err, m[2])
		}
	}
	keys := `version tools allow deny params max_length pattern required results output_schema max_frame catalog name_budget
		servers command args env env_passthrough cwd start start_timeout timeout max_timeout max_concurrency disabled type
		restart max_attempts base_delay breaker failures cooldown ledger keep
		ssrf rate_limit injection_detection secrets audit profiles confirm threshold_tokens memory ttl duckdb_memory
		query_timeout export_dir mesh cache lock url headers ca_file idle_stop allow_private_hosts provenance_denylist`
	for _, key := range strings.Fields(keys) {
		if !strings.Contains(page, "`"+key+"`") {
			t.Errorf("docs/configuration.md does not name `%s`", key)
		}
	}
}
