package config

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// one loads a server whose only argument is arg, from either form.
func one(t *testing.T, form, arg string, files map[string]string, env Env) *Config {
	t.Helper()
	name, text := "heddle.yml", "version: 2\nservers: {a: {command: x, args: ["+quote(arg)+"]}}\n"
	if form == "host" {
		name, text = "mcp.json", `{"mcpServers": {"a": {"command": "x", "args": [`+quote(arg)+`]}}}`
	}
	all := map[string]string{name: text}
	for k, v := range files {
		all[k] = v
	}
	return mustLoad(t, filepath.Join(write(t, all), name), env)
}

func TestReferences(t *testing.T) {
	env := vars("A", "va", "B", "vb", "REF", "${A}$$", "SP", "a b")
	tests := []struct{ form, in, want string }{
		{"heddle", "${A}", "va"},
		{"heddle", "x-${A}-${B}", "x-va-vb"},
		{"heddle", "${NO:-default}", "default"},
		{"heddle", "${NO:-}", ""},
		{"heddle", "${NO:-http://h:8080/?q=1}", "http://h:8080/?q=1"},
		{"heddle", "${NO:-${B}}", "vb"},
		{"heddle", "${NO:-${NOR:-c}}d", "cd"},
		{"heddle", "${REF}", "${A}$$"},
		{"heddle", "$${A}", "${A}"},
		{"heddle", "$$A$$", "$A$"},
		{"heddle", "$A %A% 100%", "$A %A% 100%"},
		{"heddle", "}{", "}{"},
		{"heddle", "${file:secret.txt}", "from a file"},
		{"heddle", "${file:${NO:-secret}.txt}", "from a file"},
		{"heddle", "${file:crlf.txt}", "windows"},
		{"heddle", "${keyring:github}", "keyring-secret"},
		{"heddle", "$", "$"},
		{"host", "${A}", "va"},
		{"host", "${env:A}", "va"},
		{"host", "${env:NO:-d}", "d"},
		{"host", "pa$$word", "pa$$word"},
		{"host", "$${A}", "${A}"},
		{"host", "${userHome}/x", "/home/u/x"},
		{"host", "${}", "${}"},
		{"host", "${A", "${A"},
		{"host", "${x%.*}", "${x%.*}"},
	}
	files := map[string]string{"secret.txt": "from a file\n", "crlf.txt": "windows\r\n"}
	for _, tt := range tests {
		c := one(t, tt.form, tt.in, files, env)
		if got := c.Servers[0]; got.Unusable != "" || got.Args[0] != tt.want {
			t.Errorf("%s %q = %q, %q; want %q", tt.form, tt.in, got.Args, got.Unusable, tt.want)
		}
	}
}

func TestUnusable(t *testing.T) {
	env := vars("EMPTY", "")
	tests := []struct{ form, in, want string }{
		{"heddle", "${NO}", "NO is not set; set it in the environment or in DIR/.env"},
		{"heddle", "${EMPTY}${NO}${NOR}${NO}", "NO is not set; NOR is not set; EMPTY is empty; set it in the environment or in DIR/.env"},
		{"heddle", "${file:none.txt}", "the file DIR/none.txt cannot be read: no such file or directory"},
		{"heddle", "${file:empty.txt}", "the file DIR/empty.txt is empty"},
		{"heddle", "${file:.}", "the file DIR cannot be read: is a directory"},
		{"heddle", "${file:${NO}/x}", "NO is not set; set it in the environment or in DIR/.env"},
		{"heddle", "${keyring:other}", "the keyring gives no other (service heddle): secret not found in keyring"},
		{"host", "${input:token}", "${input:token} is asked for by its host; put the value into a variable and write ${VAR}"},
		{"host", "${workspaceFolder}/x", "${workspaceFolder} is known to its host alone; write the value, or a variable as ${VAR}"},
	}
	if runtime.GOOS == "windows" {
		t.Skip("file errors read differently on Windows")
	}
	for _, tt := range tests {
		c := one(t, tt.form, tt.in, map[string]string{"empty.txt": "\n"}, env)
		got := strings.ReplaceAll(c.Servers[0].Unusable, c.Dir, "DIR")
		if got != tt.want {
			t.Errorf("%s %q: unusable %q, want %q", tt.form, tt.in, got, tt.want)
		}
		if c.Servers[0].Args[0] != tt.in {
			t.Errorf("%s %q: args %q, want them as written", tt.form, tt.in, c.Servers[0].Args)
		}
	}
}

// TestOnlyTheServersThatNeedIt: a missing variable leaves the others alone, and
// a disabled server asks nobody.
func TestOnlyTheServersThatNeedIt(t *testing.T) {
	env := vars()
	env.Keyring = func(string) (string, error) { t.Error("the keyring was asked"); return "", nil }
	c := loadText(t, "heddle.yml", `
version: 2
servers:
  a: {command: x, env: {T: "${NO}"}}
  b: {command: x}
  c: {command: x, disabled: true, env: {T: "${NO}${keyring:github}"}}
`, env)
	var got []bool
	for _, s := range c.Servers {
		got = append(got, s.Unusable != "")
	}
	if diff := cmp.Diff([]bool{true, false, false}, got); diff != "" {
		t.Errorf("unusable (-want +got):\n%s", diff)
	}
}

