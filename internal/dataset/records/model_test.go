package records

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// checkModel reads a table in JSON with encoding/json and compares every cell.
func checkModel(t rapid.TB, table Table) {
	t.Helper()
	schema, err := table.Schema()
	if err != nil {
		t.Fatalf("%s: %v", table.Data, err)
	}
	rows := modelRows(t, table)
	if schema.Count != len(rows) {
		t.Fatalf("%d rows, want %d", schema.Count, len(rows))
	}
	checkNames(t, schema)
	paths := make([][]string, len(schema.Columns))
	leafPaths(schema.root, nil, func(f *field, path []string) { paths[f.column] = path })
	nulls := make([]int, len(paths))
	n := 0
	err = schema.Rows(func(cells []Cell) error {
		for i, c := range cells {
			value, ok := lookup(rows[n], paths[i])
			if !ok || value == nil {
				nulls[i]++
				if !c.Null {
					t.Fatalf("row %d, %q: not null, want null", n, paths[i])
				}
				continue
			}
			if c.Null {
				t.Fatalf("row %d, %q: null, want %v", n, paths[i], value)
			}
			checkCell(t, c, schema.Columns[i].Type, value)
		}
		checkNoneLost(t, schema.root, rows[n])
		n++
		return nil
	})
	if err != nil || n != len(rows) {
		t.Fatalf("%d rows of %d: %v", n, len(rows), err)
	}
	for i, want := range nulls {
		if got := schema.Columns[i].Nulls; got != want {
			t.Fatalf("%q: %d nulls, want %d", paths[i], got, want)
		}
	}
}

func modelRows(t rapid.TB, table Table) (rows []map[string]any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(table.Data))
	d.UseNumber()
	if table.Form == FormArray {
		if err := d.Decode(&rows); err != nil {
			t.Fatal(err)
		}
		return rows
	}
	for {
		var row map[string]any
		if err := d.Decode(&row); errors.Is(err, io.EOF) {
			return rows
		} else if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
}

func leafPaths(o *object, path []string, f func(*field, []string)) {
	for _, field := range o.fields {
		path := append(path[:len(path):len(path)], field.key)
		if field.role == branch {
			leafPaths(&field.sub, path, f)
		} else {
			f(field, path)
		}
	}
}

// lookup returns the value at a path of keys.
func lookup(row map[string]any, path []string) (any, bool) {
	for ; len(path) > 1; path = path[1:] {
		row, _ = row[path[0]].(map[string]any)
	}
	value, ok := row[path[0]]
	return value, ok
}

// checkNoneLost wants a column for each value of a row.
func checkNoneLost(t rapid.TB, o *object, row map[string]any) {
	t.Helper()
	for key, value := range row {
		f := o.index[key]
		if f == nil {
			t.Fatalf("no field for %q", key)
		}
		if sub, ok := value.(map[string]any); ok && f.role == branch {
			checkNoneLost(t, &f.sub, sub)
		} else if value != nil && f.role == branch {
			t.Fatalf("%q has a value that is no object", key)
		}
	}
}

func checkNames(t rapid.TB, s *Schema) {
	t.Helper()
	seen := map[string]bool{}
	for _, c := range s.Columns {
		folded := strings.ToLower(c.Name)
		if c.Name == "" || len(c.Name) > maxName || seen[folded] {
			t.Fatalf("name %q is empty, too long or not the only one", c.Name)
		}
		seen[folded] = true
	}
}

// checkCell compares a cell with what encoding/json has read.
func checkCell(t rapid.TB, c Cell, typ Type, value any) {
	t.Helper()
	got := ""
	switch typ {
	case Boolean:
		got = strconv.FormatBool(c.Bool)
	case Integer:
		got = strconv.FormatInt(c.Int, 10)
	case Double:
		got = strconv.FormatFloat(c.Float, 'e', -1, 64)
		if want := string(value.(json.Number)); !sameNumber(t, got, want) {
			t.Fatalf("got %s, want %s", got, want)
		}
		return
	case JSON:
		var back any
		d := json.NewDecoder(bytes.NewReader(c.Text))
		d.UseNumber()
		if err := d.Decode(&back); err != nil || fmt.Sprintf("%#v", back) != fmt.Sprintf("%#v", value) {
			t.Fatalf("got %s (%v), want %#v", c.Text, err, value)
		}
		return
	case Text, Huge, Number:
		got = string(c.Text)
	case Null:
		t.Fatalf("a value in a column without values")
	}
	if want := fmt.Sprint(value); got != want {
		t.Fatalf("%s: got %q, want %q", typ, got, want)
	}
}

// sameNumber reports whether two decimals are the same number, signs of zero included.
func sameNumber(t rapid.TB, a, b string) bool {
	x, ok := new(big.Rat).SetString(a)
	y, ok2 := new(big.Rat).SetString(b)
	if !ok || !ok2 {
		t.Fatalf("not numbers: %s, %s", a, b)
	}
	return x.Cmp(y) == 0 && strings.HasPrefix(a, "-") == strings.HasPrefix(b, "-")
}

// Generators of JSON as people and programs write it.

func genSpace() *rapid.Generator[string] {
	return rapid.SampledFrom([]string{"", "", "", "", " ", "\n", "\t \r\n"})
}

