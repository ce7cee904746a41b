package surface_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"heddle/internal/mcptest"
	"heddle/internal/upstream"

	"github.com/google/go-cmp/cmp"
)

// auditLine is a line of the audit. Members that are none of these fail the test that
// reads it.
type auditLine struct {
	Time      time.Time `json:"time"`
	Event     string    `json:"event"`
	Session   string    `json:"session"`
	Principal string    `json:"principal"`
	Client    string    `json:"client"`
	Version   string    `json:"client_version"`
	Protocol  string    `json:"protocol"`
	Mode      string    `json:"mode"`
	Server    string    `json:"server"`
	Tool      string    `json:"tool"`
	Asked     string    `json:"asked"`
	Outcome   string    `json:"outcome"`
	Kind      string    `json:"kind"`
	Invoked   bool      `json:"upstream_invoked"`
	Decisions []struct {
		Check  string `json:"check"`
		Action string `json:"action"`
		Rule   string `json:"rule"`
	} `json:"decisions"`
	MS    map[string]float64 `json:"ms"`
	Bytes map[string]int64   `json:"bytes"`
	Form  string             `json:"form"`
}

// auditLines ends the daemon and reads the file.
func (s *stage) auditLines(path string) (calls, sessions []auditLine) {
	s.t.Helper()
	s.close()
	b, err := os.ReadFile(path)
	if err != nil {
		s.t.Fatal(err)
	}
	for line := range bytes.Lines(b) {
		var l auditLine
		d := json.NewDecoder(bytes.NewReader(line))
		d.DisallowUnknownFields()
		if err := d.Decode(&l); err != nil || d.More() {
			s.t.Errorf("not one object of known members: %v: %s", err, line)
		}
		if len(line) > 8<<10 || bytes.ContainsFunc(bytes.TrimSuffix(line, []byte("\n")), func(r rune) bool { return r < ' ' || r == 0x7F || r == 0x2028 || r == 0x202E }) {
			s.t.Errorf("a line of %d bytes, or with control characters: %.300q", len(line), line)
		}
		switch l.Event {
		case "call":
			calls = append(calls, l)
		case "session":
			sessions = append(sessions, l)
		default:
			s.t.Errorf("event %q: %s", l.Event, line)
		}
	}
	return calls, sessions
}

// decided is the last decision of a line, without the place.
func (l *auditLine) decided() string {
	if len(l.Decisions) == 0 {
		return ""
	}
	d := l.Decisions[len(l.Decisions)-1]
	return strings.TrimSpace(d.Check + " " + d.Action + " " + d.Rule)
}

// auditing writes an audit below a directory that is not there yet.
func auditing(dir string) (config, path string) {
	path = filepath.Join(dir, "logs", "audit.jsonl")
	return "audit: {output: file, filePath: " + string(quote(path)) + "}\n", path
}

const everyGuard = `
tools: {deny: ["up_secret_*"], confirm: [up_wipe], params: {up_args: {q: {max_length: 10}}}}
ssrf: {}
rate_limit: {per_tool: {up_fast: 1/day}}
injection_detection: {results: block}
secrets: {results: mask}
`

// guarded is a server that gives each guard something to do.
func guarded() mcptest.Options {
	o := issues()
	o.Tools = append(o.Tools, toolsNamed("fail", "broken", "crash", "fast", "wipe", "said", "token", "error")...)
	o.Tools = append(o.Tools, json.RawMessage(`{"name":"held","description":`+quote(evil)+`,"inputSchema":{"type":"object"}}`))
	o.Errors = rawMap(map[string]string{"broken": errorObjects["with_data"], "error": `{"code":-1,"message":` + quote(sentinel+" "+evil) + `}`})
	o.Results = rawMap(map[string]string{
		"fast": textResult("fast"), "said": `{"content":[{"type":"text","text":"ok"}],"structuredContent":{` + quote(sentinel+" "+evil) + `:` + quote(evil) + `}}`, "token": textResult(sentinel + " " + hub),
	})
	return o
}

