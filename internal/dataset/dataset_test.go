//go:build unix

package dataset

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"heddle"
	"heddle/internal/capture"
	"heddle/internal/dataset/protocol"
	"heddle/internal/dataset/records"
)

// There is no process before the first dataset, and none after the end.
func TestWorkerComesAndGoes(t *testing.T) {
	dir := t.TempDir()
	r := newRig(t, Options{TempDir: dir})
	if st := r.Status(); st.Workers != 0 || st.Lacks != "" {
		t.Errorf("before the first dataset: %+v", st)
	}
	sets := r.add(t, heddle.Local, issues(100))
	if sets[0].Ref != "list_issues_1" || sets[0].Profile.Rows != 100 {
		t.Errorf("dataset %s of %d rows, want list_issues_1 of 100", sets[0].Ref, sets[0].Profile.Rows)
	}
	if st := r.Status(); st.Workers != 1 || st.Datasets != 1 || !strings.HasPrefix(st.Engine, "DuckDB") {
		t.Errorf("with one: %+v", st)
	}
	pid := r.pid(heddle.Local)
	r.Close()
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("worker %d after Close: %v, want no such process", pid, err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestQuery(t *testing.T) {
	r := newRig(t, Options{})
	r.add(t, heddle.Local, `{"total":99,"items":`+issues(30)+`,"users":[{"login":"user0","name":"A"},{"login":"user1","name":"B"},{"login":"user2","name":"C"},{"login":"user3","name":"D"},{"login":"user4","name":"E"}]}`)
	for _, tt := range []struct{ sql, want string }{
		{"SELECT state, count(*) AS n FROM list_issues_1 GROUP BY ALL ORDER BY n", "state\tn\nclosed\t10\nopen\t20"},
		{`SELECT u.name, count(*) AS n FROM list_issues_1 i JOIN list_issues_1_users u ON u.login = i."user.login" GROUP BY ALL ORDER BY name LIMIT 2`, "name\tn\nA\t5\nB\t5"},
		{"SELECT max(big) FROM list_issues_1", "max(big)\n9007199254741022"},
		{"SELECT name, rows FROM datasets ORDER BY name", "name\trows\nlist_issues_1\t30\nlist_issues_1_users\t5"},
		{"SELECT count(*) AS n FROM (SHOW TABLES) WHERE name LIKE 'list%'", "n\n2"},
	} {
		if got := r.rows(t, heddle.Local, tt.sql); got != tt.want {
			t.Errorf("%s\n got %q\nwant %q", tt.sql, got, tt.want)
		}
	}
	said := r.refused(t, t.Context(), Query{SQL: "SELECT * FROM nope"}, heddle.KindInvalidQuery)
	if !strings.Contains(said, "list_issues_1_users") {
		t.Errorf("an unknown table: %s, want the names that there are", said)
	}
	for _, sql := range []string{"DROP TABLE list_issues_1", "SELECT 1; SELECT 2", "SELECT * FROM read_text('/etc/hostname')", "", ";", "--"} {
		if said := r.refused(t, t.Context(), Query{SQL: sql}, heddle.KindInvalidQuery); len(said) < 20 {
			t.Errorf("%q is refused with %q", sql, said)
		}
	}
	if d, err := r.Get(t.Context(), heddle.Local, "LIST_Issues_1"); err != nil || d.Ref != "list_issues_1" {
		t.Errorf("a name in another case: %v, %v", d, err)
	}
	if _, err := r.Get(t.Context(), "mallory", "list_issues_1"); err == nil {
		t.Error("another principal finds the dataset")
	}
	if said := r.refused(t, t.Context(), Query{SQL: "SELECT 1", SaveAs: "x"}, heddle.KindInvalidArguments); !strings.Contains(said, "state directory") {
		t.Errorf("saving without a state directory: %s", said)
	}
}

// What a query returns beyond what fits becomes a dataset, which its capture has.
func TestLargeResult(t *testing.T) {
	r := newRig(t, Options{})
	r.add(t, heddle.Local, issues(5000))
	a, err := r.Query(t.Context(), heddle.Local, Query{SQL: "SELECT id, big, state FROM list_issues_1 ORDER BY id DESC", Inline: 9 << 10, Name: "query", Sample: 2})
	if err != nil {
		t.Fatal(err)
	}
	d := a.Dataset
	if d == nil || d.Ref != "query_1" || d.Profile.Rows != 5000 || !d.Implicit || len(d.Profile.Sample) != 2 {
		t.Fatalf("dataset %+v, want query_1 of 5000 rows", d)
	}
	c, err := r.captures.Get(heddle.Local, "query_1")
	if err != nil {
		t.Fatal(err)
	}
	b, _ := c.Bytes()
	if lines := strings.Count(string(b), "\n"); lines != 5001 || !strings.Contains(string(b), "9007199254745992") {
		t.Errorf("captured %d lines, want 5001 with exact numbers: %.200s", lines, b)
	}
	syscall.Kill(r.pid(heddle.Local), syscall.SIGKILL) // it is made again with its types
	if got, want := r.rows(t, heddle.Local, "SELECT typeof(big), max(big) - 1 AS m FROM query_1 GROUP BY 1"), "typeof(big)\tm\nBIGINT\t9007199254745991"; got != want {
		t.Errorf("after the worker's death: %q, want %q", got, want)
	}
}

// A worker's death costs nobody's query but the one that caused it.
func TestDeath(t *testing.T) {
	r := newRig(t, Options{})
	r.add(t, heddle.Local, issues(200))
	r.add(t, "other", issues(100))
	first, others := r.pid(heddle.Local), r.pid("other")
	if first == 0 || first == others {
		t.Fatalf("workers %d and %d, want two", first, others)
	}
	if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if got := r.rows(t, heddle.Local, "SELECT count(*) AS n FROM list_issues_1"); got != "n\n200" {
		t.Errorf("after the death: %q, want 200", got)
	}
	if r.again() != 1 {
		t.Errorf("records were found again %d times, want once", r.again())
	}
	if got := r.rows(t, "other", "SELECT count(*) AS n FROM list_issues_2"); got != "n\n100" || r.pid("other") != others {
		t.Errorf("the other principal: %q from process %d, want 100 from %d", got, r.pid("other"), others)
	}
}

// A query past its time is gone a second later, whatever it does, and the next one
// finds everything.
func TestTimeout(t *testing.T) {
	r := newRig(t, Options{Timeout: 500 * time.Millisecond})
	r.add(t, heddle.Local, issues(200))
	for _, sql := range []string{
		"SELECT count(*) FROM range(1000000) a, range(1000000) b WHERE a.range + b.range < 0",
		"SELECT sum(levenshtein(repeat(state, 4000), repeat(state, 3999) || 'x')) FROM list_issues_1",
	} {
		begun := time.Now()
		said := r.refused(t, t.Context(), Query{SQL: sql}, heddle.KindTimeout)
		if took := time.Since(begun); took > 4*time.Second { // half a second, a second, and a busy machine
			t.Errorf("%s: gone after %v", sql, took)
		}
		if !strings.Contains(said, "500ms") {
			t.Errorf("%s: %s, want the limit named", sql, said)
		}
	}
	if got := r.rows(t, heddle.Local, "SELECT count(*) AS n FROM list_issues_1"); got != "n\n200" {
		t.Errorf("the next query: %q", got)
	}
}

// A call that its host cancels ends its query.
func TestCancel(t *testing.T) {
	r := newRig(t, Options{})
	r.add(t, heddle.Local, issues(10))
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	begun := time.Now()
	r.refused(t, ctx, Query{SQL: "SELECT count(*) FROM range(1000000) a, range(1000000) b WHERE a.range + b.range < 0"}, heddle.KindCancelled)
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("cancelled after %v", took)
	}
	if got := r.rows(t, heddle.Local, "SELECT count(*) AS n FROM list_issues_1"); got != "n\n10" {
		t.Errorf("the next query: %q", got)
	}
}

// Pinned datasets are there after a restart, with their types and where they came
// from, and are never overwritten.
func TestPins(t *testing.T) {
	state := t.TempDir()
	r := newRig(t, Options{StateDir: state})
	r.add(t, heddle.Local, issues(50))
	sql := `SELECT id, big, DATE '2026-01-01' + id::INT AS day, 1.10::DECIMAL(10,2) AS price, [1, 2] AS list, {'a': 1} AS obj, NULL AS nothing,
		'tab	and "quote"' AS txt, TIMESTAMP '2026-01-01 12:00:00' AS ts, uuid() AS u FROM list_issues_1 ORDER BY id`
	a, err := r.Query(t.Context(), heddle.Local, Query{SQL: sql, SaveAs: "kept", Sample: 2})
	if err != nil {
		t.Fatal(err)
	}
	if !a.Dataset.Pinned || a.Dataset.Ref != "kept" || a.Dataset.Profile.Rows != 50 {
		t.Fatalf("saved as %+v", a.Dataset)
	}
	want := r.rows(t, heddle.Local, "SELECT * FROM kept LIMIT 3") + r.rows(t, heddle.Local, "DESCRIBE kept")
	said := r.refused(t, t.Context(), Query{SQL: "SELECT 1", SaveAs: "kept"}, heddle.KindInvalidArguments)
	if !strings.Contains(said, "nothing is overwritten") {
		t.Errorf("saving once more: %s", said)
	}
	for _, bad := range []string{"Kept", "a b", "1a", "datasets", "result", "../x", strings.Repeat("x", 64)} {
		r.refused(t, t.Context(), Query{SQL: "SELECT 1", SaveAs: bad}, heddle.KindInvalidArguments)
	}
	r.Close()

	again := newRig(t, Options{StateDir: state})
	if got := again.rows(t, heddle.Local, "SELECT * FROM kept LIMIT 3") + again.rows(t, heddle.Local, "DESCRIBE kept"); got != want {
		t.Errorf("after a restart\n got %s\nwant %s", got, want)
	}
	d, err := again.Get(t.Context(), heddle.Local, "kept")
	if err != nil || !strings.Contains(d.Provenance.SQL, "DECIMAL") {
		t.Errorf("provenance after a restart: %+v, %v", d, err)
	}
	if all := again.List(t.Context(), "other"); len(all) != 0 {
		t.Errorf("another principal sees %d pinned datasets", len(all))
	}
	info, err := os.Stat(filepath.Dir(d.path(again)))
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("directory of pinned datasets: %v, %v, want 0700", info, err)
	}
	// A file that is damaged costs itself alone, and stays.
	if err := os.WriteFile(d.path(again), []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	third := newRig(t, Options{StateDir: state})
	if _, err := third.Get(t.Context(), heddle.Local, "kept"); err == nil {
		t.Error("a damaged file is a dataset")
	}
	if b, _ := os.ReadFile(d.path(again)); string(b) != "damaged" {
		t.Error("a damaged file was changed")
	}
}

// path is the file of a pinned dataset.
func (d *Dataset) path(r *rig) string {
	o, _ := r.owner(heddle.Local)
	return o.pinPath(d.Ref)
}

func TestExport(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "exports")
	r := newRig(t, Options{ExportDir: dir})
	r.add(t, heddle.Local, `[{"a":1,"b":"x,\"y\""},{"a":null,"b":"line\nbreak"},{"a":3,"b":""}]`)
	x, err := r.Export(t.Context(), heddle.Local, "SELECT * FROM list_issues_1", "csv", "out.csv")
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(dir, "out.csv"); x.Path != want || x.Rows != 3 {
		t.Errorf("exported %+v, want 3 rows in %s", x, want)
	}
	b, _ := os.ReadFile(x.Path)
	if want := "a,b\n1,\"x,\"\"y\"\"\"\n,\"line\nbreak\"\n3,\"\"\n"; strings.ReplaceAll(string(b), "\r\n", "\n") != want {
		t.Errorf("csv %q, want %q", b, want)
	}
	if x, err = r.Export(t.Context(), heddle.Local, "SELECT * FROM list_issues_1", "csv", "out.csv"); err != nil || x.Path != filepath.Join(dir, "out-2.csv") {
		t.Errorf("once more: %+v, %v, want out-2.csv", x, err)
	}
	if x, err = r.Export(t.Context(), heddle.Local, "SELECT * FROM list_issues_1", "json", ""); err != nil {
		t.Fatal(err)
	}
	b, _ = os.ReadFile(x.Path)
	var rows []map[string]any
	if err := json.Unmarshal(b, &rows); err != nil || len(rows) != 3 || rows[0]["a"] != 1.0 || rows[1]["a"] != nil {
		t.Errorf("json %s: %v", b, err)
	}
	for _, name := range []string{"../x.csv", "/tmp/x.csv", "a/b.csv", ".hidden", "a\x00b"} {
		if _, err := r.Export(t.Context(), heddle.Local, "SELECT 1", "csv", name); heddle.KindOf(err) != heddle.KindInvalidArguments {
			t.Errorf("exporting to %q: %v", name, err)
		}
	}
	if _, err := r.Export(t.Context(), heddle.Local, "SELECT 1", "xlsx", ""); heddle.KindOf(err) != heddle.KindInvalidArguments {
		t.Errorf("another format: %v", err)
	}
}

