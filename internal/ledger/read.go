package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
)

// Reader reads a ledger while others write to it. Use it from one goroutine at a
// time and close it.
type Reader struct {
	db   *sql.DB
	conn *sql.Conn
}

// OpenReader opens the ledger at path for reading. The error wraps
// [fs.ErrNotExist] if no call has been recorded there yet.
func OpenReader(ctx context.Context, path string) (*Reader, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("read ledger: %w", err)
	}
	db, conn, err := connect(ctx, path, "ro")
	if err != nil {
		return nil, fmt.Errorf("read ledger: %w", err)
	}
	return &Reader{db: db, conn: conn}, nil
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
	return list(ctx, r.conn, "SELECT "+strings.Join(callColumns, ",")+" FROM calls ORDER BY id DESC LIMIT ?", n, scanCall)
}

// Sessions returns the n sessions that started last, newest first.
func (r *Reader) Sessions(ctx context.Context, n int) ([]SessionRow, error) {
	return list(ctx, r.conn, "SELECT "+strings.Join(sessionColumns, ",")+" FROM sessions ORDER BY started DESC LIMIT ?", n, scanSession)
}

// Close closes the file.
func (r *Reader) Close() error { return errors.Join(r.conn.Close(), r.db.Close()) }

func list[T any](ctx context.Context, conn *sql.Conn, query string, n int, scan func(*sql.Rows) (T, error)) ([]T, error) {
	rows, err := conn.QueryContext(ctx, query, n)
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
