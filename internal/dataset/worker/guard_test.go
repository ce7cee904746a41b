//go:build cgo

package worker

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"heddle/internal/dataset/protocol"
	"heddle/internal/dataset/records"
)

// guarded is a line of the corpus that the gate is tested with too.
type guarded struct {
	ID, SQL, Expect, How string
}

func corpus(t *testing.T) []guarded {
	t.Helper()
	f, err := os.Open("gate/testdata/sqlguard.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []guarded
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var g guarded
		if err := json.Unmarshal(lines.Bytes(), &g); err != nil {
			t.Fatal(err)
		}
		all = append(all, g)
	}
	if lines.Err() != nil || len(all) < 200 {
		t.Fatalf("%d lines, %v", len(all), lines.Err())
	}
	return all
}

// setTables makes the corpus's tables, through the protocol.
func setTables(c *client) {
	c.t.Helper()
	table := func(name, columns string, rows int, row func(i int) []any) {
		var names, types []string
		for _, col := range strings.Split(columns, ", ") {
			n, typ, _ := strings.Cut(col, " ")
			names, types = append(names, strings.Trim(n, `"`)), append(types, typ)
		}
		var b strings.Builder
		e := json.NewEncoder(&b)
		_ = e.Encode(names) // a list of strings
		for i := range rows {
			cells := []*string{}
			for _, v := range row(i) {
				if v == nil {
					cells = append(cells, nil)
					continue
				}
				s := fmt.Sprint(v)
				cells = append(cells, &s)
			}
			_ = e.Encode(cells)
		}
		c.must(protocol.Request{Load: &protocol.Load{Name: name, Table: records.Table{Form: records.FormSnapshot}, Types: types, Quiet: true}}, []byte(b.String()))
	}
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(d time.Duration) string { return start.Add(d).Format(time.DateTime) }
	orders := func(i int) []any {
		return []any{i, fmt.Sprint("c", i), float64(i) * 1.5, at(time.Duration(i) * time.Hour), []string{"eu", "us"}[i%2], []string{"AAA", "BBB", "BBB"}[i%3]}
	}
	for _, name := range []string{"orders", "v_orders"} {
		table(name, "id INT, customer VARCHAR, amount DOUBLE, ts TIMESTAMP, region VARCHAR, sym VARCHAR", 50, orders)
	}
	table("prices", "sym VARCHAR, ts TIMESTAMP, price DOUBLE", 100, func(i int) []any {
		return []any{[]string{"AAA", "BBB"}[i%2], at(time.Duration(i) * time.Minute), i}
	})
	table("trades", "id INT, sym VARCHAR, ts TIMESTAMP, qty INT", 20, func(i int) []any { return []any{i, "AAA", at(time.Duration(i) * time.Minute), i} })
	table("nodes", "id INT, parent INT", 3, func(i int) []any { return []any{i + 1, []any{nil, 1, 2}[i]} })
	table("docs", "id INT, body VARCHAR, body_json JSON, tags VARCHAR[]", 1, func(int) []any { return []any{1, "aaab", `{"a":1,"b":"x"}`, "[a, b]"} })
	table("wide", "id INT, jan INT, feb INT, mar INT", 1, func(int) []any { return []any{1, 1, 2, 3} })
	table("audit_words", `"update" INT`, 1, func(int) []any { return []any{1} })
}

// peak is the most memory that the process ever had, in MB.
func (c *child) peak() int {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.cmd.Process.Pid)) // Linux alone has it
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kb, _ := strconv.Atoi(strings.Fields(rest)[0])
			return kb >> 10
		}
	}
	return 0
}

const (
	guardTime = 2 * time.Second
	maxPeak   = 800 // MB
)

// TestGuard: the real worker runs what is allowed and stops what is not, in time and
// in memory.
func TestGuard(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	c := startChild(t)
	setTables(c.client)
	ran := 0
	for _, g := range corpus(t) {
		if strings.Contains(g.SQL, "add_tax") {
			continue // a macro, which a worker has none of
		}
		ran++
		a, died, took := c.limited(&protocol.Query{SQL: g.SQL, Inline: 1 << 20, All: true}, guardTime)
		if got := died || a.Kind != ""; got != (g.Expect == "reject") {
			t.Errorf("%s %.100s: got %q %s, died: %v, want %s", g.ID, g.SQL, a.Kind, a.Error, died, g.Expect)
		}
		if a.Kind == "" && g.How == "static" {
			t.Errorf("%s ran", g.ID)
		}
		if took > guardTime+1500*time.Millisecond {
			t.Errorf("%s %.100s: took %v", g.ID, g.SQL, took)
		}
		if peak := c.peak(); peak > maxPeak {
			t.Errorf("%s %.100s: %d MB", g.ID, g.SQL, peak)
		}
		if strings.Contains(a.Error, c.dir) || len(a.Error) > maxError+3 {
			t.Errorf("%s: %s", g.ID, a.Error)
		}
		if died {
			t.Logf("%s %.60s: the worker died after %v", g.ID, g.SQL, took)
			c.kill()
			c = startChild(t)
			setTables(c.client)
		}
	}
	t.Logf("%d statements, peak of the last worker %d MB", ran, c.peak())
	if got := c.one("SELECT count(*) FROM orders"); got != "50" {
		t.Errorf("after it all: got %s rows", got)
	}
}