// Every call has exactly one line, whatever became of it, with the rule that decided;
// and neither it nor the ledger has anything of what was sent or came back.
func TestAudit(t *testing.T) {
	for _, mode := range modes {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			testAudit(t, mode)
		})
	}
}

func testAudit(t *testing.T, mode string) {
	dir := t.TempDir()
	config, path := auditing(dir)
	book := filepath.Join(dir, "ledger.db")
	s := newStage(t, stageOptions{
		mode: mode, config: config + everyGuard + capturing, ledger: book, state: filepath.Join(dir, "state"), servers: map[string]mcptest.Options{"up": guarded()},
		upstream: func(c *upstream.Config) { c.Timeout = time.Second },
	})
	s.boot()
	mcptest.Eventually(t, func() bool { return s.daemon.State().Audit.Written > 0 }, "the session's line, which names the host")
	secret := `{"text":"` + sentinel + `"}`
	type outcome struct {
		Outcome, Kind, Decided string
		Invoked                bool
	}
	want := map[string]outcome{}
	run := func(tool, arguments string, o outcome) {
		t.Helper()
		s.run("up_"+tool, arguments)
		want[tool] = o
	}
	run("echo", secret, outcome{"ok", "", "", true})
	run("fail", secret, outcome{"tool_error", "", "", true})
	run("broken", secret, outcome{"failed", "upstream_error", "", true})
	run("create_issue", `{"title":"`+sentinel+`"}`, outcome{"refused", "invalid_arguments", "schema refused required", false})
	run("args", `{"q":"`+sentinel+sentinel+`"}`, outcome{"refused", "invalid_arguments", "params refused params /q", false})
	run("nothing", secret, outcome{"refused", "unknown_tool", "", false})
	run("secret_purge", secret, outcome{"refused", "unknown_tool", `authorization refused deny "up_secret_*"`, false})
	s.run("up_fast", secret)
	run("fast", secret, outcome{"refused", "rate_limited", `rate_limit refused`, false})
	run("slow", `{"ms":60000,"text":"`+sentinel+`"}`, outcome{"failed", "timeout", "", true})
	run("wipe", secret, outcome{"refused", "confirmation_required", `confirmation refused not confirmed`, false})
	run("said", secret, outcome{"refused", "injection", "injection refused", true})
	run("token", secret, outcome{"ok", "", "secrets changed", true})
	run("error", secret, outcome{"refused", "injection", "injection refused", true})
	run("held", secret, outcome{"refused", "quarantined", "lock refused its definition is suspicious", false})
	s.Start(`"c"`, "tools/call", s.params("up_slow", `{"ms":60000,"text":"`+sentinel+`"}`))
	s.servers["up"].WaitEvents(t, "call", 9)
	s.Notify("notifications/cancelled", `{"requestId":"c"}`)
	s.servers["up"].WaitEvents(t, "cancelled", 2)
	s.run("up_echo", `{"url":"http://10.0.0.1/`+sentinel+`"}`)
	s.run("up_echo", `{"note":"`+sentinel+` `+evil+`"}`)
	s.Call("read_result", `{"result_ref":"`+sentinel+`"}`)
	run("crash", secret, outcome{"failed", "upstream_exited", "", true})

	calls, sessions := s.auditLines(path)
	got := map[string][]outcome{}
	for _, l := range calls {
		if l.Session == "" || l.Session != calls[0].Session || l.Principal != "local" || l.Client != "mcptest" || l.Mode != mode || l.Time.IsZero() || l.MS == nil || l.Bytes == nil {
			t.Errorf("line %+v", l)
		}
		if l.Server == "" {
			l.Tool = strings.TrimPrefix(l.Tool, "up_")
		}
		got[l.Tool] = append(got[l.Tool], outcome{l.Outcome, l.Kind, l.decided(), l.Invoked})
	}
	more := map[string][]outcome{
		"fast": {{"ok", "", "", true}}, "slow": {{"failed", "cancelled", "", true}}, "read_result": {{"failed", "result_expired", "", false}},
		"echo": {{"refused", "blocked_address", "ssrf refused", false}, {"refused", "injection", "injection refused", false}},
	}
	for tool, o := range want {
		more[tool] = append(more[tool], o)
	}
	for tool, all := range more {
		for _, o := range all {
			i := slices.IndexFunc(got[tool], func(g outcome) bool {
				rule := strings.HasPrefix(g.Decided, o.Decided) && (o.Decided != "" || g.Decided == "")
				return rule && g.Outcome == o.Outcome && g.Kind == o.Kind && g.Invoked == o.Invoked
			})
			if i < 0 {
				t.Errorf("%s: %+v, want %+v among them", tool, got[tool], o)
				continue
			}
			got[tool] = slices.Delete(got[tool], i, i+1)
		}
	}
	for tool, rest := range got {
		if len(rest) > 0 {
			t.Errorf("%s: lines too many: %+v", tool, rest)
		}
	}
	if len(sessions) != 1 || sessions[0].Protocol != newestHandshake || sessions[0].Version != "1" {
		t.Errorf("sessions %+v, want one", sessions)
	}
	rows := s.rows(book)
	if len(rows) != len(calls) {
		t.Errorf("%d rows in the ledger and %d lines, want a row a line", len(rows), len(calls))
	}
	noSentinel(t, book)
	noSentinel(t, path)
	if strings.Contains(s.log.String(), sentinel) {
		t.Errorf("heddle's log has what was submitted: %s", s.log)
	}
	checkModes(t, dir)
}

