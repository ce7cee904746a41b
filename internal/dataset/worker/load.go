//go:build cgo

package worker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/bits"
	"strings"
	"unicode/utf8"

	duck "github.com/duckdb/duckdb-go-bindings"

	"heddle/internal/dataset/protocol"
	"heddle/internal/dataset/records"
)

// load makes a table of records. It is seen by others whole or not at all: it is made
// in a transaction.
func (e *engine) load(ctx context.Context, q *protocol.Load, payload []byte) (*protocol.Profile, error) {
	source := q.Table
	source.Data = payload
	schema, err := source.Schema()
	if err != nil {
		return nil, unreadable(err)
	}
	if len(schema.Columns) == 0 {
		return nil, &fault{kind: protocol.Failed, text: "the records have no values"}
	}
	if q.Types != nil && len(q.Types) != len(schema.Columns) {
		return nil, fmt.Errorf("%d types for %d columns", len(q.Types), len(schema.Columns))
	}
	c, err := e.db.connect(ctx)
	if err != nil {
		return nil, err
	}
	defer c.close() // what is not committed goes with it
	if err := c.exec("BEGIN"); err != nil {
		return nil, err
	}
	t := &table{name: q.Name, columns: columnsOf(schema, q.Types), notes: schema.Notes}
	p := newProfiler(e, t)
	if q.Types != nil {
		err = fillCast(ctx, c, t, schema)
	} else {
		err = fillTable(ctx, c, t, schema, p)
	}
	if err == nil {
		err = c.exec("COMMIT")
	}
	if err != nil {
		return nil, err
	}
	if q.Types == nil {
		p.finish(t)
	} else if err := e.scan(ctx, c, t); err != nil {
		return nil, err
	}
	if q.Quiet {
		t.profile = nil // without bounds it is half of one
		e.put(t)
		return nil, nil
	}
	if err := bounds(c, t); err != nil {
		return nil, err
	}
	e.put(t)
	return e.show(c, t, q.Sample)
}

// unreadable says of an error of package records what it means here.
func unreadable(err error) error {
	var limit *records.LimitError
	if errors.As(err, &limit) {
		return tooLarge("%v", err)
	}
	return err
}

// sqlTypes are the types of columns that are loaded.
var sqlTypes = map[records.Type]string{
	records.Boolean: "BOOLEAN", records.Integer: "BIGINT", records.Huge: "HUGEINT", records.Double: "DOUBLE",
	records.Null: "VARCHAR", records.Text: "VARCHAR", records.Number: "VARCHAR", records.JSON: "VARCHAR",
}

func columnsOf(schema *records.Schema, types []string) []column {
	columns := make([]column, len(schema.Columns))
	for i, c := range schema.Columns {
		columns[i] = column{name: c.Name, typ: sqlTypes[c.Type], source: c.Source, note: c.Note, apart: c.Type == records.JSON}
		if types != nil {
			columns[i].typ = types[i]
		}
	}
	return columns
}

// fillTable makes t of the rows of schema.
func fillTable(ctx context.Context, c *conn, t *table, schema *records.Schema, p *profiler) error {
	if err := c.exec("CREATE OR REPLACE TABLE main." + ident(t.name) + " (" + declare(t.columns) + ")"); err != nil {
		return err
	}
	f, err := newFiller(c, "", t.name, t.columns, p)
	if err != nil {
		return err
	}
	defer f.close()
	return f.all(ctx, schema)
}

// fillCast makes t of rows that are the texts of its values: the engine, which wrote
// them, reads them again.
func fillCast(ctx context.Context, c *conn, t *table, schema *records.Schema) error {
	texts, casts := make([]column, len(t.columns)), make([]string, len(t.columns))
	for i, col := range t.columns {
		texts[i] = column{name: fmt.Sprint("c", i), typ: "VARCHAR"}
		casts[i] = fmt.Sprintf("CAST(c%d AS %s) AS %s", i, col.typ, ident(col.name))
	}
	if err := c.exec("CREATE TEMP TABLE staged (" + declare(texts) + ")"); err != nil {
		return err
	}
	f, err := newFiller(c, "temp", "staged", texts, nil)
	if err != nil {
		return err
	}
	err = f.all(ctx, schema)
	f.close()
	if err != nil {
		return err
	}
	t.rows = int64(schema.Count)
	return c.exec("CREATE OR REPLACE TABLE main." + ident(t.name) + " AS SELECT " + strings.Join(casts, ", ") + " FROM temp.staged")
}

// declare writes columns as CREATE TABLE has them.
func declare(columns []column) string {
	var b strings.Builder
	for i, c := range columns {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(ident(c.name) + " " + c.typ)
	}
	return b.String()
}

// filler writes rows into the vectors of a chunk and appends full chunks to a table.
// It converts each value itself: the engine's appender would truncate and wrap what
// does not fit.
type filler struct {
	appender appender
	chunk    *chunk
	row      int // next of chunk
	profiler *profiler
	set      []func(v *vector, row int, cell *records.Cell) error // one a column
}

