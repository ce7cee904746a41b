package deliver

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"heddle"
	"heddle/internal/capture"
	"heddle/internal/dataset"
	"heddle/internal/mcptest"
	"heddle/internal/tokens"
	"heddle/internal/wire"
)

// newSQLRig is a rig whose results become tables in a real worker.
func newSQLRig(t testing.TB, o Options) *rig {
	t.Helper()
	command := mcptest.SQL(t)
	var sets *dataset.Store
	r := newRig(t, o, capture.Options{})
	sets = dataset.New(dataset.Options{Command: command, Captures: r.store, TempDir: t.TempDir(), StateDir: t.TempDir(), ExportDir: t.TempDir()})
	t.Cleanup(sets.Close)
	r.o.Datasets = sets
	return r
}

// ask delivers the result of a call with SQL.
func (r *rig) ask(t testing.TB, sql, raw string) heddle.Delivery {
	t.Helper()
	return r.Deliver(t.Context(), &heddle.Call{Principal: heddle.Local, Mode: "compact", SQL: sql}, tool, heddle.Result{Raw: json.RawMessage(raw)})
}

// textIn is the text of a delivery's blocks.
func textIn(t testing.TB, raw json.RawMessage) string {
	t.Helper()
	p, ok := takeApart(raw)
	if !ok {
		t.Fatalf("no result: %.200s", raw)
	}
	return string(p.text(p.all()))
}

// mixed are n rows of eight columns of mixed types, about 55 tokens each.
func mixed(n int) string {
	var b strings.Builder
	b.WriteByte('[')
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		email := fmt.Sprintf("%q", fmt.Sprintf("user%d@example.com", i))
		if i%10 == 9 {
			email = "null"
		}
		fmt.Fprintf(&b, `{"id":%d,"name":"Customer %d","email":%s,"status":%q,"amount":%d.%02d,"active":%v,"created_at":"2026-%02d-%02dT10:00:00Z","region":%q}`,
			i+1, i, email, []string{"open", "closed", "pending"}[i%3], i*7%1000, i%100, i%2 == 0, i%12+1, i%28+1, []string{"eu", "us", "asia", "africa"}[i%4])
	}
	return b.String() + "]"
}

// A large table becomes a dataset whose description costs little, says what an
// independent count says, and leaves nothing out.
func TestEnvelope(t *testing.T) {
	counter, err := tokens.New()
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{1000, 10000} {
		for mode, most := range map[string]int{"compact": 450, "extreme": 450, "native": 450, "loom": 640} {
			r := newSQLRig(t, Options{})
			d := r.deliver(t, mode, result(block(mixed(n))))
			text := textIn(t, d.Raw)
			if d.Form != heddle.FormDataset || len(d.Refs) != 1 {
				t.Fatalf("%s, %d rows: %s with %v: %.300s", mode, n, d.Form, d.Refs, text)
			}
			if cost := counter.Count(text); cost > most {
				t.Errorf("%s, %d rows: %d tokens, want at most %d\n%s", mode, n, cost, most, text)
			}
			want := []string{"email", "VARCHAR", "created_at", "DOUBLE", "BOOLEAN", "BIGINT"}
			if mode != "loom" {
				want = append(want, "10% null", "open", "id BIGINT, unique, 1 … "+fmt.Sprint(n), grouped(n)+" rows × 8 columns", "read_result")
			}
			for _, w := range want {
				if !strings.Contains(text, w) {
					t.Errorf("%s, %d rows: %q is not in\n%s", mode, n, w, text)
				}
			}
		}
	}
}

