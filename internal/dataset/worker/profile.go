//go:build cgo

package worker

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"heddle/internal/dataset/protocol"
)

// maxTop is up to how many distinct values of a column are listed.
const maxTop = 12

// profiler counts what is in the columns of a table, a chunk at a time: as the
// filler has it, which costs less than asking the engine afterwards, or as a scan
// reads it.
type profiler struct {
	hash hasher
	rows int64
	cols []tally
}

// tally counts the values of a column.
type tally struct {
	add   func(t *tally, h hasher, v *vector, size int)
	nulls int64
	bytes int64 // of texts that are not in place

	few   []frequent // while there are at most maxTop values
	many  distinct   // after that
	above bool       // there are more than maxTop values
}

// frequent is a value and how often it came.
type frequent struct {
	hash  uint64
	count int64
	value string
}

// newProfiler is for the columns of t, in vectors of the types of [tallies]; what has
// another type comes as its text.
func newProfiler(e *engine, t *table) *profiler {
	p := &profiler{hash: e.hash, cols: make([]tally, len(t.columns))}
	for i, c := range t.columns {
		if p.cols[i].add = tallies[c.typ]; p.cols[i].add == nil {
			p.cols[i].add = tallies["VARCHAR"]
		}
	}
	return p
}

func (p *profiler) add(k *chunk) {
	p.rows += int64(k.size)
	for i := range p.cols {
		p.cols[i].add(&p.cols[i], p.hash, &k.columns[i], k.size)
	}
}

// tallies add a vector to a tally, one a type.
var tallies = map[string]func(t *tally, h hasher, v *vector, size int){
	"BOOLEAN": counting(hashBool, formatBool),
	"BIGINT":  counting(hasher.integer, formatInt),
	"HUGEINT": counting(hasher.huge, formatHuge),
	"DOUBLE":  counting(hasher.double, formatDouble),
	"VARCHAR": func(t *tally, h hasher, v *vector, size int) {
		for row := range size {
			if v.null(row) {
				t.nulls++
				continue
			}
			b := v.bytes(row)
			if len(b) > inPlace {
				t.bytes += int64(len(b))
			}
			if hash := h.text(b); !t.seen(hash) {
				t.first(hash, cut(string(b[:min(len(b), protocol.MaxCell+4)]), protocol.MaxCell))
			}
		}
	},
}

func hashBool(h hasher, b bool) uint64 {
	if b {
		return h.integer(1)
	}
	return h.integer(0)
}

// counting is the tally of a type of a fixed width.
func counting[T any](hash func(hasher, T) uint64, format func(T) string) func(*tally, hasher, *vector, int) {
	return func(t *tally, h hasher, v *vector, size int) {
		all := values[T](v)
		for row := range size {
			if v.null(row) {
				t.nulls++
				continue
			}
			if hash := hash(h, all[row]); !t.seen(hash) {
				t.first(hash, format(all[row]))
			}
		}
	}
}

// seen counts a value; false says that it is new and has to be noted with first.
func (t *tally) seen(hash uint64) bool {
	if t.above {
		t.many.add(hash)
		return true
	}
	for i := range t.few {
		if t.few[i].hash == hash {
			t.few[i].count++
			return true
		}
	}
	return false
}

func (t *tally) first(hash uint64, value string) {
	if len(t.few) < maxTop {
		t.few = append(t.few, frequent{hash, 1, value})
		return
	}
	for _, f := range t.few {
		t.many.add(f.hash)
	}
	t.many.add(hash)
	t.few, t.above = nil, true
}

// widths are how many bytes a value takes, where that is not 16.
var widths = map[string]int64{
	"BOOLEAN": 1, "TINYINT": 1, "UTINYINT": 1, "SMALLINT": 2, "USMALLINT": 2, "INTEGER": 4, "UINTEGER": 4, "FLOAT": 4,
	"DATE": 4, "BIGINT": 8, "UBIGINT": 8, "DOUBLE": 8, "TIMESTAMP": 8, "TIME": 8,
}

