package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Reader reads a ledger while others write to it. Use it from one goroutine at a
// time and close it.
type Reader struct {
	path string
	file os.FileInfo
	db   *sql.DB
	conn *sql.Conn
}

// OpenReader opens the ledger at path for reading. The error wraps
// [fs.ErrNotExist] if no call has been recorded there yet.
func OpenReader(ctx context.Context, path string) (*Reader, error) {
	file, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read ledger: %w", err)
	}
	db, conn, err := connect(ctx, path, "ro")
	if err != nil {
		return nil, fmt.Errorf("read ledger: %w", err)
	}
	r := &Reader{path: path, file: file, db: db, conn: conn}
	if err := r.check(ctx); err != nil {
		_ = r.Close()
		return nil, fmt.Errorf("read ledger: %w", err)
	}
	return r, nil
}

// check refuses another program's file, and lets this connection change nothing:
// not the file, and no other by attaching it.
func (r *Reader) check(ctx context.Context) error {
	if _, err := r.conn.ExecContext(ctx, "PRAGMA query_only = 1"); err != nil {
		return err
	}
	if _, err := sqlite.Limit(r.conn, sqlite3.SQLITE_LIMIT_ATTACHED, 0); err != nil {
		return err
	}
	var app, objects int
	err := r.conn.QueryRowContext(ctx, `SELECT application_id, (SELECT count(*) FROM sqlite_schema) FROM pragma_application_id`).Scan(&app, &objects)
	switch {
	case err != nil:
		return err
	case app == 0 && objects == 0: // created, and its tables are still to come
		return fs.ErrNotExist
	case app != applicationID:
		return errForeign
	}
	return nil
}

// Totals are what a ledger holds.
type Totals struct {
	// Calls is the number of calls; Failed those of them with a kind of failure.
	Calls, Failed int64
	// Sessions is the number of sessions.
	Sessions int64
}

// Totals counts the rows.
func (r *Reader) Totals(ctx context.Context) (Totals, error) {
	var t Totals
	err := r.conn.QueryRowContext(ctx, `SELECT count(*), count(*) FILTER (WHERE kind <> ''),
		(SELECT count(*) FROM sessions) FROM calls`).Scan(&t.Calls, &t.Failed, &t.Sessions)
	if err != nil {
		return Totals{}, fmt.Errorf("read ledger: %w", err)
	}
	return t, nil
}

// Calls returns the last n calls that were recorded, newest first.
func (r *Reader) Calls(ctx context.Context, n int) ([]Row, error) {
	return collect(ctx, r.conn, "SELECT "+columnList(callColumns)+" FROM calls ORDER BY id DESC LIMIT ?", []any{n}, func(rows *sql.Rows) (Row, error) { return scanCall(rows) })
}

// Sessions returns the n sessions that started last, newest first.
func (r *Reader) Sessions(ctx context.Context, n int) ([]SessionRow, error) {
	return collect(ctx, r.conn, "SELECT "+columnList(sessionColumns)+" FROM sessions ORDER BY started DESC LIMIT ?", []any{n}, scanSession)
}

// Close closes the file.
func (r *Reader) Close() error { return errors.Join(r.conn.Close(), r.db.Close()) }

func columnList(columns []string) string { return strings.Join(columns, ",") }

// collect returns what scan makes of each row.
func collect[T any](ctx context.Context, conn *sql.Conn, query string, args []any, scan func(*sql.Rows) (T, error)) ([]T, error) {
	rows, err := conn.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("read ledger: %w", err)
	}
	defer rows.Close()
	var out []T
	for rows.Next() {
		x, err := scan(rows)
		if err != nil {
			return nil, fmt.Errorf("read ledger: %w", err)
		}
		out = append(out, x)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read ledger: %w", err)
	}
	return out, nil
}
