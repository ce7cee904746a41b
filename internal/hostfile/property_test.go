package hostfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"github.com/tailscale/hujson"
	"pgregory.net/rapid"
)

// installInto edits text as an install into the file of a host does.
func installInto(host, text string) (before, after *document, ops []op, err error) {
	e := &Editor{Env: testEnv}
	f, err := e.File(host, User)
	if err != nil {
		return nil, nil, nil, err
	}
	r := Request{Host: host, Replace: func(s Server) Standing { return Standing{Same: strings.HasPrefix(s.Name, "w")} }}
	entry, err := e.complete(f.Host, Entry{Binary: "/usr/local/bin/heddle", Config: "/home/u/heddle.yml"})
	if err != nil {
		return nil, nil, nil, err
	}
	if before, err = parse(f.Path, f.Host.dialect.format, []byte(text)); err != nil {
		return nil, nil, nil, err
	}
	p := &planner{env: testEnv, change: &Change{}, request: r, entry: entry, file: f}
	after, ops, err = p.install(before)
	return before, after, ops, err
}

// jsoncWriter writes a random document in a random layout.
type jsoncWriter struct {
	t       *rapid.T
	b       strings.Builder
	comment int
	newline string
}

// gap writes blanks and comments, each with a number of its own.
func (w *jsoncWriter) gap() {
	for range rapid.IntRange(0, 2).Draw(w.t, "gaps") {
		switch rapid.IntRange(0, 5).Draw(w.t, "gap") {
		case 0:
			w.comment++
			fmt.Fprintf(&w.b, "// <%d> } ] , \"%s", w.comment, w.newline)
		case 1:
			w.comment++
			fmt.Fprintf(&w.b, "/* <%d> { [ , */", w.comment)
		case 2, 3:
			w.b.WriteString(w.newline + rapid.SampledFrom([]string{"", "  ", "\t", "      "}).Draw(w.t, "indent"))
		default:
			w.b.WriteString(" ")
		}
	}
}

func (w *jsoncWriter) value(depth int) {
	kinds := 6
	if depth > 3 {
		kinds = 4
	}
	switch rapid.IntRange(0, kinds-1).Draw(w.t, "kind") {
	case 0:
		w.b.WriteString(rapid.SampledFrom([]string{"1", "-0.5e10", "12345678901234567890", "null", "true"}).Draw(w.t, "scalar"))
	case 1, 2, 3:
		w.b.WriteString(rapid.SampledFrom([]string{`"x"`, `"// no"`, `"/* no */"`, `"\"}"`, `"é\u00e9"`, `"npx"`}).Draw(w.t, "string"))
	case 4:
		w.list(depth)
	default:
		w.object(depth, "a", "b", "command", "env")
	}
}

func (w *jsoncWriter) list(depth int) {
	w.b.WriteString("[")
	n := rapid.IntRange(0, 3).Draw(w.t, "items")
	for i := range n {
		w.gap()
		w.value(depth + 1)
		w.gap()
		w.comma(i, n)
	}
	w.gap()
	w.b.WriteString("]")
}

func (w *jsoncWriter) comma(i, n int) {
	if i < n-1 || rapid.Bool().Draw(w.t, "trailing") {
		w.b.WriteString(",")
	}
}

func (w *jsoncWriter) object(depth int, keys ...string) {
	w.b.WriteString("{")
	keys = rapid.Permutation(keys).Draw(w.t, "keys")[:rapid.IntRange(0, len(keys)).Draw(w.t, "members")]
	for i, key := range keys {
		w.gap()
		w.b.WriteString(quote(key))
		w.gap()
		w.b.WriteString(":")
		w.gap()
		switch key {
		case "mcpServers":
			w.object(depth+1, "w1", "w2", "w3", "notes", "ünï")
		default:
			w.value(depth + 1)
		}
		w.gap()
		w.comma(i, len(keys))
	}
	w.gap()
	w.b.WriteString("}")
}

var numbered = regexp.MustCompile(`<\d+>`)

// plainJSON is what a host without comments reads.
func plainJSON(t interface{ Fatalf(string, ...any) }, text []byte) map[string]any {
	std, err := hujson.Standardize(bytes.TrimPrefix(slices.Clone(text), []byte(bom)))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	d := json.NewDecoder(bytes.NewReader(std))
	d.UseNumber()
	var out map[string]any
	if err := d.Decode(&out); err != nil {
		t.Fatalf("%v\n%s", err, std)
	}
	return out
}

