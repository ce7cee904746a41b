package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"heddle"
	"heddle/internal/upstream"
	"heddle/internal/wire"
)

// Origin says which host a request came from.
type Origin struct {
	Host heddle.Host
	// Protocol is as in [heddle.Call].
	Protocol json.RawMessage
}

// codes of JSON-RPC and MCP that Forward answers with.
const (
	codeNotFound      = -32002 // MCP: resource not found
	codeInvalidParams = -32602
	codeNoMethod      = -32601
)

// Forward answers a request about what is not tools: resources, prompts and
// completion. Lists come from what the servers have listed, anything else goes
// up to the one server that it concerns. params are the host's, without the
// protocol's own members of _meta. The error is a [*heddle.RPCError] or a
// [*heddle.Error].
func (g *Gateway) Forward(ctx context.Context, o Origin, method string, params json.RawMessage) (json.RawMessage, error) {
	r := &upstream.Request{Method: method, Params: params, Protocol: o.Protocol, Host: o.Host}
	switch method {
	case upstream.ListResources, upstream.ListTemplates, upstream.ListPrompts:
		if wire.Member(params, "cursor") != nil {
			return nil, heddle.NewRPCError(codeInvalidParams, "unknown cursor: heddle lists everything on one page")
		}
		return g.listed(g.others(ctx), method), nil
	case "resources/read":
		raw, err := g.read(ctx, r)
		return g.judged(raw, err, "contents", func(line string) any {
			return map[string]string{"uri": aliasScheme, "mimeType": "text/plain", "text": line}
		})
	case "resources/subscribe", "resources/unsubscribe":
		return g.subscribe(ctx, r)
	case "prompts/get":
		name, _ := wire.Unquote(wire.Member(params, "name"))
		p, ok := g.prompt(ctx, name)
		if !ok {
			return nil, heddle.NewRPCError(codeInvalidParams, fmt.Sprintf("there is no prompt %q", name))
		}
		r.Params = replace(params, "name", p.name)
		raw, err := p.server.Forward(ctx, r)
		return g.judged(raw, err, "messages", func(line string) any {
			return map[string]any{"role": "user", "content": map[string]string{"type": "text", "text": line}}
		})
	case "completion/complete":
		return g.complete(ctx, r)
	}
	return nil, heddle.NewRPCError(codeNoMethod, fmt.Sprintf("%q is not supported", method))
}

// listed returns the result of a list method. An item whose texts address the model has
// a line of heddle's own in its description, or is left out.
func (g *Gateway) listed(o *others, method string) json.RawMessage {
	var items []json.RawMessage
	for _, item := range o.lists[method] {
		switch line := g.policy.Read(item); {
		case line == "":
			items = append(items, item)
		case !g.policy.Blocks():
			items = append(items, described(item, line))
		}
	}
	return listOf(method, items)
}

// described puts a line before an item's description, which it may not have yet.
func described(item json.RawMessage, line string) json.RawMessage {
	if text, ok := wire.Unquote(wire.Member(item, "description")); ok {
		return wire.Replace(item, "description", wire.Quote(line+"\n"+text))
	}
	out := append([]byte(`{"description":`), wire.Quote(line)...)
	return append(append(out, ','), item[1:]...) // it has a name at least
}

// judged puts a line of heddle's own at the head of a list that reaches the model,
// where that contains instructions; or withholds it.
func (g *Gateway) judged(raw json.RawMessage, err error, list string, item func(line string) any) (json.RawMessage, error) {
	if err != nil {
		_, err = g.policy.Failed("behind this", err)
		return nil, err
	}
	raw = g.policy.Masked(raw)
	line := g.policy.Read(raw)
	if line != "" && g.policy.Blocks() {
		return nil, &heddle.Error{Kind: heddle.KindInjection, Op: "gateway.forward", Public: "This is withheld: it contains instructions to a model."}
	}
	items, err := wire.Elements(wire.Member(raw, list))
	if line == "" || err != nil {
		return raw, nil
	}
	first, err := json.Marshal(item(line))
	if err != nil {
		return raw, nil
	}
	out := append([]byte{'['}, first...)
	for _, i := range items {
		out = append(append(out, ','), i...)
	}
	return wire.Replace(raw, list, append(out, ']')), nil
}

