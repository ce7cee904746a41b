package ledger

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"slices"
)

// Entry is a call as it stands in the file.
type Entry struct {
	// ID grows with every call that is written; calls that run side by side are
	// written as they end.
	ID int64
	Row
}

// Recent returns the last n calls that the filter keeps, oldest first.
func (r *Reader) Recent(ctx context.Context, f Filter, n int) ([]Entry, error) {
	where, args := f.where()
	out, err := r.entries(ctx, where+" ORDER BY id DESC LIMIT ?", append(args, n))
	slices.Reverse(out)
	return out, err
}

// After returns the first n calls that the filter keeps of those written after the
// one with that id, oldest first.
func (r *Reader) After(ctx context.Context, f Filter, id int64, n int) ([]Entry, error) {
	where, args := f.where()
	return r.entries(ctx, where+" AND id > ? ORDER BY id LIMIT ?", append(args, id, n))
}

func (r *Reader) entries(ctx context.Context, rest string, args []any) ([]Entry, error) {
	query := "SELECT " + columnList(callColumns) + ",id FROM calls WHERE " + rest
	return collect(ctx, r.conn, query, args, func(rows *sql.Rows) (e Entry, err error) {
		e.Row, err = scanCall(rows, &e.ID)
		return e, err
	})
}

// InPlace reports whether the file that is read is still the one at its path. If
// it was deleted, heddles that run write to a new one.
func (r *Reader) InPlace() bool {
	now, err := os.Stat(r.path)
	return err == nil && os.SameFile(now, r.file)
}

// LastID returns the id of the call that was written last; 0 if there is none.
func (r *Reader) LastID(ctx context.Context) (id int64, err error) {
	if err := r.conn.QueryRowContext(ctx, "SELECT COALESCE(max(id), 0) FROM calls").Scan(&id); err != nil {
		return 0, fmt.Errorf("read ledger: %w", err)
	}
	return id, nil
}
