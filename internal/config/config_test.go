package config

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"heddle/internal/policy/limit"
)

// vars is an environment of these variables, with a small keyring.
func vars(kv ...string) Env {
	m := map[string]string{}
	for i := 0; i+1 < len(kv); i += 2 {
		m[kv[i]] = kv[i+1]
	}
	return Env{
		Lookup: func(name string) (string, bool) { v, ok := m[name]; return v, ok },
		Keyring: func(name string) (string, error) {
			if name == "github" {
				return "keyring-secret", nil
			}
			return "", errors.New("secret not found in keyring")
		},
		Home: "/home/u",
	}
}

// write puts files into a new directory and returns it.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func mustLoad(t *testing.T, path string, env Env) *Config {
	t.Helper()
	c, err := Load(path, env)
	if err != nil {
		t.Fatalf("Load(%s): %v", path, err)
	}
	return c
}

// loadText loads text as a file of that name.
func loadText(t *testing.T, name, text string, env Env) *Config {
	t.Helper()
	return mustLoad(t, filepath.Join(write(t, map[string]string{name: text}), name), env)
}

func warnings(c *Config) string {
	var b strings.Builder
	for _, p := range c.Warnings {
		fmt.Fprintf(&b, "%s:%d:%d: %s: %s\n", filepath.Base(p.Path), p.Line, p.Column, p.Field, p.Message)
	}
	return b.String()
}

func TestDefaults(t *testing.T) {
	c := loadText(t, "heddle.yml", "version: 2\nservers:\n  a: {command: npx}\n", vars())
	want := &Config{
		Path: c.Path, Dir: filepath.Dir(c.Path), Form: "heddle",
		Results: Results{ThresholdTokens: 2000, Memory: 256 << 20, TTL: time.Hour, SQLMemory: 512 << 20, QueryTimeout: 30 * time.Second, ExportDir: filepath.Join(c.Dir, "exports"), OutputSchema: "drop", MaxFrame: 64 << 20},
		Catalog: Catalog{NameBudget: 51, Cache: true, Lock: "off"},
		Guards:  Guards{Secrets: "off"},
		Audit:   Audit{Output: "none", Path: filepath.Join(c.Dir, "heddle-audit.log"), MaxSize: 10_000_000, MaxFiles: 5},
		Restart: Restart{MaxAttempts: 5, BaseDelay: time.Second},
		Breaker: Breaker{Failures: 3, Cooldown: 30 * time.Second},
		Ledger:  Ledger{Keep: 90 * 24 * time.Hour},
		Servers: []Server{{
			Name: "a", Original: "a", Command: "npx", Env: map[string]string{}, Cwd: filepath.Dir(c.Path),
			StartTimeout: 2 * time.Minute, Timeout: 5 * time.Minute, MaxTimeout: 30 * time.Minute, MaxConcurrency: 16,
			Hash: c.Servers[0].Hash,
		}},
	}
	if diff := cmp.Diff(want, c, cmp.AllowUnexported(Config{}), ignoreEmpty); diff != "" {
		t.Errorf("defaults (-want +got):\n%s", diff)
	}
	if !filepath.IsAbs(c.Path) {
		t.Errorf("Path = %q, want it absolute", c.Path)
	}
}

// ignoreEmpty makes the unexported list of secrets equal whether nil or empty.
var ignoreEmpty = cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".secrets" }, cmp.Ignore())

