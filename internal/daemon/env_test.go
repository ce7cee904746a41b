package daemon

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"heddle/internal/config"
	"heddle/internal/mcptest"

	"github.com/google/go-cmp/cmp"
)

// A child gets what it needs to run and what it was given by name, and nothing
// else of ours.
func TestChildEnvironment(t *testing.T) {
	f := newFixture(t, "servers:\n"+
		server("plain", mcptest.Options{}, "env OWN: its own")+
		server("given", mcptest.Options{}, "env_passthrough: [GITHUB_TOKEN, NOT_SET]"),
		fixtureOptions{environ: []string{
			"GITHUB_TOKEN=planted", "AWS_SECRET_ACCESS_KEY=planted", "OPENAI_API_KEY=planted", "SSH_AUTH_SOCK=planted", "LD_PRELOAD=", "NODE_OPTIONS=planted",
			"HOME=/home/x", "LC_ALL=C", "XDG_DATA_HOME=/data", "TZ=UTC", "LANG=C", "OWN=ours", "PATHOLOGICAL=planted", "broken", "HEDDLE_CONFIG=planted",
		}})
	f.ready("plain")
	f.ready("given")
	env := func(name string) []string {
		var all []string
		if err := json.Unmarshal([]byte(f.mustCall(name+"_env", "{}")), &all); err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, kv := range all {
			key, _, _ := strings.Cut(kv, "=")
			if key != "PATH" && key != "GOMAXPROCS" && key != "HEDDLE_OWNER" && !strings.HasPrefix(key, "HEDDLE_MCPTEST") {
				out = append(out, kv)
			}
		}
		slices.Sort(out)
		return out
	}
	base := []string{"HEDDLE_CHAIN=" + f.path, "HOME=/home/x", "LANG=C", "LC_ALL=C", "TZ=UTC", "XDG_DATA_HOME=/data"}
	want := slices.Sorted(slices.Values(append([]string{"OWN=its own"}, base...)))
	if diff := cmp.Diff(want, env("plain")); diff != "" {
		t.Errorf("environment (-want +got):\n%s", diff)
	}
	want = slices.Sorted(slices.Values(append([]string{"GITHUB_TOKEN=planted"}, base...)))
	if diff := cmp.Diff(want, env("given")); diff != "" {
		t.Errorf("environment with env_passthrough (-want +got):\n%s", diff)
	}
}

// A server's own empty value wins over ours, like any other value of its own.
func TestChildEnvOwnWins(t *testing.T) {
	s := &config.Server{Env: map[string]string{"HOME": "", "TZ": "x"}, EnvPassthrough: []string{"TZ"}}
	got := childEnv([]string{"HOME=/home/x", "TZ=UTC", "LANG=C"}, s, "/h.yml")
	if diff := cmp.Diff([]string{"HEDDLE_CHAIN=/h.yml", "HOME=", "LANG=C", "TZ=x"}, got); diff != "" {
		t.Errorf("environment (-want +got):\n%s", diff)
	}
}

func TestChain(t *testing.T) {
	s := &config.Server{}
	first := childEnv(nil, s, "/a.yml")
	second := childEnv(first, s, "/b.yml")
	chain := strings.TrimPrefix(second[0], ChainVar+"=")
	for path, want := range map[string]bool{"/a.yml": true, "/b.yml": true, "/c.yml": false, "": false, "/a": false} {
		if got := InChain(chain, path); got != want {
			t.Errorf("InChain(%q, %q) = %v, want %v", chain, path, got, want)
		}
	}
	if InChain("", "/a.yml") {
		t.Error("nobody is above the first")
	}
}
