//go:build cgo

package worker

import duck "github.com/duckdb/duckdb-go-bindings"

// appender adds chunks to a table. The engine's holds them back until they have some
// hundred thousand rows, which may be all of a table, and so twice its memory; this
// one bounds their bytes.
type appender struct {
	a    duck.Appender
	held int // bytes of text that were added since the last flush, as the user counts
}

const maxAppend = 8 << 20

// open makes an appender to a table of c's, which has to stay open as long.
func (a *appender) open(c *conn, catalog, table string) error {
	if duck.AppenderCreateExt(c.c, catalog, "main", table, &a.a) == duck.StateError {
		err := a.failure()
		a.close()
		return err
	}
	return nil
}

// add adds a chunk whose columns have the table's types.
func (a *appender) add(c duck.DataChunk) error {
	if duck.AppendDataChunk(a.a, c) == duck.StateError {
		return a.failure()
	}
	if a.held < maxAppend {
		return nil
	}
	return a.flush()
}

// flush hands all rows to the table.
func (a *appender) flush() error {
	a.held = 0
	if duck.AppenderFlush(a.a) == duck.StateError {
		return a.failure()
	}
	return nil
}

func (a *appender) failure() error {
	data := duck.AppenderErrorData(a.a)
	defer duck.DestroyErrorData(&data)
	return newEngineError(duck.ErrorDataMessage(data))
}

// close frees the appender. Rows that were not flushed may get lost.
func (a *appender) close() { duck.AppenderDestroy(&a.a) }
