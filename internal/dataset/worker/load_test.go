//go:build cgo

package worker

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"sync"
	"testing"

	"heddle/internal/dataset/protocol"
	"heddle/internal/dataset/records"
)

// cells compares the rows of a query with texts, of which "NULL" is NULL.
func cells(t *testing.T, got [][]*string, want ...[]string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("got %d rows, want %d", len(got), len(want))
	}
	for i, row := range got {
		if len(row) != len(want[i]) {
			t.Fatalf("row %d: got %d cells, want %d", i, len(row), len(want[i]))
		}
		for j, cell := range row {
			text := "NULL"
			if cell != nil {
				text = *cell
			}
			if text != want[i][j] {
				t.Errorf("row %d, cell %d: got %q, want %q", i, j, text, want[i][j])
			}
		}
	}
}

func types(p *protocol.Profile) string {
	var all []string
	for _, c := range p.Columns {
		all = append(all, c.Name+" "+c.Type)
	}
	return strings.Join(all, ", ")
}

// TestExact: no digit and no character is lost on the way in and out.
func TestExact(t *testing.T) {
	c := inProcess(t)
	for _, test := range []struct {
		array, types string
		rows         [][]string
	}{
		{`[{"id":9007199254740993,"v":1},{"id":1.5,"v":2}]`, "", [][]string{{"9007199254740993", "1"}, {"1.5", "2"}}},
		{`[{"id":18446744073709551615},{"id":-1}]`, "id HUGEINT", [][]string{{"18446744073709551615"}, {"-1"}}},
		{
			`[{"id":170141183460469231731687303715884105727},{"id":-170141183460469231731687303715884105728}]`, "id HUGEINT",
			[][]string{{"170141183460469231731687303715884105727"}, {"-170141183460469231731687303715884105728"}},
		},
		{`[{"id":123456789012345678901234567890123456789012345678901234567890},{"id":1}]`, "id VARCHAR", [][]string{{"123456789012345678901234567890123456789012345678901234567890"}, {"1"}}},
		{`[{"id":9223372036854775807},{"id":-9223372036854775808}]`, "id BIGINT", [][]string{{"9223372036854775807"}, {"-9223372036854775808"}}},
		{`[{"v":0.1},{"v":1e300},{"v":2.5}]`, "v DOUBLE", [][]string{{"0.1"}, {"1e+300"}, {"2.5"}}},
		{`[{"v":true},{"v":null},{}]`, "v BOOLEAN", [][]string{{"true"}, {"NULL"}, {"NULL"}}},
		{`[{"a":"","b":"\u0000x"},{"a":"tab\there","b":"line\nbreak \\ \r"}]`, "a VARCHAR, b VARCHAR", [][]string{{"", "\x00x"}, {"tab\there", "line\nbreak \\ \r"}}},
		{
			`[{"id":"007","u":"BBD05AE7-1111-4ACA-8280-6D447C97C2BB","d":"25-11-2025","e":"1e5","b":"true","n":"NULL","p":"+4912","x":"0x1F"},{"id":"1"}]`,
			"id VARCHAR, u VARCHAR, d VARCHAR, e VARCHAR, b VARCHAR, n VARCHAR, p VARCHAR, x VARCHAR",
			[][]string{
				{"007", "BBD05AE7-1111-4ACA-8280-6D447C97C2BB", "25-11-2025", "1e5", "true", "NULL", "+4912", "0x1F"},
				{"1", "NULL", "NULL", "NULL", "NULL", "NULL", "NULL", "NULL"},
			},
		},
		{`[{"日本":"twelve bytes","q\"x":"thirteen byte"},{"日本":"ü","q\"x":"ünïcödé 🙂🙂"}]`, `日本 VARCHAR, q"x VARCHAR`, [][]string{{"twelve bytes", "thirteen byte"}, {"ü", "ünïcödé 🙂🙂"}}},
	} {
		p := c.load("t", test.array)
		if got := types(p); test.types != "" && got != test.types {
			t.Errorf("%.80s: got types %s, want %s", test.array, got, test.types)
		}
		cells(t, c.query("FROM t"), test.rows...)
	}
}

// TestNames: whatever a key is, it is a column, and is not run as SQL.
func TestNames(t *testing.T) {
	c := inProcess(t)
	p := c.load("odd", `[{"id":1,"Id":2,"ID_1":3,"":4,"select":5,"a b":6,"a.b":7,"q\"x":8,"日本":9,"drop table t;--":10,"o":{"x":1,"X":2}},{"id":1}]`)
	if len(p.Columns) != 12 {
		t.Errorf("got columns %s", types(p))
	}
	var names []string
	for _, col := range p.Columns {
		names = append(names, ident(col.Name))
	}
	rows := c.query("SELECT " + strings.Join(names, ", ") + ` FROM odd LIMIT 1`)
	cells(t, rows, []string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "1", "2"})
}

