//go:build cgo

package worker

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"heddle/internal/dataset/protocol"
	"heddle/internal/dataset/records"
)

// allTypes has a value of each kind that a query may return.
const allTypes = `SELECT 'NaN'::double AS nan, 1 / 0 AS zero, 'infinity'::date AS ever, '-infinity'::timestamp AS never, 1.10::decimal(10,2) AS dec,
	'bbd05ae7-1111-4aca-8280-6d447c97c2bb'::uuid AS u, '\xAA\x00'::blob AS b, interval 1 month AS iv, interval '1 day 02:03:04.5' AS iv2,
	170141183460469231731687303715884105727::hugeint AS h, 18446744073709551615::ubigint AS ub, {'a': 1, 'b': 'it''s, {x}', 'c': NULL} AS s,
	map {'k': 1, 'l': 2} AS m, map {1: [1, NULL]} AS m2, union_value(n := 1) AS un, time '12:00' AS t, date '2026-02-28' AS d,
	timestamp '2026-02-28 01:02:03.456789' AS ts, timestamptz '2026-02-28 01:02:03+02' AS tz, [1, NULL, 3] AS l, ['a', 'b,c', '', NULL, 'NULL', '"q"', '[x]'] AS ls,
	[[1], []] AS ll, [{'x': 1.5, 'y': date '2026-01-01'}] AS lst, 'a'::enum('a', 'b''c') AS e, '101'::bit AS bits, 1.5::float AS f, -0.0::double AS nz, NULL AS nul,
	'' AS empty, '{"a": [1, 2]}'::json AS j, true AS bo, 127::tinyint AS ti, chr(0) || 'x' AS nulchar, [1, 2]::int[2] AS arr, now() IS NOT NULL AS n,
	'1992-09-20 11:30:00.123456789'::timestamp_ns AS ns, '12:00:00+02'::timetz AS ttz, {'deep': {'er': [map {'k': 'v'}]}} AS deep`

func TestCells(t *testing.T) {
	c := inProcess(t)
	a := c.must(protocol.Request{Query: &protocol.Query{SQL: allTypes, Inline: 1 << 20}}, nil)
	rows := readTSV(a.payload)
	want := map[string]string{
		"nan": "nan", "zero": "inf", "ever": "infinity", "never": "-infinity", "dec": "1.10", "u": "bbd05ae7-1111-4aca-8280-6d447c97c2bb", "b": "aa00",
		"iv": "1 month", "iv2": "1 day 02:03:04.5", "h": "170141183460469231731687303715884105727", "ub": "18446744073709551615",
		"s": `{"a":1,"b":"it's, {x}","c":null}`, "m": `{"k":1,"l":2}`, "m2": `{"1":[1,null]}`, "un": `{"n":1}`, "t": "12:00:00", "d": "2026-02-28",
		"ts": "2026-02-28 01:02:03.456789", "tz": "2026-02-27 23:02:03+00", "l": "[1,null,3]", "ls": `["a","b,c","",null,"NULL","\"q\"","[x]"]`,
		"ll": "[[1],[]]", "lst": `[{"x":1.5,"y":"2026-01-01"}]`, "e": "a", "bits": "101", "f": "1.5", "nz": "-0.0", "nul": "NULL", "empty": "", "j": `{"a": [1, 2]}`,
		"bo": "true", "ti": "127", "nulchar": "\x00x", "arr": "[1,2]", "n": "true", "ns": "1992-09-20 11:30:00.123456789", "ttz": "12:00:00+02", "deep": `{"deep":{"er":[{"k":"v"}]}}`,
	}
	if len(a.Result.Columns) != len(want) {
		t.Errorf("got %d columns, want %d", len(a.Result.Columns), len(want))
	}
	for i, f := range a.Result.Columns {
		got := "NULL"
		if rows[1][i] != nil {
			got = *rows[1][i]
		}
		if got != want[f.Name] {
			t.Errorf("%s %s: got %q, want %q", f.Name, f.Type, got, want[f.Name])
		}
	}
}