func TestEveryKey(t *testing.T) {
	c := loadText(t, "heddle.yml", `
version: 2
tools:
  allow: []
  deny: ["github/delete_*"]
  confirm: [destructive, "b/*"]
  params: {github_search: {q: {max_length: 200, pattern: '^\w+$', required: true}}}
results: {threshold_tokens: 500, memory: 64MiB, ttl: 10m, duckdb_memory: 1GiB, query_timeout: 5s, export_dir: out, mesh: true, output_schema: keep, max_frame: 2MB}
catalog: {name_budget: 60, cache: false, lock: enforce}
ssrf: {mode: log, block_private_ips: false, allow_domains: [example.com], block_domains: [bad.example, 10.0.0.0/8], allow_private_hosts: [nas.lan:5000]}
rate_limit: {default: 60/min, per_tool: {"b_*": 10, "a/x": {requests: 5, per: 1h, burst: 2}}}
injection_detection: {sensitivity: low, mode: log, results: block}
secrets: {results: mask}
audit: {output: file, filePath: logs/audit.log, maxSize: 1MB, maxFiles: 2}
servers:
  Sequential Thinking:
    command: ./bin/server
    args: [-p, 8080, 1.10, true, '${X}']
    env: {A: 1, B: "x"}
    env_passthrough: [HTTPS_PROXY]
    cwd: sub
    start: eager
    type: stdio
    start_timeout: 1m30s
    timeout: 10s
    max_timeout: 20s
    max_concurrency: 2
    idle_stop: 10m
    provenance_denylist: [path]
    allow_private_hosts: [localhost]
    tools: {allow: [a], deny: [b]}
  b: {command: x, disabled: true}
restart: {max_attempts: 0, base_delay: 500ms}
breaker: {failures: 1, cooldown: 1m}
ledger: {keep: 1d12h}
`, vars("X", "value-of-x"))
	length := 200
	want := &Config{
		Path: c.Path, Dir: c.Dir, Form: "heddle",
		Tools: Tools{
			Allow: []string{}, Deny: []string{"github/delete_*"}, Confirm: []string{"destructive", "b/*"},
			Params: map[string]map[string]ParamRule{"github_search": {"q": {MaxLength: &length, Pattern: `^\w+$`, Required: true}}},
		},
		Results: Results{ThresholdTokens: 500, Memory: 64 << 20, TTL: 10 * time.Minute, SQLMemory: 1 << 30, QueryTimeout: 5 * time.Second, ExportDir: filepath.Join(c.Dir, "out"), Mesh: true, OutputSchema: "keep", MaxFrame: 2_000_000},
		Catalog: Catalog{NameBudget: 60, Lock: "enforce"},
		Guards: Guards{
			SSRF: &SSRF{Mode: "log", AllowDomains: []string{"example.com"}, BlockDomains: []string{"bad.example", "10.0.0.0/8"}, AllowPrivateHosts: []string{"nas.lan:5000"}},
			RateLimit: RateLimit{Default: limit.Rate{N: 60, Per: time.Minute}, PerTool: []ToolRate{
				{"b_*", limit.Rate{N: 10, Per: time.Minute}}, {"a/x", limit.Rate{N: 5, Per: time.Hour, Burst: 2}},
			}},
			Injection: &Injection{Sensitivity: "low", Mode: "log", Results: "block"},
			Secrets:   "mask",
		},
		Audit:   Audit{Output: "file", Path: filepath.Join(c.Dir, "logs", "audit.log"), MaxSize: 1_000_000, MaxFiles: 2},
		Restart: Restart{BaseDelay: 500 * time.Millisecond},
		Breaker: Breaker{Failures: 1, Cooldown: time.Minute},
		Ledger:  Ledger{Keep: 36 * time.Hour},
		Servers: []Server{{
			Name: "sequential-thinking", Original: "Sequential Thinking",
			Command: filepath.Join(c.Dir, "bin/server"), Args: []string{"-p", "8080", "1.10", "true", "value-of-x"},
			Env: map[string]string{"A": "1", "B": "x"}, EnvPassthrough: []string{"HTTPS_PROXY"},
			Cwd: filepath.Join(c.Dir, "sub"), Start: "eager", IdleStop: 10 * time.Minute,
			StartTimeout: 90 * time.Second, Timeout: 10 * time.Second, MaxTimeout: 20 * time.Second, MaxConcurrency: 2,
			Tools: Tools{Allow: []string{"a"}, Deny: []string{"b"}}, ProvenanceDenylist: []string{"path"}, AllowPrivateHosts: []string{"localhost"}, Hash: c.Servers[0].Hash,
		}, {
			Name: "b", Original: "b", Command: "x", Env: map[string]string{}, Cwd: c.Dir, Disabled: true,
			StartTimeout: 2 * time.Minute, Timeout: 5 * time.Minute, MaxTimeout: 30 * time.Minute, MaxConcurrency: 16,
			Hash: c.Servers[1].Hash,
		}},
		Warnings: []Problem{{Path: c.Path, Line: 16, Column: 3, Field: `servers."Sequential Thinking"`, Message: `the server is called "sequential-thinking" in tool names and patterns`}},
	}
	if diff := cmp.Diff(want, c, cmp.AllowUnexported(Config{}), ignoreEmpty); diff != "" {
		t.Errorf("every key (-want +got):\n%s", diff)
	}
}