// checkModes checks that only the owner can read what heddle has written.
func checkModes(t *testing.T, dir string) {
	t.Helper()
	for _, name := range []string{"logs", "logs/audit.jsonl", "ledger.db", "state", "state/quarantine"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := info.Mode().Perm(); got&0o077 != 0 {
			t.Errorf("%s has mode %o", name, got)
		}
	}
}

// Names that come from outside stay one line of one meaning.
func TestAuditOfHostileNames(t *testing.T) {
	dir := t.TempDir()
	config, path := auditing(dir)
	forged := "x\n{\"event\":\"call\",\"outcome\":\"ok\"}\r\n\u001b[31m\u202e\u2028" + strings.Repeat("n", 20_000)
	o := issues()
	o.Tools = append(o.Tools, json.RawMessage(`{"name":`+quote("evil\n{\"event\":\"call\"}\u001b[2J")+`,"inputSchema":{"type":"object"}}`))
	s := newStage(t, stageOptions{mode: "native", version: "-", config: config, servers: map[string]mcptest.Options{"up": o}})
	s.Request("initialize", `{"protocolVersion":"`+newestHandshake+`","capabilities":{},"clientInfo":{"name":`+quote(forged)+`,"version":`+quote(forged)+`}}`)
	s.Notify("notifications/initialized", "")
	s.boot()
	asked := []string{forged, "evil\n{\"event\":\"call\"}\u001b[2J", "up_\u001b]0;title\u0007", strings.Repeat("é\u0000", 5000)}
	for _, name := range asked {
		s.run(name, `{"a\r\nb":"c\r\nd\u001b[31m"}`)
	}
	s.run("up_echo", `{"text":"\r\n\u001b[31m{\"event\":\"call\"}"}`)
	calls, sessions := s.auditLines(path)
	if len(calls) != len(asked)+1 || len(sessions) != 1 {
		t.Fatalf("%d lines of calls and %d of sessions, want %d and 1", len(calls), len(sessions), len(asked)+1)
	}
	for i, l := range calls[:len(asked)] {
		if l.Kind != "unknown_tool" && !strings.HasPrefix(l.Tool, "evil") || len(l.Tool) > 1024 || len(l.Client) > 1024 {
			t.Errorf("line %d: %+v", i, l)
		}
	}
}

