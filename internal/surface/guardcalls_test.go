package surface_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"heddle/internal/daemon"
	"heddle/internal/mcptest"
	"heddle/internal/wire"
)

// Who configures a server at a private address can use it. That a model may name the
// address in an argument is another matter, and one of each server.
func TestGuardPrivateServers(t *testing.T) {
	web := newWebStage(t, stageOptions{mode: "native"}, daemon.HTTPOptions{Loopback: true})
	for _, mode := range []string{"native", "compact"} {
		s := newStage(t, stageOptions{mode: mode, servers: map[string]mcptest.Options{"z": {}}, config: fmt.Sprintf(`
ssrf: {}
servers:
  lan: {url: "%[1]s/mcp/up"}
  browser: {url: "%[1]s/mcp/up", allow_private_hosts: ["127.0.0.1:%[2]s"]}
`, web.url, web.port())})
		s.boot()
		args := `{"text":"on","see":` + quote(web.url+"/mcp/up") + `}`
		if got := text(t, s.run("lan_echo", `{"text":"on"}`)); got != "on" {
			t.Errorf("%s: a server at a private address: %q", mode, got)
		}
		if got := text(t, s.run("browser_echo", args)); got != "on" {
			t.Errorf("%s: an address that its server may be given: %q", mode, got)
		}
		r := refusalOf(t, s.run("lan_echo", args))
		if r.Kind != "blocked_address" || *r.Invoked || len(r.Violations) != 1 || r.Violations[0].Path != "/see" || !strings.Contains(r.Message, "servers.lan.allow_private_hosts") {
			t.Errorf("%s: the same address from a model: %+v", mode, r)
		}
		for _, other := range []string{"http://127.0.0.1:1/", "http://2130706433/", "http://[::ffff:7f00:1]/", "localhost:1", "http://169.254.169.254/"} {
			if r := refusalOf(t, s.run("browser_echo", `{"url":`+quote(other)+`}`)); r.Kind != "blocked_address" {
				t.Errorf("%s: %s: %+v", mode, other, r)
			}
		}
	}
}

// The modes of the check, and what is refused where there is none.
func TestGuardAddresses(t *testing.T) {
	const metadata, private, public = `{"q":{"url":"http://169.254.169.254/latest/meta-data/"}}`, `{"url":"http://10.0.0.1/x?a=S3NTINEL"}`, `{"url":"https://93.184.216.34/"}`
	for config, blocked := range map[string][]string{
		"": {metadata}, "ssrf: {}\n": {metadata, private}, "ssrf: {mode: log}\n": nil, "ssrf: {mode: off}\n": nil,
		"ssrf: {allow_private_hosts: [10.0.0.0/8]}\n": {metadata}, "ssrf: {block_domains: [93.184.216.34]}\n": {metadata, private, public},
	} {
		path := filepath.Join(t.TempDir(), "ledger.db")
		s := newStage(t, stageOptions{mode: "compact", config: config, ledger: path})
		for _, args := range []string{metadata, private, public} {
			m := s.run("up_args", args)
			if !slices.Contains(blocked, args) {
				if got := text(t, m); !strings.Contains(got, args) {
					t.Errorf("%q, %s: %s", config, args, got)
				}
				continue
			}
			if r := refusalOf(t, m); r.Kind != "blocked_address" || *r.Invoked || strings.Contains(string(m.Result), sentinel) {
				t.Errorf("%q, %s: %+v", config, args, r)
			}
		}
		for i, r := range s.rows(path) {
			want := map[bool]string{true: "refused"}[slices.Contains(blocked, []string{metadata, private, public}[i])]
			if strings.Contains(config, "log") && i < 2 {
				want = "noted"
			}
			if got := len(r.Decisions); (got > 0) != (want != "") || got > 0 && (r.Decisions[0].Action != want || r.Decisions[0].Check != "ssrf") {
				t.Errorf("%q: row %d has the decisions %+v, want %q", config, i, r.Decisions, want)
			}
		}
	}
}

