//go:build cgo

package worker

import (
	"context"
	"strings"
	"time"
	"unsafe"

	duck "github.com/duckdb/duckdb-go-bindings"
)

// This file is the engine's C interface as the rest of the package uses it: the
// driver for database/sql would box each value, and runs the statements of a text
// that has several.

// database is an engine in memory.
type database struct{ db duck.Database }

// setting is one of the engine's settings.
type setting struct{ name, value string }

// openDatabase starts an engine with settings that hold from its first moment.
func openDatabase(settings []setting) (*database, error) {
	var config duck.Config
	if duck.CreateConfig(&config) == duck.StateError {
		return nil, &engineError{text: "the engine has no configuration"}
	}
	defer duck.DestroyConfig(&config)
	for _, s := range settings {
		if duck.SetConfig(config, s.name, s.value) == duck.StateError {
			return nil, &engineError{text: "the engine has no setting " + s.name + " or does not take " + s.value}
		}
	}
	d := &database{}
	var text string
	if duck.OpenExt(":memory:", &d.db, config, &text) == duck.StateError {
		return nil, newEngineError(text)
	}
	return d, nil
}

func (d *database) close() { duck.Close(&d.db) }

// conn is a connection. One request uses it, and one goroutine at a time; it costs
// some microseconds, and what a statement leaves in it goes with it.
type conn struct {
	c    duck.Connection
	stop func() // ends the watch
}

// interruptAgain is how often a connection is told to stop: the engine forgets it
// between two statements.
const interruptAgain = 50 * time.Millisecond

// connect opens a connection whose statements are interrupted once ctx has ended.
func (d *database) connect(ctx context.Context) (*conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c := &conn{}
	if duck.Connect(d.db, &c.c) == duck.StateError {
		return nil, &engineError{class: classFatal, text: "the engine takes no connection"}
	}
	done, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		select {
		case <-done:
			return
		case <-ctx.Done():
		}
		again := time.NewTicker(interruptAgain)
		defer again.Stop()
		for {
			duck.Interrupt(c.c)
			select {
			case <-done:
				return
			case <-again.C:
			}
		}
	}()
	c.stop = func() { close(done); <-gone }
	return c, nil
}

func (c *conn) close() {
	c.stop()
	duck.Disconnect(&c.c)
}

// exec runs statements of ours and drops what they return.
func (c *conn) exec(sql string) error {
	var res duck.Result
	defer duck.DestroyResult(&res)
	if duck.Query(c.c, sql, &res) == duck.StateError {
		return newEngineError(duck.ResultError(&res))
	}
	return nil
}

// statement is a prepared one.
type statement struct {
	stmt duck.PreparedStatement
}

// prepare prepares the last statement of sql and runs those before it. A text that
// the gate let through has more than one only because the engine makes two of a
// PIVOT: the values that become columns are a type of their own.
func (c *conn) prepare(sql string) (*statement, error) {
	var all duck.ExtractedStatements
	n := duck.ExtractStatements(c.c, sql, &all)
	defer duck.DestroyExtracted(&all)
	if n == 0 {
		if text := duck.ExtractStatementsError(all); text != "" {
			return nil, newEngineError(text)
		}
		return nil, &engineError{class: classInvalid, text: "there is no statement"}
	}
	for i := range n {
		s := &statement{}
		if duck.PrepareExtractedStatement(c.c, all, i, &s.stmt) == duck.StateError {
			err := newEngineError(duck.PrepareError(s.stmt))
			s.close()
			return nil, err
		}
		if i == n-1 {
			return s, nil
		}
		r, err := s.run()
		s.close()
		if err != nil {
			return nil, err
		}
		r.close()
	}
	panic("unreachable")
}

func (s *statement) close() { duck.DestroyPrepare(&s.stmt) }

func (s *statement) columns() int { return int(duck.PreparedStatementColumnCount(s.stmt)) }

func (s *statement) name(i int) string {
	return duck.PreparedStatementColumnName(s.stmt, duck.IdxT(i))
}

// typeID is the engine's id of a column's type.
func (s *statement) typeID(i int) duck.Type {
	return duck.PreparedStatementColumnType(s.stmt, duck.IdxT(i))
}

// run starts the statement; what it returns is made while it is read.
func (s *statement) run() (*rows, error) {
	r := &rows{}
	var pending duck.PendingResult
	defer duck.DestroyPending(&pending)
	if duck.PendingPreparedStreaming(s.stmt, &pending) == duck.StateError {
		return nil, newEngineError(duck.PendingError(pending))
	}
	if duck.ExecutePending(pending, &r.res) == duck.StateError {
		err := newEngineError(duck.ResultError(&r.res))
		duck.DestroyResult(&r.res)
		return nil, err
	}
	return r, nil
}