// What is beside the table stays reachable and is named.
func TestNothingIsLostBesideTheTable(t *testing.T) {
	r := newSQLRig(t, Options{})
	ids := make([]string, 400)
	for i := range ids {
		ids[i] = fmt.Sprint(9007199254740993 + i)
	}
	doc := `{"total":1234,"next_cursor":"c2","items":` + mixed(200) + `,"users":[{"id":1},{"id":2},{"id":3},{"id":4},{"id":5}],"summary":{"by":{"eu":[1,2,3]}},"ids":[` + strings.Join(ids, ",") + `]}`
	text := textIn(t, r.deliver(t, "compact", result(block(doc))).Raw)
	for _, want := range []string{"list_issues_1_users", "total 1234", `next_cursor "c2"`, "$.ids", "400", "$.summary"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	c, err := r.store.Get(heddle.Local, "list_issues_1")
	if err != nil {
		t.Fatal(err)
	}
	if b, _ := c.Bytes(); string(b) != doc {
		t.Error("the capture is not the text")
	}
	d, err := r.read(heddle.Local, Reading{SQL: "SELECT count(*) AS n, max(id) AS m FROM list_issues_1_users"})
	if err != nil || !strings.Contains(textIn(t, d.Raw), "n\tm\n5\t5") {
		t.Errorf("the sibling: %v, %s", err, d.Raw)
	}
}

// A call with SQL gets rows; where the result is no table it gets that as usual,
// after a line that says why.
func TestCallWithSQL(t *testing.T) {
	r := newSQLRig(t, Options{})
	if d := r.ask(t, "SELECT count(*) FROM result", result(block(mixed(100)))); d.UpstreamTokens < 3000 || d.DeliveredTokens > 100 || d.DeliveredTokens == 0 {
		t.Errorf("%d tokens in place of %d", d.DeliveredTokens, d.UpstreamTokens)
	}
	small := result(block(mixed(3)))
	if text := textIn(t, r.ask(t, "SELECT max(id) AS m, count(*) AS n FROM result", small).Raw); !strings.Contains(text, "m\tn\n3\t3") {
		t.Errorf("rows of a small result: %s", text)
	}
	around := `{"total":999,"next":"tok","rows":` + mixed(6) + `,"ids":[1,2,3]}`
	if text := textIn(t, r.ask(t, "SELECT count(*) AS n FROM result", result(block(around))).Raw); !strings.Contains(text, "total 999") || !strings.Contains(text, "$.ids") {
		t.Errorf("what is around the table is not said: %s", text)
	}
	text := textIn(t, r.ask(t, "SELECT nope FROM result", result(block(mixed(300)))).Raw)
	for _, want := range []string{"sql failed", "nope", "list_issues_4", "300 rows"} {
		if !strings.Contains(text, want) {
			t.Errorf("a wrong query: %q is not in\n%s", want, text)
		}
	}
	for name, raw := range map[string]string{
		"prose":   result(block("Nothing but words.")),
		"failure": `{"isError":true,"content":[` + block("no such repository") + `]}`,
		"picture": result(block(mixed(3)), picture),
		"empty":   `{"content":[]}`,
	} {
		d := r.ask(t, "SELECT 1 FROM result", raw)
		elements, err := wire.Elements(wire.Member(d.Raw, "content"))
		rest, _ := wire.Elements(wire.Member(json.RawMessage(raw), "content"))
		if err != nil || len(elements) != len(rest)+1 || !strings.Contains(string(elements[0]), "sql was not run") {
			t.Errorf("%s: %s, want a line and then the result", name, d.Raw)
			continue
		}
		for i := range rest {
			if string(elements[i+1]) != string(rest[i]) {
				t.Errorf("%s: block %d is %s, want %s", name, i, elements[i+1], rest[i])
			}
		}
	}
}

// Whatever fails in making a table, the result is delivered all the same, and no
// half-made dataset is left.
func TestNoHalfMadeDataset(t *testing.T) {
	r := newRig(t, Options{}, capture.Options{})
	sets := dataset.New(dataset.Options{Command: "/bin/false", Captures: r.store, TempDir: t.TempDir()})
	t.Cleanup(sets.Close)
	r.o.Datasets = sets
	d := r.deliver(t, "compact", result(block(mixed(500))))
	if d.Form != heddle.FormProjected || len(d.Refs) != 1 {
		t.Errorf("with a worker that does not start: %s with %v", d.Form, d.Refs)
	}
	if got := sets.List(t.Context(), heddle.Local); len(got) != 0 {
		t.Errorf("%d datasets are left", len(got))
	}
	if n := r.store.Stats().Captures; n != 1 {
		t.Errorf("%d captures are left, want the one that is named", n)
	}
	// Rows that do not fit a table.
	q := newSQLRig(t, Options{})
	wide := make([]string, 2001)
	for i := range wide {
		wide[i] = fmt.Sprintf(`"column%d":%d`, i, i)
	}
	row := "{" + strings.Join(wide, ",") + "}"
	d = q.deliver(t, "compact", result(block("["+row+","+row+"]")))
	if d.Form != heddle.FormProjected || len(q.o.Datasets.List(t.Context(), heddle.Local)) != 0 || q.store.Stats().Captures != 1 {
		t.Errorf("2,001 columns: %s with %v and %d datasets", d.Form, d.Refs, len(q.o.Datasets.List(t.Context(), heddle.Local)))
	}
}

func TestReadSQL(t *testing.T) {
	r := newSQLRig(t, Options{})
	r.deliver(t, "compact", result(block(mixed(5000))))
	read := func(in Reading) string {
		t.Helper()
		d, err := r.read(heddle.Local, in)
		if err != nil {
			t.Fatal(err)
		}
		if len(d.Raw) > 12<<10 {
			t.Errorf("%s: %d bytes", in.SQL, len(d.Raw))
		}
		return textIn(t, d.Raw)
	}
	if got := read(Reading{SQL: "SELECT * FROM list_issues_1"}); !strings.HasPrefix(got, "[SQL table query_1: 5,000 rows × 8 columns") {
		t.Errorf("a large answer: %s", got)
	}
	if got := read(Reading{SQL: "SELECT repeat('x', 50000) AS long"}); !strings.Contains(got, "query_2") || !strings.Contains(got, "…") {
		t.Errorf("a long cell: %.300s", got)
	}
	if got := read(Reading{SQL: "SELECT status, count(*) AS n FROM list_issues_1 GROUP BY ALL ORDER BY ALL", SaveAs: "by_status"}); !strings.Contains(got, "by_status") || !strings.Contains(got, "restart") {
		t.Errorf("saved: %s", got)
	}
	got := read(Reading{SQL: "FROM by_status", Export: "json"})
	path := strings.TrimSuffix(got[strings.LastIndex(got, "written to ")+len("written to "):], "]")
	if b, err := os.ReadFile(path); err != nil || !json.Valid(b) {
		t.Errorf("exported to %q: %v: %.200s", path, err, b)
	}
	if got := read(Reading{SQL: "EXPLAIN SELECT 1"}); !strings.Contains(got, "PROJECTION") {
		t.Errorf("a plan: %s", got)
	}
}
