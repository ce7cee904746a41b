//go:build cgo

package gate

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	_ "github.com/duckdb/duckdb-go/v2"

	"heddle/internal/dataset/protocol"
)

// open returns a gate with the parser of an engine of its own.
func open(t testing.TB) *Gate {
	t.Helper()
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return New(func(ctx context.Context, text string) (tree string, err error) {
		err = db.QueryRowContext(ctx, "SELECT json_serialize_sql(?::VARCHAR)::VARCHAR", text).Scan(&tree)
		return tree, err
	})
}

// corpusTables are what testdata/sqlguard.schema.sql makes.
var corpusTables = set("orders prices trades nodes docs wide audit_words v_orders")

// TestCorpus: testdata/sqlguard.jsonl and its schema were written for this project.
func TestCorpus(t *testing.T) {
	g := open(t)
	data, err := os.ReadFile("testdata/sqlguard.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var item struct{ ID, SQL, Expect, How, Why string }
		if err := json.Unmarshal(lines.Bytes(), &item); err != nil {
			t.Fatal(err)
		}
		v, err := g.Check(t.Context(), item.SQL)
		for _, name := range v.Tables {
			if err == nil && !corpusTables[strings.ToLower(name)] {
				err = refuse("no table %s", name) // as the engine says next
			}
		}
		got := "allow"
		if err != nil {
			got = "reject"
		}
		count[item.Expect+" "+item.How+": "+got]++
		if got != item.Expect && item.How != "runtime-limit" && item.How != "runtime-error" {
			t.Errorf("%s %s: %.120q: %s, want %s: %v", item.ID, item.Why, item.SQL, got, item.Expect, err)
		}
		if got != item.Expect {
			t.Logf("left to limits: %.100q", item.SQL)
		}
	}
	t.Log(count)
}

// TestList goes through testdata/list.txt.
func TestList(t *testing.T) {
	g := open(t)
	for _, item := range list(t) {
		v, err := g.Check(t.Context(), item.sql)
		var refused *Error
		switch {
		case item.want == "allow" && err != nil:
			t.Errorf("%q: %v, want it allowed", item.sql, err)
		case item.want == "reject" && err == nil:
			t.Errorf("%q: allowed, want it refused; reads %v", item.sql, v.Tables)
		case err != nil && !errors.As(err, &refused):
			t.Errorf("%q: %v is not an *Error", item.sql, err)
		case err != nil && testing.Verbose():
			t.Logf("%.100q: %s: %s", item.sql, refused.Kind, refused.Text)
		}
	}
}

type item struct{ want, sql string }