// Arguments that try to take control are refused, or with log recorded and sent as
// they are.
func TestGuardArguments(t *testing.T) {
	args := `{"note":` + quote(evil) + `}`
	for mode, action := range map[string]string{"block": "refused", "log": "noted"} {
		path := filepath.Join(t.TempDir(), "ledger.db")
		s := newStage(t, stageOptions{mode: "native", config: "injection_detection: {mode: " + mode + ", results: off}\n", ledger: path})
		m := s.run("up_args", args, `"_meta":{"k":1.0}`)
		switch mode {
		case "block":
			if r := refusalOf(t, m); r.Kind != "injection" || *r.Invoked || len(r.Violations) == 0 || r.Violations[0].Path != "/note" || strings.Contains(string(m.Result), "files") {
				t.Errorf("block: %s", m.Result)
			}
		default:
			sameBytes(t, "log", string(m.Result), textResult(`{"arguments":`+args+`,"_meta":{"k":1.0}}`))
		}
		if rows := s.rows(path); len(rows) != 1 || len(rows[0].Decisions) != 1 || rows[0].Decisions[0].Check != "injection" || rows[0].Decisions[0].Action != action || !strings.HasSuffix(rows[0].Decisions[0].Rule, " /note") {
			t.Errorf("%s: rows %+v", mode, rows)
		}
	}
}

// Each host has its own rate for each tool; heddle's own tools have none.
func TestGuardRates(t *testing.T) {
	for _, mode := range []string{"native", "compact"} {
		web := newWebStage(t, stageOptions{mode: mode, config: "rate_limit: {default: 5/hour, per_tool: {up_fail: none}}\n"}, daemon.HTTPOptions{Loopback: true})
		hosts := []*mcptest.Host{web.host("/mcp", newestHandshake, "{}").Host, web.host("/mcp", newestHandshake, "{}").Host}
		call := func(h *mcptest.Host, tool string) wire.Message {
			return h.Request("tools/call", callParams(mode, tool, `{"text":"x"}`))
		}
		began := time.Now()
		for range 5 {
			text(t, call(hosts[0], "up_echo"))
		}
		r := refusalOf(t, call(hosts[0], "up_echo"))
		if left := time.Hour/5 - time.Since(began); r.Kind != "rate_limited" || *r.Invoked || r.RetryAfterMS < left.Milliseconds()-1000 || r.RetryAfterMS > (time.Hour/5).Milliseconds() {
			t.Errorf("%s: the sixth call: %+v, want rate_limited for about 12 minutes", mode, r)
		}
		text(t, call(hosts[0], "up_args"))
		text(t, call(hosts[1], "up_echo"))
		for range 8 {
			hosts[0].Request("tools/list", "{}")
			if mode == "compact" {
				text(t, hosts[0].Call("find_tool", `{"query":"echo"}`))
			}
			if m := call(hosts[0], "up_fail"); !strings.Contains(string(m.Result), "it failed") {
				t.Errorf("%s: a tool without a limit: %s", mode, m.Result)
			}
		}
		if n := mcptest.Count(web.servers["up"].Events(), "call"); n != 5+1+1+8 {
			t.Errorf("%s: the server saw %d calls, want 15", mode, n)
		}
	}
}

// A change of the file changes the guards, and forgives nothing that it is not about.
func TestGuardsFollowTheFile(t *testing.T) {
	t.Parallel()
	const rate = "rate_limit: {default: 2/hour}\n"
	servers := map[string]mcptest.Options{"up": {Tools: toolsNamed("echo", "args", "said"), Results: rawMap(map[string]string{"said": textResult(evil)})}}
	e := newEdited(t, t.TempDir(), stageOptions{mode: "native", config: rate, servers: servers})
	for range 2 {
		text(t, e.run("up_echo", "{}"))
	}
	if got := text(t, e.run("up_said", "{}")); got != evil {
		t.Errorf("without the guard: %q", got)
	}
	e.edit(rate + guarding + "ssrf: {}\n")
	if r := refusalOf(t, e.run("up_echo", "{}")); r.Kind != "rate_limited" {
		t.Errorf("after a change of other things: %+v", r)
	}
	warned(t, "after the change", "up", e.run("up_said", "{}"), textResult(evil))
	if r := refusalOf(t, e.run("up_args", `{"url":"http://10.0.0.1/"}`)); r.Kind != "blocked_address" {
		t.Errorf("an address: %+v", r)
	}
	e.edit(rate + "tools: {confirm: [up_args]}\n")
	if r := refusalOf(t, e.run("up_args", "{}")); r.Kind != "confirmation_required" && r.Kind != "rate_limited" {
		t.Errorf("confirm: %+v", r)
	}
	e.edit("rate_limit: {default: 3/hour}\n") // a changed rate forgives nobody either
	if r := refusalOf(t, e.run("up_echo", "{}")); r.Kind != "rate_limited" {
		t.Errorf("after a change of the rate: %+v", r)
	}
	e.edit("")
	text(t, e.run("up_echo", "{}"))
}