// query prepares and runs sql.
func (c *conn) query(sql string) (*rows, error) {
	s, err := c.prepare(sql)
	if err != nil {
		return nil, err
	}
	r, err := s.run()
	if err != nil {
		s.close()
		return nil, err
	}
	r.of = s
	return r, nil
}

// rows are the result of a statement that runs.
type rows struct {
	res duck.Result
	of  *statement // closed with the rows, if set
}

// next returns the next chunk, nil at the end. The caller closes it.
func (r *rows) next() (*chunk, error) {
	c := duck.FetchChunk(r.res)
	if c.Ptr == nil {
		if text := duck.ResultError(&r.res); text != "" {
			return nil, newEngineError(text)
		}
		return nil, nil
	}
	k := newChunk(c)
	if k.size == 0 {
		k.close()
		return nil, nil
	}
	return k, nil
}

// close ends the statement, also in the middle.
func (r *rows) close() {
	duck.DestroyResult(&r.res)
	if r.of != nil {
		r.of.close()
	}
}

// texts reads all rows of a statement of ours whose columns are all VARCHAR.
func (c *conn) texts(sql string) ([][]*string, error) {
	r, err := c.query(sql)
	if err != nil {
		return nil, err
	}
	defer r.close()
	var all [][]*string
	for {
		k, err := r.next()
		if err != nil || k == nil {
			return all, err
		}
		for row := range k.size {
			cells := make([]*string, len(k.columns))
			for i := range k.columns {
				if !k.columns[i].null(row) {
					s := string(k.columns[i].bytes(row))
					cells[i] = &s
				}
			}
			all = append(all, cells)
		}
		k.close()
	}
}

// chunk is up to chunkRows rows, a vector a column.
type chunk struct {
	c       duck.DataChunk
	columns []vector
	size    int
}

// chunkRows is how many rows the engine's vectors have.
const chunkRows = 2048

func newChunk(c duck.DataChunk) *chunk {
	k := &chunk{c: c, size: int(duck.DataChunkGetSize(c))}
	k.columns = make([]vector, duck.DataChunkGetColumnCount(c))
	for i := range k.columns {
		v := duck.DataChunkGetVector(c, duck.IdxT(i))
		k.columns[i] = vector{v: v, data: duck.VectorGetData(v), valid: duck.VectorGetValidity(v)}
	}
	return k
}

func (k *chunk) close() { duck.DestroyDataChunk(&k.c) }

// vector is the memory of a column in a chunk. It belongs to the engine.
type vector struct {
	v     duck.Vector
	data  unsafe.Pointer
	valid unsafe.Pointer // a bit a row, nil if there is no NULL
}

func (v *vector) null(row int) bool {
	return v.valid != nil && *wordOf(v.valid, row)>>(row%64)&1 == 0
}

func (v *vector) setNull(row int) {
	if v.valid == nil {
		duck.VectorEnsureValidityWritable(v.v)
		v.valid = duck.VectorGetValidity(v.v)
	}
	*wordOf(v.valid, row) &^= 1 << (row % 64)
}

// wordOf is the word of a bit set that has row's bit.
func wordOf(set unsafe.Pointer, row int) *uint64 { return (*uint64)(unsafe.Add(set, row/64*8)) }

// text is how the engine has a string in a vector: up to twelve bytes in place,
// more behind a pointer.
type text struct {
	length uint32
	start  [4]byte
	rest   [8]byte
}

const inPlace = 12

// bytes is a text cell; it is valid until the chunk is closed.
func (v *vector) bytes(row int) []byte {
	t := (*text)(unsafe.Add(v.data, row*int(unsafe.Sizeof(text{}))))
	if t.length <= inPlace {
		return unsafe.Slice(&t.start[0], t.length)
	}
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&t.rest)), t.length)
}

// setBytes sets a text cell to b, which is valid UTF-8: the engine makes NULL of
// what is not.
func (v *vector) setBytes(row int, b []byte) {
	if len(b) > inPlace {
		duck.VectorAssignStringElementLen(v.v, duck.IdxT(row), b)
		return
	}
	t := (*text)(unsafe.Add(v.data, row*int(unsafe.Sizeof(text{}))))
	*t = text{length: uint32(len(b))} // what is behind a short text has to be zero
	copy(unsafe.Slice(&t.start[0], inPlace), b)
}

// values is the memory of a column of a fixed width.
func values[T any](v *vector) *[chunkRows]T { return (*[chunkRows]T)(v.data) }

// hugeint is the engine's integer of 128 bits.
type hugeint struct {
	lower uint64
	upper int64
}

// ident quotes a name for statements of ours.
func ident(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