// Tables are unloaded when they take more than their share, and loaded again when a
// query names them; none is lost.
func TestRoom(t *testing.T) {
	r := newRig(t, Options{Memory: 64 << 20})
	n := 60
	for range n {
		r.add(t, heddle.Local, issues(12000))
	}
	o, _ := r.owner(heddle.Local)
	loaded, bytes := o.loaded()
	if loaded == n || bytes > r.share() {
		t.Errorf("%d of %d tables of %d bytes are loaded, want some unloaded and at most %d bytes", loaded, n, bytes, r.share())
	}
	for i := 1; i <= n; i += 7 {
		if got := r.rows(t, heddle.Local, fmt.Sprintf("SELECT count(*) AS n FROM list_issues_%d", i)); got != "n\n12000" {
			t.Errorf("list_issues_%d: %q", i, got)
		}
	}
	if r.again() == 0 {
		t.Error("no table was loaded again")
	}
}

// loaded is how many tables the worker has, and how large they are.
func (o *owner) loaded() (n int, bytes int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, d := range o.sets {
		if d.in != nil && d.in == o.worker {
			n++
			bytes += d.Profile.Bytes
		}
	}
	return n, bytes
}

// A dataset whose capture is gone says what to call again.
func TestExpired(t *testing.T) {
	r := newRig(t, Options{})
	r.add(t, heddle.Local, issues(100))
	r.captures.Drop(heddle.Local, "list_issues_1")
	if got := r.rows(t, heddle.Local, "SELECT count(*) AS n FROM list_issues_1"); got != "n\n100" {
		t.Errorf("while it is loaded: %q", got)
	}
	syscall.Kill(r.pid(heddle.Local), syscall.SIGKILL)
	_, err := r.Query(t.Context(), heddle.Local, Query{SQL: "SELECT * FROM list_issues_1", Inline: 100})
	var gone *capture.Gone
	if heddle.KindOf(err) != heddle.KindResultExpired || !errors.As(err, &gone) || gone.Tool != list {
		t.Errorf("after it is gone: %v", err)
	}
}

