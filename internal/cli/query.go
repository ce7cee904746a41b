package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"heddle/internal/ledger"
)

// mostRows is how many rows of a query are printed as a table, which must be held
// until its columns are known; JSON has all.
const mostRows = 10_000

// errEnough ends a query whose rows are enough.
var errEnough = errors.New("enough rows")

// query prints what a SELECT on the ledger returns.
func (a *app) query(ctx context.Context, text string) error {
	done := a.reading()
	defer done()
	r, err := a.book(ctx)
	if err != nil {
		return err
	}
	if r == nil {
		return a.emit([]any{}, func() { fmt.Fprintln(a.out, nothingYet) })
	}
	defer r.Close()
	if a.json {
		err = a.queryJSON(ctx, r, text, done)
	} else {
		err = a.queryTable(ctx, r, text, done)
	}
	switch {
	case errors.Is(err, ledger.ErrNotSelect):
		return &usageError{err, "begin with SELECT or WITH, and leave out any second statement"}
	case err != nil && ctx.Err() == nil && unread(err) == err:
		return &usageError{err, "`heddle stats --help` lists the tables and their columns"}
	}
	return unread(err)
}

// queryTable prints the rows as a table. Before it does, it calls done.
func (a *app) queryTable(ctx context.Context, r *ledger.Reader, text string, done func()) error {
	var out table
	err := r.Query(ctx, text, func(columns []string) error {
		for _, c := range columns {
			out.head = append(out.head, plain(c))
		}
		out.words = len(columns)
		return nil
	}, func(values []any) error {
		if len(out.rows) == mostRows {
			return errEnough
		}
		var cells []string
		for _, v := range values {
			cells = append(cells, cell(v))
		}
		out.add(cells...)
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return err
	}
	var b bytes.Buffer
	out.write(&b, 0)
	if err != nil {
		fmt.Fprintf(&b, "Only the first %s rows are shown; --json has all.\n", thousands(mostRows))
	}
	done()
	_, err = a.out.Write(b.Bytes())
	return err
}

// cell is a value of SQLite for people.
func cell(v any) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case []byte:
		return fmt.Sprintf("x'%x'", v)
	case string:
		return plain(v)
	}
	return fmt.Sprint(v)
}

// queryJSON writes the rows as they come, an object a row with the columns in
// order. Where two columns have one name, the later ones are numbered.
// Before the first one it calls done.
func (a *app) queryJSON(ctx context.Context, r *ledger.Reader, text string, done func()) error {
	var keys [][]byte
	next := "[\n  "
	err := r.Query(ctx, text, func(columns []string) error {
		seen := map[string]int{}
		for _, c := range columns {
			if seen[c]++; seen[c] > 1 {
				c = fmt.Sprintf("%s_%d", c, seen[c])
			}
			key, err := json.Marshal(c)
			if err != nil {
				return err
			}
			keys = append(keys, key)
		}
		return nil
	}, func(values []any) error {
		done()
		b := append([]byte(next), '{')
		next = ",\n  "
		for i, v := range values {
			if i > 0 {
				b = append(b, ", "...)
			}
			value, err := jsonValue(v)
			if err != nil {
				return err
			}
			b = append(append(append(b, keys[i]...), ": "...), value...)
		}
		_, err := a.out.Write(append(b, '}'))
		return err
	})
	if err != nil {
		return err
	}
	end := "\n]\n"
	if next[0] == '[' {
		end = "[]\n"
	}
	_, err = fmt.Fprint(a.out, end)
	return err
}

// jsonValue is a value of SQLite as JSON, which has no infinity and no bytes.
func jsonValue(v any) (string, error) {
	switch x := v.(type) {
	case []byte:
		v = fmt.Sprintf("%x", x)
	case float64:
		if math.IsInf(x, 0) || math.IsNaN(x) {
			v = nil
		}
	}
	return compactJSON(v) // which leaves <, > and & as they are
}
