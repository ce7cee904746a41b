package surface

import (
	"context"
	"encoding/json"

	"heddle"
	"heddle/internal/deliver"
	"heddle/internal/gateway"
)

// loom shows every tool under its exposed name, and tools of its own for the tables
// that large results become.
type loom struct{}

// Name implements [Mode].
func (loom) Name() string { return "loom" }

const (
	loomQuery       = "loom_query"
	loomList        = "loom_list_datasets"
	loomDescribe    = "loom_describe"
	loomMaterialize = "loom_materialize"
	loomExport      = "loom_export"
)

// loomTools are the definitions of loom mode's own tools.
var loomTools = []json.RawMessage{
	json.RawMessage(`{"name":"loom_query","description":"Run a read-only SQL query (DuckDB) over the datasets that large results became; join across servers. Small answers come back as rows, large ones as a new dataset.","inputSchema":{"type":"object","properties":{"sql":{"type":"string"}},"required":["sql"],"additionalProperties":false},"annotations":{"readOnlyHint":true,"openWorldHint":false}}`),
	json.RawMessage(`{"name":"loom_list_datasets","description":"List the datasets: ref, rows, bytes, age, where from.","inputSchema":{"type":"object","properties":{},"additionalProperties":false},"annotations":{"readOnlyHint":true,"openWorldHint":false}}`),
	json.RawMessage(`{"name":"loom_describe","description":"Schema, sample rows, join hints and provenance of a dataset.","inputSchema":{"type":"object","properties":{"ref":{"type":"string"}},"required":["ref"],"additionalProperties":false},"annotations":{"readOnlyHint":true,"openWorldHint":false}}`),
	json.RawMessage(`{"name":"loom_materialize","description":"Keep what a query returns as a pinned dataset that survives a restart.","inputSchema":{"type":"object","properties":{"sql":{"type":"string"},"name":{"type":"string"}},"required":["sql","name"],"additionalProperties":false},"annotations":{"readOnlyHint":false,"destructiveHint":false,"openWorldHint":false}}`),
	json.RawMessage(`{"name":"loom_export","description":"Write a dataset to a csv or json file in the export directory; returns its path.","inputSchema":{"type":"object","properties":{"ref":{"type":"string"},"format":{"type":"string","enum":["csv","json"]},"filename":{"type":"string"}},"required":["ref","format"],"additionalProperties":false},"annotations":{"readOnlyHint":false,"destructiveHint":false,"openWorldHint":false}}`),
}

// Tools implements [Mode]. Where there is no SQL, neither are the tools for it.
func (loom) Tools(g *gateway.Gateway, p heddle.Principal, _ bool) []json.RawMessage {
	snapshot := g.Snapshot(p)
	out := make([]json.RawMessage, 0, len(snapshot.Tools())+len(loomTools)+1)
	for _, t := range snapshot.Tools() {
		out = append(out, snapshot.ExposedDefinition(t))
	}
	if g.SQL() {
		out = append(out, loomTools...)
	}
	return append(out, readResultDefinition(g))
}

// Call implements [Mode].
func (l loom) Call(ctx context.Context, g *gateway.Gateway, c *heddle.Call) (heddle.Delivery, error) {
	if c.Tool == readResult {
		return readCaptured(ctx, g, c)
	}
	run := l.own(c.Tool)
	if run == nil || !g.SQL() {
		return g.Call(ctx, c)
	}
	return g.Reading(ctx, c, func(ctx context.Context) (heddle.Delivery, error) {
		text, err := run(ctx, g.Loom(), c)
		if err != nil {
			return heddle.Delivery{}, err
		}
		return heddle.Delivery{Raw: textResult(text), Form: heddle.FormOwn}, nil
	})
}

// own returns what answers one of loom mode's own tools; nil for any other.
func (loom) own(tool string) func(context.Context, deliver.Loom, *heddle.Call) (string, error) {
	switch tool {
	case loomQuery:
		return func(ctx context.Context, l deliver.Loom, c *heddle.Call) (string, error) {
			var sql string
			if err := required(c.Arguments, map[string]*string{"sql": &sql}); err != nil {
				return "", err
			}
			return l.Query(ctx, c.Principal, sql)
		}
	case loomList:
		return func(ctx context.Context, l deliver.Loom, c *heddle.Call) (string, error) {
			if err := fields(c.Arguments, nil, nil); err != nil {
				return "", err
			}
			return l.List(ctx, c.Principal), nil
		}
	case loomDescribe:
		return func(ctx context.Context, l deliver.Loom, c *heddle.Call) (string, error) {
			var ref string
			if err := required(c.Arguments, map[string]*string{"ref": &ref}); err != nil {
				return "", err
			}
			return l.Describe(ctx, c.Principal, ref)
		}
	case loomMaterialize:
		return func(ctx context.Context, l deliver.Loom, c *heddle.Call) (string, error) {
			var sql, name string
			if err := required(c.Arguments, map[string]*string{"sql": &sql, "name": &name}); err != nil {
				return "", err
			}
			return l.Materialize(ctx, c.Principal, sql, name)
		}
	case loomExport:
		return func(ctx context.Context, l deliver.Loom, c *heddle.Call) (string, error) {
			var ref, format, name string
			if err := required(c.Arguments, map[string]*string{"ref": &ref, "format": &format}, map[string]*string{"filename": &name}); err != nil {
				return "", err
			}
			return l.Export(ctx, c.Principal, ref, format, name)
		}
	}
	return nil
}
