package surface

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"heddle"
	"heddle/internal/catalog"
	"heddle/internal/catalog/minify"
	"heddle/internal/gateway"
	"heddle/internal/policy/schema"
	"heddle/internal/wire"
)

// mesh shows four tools: search, describe, invoke and status. A search costs a
// line a tool, and only what a model describes costs a definition.
type mesh struct {
	told        told
	reads       bool // large results are captured, so there is read_result
	definitions *minify.Cache[json.RawMessage]
	signatures  *minify.Cache[string]
}

func newMesh(reads bool) *mesh {
	return &mesh{
		reads:       reads,
		definitions: minify.NewCache(minify.DefaultSize, func(t *heddle.Tool) json.RawMessage { return minify.Definition(catalog.Written(t)) }),
		signatures:  minify.NewCache(minify.DefaultSize, func(t *heddle.Tool) string { return schema.Signature("", t) }),
	}
}

// Name implements [Mode].
func (*mesh) Name() string { return "mesh" }

const (
	meshSearch   = "mesh_search_tools"
	meshDescribe = "mesh_describe_tool"
	meshInvoke   = "mesh_invoke_tool"
	meshStatus   = "mesh_status"
)

// The descriptions teach the workflow. They are counted: the whole list must
// stay under 450 tokens without the servers.
const meshSearchText = "Search the tools of the servers behind heddle. One capability a query, in English: action, object and product, not the whole task. " +
	"Returns signatures, best first; run one with mesh_invoke_tool, or describe it first if its signature does not say enough."

// Tools implements [Mode].
func (m *mesh) Tools(g *gateway.Gateway, p heddle.Principal, booted bool) []json.RawMessage {
	text := meshSearchText
	if servers := serverText(g.Servers(p, booted)); servers != "" {
		text += " Servers: " + servers + "."
	}
	tools := []json.RawMessage{
		fmt.Appendf(nil, `{"name":"mesh_search_tools","description":%s,"inputSchema":{"type":"object","properties":{"query":{"type":"string"},"limit":{"type":"integer","minimum":1,"maximum":20,"default":5},"server":{"type":"string"}},"required":["query"],"additionalProperties":false},"annotations":{"readOnlyHint":true,"openWorldHint":false}}`, wire.Quote(text)),
		json.RawMessage(`{"name":"mesh_describe_tool","description":"Definition of one tool with its input schema, shortened; minify: false for the server's own words.","inputSchema":{"type":"object","properties":{"server":{"type":"string"},"tool_name":{"type":"string"},"minify":{"type":"boolean"}},"required":["server","tool_name"],"additionalProperties":false},"annotations":{"readOnlyHint":true,"openWorldHint":false}}`),
		json.RawMessage(`{"name":"mesh_invoke_tool","description":"Run a tool that mesh_search_tools found. tool_name may be server::tool.","inputSchema":{"type":"object","properties":{"server":{"type":"string"},"tool_name":{"type":"string"},"arguments":{"type":"object"}},"required":["tool_name"],"additionalProperties":false},"annotations":{"destructiveHint":true,"openWorldHint":true}}`),
		json.RawMessage(`{"name":"mesh_status","description":"Servers, their state and tools, and what heddle saves.","inputSchema":{"type":"object","properties":{},"additionalProperties":false},"annotations":{"readOnlyHint":true,"openWorldHint":false}}`),
	}
	if m.reads {
		tools = append(tools, readResultDefinition(g))
	}
	return tools
}

// Call implements [Mode].
func (m *mesh) Call(ctx context.Context, g *gateway.Gateway, c *heddle.Call) (heddle.Delivery, error) {
	answer := func(f func(*gateway.Gateway, *heddle.Call) (heddle.Delivery, error)) (heddle.Delivery, error) {
		return g.Own(ctx, c, func(ctx context.Context) (heddle.Delivery, error) {
			ctx, cancel := context.WithTimeout(ctx, listWait)
			defer cancel()
			g.Booted(ctx) // servers that are still starting are given a moment
			return f(g, c)
		})
	}
	switch c.Tool {
	case meshInvoke:
		return m.invoke(ctx, g, c)
	case meshSearch:
		return answer(m.search)
	case meshDescribe:
		return answer(m.describe)
	case meshStatus:
		return answer(m.status)
	case readResult:
		if m.reads {
			return readCaptured(ctx, g, c)
		}
	}
	return g.Own(ctx, c, func(context.Context) (heddle.Delivery, error) {
		return heddle.Delivery{}, &heddle.Error{
			Kind: heddle.KindUnknownTool, Op: "surface.call",
			Public: "heddle has the tools mesh_search_tools, mesh_describe_tool, mesh_invoke_tool and mesh_status. Run any other through mesh_invoke_tool, its name as `tool_name`.",
			Near:   []string{meshInvoke},
		}
	})
}