// Many results at once, with queries between them: no row is lost.
func TestSideBySide(t *testing.T) {
	r := newRig(t, Options{})
	r.add(t, heddle.Local, issues(10))
	var all sync.WaitGroup
	for i := range 30 {
		all.Go(func() { r.add(t, heddle.Local, issues(100+i)) })
		all.Go(func() {
			if got := r.rows(t, heddle.Local, "SELECT count(*) AS n FROM list_issues_1"); got != "n\n10" {
				t.Errorf("meanwhile: %q", got)
			}
		})
	}
	all.Wait()
	if got, want := r.rows(t, heddle.Local, "SELECT count(*) AS n, sum(rows)::BIGINT AS s FROM datasets"), "n\ts\n31\t3445"; got != want {
		t.Errorf("in the end %q, want %q", got, want)
	}
}

func TestNoWorker(t *testing.T) {
	s := New(Options{})
	_, err := s.Query(t.Context(), heddle.Local, Query{SQL: "SELECT 1"})
	if s.Available() || heddle.KindOf(err) != heddle.KindUnavailable || !strings.Contains(err.Error(), "heddle-sql was found neither") {
		t.Errorf("without a worker: available %v, %v", s.Available(), err)
	}
	broken := New(Options{Command: "/bin/false", TempDir: t.TempDir()})
	if _, err := broken.Query(t.Context(), heddle.Local, Query{SQL: "SELECT 1"}); heddle.KindOf(err) != heddle.KindUnavailable {
		t.Errorf("a worker that does not start: %v", err)
	}
	if st := broken.Status(); broken.Available() || !strings.Contains(st.Lacks, "does not start") {
		t.Errorf("after it: available %v, %+v", broken.Available(), st)
	}
	broken.Close()
	without := New(Options{Command: "/bin/false"})
	without.Check(t.Context())
	if without.Available() {
		t.Error("a worker of no use is offered")
	}
}