// TestWide: as many columns as there may be.
func TestWide(t *testing.T) {
	c := inProcess(t)
	row := map[string]int{}
	for i := range protocol.MaxColumns {
		row[fmt.Sprintf("c%04d", i)] = i
	}
	b, _ := json.Marshal([]any{row, row})
	if p := c.load("wide", string(b)); len(p.Columns) != protocol.MaxColumns || p.Columns[1999].Max != "1999" {
		t.Errorf("got %d columns, the last %+v", len(p.Columns), p.Columns[len(p.Columns)-1])
	}
	row["one more"] = 1
	b, _ = json.Marshal([]any{row, row})
	if a, _ := c.do(loadOf("wider"), b); a.Kind != protocol.TooLarge || !strings.Contains(a.Error, "2000") {
		t.Errorf("one column more: got %s %q", a.Kind, a.Error)
	}
}

// TestWholeOrNot: a load that fails changes nothing, one that succeeds replaces.
func TestWholeOrNot(t *testing.T) {
	c := inProcess(t)
	c.load("t", `[{"a":1},{"a":2}]`)
	snapshot := func(rows string, types ...string) answer {
		a, _ := c.do(protocol.Request{Load: &protocol.Load{Name: "T", Table: records.Table{Form: records.FormSnapshot}, Types: types}}, []byte("[\"a\"]\n"+rows))
		return a
	}
	for name, a := range map[string]answer{
		"not JSON":   func() answer { a, _ := c.do(loadOf("t"), []byte(`[{"a":1},{"a":`)); return a }(),
		"no values":  func() answer { a, _ := c.do(loadOf("t"), []byte(`[{},{}]`)); return a }(),
		"not a date": snapshot("[\"2026-01-01\"]\n[\"tomorrow\"]\n", "DATE"),
		"no type":    snapshot("[\"1\"]\n", "NOPE"),
		"two types":  snapshot("[\"1\"]\n", "INTEGER", "INTEGER"),
	} {
		if a.Kind == "" {
			t.Errorf("%s: got no error", name)
		}
		cells(t, c.query("SELECT sum(a) FROM t"), []string{"3"})
	}
	if a := snapshot("[\"2026-01-01\"]\n", "DATE"); a.Kind != "" {
		t.Errorf("got %s", a.Error)
	}
	cells(t, c.query("FROM t"), []string{"2026-01-01"})
	cells(t, c.query("SHOW TABLES"), []string{"T"})
}

// TestParallel: loads and queries side by side do not touch each other.
func TestParallel(t *testing.T) {
	c := inProcess(t)
	var group sync.WaitGroup
	for i := range 50 {
		rows := 500 + 100*i
		group.Go(func() {
			var b strings.Builder
			for j := range rows {
				fmt.Fprintf(&b, `,{"id":%d,"text":"row %d of table %d","v":%d.5}`, j, j, i, j)
			}
			name := fmt.Sprint("t", i)
			a, _ := c.do(loadOf(name), []byte("["+b.String()[1:]+"]"))
			if a.Kind != "" || a.Profile.Rows != int64(rows) || a.Profile.Columns[0].Distinct != int64(rows) {
				t.Errorf("%s: got %s %s", name, a.Kind, a.Error)
				return
			}
			want := fmt.Sprintf("%d %d %d", rows, rows*(rows-1)/2, rows)
			sql := fmt.Sprintf("SELECT count(*) || ' ' || sum(id) || ' ' || count(*) FILTER (text = 'row ' || id || ' of table %d' AND v = id + 0.5) FROM t%d", i, i)
			if got := c.one(sql); got != want {
				t.Errorf("%s: got %s, want %s", name, got, want)
			}
		})
		group.Go(func() {
			if got := c.one(fmt.Sprintf("SELECT sum(range) FROM range(%d)", 1000*i+2)); got != strconv.Itoa((1000*i+2)*(1000*i+1)/2) {
				t.Errorf("query %d: got %s", i, got)
			}
		})
	}
	group.Wait()
}

func TestParseHuge(t *testing.T) {
	limit := new(big.Int).Lsh(big.NewInt(1), 127)
	for _, s := range []string{"0", "-0", "1", "-1", "9223372036854775808", "18446744073709551616", "-18446744073709551616", "170141183460469231731687303715884105727", "-170141183460469231731687303715884105728", "99999999999999999999999999999999999999"} {
		n, _ := new(big.Int).SetString(s, 10)
		if h, ok := parseHuge([]byte(s)); !ok || formatHuge(h) != n.String() {
			t.Errorf("%s: got %s, %v", s, formatHuge(h), ok)
		}
	}
	over := new(big.Int).Sub(new(big.Int).Neg(limit), big.NewInt(1))
	for _, s := range []string{"", "-", "1.5", "1e3", limit.String(), over.String(), strings.Repeat("9", 39), strings.Repeat("9", 60)} {
		if h, ok := parseHuge([]byte(s)); ok {
			t.Errorf("%q: got %s", s, formatHuge(h))
		}
	}
}
