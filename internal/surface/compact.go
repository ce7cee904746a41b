package surface

import (
	"context"
	"encoding/json"
	"fmt"

	"heddle"
	"heddle/internal/gateway"
	"heddle/internal/wire"
)

// compact shows three tools, however many are behind them. Extreme mode is the
// same to a host; its results are shortened earlier and more.
type compact struct {
	name string
	told told
}

// Name implements [Mode].
func (m *compact) Name() string { return m.name }

const (
	findTool = "find_tool"
	callTool = "call_tool"
)

// The descriptions teach the workflow. They are counted: the whole list must
// stay under 350 tokens without the servers, 280 without SQL.
const (
	findText = "Find tools of the servers behind heddle. One capability a query, in English: action, object and product, not the whole task. Returns at most 3 tools with input schemas; an exact name returns that tool."
	callText = "Run a tool that find_tool returned, with arguments that fit its input schema. Find it first."
	// sqlText is for hosts that have SQL: one turn in place of two.
	sqlText = " sql (DuckDB) returns only rows of a tabular result, FROM result."
)

// Tools implements [Mode].
func (*compact) Tools(g *gateway.Gateway, p heddle.Principal, booted bool) []json.RawMessage {
	text := findText
	if servers := serverText(g.Servers(p, booted)); servers != "" {
		text += " Servers: " + servers + "."
	}
	call, sql := callText, ""
	if g.SQL() {
		call, sql = callText+sqlText, `,"sql":{"type":"string"}`
	}
	return []json.RawMessage{
		fmt.Appendf(nil, `{"name":"find_tool","description":%s,"inputSchema":{"type":"object","properties":{"query":{"type":"string"},"server":{"type":"string"}},"required":["query"],"additionalProperties":false},"annotations":{"readOnlyHint":true,"openWorldHint":false}}`, wire.Quote(text)),
		fmt.Appendf(nil, `{"name":"call_tool","description":%s,"inputSchema":{"type":"object","properties":{"tool":{"type":"string"},"arguments":{"type":"object"}%s},"required":["tool"],"additionalProperties":false},"annotations":{"destructiveHint":true,"openWorldHint":true}}`, wire.Quote(call), sql),
		readResultDefinition(g),
	}
}

// Call implements [Mode].
func (m *compact) Call(ctx context.Context, g *gateway.Gateway, c *heddle.Call) (heddle.Delivery, error) {
	switch c.Tool {
	case callTool:
		return m.call(ctx, g, c)
	case findTool:
		return g.Own(ctx, c, func(ctx context.Context) (heddle.Delivery, error) { return m.find(ctx, g, c) })
	case readResult:
		return readCaptured(ctx, g, c)
	}
	return g.Own(ctx, c, func(context.Context) (heddle.Delivery, error) {
		return heddle.Delivery{}, &heddle.Error{
			Kind: heddle.KindUnknownTool, Op: "surface.call",
			Public: "heddle has the tools find_tool, call_tool and read_result. Run any other through call_tool, its name as `tool`.",
			Near:   []string{callTool},
		}
	})
}

// call translates call_tool into the call that it wraps.
func (*compact) call(ctx context.Context, g *gateway.Gateway, c *heddle.Call) (heddle.Delivery, error) {
	inner := *c
	inner.Tool, inner.Arguments = "", nil
	err := fields(c.Arguments, map[string]*string{"tool": &inner.Tool, "sql": &inner.SQL}, map[string]*json.RawMessage{"arguments": &inner.Arguments})
	if err == nil && inner.Tool == "" {
		err = invalid(heddle.Violation{Path: "/tool", Keyword: "required", Message: "the tool's name as find_tool gave it is required"})
	}
	if err == nil {
		inner.Arguments, err = innerArguments(inner.Arguments)
	}
	if err != nil { // a row for what no tool can be told from
		return g.Own(ctx, c, func(context.Context) (heddle.Delivery, error) { return heddle.Delivery{}, err })
	}
	return g.Call(ctx, &inner)
}

// innerArguments takes an object, or the JSON text of one, as some models send
// it.
func innerArguments(raw json.RawMessage) (json.RawMessage, error) {
	text, isText := wire.Unquote(raw)
	if !isText {
		return raw, nil
	}
	inner := json.RawMessage(text)
	if wire.Members(inner, func(string, json.RawMessage) bool { return true }) != nil {
		return nil, invalid(heddle.Violation{Path: "/arguments", Keyword: "type", Message: "an object is expected, or the JSON text of one"})
	}
	return wire.OneLine(inner), nil
}

// find answers find_tool. Servers that are still starting are given a moment,
// as for a list.
func (m *compact) find(ctx context.Context, g *gateway.Gateway, c *heddle.Call) (heddle.Delivery, error) {
	var query, server string
	if err := fields(c.Arguments, map[string]*string{"query": &query, "server": &server}, nil); err != nil {
		return heddle.Delivery{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, listWait)
	defer cancel()
	g.Booted(ctx)
	text, err := g.Find(c.Principal, query, server, func(server string) bool { return m.told.once(c.Session, server) })
	if err != nil {
		return heddle.Delivery{}, err
	}
	return heddle.Delivery{Raw: textResult(text), Form: heddle.FormOwn, Definitions: true}, nil
}