// read reads a resource. One that is in no list and fits no template may still
// exist: then every server that has resources is asked in turn.
func (g *Gateway) read(ctx context.Context, r *upstream.Request) (json.RawMessage, error) {
	uri, ok := wire.Unquote(wire.Member(r.Params, "uri"))
	if !ok {
		return nil, heddle.NewRPCError(codeInvalidParams, `a string "uri" is required`)
	}
	var first error
	params := r.Params
	for _, at := range g.owners(ctx, uri) {
		r.Params = replace(params, "uri", at.uri)
		raw, err := at.server.Forward(ctx, r)
		if err == nil || ctx.Err() != nil {
			return raw, err
		}
		if first == nil {
			first = err
		}
	}
	if first == nil {
		first = notFound(uri)
	}
	return nil, first
}

func notFound(uri string) error {
	return &heddle.RPCError{Raw: fmt.Appendf(nil, `{"code":%d,"message":"Resource not found","data":{"uri":%s}}`, codeNotFound, wire.Quote(uri))}
}

// subscribe begins or ends a subscription at the first server that may have the
// resource.
func (g *Gateway) subscribe(ctx context.Context, r *upstream.Request) (json.RawMessage, error) {
	uri, _ := wire.Unquote(wire.Member(r.Params, "uri"))
	owners := g.owners(ctx, uri)
	if len(owners) == 0 {
		return nil, notFound(uri)
	}
	at := owners[0]
	r.Params = replace(r.Params, "uri", at.uri)
	if r.Method == "resources/subscribe" {
		return at.server.Subscribe(ctx, r, at.uri)
	}
	return at.server.Unsubscribe(ctx, r, at.uri)
}

// noCompletion is the answer for a server that completes nothing.
var noCompletion = json.RawMessage(`{"completion":{"values":[]}}`)

// complete completes an argument of a prompt or of a resource template.
func (g *Gateway) complete(ctx context.Context, r *upstream.Request) (json.RawMessage, error) {
	ref := wire.Member(r.Params, "ref")
	kind, _ := wire.Unquote(wire.Member(ref, "type"))
	var server *upstream.Server
	switch kind {
	case "ref/prompt":
		name, _ := wire.Unquote(wire.Member(ref, "name"))
		if p, ok := g.prompt(ctx, name); ok {
			server, ref = p.server, replace(ref, "name", p.name)
		}
	case "ref/resource":
		uri, _ := wire.Unquote(wire.Member(ref, "uri"))
		if owners := g.owners(ctx, uri); len(owners) > 0 {
			server, ref = owners[0].server, replace(ref, "uri", owners[0].uri)
		}
	}
	switch {
	case server == nil:
		return nil, heddle.NewRPCError(codeInvalidParams, "ref names no prompt and no resource that is known")
	case !server.Listing().Features.Completions:
		return noCompletion, nil
	}
	r.Params = wire.Replace(r.Params, "ref", ref)
	raw, err := server.Forward(ctx, r)
	if err != nil {
		_, err = g.policy.Failed(server.Name(), err)
		return nil, err
	}
	if g.policy.Read(raw) != "" {
		return noCompletion, nil // there is no place for a warning
	}
	return g.policy.Masked(raw), nil
}

// Wanted has all servers send log messages from level on. It waits for their
// answers; none waits for another's.
func (g *Gateway) Wanted(ctx context.Context, level string) {
	var told sync.WaitGroup
	for _, s := range g.pool.Servers() {
		told.Go(func() { s.SetLevel(ctx, level) })
	}
	told.Wait()
}

// RootsChanged tells all servers that a host's roots have changed.
func (g *Gateway) RootsChanged() {
	for _, s := range g.pool.Servers() {
		s.RootsChanged()
	}
}

