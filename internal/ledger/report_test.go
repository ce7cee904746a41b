package ledger

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"heddle"

	"github.com/google/go-cmp/cmp"
)

// put is a call of a report's ledger, and how long it took.
type put struct {
	row  Row
	took time.Duration
}

func known(n int64) Tokens { return Tokens{N: n, Known: true} }

// filled is a ledger with calls of two sessions, a quarter of an hour apart.
func filled(t *testing.T) (path string, at time.Time) {
	t.Helper()
	c := newClock()
	at = c.now()
	l := start(t, Options{Now: c.now}, "")
	l.Session(SessionRow{ID: "s1", Mode: "compact", NativeBytes: 4300, SurfaceBytes: 430})
	issues := Row{Session: "s1", Mode: "compact", Tool: "hub_issues", Server: "hub", Name: "issues"}
	exact, big, refused, failed, search, read, unknown := issues, issues, issues, issues, issues, issues, issues
	exact.Form, exact.Upstream, exact.UpstreamBytes, exact.DeliveredBytes = heddle.FormExact, time.Millisecond, 430, 430
	big.Form, big.Upstream, big.UpstreamTokens, big.DeliveredTokens = heddle.FormProjected, time.Millisecond, known(9000), known(300)
	refused.Kind, refused.UpstreamBytes = heddle.KindInvalidArguments, 0
	failed.Kind, failed.Upstream, failed.UpstreamBytes = heddle.KindTimeout, time.Second, 4300
	search.Tool, search.Server, search.Name, search.Form, search.DeliveredBytes, search.CacheHit = "find_tool", "", "", heddle.FormOwn, 860, true
	read.Tool, read.Server, read.Name, read.Form, read.DeliveredTokens = "read_result", "", "", heddle.FormOwn, known(50)
	unknown.Tool, unknown.Server, unknown.Name, unknown.Kind = "hub_nothing", "", "", heddle.KindUnknownTool
	told := exact
	told.IsError = true
	for _, p := range []put{{exact, 10 * time.Millisecond}, {big, 20 * time.Millisecond}, {refused, 0}, {failed, time.Second}, {search, time.Millisecond}, {read, 0}, {unknown, 0}, {told, 30 * time.Millisecond}} {
		p.row.Time = c.now()
		c.advance(p.took)
		l.End(p.row)
	}
	c.advance(15 * time.Minute)
	l.Session(SessionRow{ID: "s2", Mode: "native", NativeTokens: known(100), SurfaceTokens: known(120)})
	exact.Session, exact.Mode, exact.Server, exact.Name, exact.Time = "s2", "native", "db", "query", c.now()
	l.End(exact)
	l.mustFlush()
	return l.path, at
}

