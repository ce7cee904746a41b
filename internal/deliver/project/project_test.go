package project

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"heddle/internal/deliver/estimate"
	"heddle/internal/tokens"
)

var update = flag.Bool("update", false, "write the golden files")

// goldens are the real results that have a golden file.
var goldens = []string{
	"data-birdstrikes", "data-earthquakes-geojson", "data-fenced", "data-multi-text", "data-species-csv", "dc-dpkg", "dc-ls-l", "dc-read",
	"doc-github-readme", "doc-jsonschema", "fs-read-go", "fs-read-json-lock", "github-issues", "github-search-issues", "k8s-log", "k8s-pods-table",
	"memory-graph", "own/java-trace", "own/ja-log", "own/logfmt", "own/nginx-access", "own/zh-orders-csv", "own/zh-orders-json", "pg-tracks-wide",
	"prom-vector", "pw-snapshot-app", "sh-git-log-stat", "sh-psql-csv", "stripe-list-invoice",
}

// inputs are the golden results, the made-up ones of testdata/in and the
// generated ones.
func inputs(t testing.TB) map[string]Input {
	t.Helper()
	_, real := texts(t)
	in := map[string]Input{}
	for _, name := range goldens {
		if real[name] == nil {
			t.Fatalf("no result %s", name)
		}
		in[strings.ReplaceAll(name, "/", "-")] = Input{Text: real[name]}
	}
	files, err := filepath.Glob("testdata/in/*.txt")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(f), ".txt")
		in["in-"+name] = Input{Text: b, IsError: strings.HasPrefix(name, "error-")}
	}
	in["made-log"] = Input{Text: benchLog(200 << 10)}
	in["made-faulty-log"] = Input{Text: faultyLog(200 << 10)}
	in["made-nested"] = Input{JSON: nested()}
	return in
}

func TestGolden(t *testing.T) {
	for name, in := range inputs(t) {
		p, ok := Project(in)
		got := p.Text + "-- kind: " + p.Kind + "\n-- note: " + p.Note + "\n"
		if !ok {
			t.Errorf("%s: no projection", name)
			continue
		}
		path := filepath.Join("testdata/golden", name+".txt")
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
		}
	}
}

// TestKinds says what each input is taken for.
func TestKinds(t *testing.T) {
	want := map[string]string{
		"in-syslog": KindLog, "in-json-log": KindLog, "in-pytest": KindLog, "in-go-test": KindLog, "in-npm": KindLog, "in-cargo": KindLog,
		"in-python-log": KindLog, "in-chinese-log": KindLog, "in-git-log": KindHeadTail, "in-ls-la": KindTable, "in-csv-quoted": KindTable,
		"in-error-java": KindError, "in-one-line": KindHeadTail, "in-diff": KindDiff, "data-fenced": KindRecords, "data-multi-text": KindRecords,
		"doc-github-readme": KindMarkdown, "fs-read-go": KindCode, "fs-read-json-lock": KindOutline, "k8s-log": KindLog, "dc-ls-l": KindTable,
		"own-ja-log": KindLog, "own-logfmt": KindLog, "own-nginx-access": KindLog, "own-zh-orders-csv": KindTable, "dc-read": KindTable,
		"own-java-trace": KindLog, "sh-git-log-stat": KindHeadTail, "pw-snapshot-app": KindHeadTail, "sh-psql-csv": KindTable,
		"k8s-pods-table": KindTable,
	}
	in := inputs(t)
	for name, kind := range want {
		if p, _ := Project(in[name]); p.Kind != kind {
			t.Errorf("%s is taken for %q, want %q", name, p.Kind, kind)
		}
	}
}