// ExposedURIs returns the URIs under which hosts may have subscribed to a server's
// resource.
func (g *Gateway) ExposedURIs(server, uri string) []string {
	out := []string{aliasURI(server, uri)}
	if owners, _ := g.gather().owners(uri); len(owners) > 0 && owners[0].server.Name() == server {
		out = append(out, uri)
	}
	return out
}

// others is what the servers have beside tools, under the names that hosts use.
type others struct {
	pool      *upstream.Pool
	lists     map[string][]json.RawMessage // by method
	resources map[string]place             // by URI
	templates []template
	prompts   map[string]prompt
}

type place struct {
	server *upstream.Server
	uri    string // the server's own
}

type prompt struct {
	server *upstream.Server
	name   string // the server's own
}

type template struct {
	server   *upstream.Server
	exposed  string
	template string // the server's own
}

// others waits a moment for servers that are still starting.
func (g *Gateway) others(ctx context.Context) *others {
	ctx, cancel := context.WithTimeout(ctx, listWait)
	defer cancel()
	for _, s := range g.pool.Servers() {
		s.Settled(ctx)
	}
	return g.gather()
}

// having is others, but it does not wait for what is known already: where known
// returns a server, and all before it, which would come first, have listed what
// they have.
func (g *Gateway) having(ctx context.Context, known func(*others) *upstream.Server) *others {
	o := g.gather()
	found := known(o)
	if found == nil {
		return g.others(ctx)
	}
	now, cancel := context.WithCancel(ctx)
	cancel() // an ended context asks without waiting
	for _, s := range g.pool.Servers() {
		switch {
		case s == found:
			return o
		case !s.Settled(now):
			return g.others(ctx)
		}
	}
	return o
}

// prompt returns the prompt that hosts know by this name.
func (g *Gateway) prompt(ctx context.Context, name string) (prompt, bool) {
	p, ok := g.having(ctx, func(o *others) *upstream.Server { return o.prompts[name].server }).prompts[name]
	return p, ok
}

// owners returns the servers that may have the resource or template, the
// likeliest first.
func (g *Gateway) owners(ctx context.Context, uri string) []place {
	o := g.having(ctx, func(o *others) *upstream.Server {
		if places, sure := o.owners(uri); sure {
			return places[0].server
		}
		return nil
	})
	out, _ := o.owners(uri)
	return out
}

// gather puts the servers' lists together. Where two have the same URI or name,
// the first in the configuration keeps it and the other gets one of its own, so
// that neither shadows the other.
func (g *Gateway) gather() *others {
	o := &others{pool: g.pool, lists: map[string][]json.RawMessage{}, resources: map[string]place{}, prompts: map[string]prompt{}}
	seen := map[string]*upstream.Server{}
	for _, s := range g.pool.Servers() {
		lists := s.Listing().Lists
		for _, item := range lists[upstream.ListResources] {
			o.addResource(s, item)
		}
		for _, item := range lists[upstream.ListTemplates] {
			o.addTemplate(s, item, seen)
		}
		for _, item := range lists[upstream.ListPrompts] {
			o.addPrompt(s, item)
		}
	}
	return o
}

func (o *others) addResource(s *upstream.Server, item json.RawMessage) {
	uri, ok := wire.Unquote(wire.Member(item, "uri"))
	if !ok {
		return
	}
	exposed := uri
	if at, taken := o.resources[uri]; taken && at.server != s || strings.HasPrefix(uri, aliasScheme) { // whose addresses are heddle's to give
		exposed = aliasURI(s.Name(), uri)
		item = replace(item, "uri", exposed)
	}
	if _, taken := o.resources[exposed]; taken { // the server lists it twice
		return
	}
	o.resources[exposed] = place{s, uri}
	o.lists[upstream.ListResources] = append(o.lists[upstream.ListResources], item)
}

