package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzDecode: no input panics, and every outcome is either a whole configuration
// or a list of problems.
func FuzzDecode(f *testing.F) {
	paths, err := filepath.Glob("testdata/errors/*")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range append(paths, "../../examples/heddle.yml", "../../examples/mcp.json", "../../examples/codex.toml") {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		if !strings.HasSuffix(path, ".golden") {
			f.Add(data, strings.HasSuffix(path, ".json"))
		}
	}
	env := vars("HOME", "/home/u", "A", "value-of-a")
	f.Fuzz(func(t *testing.T, data []byte, json bool) {
		path := "/x/heddle.yml"
		if json {
			path = "/x/mcp.json"
		}
		c, err := Decode(data, path, env)
		var problems *ProblemsError
		switch {
		case err == nil:
			checkWhole(t, c)
		case !errors.As(err, &problems) || len(problems.Problems) == 0:
			t.Errorf("error %v, want a list of problems", err)
		}
	})
}

func checkWhole(t *testing.T, c *Config) {
	names := map[string]bool{}
	for _, s := range c.Servers {
		if names[s.Name] || Normalise(s.Name) != s.Name || reserved[s.Name] || s.Hash == "" {
			t.Errorf("server %q of %q, hash %q: not a proper server", s.Name, s.Original, s.Hash)
		}
		names[s.Name] = true
		if s.Unusable == "" && !s.Disabled && s.Command == "" && s.URL == "" {
			t.Errorf("server %q is usable without a command or a URL", s.Name)
		}
	}
}