func TestLegalYAML(t *testing.T) {
	tests := map[string]string{
		"no servers":    "version: 2\n",
		"empty servers": "version: 2\nservers:\n",
		"empty section": "version: 2\ntools:\nresults: {}\nservers: {}\n",
		"bom and crlf":  "\ufeffversion: 2\r\nservers: {}\r\n",
		"directive":     "%YAML 1.2\n---\nversion: 2\n",
		"document end":  "version: 2\n...\n",
		"json":          `{"version": 2, "servers": {}}`,
	}
	for name, text := range tests {
		if _, err := Decode([]byte(text), "/etc/heddle.yml", Env{}); err != nil {
			t.Errorf("%s: Decode(%q) = %v, want no error", name, text, err)
		}
	}
}

func TestAnchorsAndMerge(t *testing.T) {
	c := loadText(t, "heddle.yml", `
version: 2
servers:
  a: &base {command: npx, args: [-y], env: &env {A: "1"}, timeout: 5s}
  b:
    timeout: 6s
    <<: *base
    env: {<<: [*env, {A: "2", B: "2"}], C: "3"}
`, vars())
	got := c.Servers[1]
	if got.Command != "npx" || got.Timeout != 6*time.Second {
		t.Errorf("merged server = %q, %s; want npx, 6s", got.Command, got.Timeout)
	}
	if diff := cmp.Diff(map[string]string{"A": "1", "B": "2", "C": "3"}, got.Env); diff != "" {
		t.Errorf("merged env (-want +got):\n%s", diff)
	}
}

// TestHostileYAML: input that makes parsers recurse or grow without end is
// refused, and soon.
func TestHostileYAML(t *testing.T) {
	bomb := "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'k'; c++ {
		bomb += fmt.Sprintf("%c: &%c [%s]\n", c, c, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*%c,", c-1), 10), ","))
	}
	tests := map[string]string{
		"brackets": strings.Repeat("[", 100_000),
		"braces":   strings.Repeat("{a: ", 200_000),
		"dashes":   strings.Repeat("- ", 400_000),
		"keys":     strings.Repeat("? ", 400_000),
		"bomb":     bomb,
		"huge":     "version: 2\n#" + strings.Repeat("x", 2<<20),
		"NUL":      "\x00\x00",
	}
	for name, text := range tests {
		begin := time.Now()
		if _, err := Decode([]byte(text), "/etc/heddle.yml", Env{}); err == nil {
			t.Errorf("%s: no error", name)
		}
		if took := time.Since(begin); took > 10*time.Second {
			t.Errorf("%s: took %s", name, took)
		}
	}
	if _, err := Decode([]byte(strings.Repeat("[", 5_000_000)), "/etc/mcp.json", Env{}); err == nil {
		t.Error("deep JSON: no error")
	}
}

func TestUnreadable(t *testing.T) {
	dir := t.TempDir()
	if _, err := Load(filepath.Join(dir, "none.yml"), vars()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Load of a missing file = %v, want fs.ErrNotExist", err)
	}
	if _, err := Load(dir, vars()); !errors.Is(err, errDirectory) {
		t.Errorf("Load of a directory = %v, want %v", err, errDirectory)
	}
}

// TestNothingLeaks: whatever is printed of a configuration holds no secret.
func TestNothingLeaks(t *testing.T) {
	c := loadText(t, "heddle.yml", `
version: 2
servers:
  a: {command: x, args: ["--token", "${T}"], env: {API_KEY: "plain-s3cr3t-value"}}
`, vars("T", "s3cr3t-of-t"))
	var log strings.Builder
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "server", c.Servers[0])
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "config", c)
	got := fmt.Sprintf("%v %+v %v %+v %s", c, *c, c.Servers, c.Servers[0], warnings(c)) + log.String()
	if strings.Contains(got, "s3cr3t") {
		t.Errorf("a secret shows in %s", got)
	}
	if diff := cmp.Diff([]string{"plain-s3cr3t-value", "s3cr3t-of-t"}, c.Secrets()); diff != "" {
		t.Errorf("Secrets (-want +got):\n%s", diff)
	}
}

