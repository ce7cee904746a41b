//go:build cgo

package worker

import (
	"context"

	duck "github.com/duckdb/duckdb-go-bindings"

	"heddle/internal/dataset/protocol"
)

// sink takes the rows of a result. It writes them in a format, and makes a table of
// them once they have become too long or if that is asked for.
type sink struct {
	e      *engine
	p      *plan
	query  *protocol.Query
	result *protocol.Result

	format format
	pages
	held []*chunk // what is in pages, as long as it may have to become a table
	kept *keeper
}

// begin is called before the rows.
func (s *sink) begin(ctx context.Context) error {
	if s.format = formatOf(s.query.Format); s.format == nil {
		return &fault{kind: protocol.Failed, text: "no format " + s.query.Format}
	}
	s.b = s.format.begin(s.b, s.p)
	return s.check(ctx)
}

// check begins a table if the text has become too long for less. As much text as a
// table may have needs none: a table of more would be refused too.
func (s *sink) check(ctx context.Context) error {
	if s.query.Keep || s.query.Inline < protocol.MaxPayload && s.size+len(s.b) > s.query.Inline {
		return s.spill(ctx)
	}
	return s.turn()
}

// add takes a chunk over.
func (s *sink) add(ctx context.Context, k *chunk) error {
	if s.kept != nil {
		defer k.close()
		return s.kept.add(k)
	}
	if s.query.Inline < protocol.MaxPayload {
		s.held = append(s.held, k)
	} else {
		defer k.close()
	}
	for row := range k.size {
		s.b = s.format.row(s.b, k, row)
		if err := s.check(ctx); err != nil || s.kept != nil {
			return err
		}
	}
	return nil
}

// spill begins a table, with the rows so far.
func (s *sink) spill(ctx context.Context) error {
	s.pages = pages{}
	var err error
	if s.kept, err = s.e.newKeeper(ctx, s.p); err != nil {
		return err
	}
	for len(s.held) > 0 {
		k := s.held[0]
		s.held = s.held[1:]
		err := s.kept.add(k)
		k.close()
		if err != nil {
			return err
		}
	}
	return nil
}

// end returns the payload, in pieces.
func (s *sink) end() ([][]byte, error) {
	if s.kept == nil {
		s.b = s.format.end(s.b)
		return s.all(), nil
	}
	t, err := s.kept.commit()
	if err != nil {
		return nil, err
	}
	t.rows = s.result.Rows
	s.e.put(t)
	s.result.Kept, s.result.Bytes = t.name, t.bytes
	return s.kept.all(), nil
}

// close frees what is left, in any case.
func (s *sink) close() {
	for _, k := range s.held {
		k.close()
	}
	if s.kept != nil {
		s.kept.close()
	}
}

// keeper makes a table of the rows of a result as they come, and the snapshot from
// which it can be made again.
type keeper struct {
	p        *plan
	conn     *conn // the query's own is busy
	appender appender
	types    []duck.LogicalType
	table    *table
	pages    // the snapshot
}

// keptPrefix begins the names of tables that nobody has named.
const keptPrefix = "_kept_"

func (e *engine) newKeeper(ctx context.Context, p *plan) (*keeper, error) {
	s := &keeper{p: p, table: &table{name: e.fresh(keptPrefix), kept: true}}
	s.b = append(s.b, '[')
	for i, f := range p.fields {
		s.table.columns = append(s.table.columns, column{name: f.Name, typ: f.Type})
		s.types = append(s.types, duck.PreparedStatementColumnLogicalType(p.stmt.stmt, duck.IdxT(i)))
		s.b = appendJSON(separate(s.b, i, ','), []byte(f.Name))
	}
	s.b = append(s.b, "]\n"...)
	// It is bounded by the query, whose rows it takes one chunk at a time.
	conn, err := e.db.connect(context.WithoutCancel(ctx))
	if err != nil {
		s.close()
		return nil, err
	}
	s.conn = conn
	err = conn.exec("BEGIN; CREATE TABLE main." + ident(s.table.name) + " (" + declare(s.table.columns) + ")")
	if err == nil {
		err = s.appender.open(conn, "", s.table.name)
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// add appends the columns of k as they are, and their texts to the snapshot.
func (s *keeper) add(k *chunk) error {
	own := duck.CreateDataChunk(s.types)
	defer duck.DestroyDataChunk(&own)
	for i := range s.types {
		duck.VectorReferenceVector(duck.DataChunkGetVector(own, duck.IdxT(i)), k.columns[i].v)
	}
	duck.DataChunkSetSize(own, duck.IdxT(k.size))
	if err := s.appender.add(own); err != nil {
		return err
	}
	for row := range k.size {
		s.b = append(s.b, '[')
		for i, at := range s.p.stored {
			s.b = separate(s.b, i, ',')
			if v := &k.columns[at]; v.null(row) {
				s.b = append(s.b, "null"...)
			} else {
				b := v.bytes(row)
				s.table.bytes += int64(len(b))
				s.appender.held += len(b)
				s.b = appendJSON(s.b, b)
			}
		}
		s.b = append(s.b, "]\n"...)
		if err := s.turn(); err != nil {
			return err
		}
	}
	s.table.bytes += int64(8 * k.size * len(s.types))
	return nil
}

// commit makes the table one that others see.
func (s *keeper) commit() (*table, error) {
	if err := s.appender.flush(); err != nil {
		return nil, err
	}
	if err := s.conn.exec("COMMIT"); err != nil {
		return nil, err
	}
	return s.table, nil
}

func (s *keeper) close() {
	s.appender.close()
	destroyTypes(s.types)
	if s.conn != nil {
		s.conn.close()
	}
}