func TestDotEnv(t *testing.T) {
	const text = "\ufeff# note\nA=plain # comment\nexport B='single # $x'\nC=\"double\\n\\\"q\\\"\" # c\nD = spaced \r\nE=\nF=a#b\nbad line s3cr3t\nG='open s3cr3t\nA2=\"x\" y\n"
	files := map[string]string{".env": text}
	tests := map[string]string{"A": "plain", "B": "single # $x", "C": "double\n\"q\"", "D": "spaced", "F": "a#b", "SET": "process"}
	for name, want := range tests {
		c := one(t, "heddle", "${"+name+"}", files, vars("SET", "process", "D", ""))
		if got := c.Servers[0]; got.Unusable != "" || got.Args[0] != want {
			t.Errorf("${%s} = %q, %q; want %q", name, got.Args, got.Unusable, want)
		}
	}
	c := one(t, "heddle", "${E}", files, vars())
	if got := c.Servers[0].Unusable; !strings.HasPrefix(got, "E is empty; ") {
		t.Errorf("an empty entry: unusable %q", got)
	}
	want := ".env:8:1: : is not KEY=VALUE; the line is ignored\n.env:9:1: : the quotes of G do not close on its line; the line is ignored\n.env:10:1: : the quotes of A2 do not close on its line; the line is ignored\n"
	if diff := cmp.Diff(want, warnings(c)); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	if want := filepath.Join(c.Dir, ".env"); c.DotEnv != want {
		t.Errorf("DotEnv = %q, want %q", c.DotEnv, want)
	}
	// Nothing was missing: the .env is not heddle's business.
	c = one(t, "heddle", "${SET}", files, vars("SET", "process"))
	if c.DotEnv != "" || len(c.Warnings) > 0 {
		t.Errorf("an unneeded .env: DotEnv %q, warnings %q; want neither", c.DotEnv, warnings(c))
	}
}

func TestDotEnvOpenToOthers(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no such bits on Windows")
	}
	dir := write(t, map[string]string{
		"heddle.yml": "version: 2\nservers: {a: {command: x, env: {T: \"${T}\"}}, b: {command: x, env: {T: \"${S}\"}}}\n",
		".env":       "T=from-dotenv\n",
	})
	env := vars("S", "set")
	for _, mode := range []os.FileMode{0o640, 0o604, 0o644, 0o660} {
		if err := os.Chmod(filepath.Join(dir, ".env"), mode); err != nil {
			t.Fatal(err)
		}
		c := mustLoad(t, filepath.Join(dir, "heddle.yml"), env)
		want := "T is not set; .env is readable by others: chmod 600 " + filepath.Join(dir, ".env")
		if c.Servers[0].Unusable != want || c.Servers[1].Unusable != "" || c.DotEnv != "" || len(c.Warnings) != 1 {
			t.Errorf("mode %o: %q, %q, DotEnv %q, warnings %q; want %q for the first alone", mode, c.Servers[0].Unusable, c.Servers[1].Unusable, c.DotEnv, warnings(c), want)
		}
	}
	if err := os.Chmod(filepath.Join(dir, ".env"), 0o600); err != nil {
		t.Fatal(err)
	}
	if c := mustLoad(t, filepath.Join(dir, "heddle.yml"), env); c.Servers[0].Unusable != "" || c.Servers[0].Env["T"] != "from-dotenv" {
		t.Errorf("mode 600: %q, %q; want it read", c.Servers[0].Unusable, c.Servers[0].Env)
	}
}

func TestPaths(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("paths differ on Windows")
	}
	tests := []struct{ command, cwd, wantCommand, wantCwd string }{
		{"npx", ".", "npx", "DIR"},
		{"./s", "..", "DIR/s", "UP"},
		{"bin/s", "/tmp", "DIR/bin/s", "/tmp"},
		{"~/bin/s", "~", "/home/u/bin/s", "/home/u"},
		{"/opt/s", "${W}", "/opt/s", "/w"},
	}
	for _, tt := range tests {
		c := loadText(t, "heddle.yml", "version: 2\nservers: {a: {command: "+quote(tt.command)+", cwd: "+quote(tt.cwd)+"}}\n", vars("W", "/w"))
		resolve := strings.NewReplacer("DIR", c.Dir, "UP", filepath.Dir(c.Dir))
		got := c.Servers[0]
		if got.Command != resolve.Replace(tt.wantCommand) || got.Cwd != resolve.Replace(tt.wantCwd) {
			t.Errorf("%q in %q = %q in %q, want %q in %q", tt.command, tt.cwd, got.Command, got.Cwd, tt.wantCommand, tt.wantCwd)
		}
	}
}

