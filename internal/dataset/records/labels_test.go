package records

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"

	"heddle/internal/wire"
)

// label is what a person says of a result.
type label struct {
	Name    string
	Tabular string // yes, text, no, may
	Path    string
	Rows    int
	Columns kinds
}

// kinds are names of columns and what they hold, in order.
type kinds [][2]string

func (k *kinds) UnmarshalJSON(b []byte) error {
	return wire.Members(b, func(key string, value json.RawMessage) bool {
		kind, _ := wire.Unquote(value)
		*k = append(*k, [2]string{key, kind})
		return true
	})
}

// unlike are labels that the result itself does not bear out.
var unlike = map[string]string{
	"sh-du":         "the command printed nothing, so there is no table",
	"memory-create": "labelled for its text; structuredContent has the same rows, at $.entities",
}

// results reads the results of other servers that this repository has.
func results(t testing.TB) map[string]Input {
	t.Helper()
	f, err := os.Open("../../deliver/estimate/testdata/results.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]Input{}
	for line := range lines(t, z) {
		var r struct {
			Name string
			Raw  struct {
				Content           []struct{ Text string }
				StructuredContent json.RawMessage
			}
		}
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		in := Input{Structured: r.Raw.StructuredContent}
		for _, c := range r.Raw.Content {
			in.Texts = append(in.Texts, []byte(c.Text))
		}
		all[r.Name] = in
	}
	return all
}

func lines(t testing.TB, r io.Reader) func(func([]byte) bool) {
	return func(yield func([]byte) bool) {
		s := bufio.NewScanner(r)
		s.Buffer(nil, 16<<20)
		for s.Scan() && yield(s.Bytes()) {
		}
		if err := s.Err(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLabels compares what is found in real results with what people see in them.
func TestLabels(t *testing.T) {
	all := results(t)
	f, err := os.Open("testdata/labels.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := 0
	for line := range lines(t, f) {
		var l label
		if err := json.Unmarshal(line, &l); err != nil {
			t.Fatal(err)
		}
		n++
		t.Run(l.Name, func(t *testing.T) { checkLabel(t, l, all[l.Name]) })
	}
	if n < 80 {
		t.Errorf("only %d labels", n)
	}
}

func checkLabel(t *testing.T, l label, in Input) {
	found, why := Find(in)
	t.Logf("labelled %s: %s", l.Tabular, describe(found, why))
	if why != "" {
		if (l.Tabular == "yes" || l.Tabular == "text") && unlike[l.Name] == "" {
			t.Errorf("nothing found: %s", why)
		}
		return
	}
	if l.Tabular == "no" {
		t.Error("labelled no")
	}
	m := found.Main
	if l.Path != "" && l.Path != m.Path && unlike[l.Name] == "" {
		t.Errorf("path %s, want %s", m.Path, l.Path)
	}
	schema, err := m.Schema()
	if err != nil {
		t.Fatal(err)
	}
	if schema.Count != m.Count || l.Rows != 0 && l.Rows != m.Count {
		t.Errorf("%d rows found, %d read, labelled %d", m.Count, schema.Count, l.Rows)
	}
	for i, column := range l.Columns {
		name, kind := column[0], column[1]
		if m.Header != nil { // it has no names
			name = m.Header[i]
		}
		if want, got, ok := columnType(schema, name, kind); !ok {
			t.Errorf("column %q is %s: got %s, want %s", name, kind, got, want)
		}
	}
	if schema.root != nil {
		checkModel(t, m)
	} else {
		t.Log(show(t, schema))
	}
}

// columnType compares the type of a column with its label.
func columnType(s *Schema, name, kind string) (want, got string, ok bool) {
	kind = strings.TrimSuffix(kind, "?")
	wants := map[string]string{
		"int": "integer huge", "number": "double", "boolean": "boolean", "array": "json", "null": "null",
		"object": "object json null", "mixed": "",
	}
	want, known := wants[kind]
	if !known {
		want = "text null"
	}
	for _, c := range s.Columns {
		if c.Name == name {
			got = string(c.Type)
		} else if strings.HasPrefix(c.Name, name+".") && got == "" {
			got = "object"
		}
	}
	return want, got, want == "" || strings.Contains(want, got) && got != ""
}

// TestMadeUp has the results that were made up for other tests: Chinese, Japanese and
// other scripts, logs, code, encoded data. What is not listed is no table.
func TestMadeUp(t *testing.T) {
	want := map[string]string{
		"own/zh-escaped-json": "main structuredContent array $.订单 25",
		"own/zh-orders-json":  "main text array $ 40",
		"own/zh-orders-csv":   "main text:delimited delimited  40",
		"own/ja-staff-json":   "main text array $.社員 40\ncontext $.件数=40",
		"own/ja-staff-tsv":    "main text:delimited delimited  40",
		"own/zh-structured":   "main structuredContent array $.记录 30\nresidue \"查询完成，共 30 条记录。\"",
		"own/uuid-list":       "main text array $ 30",
	}
	for name, in := range results(t) {
		if !strings.HasPrefix(name, "own/") {
			continue
		}
		found, why := Find(in)
		if got := describe(found, why); got != want[name] && (why == "" || want[name] != "") {
			t.Errorf("%s: got %s, want %q", name, got, want[name])
		}
	}
}
