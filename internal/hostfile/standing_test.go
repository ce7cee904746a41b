package hostfile

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestStaysAreNamed wants a word about every entry that an install leaves.
func TestStaysAreNamed(t *testing.T) {
	b := newBench(t)
	path := b.put("vscode", Project, `{"servers": {
		"mine": {"command": "a"}, "other": {"command": "b"}, "differs": {"command": "c"}, "off": {"command": "a", "disabled": true},
		"asks": {"command": "a", "env": {"K": "${input:k}"}}, "odd": 5
	}}`)
	r := b.request("vscode", Project)
	r.Replace = func(s Server) Standing {
		switch s.Name {
		case "mine":
			return Standing{Same: true, Differs: []string{"mine: it gets other variables"}}
		case "differs":
			return Standing{Why: "heddle has another one of that name"}
		}
		return Standing{}
	}
	c, err := b.Install(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, s := range c.Stays {
		got[s.Server.Name] = s.Why
	}
	want := map[string]string{
		"other": "heddle does not have it", "differs": "heddle has another one of that name", "off": "it is disabled there, and costs nothing",
		"asks": "heddle cannot run it: env.K needs ${input:k}, which the host asks its user for; put it into the environment and write ${VAR}", "odd": "heddle cannot run it: it is not an object",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("stays (-want +got)\n%s", diff)
	}
	if !slices.Contains(c.Notes, "mine: it gets other variables") {
		t.Errorf("notes %q", c.Notes)
	}
	if text := b.read(path); strings.Contains(text, `"mine"`) || !strings.Contains(text, `"differs"`) {
		t.Errorf("installed:\n%s", text)
	}
}

// TestAnotherHeddle installs a second configuration into the same file.
func TestAnotherHeddle(t *testing.T) {
	b := newBench(t)
	path := b.put("cursor", User, twoServers)
	b.install("cursor", User)
	r := b.request("cursor", User)
	r.Entry.Config = "/home/u/second/heddle.yml"
	r.Replace = SameName("other")
	c, err := b.Install(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	want := "heddle was there already, with /home/u/heddle.yml: the host has /home/u/second/heddle.yml in its place from now on"
	if !slices.Contains(c.Notes, want) {
		t.Errorf("notes %q, want %q", c.Notes, want)
	}
	if !slices.Equal(c.Restored, []string{"weather"}) {
		t.Errorf("restored %q: weather is with the host again", c.Restored)
	}
	b.rollback("cursor", User)
	if got := b.read(path); got != twoServers {
		t.Errorf("after rollback:\n%s", got)
	}
}

// TestAdmitted wants heddle in the list of servers that a host of Gemini CLI's kind
// starts, and the list as it was after a rollback.
func TestAdmitted(t *testing.T) {
	for _, host := range []string{"gemini", "qwen"} {
		for _, scope := range []Scope{User, Project} {
			t.Run(host+"/"+string(scope), func(t *testing.T) {
				b := newBench(t)
				before := "{\n  \"mcpServers\": {\n    " + weather + "\n  },\n  \"mcp\": {\"allowed\": [\"weather\"]} // mine\n}\n"
				path := b.put(host, scope, before)
				b.install(host, scope)
				if got := b.read(path); !strings.Contains(got, `"allowed": ["weather", "heddle"]`) {
					t.Errorf("installed:\n%s", got)
				}
				if again := b.install(host, scope); !again.Empty() {
					t.Errorf("a second install would change\n%s", again.Diff())
				}
				r := b.request(host, scope)
				r.Entry.Mode = Extreme
				if _, err := b.Install(context.Background(), r); err != nil {
					t.Fatal(err)
				}
				if got := b.read(path); !strings.Contains(got, `"allowed": ["weather", "heddle"]`) {
					t.Errorf("installed in another mode:\n%s", got)
				}
				b.rollback(host, scope)
				if got := b.read(path); got != before {
					t.Errorf("after rollback:\n%s", got)
				}
			})
		}
	}
}

// TestAdmittedElsewhere has the list in the user's file, and heddle go into the
// project's.
func TestAdmittedElsewhere(t *testing.T) {
	b := newBench(t)
	user := b.put("gemini", User, `{"mcp": {"allowed": ["weather"], "excluded": ["heddle"]}}`)
	b.put("gemini", Project, `{"mcpServers": {`+weather+`}}`)
	c := b.install("gemini", Project)
	if got := b.read(user); !strings.Contains(got, `["weather", "heddle"]`) {
		t.Errorf("the user's file:\n%s", got)
	}
	if !slices.ContainsFunc(c.Notes, func(n string) bool { return strings.Contains(n, "has heddle under mcp.excluded") }) {
		t.Errorf("notes %q", c.Notes)
	}
	b.rollback("gemini", Project)
	if got := b.read(user); strings.Contains(got, `, "heddle"]`) {
		t.Errorf("the user's file after rollback:\n%s", got)
	}
	b.put("gemini", Project, `{"mcp": {"allowed": ["x"]}}`)
	c = b.install("gemini", User)
	if !slices.ContainsFunc(c.Notes, func(n string) bool { return strings.Contains(n, "has a list mcp.allowed without heddle") }) {
		t.Errorf("notes %q", c.Notes)
	}
}

// TestDisabledByClaudeCode names the lists in which Claude Code keeps what its user
// turned off.
func TestDisabledByClaudeCode(t *testing.T) {
	for _, key := range []string{"disabledMcpServers", "disabledMcpjsonServers"} {
		b := newBench(t)
		b.put("claude-code", User, `{"projects": {`+quote(b.Env.Cwd)+`: {"`+key+`": ["heddle"]}}}`)
		c := b.install("claude-code", Project)
		if len(c.Notes) == 0 || !strings.Contains(c.Notes[0], key) {
			t.Errorf("%s: notes %q", key, c.Notes)
		}
	}
}