func TestProvenance(t *testing.T) {
	args := json.RawMessage(`{"q":"x","access_token":"s1","nested":{"apiKey":"s2","list":[{"Password":"s3","n":1}]},"path":"/private","long":"` + strings.Repeat("é", 300) + `"}`)
	got := string(Of(list, args, []string{"PATH"}, time.Time{}).Args)
	want := `{"q":"x","access_token":"[redacted]","nested":{"apiKey":"[redacted]","list":[{"Password":"[redacted]","n":1}]},"path":"[omitted]","long":"` + strings.Repeat("é", 200) + `…"}`
	if got != want {
		t.Errorf("redacted\n got %s\nwant %s", got, want)
	}
	deep := json.RawMessage(strings.Repeat("[", 100) + strings.Repeat("]", 100))
	if got := Of(list, deep, nil, time.Time{}).Args; !json.Valid(got) || !strings.Contains(string(got), "omitted") {
		t.Errorf("deep arguments: %s", got)
	}
}

// A worker that says nothing, or leaves a child behind that holds its pipes, costs its
// start once and nothing hangs.
func TestWorkerThatIsNone(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "heddle-sql")
	if err := os.WriteFile(path, []byte("#!/bin/sh\nsleep 1000 &\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	s := New(Options{Command: path, TempDir: dir})
	begun := time.Now()
	if _, err := s.Query(t.Context(), heddle.Local, Query{SQL: "SELECT 1"}); heddle.KindOf(err) != heddle.KindUnavailable {
		t.Errorf("with a worker that is none: %v", err)
	}
	if took := time.Since(begun); took > startWait+5*time.Second || s.Available() {
		t.Errorf("it took %v; available %v", took, s.Available())
	}
	s.Close()
	if left, _ := filepath.Glob(filepath.Join(dir, dirPrefix+"*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// What killed heddles left goes with the next start; what is no file is no dataset.
func TestLeftovers(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	old := filepath.Join(dir, dirPrefix+"999999999-x")
	if err := os.Mkdir(old, 0o700); err != nil {
		t.Fatal(err)
	}
	r := newRig(t, Options{TempDir: dir, StateDir: state})
	r.Check(t.Context())
	if _, err := os.Stat(old); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is still there: %v", old, err)
	}
	o, err := r.owner(heddle.Local)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(o.pinsDir(), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(o.pinPath("pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := r.List(t.Context(), heddle.Local); len(got) != 0 {
		t.Errorf("a pipe is a dataset: %v", got)
	}
}

// What a tool returns does not wait for queries, however many run; a query that does
// says so.
func TestQueriesDoNotBlockResults(t *testing.T) {
	r := newRig(t, Options{Timeout: 3 * time.Second})
	r.add(t, heddle.Local, issues(10))
	var all sync.WaitGroup
	for range 12 {
		all.Go(func() {
			_, err := r.Query(t.Context(), heddle.Local, Query{SQL: "SELECT count(*) FROM range(1000000) a, range(1000000) b WHERE a.range + b.range < 0", Inline: 100})
			if heddle.KindOf(err) != heddle.KindTimeout {
				t.Errorf("an endless query: %v", err)
			}
		})
	}
	begun := time.Now()
	r.add(t, heddle.Local, issues(100))
	if took := time.Since(begun); took > 2500*time.Millisecond {
		t.Errorf("a result waited %v for queries", took)
	}
	all.Wait()
	said := r.refused(t, t.Context(), Query{SQL: "SELECT 'sk-live-0123456789'::INT"}, heddle.KindInvalidQuery)
	if strings.Contains(said, "sk-live") {
		t.Errorf("an error repeats a value: %s", said)
	}
}

// A table that no worker could have costs the others nothing.
func TestTooWideCostsNoWorker(t *testing.T) {
	r := newRig(t, Options{})
	r.add(t, heddle.Local, issues(10))
	pid := r.pid(heddle.Local)
	var row strings.Builder
	for i := range protocol.MaxColumns + 1 {
		fmt.Fprintf(&row, `,"c%d":%d`, i, i)
	}
	data := []byte("[{" + row.String()[1:] + "},{" + row.String()[1:] + "}]")
	table := records.Table{Form: records.FormArray, Path: "$", Source: "text", Count: 2, Data: data}
	_, err := r.Add(t.Context(), heddle.Local, Input{Name: "wide", Tables: []records.Table{table}})
	if heddle.KindOf(err) != heddle.KindResultTooLarge || r.pid(heddle.Local) != pid {
		t.Errorf("%v, and process %d where it was %d", err, r.pid(heddle.Local), pid)
	}
}

// A pinned dataset may have the name that a result would get; both are kept.
func TestNameOfAResultIsTaken(t *testing.T) {
	r := newRig(t, Options{StateDir: t.TempDir()})
	r.add(t, heddle.Local, issues(10))
	if _, err := r.Query(t.Context(), heddle.Local, Query{SQL: "SELECT 7 AS seven", SaveAs: "list_issues_2"}); err != nil {
		t.Fatal(err)
	}
	if got := r.add(t, heddle.Local, issues(20))[0]; got.Ref != "list_issues_2_2" || got.Capture != "list_issues_2" {
		t.Errorf("the result is called %s, in capture %s", got.Ref, got.Capture)
	}
	if got := r.rows(t, heddle.Local, "SELECT seven, (SELECT count(*) FROM list_issues_2_2) AS n FROM list_issues_2"); got != "seven\tn\n7\t20" {
		t.Errorf("both: %q", got)
	}
}

// What a query kept in a worker that is gone is not what another one kept under the
// same name.
func TestKeptInAWorkerThatIsGone(t *testing.T) {
	r := newRig(t, Options{})
	r.add(t, heddle.Local, issues(10))
	o, err := r.owner(heddle.Local)
	if err != nil {
		t.Fatal(err)
	}
	ask := func(sql string) (protocol.Reply, []byte, *worker) {
		t.Helper()
		reply, payload, by, err := o.with(t.Context(), nil, protocol.Request{Query: &protocol.Query{SQL: sql, Inline: 10}})
		if err != nil || reply.Result.Kept == "" {
			t.Fatalf("%s: %+v, %v", sql, reply, err)
		}
		return reply, payload, by
	}
	first, rows, by := ask("SELECT range AS n FROM range(1000)")
	syscall.Kill(r.pid(heddle.Local), syscall.SIGKILL)
	<-by.dead
	second, _, _ := ask("SELECT range AS n FROM range(2000)")
	if first.Result.Kept != second.Result.Kept {
		t.Fatalf("kept as %s and %s, want the same name", first.Result.Kept, second.Result.Kept)
	}
	d, err := o.keep(t.Context(), by, Query{SQL: "…", Name: "query"}, first.Result, rows)
	if err != nil {
		t.Fatal(err)
	}
	if got := r.rows(t, heddle.Local, "SELECT count(*) AS n FROM "+d.Ref); got != "n\n1000" {
		t.Errorf("what the first kept has %q, want 1000 rows", got)
	}
}

// Queries that list the datasets do not get in each other's way.
func TestListingsSideBySide(t *testing.T) {
	r := newRig(t, Options{})
	r.add(t, heddle.Local, issues(10))
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if got := r.rows(t, heddle.Local, "SELECT count(*) AS n FROM datasets"); got != "n\n1" {
				t.Errorf("datasets: %q", got)
			}
		})
	}
	all.Wait()
}