func TestWarnings(t *testing.T) {
	c := loadText(t, "heddle.yml", `version: 2
servers:
  a:
    command: x
    args: [--api-key, abcdefgh123, --port=8080, --token=q1w2e3r4t5, $HOME, "%HOME%", $NOPE, $$HOME, ghp_0123456789abcdefghij, --token-file=/run/x]
    env:
      API_KEY: abcdefgh123
      GITHUB_TOKEN: "${T:-x}"
      TOKEN_LIMIT: "200000"
      MY_SECRET: <your secret>
      DATABASE: postgres://u:hunter22@h/db
      MODE: production
  b: {command: sh, args: [-c, "echo $HOME"]}
`, vars("HOME", "/home/u"))
	const secret = ": looks like a secret in plain text; put it into the environment or .env and write ${VAR}, or use ${keyring:NAME}\n"
	want := "heddle.yml:5:23: servers.a.args[1]" + secret +
		"heddle.yml:5:49: servers.a.args[3]" + secret +
		"heddle.yml:5:69: servers.a.args[4]: $HOME is passed as written; write ${HOME} for its value\n" +
		"heddle.yml:5:76: servers.a.args[5]: %HOME% is passed as written; write ${HOME} for its value\n" +
		"heddle.yml:5:101: servers.a.args[8]" + secret +
		"heddle.yml:7:16: servers.a.env.API_KEY" + secret +
		"heddle.yml:10:18: servers.a.env.MY_SECRET" + secret +
		"heddle.yml:11:17: servers.a.env.DATABASE" + secret
	if diff := cmp.Diff(want, warnings(c)); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

func TestSecrets(t *testing.T) {
	c := loadText(t, "heddle.yml", `
version: 2
servers:
  a:
    command: x
    args: ["${LONG}", "${HOME}", "${NO:-a default}", "${keyring:github}", "${SHORT}"]
    env: {PEM: "${file:key.pem}", PASSWORD: literal-pw, MODE: ordinary}
    env_passthrough: [PASSED_TOKEN, PASSED]
`, vars("LONG", "long-value", "HOME", "/home/user", "SHORT", "abc", "PASSED_TOKEN", "passed-token", "PASSED", "passed-plain"))
	// key.pem is missing, and so the server is not used; what was resolved counts.
	if c.Servers[0].Unusable == "" {
		t.Fatal("want the server unusable")
	}
	dir := write(t, map[string]string{"key.pem": "line-one\r\nline-two\n", "heddle.yml": readFile(t, c.Path)})
	c = mustLoad(t, filepath.Join(dir, "heddle.yml"), vars("LONG", "long-value", "HOME", "/home/user", "SHORT", "abc", "PASSED_TOKEN", "passed-token", "PASSED", "passed-plain"))
	want := []string{"line-one\r\nline-two", "keyring-secret", "passed-token", "literal-pw", "long-value", "line-one", "line-two"}
	if diff := cmp.Diff(want, c.Secrets()); diff != "" {
		t.Errorf("Secrets (-want +got):\n%s", diff)
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestNamesSecret(t *testing.T) {
	for _, name := range []string{"GITHUB_TOKEN", "API_KEY", "apiKey", "--api-key", "DB_PASSWORD", "OPENAI_APIKEY", "clientSecret", "AWS_SECRET_ACCESS_KEY", "AUTH", "token2", "PGPASSWORD", "MYTOKEN", "OPENAIAPIKEY", "TOKEN1", "PASSWORD_2", "X-Api-Key", "passwordHash", "MYSQL_PWD", "HTTPSecret"} {
		if !NamesSecret(name) {
			t.Errorf("NamesSecret(%q) = false, want true", name)
		}
	}
	for _, name := range []string{"MODE", "TOKEN_LIMIT", "KEY_FILE", "KEYBOARD", "PATH", "MONKEY", "COMPASS", "AUTHOR", "TOKENIZERS_PARALLELISM", "MAX_TOKENS", "PUBLIC_KEY", "sortKey", "AUTH_PORT", "SECRET_VERSION", "BYPASS", "", "--", "7"} {
		if NamesSecret(name) {
			t.Errorf("NamesSecret(%q) = true, want false", name)
		}
	}
}

// TestEscapedTextSurvives: any text with its dollars doubled is itself again,
// and one without "${" and "$$" needs no escape.
func TestEscapedTextSurvives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		parts, err := parseTemplate(strings.ReplaceAll(s, "$", "$$"), false)
		if err != nil || parts.hasRefs() || parts.literal() != s {
			t.Fatalf("escaped %q = %q, %v", s, parts.literal(), err)
		}
		if strings.Contains(s, "${") {
			return
		}
		parts, err = parseTemplate(s, true)
		if err != nil || parts.literal() != s {
			t.Fatalf("host %q = %q, %v", s, parts.literal(), err)
		}
	})
}
