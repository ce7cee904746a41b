package gateway

import (
	"context"
	"errors"
	"strings"

	"heddle"
	"heddle/internal/capture"
	"heddle/internal/deliver"
)

// Read answers read_result from what was captured for the principal of c. Where
// the capture is gone, the error names the tool to call again as the host knows
// it.
func (g *Gateway) Read(ctx context.Context, c *heddle.Call, r deliver.Reading) (heddle.Delivery, error) {
	if d, ok, err := g.released(ctx, c, r.Ref); ok {
		return d, err
	}
	d, err := g.deliver.Read(ctx, c, r)
	var gone *capture.Gone
	var e *heddle.Error
	if !errors.As(err, &gone) || !errors.As(err, &e) {
		return d, err
	}
	for _, t := range g.Snapshot(c.Principal).Tools() {
		if t.Ref == gone.Tool {
			said := *e
			said.Public = strings.Replace(e.Public, t.Ref.String(), knownAs(t, c.Mode), 1)
			return d, &said
		}
	}
	return d, err // it is not there any more
}

// knownAs returns the name that hosts in a mode know a tool by.
func knownAs(t *heddle.Tool, mode string) string {
	switch mode {
	case "native":
		return t.Native
	case "mesh":
		return t.Ref.String()
	}
	return t.Exposed
}

// SQL reports whether hosts can ask for rows of tables.
func (g *Gateway) SQL() bool { return g.deliver.SQL() }

// Loom answers the tools of loom mode.
func (g *Gateway) Loom() deliver.Loom { return g.deliver.Loom() }
