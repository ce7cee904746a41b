package surface

import (
	"context"
	"encoding/json"

	"heddle"
	"heddle/internal/gateway"
)

// native shows every authorized tool under its own name.
type native struct{ o Options }

// Name implements [Mode].
func (native) Name() string { return "native" }

// Tools implements [Mode].
func (m native) Tools(g *gateway.Gateway, p heddle.Principal, _ bool) []json.RawMessage {
	snapshot := g.Snapshot(p)
	out := make([]json.RawMessage, 0, len(snapshot.Tools())+1)
	for _, t := range snapshot.Tools() {
		out = append(out, snapshot.NativeDefinition(t, m.o.KeepOutputSchema))
	}
	return append(out, readResultDefinition(g))
}

// Call implements [Mode].
func (native) Call(ctx context.Context, g *gateway.Gateway, c *heddle.Call) (heddle.Delivery, error) {
	if c.Tool == readResult {
		return readCaptured(ctx, g, c)
	}
	return g.Call(ctx, c)
}
