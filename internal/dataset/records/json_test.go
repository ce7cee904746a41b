package records

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// schemaOf reads rows of JSON.
func schemaOf(t *testing.T, data string) *Schema {
	t.Helper()
	table := Table{Form: FormArray, Data: []byte(data)}
	schema, err := table.Schema()
	if err != nil {
		t.Fatalf("%.200s: %v", data, err)
	}
	return schema
}

// show prints the columns of a table, and its cells.
func show(t *testing.T, s *Schema) string {
	t.Helper()
	var b strings.Builder
	for i, c := range s.Columns {
		if i > 0 {
			b.WriteString(" | ")
		}
		fmt.Fprintf(&b, "%s %s", c.Name, c.Type)
		if c.Source != "" {
			fmt.Fprintf(&b, " from %s", c.Source)
		}
	}
	err := s.Rows(func(cells []Cell) error {
		b.WriteString("\n")
		for i, c := range cells {
			if i > 0 {
				b.WriteString(" | ")
			}
			switch typ := s.Columns[i].Type; {
			case c.Null:
				b.WriteString("NULL")
			case typ == Boolean:
				fmt.Fprint(&b, c.Bool)
			case typ == Integer:
				fmt.Fprint(&b, c.Int)
			case typ == Double:
				fmt.Fprint(&b, c.Float)
			default:
				b.Write(c.Text)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestColumns has the rows that other tools get wrong.
func TestColumns(t *testing.T) {
	for _, tt := range []struct{ name, data, want string }{
		{"big integer beside a fraction", `[{"id":9007199254740993,"v":1},{"id":1.5,"v":2}]`, "id number | v integer\n9007199254740993 | 1\n1.5 | 2"},
		{"beyond int64", `[{"id":18446744073709551615},{"id":-1}]`, "id huge\n18446744073709551615\n-1"},
		{"of 128 bits", `[{"id":123456789012345678901234567890}]`, "id huge\n123456789012345678901234567890"},
		{"beyond 128 bits", `[{"id":170141183460469231731687303715884105728}]`, "id number\n170141183460469231731687303715884105728"},
		{"doubles", `[{"x":0.1},{"x":1.0},{"x":3},{"x":1e5},{"x":-0.0}]`, "x double\n0.1\n1\n3\n100000\n-0"},
		{"beyond doubles", `[{"x":1e400},{"x":1}]`, "x number\n1e400\n1"},
		{"eighteen digits", `[{"x":1.00000000000000001},{"x":2}]`, "x number\n1.00000000000000001\n2"},
		{"minus zero", `[{"x":-0},{"x":1}]`, "x number\n-0\n1"},
		{
			"codes", `[{"id":"007","u":"BBD05AE7-1111","d":"25-11-2025","e":"1e5","b":"true","n":"NULL","p":"+4912","x":"0x1F"}]`,
			"id text | u text | d text | e text | b text | n text | p text | x text\n007 | BBD05AE7-1111 | 25-11-2025 | 1e5 | true | NULL | +4912 | 0x1F",
		},
		{
			"names", `[{"id":1,"Id":2,"ID_1":3,"":4,"select":5,"a b":6,"a.b":7,"q\"x":8,"日本":9,"drop table t;--":10,"o":{"x":1,"X":2}}]`,
			"id integer | Id_2 integer from Id | ID_1 integer | column4 integer from \"\" | select integer | a b integer | a.b integer | q\"x integer | " +
				"日本 integer | drop table t;-- integer | o.x integer | o.X_2 integer from o.X\n1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 1 | 2",
		},
		{"a name that numbering would take", `[{"a":1,"A":2,"a_2":3}]`, "a integer | A_3 integer from A | a_2 integer\n1 | 2 | 3"},
		{"a dot and a path", `[{"a.b":1,"a":{"b":2}}]`, "a.b integer | a.b_2 integer from a.b\n1 | 2"},
		{"twice the same key", `[{"a":1,"b":0,"a":2},{"a":3}]`, "a integer | b integer\n2 | 0\n3 | NULL"},
		{"twice the same object", `[{"o":{"x":1},"o":{"y":2}},{"o":{"x":1},"o":null}]`, "o.x integer | o.y integer\nNULL | 2\nNULL | NULL"},
		{"null against missing", `[{"a":null,"b":1},{"b":2},{}]`, "a null | b integer\nNULL | 1\nNULL | 2\nNULL | NULL"},
		{"object or not", `[{"o":{"x":1}},{"o":"s"},{"o":null}]`, "o json\n{\"x\":1}\n\"s\"\nNULL"},
		{"mixed", `[{"v":1},{"v":"1"},{"v":[1, 2]},{"v":true},{"v":{}}]`, "v json\n1\n\"1\"\n[1, 2]\ntrue\n{}"},
		{"empty objects", `[{"o":{}},{"o":{}}]`, "o json\n{}\n{}"},
		{"nested", `[{"user":{"login":"a","org":{"id":1}},"tags":["x"]}]`, "user.login text | user.org.id integer | tags json\na | 1 | [\"x\"]"},
		{"escapes", `[{"s":"a\u0000b"},{"s":"\ud83d\ude00\n"},{"s":"\ud83d"}]`, "s text\na\x00b\n😀\n\n\uFFFD"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := show(t, schemaOf(t, tt.data)); got != tt.want {
				t.Errorf("%s\ngot  %s\nwant %s", tt.data, got, tt.want)
			}
			checkModel(t, Table{Form: FormArray, Data: []byte(tt.data)})
		})
	}
}

func TestNotes(t *testing.T) {
	s := schemaOf(t, `[{"d":"2024-01-02","t":"2024-01-02T10:00:00Z","n":"01","x":1e400,"m":1,"s":"a","s":"\ud800"},{"m":"x","t":"2024-01-02 10:00"}]`)
	want := []string{
		"ISO dates: cast to DATE", "ISO times: cast to TIMESTAMP", "numbers as text",
		"numbers that no numeric type holds exactly: their text", "mixed: JSON of each value", "",
	}
	for i, c := range s.Columns {
		if c.Note != want[i] {
			t.Errorf("%s: note %q, want %q", c.Name, c.Note, want[i])
		}
	}
	if got := strings.Join(s.Notes, "\n"); got != "a row has the key \"s\" twice: the last value counts\n"+noteBroken {
		t.Errorf("notes %q", got)
	}
}

func TestMaps(t *testing.T) {
	var rows []string
	for i := range 2000 {
		rows = append(rows, fmt.Sprintf(`{"id":%d,"of":{"k%d":%d}}`, i, i, i))
	}
	data := "[" + strings.Join(rows, ",") + "]"
	s := schemaOf(t, data)
	if len(s.Columns) != 2 || s.Columns[1].Type != JSON || s.Columns[1].Note != "objects with many keys or levels: JSON of each" {
		t.Errorf("columns %v", s.Columns)
	}
	checkModel(t, Table{Form: FormArray, Data: []byte(data)})
}

// wide is a row of n columns.
func wide(n int) string {
	var b strings.Builder
	b.WriteString(`{"c0":0`)
	for i := 1; i < n; i++ {
		fmt.Fprintf(&b, `,"c%d":%d`, i, i)
	}
	return b.String() + "}"
}

func TestLimits(t *testing.T) {
	checkModel(t, Table{Form: FormArray, Data: []byte("[" + wide(MaxColumns) + "," + wide(3) + "]")})
	for _, tt := range []struct {
		what string
		data string
	}{
		{"columns", "[" + wide(MaxColumns+1) + "]"},
		{"columns", "[" + wide(maxFields+1) + "]"},
		{"rows", "[" + strings.Repeat(`{"a":1},`, MaxRows) + `{"a":1}]`},
		{"bytes", `[{"a":"` + strings.Repeat("x", MaxBytes) + `"}]`},
	} {
		table := Table{Form: FormArray, Data: []byte(tt.data)}
		_, err := table.Schema()
		var limit *LimitError
		if !errors.As(err, &limit) || limit.What != tt.what {
			t.Errorf("%s: got %v", tt.what, err)
		}
	}
	if _, why := Find(Input{Texts: [][]byte{[]byte("[" + strings.Repeat(`{"a":1},`, MaxRows) + `{"a":1}]`)}}); why != "500001 records, more than 500000" {
		t.Errorf("why %q", why)
	}
}

func TestOneLargeValue(t *testing.T) {
	large := strings.Repeat("x", 17<<20)
	s := schemaOf(t, `[{"a":"`+large+`"},{"a":"y"}]`)
	var sizes []int
	if err := s.Rows(func(cells []Cell) error {
		sizes = append(sizes, len(cells[0].Text))
		return nil
	}); err != nil || !slices.Equal(sizes, []int{17 << 20, 1}) {
		t.Errorf("sizes %v, %v", sizes, err)
	}
}

func TestDeepNesting(t *testing.T) {
	deep := func(opener, closer string, n int) string {
		return `[{"a":` + strings.Repeat(opener, n) + "1" + strings.Repeat(closer, n) + `},{"a":null}]`
	}
	for _, data := range []string{
		deep("[", "]", 9_900), deep(`{"k":`, "}", 9_900), deep(`[{"k":`, "}]", 4_900), deep(`{"k":`, "}", maxFlat), deep(`{"k":`, "}", maxFlat+1),
	} {
		s := schemaOf(t, data)
		if err := s.Rows(func([]Cell) error { return nil }); err != nil {
			t.Errorf("%.40s: %v", data, err)
		}
		if len(data) < 1000 {
			checkModel(t, Table{Form: FormArray, Data: []byte(data)})
		}
	}
	table := Table{Form: FormArray, Data: []byte(deep("[", "]", 2_000_000))}
	if _, err := table.Schema(); !errors.Is(err, errDepth) {
		t.Errorf("got %v", err)
	}
	if _, why := Find(Input{Texts: [][]byte{table.Data}}); why == "" {
		t.Error("found a table in JSON that is too deep")
	}
}

func TestBrokenData(t *testing.T) {
	whole := `[{"a":1,"b":"x","c":[1,{"d":null}],"e":{"f":true}},{"a":-2.5e3}]`
	for n := range len(whole) {
		table := Table{Form: FormArray, Data: []byte(whole[:n])}
		if _, err := table.Schema(); err == nil {
			t.Errorf("no error for %q", whole[:n])
		}
	}
	for _, data := range []string{`[{"a":01}]`, `[{"a":NaN}]`, `[{"a":.5}]`, `[{"a" 1}]`, `[{"a":1,}]`, `[{"a":[1}]`, "[{\"a\":\"\n\"}]", `[1]`, `[{"a":"\x"}]`} {
		table := Table{Form: FormArray, Data: []byte(data)}
		if _, err := table.Schema(); err == nil {
			t.Errorf("no error for %q", data)
		}
	}
}
