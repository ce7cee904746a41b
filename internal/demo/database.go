package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"heddle/internal/inproc"
)

// database is an analytics database. Its export is the one slow tool.
type database struct {
	mu      sync.Mutex
	tables  []table
	exports []*export
	// stopped says that an export has seen its cancellation.
	stopped chan struct{}
}

type table struct {
	Name    string   `json:"name"`
	Rows    int      `json:"rows"`
	Bytes   int      `json:"bytes"`
	Columns []column `json:"columns,omitempty"`
}

type column struct {
	Name string `json:"name"`
	Type string `json:"type"`
	Null bool   `json:"null"`
}

type export struct {
	ID      string `json:"export_id"`
	Table   string `json:"table"`
	Status  string `json:"status"`
	Written int    `json:"rows_written"`
	Rows    int    `json:"rows"`
	File    string `json:"file,omitempty"`
	Note    string `json:"note,omitempty"`
}

func newDatabase() *database {
	return &database{
		stopped: make(chan struct{}, 1),
		tables: []table{
			{"customers", 48_210, 9_437_184, []column{{"id", "bigint", false}, {"email", "text", false}, {"country", "char(2)", true}, {"created_at", "timestamptz", false}}},
			{"orders", 200_000, 41_943_040, []column{{"id", "bigint", false}, {"customer_id", "bigint", false}, {"total_cents", "integer", false}, {"status", "text", false}}},
			{"shipments", 187_433, 23_068_672, []column{{"id", "bigint", false}, {"order_id", "bigint", false}, {"carrier", "text", false}, {"delivered_at", "timestamptz", true}}},
		},
	}
}

func (d *database) tools() map[string]tool {
	return map[string]tool{
		"list_tables": simple(&d.mu, func(struct{}) (any, error) {
			short := slices.Clone(d.tables)
			for i := range short {
				short[i].Columns = nil
			}
			return object{"tables": short}, nil
		}),
		"describe_table": simple(&d.mu, func(a struct{ Table string }) (any, error) { return d.table(a.Table) }),
		"run_query": simple(&d.mu, func(a struct{ SQL string }) (any, error) {
			return object{
				"columns": []string{"status", "orders", "revenue_cents"}, "row_count": 3, "elapsed_ms": 38,
				"rows": [][]any{{"delivered", 171204, 912_440_150}, {"open", 21530, 118_002_700}, {"returned", 7266, 36_120_410}},
			}, nil
		}),
		"explain_query": simple(&d.mu, func(a struct{ Format string }) (any, error) {
			return object{"format": or(a.Format, "text"), "plan": "HashAggregate  (cost=4381.00..4381.03 rows=3)\n  ->  Seq Scan on orders  (cost=0.00..3381.00 rows=200000)"}, nil
		}),
		"insert_rows": simple(&d.mu, func(a struct {
			Table string
			Rows  []json.RawMessage
		}) (any, error) {
			t, err := d.table(a.Table)
			if err != nil {
				return nil, err
			}
			t.Rows += len(a.Rows)
			return object{"table": t.Name, "inserted": len(a.Rows), "rows": t.Rows}, nil
		}),
		"export_table": d.export,
		"list_exports": simple(&d.mu, func(a struct{ Status string }) (any, error) {
			found := []export{}
			for _, e := range slices.Backward(d.exports) {
				if status := or(a.Status, "any"); status == "any" || e.Status == status {
					found = append(found, *e)
				}
			}
			return object{"exports": found}, nil
		}),
		"drop_table": simple(&d.mu, func(a struct{ Table string }) (any, error) {
			if _, err := d.table(a.Table); err != nil {
				return nil, err
			}
			d.tables = slices.DeleteFunc(d.tables, func(t table) bool { return t.Name == a.Table })
			return object{"dropped": a.Table}, nil
		}),
	}
}

func (d *database) table(name string) (*table, error) {
	for i := range d.tables {
		if d.tables[i].Name == name {
			return &d.tables[i], nil
		}
	}
	return nil, fmt.Errorf("there is no table %s", name)
}

// An export writes so many rows at a time: the whole of orders takes 20 seconds.
const (
	exportRows  = 1000
	exportEvery = 100 * time.Millisecond
)

func (d *database) export(ctx context.Context, c *inproc.Call) (json.RawMessage, error) {
	var args struct{ Table, Format, Destination string }
	if err := json.Unmarshal(c.Arguments, &args); err != nil {
		return nil, fmt.Errorf("arguments: %w", err)
	}
	e, err := d.begin(args.Table)
	if err != nil {
		return nil, err
	}
	tick := time.NewTicker(exportEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			d.cancelled(e)
			return nil, ctx.Err()
		}
		d.mu.Lock()
		e.Written = min(e.Rows, e.Written+exportRows)
		done, all := e.Written, e.Rows
		if done == all {
			e.Status, e.File = "done", or(args.Destination, "/exports")+"/"+args.Table+"."+or(args.Format, "csv")
			defer d.mu.Unlock()
			return encode(e)
		}
		d.mu.Unlock()
		c.Progress(done, all)
	}
}

func (d *database) begin(name string) (*export, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	t, err := d.table(name)
	if err != nil {
		return nil, err
	}
	e := &export{ID: fmt.Sprintf("exp_%d", len(d.exports)+1), Table: name, Status: "running", Rows: t.Rows}
	d.exports = append(d.exports, e)
	return e, nil
}

func (d *database) cancelled(e *export) {
	d.mu.Lock()
	e.Status, e.Note = "cancelled", "the client cancelled the call; no file was left"
	d.mu.Unlock()
	select {
	case d.stopped <- struct{}{}:
	default: // nobody asked for the last one either
	}
}