// bombs would each take more memory than there is.
var bombs = []string{
	"SELECT list(range) FROM range(99000000)",
	"SELECT string_agg(repeat('x', 1000), '') FROM range(10000000)",
	"SELECT list(a.range) FROM range(99000000) a, range(100) b",
	"SELECT repeat(string_agg('x', ''), 1000) FROM range(10000000)",
	"SELECT count(DISTINCT a.range * 1000003 + b.range) FROM range(100000) a, range(100000) b",
	"SELECT max(len(s)) FROM (SELECT string_agg(repeat('x', 900), ',') s FROM range(90000000) GROUP BY range % 7)",
	"WITH RECURSIVE t(s) AS (SELECT 'x' UNION ALL SELECT s || s FROM t WHERE len(s) < 4000000000) SELECT max(len(s)) FROM t",
	"WITH RECURSIVE t(l) AS (SELECT [1] UNION ALL SELECT l || l FROM t WHERE len(l) < 1000000000) SELECT max(len(l)) FROM t",
	"SELECT a.range, b.range FROM range(10000) a, range(10000) b ORDER BY hash(a.range, b.range)",
	"SELECT list(repeat('x', 100000)) FROM range(100000)",
	"SELECT map_from_entries(list((range, range))) FROM range(50000000)",
	"SELECT array_agg(repeat('y', 10000) ORDER BY range DESC) FROM range(1000000)",
	"SELECT histogram(range) FROM range(50000000)",
	"SELECT median(range), list_sort(list(range)) FROM range(90000000)",
	"SELECT * FROM (SELECT range r, repeat('z', 3000) s FROM range(1000000)) ORDER BY s, r DESC LIMIT 400000",
	"SELECT repeat('x', 1000000) FROM range(100000)",
	"SELECT json_group_array(repeat('x', 1000)) FROM range(10000000)",
	"SELECT list_transform(range(99999999), lambda x: repeat('abc', 100))",
	"SELECT unnest(range(90000000)) AS a, unnest(range(90000000)) AS b",
	"SELECT string_split(repeat('a,', 90000000), ',')",
}

// TestMemory: no query makes the process larger than it may be.
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	highest := 0
	c := startChild(t)
	for _, sql := range bombs {
		a, died, took := c.limited(&protocol.Query{SQL: sql, Inline: 1000, All: true}, 4*time.Second)
		peak := c.peak()
		highest = max(highest, peak)
		t.Logf("%-10s died: %-5v %6.1fs %4d MB %.70s %.100s", a.Kind, died, took.Seconds(), peak, sql, a.Error)
		if peak > maxPeak {
			t.Errorf("%s: %d MB", sql, peak)
		}
		if !died && a.Kind == "" && a.Result.Rows > protocol.MaxRows {
			t.Errorf("%s: %d rows", sql, a.Result.Rows)
		}
		if died {
			c.kill()
			c = startChild(t)
		}
	}
	t.Logf("at most %d MB", highest)
}

// TestForbidden: what reaches out is refused, by the gate, and by the engine alone
// when it is asked past the gate.
func TestForbidden(t *testing.T) {
	c, e := inProcessEngine(t)
	c.load("r", `[{"a":1},{"a":2}]`)
	for _, sql := range []string{
		"with x as (select 1) delete from r", "select 1; drop table r", "select 1;;select 2", "/*x*/ drop table r", "insert into r values (1) returning *",
		"explain analyze insert into r values (1)", "create or replace table r as select 'poison'", "create temp table z as select 1",
		"select * from read_text('/etc/hostname')", "from '/etc/passwd'", "from glob('/etc/*')", "from sniff_csv('/etc/passwd')", "copy r to '/tmp/x'",
		"export database '/tmp/x'", "attach '/tmp/x.db'", "install httpfs", "load httpfs", "set enable_external_access=true", "reset enable_external_access",
		"set memory_limit='100GB'", "pragma threads=1", "select getenv('HOME')", "from 'https://169.254.169.254/'", "call enable_logging(storage='stdout')",
		"select * from enable_logging(storage='stdout')", "from duckdb_logs()", "from duckdb_secrets()", "select current_setting('temp_directory')",
	} {
		kind, text := c.refused(&protocol.Query{SQL: sql, All: true})
		if kind != protocol.Refused && kind != protocol.Invalid {
			t.Errorf("%s: got %s %s", sql, kind, text)
		}
	}
	cells(t, c.query("SELECT sum(a) FROM r"), []string{"3"})
	k, err := e.db.connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer k.close()
	for _, sql := range []string{
		"from read_text('/etc/hostname')", "from '/etc/passwd'", "from glob('/etc/*')", "from sniff_csv('/etc/passwd')", "copy r to '/tmp/x'", "export database '/tmp/x'",
		"attach '/tmp/x.db'", "install httpfs", "set enable_external_access=true", "reset enable_external_access", "set memory_limit='100GB'",
		"from 'https://169.254.169.254/'", "from read_parquet('/tmp/x')", "pragma threads=1", "set temp_directory='/tmp'", "select getenv('HOME')", "load httpfs",
	} {
		if err := k.exec(sql); err == nil {
			t.Errorf("%s: the engine does it", sql)
		}
	}
}