const (
	defaultMatches = 5
	mostMatches    = 20
	maxMeshAnswer  = 10 << 10
)

// search answers mesh_search_tools, a line a match.
func (m *mesh) search(g *gateway.Gateway, c *heddle.Call) (d heddle.Delivery, err error) {
	var query, server string
	var limit json.RawMessage
	if err = fields(c.Arguments, map[string]*string{"query": &query, "server": &server}, map[string]*json.RawMessage{"limit": &limit}); err != nil {
		return d, err
	}
	n := defaultMatches
	if limit != nil {
		if n, err = strconv.Atoi(string(limit)); err != nil || n < 1 || n > mostMatches {
			return d, invalid(heddle.Violation{Path: "/limit", Keyword: "type", Message: fmt.Sprintf("a whole number from 1 to %d is expected", mostMatches)})
		}
	}
	matches, nothing, err := g.Search(c.Principal, query, server, n)
	if err != nil {
		return d, err
	}
	if len(matches) == 0 {
		return heddle.Delivery{Raw: textResult(nothing), Form: heddle.FormOwn}, nil
	}
	about := g.Introduce(c.Principal, matches, func(server string) bool { return m.told.once(c.Session, server) })
	text, hit := m.list(matches, about)
	return heddle.Delivery{Raw: textResult(text), Form: heddle.FormOwn, Definitions: true, CacheHit: hit}, nil
}

// list writes the matches, one a line with its score. The last ones are left out
// where there are too many. hit says that all signatures were in the cache.
func (m *mesh) list(matches []catalog.Match, about string) (text string, hit bool) {
	hit = true
	var b strings.Builder
	b.WriteString(about)
	b.WriteString("Best first, with scores. Run one with mesh_invoke_tool; mesh_describe_tool says more.\n")
	for i, match := range matches {
		signature, cached := m.signatures.Get(match.Tool)
		hit = hit && cached
		line := fmt.Sprintf("%.1f %s%s", match.Score, match.Tool.Ref, signature)
		if text := minify.Brief(match.Tool.Description, 120); text != "" {
			line += " — " + text
		}
		if b.Len()+len(line) > maxMeshAnswer-64 {
			fmt.Fprintf(&b, "%d more are left out: they do not fit.\n", len(matches)-i)
			break
		}
		b.WriteString(line + "\n")
	}
	return b.String(), hit
}

// describe answers mesh_describe_tool with the definition, in lines.
func (m *mesh) describe(g *gateway.Gateway, c *heddle.Call) (d heddle.Delivery, err error) {
	var server, name string
	var small json.RawMessage
	if err = fields(c.Arguments, map[string]*string{"server": &server, "tool_name": &name}, map[string]*json.RawMessage{"minify": &small}); err != nil {
		return d, err
	}
	switch {
	case name == "":
		return d, invalid(heddle.Violation{Path: "/tool_name", Keyword: "required", Message: "the tool's name is required"})
	case server == "" && !strings.Contains(name, "::"):
		return d, invalid(heddle.Violation{Path: "/server", Keyword: "required", Message: "the server's name is required"})
	case small != nil && string(small) != "true" && string(small) != "false":
		return d, invalid(heddle.Violation{Path: "/minify", Keyword: "type", Message: "true or false is expected"})
	}
	tool, err := g.Tool(c.Principal, server, name)
	if err != nil {
		return d, err
	}
	definition, hit := catalog.Written(tool), false
	if string(small) != "false" {
		definition, hit = m.definitions.Get(tool)
	}
	const room = maxMeshAnswer - 1024 // for the ends of lines
	short, cut := minify.Outline(definition, room)
	if cut && string(small) == "false" {
		definition, hit = m.definitions.Get(tool)
		short, _ = minify.Outline(definition, room)
	}
	text := string(minify.Lines(short))
	if cut {
		text += "\nShortened, because the whole is too large to show."
		if ref := m.whole(g, c, tool); ref != "" {
			text += fmt.Sprintf(" read_result {\"result_ref\":%q} pages all of it.", ref)
		}
	}
	return heddle.Delivery{Raw: textResult(text), Form: heddle.FormOwn, Definitions: true, CacheHit: hit}, nil
}

// whole captures a definition that is shown in part, for hosts that have
// read_result.
func (m *mesh) whole(g *gateway.Gateway, c *heddle.Call, t *heddle.Tool) (ref string) {
	if !m.reads {
		return ""
	}
	return g.Whole(c.Principal, t, meshDescribe)
}