// TestSnapshot: what was kept is the same when it is loaded again.
func TestSnapshot(t *testing.T) {
	c := inProcess(t)
	a := c.must(protocol.Request{Query: &protocol.Query{SQL: allTypes, Keep: true}}, nil)
	c.must(protocol.Request{Adopt: &protocol.Adopt{Kept: a.Result.Kept, Name: "first", Sample: 1}}, nil)
	var sql []string
	for _, f := range a.Result.Columns {
		sql = append(sql, f.Type)
	}
	load := &protocol.Load{Name: "second", Table: records.Table{Form: records.FormSnapshot}, Types: sql, Sample: 1}
	second := c.must(protocol.Request{Load: load}, a.payload).Profile
	first := c.must(protocol.Request{Describe: &protocol.Describe{Name: "first", Sample: 1}}, nil).Profile
	first.Hints, second.Hints = nil, nil
	x, _ := json.Marshal(first)
	y, _ := json.Marshal(second)
	if string(x) != string(y) {
		t.Errorf("got %s\nwant %s", y, x)
	}
	cells(t, c.query("SELECT count(*) FROM (FROM first EXCEPT ALL FROM second)"), []string{"0"})
	cells(t, c.query("SELECT d + INTERVAL 1 DAY, ts::DATE, s.a, m['k'], l[3], lst[1].y, h - 1, dec * 2, arr[2], j->>'$.a[0]' FROM second"), []string{
		"2026-03-01 00:00:00", "2026-02-28", "1", "1", "3", "2026-01-01", "170141183460469231731687303715884105726", "2.20", "2", "1",
	})
}

func TestFormats(t *testing.T) {
	c := inProcess(t)
	a := c.must(protocol.Request{Query: &protocol.Query{SQL: allTypes, Format: "json", Inline: 1 << 20}}, nil)
	var rows []map[string]json.RawMessage
	if err := json.Unmarshal(a.payload, &rows); err != nil {
		t.Fatalf("%v: %s", err, a.payload)
	}
	for name, want := range map[string]string{
		"nan": "null", "dec": "1.10", "h": "170141183460469231731687303715884105727", "s": `{"a":1,"b":"it's, {x}","c":null}`, "u": `"bbd05ae7-1111-4aca-8280-6d447c97c2bb"`,
		"empty": `""`, "nul": "null", "nulchar": `"\u0000x"`, "bo": "true", "j": `{"a": [1, 2]}`, "t": `"12:00:00"`, "nz": "-0.0", "l": "[1,null,3]",
	} {
		if got := string(rows[0][name]); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
	a = c.must(protocol.Request{Query: &protocol.Query{SQL: `SELECT * FROM (VALUES ('a"b', 'c,d', 'e` + "\n" + `f', NULL, '', 1)) t("x,y", b, c, d, e, f)`, Format: "csv", Inline: protocol.MaxPayload}}, nil)
	if got, want := string(a.payload), "\"x,y\",b,c,d,e,f\r\n\"a\"\"b\",\"c,d\",\"e\nf\",,\"\",1\r\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if _, err := csv.NewReader(strings.NewReader(string(a.payload))).ReadAll(); err != nil {
		t.Error(err)
	}
	kept := c.must(protocol.Request{Query: &protocol.Query{SQL: "SELECT range AS n FROM range(1000)", Format: "json", Inline: 100}}, nil)
	if kept.Result.Kept == "" || !strings.HasPrefix(string(kept.payload), "[\"n\"]\n[\"0\"]\n") {
		t.Errorf("got %+v, %.30s", kept.Result, kept.payload)
	}
	for _, format := range []string{"csv", "json"} {
		a := c.must(protocol.Request{Query: &protocol.Query{SQL: "SELECT 1 AS a WHERE false", Format: format, Inline: 1000}}, nil)
		if want := map[string]string{"csv": "a\r\n", "json": "[]\n"}[format]; string(a.payload) != want {
			t.Errorf("%s: got %q", format, a.payload)
		}
	}
}

