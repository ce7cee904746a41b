package ledger

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"heddle"
)

// ToolSum is what the calls of one tool come to.
type ToolSum struct {
	// Server is the tool's; "heddle" for heddle's own tools, and "" with an empty
	// Name for all names that no tool was found by.
	Server, Name string
	// Calls, Failed and ToolErrors are as in [Sums].
	Calls, Failed, ToolErrors int64
	// Upstream is what the server answered and Delivered what the host got, in
	// tokens; of heddle's own tools all is delivered.
	Upstream, Delivered int64
	// Timed is the number of calls that somebody worked on: those that were refused
	// before are not in the times.
	Timed int64
	// P50, P95, P99 and Max are times from the call to its answer, by nearest rank.
	P50, P95, P99, Max time.Duration
}

// ownTool is the condition that the name in a row is of one of heddle's tools.
const ownTool = `(server = '' AND (tool IN ('find_tool', 'call_tool', 'read_result') OR tool LIKE 'mesh\_%' ESCAPE '\' OR tool LIKE 'loom\_%' ESCAPE '\'))`

// Tools sums up the calls by tool, those with most calls first.
func (r *Reader) Tools(ctx context.Context, f Filter) ([]ToolSum, error) {
	from, args := f.calls()
	query := fmt.Sprintf(`WITH named AS MATERIALIZED (SELECT
			CASE WHEN %[1]s THEN 'heddle' ELSE server END AS owner,
			CASE WHEN %[1]s THEN tool WHEN server <> '' THEN name ELSE '' END AS label,
			kind, is_error, total_us, upstream_us > 0 OR form = 'own' AS timed, upstream, delivered + shown + read AS delivered FROM %[2]s),
		ranked AS (SELECT owner, label, total_us, row_number() OVER (PARTITION BY owner, label ORDER BY total_us) AS i,
			count(*) OVER (PARTITION BY owner, label) AS n FROM named WHERE timed),
		times AS (SELECT owner, label, max(n) AS n, max(total_us) FILTER (WHERE i = (n * 50 + 99) / 100) AS p50,
			max(total_us) FILTER (WHERE i = (n * 95 + 99) / 100) AS p95,
			max(total_us) FILTER (WHERE i = (n * 99 + 99) / 100) AS p99, max(total_us) AS most FROM ranked GROUP BY owner, label),
		sums AS (SELECT owner, label, count(*) AS calls, sum(kind <> '') AS failed, sum(is_error) AS errors,
			sum(upstream) AS up, sum(delivered) AS down FROM named GROUP BY owner, label)
		SELECT owner, label, calls, failed, errors, up, down, COALESCE(n, 0), COALESCE(p50, 0), COALESCE(p95, 0), COALESCE(p99, 0), COALESCE(most, 0)
		FROM sums LEFT JOIN times USING (owner, label) ORDER BY calls DESC, owner, label`, ownTool, from)
	return collect(ctx, r.conn, query, args, func(rows *sql.Rows) (ToolSum, error) {
		var t ToolSum
		var up, down float64
		var us [4]int64
		err := rows.Scan(&t.Server, &t.Name, &t.Calls, &t.Failed, &t.ToolErrors, &up, &down, &t.Timed, &us[0], &us[1], &us[2], &us[3])
		t.Upstream, t.Delivered = int64(up+0.5), int64(down+0.5)
		for i, d := range []*time.Duration{&t.P50, &t.P95, &t.P99, &t.Max} {
			*d = time.Duration(us[i]) * time.Microsecond
		}
		return t, err
	})
}

// KindSum is how many calls were refused or failed for one reason.
type KindSum struct {
	Kind  heddle.Kind
	Calls int64
}

// Kinds counts the calls that were refused or failed by reason, the most frequent
// first.
func (r *Reader) Kinds(ctx context.Context, f Filter) ([]KindSum, error) {
	where, args := f.where()
	query := "SELECT kind, count(*) FROM calls WHERE kind <> '' AND " + where + " GROUP BY kind ORDER BY count(*) DESC, kind"
	return collect(ctx, r.conn, query, args, func(rows *sql.Rows) (KindSum, error) {
		var k KindSum
		err := rows.Scan(&k.Kind, &k.Calls)
		return k, err
	})
}

// FormSum is what the calls come to that were delivered in one form.
type FormSum struct {
	// Form is "" for calls that were refused or failed.
	Form  heddle.Form
	Calls int64
	// Upstream and Delivered are as in [ToolSum].
	Upstream, Delivered int64
	// Heddle is the time of the calls less that at their servers and that of
	// waiting for a place, Server that at their servers.
	Heddle, Server time.Duration
}

// Forms sums up the calls by the form in which they were delivered, the most
// frequent first.
func (r *Reader) Forms(ctx context.Context, f Filter) ([]FormSum, error) {
	from, args := f.calls()
	query := `SELECT CASE WHEN kind <> '' THEN '' ELSE form END AS how, count(*), sum(upstream), sum(delivered + shown + read),
		sum(max(0, total_us - upstream_us - queue_us)), sum(upstream_us) FROM ` + from + " GROUP BY how ORDER BY count(*) DESC, how"
	return collect(ctx, r.conn, query, args, func(rows *sql.Rows) (FormSum, error) {
		var s FormSum
		var up, down float64
		var own, server int64
		err := rows.Scan(&s.Form, &s.Calls, &up, &down, &own, &server)
		s.Upstream, s.Delivered = int64(up+0.5), int64(down+0.5)
		s.Heddle, s.Server = time.Duration(own)*time.Microsecond, time.Duration(server)*time.Microsecond
		return s, err
	})
}

// LastSession returns the session that called a tool last, or the one that
// started last if none did. ok is false if there is none at all.
func (r *Reader) LastSession(ctx context.Context) (s SessionRow, ok bool, err error) {
	query := "SELECT " + columnList(sessionColumns) + ` FROM sessions ORDER BY id = (
		SELECT session FROM calls WHERE session IN (SELECT id FROM sessions) ORDER BY calls.id DESC LIMIT 1) DESC, started DESC LIMIT 1`
	found, err := collect(ctx, r.conn, query, nil, scanSession)
	if err != nil || len(found) == 0 {
		return SessionRow{}, false, err
	}
	return found[0], true, nil
}

// Length returns from when to when the calls that the filter keeps took; zero if
// there are none.
func (r *Reader) Length(ctx context.Context, f Filter) (time.Duration, error) {
	where, args := f.where()
	var us int64
	query := "SELECT COALESCE(max(time + total_us) - min(time), 0) FROM calls WHERE " + where
	if err := r.conn.QueryRowContext(ctx, query, args...).Scan(&us); err != nil {
		return 0, fmt.Errorf("read ledger: %w", err)
	}
	return time.Duration(us) * time.Microsecond, nil
}