// check holds what is true of every projection.
func check(t *testing.T, name string, in Input, p Projection) {
	t.Helper()
	source, budget, size := in.Text, in.Budget, in.MaxBytes
	if in.JSON != nil {
		source = in.JSON
	}
	if budget == 0 {
		budget = Budget
		if p.Kind == KindOutline {
			budget = OutlineBudget
		}
	}
	if size == 0 {
		size = MaxBytes
	}
	cost := estimate.Text([]byte(p.Text))
	if cost*10 > budget*11 {
		t.Errorf("%s: costs %d, budget %d", name, cost, budget)
	}
	if have := estimate.Text(source); cost >= have {
		t.Errorf("%s: costs %d, the input %d", name, cost, have)
	}
	if len(p.Text) > size || !utf8.ValidString(p.Text) || !strings.HasSuffix(p.Text, "\n") {
		t.Errorf("%s: %d bytes, want at most %d, valid UTF-8 and whole lines", name, len(p.Text), size)
	}
	for line := range strings.Lines(p.Text) {
		if n := utf8.RuneCountInString(line); n > maxLine {
			t.Errorf("%s: a line of %d characters", name, n)
		}
	}
	if p.Kind == "" || p.Note == "" || strings.ContainsAny(p.Note, "\n") {
		t.Errorf("%s: kind %q, note %q", name, p.Kind, p.Note)
	}
	var array []json.RawMessage
	if json.Unmarshal([]byte(p.Text), &array) == nil {
		t.Errorf("%s is a bare JSON array", name)
	}
	if again, _ := Project(in); again != p {
		t.Errorf("%s: another projection the second time", name)
	}
}

// TestBounds projects every result, cut in several ways, within several bounds.
func TestBounds(t *testing.T) {
	names, real := texts(t)
	all := inputs(t)
	for _, name := range names {
		all[name] = Input{Text: real[name]}
	}
	n := 0
	for name, in := range all {
		for _, budget := range []int{0, 60, 200, 3000} {
			for _, size := range []int{0, 600} {
				for _, part := range []int{1, 5} {
					x := in
					x.Budget, x.MaxBytes = budget, size
					if x.JSON == nil {
						x.Text = x.Text[:len(x.Text)/part]
					}
					if p, ok := Project(x); ok {
						n++
						check(t, name, x, p)
					}
				}
			}
		}
	}
	if n < 500 {
		t.Errorf("only %d projections", n)
	}
}