// finish gives t its profile, without bounds, and the keys that hints need.
func (p *profiler) finish(t *table) {
	t.rows, t.bytes, t.keys = p.rows, 0, make([]*keys, len(t.columns))
	joined := 0
	profile := &protocol.Profile{Rows: p.rows, Notes: t.notes}
	for i := range t.columns {
		c, y := &t.columns[i], &p.cols[i]
		column := protocol.Column{Field: protocol.Field{Name: c.name, Type: c.typ}, Source: c.source, Nulls: y.nulls, Note: c.note}
		column.Distinct, column.Approx = y.many.count()
		if !y.above {
			column.Distinct = int64(len(y.few))
			for _, f := range y.few {
				column.Top = append(column.Top, protocol.Count{Value: f.value, Count: f.count})
				y.many.add(f.hash)
			}
			slices.SortStableFunc(column.Top, func(a, b protocol.Count) int { return int(b.Count - a.Count) })
		}
		width := int64(16)
		if w, ok := widths[c.typ]; ok {
			width = w
		}
		t.bytes += y.bytes + width*p.rows
		if joined < maxJoinable && joinable(c, column.Distinct, p.rows-y.nulls) {
			joined++
			t.keys[i] = y.many.keys(c.typ == "VARCHAR")
		}
		profile.Columns = append(profile.Columns, column)
	}
	profile.Bytes = t.bytes
	if wide := len(t.columns) - narrow; wide > 0 {
		profile.Bytes += int64(wide) * columnRoom
	}
	t.profile = profile
}

// scan profiles a table that is there already.
func (e *engine) scan(ctx context.Context, c *conn, t *table) error {
	as := make([]string, len(t.columns))
	for i, col := range t.columns {
		switch {
		case tallies[col.typ] != nil:
			as[i] = ident(col.name)
		default:
			as[i] = "CAST(" + ident(col.name) + " AS VARCHAR)"
		}
	}
	r, err := c.query("SELECT " + strings.Join(as, ", ") + " FROM main." + ident(t.name))
	if err != nil {
		return err
	}
	defer r.close()
	p := newProfiler(e, t)
	for {
		k, err := r.next()
		if err != nil {
			return err
		}
		if k == nil {
			p.finish(t)
			return ctx.Err()
		}
		p.add(k)
		k.close()
	}
}

// columnsAtOnce is how many columns one statement asks for: more cost more than they
// have to say.
const columnsAtOnce = 100

// bounds adds least and greatest values to t's profile, as the engine orders and
// prints them.
func bounds(c *conn, t *table) error {
	var ask []string
	var of []int
	flush := func() error {
		if len(ask) == 0 {
			return nil
		}
		got, err := c.texts("SELECT " + strings.Join(ask, ", ") + " FROM main." + ident(t.name))
		if err != nil {
			return err
		}
		for i, col := range of {
			if least, most := got[0][2*i], got[0][2*i+1]; least != nil && most != nil {
				t.profile.Columns[col].Min, t.profile.Columns[col].Max = cut(*least, protocol.MaxCell), cut(*most, protocol.MaxCell)
			}
		}
		ask, of = ask[:0], of[:0]
		return nil
	}
	for i, col := range t.columns {
		if col.apart || !ordered(col.typ) {
			continue
		}
		for _, f := range []string{"min", "max"} {
			ask = append(ask, fmt.Sprintf("left(CAST(%s(%s) AS VARCHAR), %d)", f, ident(col.name), protocol.MaxCell+1))
		}
		if of = append(of, i); len(of) == columnsAtOnce {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// A column takes blocks of its own however few rows there are. That counts where there
// are many: a table of two thousand takes a good part of what the process may have.
const (
	narrow     = 100
	columnRoom = 128 << 10
)

// ordered reports whether bounds of a type say anything.
func ordered(typ string) bool {
	return !nested(typ) && typ != "BLOB" && typ != "BIT" && typ != "JSON"
}

func formatBool(b bool) string { return strconv.FormatBool(b) }

func formatInt(n int64) string { return strconv.FormatInt(n, 10) }
