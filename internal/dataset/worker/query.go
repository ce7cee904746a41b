//go:build cgo

package worker

import (
	"context"
	"errors"
	"slices"
	"strings"

	duck "github.com/duckdb/duckdb-go-bindings"

	"heddle/internal/dataset/protocol"
	"heddle/internal/dataset/worker/gate"
)

// resultName is what a query calls the table that came with it.
const resultName = "result"

// query runs a statement of a model and returns what it returned, as Query says.
func (e *engine) query(ctx context.Context, q *protocol.Query) (*protocol.Result, [][]byte, error) {
	verdict, err := e.admit(ctx, q)
	if err != nil {
		return nil, nil, err
	}
	c, err := e.db.connect(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer c.close()
	if q.Result != "" {
		// A view of this connection alone comes before a table of that name.
		if err := c.exec("CREATE TEMP VIEW " + resultName + " AS FROM main." + ident(q.Result)); err != nil {
			return nil, nil, err
		}
	}
	if verdict.Explain != "" {
		text, err := c.explain(verdict.SQL)
		return &protocol.Result{Columns: []protocol.Field{}, Text: true, Tables: e.read(verdict, q)}, text, err
	}
	p, err := c.plan(verdict.SQL)
	if err != nil {
		return nil, nil, err
	}
	defer p.close()
	result := &protocol.Result{Columns: p.fields, Tables: e.read(verdict, q)}
	payload, err := e.collect(ctx, p, q, result)
	if err != nil {
		return nil, nil, err
	}
	return result, payload, nil
}

// admit asks the gate, and whether all that the statement reads is here.
func (e *engine) admit(ctx context.Context, q *protocol.Query) (gate.Verdict, error) {
	verdict, err := e.gate.Check(ctx, q.SQL)
	var refusal *gate.Error
	switch {
	case errors.As(err, &refusal):
		return verdict, &fault{kind: refusal.Kind, text: cut(refusal.Text, maxError)}
	case err != nil:
		return verdict, err
	case q.Result != "" && e.find(q.Result) == nil:
		return verdict, missing(q.Result)
	case q.All:
		return verdict, nil // what is not here now does not exist
	case verdict.AllTables:
		return verdict, missing("*")
	}
	var names []string
	for _, name := range verdict.Tables {
		if e.find(name) == nil && !(q.Result != "" && strings.EqualFold(name, resultName)) {
			names = append(names, name)
		}
	}
	if names != nil {
		return verdict, missing(names...)
	}
	return verdict, nil
}

func missing(names ...string) error {
	return &fault{kind: protocol.Missing, text: "not loaded: " + cut(strings.Join(names, ", "), maxError), names: names}
}

// read is which tables a statement reads, as they are called.
func (e *engine) read(v gate.Verdict, q *protocol.Query) []string {
	var names []string
	for _, name := range v.Tables {
		if q.Result != "" && strings.EqualFold(name, resultName) {
			name = q.Result
		}
		if t := e.find(name); t != nil && !slices.Contains(names, t.name) {
			names = append(names, t.name)
		}
	}
	return names
}

// collect runs a plan and gives its rows to what q asks for.
func (e *engine) collect(ctx context.Context, p *plan, q *protocol.Query, result *protocol.Result) ([][]byte, error) {
	out := &sink{e: e, p: p, query: q, result: result}
	defer out.close()
	if err := out.begin(ctx); err != nil {
		return nil, err
	}
	r, err := p.stmt.run()
	if err != nil {
		return nil, err
	}
	defer r.close()
	for !result.More {
		k, err := r.next()
		if err != nil {
			return nil, err
		}
		if k == nil {
			break
		}
		if room := protocol.MaxRows - result.Rows; int64(k.size) > room {
			k.size, result.More = int(room), true
			duck.DataChunkSetSize(k.c, duck.IdxT(k.size))
		}
		result.Rows += int64(k.size)
		if err := out.add(ctx, k); err != nil {
			return nil, err
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return out.end()
}

// explain returns the text of an EXPLAIN.
func (c *conn) explain(sql string) ([][]byte, error) {
	rows, err := c.texts(sql)
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	for _, row := range rows {
		for _, cell := range row[min(1, len(row)):] { // the first says what the second is
			if cell != nil {
				b.WriteString(*cell)
			}
		}
	}
	if b.Len() > protocol.MaxPayload {
		return nil, tooLarge("the plan is over %d MB", protocol.MaxPayload>>20)
	}
	return [][]byte{[]byte(strings.TrimRight(b.String(), "\n"))}, nil
}