func newFiller(c *conn, catalog, table string, columns []column, p *profiler) (*filler, error) {
	f := &filler{profiler: p}
	types := make([]duck.LogicalType, len(columns))
	for i, col := range columns {
		types[i] = duck.CreateLogicalType(vectorTypes[col.typ])
		f.set = append(f.set, setters[col.typ])
	}
	defer destroyTypes(types)
	if err := f.appender.open(c, catalog, table); err != nil {
		return nil, err
	}
	f.chunk = newChunk(duck.CreateDataChunk(types))
	f.begin()
	return f, nil
}

func destroyTypes(types []duck.LogicalType) {
	for i := range types {
		duck.DestroyLogicalType(&types[i])
	}
}

// all appends all rows of schema.
func (f *filler) all(ctx context.Context, schema *records.Schema) error {
	err := schema.Rows(func(cells []records.Cell) error {
		for i := range cells {
			v := &f.chunk.columns[i]
			f.appender.held += len(cells[i].Text)
			if cells[i].Null {
				v.setNull(f.row)
			} else if err := f.set[i](v, f.row, &cells[i]); err != nil {
				return err
			}
		}
		f.row++
		if f.row < chunkRows {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		return f.flush()
	})
	if err == nil && f.row > 0 {
		err = f.flush()
	}
	if err == nil {
		err = f.appender.flush()
	}
	return err
}

// begin makes the chunk ready for rows.
func (f *filler) begin() {
	for i := range f.chunk.columns {
		v := &f.chunk.columns[i]
		v.v = duck.DataChunkGetVector(f.chunk.c, duck.IdxT(i))
		v.data = duck.VectorGetData(v.v)
		v.valid = nil // no NULL so far
	}
	f.row = 0
}

func (f *filler) flush() error {
	f.chunk.size = f.row
	duck.DataChunkSetSize(f.chunk.c, duck.IdxT(f.row))
	if f.profiler != nil {
		f.profiler.add(f.chunk)
	}
	if err := f.appender.add(f.chunk.c); err != nil {
		return err
	}
	duck.DataChunkReset(f.chunk.c)
	f.begin()
	return nil
}

func (f *filler) close() {
	f.chunk.close()
	f.appender.close()
}

var vectorTypes = map[string]duck.Type{
	"BOOLEAN": duck.TypeBoolean, "BIGINT": duck.TypeBigInt, "HUGEINT": duck.TypeHugeInt,
	"DOUBLE": duck.TypeDouble, "VARCHAR": duck.TypeVarchar,
}

var setters = map[string]func(v *vector, row int, cell *records.Cell) error{
	"BOOLEAN": func(v *vector, row int, cell *records.Cell) error { values[bool](v)[row] = cell.Bool; return nil },
	"BIGINT":  func(v *vector, row int, cell *records.Cell) error { values[int64](v)[row] = cell.Int; return nil },
	"DOUBLE":  func(v *vector, row int, cell *records.Cell) error { values[float64](v)[row] = cell.Float; return nil },
	"HUGEINT": func(v *vector, row int, cell *records.Cell) error {
		h, ok := parseHuge(cell.Text)
		if !ok {
			return fmt.Errorf("not an integer of 128 bits: %q", cut(string(cell.Text), maxQuote))
		}
		values[hugeint](v)[row] = h
		return nil
	},
	"VARCHAR": func(v *vector, row int, cell *records.Cell) error {
		b := cell.Text
		if !utf8.Valid(b) {
			b = bytes.ToValidUTF8(b, []byte("\uFFFD")) // the engine would make it NULL
		}
		v.setBytes(row, b)
		return nil
	},
}

// parseHuge reads an integer of 128 bits.
func parseHuge(digits []byte) (h hugeint, ok bool) {
	digits, negative := bytes.CutPrefix(digits, []byte{'-'})
	if len(digits) == 0 || len(digits) > 39 { // 2^127 has 39 digits; 39 nines fit 130 bits
		return h, false
	}
	var hi, lo uint64
	for _, d := range digits {
		if d < '0' || d > '9' {
			return h, false
		}
		over, low := bits.Mul64(lo, 10)
		top, high := bits.Mul64(hi, 10)
		if top != 0 {
			return h, false
		}
		var carry uint64
		lo, carry = bits.Add64(low, uint64(d-'0'), 0)
		hi, carry = bits.Add64(high, over, carry)
		if carry != 0 {
			return h, false
		}
	}
	if negative {
		var borrow uint64
		lo, borrow = bits.Sub64(0, lo, 0)
		hi, _ = bits.Sub64(0, hi, borrow)
	}
	h = hugeint{lo, int64(hi)}
	zero := hi == 0 && lo == 0
	return h, zero || (h.upper < 0) == negative
}
