package test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// resultRef is the name of a capture in the first line of a summary.
var resultRef = regexp.MustCompile(`read_result \{\\?"result_ref\\?":\\?"([^"\\]+)`)

// bigCall makes far more than a host would show.
const bigCall = `{"bytes":400000,"of":"log"}`

// follow is the script of a model in compact mode: it finds a tool, calls it, and
// reads the large result on.
func follow(results []string) (tool, args, say string) {
	switch len(results) {
	case 0:
		return "find_tool", `{"query":"big"}`, ""
	case 1:
		return "call_tool", `{"tool":"big","arguments":` + bigCall + `}`, ""
	case 2:
		if m := resultRef.FindStringSubmatch(results[1]); m != nil {
			return "read_result", `{"result_ref":"` + m[1] + `"}`, ""
		}
		return "", "", "the result names no capture"
	}
	return "", "", "all read"
}

// TestHostSession puts real hosts between heddle and a scripted model: whatever
// the model sees has gone through both.
func TestHostSession(t *testing.T) {
	dir := hostsDir(t)
	heddle := buildHeddle(t)
	for _, c := range []struct {
		host    string
		named   func(string) string
		prepare func(*testing.T, *stay, *model)
		args    []string
	}{
		{"claude-code", func(tool string) string { return "mcp__heddle__" + tool }, claudeModel, []string{"-p", "Read the log.", "--allowedTools", "mcp__heddle__*"}},
		{"codex", func(tool string) string { return "mcp__heddle " + tool }, codexModel, []string{"exec", "--skip-git-repo-check", "Read the log."}},
		{"opencode", func(tool string) string { return "heddle_" + tool }, opencodeModel, []string{"run", "--model", "scripted/scripted", "Read the log."}},
	} {
		t.Run(c.host, func(t *testing.T) {
			i := slices.IndexFunc(realHosts, func(h realHost) bool { return h.name == c.host })
			s := newStay(t, realHosts[i], dir, heddle)
			m := newModel(t, c.named, follow)
			s.heddle(t, "init", "--from", c.host)
			s.heddle(t, "install", "--host", c.host, "--mode", "compact")
			c.prepare(t, s, m)
			said := s.host(t, c.args...)
			tools, results := m.seen()
			if !strings.Contains(said, "all read") || len(results) != 3 {
				t.Fatalf("%s says\n%s\nthe model was offered %v and saw %d results:\n%s\nwhat else was asked for: %v", c.host, said, tools, len(results), strings.Join(results, "\n----\n"), m.others)
			}
			for _, tool := range []string{"find_tool", "call_tool", "read_result"} {
				if !slices.Contains(tools, c.named(tool)) {
					t.Errorf("the model is not offered %s but %v", c.named(tool), tools)
				}
			}
			for _, name := range tools {
				if strings.Contains(name, "fake") || strings.Contains(name, "echo") {
					t.Errorf("the model is offered %s, which heddle stands in for", name)
				}
			}
			t.Logf("the model is offered %d tools and reads results of %d, %d and %d bytes", len(tools), len(results[0]), len(results[1]), len(results[2]))
			s.checkPage(t, results)
			s.checkLedger(t)
		})
	}
}

// checkPage wants a summary that is short, and a page that is exact.
func (s *stay) checkPage(t *testing.T, results []string) {
	t.Helper()
	exact, err := s.run(t, s.binary, "call", "fake::big", bigCall)
	if err != nil {
		t.Fatalf("heddle call: %v\n%s", err, exact)
	}
	if len(results[1]) > 12_000 {
		t.Errorf("the summary of %d bytes has %d", len(exact), len(results[1]))
	}
	lines := strings.SplitAfterN(exact, "\n", 12)
	if first := strings.Join(lines[:10], ""); !strings.Contains(results[2], first) {
		t.Errorf("the page begins\n%.600s\nwithout the first lines of the result\n%s", results[2], first)
	}
}

// checkLedger wants a row for each of the three calls and nothing wrong with any.
func (s *stay) checkLedger(t *testing.T) {
	t.Helper()
	log, err := s.run(t, s.binary, "log")
	if err != nil || !strings.Contains(log, "fake::big") {
		t.Errorf("heddle log: %v\n%s", err, log)
	}
}

func claudeModel(t *testing.T, s *stay, m *model) {
	s.env = append(s.env, "ANTHROPIC_BASE_URL="+m.URL, "ANTHROPIC_API_KEY=none")
}

func codexModel(t *testing.T, s *stay, m *model) {
	t.Helper()
	trusted := fmt.Sprintf(s.trusted, mustJSON(s.project))
	s.write(t, filepath.Join(s.home, s.trust), `model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"
`+trusted+`
[model_providers.scripted]
name = "Scripted"
base_url = "`+m.URL+`/v1"
wire_api = "responses"
`)
}

func opencodeModel(t *testing.T, s *stay, m *model) {
	t.Helper()
	s.write(t, filepath.Join(s.home, ".config/opencode/opencode.json"), `{
  "provider": {"scripted": {"npm": "@ai-sdk/openai-compatible", "name": "Scripted", "options": {"baseURL": "`+m.URL+`/v1", "apiKey": "none"},
    "models": {"scripted": {"name": "Scripted", "tool_call": true, "limit": {"context": 200000, "output": 8000}}}}},
  "permission": {"*": "allow"}
}`)
}
