package records

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"heddle/internal/wire"
)

// FuzzFind wants that whatever is found can be read, and has as many rows as it says.
func FuzzFind(f *testing.F) {
	for _, in := range results(f) {
		for _, text := range in.Texts {
			if len(text) < 10_000 {
				f.Add(text)
			}
		}
	}
	f.Add([]byte("a,b,c\n" + rowsOf(5, "x,\"y\ny\",#\r\n") + "\r\nend"))
	f.Add([]byte("+---+---+\n| a | b |\n+---+---+\n| 1 | 2 |\n| 3 | 4 |\n+---+---+"))
	f.Add([]byte("| a | b |\n|--|--|\n| \\| | 2 |\n| 3 | \\|\\| |\n"))
	f.Add([]byte(rowsOf(5, "- a:\n    b: #\n  c: 'x'\n")))
	f.Fuzz(func(t *testing.T, text []byte) {
		found, why := Find(Input{Texts: [][]byte{text}})
		if why != "" {
			return
		}
		for _, table := range append(found.Siblings, found.Main) {
			checkTable(t, table)
		}
	})
}

func checkTable(t *testing.T, table Table) {
	t.Helper()
	sent, err := json.Marshal(table) // as the worker gets it
	if err != nil {
		t.Fatal(err)
	}
	back := Table{Data: table.Data}
	if err := json.Unmarshal(sent, &back); err != nil {
		t.Fatal(err)
	}
	schema, err := back.Schema()
	if err != nil {
		t.Fatalf("%s: %v", sent, err)
	}
	checkNames(t, schema)
	n, nulls := 0, make([]int, len(schema.Columns))
	err = schema.Rows(func(cells []Cell) error {
		n++
		for i, c := range cells {
			if c.Null {
				nulls[i]++
			} else if !utf8.Valid(c.Text) {
				t.Fatalf("%q is not UTF-8", c.Text)
			}
		}
		return nil
	})
	if err != nil || n != schema.Count || n != table.Count {
		t.Fatalf("%d rows of %d, %d found: %v", n, schema.Count, table.Count, err)
	}
	for i, c := range schema.Columns {
		if c.Nulls != nulls[i] {
			t.Errorf("%q: %d nulls, read %d", c.Name, c.Nulls, nulls[i])
		}
	}
	if schema.root != nil {
		checkModel(t, table)
	}
}

// FuzzJSON compares rows with what encoding/json reads, and wants an error for what it
// refuses.
func FuzzJSON(f *testing.F) {
	for _, seed := range []string{
		`[]`, `[{}]`, `[{"a":1,"b":[{"c":null}]},{"a":1e400,"d":{"e":"\ud83d"}}]`, `[{"a":{"b":1}},{"a":2},{"a":{"b":1},"a":null}]`,
		`[{"a":-0},{"a":9223372036854775808},{"":0.30000000000000004}]`, "[{\"\xff\":\"\xff\"}]", `[{"a":1},null]`, `[{"a":1}`, `[]0`, `[{}]]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		table := Table{Form: FormArray, Data: data}
		_, err := table.Schema()
		if valid := wire.Valid(data); err == nil && !valid {
			t.Fatalf("%q is not JSON", data)
		} else if !valid {
			return
		}
		var rows []map[string]any
		if json.Unmarshal(data, &rows) != nil || err != nil {
			return // other values than objects, or numbers beyond what it reads
		}
		checkModel(t, table)
	})
}