// rest is a file without what an install may change.
func rest(all map[string]any, key string) map[string]any {
	servers, ok := all[key].(map[string]any)
	if !ok {
		return all
	}
	delete(servers, "heddle")
	for name := range servers {
		if strings.HasPrefix(name, "w") {
			delete(servers, name)
		}
	}
	if len(servers) == 0 {
		delete(all, key)
	}
	return all
}

// TestInstallChangesNothingElse edits documents of any layout, and compares them
// with other parsers than the edit's own.
func TestInstallChangesNothingElse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &jsoncWriter{t: t, newline: rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "newline")}
		if rapid.Bool().Draw(t, "mark") {
			w.b.WriteString(bom)
		}
		w.gap()
		w.object(0, "mcpServers", "a", "projects", "z")
		w.gap()
		text := w.b.String()
		before, after, ops, err := installInto("cursor", text)
		if err != nil {
			if strings.Contains(err.Error(), "must be an object") {
				t.Skip("refused")
			}
			t.Fatalf("%v\n%s", err, text)
		}
		if err := check(before, after, ops); err != nil {
			t.Fatalf("%v\n%s\n%s", err, text, after.data)
		}
		if was, is := rest(plainJSON(t, before.data), "mcpServers"), rest(plainJSON(t, after.data), "mcpServers"); !reflect.DeepEqual(was, is) {
			t.Fatalf("changed more\n%s\n%s", before.data, after.data)
		}
		kept := map[string]bool{}
		for _, id := range numbered.FindAllString(string(after.data), -1) {
			kept[id] = true
		}
		for _, o := range ops {
			for _, id := range numbered.FindAllString(o.Raw, -1) {
				kept[id] = true // went with its entry
			}
		}
		if len(kept) != w.comment {
			t.Fatalf("%d of %d comments left\n%s\n%s", len(kept), w.comment, before.data, after.data)
		}
		if w.newline == "\r\n" && strings.Contains(strings.ReplaceAll(string(after.data), "\r\n", ""), "\n") {
			t.Fatalf("line ends are mixed\n%q\n%q", before.data, after.data)
		}
		back, err := undoAll(after, ops, false)
		if err != nil {
			t.Fatalf("undo: %v\n%s", err, after.data)
		}
		if back.root.canon() != before.root.canon() {
			t.Fatalf("undone it differs\n%s\n%s\n%s", before.data, after.data, back.data)
		}
	})
}

func FuzzJSON(f *testing.F) {
	for _, x := range jsonCorpus() {
		f.Add(x.text)
	}
	for _, x := range refusedCorpus() {
		f.Add(x.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		before, after, ops, err := installInto("cursor", text)
		if err != nil {
			return
		}
		if err := check(before, after, ops); err != nil {
			t.Fatalf("%v\n%s\n%s", err, before.data, after.data)
		}
		back, err := undoAll(after, ops, false)
		if err != nil {
			t.Fatalf("undo: %v\n%s\n%s", err, before.data, after.data)
		}
		if back.root.canon() != before.root.canon() {
			t.Fatalf("undone it differs\n%s\n%s", before.data, back.data)
		}
		_ = mask(before.data, jsonFormat, []span{{0, len(text)}})
	})
}

func FuzzTOML(f *testing.F) {
	for _, x := range tomlCorpus() {
		f.Add(x.text)
	}
	for _, x := range refusedCorpus() {
		f.Add(x.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		before, after, ops, err := installInto("codex", text)
		if err != nil {
			return
		}
		if err := check(before, after, ops); err != nil {
			t.Fatalf("%v\n%s\n%s", err, before.data, after.data)
		}
		if was, is := rest(plainTOML(t, before.data), "mcp_servers"), rest(plainTOML(t, after.data), "mcp_servers"); fmt.Sprint(was) != fmt.Sprint(is) {
			t.Fatalf("changed more\n%s\n%s", before.data, after.data)
		}
		back, err := undoAll(after, ops, false)
		if err != nil {
			t.Fatalf("undo: %v\n%s\n%s", err, before.data, after.data)
		}
		if err := sameRest(before, back, nil); err != nil && !strings.Contains(before.root.canon(), `"mcp_servers":{}`) {
			t.Fatalf("undone it differs\n%s\n%s", before.data, back.data)
		}
		_ = mask(before.data, tomlFormat, []span{{0, len(text)}})
	})
}

func plainTOML(t *testing.T, text []byte) map[string]any {
	var out map[string]any
	if err := toml.Unmarshal(bytes.TrimPrefix(text, []byte(bom)), &out); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return out
}