func TestPeriods(t *testing.T) {
	path, at := filled(t)
	r := reader(t, path)
	got, err := r.Periods(t.Context(), Filter{})
	if err != nil {
		t.Fatal(err)
	}
	want := []Period{
		{Start: at.Local(), Mode: "compact", Sums: Sums{
			Sessions: 1, Native: 1000, Surface: 100, Calls: 8, Failed: 3, ToolErrors: 1,
			Searches: 1, Shown: 200, CacheHits: 1, Upstream: 9200, Delivered: 500, Read: 50,
		}},
		{Start: at.Add(15 * time.Minute).Local(), Mode: "native", Sums: Sums{Sessions: 1, Native: 100, Surface: 120, Calls: 1, Upstream: 100, Delivered: 100}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("periods (-want +got):\n%s", diff)
	}
	if saved := got[0].Saved(); saved != 1000-(100+200)+(9200-(500+50)) {
		t.Errorf("saved %d", saved)
	}
	if saved := got[1].Saved(); saved != -20 {
		t.Errorf("saved %d in native mode, want what read_result costs", saved)
	}
	sums, err := r.Sums(t.Context(), Filter{Session: "s1"})
	if err != nil {
		t.Fatal(err)
	}
	of := want[0].Sums
	of.Sessions, of.Native, of.Surface = 0, 0, 0
	if diff := cmp.Diff(of, sums); diff != "" {
		t.Errorf("sums of a session (-want +got):\n%s", diff)
	}
	if none, err := r.Sums(t.Context(), Filter{Session: "nobody's"}); err != nil || none != (Sums{}) {
		t.Errorf("sums of nothing: %+v, %v", none, err)
	}
	later, err := r.Periods(t.Context(), Filter{Since: at.Add(10 * time.Minute)})
	if err != nil || len(later) != 1 || later[0].Mode != "native" {
		t.Errorf("periods since: %+v, %v", later, err)
	}
}

func TestTools(t *testing.T) {
	path, _ := filled(t)
	got, err := reader(t, path).Tools(t.Context(), Filter{Session: "s1"})
	if err != nil {
		t.Fatal(err)
	}
	ms := time.Millisecond
	want := []ToolSum{
		{Server: "hub", Name: "issues", Calls: 5, Failed: 2, ToolErrors: 1, Upstream: 9200, Delivered: 500, Timed: 4, P50: 20 * ms, P95: time.Second, P99: time.Second, Max: time.Second},
		{Calls: 1, Failed: 1},
		{Server: "heddle", Name: "find_tool", Calls: 1, Delivered: 200, Timed: 1, P50: ms, P95: ms, P99: ms, Max: ms},
		{Server: "heddle", Name: "read_result", Calls: 1, Delivered: 50, Timed: 1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
}

// Ranks are the nearest: of 200 times of 1 to 200 ms the 95th percentile is the
// 190th.
func TestPercentiles(t *testing.T) {
	c := newClock()
	l := start(t, Options{Now: c.now}, "")
	for i := range 200 {
		row := Row{Time: c.now(), Server: "s", Name: "t", Form: heddle.FormExact, Upstream: 1000}
		c.advance(time.Duration((i*73)%200+1) * time.Millisecond) // in no order
		l.End(row)
	}
	l.mustFlush()
	got, err := reader(t, l.path).Tools(t.Context(), Filter{})
	if err != nil || len(got) != 1 {
		t.Fatalf("%d tools, %v", len(got), err)
	}
	text := fmt.Sprint(got[0].P50, got[0].P95, got[0].P99, got[0].Max)
	if want := "100ms190ms198ms200ms"; strings.ReplaceAll(text, " ", "") != want {
		t.Errorf("percentiles %s, want %s", text, want)
	}
}

func TestKindsAndForms(t *testing.T) {
	path, _ := filled(t)
	r := reader(t, path)
	kinds, err := r.Kinds(t.Context(), Filter{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]KindSum{{heddle.KindInvalidArguments, 1}, {heddle.KindTimeout, 1}, {heddle.KindUnknownTool, 1}}, kinds); diff != "" {
		t.Errorf("kinds (-want +got):\n%s", diff)
	}
	forms, err := r.Forms(t.Context(), Filter{Session: "s1"})
	if err != nil {
		t.Fatal(err)
	}
	ms := time.Millisecond
	want := []FormSum{
		{Calls: 3, Heddle: 0, Server: time.Second},
		{Form: heddle.FormExact, Calls: 2, Upstream: 200, Delivered: 200, Heddle: 38 * ms, Server: 2 * ms},
		{Form: heddle.FormOwn, Calls: 2, Delivered: 250, Heddle: ms},
		{Form: heddle.FormProjected, Calls: 1, Upstream: 9000, Delivered: 300, Heddle: 19 * ms, Server: ms},
	}
	if diff := cmp.Diff(want, forms); diff != "" {
		t.Errorf("forms (-want +got):\n%s", diff)
	}
	length, err := r.Length(t.Context(), Filter{Session: "s1"})
	if want := 10*ms + 20*ms + time.Second + ms + 30*ms; err != nil || length != want {
		t.Errorf("length %s, %v; want %s", length, err, want)
	}
	s, ok, err := r.LastSession(t.Context())
	if err != nil || !ok || s.ID != "s2" {
		t.Errorf("last session %+v, %v, %v", s, ok, err)
	}
}

func TestRecentAndAfter(t *testing.T) {
	path, _ := filled(t)
	r := reader(t, path)
	names := func(list []Entry, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for i, e := range list {
			out = append(out, e.Tool+":"+string(e.Kind))
			if i > 0 && e.ID <= list[i-1].ID {
				t.Errorf("entry %d behind %d", e.ID, list[i-1].ID)
			}
		}
		return strings.Join(out, " ")
	}
	for _, c := range []struct {
		got, want string
	}{
		{names(r.Recent(t.Context(), Filter{}, 2)), "hub_issues: hub_issues:"},
		{names(r.Recent(t.Context(), Filter{Server: "hub", Errors: true}, 10)), "hub_issues:invalid_arguments hub_issues:timeout hub_issues:"},
		{names(r.Recent(t.Context(), Filter{Server: "nobody"}, 10)), ""},
		{names(r.After(t.Context(), Filter{}, 4, 3)), "find_tool: read_result: hub_nothing:unknown_tool"},
		{names(r.After(t.Context(), Filter{}, 9, 3)), ""},
	} {
		if c.got != c.want {
			t.Errorf("entries: got %q, want %q", c.got, c.want)
		}
	}
	if !r.InPlace() {
		t.Error("the file is not in place")
	}
	if err := os.Rename(path, path+".old"); err != nil {
		t.Fatal(err)
	}
	if r.InPlace() {
		t.Error("a file that was moved is in place")
	}
}

// A file that a heddle is about to fill is as good as none; another program's is
// an error.
func TestOpenReaderOfNoLedger(t *testing.T) {
	dir := t.TempDir()
	empty, other := filepath.Join(dir, "empty.db"), filepath.Join(dir, "other.db")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", other)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), "CREATE TABLE x (y)"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]error{filepath.Join(dir, "none.db"): fs.ErrNotExist, empty: fs.ErrNotExist, other: errForeign} {
		if _, err := OpenReader(t.Context(), path); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", filepath.Base(path), err, want)
		}
	}
}

func TestQuery(t *testing.T) {
	path, _ := filled(t)
	r := reader(t, path)
	run := func(text string) (string, error) {
		var out []string
		err := r.Query(t.Context(), text, func(columns []string) error { out = append(out, fmt.Sprint(columns)); return nil },
			func(values []any) error { out = append(out, fmt.Sprintf("%v", values)); return nil })
		return strings.Join(out, " "), err
	}
	for text, want := range map[string]string{
		"SELECT kind, count(*) AS n FROM calls WHERE kind = 'timeout' GROUP BY kind": "[kind n] [timeout 1]",
		"/* ; */ -- ;\n select ';', 1.5, NULL, x'00' ; -- end":                       "[';' 1.5 NULL x'00'] [; 1.5 <nil> [0]]",
		"with a(b) as (values (9007199254740993)) select b from a;;":                 "[b] [9007199254740993]",
		"VALUES (1)": "[column1] [1]",
		`SELECT 1 AS "a;b", 2 AS [c;d]` + ", 3 AS `e;f` WHERE 0": "[a;b c;d e;f]",
	} {
		if got, err := run(text); err != nil || got != want {
			t.Errorf("%s: got %q, %v; want %q", text, got, err, want)
		}
	}
	out := filepath.Join(t.TempDir(), "out.db")
	for _, text := range []string{
		"", ";", "DELETE FROM calls", "insert into meta values ('a', 1)", "DROP TABLE calls", "PRAGMA query_only = 0", "ATTACH '" + out + "' AS x", "VACUUM INTO '" + out + "'",
		"SELECT 1; DROP TABLE calls", "SELECT 1;/**/PRAGMA query_only = 0; DELETE FROM calls", "select 1; select 2", "/* SELECT */ DELETE FROM calls", "BEGIN", "EXPLAIN SELECT 1",
		"WITH x AS (SELECT 1) DELETE FROM calls", "WITH x AS (SELECT 1) INSERT INTO meta VALUES ('a', 1) RETURNING *", "SELECTED", "\x00SELECT 1", "REPLACE INTO meta VALUES ('a', 1)",
	} {
		if got, err := run(text); !errors.Is(err, ErrNotSelect) {
			t.Errorf("%q: got %q, %v; want it refused", text, got, err)
		}
	}
	if _, err := run("SELECT nobody FROM calls"); err == nil || errors.Is(err, ErrNotSelect) || !strings.Contains(err.Error(), "no such column: nobody") {
		t.Errorf("a wrong column: %v", err)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a query has made a file")
	}
	if got := totals(t, path); got.Calls != 9 || got.Sessions != 2 {
		t.Errorf("after the queries the ledger has %+v", got)
	}
}

// FuzzOneSelect holds that the scanner gets through any text, and that what it
// passes has nothing but white space and comments before its first word.
func FuzzOneSelect(f *testing.F) {
	for _, seed := range []string{"SELECT 1", "SELECT ';'--;\n;", "WITH a AS (SELECT 1) DELETE FROM calls", "select 1;attach 'x' as y", "SELECT '", "SELECT /*;"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !oneSelect(text) {
			return
		}
		first := ""
		for i := 0; i < len(text); {
			n := token(text[i:])
			if n <= 0 {
				t.Fatalf("%q: no token at %d", text, i)
			}
			if part := text[i : i+n]; first == "" && !blank(part) {
				first = strings.ToUpper(part)
			}
			i += n
		}
		if first != "SELECT" && first != "WITH" && first != "VALUES" {
			t.Errorf("%q counts as a SELECT and begins with %q", text, first)
		}
	})
}