// TestStatements: what a model may write works.
func TestStatements(t *testing.T) {
	c := inProcess(t)
	c.load("r", `[{"a":"x","b":1},{"a":"y","b":2},{"a":"x","b":3}]`)
	for sql, rows := range map[string]int{
		"FROM r": 3, "TABLE r": 3, "VALUES (1, 2)": 1, "DESCRIBE r": 2, "SUMMARIZE r": 2, "PIVOT r ON a USING sum(b)": 1, "(SELECT 1)": 1, "SHOW TABLES": 1,
		"SELECT 1;": 1, "SELECT 1 -- done": 1, "WITH x AS (FROM r) FROM x ORDER BY b DESC": 3, "SELECT * FROM (PIVOT r ON a USING sum(b))": 1,
		"SELECT a, a, a AS \"A\" FROM r": 3, "DESCRIBE SELECT * FROM r": 2, "FROM main.r": 3, "UNPIVOT r ON b": 3, "SELECT 1 WHERE false": 0,
		"WITH p AS (PIVOT r ON a USING sum(b)) FROM p": 1, "SHOW ALL TABLES": 1, "SELECT * FROM R AS q(c, d)": 3, "SELECT random() r1, b FROM r": 3,
		"SUMMARIZE SELECT a FROM r": 1, "SELECT unnest([1, 2, 3])": 3, "SELECT COLUMNS(*) FROM r": 3, "FROM range(5)": 5,
	} {
		a, _ := c.do(protocol.Request{Query: &protocol.Query{SQL: sql, Inline: 1 << 20, All: true}}, nil)
		if a.Kind != "" || a.Result.Rows != int64(rows) || len(readTSV(a.payload)) != rows+1 {
			t.Errorf("%s: got %s %s %+v %q, want %d rows", sql, a.Kind, a.Error, a.Result, a.payload, rows)
		}
	}
	a := c.must(protocol.Request{Query: &protocol.Query{SQL: "SELECT b, b, b AS B, a FROM r ORDER BY b DESC", Keep: true}}, nil)
	if got := fmt.Sprint(a.Result.Columns); got != "[{b INTEGER} {b_1 INTEGER} {B_2 INTEGER} {a VARCHAR}]" && got != "[{b BIGINT} {b_1 BIGINT} {B_2 BIGINT} {a VARCHAR}]" {
		t.Errorf("got columns %s", got)
	}
	if got, want := string(a.payload), "[\"b\",\"b_1\",\"B_2\",\"a\"]\n[\"3\",\"3\",\"3\",\"x\"]\n"; !strings.HasPrefix(got, want) {
		t.Errorf("got %s", got)
	}
	for _, sql := range []string{"EXPLAIN SELECT * FROM r", "EXPLAIN ANALYZE SELECT * FROM r"} {
		a, _ := c.do(protocol.Request{Query: &protocol.Query{SQL: sql, Inline: 1 << 20}}, nil)
		if a.Kind != "" || !a.Result.Text || !strings.Contains(string(a.payload), "SCAN") {
			t.Errorf("%s: got %s %s %s", sql, a.Kind, a.Error, a.payload)
		}
	}
}

func TestMissing(t *testing.T) {
	c := inProcess(t)
	c.load("r", `[{"a":1},{"a":2}]`)
	for _, test := range []struct {
		sql, want string
		all       bool
	}{
		{"FROM r JOIN other USING (a)", "[other]", false},
		{"FROM one, two", "[one two]", false},
		{"SHOW TABLES", "[*]", false},
		{"WITH x AS (SELECT 1 AS a) FROM x JOIN R USING (a)", "[]", false},
		{"FROM result", "[result]", false},
	} {
		a, _ := c.do(protocol.Request{Query: &protocol.Query{SQL: test.sql, Inline: 1000}}, nil)
		if got := fmt.Sprint(a.Names); got != test.want || (a.Kind == protocol.Missing) != (test.want != "[]") {
			t.Errorf("%s: got %s %s %q, want %s", test.sql, a.Kind, got, a.Error, test.want)
		}
	}
	if kind, text := c.refused(&protocol.Query{SQL: "FROM other", All: true}); kind != protocol.Invalid || !strings.Contains(text, "other") {
		t.Errorf("got %s %s", kind, text)
	}
	a := c.must(protocol.Request{Query: &protocol.Query{SQL: "SELECT sum(a) FROM result", Result: "r", Inline: 1000}}, nil)
	if string(a.payload) != "sum(a)\n3\n" || fmt.Sprint(a.Result.Tables) != "[r]" {
		t.Errorf("got %q of %v", a.payload, a.Result.Tables)
	}
}

