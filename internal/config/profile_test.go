package config

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const profiled = `version: 2
servers:
  GitHub: {command: npx}
  docs: {url: "https://docs.example.com/mcp"}
tools: {deny: [delete_all]}
profiles:
  work: {servers: [GitHub], tools: {allow: ["github/get_*"], deny: ["*_secret"]}}
  idle: {servers: []}
  reader: {tools: {allow: ["*_get_*"]}}
  whole: {}
`

func TestWithProfile(t *testing.T) {
	cfg := decode(t, profiled, "heddle.yml")
	for name, want := range map[string][]string{"work": {"github"}, "idle": nil, "reader": {"github", "docs"}, "whole": {"github", "docs"}} {
		got, err := cfg.WithProfile(name)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, serverNames(got)); diff != "" {
			t.Errorf("the servers of %s differ (-want +got):\n%s", name, diff)
		}
		if got.Profile == nil || got.Profile.Name != name {
			t.Errorf("WithProfile(%q) chose %v", name, got.Profile)
		}
	}
	if got := serverNames(cfg); len(got) != 2 || cfg.Profile != nil {
		t.Errorf("the configuration itself changed: servers %v, profile %v", got, cfg.Profile)
	}
	if len(cfg.Warnings) != 2 { // GitHub's name, and the profile that takes nothing away
		t.Errorf("got warnings %v, want two", cfg.Warnings)
	}
}

// A profile that does not exist must not be everything.
func TestUnknownProfile(t *testing.T) {
	for _, name := range []string{"", "WORK", "work ", "wor", "../work", "*"} {
		got, err := decode(t, profiled, "heddle.yml").WithProfile(name)
		var unknown *ProfileError
		if !errors.As(err, &unknown) || got != nil {
			t.Errorf("WithProfile(%q) = %v, %v, want a ProfileError", name, got, err)
		}
	}
	_, err := decode(t, `{"mcpServers": {"a": {"command": "npx"}}}`, "mcp.json").WithProfile("work")
	if err == nil {
		t.Error("a host's file has a profile")
	}
}

func serverNames(c *Config) []string {
	var out []string
	for _, s := range c.Servers {
		out = append(out, s.Name)
	}
	return out
}
