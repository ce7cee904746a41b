package records

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// describe prints what was found, a line each.
func describe(f Found, why string) string {
	if why != "" {
		return "none: " + why
	}
	var b strings.Builder
	table := func(what string, t Table) {
		fmt.Fprintf(&b, "%s %s %s %s %d\n", what, t.Source, t.Form, t.Path, t.Count)
	}
	table("main", f.Main)
	for _, s := range f.Siblings {
		table("sibling", s)
	}
	for _, o := range f.Others {
		fmt.Fprintf(&b, "other %s: %s\n", o.Path, o.Kind)
	}
	for _, c := range f.Context {
		fmt.Fprintf(&b, "context %s=%s\n", c.Path, c.Value)
	}
	if f.Residue != "" {
		fmt.Fprintf(&b, "residue %q\n", f.Residue)
	}
	return strings.TrimSpace(b.String())
}

// objects is a JSON array of n objects.
func objects(n int) string {
	rows := make([]string, n)
	for i := range rows {
		rows[i] = fmt.Sprintf(`{"id":%d,"v":"x"}`, i)
	}
	return "[" + strings.Join(rows, ",") + "]"
}

// scalars is the members of n keys.
func scalars(n int) string {
	members := make([]string, n)
	for i := range members {
		members[i] = fmt.Sprintf(`"k%d":%d`, i, i)
	}
	return strings.Join(members, ",")
}

func TestFind(t *testing.T) {
	lines := `{"a":1}` + "\n" + `{"a":2}` + "\n" + `{"a":3}`
	for _, tt := range []struct {
		name       string
		structured string
		texts      []string
		want       string
	}{
		{"array", "", []string{objects(3)}, "main text array $ 3"},
		{"one record", "", []string{objects(1)}, "none: JSON with single records only"},
		{"no record", "", []string{"[]"}, "none: JSON without an array of objects"},
		{"not all objects", "", []string{`[{"a":1},{"a":2},null]`}, "none: JSON without an array of objects"},
		{
			"nothing is lost beside a table", "",
			[]string{`{"items":` + objects(9) + `,"users":` + objects(7) + `,"few":` + objects(3) + `,"ids":[1,2,3],"summary":{"total":9007199254740993,"deep":{"x":[1]}},"next":"abc"}`},
			"main text array $.items 9\nsibling text array $.users 7\nother $.few: array of 3 objects\nother $.ids: array of 3 numbers\n" +
				"other $.summary: object of 2 keys\ncontext $.next=\"abc\"\ncontext $.summary.total=9007199254740993",
		},
		{"most rows", "", []string{`{"a":` + objects(2) + `,"b":` + objects(4) + `}`}, "main text array $.b 4\nother $.a: array of 2 objects"},
		{"most bytes", "", []string{`{"a":[{"x":1},{"x":2}],"b":[{"x":10},{"x":20}]}`}, "main text array $.b 2\nother $.a: array of 2 objects"},
		{"depth", "", []string{`{"a":{"b":{"rows":` + objects(2) + `}}}`}, "main text array $.a.b.rows 2"},
		{"too deep", "", []string{`{"a":{"b":{"c":{"rows":` + objects(2) + `}}}}`}, "none: JSON without an array of objects"},
		{"edges", "", []string{`{"data":{"edges":[{"node":{"id":1}},{"node":{"id":2}}]}}`}, "main text array $.data.edges 2"},
		{"kinds of arrays", "", []string{`{"r":` + objects(2) + `,"e":[],"m":[1,"a"],"n":[null],"t":["a"],"b":[true,false],"aa":[[1],[2]]}`},
			"main text array $.r 2\nother $.e: empty array\nother $.m: array of 2 mixed values\nother $.n: array of 1 null\n" +
				"other $.t: array of 1 text\nother $.b: array of 2 booleans\nother $.aa: array of 2 arrays"},
		{"keys in paths", "", []string{`{"a b":` + objects(2) + `,"":1}`}, "main text array $[\"a b\"] 2\ncontext $[\"\"]=1"},

		{"structured", `{"rows":` + objects(3) + `}`, []string{"three rows"}, "main structuredContent array $.rows 3\nresidue \"three rows\""},
		{"structured and the same text", `{"rows":` + objects(3) + `}`, []string{"{ \"rows\": " + objects(3) + "}\n"}, "main structuredContent array $.rows 3"},
		{"structured and its rows as text", `{"rows":` + objects(3) + `}`, []string{objects(3)}, "main structuredContent array $.rows 3"},
		{"structured and a block a row", `{"rows":[{"a":1},{"a":2},{"a":3}]}`, strings.Split(lines, "\n"), "main structuredContent array $.rows 3"},
		{"structured is the text", `{"result":` + quote(objects(3)) + `}`, []string{objects(3)}, "main text array $ 3"},
		{"structured is the text alone", `{"result":` + quote(objects(3)) + `}`, nil, "main text array $ 3"},
		{"structured is another text", `{"csv":` + quote("a,b,c\n"+rowsOf(5, "x,y,#\n")) + `}`, []string{"five rows"}, "main text:delimited delimited  5\nresidue \"five rows\""},
		{"structured with few rows", `{"one":` + objects(1) + `}`, []string{objects(3)}, "main text array $ 3\nother $.one: array of 1 object"},
		{"structured without rows", `{"ok":true}`, []string{objects(3)}, "main text array $ 3\ncontext $.ok=true"},
		{"structured and a long text", `{"rows":` + objects(3) + `}`, []string{strings.Repeat("word ", 300)}, "main structuredContent array $.rows 3\nother text 1: text of 1499 bytes"},
		{"structured is null", "null", []string{objects(3)}, "main text array $ 3"},
		{"structured without any", `{"ok":{"a":[1]}}`, nil, "none: JSON without an array of objects"},

		{"fence", "", []string{"Here:\n```json\n" + objects(3) + "\n```\nMore with page=2."}, "main text array $ 3\nresidue \"Here:\\nMore with page=2.\""},
		{"prose", "", []string{"Found 3 rows:\n\n" + objects(3) + "\n\nDone."}, "main text array $ 3\nresidue \"Found 3 rows:\\nDone.\""},
		{"mostly prose", "", []string{strings.Repeat("Some words. ", 30) + "\n" + objects(3)}, "none: text without a table"},
		{"lines", "", []string{lines}, "main text lines $ 3"},
		{"lines after prose", "", []string{"Log:\n" + lines + "\nend"}, "main text lines $ 3\nresidue \"Log:\\nend\""},
		{"a line that is cut", "", []string{lines + "\n" + `{"a":`}, "none: text without a table"},
		{"a line that is broken", "", []string{lines + "\n{a}\n" + lines}, "none: text without a table"},
		{"a first line that is broken", "", []string{"{a}\n" + lines}, "none: text without a table"},
		{"an object after an array", "", []string{objects(3) + "\n" + `{"next":1}`}, "main text array $ 3\nresidue \"{\\\"next\\\":1}\""},
		{"a block a record", "", strings.Split(lines, "\n"), "main text lines $ 3"},
		{"a block a record, and prose", "", append([]string{"3 records"}, strings.Split(lines, "\n")...), "main text lines $ 3\nresidue \"3 records\""},
		{"a document a block", "", []string{`{"rows":` + objects(5) + `}`, `{"rows":` + objects(6) + `,"n":1}`},
			"main text array $2.rows 6\nsibling text array $.rows 5\ncontext $2.n=1"},
		{"no text", "", nil, "none: no text"},
		{"a byte order mark", "", []string{"\uFEFF" + objects(2)}, "main text array $ 2"},
		{
			"many scalars", "", []string{`{"rows":` + objects(2) + `,` + scalars(22) + `,"meta":{` + scalars(2) + `}}`},
			"main text array $.rows 2\nother $.meta: object of 2 keys\nother : 4 other scalars\n" + contextLines(20),
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := Input{Structured: json.RawMessage(tt.structured)}
			for _, text := range tt.texts {
				in.Texts = append(in.Texts, []byte(text))
			}
			found, why := Find(in)
			if got := describe(found, why); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
			if f := found.Main.Form; f == FormArray || f == FormLines {
				checkModel(t, found.Main)
			}
		})
	}
}