// TestKept: a large result stays, can be named, and goes.
func TestKept(t *testing.T) {
	c := inProcess(t)
	c.load("r", `[{"a":1},{"a":2}]`)
	a := c.must(protocol.Request{Query: &protocol.Query{SQL: "SELECT range AS n, 'text of row ' || range AS t FROM range(5000) ORDER BY n DESC", Inline: 1000}}, nil)
	if a.Result.Kept == "" || a.Result.Rows != 5000 || a.Result.More || a.Result.Bytes < 100_000 {
		t.Fatalf("got %+v", a.Result)
	}
	if lines := strings.Split(string(a.payload), "\n"); len(lines) != 5002 || lines[0] != `["n","t"]` || lines[1] != `["4999","text of row 4999"]` {
		t.Errorf("got %d lines, %s %s", len(lines), lines[0], lines[1])
	}
	p := c.must(protocol.Request{Adopt: &protocol.Adopt{Kept: a.Result.Kept, Name: "r", Sample: 2}}, nil).Profile
	if p.Rows != 5000 || p.Columns[0].Distinct != 5000 || p.Columns[0].Max != "4999" || *p.Sample[0][0] != "4999" {
		t.Errorf("got %+v", p)
	}
	cells(t, c.query("SELECT count(*), min(n) FROM r"), []string{"5000", "0"})
	cells(t, c.query("SHOW TABLES"), []string{"r"})
	c.must(protocol.Request{Drop: []string{"R", "nothing"}}, nil)
	if a, _ := c.do(protocol.Request{Describe: &protocol.Describe{Name: "r"}}, nil); a.Kind != protocol.Missing {
		t.Errorf("after it was dropped: got %s", a.Kind)
	}
	cells(t, c.query("SHOW TABLES"))
}

// TestCaps: no result is larger than it may be, and no error longer.
func TestCaps(t *testing.T) {
	c := inProcess(t)
	a := c.must(protocol.Request{Query: &protocol.Query{SQL: "SELECT 1 FROM range(600000)", Inline: 1000}}, nil)
	if a.Result.Rows != protocol.MaxRows || !a.Result.More {
		t.Errorf("got %+v", a.Result)
	}
	if kind, text := c.refused(&protocol.Query{SQL: "SELECT repeat('x', 999) FROM range(200000)", Format: "csv", Inline: protocol.MaxPayload}); kind != protocol.TooLarge || !strings.Contains(text, "64 MB") {
		t.Errorf("got %s %s", kind, text)
	}
	for sql, want := range map[string]string{
		"SELECT 'sk-live-abc'::int":                            "Conversion Error",
		"SELECT '" + strings.Repeat("secret ", 100) + "'::int": "Conversion Error",
		"SELECT '/etc/hostname/x'::int":                        "Conversion Error",
		"SELECT nope FROM range(3)":                            "nope",
		"":                                                     "",
		"--":                                                   "",
		";":                                                    "",
	} {
		if _, text := c.refused(&protocol.Query{SQL: sql}); !strings.Contains(text, want) || len(text) > maxError+3 || text == "" || strings.Contains(strings.Split(text, "\n")[0], "secret secret secret secret secret secret secret") {
			t.Errorf("%.50s: got %q", sql, text)
		}
	}
}
