package ledger

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// pragmas are those of every connection that writes. The cache is small because
// the ledger only appends; without the mapping, memory stays what the cache is.
// Under WAL, NORMAL loses the last transactions in a power cut, never the file.
const pragmas = `
	PRAGMA journal_mode = WAL;
	PRAGMA synchronous = NORMAL;
	PRAGMA cache_size = -512;
	PRAGMA mmap_size = 0;
	PRAGMA journal_size_limit = 4194304;
`

// lockWait goes before everything else, reading included: how many milliseconds
// SQLite waits for a lock that another process holds.
const lockWait = `PRAGMA busy_timeout = 500`

const applicationID = 0x68656464

const (
	rowsPerInsert = 32 // more is not faster
	rowsPerPrune  = 512
	pruneEvery    = 24 * time.Hour
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

var (
	errNewer   = errors.New("the file was written by a newer heddle")
	errForeign = errors.New("the file is another program's database")
)

// store is an open file: one connection, used by one goroutine.
type store struct {
	path    string
	file    os.FileInfo
	version int
	db      *sql.DB
	conn    *sql.Conn
	one     *sql.Stmt
	many    *sql.Stmt
	session *sql.Stmt
	args    []any
	mask    masking
}

// open opens or creates the file and brings its schema up to date. A file that
// is not a ledger, or a newer one, is not changed.
func open(ctx context.Context, path, tune string) (_ *store, err error) {
	if err := create(path); err != nil {
		return nil, err
	}
	s := &store{path: path}
	defer func() {
		if err != nil {
			s.close()
			err = fmt.Errorf("open ledger: %w", err)
		}
	}()
	if s.file, err = os.Stat(path); err != nil {
		return nil, err
	}
	if s.db, s.conn, err = connect(ctx, path, "rw"); err != nil {
		return nil, err
	}
	steps, err := migrations()
	if err != nil {
		return nil, err
	}
	s.version = len(steps)
	// Before the pragmas: to switch on WAL is to write to the file.
	if _, err = s.check(ctx); err != nil {
		return nil, err
	}
	if _, err = s.conn.ExecContext(ctx, pragmas+tune); err != nil {
		return nil, err
	}
	if err = s.migrate(ctx, steps); err != nil {
		return nil, err
	}
	return s, s.prepare(ctx)
}

// create makes the directory and an empty file for the owner alone. A file that
// exists is not even opened: closing it again would drop the locks that other
// connections of this process hold on it.
func create(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// connect opens one connection, which waits for locks. Mode is SQLite's: ro, rw.
func connect(ctx context.Context, path, mode string) (*sql.DB, *sql.Conn, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, nil, err
	}
	abs = filepath.ToSlash(abs)
	if !strings.HasPrefix(abs, "/") {
		abs = "/" + abs // file:///C:/…
	}
	dsn := url.URL{Scheme: "file", Path: abs, RawQuery: "mode=" + mode}
	db, err := sql.Open("sqlite", dsn.String())
	if err != nil {
		return nil, nil, err
	}
	db.SetMaxOpenConns(1)
	conn, err := db.Conn(ctx)
	if err == nil {
		if _, err = conn.ExecContext(ctx, lockWait); err == nil {
			return db, conn, nil
		}
		conn.Close()
	}
	db.Close()
	return nil, nil, err
}

// check returns the file's schema version, or an error if the file is not to be
// written.
func (s *store) check(ctx context.Context) (int, error) {
	var version, app, objects int
	err := s.conn.QueryRowContext(ctx, `SELECT user_version, application_id,
		(SELECT count(*) FROM sqlite_schema) FROM pragma_user_version, pragma_application_id`).
		Scan(&version, &app, &objects)
	switch {
	case err != nil:
		return 0, err
	case app != applicationID && (app != 0 || version != 0 || objects != 0):
		return 0, errForeign
	case version > s.version:
		return 0, errNewer
	}
	return version, nil
}

// migrations returns the steps in order; the n-th leads to schema version n.
func migrations() ([]string, error) {
	names, err := fs.Glob(migrationFiles, "migrations/*.sql") // sorted
	if err != nil {
		return nil, err
	}
	steps := make([]string, len(names))
	for i, name := range names {
		b, err := migrationFiles.ReadFile(name)
		if err != nil {
			return nil, err
		}
		steps[i] = string(b)
	}
	return steps, nil
}

// migrate takes the steps that the file lacks, each in a transaction.
func (s *store) migrate(ctx context.Context, steps []string) error {
	for {
		version, err := s.check(ctx)
		if err != nil || version == len(steps) {
			return err
		}
		err = s.transact(ctx, func() error {
			// Another process may have taken this step while we waited for the lock.
			if now, err := s.check(ctx); err != nil || now != version {
				return err
			}
			_, err := s.conn.ExecContext(ctx, fmt.Sprintf("%s;\nPRAGMA user_version = %d", steps[version], version+1))
			return err
		})
		if err != nil {
			return fmt.Errorf("migrate to version %d: %w", version+1, err)
		}
	}
}

// transact runs f while this connection alone may write.
func (s *store) transact(ctx context.Context, f func() error) error {
	if _, err := s.conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err := f()
	if err == nil {
		_, err = s.conn.ExecContext(ctx, "COMMIT")
	}
	if err != nil {
		// SQLite may have rolled back by itself; then this fails, and should.
		_, _ = s.conn.ExecContext(ctx, "ROLLBACK")
	}
	return err
}

func (s *store) prepare(ctx context.Context) (err error) {
	row := "(?" + strings.Repeat(",?", len(callColumns)-1) + ")"
	insert := "INSERT INTO calls (" + strings.Join(callColumns, ",") + ") VALUES "
	if s.one, err = s.conn.PrepareContext(ctx, insert+row); err != nil {
		return err
	}
	s.many, err = s.conn.PrepareContext(ctx, insert+row+strings.Repeat(","+row, rowsPerInsert-1))
	if err != nil {
		return err
	}
	s.session, err = s.conn.PrepareContext(ctx, "INSERT INTO sessions ("+strings.Join(sessionColumns, ",")+
		") VALUES (?"+strings.Repeat(",?", len(sessionColumns)-1)+`)
		ON CONFLICT (id) DO UPDATE SET native_bytes = excluded.native_bytes, surface_bytes = excluded.surface_bytes,
		native_tokens = excluded.native_tokens, surface_tokens = excluded.surface_tokens`)
	return err
}

// insert writes a batch, all of it or nothing.
func (s *store) insert(ctx context.Context, b *batch) error {
	err := s.transact(ctx, func() error {
		// A newer heddle may have migrated the file while we had it open.
		if _, err := s.check(ctx); err != nil {
			return err
		}
		for i := range b.sessions {
			s.args = b.sessions[i].appendArgs(s.args[:0], s.mask)
			if _, err := s.session.ExecContext(ctx, s.args...); err != nil {
				return err
			}
		}
		for _, c := range b.calls {
			if err := s.insertCalls(ctx, c.rows[:c.n]); err != nil {
				return err
			}
		}
		return nil
	})
	clear(s.args[:cap(s.args)]) // do not hold on to the texts
	if err != nil {
		return fmt.Errorf("write ledger: %w", err)
	}
	return nil
}

func (s *store) insertCalls(ctx context.Context, rows []Row) error {
	for len(rows) > 0 {
		stmt, n := s.one, 1
		if len(rows) >= rowsPerInsert {
			stmt, n = s.many, rowsPerInsert
		}
		s.args = s.args[:0]
		for i := range rows[:n] {
			s.args = rows[i].appendArgs(s.args, s.mask)
		}
		if _, err := stmt.ExecContext(ctx, s.args...); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

// prune deletes a few rows older than keep, if no process has done so today, and
// returns when to come again: now, if more are left.
func (s *store) prune(ctx context.Context, now time.Time, keep time.Duration) (next time.Time, err error) {
	next = now
	err = s.transact(ctx, func() error {
		var last int64
		err := s.conn.QueryRowContext(ctx, `SELECT value FROM meta WHERE key = 'pruned'`).Scan(&last)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		due := time.UnixMicro(last).Add(pruneEvery)
		// A last time in the future comes from a clock that was wrong.
		if now.Before(due) && now.UnixMicro() >= last {
			next = due
			return nil
		}
		done, err := s.pruneSome(ctx, now.Add(-keep).UnixMicro())
		if err != nil || !done {
			return err
		}
		next = now.Add(pruneEvery)
		_, err = s.conn.ExecContext(ctx, `INSERT OR REPLACE INTO meta (key, value) VALUES ('pruned', ?)`, now.UnixMicro())
		return err
	})
	return next, err
}

// pruneSome deletes one portion and reports whether it was the last.
func (s *store) pruneSome(ctx context.Context, before int64) (bool, error) {
	res, err := s.conn.ExecContext(ctx, `DELETE FROM calls WHERE id IN
		(SELECT id FROM calls WHERE time < ? LIMIT ?)`, before, rowsPerPrune)
	if err != nil {
		return false, err
	}
	if n, err := res.RowsAffected(); err != nil || n == rowsPerPrune {
		return false, err
	}
	_, err = s.conn.ExecContext(ctx, `DELETE FROM sessions WHERE started < ?`, before)
	return true, err
}

// inPlace reports whether the open file is still the one at the path.
func (s *store) inPlace() bool {
	f, err := os.Stat(s.path)
	return err == nil && os.SameFile(f, s.file)
}

func (s *store) close() error {
	if s.db == nil {
		return nil
	}
	// Statements of a single connection are not closed with it, and SQLite keeps
	// the file open until they are.
	var errs []error
	for _, stmt := range []*sql.Stmt{s.one, s.many, s.session} {
		if stmt != nil {
			errs = append(errs, stmt.Close())
		}
	}
	return errors.Join(append(errs, s.conn.Close(), s.db.Close())...)
}

// fate is what becomes of a batch that was not written, and of the file.
type fate int

const (
	retrySoon  fate = iota // someone holds a lock
	retryLater             // the file system is in the way
	refuse                 // the file is not ours to write: leave it, drop the rows
	discard                // these rows cannot be written
)

// failure is the class of an error. Each cause is logged once.
type failure struct {
	cause string
	fate  fate
}

// classify never looks at texts. What it does not know discards the batch, so
// that one bad row cannot stop the ledger for ever.
func classify(err error) failure {
	var se *sqlite.Error
	if !errors.As(err, &se) {
		switch {
		case errors.Is(err, errNewer):
			return failure{"newer", refuse}
		case errors.Is(err, errForeign):
			return failure{"foreign", refuse}
		}
		var pe *fs.PathError
		if errors.As(err, &pe) {
			return failure{"file", retryLater}
		}
		return failure{"other", discard}
	}
	switch se.Code() & 0xff { // without the extension
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL:
		return failure{"locked", retrySoon}
	case sqlite3.SQLITE_FULL:
		return failure{"disk full", retryLater}
	case sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY,
		sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_NOLFS:
		return failure{"file", retryLater}
	case sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT:
		return failure{"corrupt", refuse}
	}
	return failure{"other", discard}
}
