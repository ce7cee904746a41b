//lint:file-ignore SA1019 protocol versions before 2026-07-28 have sampling, roots and logging, and so do the hosts and servers that speak them

package surface

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"

	"heddle"
	"heddle/internal/gateway"
	"heddle/internal/wire"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// capabilities are what heddle offers hosts, whatever servers are behind it:
// they come and go while a host's session lasts. A list of what no server has is
// empty.
func capabilities() *mcp.ServerCapabilities {
	return &mcp.ServerCapabilities{
		Tools:       &mcp.ToolCapabilities{ListChanged: true},
		Resources:   &mcp.ResourceCapabilities{ListChanged: true, Subscribe: true},
		Prompts:     &mcp.PromptCapabilities{ListChanged: true},
		Completions: &mcp.CompletionCapabilities{},
		Logging:     &mcp.LoggingCapabilities{},
	}
}

// sdkServer builds the SDK's server, which keeps the sessions of a transport.
func sdkServer(f *front, version, instructions string, initialized func(context.Context, *mcp.InitializedRequest)) *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "heddle", Title: "heddle", Version: version}, &mcp.ServerOptions{
		Instructions:       instructions,
		Logger:             slog.New(slog.DiscardHandler),
		Capabilities:       capabilities(),
		InitializedHandler: initialized,
		SubscribeHandler: func(ctx context.Context, r *mcp.SubscribeRequest) error {
			return f.subscribe(ctx, r, "resources/subscribe", r.Params.URI)
		},
		UnsubscribeHandler: func(ctx context.Context, r *mcp.UnsubscribeRequest) error {
			return f.subscribe(ctx, r, "resources/unsubscribe", r.Params.URI)
		},
	})
	server.AddReceivingMiddleware(f.middleware)
	return server
}

// subscribe has the server behind a resource tell of its changes. The SDK keeps
// who wants to know.
func (f *front) subscribe(ctx context.Context, req mcp.Request, method, uri string) error {
	s, host := f.session(ctx, req)
	params := append(append([]byte(`{"uri":`), wire.Quote(uri)...), '}')
	_, err := s.gateway().Forward(ctx, gateway.Origin{Host: host}, method, params)
	if err == nil {
		s.subscribed.note(method, uri)
		return nil
	}
	e := &jsonrpc.Error{}
	if json.Unmarshal(s.rpcError(err), e) != nil {
		return errors.New("the server's error is no error object")
	}
	return e
}

// heard tells the hosts of an SDK server what one of the servers behind said,
// but for log messages.
func heard(ctx context.Context, server *mcp.Server, g *gateway.Gateway, from, method string, params json.RawMessage) {
	switch method {
	case "notifications/resources/list_changed":
		pokeResources(server)
	case "notifications/prompts/list_changed":
		pokePrompts(server)
	case "notifications/resources/updated":
		if uri, ok := wire.Unquote(wire.Member(params, "uri")); ok {
			for _, exposed := range g.ExposedURIs(from, uri) { // the SDK knows which of them a session has subscribed to
				_ = server.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: exposed}) // its errors are of sessions that have gone
			}
		}
	}
}

// The pokes make the SDK say that a list has changed: to a session with
// handshake as it is, to one without if it has subscribed. The SDK says so when
// its own items change, which nobody ever sees here.

func pokeTools(server *mcp.Server) {
	server.AddTool(&mcp.Tool{Name: "poke", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return nil, errPoke
	})
	server.RemoveTools("poke")
}

func pokeResources(server *mcp.Server) {
	server.AddResource(&mcp.Resource{Name: "poke", URI: "heddle:poke"}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return nil, errPoke
	})
	server.RemoveResources("heddle:poke")
}

func pokePrompts(server *mcp.Server) {
	server.AddPrompt(&mcp.Prompt{Name: "poke"}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return nil, errPoke
	})
	server.RemovePrompts("poke")
}

var errPoke = errors.New("never called")

// askable reports whether a host with these capabilities can be asked this; the
// error says what it lacks.
func askable(capabilities json.RawMessage, method string, params json.RawMessage) error {
	feature := map[string]string{"sampling/createMessage": "sampling", "elicitation/create": "elicitation", "roots/list": "roots"}[method]
	has := wire.Member(capabilities, feature)
	if feature == "" || has == nil {
		return heddle.NewRPCError(jsonrpc.CodeMethodNotFound, "this host has no "+feature)
	}
	mode, _ := wire.Unquote(wire.Member(params, "mode"))
	if feature == "elicitation" && mode == "url" && wire.Member(has, "url") == nil {
		return heddle.NewRPCError(jsonrpc.CodeInvalidParams, `this host has no elicitation of mode "url"`)
	}
	return nil
}