func TestHash(t *testing.T) {
	const base = "version: 2\nservers:\n  a: {command: x, args: [\"${T:-d}\"], env: {A: \"1\"}, env_passthrough: [P], timeout: 5s, tools: {deny: [x]}}\n"
	dir := write(t, map[string]string{"heddle.yml": base})
	path := filepath.Join(dir, "heddle.yml")
	hash := func(text string, env Env) string {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return mustLoad(t, path, env).Servers[0].Hash
	}
	first := hash(base, vars("P", "1"))
	same := map[string]string{
		"again":           base,
		"policy":          strings.Replace(base, "deny: [x]", "deny: [y]", 1),
		"another server":  base + "  b: {command: y}\n",
		"comment":         "# note\n" + base,
		"another section": base + "ledger: {keep: 1d}\n",
	}
	for name, text := range same {
		if got := hash(text, vars("P", "1")); got != first {
			t.Errorf("%s: the hash changed", name)
		}
	}
	for _, edit := range [][2]string{{"command: x", "command: y"}, {"${T:-d}", "${T:-e}"}, {`A: "1"`, `A: "2"`}, {"5s", "6s"}, {"timeout", "start_timeout"}, {"tools:", "max_concurrency: 1, tools:"}, {"tools:", "cwd: sub, tools:"}} {
		if hash(strings.Replace(base, edit[0], edit[1], 1), vars("P", "1")) == first {
			t.Errorf("%s -> %s: the hash did not change", edit[0], edit[1])
		}
	}
	if hash(base, vars("P", "2")) == first {
		t.Error("another value passed through: the hash did not change")
	}
	if hash(base, vars("P", "1", "T", "v")) == first {
		t.Error("another value of a reference: the hash did not change")
	}
}

func TestFind(t *testing.T) {
	dir := write(t, map[string]string{
		"project/heddle.yml":     "version: 2\n",
		"project/a/b/x":          "",
		"home/.config/heddle/x":  "",
		"xdg/heddle/heddle.yml":  "version: 2\n",
		"other.json":             "{}",
		"near/heddle.yaml":       "version: 2\n",
		"home2/.config/heddle/x": "",
	})
	at := func(p string) string { return filepath.Join(dir, filepath.FromSlash(p)) }
	env := func(home string, kv ...string) Env { e := vars(kv...); e.Home = home; return e }
	tests := []struct {
		name, explicit, dir string
		env                 Env
		want                string
	}{
		{"explicit", "../other.json", at("project"), env(at("home"), "HEDDLE_CONFIG", "/nowhere"), at("other.json")},
		{"home", "~/../other.json", at("project"), env(at("home")), at("other.json")},
		{"variable", "", at("project"), env(at("home"), "HEDDLE_CONFIG", at("other.json")), at("other.json")},
		{"empty variable", "", at("project"), env(at("home"), "HEDDLE_CONFIG", ""), at("project/heddle.yml")},
		{"upward", "", at("project/a/b"), env(at("home")), at("project/heddle.yml")},
		{"xdg", "", at("home"), env(at("home"), "XDG_CONFIG_HOME", at("xdg")), at("xdg/heddle/heddle.yml")},
	}
	for _, tt := range tests {
		got, err := Find(tt.explicit, tt.dir, tt.env)
		if err != nil || got != tt.want {
			t.Errorf("%s: Find(%q, %q) = %q, %v; want %q", tt.name, tt.explicit, tt.dir, got, err, tt.want)
		}
	}
	failures := []struct {
		name, explicit, dir string
		env                 Env
		want                []string
	}{
		{"explicit", "nothing.yml", at("home"), env(at("home")), []string{"--config", at("home/nothing.yml")}},
		{"directory", ".", at("home"), env(at("home")), []string{"is a directory"}},
		{"variable", "", at("project"), env(at("home"), "HEDDLE_CONFIG", "no.yml"), []string{"HEDDLE_CONFIG", at("project/no.yml")}},
		{"nowhere", "", at("home"), env(at("home"), "XDG_CONFIG_HOME", at("empty")), []string{at("home/heddle.yml"), at("heddle.yml"), at("empty/heddle/heddle.yml"), "--config", "HEDDLE_CONFIG"}},
		{"other ending", "", at("near"), env(at("home")), []string{at("near/heddle.yaml") + " is there: rename it"}},
	}
	for _, tt := range failures {
		got, err := Find(tt.explicit, tt.dir, tt.env)
		if err == nil {
			t.Errorf("%s: Find = %q, want an error", tt.name, got)
			continue
		}
		for _, want := range tt.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: error %q lacks %q", tt.name, err, want)
			}
		}
	}
}