func quote(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

func contextLines(n int) string {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = fmt.Sprintf("context $.k%d=%d", i, i)
	}
	return strings.Join(lines, "\n")
}

func TestScalarsAreCut(t *testing.T) {
	found, why := Find(Input{Texts: [][]byte{[]byte(`{"rows":` + objects(2) + `,"text":"` + strings.Repeat("é", 200) + `"}`)}})
	if why != "" || len(found.Context) != 1 {
		t.Fatal(why, found.Context)
	}
	want := `"` + strings.Repeat("é", 99) + "…"
	if got := found.Context[0].Value; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestManyIDs has the list of ids that must stay reachable beside a table.
func TestManyIDs(t *testing.T) {
	ids := make([]string, 400)
	for i := range ids {
		ids[i] = fmt.Sprint(9007199254740993 + int64(i))
	}
	found, why := Find(Input{Texts: [][]byte{[]byte(`{"rows":` + objects(6) + `,"ids":[` + strings.Join(ids, ",") + `]}`)}})
	if got := describe(found, why); got != "main text array $.rows 6\nother $.ids: array of 400 numbers" {
		t.Error(got)
	}
}

// A long text is a table if its beginning is, also with quotes over several lines, and
// costs little memory if it is none.
func TestLongText(t *testing.T) {
	var table, words strings.Builder
	table.WriteString("id,name,amount\n")
	rows := 0
	for ; table.Len() < 3*long; rows++ {
		fmt.Fprintf(&table, "%d,\"a\nb\",%d\n", rows, rows*3)
	}
	found, why := Find(Input{Texts: [][]byte{[]byte(table.String())}})
	if why != "" || found.Main.Count != rows {
		t.Errorf("a long table: %d rows, %q, want %d", found.Main.Count, why, rows)
	}
	for words.Len() < 3*long {
		words.WriteString("Nothing to see here, as everywhere else.\n\n")
	}
	text := []byte(words.String())
	if _, why := Find(Input{Texts: [][]byte{text}}); why == "" {
		t.Error("words are a table")
	}
	bytes := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			Find(Input{Texts: [][]byte{text}})
		}
	}).AllocedBytesPerOp()
	if bytes > 2*long {
		t.Errorf("%d bytes to say that words are none", bytes)
	}
}

// A rule inside a table, a row that stands for others, and a second table make one that
// nobody can trust.
func TestTwoTablesAreNone(t *testing.T) {
	rows := strings.Repeat("| 1 | two |\n", 20)
	head := "| a | b |\n|---|---|\n"
	for name, text := range map[string]string{
		"rule":    head + rows + "|---|---|\n" + rows,
		"dots":    head + rows + "| ... | ... |\n",
		"two":     head + rows + "\n# Closed\n\n| c | d |\n|---|---|\n" + rows,
		"another": head + rows + "\n# Closed\n\n" + head + rows,
	} {
		if found, why := Find(Input{Texts: [][]byte{[]byte(text)}}); why == "" {
			t.Errorf("%s: a table of %d rows", name, found.Main.Count)
		}
	}
	if found, why := Find(Input{Texts: [][]byte{[]byte(head + rows)}}); found.Main.Count != 20 {
		t.Errorf("one table: %d rows, %q", found.Main.Count, why)
	}
}