func genKey() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.SampledFrom([]string{
			`"id"`, `"Id"`, `"ID_2"`, `""`, `"select"`, `"a b"`, `"a.b"`, `"a"`, `"b"`, `"q\"x"`, `"日本"`, `"drop table t;--"`,
			`"x"`, `"X"`, `"column1"`, `"\u0000"`, `"\u0061"`, `"é"`, `"É"`, `"😀"`, `"a.b.c"`, "\"\xff\"", `"\ud800"`, `"nul\u0000"`,
		}),
		rapid.Map(rapid.StringMatching(`[a-z]{1,3}`), strconv.Quote),
		rapid.Map(rapid.IntRange(250, 300), func(n int) string { return `"` + strings.Repeat("k", n) + `"` }),
	)
}

func genNumber() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.SampledFrom([]string{
			"0", "-0", "1.0", "-0.0", "1e400", "-1e-400", "1E5", "1e+2", "0.1", "0.30000000000000004", "9007199254740992", "9007199254740993",
			"-9007199254740993", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809",
			"18446744073709551615", "123456789012345678901234567890", "170141183460469231731687303715884105727",
			"170141183460469231731687303715884105728", "-170141183460469231731687303715884105728", "1.7976931348623157e308",
			"5e-324", "4.9e-324", "123456789012345.678", "100000000000000000000000000000000000000000000", "0.000", "1.10", "0e0", "0.1e1",
		}),
		rapid.StringMatching(`-?(0|[1-9][0-9]{0,40})`),
		rapid.StringMatching(`-?(0|[1-9][0-9]{0,20})\.[0-9]{1,20}`),
		rapid.StringMatching(`-?(0|[1-9][0-9]{0,3})(\.[0-9]{1,3})?[eE][+-]?[0-9]{1,3}`),
		rapid.Map(rapid.Float64(), func(f float64) string { b, _ := json.Marshal(f); return string(b) }),
		rapid.Map(rapid.Int64(), func(n int64) string { return strconv.FormatInt(n, 10) }),
	)
}

func genString() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.SampledFrom([]string{
			`""`, `"007"`, `"01234"`, `"+4912"`, `"0x1F"`, `"1e5"`, `"true"`, `"NULL"`, `"2024-01-02"`, `"2024-01-02T10:30:00Z"`, `"25-11-2025"`,
			`"a\u0000b"`, `"\ud83d\ude00"`, `"\ud83d"`, `"\udE00 x"`, `"\\u"`, `"\n\t\"\/\b\f\r"`, "\"\xff\xfe\"", "\"caf\xc3\"", `"日本語"`,
		}),
		rapid.Map(rapid.String(), func(s string) string { b, _ := json.Marshal(s); return string(b) }),
	)
}

func genValue(depth int) *rapid.Generator[string] {
	kinds := []*rapid.Generator[string]{rapid.SampledFrom([]string{"null", "true", "false"}), genNumber(), genString()}
	if depth > 0 {
		kinds = append(kinds, genObject(depth-1), genArray(depth-1))
	}
	return rapid.OneOf(kinds...)
}

func genArray(depth int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		values := rapid.SliceOfN(genValue(depth), 0, 3).Draw(t, "elements")
		return "[" + genSpace().Draw(t, "space") + strings.Join(values, ",") + "]"
	})
}

func genObject(depth int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		var b strings.Builder
		b.WriteString("{" + genSpace().Draw(t, "space"))
		for i := range rapid.IntRange(0, 5).Draw(t, "members") {
			if i > 0 {
				b.WriteString(",")
			}
			space := genSpace().Draw(t, "space")
			b.WriteString(space + genKey().Draw(t, "key") + space + ":" + space + genValue(depth).Draw(t, "value") + space)
		}
		return b.String() + "}"
	})
}

// genColumnar makes rows whose columns have one kind of value each, as most have, so
// that every type comes up.
func genColumnar() *rapid.Generator[[]string] {
	return rapid.Custom(func(t *rapid.T) []string {
		kinds := []*rapid.Generator[string]{
			rapid.SampledFrom([]string{"true", "false", "null"}), genNumber(), genString(), genObject(1), genArray(1), genValue(2),
			rapid.StringMatching(`-?(0|[1-9][0-9]{0,17})`), rapid.StringMatching(`-?(0|[1-9][0-9]{0,37})`),
			rapid.StringMatching(`-?(0|[1-9][0-9]{0,6})\.[0-9]{1,6}`),
			rapid.SampledFrom([]string{`"2024-01-02"`, "null"}),
		}
		keys := rapid.SliceOfN(genKey(), 1, 6).Draw(t, "keys")
		columns := make([]*rapid.Generator[string], len(keys))
		for i := range keys {
			columns[i] = rapid.SampledFrom(kinds).Draw(t, "kind")
		}
		rows := make([]string, rapid.IntRange(1, 6).Draw(t, "rows"))
		for r := range rows {
			var members []string
			for i, key := range keys {
				if rapid.IntRange(0, 9).Draw(t, "there") > 0 {
					members = append(members, key+":"+columns[i].Draw(t, "value"))
				}
			}
			rows[r] = "{" + strings.Join(members, ", ") + "}"
		}
		return rows
	})
}

func TestEveryValueIsItsSource(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.OneOf(genColumnar(), rapid.SliceOfN(genObject(3), 1, 5)).Draw(t, "rows")
		if rapid.Bool().Draw(t, "lines") {
			checkModel(t, Table{Form: FormLines, Data: []byte(strings.Join(rows, "\n"))})
		} else {
			checkModel(t, Table{Form: FormArray, Data: []byte("[" + strings.Join(rows, ",\n") + "]")})
		}
	})
}
