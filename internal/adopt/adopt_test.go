package adopt

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"heddle/internal/config"
	"heddle/internal/hostfile"
	"heddle/internal/policy/limit"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// nasty are texts that quoting gets wrong.
var nasty = []string{
	"plain", "two words", "it's", `say "hi"`, `back\slash`, `'both' "kinds"`, "a\nb", "a\r\nb\t", "# no comment", "x # y", "${not} a ref", "$5", "$$",
	"true", "null", "~", "1.5", "- a", "key: value", "{a: b}", "[", "*x", "&x", "!x", "%x", "@x", "`x`", "é 雪 🙂", "\u2028", "trailing ", " leading", "<>&", "a'\nb\\n",
}

// request is one in a directory of its own, with files.
func request(t *testing.T, files map[string]string) Request {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return Request{
		Env: hostfile.Env{OS: "linux", Home: filepath.Join(dir, "home"), Cwd: dir}, Path: filepath.Join(dir, "heddle.yml"),
		Config: config.Env{Home: filepath.Join(dir, "home")},
	}
}

// TestDefaults wants a new file to say what heddle does without one, but for the
// guards, which are on.
func TestDefaults(t *testing.T) {
	r := request(t, nil)
	p, err := New(r)
	if err != nil {
		t.Fatal(err)
	}
	got, err := config.Decode(p.text, r.Path, config.Env{})
	if err != nil {
		t.Fatal(err)
	}
	want, err := config.Decode([]byte("version: 2\n"), r.Path, config.Env{})
	if err != nil {
		t.Fatal(err)
	}
	want.Tools = config.Tools{Allow: []string{"*"}, Deny: []string{}, Confirm: []string{}}
	want.Guards = config.Guards{
		SSRF:      &config.SSRF{Mode: "block", BlockPrivateIPs: true},
		RateLimit: config.RateLimit{Default: limit.Rate{N: 60, Per: time.Minute}},
		Injection: &config.Injection{Sensitivity: "medium", Mode: "block", Results: "warn"},
		Secrets:   "off",
	}
	want.Audit.Output = "file"
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(config.Config{})); diff != "" {
		t.Errorf("the new file differs from the defaults (-want +got):\n%s", diff)
	}
}

var documented = regexp.MustCompile("(?m)^## `(\\w+)`")

// TestSections wants every section that is documented in a new file.
func TestSections(t *testing.T) {
	doc, err := os.ReadFile("../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	p, err := New(request(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range documented.FindAllStringSubmatch(string(doc), -1) {
		if !regexp.MustCompile(`(?m)^# .+\n` + m[1] + `:`).Match(p.text) {
			t.Errorf("the new file has no section %s with a comment", m[1])
		}
	}
}

// TestTexts brings texts through both files.
func TestTexts(t *testing.T) {
	for _, text := range nasty {
		secret := "s3cr3t" + text
		servers := string(mustJSON(map[string]any{"mcpServers": map[string]any{
			"a": map[string]any{"command": "x", "args": []string{strings.ReplaceAll(text, "${not}", "$${not}")}, "env": map[string]string{"API_TOKEN": strings.ReplaceAll(secret, "${not}", "$${not}")}},
		}}))
		r := request(t, map[string]string{".mcp.json": servers})
		p, err := New(r)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if err := p.Write(); err != nil {
			t.Fatal(err)
		}
		cfg, err := config.Load(r.Path, config.Env{})
		if err != nil {
			t.Fatal(err)
		}
		if s := cfg.Servers[0]; s.Unusable != "" || s.Args[0] != text || s.Env["API_TOKEN"] != secret {
			t.Errorf("%q became %q, and a secret with it %q (%s)\n%s", text, s.Args[0], s.Env["API_TOKEN"], s.Unusable, p.text)
		}
		if strings.Contains(string(p.text), "s3cr3t") {
			t.Errorf("%q: a secret is in the file:\n%s", text, p.text)
		}
	}
}