// invoke translates mesh_invoke_tool into the call that it wraps.
func (m *mesh) invoke(ctx context.Context, g *gateway.Gateway, c *heddle.Call) (heddle.Delivery, error) {
	inner := *c
	inner.Tool, inner.Arguments = "", nil
	var server string
	err := fields(c.Arguments, map[string]*string{"server": &server, "tool_name": &inner.Tool}, map[string]*json.RawMessage{"arguments": &inner.Arguments})
	if err == nil && inner.Tool == "" {
		err = invalid(heddle.Violation{Path: "/tool_name", Keyword: "required", Message: "the tool's name as mesh_search_tools gave it is required"})
	}
	if err == nil {
		inner.Arguments, err = innerArguments(inner.Arguments)
	}
	if err != nil { // a row for what no tool can be told from
		return g.Own(ctx, c, func(context.Context) (heddle.Delivery, error) { return heddle.Delivery{}, err })
	}
	name := inner.Tool
	if server != "" {
		inner.Tool = server + "::" + name // its server may still be starting
		if tool, err := g.Tool(c.Principal, server, name); err == nil {
			inner.Tool = tool.Ref.String()
		}
	}
	d, err := g.Call(ctx, &inner)
	var e *heddle.Error
	if errors.As(err, &e) && e.Kind == heddle.KindUnknownTool && e.Op == "gateway.resolve" {
		// The call path knows names alone. Say what is wrong with the pair.
		var better *heddle.Error
		if _, err := g.Tool(c.Principal, server, name); errors.As(err, &better) {
			better.Tool = e.Tool
			return d, better
		}
	}
	return d, err
}

// meshState is what mesh_status says.
type meshState struct {
	Servers      []gateway.ServerStatus `json:"servers"`
	ToolsIndexed int                    `json:"tools_indexed"`
	TokensSaved  int                    `json:"tokens_saved_estimate"`
	CacheHits    int64                  `json:"cache_hits"`
	CacheMisses  int64                  `json:"cache_misses"`
}

// bytesPerToken is what definitions have on average. Counting them takes a table
// of tens of megabytes, which a daemon must not build.
const bytesPerToken = 4.3

// status answers mesh_status, the same as text and as structured content.
func (m *mesh) status(g *gateway.Gateway, c *heddle.Call) (d heddle.Delivery, err error) {
	if err = fields(c.Arguments, nil, nil); err != nil {
		return d, err
	}
	var s meshState
	var bytes, own int
	s.Servers, bytes = g.Status(c.Principal)
	for _, server := range s.Servers {
		s.ToolsIndexed += server.Tools
	}
	for _, d := range m.Tools(g, c.Principal, true) {
		own += len(d)
	}
	s.TokensSaved = max(0, int(float64(bytes-own)/bytesPerToken))
	h1, m1 := m.definitions.Stats()
	h2, m2 := m.signatures.Stats()
	s.CacheHits, s.CacheMisses = h1+h2, m1+m2
	text, shown := s.text()
	s.Servers = s.Servers[:shown]
	structured, err := json.Marshal(s)
	if err != nil {
		return d, fmt.Errorf("mesh status: %w", err)
	}
	raw := textResult(text)
	raw = append(raw[:len(raw)-1], `,"structuredContent":`...)
	return heddle.Delivery{Raw: append(append(raw, structured...), '}'), Form: heddle.FormOwn}, nil
}

// text writes the state in lines, with as many servers as fit.
func (s *meshState) text() (text string, shown int) {
	var b strings.Builder
	fmt.Fprintf(&b, "%d tools of %d servers are indexed. Their definitions are not shown, which saves about %d tokens (an estimate).\n", s.ToolsIndexed, len(s.Servers), s.TokensSaved)
	fmt.Fprintf(&b, "Cache of definitions and signatures: %d hits, %d misses.\n", s.CacheHits, s.CacheMisses)
	for i, server := range s.Servers {
		line := fmt.Sprintf("%s: %s, %d tools", server.Name, server.State, server.Tools)
		if server.Circuit != "" {
			line += ", circuit " + server.Circuit
		}
		if server.Reason != "" {
			line += ", " + server.Reason
		}
		if b.Len()+len(line) > maxMeshAnswer-64 {
			fmt.Fprintf(&b, "%d more servers are left out: they do not fit.\n", len(s.Servers)-i)
			return b.String(), i
		}
		b.WriteString(line + "\n")
	}
	return b.String(), len(s.Servers)
}