// What hosts send and servers answer can hold secrets at any place, by any name. None
// gets into a file, a log, or what status says.
func TestAuditHasNoSecrets(t *testing.T) {
	dir := t.TempDir()
	config, path := auditing(dir)
	book := filepath.Join(dir, "ledger.db")
	secrets := map[string]string{
		"apiKey": "sk-live-1-q8Xv2Lm9Rt4Wz7", "Authorization": "Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl", "PASSWORD": "p-Winter-2026", "note": "my key is " + hub,
		"url": "https://user:s3cr3tpassword@93.184.216.34/?token=t0k3nt0k3n",
	}
	nested, err := json.Marshal(map[string]any{"nested": []any{secrets}, "top": secrets})
	if err != nil {
		t.Fatal(err)
	}
	args := string(nested)
	o := mcptest.Options{Tools: toolsNamed("args", "fail", "broken", "crash"), Errors: rawMap(map[string]string{"broken": `{"code":-1,"message":` + quote("bad key "+secrets["note"]) + `,"data":` + args + `}`})}
	s := newStage(t, stageOptions{mode: "compact", config: config + "ssrf: {}\ninjection_detection: {}\nsecrets: {results: mask}\n", ledger: book, state: dir, servers: map[string]mcptest.Options{"up": o}})
	for _, tool := range []string{"up_args", "up_fail", "up_broken", "up_" + hub, "up_crash"} {
		m := s.run(tool, args)
		if got := mcptest.TextOf(m.Result); tool == "up_args" && (!strings.HasPrefix(got, `{"arguments":`) || strings.Count(got, "[redacted") < 10) {
			t.Errorf("what came back with its secrets masked: %s", got)
		}
		if strings.Contains(string(m.Result)+string(m.Error), hub) && tool != "up_"+hub {
			t.Errorf("%s: a secret that should be masked comes back: %s%s", tool, m.Result, m.Error)
		}
	}
	s.Call("find_tool", `{"query":`+quote(hub)+`}`)
	state, err := json.Marshal(s.daemon.State())
	if err != nil {
		t.Fatal(err)
	}
	calls, _ := s.auditLines(path)
	if len(calls) != 6 {
		t.Errorf("%d lines, want 6", len(calls))
	}
	all := map[string]string{"state": string(state), "log": s.log.String()}
	for _, name := range []string{path, book, book + "-wal"} {
		b, err := os.ReadFile(name)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		all[filepath.Base(name)] = string(b)
	}
	for where, text := range all {
		for _, value := range []string{secrets["apiKey"], "eyJhbGciOiJIUzI1NiJ9", secrets["PASSWORD"], hub, "s3cr3tpassword", "t0k3nt0k3n"} {
			if strings.Contains(text, value) {
				t.Errorf("%s has %s", where, value)
			}
		}
	}
}

// Two sessions of one file keep their lines whole, and the file is cut when it is large.
func TestAuditIsRotated(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "audit.jsonl")
	o := stageOptions{mode: "native", config: fmt.Sprintf("audit: {output: file, filePath: %q, maxSize: 4KB, maxFiles: 2}\n", path)}
	a, b := newStage(t, o), newStage(t, o)
	for i := range 30 {
		a.run("up_echo", `{"text":"`+sentinel+`"}`)
		b.run("up_nothing"+fmt.Sprint(i), "{}")
	}
	a.close()
	b.close()
	files, err := filepath.Glob(path + "*")
	if err != nil {
		t.Fatal(err)
	}
	sizes := map[string]bool{}
	for _, f := range files {
		if strings.HasSuffix(f, ".lock") {
			continue
		}
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		sizes[filepath.Base(f)] = true
		if len(text) > 4000 {
			t.Errorf("%s has %d bytes", f, len(text))
		}
		for line := range bytes.Lines(text) {
			if !json.Valid(line) {
				t.Errorf("%s: %q", f, line)
			}
		}
		noSentinel(t, f)
	}
	if diff := cmp.Diff([]string{"audit.jsonl", "audit.jsonl.1", "audit.jsonl.2"}, slices.Sorted(maps.Keys(sizes))); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}