func counter(t testing.TB) *tokens.Counter {
	t.Helper()
	c, err := tokens.New()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestLogBar: a log of 200 kB in 780 tokens less what a caller adds, with every
// kind of error and warning in it.
func TestLogBar(t *testing.T) {
	c := counter(t)
	for name, in := range map[string]struct {
		log  []byte
		tell []string
	}{
		"log":    {benchLog(200 << 10), []string{"connection to db-", "cache miss ratio"}},
		"faulty": {faultyLog(200 << 10), nil},
	} {
		if in.tell == nil {
			for _, f := range faults {
				in.tell = append(in.tell, f.tell)
			}
		}
		p, ok := Project(Input{Text: in.log})
		n := c.Count(p.Text)
		if !ok || p.Kind != KindLog || n > 740 {
			t.Errorf("%s: %q of %d tokens, want a log of at most 740", name, p.Kind, n)
		}
		for _, tell := range in.tell {
			if !strings.Contains(p.Text, tell) {
				t.Errorf("%s: no line with %q in\n%s", name, tell, p.Text)
			}
		}
		t.Logf("%s: %d tokens of %d", name, n, c.Count(string(in.log)))
	}
}

// TestOutlineBar: 600 kB of nested JSON in 1,500 tokens less what a caller adds,
// with every key to depth 3.
func TestOutlineBar(t *testing.T) {
	c := counter(t)
	doc := []byte(`{"first":` + string(nested()) + `,"second":` + string(nested()) + `}`)
	for name, in := range map[string]Input{"as JSON": {JSON: doc}, "as text": {Text: doc}, "indented": {Text: indent(t, nested())}} {
		p, ok := Project(in)
		n := c.Count(p.Text)
		if !ok || p.Kind != KindOutline || n > 1450 {
			t.Errorf("%s: %q of %d tokens, want an outline of at most 1,450", name, p.Kind, n)
		}
		t.Logf("%s: %d bytes in %d tokens, %s", name, len(in.JSON)+len(in.Text), n, p.Note)
		for _, key := range []string{"apiVersion", "cluster", "limits", "features", "owner", "services", "replicas", "status", "labels?", "nodes", "zone", "serial", "policies", "network", "rules", "quota", "hard", "scopes", "next_cursor", "9007199254740993"} {
			if !strings.Contains(p.Text, key) {
				t.Errorf("%s: no %s in\n%s", name, key, p.Text)
			}
		}
	}
}

func indent(t *testing.T, doc []byte) []byte {
	t.Helper()
	var v json.RawMessage = doc
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestNothingSmaller(t *testing.T) {
	for _, in := range []Input{{}, {Text: []byte("short")}, {JSON: []byte(`{"a":1}`)}, {JSON: []byte(`[]`)}, {Text: []byte("a\nb\nc\n")}, {JSON: []byte(`not JSON`)}, {Text: []byte("\xef\xbb\xbf")}} {
		if p, ok := Project(in); ok {
			t.Errorf("Project(%q %q) = %+v", in.Text, in.JSON, p)
		}
	}
}

func TestKeep(t *testing.T) {
	_, real := texts(t)
	for name, want := range map[string]bool{
		"fs-read-go": true, "own/go-code": true, "own/py-code-zh": true, "fs-read-md": true, "doc-github-readme": true, "own/zh-article": true,
		"own/ja-doc-code": true, "n8n-docs": true,
		"k8s-log": false, "own/zh-log": false, "fs-read-csv-weather": false, "dc-ls-l": false, "own/zh-news": false, "prom-metrics-text": false,
		"sh-git-log-stat": false, "own/logfmt": false, "fs-search": false, "pw-snapshot-pgdoc": false, "own/ja-story": false, "sh-mount": false,
	} {
		if got := Keep(real[name]); got != want {
			t.Errorf("Keep(%s) = %v (%q), want %v", name, got, kindOf(real[name]), want)
		}
	}
	in := inputs(t)
	if !Keep(in["in-diff"].Text) || Keep(in["in-git-log"].Text) || Keep(in["in-pytest"].Text) || Keep(nil) {
		t.Error("Keep is wrong of a diff, git log, a test's output or nothing")
	}
}

func FuzzProject(f *testing.F) {
	for _, in := range inputs(f) {
		text := in.Text
		if in.JSON != nil {
			text = in.JSON
		}
		f.Add(text[:min(len(text), 3000)], 300, false)
	}
	f.Fuzz(func(t *testing.T, text []byte, budget int, isError bool) {
		in := Input{Text: text, Budget: 30 + max(0, budget)%1000, IsError: isError}
		if p, ok := Project(in); ok {
			check(t, "text", in, p)
		}
		in = Input{JSON: text, Budget: in.Budget, MaxBytes: 2000}
		if p, ok := Project(in); ok {
			check(t, "JSON", in, p)
		}
		Keep(text)
	})
}

func BenchmarkProject(b *testing.B) {
	doc := nested()
	all := map[string]Input{"log": {Text: benchLog(1 << 20)}, "faulty": {Text: faultyLog(1 << 20)}, "outline": {JSON: []byte("[" + string(doc) + "," + string(doc) + "," + string(doc) + "]")}}
	_, real := texts(b)
	head, rows, _ := strings.Cut(string(real["fs-read-csv-weather"]), "\n")
	all["csv"] = Input{Text: []byte(head + "\n" + strings.Repeat(strings.TrimSpace(rows)+"\n", 22))}
	all["code"] = Input{Text: real["fs-read-go"]}
	all["records"] = Input{Text: real["data-birdstrikes"]}
	all["headtail"] = Input{Text: []byte(strings.Repeat("some words of prose without any order at all\n", 23000))}
	for name, in := range all {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(in.Text) + len(in.JSON)))
			b.ReportAllocs()
			for b.Loop() {
				Project(in)
			}
		})
	}
}