// list reads lines of "allow" or "reject", a space and SQL, in which \n is a line
// break and \u a rune.
func list(t testing.TB) []item {
	t.Helper()
	data, err := os.ReadFile("testdata/list.txt")
	if err != nil {
		t.Fatal(err)
	}
	escapes := strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\u00a0`, "\u00a0", `\uff07`, "\uff07", `\u200b`, "\u200b", `\u037e`, "\u037e")
	var items []item
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		if want, sql, ok := strings.Cut(line, " "); ok && want != "#" {
			items = append(items, item{want, escapes.Replace(sql)})
		}
	}
	return items
}

func TestVerdict(t *testing.T) {
	g := open(t)
	for _, test := range []struct {
		sql  string
		want Verdict
	}{
		{"SELECT 1; -- done", Verdict{SQL: "SELECT 1"}},
		{"FROM a, B b, main.a, A", Verdict{SQL: "FROM a, B b, main.a, A", Tables: []string{"a", "B"}}},
		{"WITH c AS (FROM a), d AS (FROM c) FROM d JOIN C USING (x)", Verdict{Tables: []string{"a"}}},
		{"WITH c AS (FROM a) FROM main.c", Verdict{Tables: []string{"a", "c"}}},
		{"SELECT * FROM (WITH c AS (SELECT 1) FROM c), c", Verdict{Tables: []string{"c"}}},
		{"WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r, a) FROM r", Verdict{Tables: []string{"a"}}},
		{"DESCRIBE a", Verdict{Tables: []string{"a"}}},
		{"SUMMARIZE FROM a", Verdict{Tables: []string{"a"}}},
		{"SELECT (SELECT max(x) FROM a) + (SELECT 1 WHERE EXISTS (FROM b))", Verdict{Tables: []string{"a", "b"}}},
		{"SHOW TABLES", Verdict{AllTables: true}},
		{"FROM information_schema.tables", Verdict{AllTables: true}},
		{"SELECT * FROM duckdb_columns()", Verdict{AllTables: true}},
		{"FROM histogram(a, x)", Verdict{Tables: []string{"a"}}},
		{"explain /* plan */ SELECT 1", Verdict{SQL: "EXPLAIN SELECT 1", Explain: "EXPLAIN"}},
		{"EXPLAIN ANALYZE FROM a", Verdict{SQL: "EXPLAIN ANALYZE FROM a", Explain: "EXPLAIN ANALYZE", Tables: []string{"a"}}},
		{"EXPLAIN (FORMAT JSON) FROM a", Verdict{SQL: "EXPLAIN (format json) FROM a", Explain: "EXPLAIN (format json)", Tables: []string{"a"}}},
		{"PIVOT a ON x USING sum(y)", Verdict{Tables: []string{"a"}, Pivot: true}},
		{"PIVOT a ON x IN (1, 2) USING sum(y)", Verdict{Tables: []string{"a"}}},
		{"WITH c AS (PIVOT a ON x || 'z', y GROUP BY w) FROM c JOIN (PIVOT (FROM b) ON k) USING (w)", Verdict{Tables: []string{"a", "b"}, Pivot: true}},
		{"PIVOT a JOIN b ON a.x = b.x JOIN c USING (y) ON x, z USING sum(y) ORDER BY 1", Verdict{Tables: []string{"a", "b", "c"}, Pivot: true}},
	} {
		got, err := g.Check(t.Context(), test.sql)
		if err != nil {
			t.Errorf("%s: %v", test.sql, err)
			continue
		}
		if test.want.SQL == "" {
			test.want.SQL = test.sql
		}
		slices.Sort(got.Tables) // a tree has no order
		slices.Sort(test.want.Tables)
		if got.SQL != test.want.SQL || got.Explain != test.want.Explain || got.AllTables != test.want.AllTables ||
			got.Pivot != test.want.Pivot || !slices.Equal(got.Tables, test.want.Tables) {
			t.Errorf("%s:\n got %+v\nwant %+v", test.sql, got, test.want)
		}
	}
}

// TestFunctions fails when the engine has a function, a table function or a view
// that nobody has decided on: look at what it reaches, decide in functions.go, and
// write the line with -update.
func TestFunctions(t *testing.T) {
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.QueryContext(t.Context(), `
		SELECT DISTINCT CASE WHEN function_type LIKE 'table%' THEN 'from' ELSE 'call' END, function_name
			FROM duckdb_functions() WHERE function_type <> 'pragma'
		UNION ALL SELECT 'view', CASE schema_name WHEN 'main' THEN view_name ELSE schema_name || '.' || view_name END
			FROM duckdb_views() WHERE internal
		ORDER BY ALL`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var got strings.Builder
	for rows.Next() {
		var place, name string
		if err := rows.Scan(&place, &name); err != nil {
			t.Fatal(err)
		}
		sign := "-"
		if decided(place, name) {
			sign = "+"
		}
		got.WriteString(sign + " " + place + " " + name + "\n")
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	const file = "testdata/functions.txt"
	if *update {
		if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	known := set(strings.ReplaceAll(string(want), " ", "\x00"))
	for line := range strings.Lines(got.String()) {
		if !known[strings.ReplaceAll(strings.TrimSpace(line), " ", "\x00")] {
			t.Errorf("not decided: %s", line)
		}
	}
}

func decided(place, name string) bool {
	switch place {
	case "from":
		return tableFunctions[name]
	case "view":
		schema, view, ok := strings.Cut(name, ".")
		if !ok {
			schema, view = "main", name
		}
		return systemViews[schema][view]
	default:
		return scalar(name) == nil
	}
}

func FuzzCheck(f *testing.F) {
	for _, item := range list(f) {
		f.Add(item.sql)
	}
	g := open(f)
	f.Fuzz(func(t *testing.T, text string) {
		v, err := g.Check(t.Context(), text)
		var refused *Error
		switch {
		case err == nil && len(v.SQL) > protocol.MaxSQL+100:
			t.Errorf("%q grew to %q", text, v.SQL)
		case err != nil && !errors.As(err, &refused):
			t.Errorf("%q: %v", text, err)
		}
	})
}

func BenchmarkCheck(b *testing.B) {
	g := open(b)
	for name, sql := range map[string]string{
		"small": "SELECT region, sum(amount) AS total FROM orders GROUP BY region ORDER BY total DESC",
		"join":  "WITH t AS (SELECT o.id, o.sym, p.price FROM orders o ASOF JOIN prices p ON o.sym = p.sym AND o.ts >= p.ts) SELECT sym, count(*), avg(price) FILTER (price > 10), row_number() OVER (PARTITION BY sym ORDER BY sum(price)) FROM t WHERE id IN (SELECT id FROM trades WHERE qty > 3) GROUP BY ALL",
		"pivot": "PIVOT orders ON region USING sum(amount) GROUP BY sym",
		"long":  "SELECT 1 IN (1" + strings.Repeat(",1", 15_000) + ")",
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := g.Check(b.Context(), sql); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
