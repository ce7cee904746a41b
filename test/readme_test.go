package test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"heddle/internal/cli"
)

var (
	// fences are the code blocks of a document.
	fences = regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```$")
	// builds is the first step of a block, which the test takes by itself.
	builds = regexp.MustCompile(`^go build \S+ \S+ \S+ && `)
	// sleeps are the waits in a script.
	sleeps = regexp.MustCompile(`sleep \d+`)
	// passing is what differs from run to run and machine to machine: processes,
	// versions, paths, times and the digests of what they are in.
	passing = regexp.MustCompile(`pid \d+|up \d+s|\(go[^)]*\)|\S*/test/npm|[\d,.]+ (?:ms|µs|s)\b|[\d:]{8} UTC|\d{4}-\d\d-\d\dT[\d:.]+Z|DuckDB v[\d.]+`)
	// variables are the references of an example.
	variables = regexp.MustCompile(`\$\{([A-Z_]+)`)
)

// left is a line of a README that stands for lines which it leaves out.
const left = "…"

// slower is a wait three times as long.
func slower(sleep string) string {
	n, _ := strconv.Atoi(strings.TrimPrefix(sleep, "sleep "))
	return "sleep " + strconv.Itoa(3*n)
}

// TestREADME runs the commands of README.md and of other documents with sessions in
// them, and wants what they say is printed; -update writes it where no line is left
// out.
func TestREADME(t *testing.T) {
	if testing.Short() {
		t.Skip("starts real servers: not with -short")
	}
	if runtime.GOOS == "windows" {
		t.Skip("the commands are for a Unix shell")
	}
	r := newReadme(t)
	for _, document := range []string{"README.md", "docs/datasets.md"} {
		t.Run(filepath.Base(document), func(t *testing.T) { r.document(t, "../"+document) })
	}
}

// document runs the blocks of one.
func (r *readme) document(t *testing.T, path string) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r.prelude = ""
	text, command := string(raw), ""
	for _, m := range fences.FindAllStringSubmatch(text, -1) {
		switch kind, block := m[1], m[2]; {
		case kind == "text":
			if printed := r.check(t, command, block); printed != "" {
				text = strings.Replace(text, block, printed, 1)
			}
			command = ""
		case kind == "sh":
			command = builds.ReplaceAllString(block, "")
			if strings.Contains(command, "() {") {
				r.prelude, command = r.prelude+command, ""
			}
		case kind == "yaml" && strings.HasPrefix(block, "version: 2"):
			file := filepath.Join(t.TempDir(), "heddle.yml")
			if err := os.WriteFile(file, []byte(block), 0o600); err != nil {
				t.Fatal(err)
			}
			validExample(t, file)
		}
	}
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// readme runs the blocks of documents.
type readme struct {
	binary  string
	prelude string // the functions that the document has defined so far
	npm     bool   // the servers of test/npm are there
	sql     bool   // and the SQL worker works
}

func newReadme(t *testing.T) *readme {
	t.Helper()
	dir := t.TempDir()
	r := &readme{binary: filepath.Join(dir, "heddle")}
	if out, err := exec.Command("go", "build", "-o", dir+"/", "../cmd/...").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	_, err := os.Stat("npm/node_modules")
	_, noNode := exec.LookPath("node")
	r.npm = err == nil && noNode == nil
	r.sql = r.npm && exec.Command(filepath.Join(dir, "heddle-sql"), "-check").Run() == nil
	return r
}

// check runs a block and compares what it prints with want. With -update it
// returns what is printed if that is something else.
func (r *readme) check(t *testing.T, command, want string) string {
	t.Helper()
	name, _, _ := strings.Cut(strings.TrimSpace(command), "\n")
	switch {
	case command == "":
		t.Errorf("nothing is run that could print\n%s", want)
		return ""
	case !r.npm && strings.Contains(command, "/npm"), !r.npm && strings.Contains(command, "examples/http.yml"):
		t.Logf("not run, for want of npm ci in test/npm: %s", name)
		return ""
	case !r.sql && strings.Contains(command, "session.mjs"):
		t.Logf("not run, for want of npm ci in test/npm, or of a C compiler: %s", name)
		return ""
	case strings.Contains(command, ":8000") && !isFree("127.0.0.1:8000"):
		t.Logf("not run, because something listens on port 8000: %s", name)
		return ""
	}
	script := strings.ReplaceAll(r.prelude+command, "bin/heddle", r.binary)
	printed := readmeShell(t, script)
	if !fits(printed, want) && !*update { // on a busy machine servers start more slowly than a README should wait
		printed = readmeShell(t, sleeps.ReplaceAllStringFunc(script, slower))
	}
	switch {
	case fits(printed, want):
	case *update && !slices.Contains(strings.Fields(want), left):
		return printed
	default:
		t.Errorf("%s\n got:\n%s\nwant:\n%s\n(-update writes what is printed)", command, steady(printed), steady(want))
	}
	return ""
}

// isFree reports whether nothing listens on an address.
func isFree(addr string) bool {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return false
	}
	return l.Close() == nil
}

// readmeShell runs a script at the top of the tree, in an empty home.
func readmeShell(t *testing.T, script string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), npmStart)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", script)
	cmd.Dir = ".."
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "XDG_STATE_HOME=", "XDG_CONFIG_HOME=", "XDG_CACHE_HOME=", "HEDDLE_TOKEN=")
	out, err := cmd.Output()
	if err != nil {
		var stderr []byte
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
			stderr = exit.Stderr
		}
		t.Fatalf("%s: %v\n%s", script, err, stderr)
	}
	return string(out)
}

// fits reports whether printed is what a document says, but for what differs each
// time and the lines that it leaves out.
func fits(printed, want string) bool {
	rest := strings.Split(steady(printed), "\n")
	var parts [][]string // of want, with lines left out between them
	part := []string{}
	for line := range strings.Lines(steady(want) + "\n") {
		if line = strings.TrimSuffix(line, "\n"); strings.TrimSpace(line) == left {
			parts, part = append(parts, part), []string{}
			continue
		}
		part = append(part, line)
	}
	parts = append(parts, part)
	for i, p := range parts {
		last := i == len(parts)-1
		at := 0
		if i > 0 {
			at = find(rest, p, last)
		}
		if at < 0 || len(rest) < at+len(p) || !slices.Equal(rest[at:at+len(p)], p) {
			return false
		}
		rest = rest[at+len(p):]
	}
	return len(rest) == 0 || len(parts[len(parts)-1]) == 0
}

// find returns where part stands in lines, at their end if it is the last one; -1
// if it does not.
func find(lines, part []string, last bool) int {
	if last {
		return len(lines) - len(part)
	}
	for i := range lines {
		if i+len(part) <= len(lines) && slices.Equal(lines[i:i+len(part)], part) {
			return i
		}
	}
	return -1
}

// steady returns what a command prints without what differs each time.
func steady(s string) string { return strings.TrimSpace(passing.ReplaceAllString(s, "*")) }

func TestFits(t *testing.T) {
	const printed = "a\nb 1.5 ms\nc\nd\n"
	for want, fit := range map[string]bool{
		"a\nb 20 µs\nc\nd\n": true, "a\n…\nc\n…\n": true, "a\n…\nc\n…\nd": true, "a\n  …\nd\n": true, "a\n…\n": true, "…\nd\n": true,
		"a\nb 1 ms\nd\n": false, "a\n": false, "…\nc\n": false, "a\nb 1 ms\nc\nd\ne\n": false, "d\n…\na\n": false, "a\n…\ne\n": false,
	} {
		if got := fits(printed, want); got != fit {
			t.Errorf("%q: got %t, want %t", want, got, fit)
		}
	}
}

// TestExamples validates each file of examples, with some value for each variable
// that it refers to.
func TestExamples(t *testing.T) {
	files, err := filepath.Glob("../examples/*[nl]") // .json, .yml
	if err != nil || len(files) == 0 {
		t.Fatalf("%d examples: %v", len(files), err)
	}
	for _, f := range files {
		t.Run(filepath.Base(f), func(t *testing.T) { validExample(t, f) })
	}
}

// validExample wants that a configuration is valid, without a warning.
func validExample(t *testing.T, file string) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", t.TempDir())
	for _, m := range variables.FindAllStringSubmatch(string(raw), -1) {
		if m[1] != "HOME" {
			t.Setenv(m[1], "a-value-for-the-example")
		}
	}
	var out, stderr strings.Builder
	if code := cli.Main([]string{"validate", "--offline", "--config", file}, os.Stdin, &out, &stderr); code != 0 || stderr.Len() > 0 || strings.Contains(out.String(), "warning") {
		t.Errorf("%s: exit code %d\n%s", file, code, fmt.Sprint(&out, &stderr))
	}
}