func (o *others) addTemplate(s *upstream.Server, item json.RawMessage, seen map[string]*upstream.Server) {
	uri, ok := wire.Unquote(wire.Member(item, "uriTemplate"))
	if !ok {
		return
	}
	exposed := uri
	if at := seen[uri]; at != nil && at != s || strings.HasPrefix(uri, aliasScheme) {
		exposed = aliasURI(s.Name(), uri)
		item = replace(item, "uriTemplate", exposed)
	}
	if seen[exposed] != nil { // the server lists it twice
		return
	}
	seen[exposed] = s
	o.templates = append(o.templates, template{s, exposed, uri})
	o.lists[upstream.ListTemplates] = append(o.lists[upstream.ListTemplates], item)
}

func (o *others) addPrompt(s *upstream.Server, item json.RawMessage) {
	name, ok := wire.Unquote(wire.Member(item, "name"))
	if !ok {
		return
	}
	exposed := name
	for n := 1; ; n++ {
		p, taken := o.prompts[exposed]
		if !taken {
			break
		}
		if p.server == s && p.name == name { // the server lists it twice
			return
		}
		if exposed = s.Name() + "_" + name; n > 1 {
			exposed = fmt.Sprintf("%s_%d", exposed, n)
		}
	}
	if exposed != name {
		item = replace(item, "name", exposed)
	}
	o.prompts[exposed] = prompt{s, name}
	o.lists[upstream.ListPrompts] = append(o.lists[upstream.ListPrompts], item)
}

// listOf returns a result of a list method.
func listOf(method string, items []json.RawMessage) json.RawMessage {
	b := append([]byte(`{"`), upstream.ListKey(method)...)
	b = append(b, `":[`...)
	for i, item := range items {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, item...)
	}
	return append(b, `]}`...)
}

// aliasScheme begins the URIs of resources whose own another server has too.
const aliasScheme = "heddle://"

func aliasURI(server, uri string) string { return aliasScheme + server + "/" + uri }

// owners returns the servers that may have the resource or template, the
// likeliest first, and whether the first of them is known to.
func (o *others) owners(uri string) (out []place, sure bool) {
	if at, ok := o.resources[uri]; ok {
		return []place{at}, true
	}
	if rest, ok := strings.CutPrefix(uri, aliasScheme); ok {
		name, own, _ := strings.Cut(rest, "/")
		if s := o.pool.Server(name); s != nil {
			return []place{{s, own}}, true
		}
	}
	taken := map[*upstream.Server]bool{}
	for _, t := range o.templates {
		if !taken[t.server] && (t.exposed == uri || fitsTemplate(t.template, uri)) {
			own := uri
			if t.exposed == uri {
				own = t.template
			}
			out, taken[t.server] = append(out, place{t.server, own}), true
		}
	}
	sure = len(out) > 0
	for _, s := range o.pool.Servers() {
		if !taken[s] && s.Listing().Features.Resources {
			out = append(out, place{s, uri})
		}
	}
	return out, sure
}

// fitsTemplate reports whether a URI may come of a template: its fixed parts, in
// order, with something between them.
func fitsTemplate(template, uri string) bool {
	before, rest, ok := strings.Cut(template, "{")
	if !ok {
		return template == uri
	}
	uri, ok = strings.CutPrefix(uri, before)
	for ok && rest != "" {
		_, after, closed := strings.Cut(rest, "}")
		if !closed {
			return false
		}
		var fixed string
		fixed, rest, _ = strings.Cut(after, "{")
		if rest == "" && !strings.Contains(after, "{") { // the last fixed part ends the URI
			return strings.HasSuffix(uri, fixed)
		}
		i := strings.Index(uri, fixed)
		if ok = i >= 0; ok {
			uri = uri[i+len(fixed):]
		}
	}
	return ok
}

// replace returns an object with another string for one of its members.
func replace(object json.RawMessage, key, value string) json.RawMessage {
	if old, ok := wire.Unquote(wire.Member(object, key)); ok && old == value {
		return object // as it was written
	}
	return wire.Replace(object, key, wire.Quote(value))
}
