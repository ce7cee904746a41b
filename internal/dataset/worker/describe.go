//go:build cgo

package worker

import (
	"context"
	"fmt"
	"strings"

	"heddle/internal/dataset/protocol"
)

// adopt gives a kept table a name, and describes it.
func (e *engine) adopt(ctx context.Context, q *protocol.Adopt) (*protocol.Profile, error) {
	old := e.find(q.Kept)
	if old == nil {
		return nil, missing(q.Kept)
	}
	c, err := e.db.connect(ctx)
	if err != nil {
		return nil, err
	}
	defer c.close()
	rename := "BEGIN; DROP TABLE IF EXISTS main." + ident(q.Name) + "; ALTER TABLE main." + ident(q.Kept) + " RENAME TO " + ident(q.Name) + "; COMMIT"
	if err := c.exec(rename); err != nil {
		return nil, err
	}
	t := &table{name: q.Name, columns: old.columns, rows: old.rows, bytes: old.bytes}
	e.mu.Lock()
	delete(e.tables, strings.ToLower(q.Kept))
	e.tables[strings.ToLower(q.Name)] = t
	e.mu.Unlock()
	return e.profile(ctx, c, t, q.Sample)
}

// describe describes a table that is there.
func (e *engine) describe(ctx context.Context, q *protocol.Describe) (*protocol.Profile, error) {
	t := e.find(q.Name)
	if t == nil {
		return nil, missing(q.Name)
	}
	c, err := e.db.connect(ctx)
	if err != nil {
		return nil, err
	}
	defer c.close()
	return e.profile(ctx, c, t, q.Sample)
}

// profile describes t, which is profiled now if it has not been.
func (e *engine) profile(ctx context.Context, c *conn, t *table, sample int) (*protocol.Profile, error) {
	if t.profile == nil {
		profiled := *t
		if err := e.scan(ctx, c, &profiled); err != nil {
			return nil, err
		}
		if err := bounds(c, &profiled); err != nil {
			return nil, err
		}
		t = &profiled
		e.put(t)
	}
	return e.show(c, t, sample)
}

// show is t's profile with fresh hints and a sample.
func (e *engine) show(c *conn, t *table, sample int) (*protocol.Profile, error) {
	shown := *t.profile
	shown.Hints = e.hints(t)
	if sample > 0 {
		var err error
		if shown.Sample, err = c.sample(t, min(sample, maxSample)); err != nil {
			return nil, err
		}
	}
	return &shown, nil
}

// maxSample is how many rows a profile shows at most.
const maxSample = 100

// sample returns the first rows of t as texts, some columns at a time: each that a
// statement shows takes the room of thousands of values.
func (c *conn) sample(t *table, n int) ([][]*string, error) {
	var all [][]*string
	for from := 0; from < len(t.columns); from += columnsAtOnce {
		some := t.columns[from:min(from+columnsAtOnce, len(t.columns))]
		as := make([]string, len(some))
		for i, col := range some {
			as[i] = fmt.Sprintf("left(%s, %d)", shownAs(ident(col.name), col.typ), protocol.MaxCell+1)
		}
		rows, err := c.texts(fmt.Sprintf("SELECT %s FROM main.%s LIMIT %d", strings.Join(as, ", "), ident(t.name), n))
		if err != nil {
			return nil, err
		}
		if all == nil {
			all = make([][]*string, len(rows))
		}
		for i, row := range rows {
			for _, cell := range row {
				if cell != nil {
					*cell = cut(*cell, protocol.MaxCell)
				}
				all[i] = append(all[i], cell)
			}
		}
	}
	return all, nil
}