func TestFindUserDirectory(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the place is another one on Windows")
	}
	home := write(t, map[string]string{".config/heddle/heddle.yml": "version: 2\n", "work/x": ""})
	env := vars()
	env.Home = home
	got, err := Find("", filepath.Join(home, "work"), env)
	if want := filepath.Join(home, ".config/heddle/heddle.yml"); err != nil || got != want {
		t.Errorf("Find = %q, %v; want %q", got, err, want)
	}
}

func TestIsHeddle(t *testing.T) {
	tests := []struct {
		line string
		want bool
	}{
		{"heddle start", true},
		{"heddle", true},
		{"/usr/local/bin/heddle start --mode compact", true},
		{`C:\Tools\Heddle.EXE start`, true},
		{"heddle-linux-amd64 start", true},
		{"heddle_v0.1.0", true},
		{"npx -y heddle start", true},
		{"npx -y @acme/heddle@latest serve", true},
		{"cmd /c heddle start", true},
		{"env A=b heddle --config /x/heddle.yml start", true},
		{"docker run -i --rm ghcr.io/acme/heddle:1 start", false}, // a tag, not a version
		{"heddle-sql", false},
		{"npx -y heddle-tools start", false},
		{"npx -y @modelcontextprotocol/server-filesystem /home/u/heddle", false},
		{"npx heddle", false},
		{"node /x/heddle.js start", false},
		{"", false},
	}
	for _, tt := range tests {
		words := strings.Fields(tt.line + " ")
		command := ""
		if len(words) > 0 {
			command, words = words[0], words[1:]
		}
		if got := IsHeddle(command, words); got != tt.want {
			t.Errorf("IsHeddle(%q) = %v, want %v", tt.line, got, tt.want)
		}
	}
	if !IsHeddle("sh", []string{"-c", "exec 'heddle' start --mode mesh"}) {
		t.Error("IsHeddle of a shell's command line = false, want true")
	}
	c := loadText(t, "heddle.yml", "version: 2\nservers: {inner: {command: heddle, args: [start]}}\n", vars())
	if got := warnings(c); !strings.Contains(got, "starts heddle itself") || c.Servers[0].Unusable != "" {
		t.Errorf("heddle in heddle: warnings %q, unusable %q; want a warning alone", got, c.Servers[0].Unusable)
	}
}

func TestNormalise(t *testing.T) {
	tests := map[string]string{
		"github": "github", "Sequential Thinking": "sequential-thinking", "a_b-c": "a_b-c", "  X  ": "x",
		"@acme/tools.v2": "acme-tools-v2", "21st-dev": "s-21st-dev", "查询": "", "--": "",
		strings.Repeat("ab-", 20): "ab-ab-ab-ab-ab-ab-ab-ab-ab-ab-ab",
	}
	for in, want := range tests {
		if got := Normalise(in); got != want {
			t.Errorf("Normalise(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestSizesAndDurations(t *testing.T) {
	sizes := map[string]int64{"5": 5, "64MB": 64e6, "64MiB": 64 << 20, "1 kib": 1024, "2gb": 2e9, "-1": -1}
	for in, want := range sizes {
		if got, err := parseSize(in); err != nil || got != want {
			t.Errorf("parseSize(%q) = %d, %v; want %d", in, got, err, want)
		}
	}
	for _, in := range []string{"", "MB", "1.5MB", "64M", "99999999999999999999", "9999999999GB"} {
		if got, err := parseSize(in); err == nil {
			t.Errorf("parseSize(%q) = %d, want an error", in, got)
		}
	}
	times := map[string]time.Duration{"90d": 90 * day, "1d12h": 36 * time.Hour, "0d": 0, "1h30m": 90 * time.Minute}
	for in, want := range times {
		if got, err := parseDuration(in); err != nil || got != want {
			t.Errorf("parseDuration(%q) = %s, %v; want %s", in, got, err, want)
		}
	}
	for _, in := range []string{"", "5", "d", "1d-1h", "1d2d", "999999999999d", "1y"} {
		if got, err := parseDuration(in); err == nil {
			t.Errorf("parseDuration(%q) = %s, want an error", in, got)
		}
	}
}