// TestWhole wants every file as it was where the last one cannot be written.
func TestWhole(t *testing.T) {
	files := map[string]string{
		".mcp.json": `{"mcpServers": {"a": {"command": "x", "env": {"API_TOKEN": "s3cr3t"}}}}`, ".env": "A=b", ".gitignore": "x",
	}
	r := request(t, files)
	p, err := New(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(r.Path, "in the way"), 0o755); err != nil {
		t.Fatal(err)
	}
	var failed *Error
	if err := p.Write(); !errors.As(err, &failed) || failed.Hint != "nothing was changed" {
		t.Errorf("Write: %v, want an error that says that nothing was changed", err)
	}
	for name, want := range files {
		if got, err := os.ReadFile(filepath.Join(r.Env.Cwd, name)); err != nil || string(got) != want {
			t.Errorf("%s has %q, want %q (%v)", name, got, want, err)
		}
	}
	left, err := filepath.Glob(filepath.Join(r.Env.Cwd, ".heddle-*"))
	if err != nil || left != nil {
		t.Errorf("left behind: %v (%v)", left, err)
	}
}

// TestVariable wants a secret under a name that has no other value.
func TestVariable(t *testing.T) {
	env := map[string]string{"SET": "outside", "SAME": "s3cr3t"}
	v := &vault{have: map[string]string{"HAVE": "before", "GIT_HAVE": "too"}, outer: config.Env{Lookup: func(n string) (string, bool) { s, ok := env[n]; return s, ok }}}
	for _, c := range []struct{ want, secret, got string }{
		{"TOKEN", "s3cr3t", "TOKEN"},
		{"TOKEN", "s3cr3t", "TOKEN"},
		{"TOKEN", "other", "GIT_TOKEN"},
		{"TOKEN", "third", "GIT_TOKEN_2"},
		{"SET", "s3cr3t", "GIT_SET"},
		{"SAME", "s3cr3t", "SAME"},
		{"HAVE", "before", "HAVE"},
		{"HAVE", "s3cr3t", "GIT_HAVE_2"},
		{"x-api-key", "s3cr3t", "X_API_KEY"},
		{"9", "s3cr3t", "S_9"},
	} {
		if got := v.keep("git", c.want, c.secret); got != c.got {
			t.Errorf("keep(%q, %q) = %s, want %s", c.want, c.secret, got, c.got)
		}
	}
}

func TestGitignore(t *testing.T) {
	const servers = `{"mcpServers": {"a": {"command": "x", "env": {"API_TOKEN": "s3cr3t"}}}}`
	for _, c := range []struct {
		name  string
		files map[string]string
		file  string // that gets the line
		note  bool
	}{
		{"no repository", map[string]string{"p/.mcp.json": servers}, "", false},
		{"beside it", map[string]string{"p/.mcp.json": servers, "p/.gitignore": "bin\n"}, "p/.gitignore", false},
		{"above it", map[string]string{"p/.mcp.json": servers, ".gitignore": "bin\n", ".git/HEAD": ""}, ".gitignore", false},
		{"there already", map[string]string{"p/.mcp.json": servers, "p/.gitignore": "bin\n.env*\n"}, "", false},
		{"none in the repository", map[string]string{"p/.mcp.json": servers, ".git/HEAD": ""}, "", true},
		{"no secret", map[string]string{"p/.mcp.json": `{"mcpServers": {"a": {"command": "x"}}}`, "p/.gitignore": "bin\n"}, "", false},
	} {
		r := request(t, c.files)
		top := r.Env.Cwd
		r.Env.Cwd = filepath.Join(top, "p")
		r.Path = filepath.Join(r.Env.Cwd, "heddle.yml")
		p, err := New(r)
		if err != nil {
			t.Fatal(err)
		}
		want := ""
		if c.file != "" {
			want = filepath.Join(top, c.file)
		}
		if p.Gitignore != want || (len(p.Notes) > 0) != c.note {
			t.Errorf("%s: %q gets the line, want %q; notes %v", c.name, p.Gitignore, want, p.Notes)
		}
	}
}

func mustJSON(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}
