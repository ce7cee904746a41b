package ledger

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// ErrNotSelect is what [Reader.Query] says to anything but one SELECT.
var ErrNotSelect = errors.New("only one SELECT is run on the ledger, which can be read and not changed")

// Query runs one SELECT. It tells head the names of the columns, and row each row
// as SQLite has it: int64, float64, string, []byte or nil. An error of either ends
// it.
func (r *Reader) Query(ctx context.Context, text string, head func([]string) error, row func([]any) error) error {
	if !oneSelect(text) {
		return ErrNotSelect
	}
	rows, err := r.conn.QueryContext(ctx, text)
	if err != nil {
		return queryError(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return queryError(err)
	}
	if err := head(columns); err != nil {
		return err
	}
	values, into := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return queryError(err)
		}
		if err := row(values); err != nil {
			return err
		}
	}
	return queryError(rows.Err())
}

// queryError gives a statement that would have written its own error: a WITH may
// end in any statement.
func queryError(err error) error {
	var se *sqlite.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &se) && se.Code()&0xff == sqlite3.SQLITE_READONLY:
		return ErrNotSelect
	}
	return fmt.Errorf("query ledger: %w", err)
}

// oneSelect reports whether text begins as a SELECT does and no second statement
// follows: the driver would run that too, and an ATTACH makes files.
func oneSelect(text string) bool {
	word, i := "", 0
	for i < len(text) && word == "" {
		n := token(text[i:])
		if !blank(text[i : i+n]) {
			word = text[i : i+n]
		}
		i += n
	}
	if w := strings.ToUpper(word); w != "SELECT" && w != "WITH" && w != "VALUES" {
		return false
	}
	ended := false
	for i < len(text) {
		n := token(text[i:])
		part := text[i : i+n]
		switch {
		case part == ";":
			ended = true
		case ended && !blank(part):
			return false
		}
		i += n
	}
	return true
}

// blank reports whether a token is white space or a comment.
func blank(part string) bool {
	return strings.TrimSpace(part) == "" || strings.HasPrefix(part, "--") || strings.HasPrefix(part, "/*")
}

// token returns the length of what text begins with: a comment, something in
// quotes, a word, or one byte. SQLite reads an open comment or quote to the end.
func token(text string) int {
	switch c := text[0]; {
	case strings.HasPrefix(text, "--"):
		return until(text, 2, "\n")
	case strings.HasPrefix(text, "/*"):
		return until(text, 2, "*/")
	case c == '\'' || c == '"' || c == '`':
		return until(text, 1, string(c)) // a doubled quote begins the next one
	case c == '[':
		return until(text, 1, "]")
	}
	n := 0
	for n < len(text) && (text[n]|0x20 >= 'a' && text[n]|0x20 <= 'z') {
		n++
	}
	return max(n, 1)
}

// until returns the length of text to the end of the first stop from from on.
func until(text string, from int, stop string) int {
	if i := strings.Index(text[from:], stop); i >= 0 {
		return from + i + len(stop)
	}
	return len(text)
}