// TestCrowded projects a text in which every line is of its own kind.
func TestCrowded(t *testing.T) {
	r := newRand(1)
	var b strings.Builder
	for i := range 12000 {
		b.WriteString("2026-03-01 12:00:00 ")
		b.WriteString([]string{"INFO", "ERROR"}[i%2])
		for range 6 {
			b.WriteByte(' ')
			for range 5 {
				b.WriteByte(byte('a' + r.n(26)))
			}
		}
		b.WriteByte('\n')
	}
	in := Input{Text: []byte(b.String())}
	p, ok := Project(in)
	if !ok || p.Kind != KindLog || !strings.Contains(p.Text, "not counted") || !strings.Contains(p.Text, "are not shown") {
		t.Fatalf("%v %s", ok, p.Text)
	}
	check(t, "crowded", in, p)
}

// TestSlow projects what could make it slow: all end within a moment.
func TestSlow(t *testing.T) {
	const size = 1 << 20
	for _, unit := range []string{`"`, `,"`, `",`, "\"a,b,c\n", `\`, "a", "a\n", "\n", "[", "{\"a\":", "[{\"a\":1},", "```\n", "\x1b[", "\x1b]", "|", "| a | b |\n", "=", "1", "1,", "ERROR x\n", "ERROR \"\n", "at x\n", "# h\n", "@@ -1 @@\n", "錯", "2026-03-01 12:00:00 ", "{\"a\":[1,2],\n", "x: {\n", "[1] ", "{} ", "NAME  AGE  ID\n", "NAME AGE  ID ", "-rw-r--r-- 1 a b 2 Jan  1 10:00 x\n", "ERROR E100 code=1 ", "{\"level\":\"error\",\"msg\":\"x\"}\n"} {
		in := Input{Text: []byte(strings.Repeat(unit, size/len(unit)))}
		start := time.Now()
		for _, isError := range []bool{false, true} {
			in.IsError = isError
			if p, ok := Project(in); ok {
				check(t, unit, in, p)
			}
		}
		if took := time.Since(start); took > 4*time.Second {
			t.Errorf("%q takes %v", unit, took)
		}
	}
	deep := strings.Repeat("[", 9000) + strings.Repeat("]", 9000)
	if p, ok := Project(Input{JSON: []byte(deep)}); ok {
		check(t, "deep", Input{JSON: []byte(deep)}, p)
	}
}

// TestManyKinds shows each of 40 kinds of errors, though not with an example.
func TestManyKinds(t *testing.T) {
	verbs := []string{"open", "close", "read", "write", "parse", "resolve", "lock", "flush", "commit", "sync"}
	nouns := []string{"ledger", "socket", "index", "schema"}
	var b strings.Builder
	for i := 0; b.Len() < 200<<10; i++ {
		if i%30 == 29 {
			fmt.Fprintf(&b, "2026-03-01T12:00:%02d.%03dZ ERROR [svc-%d] could not %s the %s of tenant %d after %d ms\n", i%60, i%1000, i%8, verbs[i/30%10], nouns[i/300%4], i%77, i%999)
			continue
		}
		fmt.Fprintf(&b, "2026-03-01T12:00:%02d.%03dZ INFO GET /api/items/%d 200 %dms\n", i%60, i%1000, i*7%999, i%99)
	}
	in := Input{Text: []byte(b.String())}
	p, _ := Project(in)
	check(t, "many", in, p)
	for _, v := range verbs {
		for _, n := range nouns {
			if !strings.Contains(p.Text, v+" the "+n) {
				t.Errorf("no %s the %s in\n%s", v, n, p.Text)
			}
		}
	}
	if n := counter(t).Count(p.Text); n > 740 {
		t.Errorf("%d tokens, want at most 740", n)
	}
}
