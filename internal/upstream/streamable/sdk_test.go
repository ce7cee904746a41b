package streamable

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// conn lets the SDK's client speak over a link.
type conn struct {
	l      *Link
	failed chan jsonrpc.Message
	frames chan any
}

func connect(t *testing.T, h http.Handler, change ...func(*Config)) (*conn, *Link) {
	t.Helper()
	s := httptest.NewServer(h)
	c := &conn{failed: make(chan jsonrpc.Message, 100), frames: make(chan any)}
	c.l, _ = dial(t, s.URL, append(change, func(cfg *Config) {
		cfg.Failed = func(raw json.RawMessage, err error) {
			var v any
			_ = json.Unmarshal(raw, &v)
			id, _ := jsonrpc.MakeID(v)
			c.failed <- &jsonrpc.Response{ID: id, Error: &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: err.Error()}}
		}
	})...)
	done := make(chan struct{})
	go func() {
		for {
			f, err := c.l.Next()
			var item any = f
			if err != nil {
				item = err
			}
			select {
			case c.frames <- item:
			case <-done:
				return
			}
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		_ = c.l.Close()
		close(done)
		s.Close()
	})
	return c, c.l
}

func (c *conn) Connect(context.Context) (mcp.Connection, error) { return c, nil }
func (c *conn) SessionID() string                               { return "" }
func (c *conn) Close() error                                    { return c.l.Close() }

func (c *conn) Write(_ context.Context, m jsonrpc.Message) error {
	b, err := jsonrpc.EncodeMessage(m)
	if err == nil {
		_, err = c.l.Write(append(b, '\n'))
	}
	return err
}

func (c *conn) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m := <-c.failed:
		return m, nil
	case item := <-c.frames:
		if err, ok := item.(error); ok {
			return nil, err
		}
		return jsonrpc.DecodeMessage(item.([]byte))
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

type args struct {
	Region string `json:"region"`
}

// sdkServer has a tool that asks its client something, one whose argument is
// repeated in a header, and one that waits to be cancelled.
func sdkServer(cancelled chan struct{}) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "s", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "ask"}, func(ctx context.Context, r *mcp.CallToolRequest, _ args) (*mcp.CallToolResult, any, error) {
		got, err := r.Session.Elicit(ctx, &mcp.ElicitParams{Message: "well?"})
		if err != nil {
			return nil, nil, err
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: got.Action}}}, nil, nil
	})
	s.AddTool(&mcp.Tool{Name: "mirror", InputSchema: json.RawMessage(`{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}`)},
		func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			text := string(r.Params.Arguments)
			if r.Extra != nil {
				text += r.Extra.Header.Get("Mcp-Param-Region")
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil
		})
	s.AddTool(&mcp.Tool{Name: "wait", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			cancelled <- struct{}{} // entered
			<-ctx.Done()
			cancelled <- struct{}{}
			return nil, ctx.Err()
		})
	return s
}

func sdkClient(t *testing.T, c *conn, changed chan struct{}) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "c", Version: "1"}, &mcp.ClientOptions{
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "decline"}, nil
		},
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { changed <- struct{}{} },
	})
	s, err := client.Connect(t.Context(), c, nil)
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func callTool(t *testing.T, s *mcp.ClientSession, name string) string {
	t.Helper()
	r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: map[string]any{"region": "Zürich"}})
	if err != nil || r.IsError || len(r.Content) != 1 {
		t.Fatalf("%s: %+v, %v", name, r, err)
	}
	return r.Content[0].(*mcp.TextContent).Text
}

func cancelCall(t *testing.T, s *mcp.ClientSession, signal chan struct{}) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		<-signal
		cancel()
	}()
	if _, err := s.CallTool(ctx, &mcp.CallToolParams{Name: "wait", Arguments: map[string]any{}}); !errors.Is(err, context.Canceled) {
		t.Errorf("wait: %v", err)
	}
	<-signal // the server saw it
}

// TestSDKSessions: the SDK's own server with sessions, in both forms of answers,
// and its HTTP+SSE.
func TestSDKSessions(t *testing.T) {
	for name, make := range map[string]func(*mcp.Server) http.Handler{
		"events": func(s *mcp.Server) http.Handler {
			return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{EventStore: mcp.NewMemoryEventStore(nil)})
		},
		"json": func(s *mcp.Server) http.Handler {
			return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{JSONResponse: true})
		},
		"sse": func(s *mcp.Server) http.Handler {
			return mcp.NewSSEHandler(func(*http.Request) *mcp.Server { return s }, nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			signal := makeSignal()
			server := sdkServer(signal)
			c, _ := connect(t, make(server))
			changed := makeSignal()
			s := sdkClient(t, c, changed)
			if v := s.InitializeResult().ProtocolVersion; v >= modern {
				t.Errorf("version %s", v)
			}
			if got := callTool(t, s, "mirror"); got != `{"region":"Zürich"}` {
				t.Errorf("mirror: %s", got)
			}
			if name != "json" { // where a call has no stream to ask on
				if got := callTool(t, s, "ask"); got != "decline" {
					t.Errorf("ask: %s", got)
				}
			}
			cancelCall(t, s, signal)
			server.RemoveTools("ask")
			until(t, t.Context(), changed) // over the listening stream
		})
	}
}

func makeSignal() chan struct{} { return make(chan struct{}, 10) }

func TestSDKStateless(t *testing.T) {
	for _, asJSON := range []bool{false, true} {
		signal := makeSignal()
		server := sdkServer(signal)
		gets := makeSignal()
		h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server },
			&mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: asJSON, PropagateRequestCancellation: true})
		c, _ := connect(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodPost {
				gets <- struct{}{}
			}
			h.ServeHTTP(w, r)
		}))
		s := sdkClient(t, c, makeSignal())
		if v := s.InitializeResult().ProtocolVersion; v != "2026-07-28" {
			t.Errorf("version %s", v)
		}
		tools, err := s.ListTools(t.Context(), nil)
		if err != nil || len(tools.Tools) != 3 {
			t.Fatalf("tools: %+v, %v", tools, err)
		}
		if got := callTool(t, s, "mirror"); got != `{"region":"Zürich"}=?base64?WsO8cmljaA==?=` {
			t.Errorf("mirror: %s", got)
		}
		cancelCall(t, s, signal)
		if len(gets) > 0 {
			t.Error("a listening stream was asked for, or a session deleted, where there are none")
		}
	}
}

func TestSDKSessionLost(t *testing.T) {
	server := sdkServer(makeSignal())
	handler := func() http.Handler {
		return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil)
	}
	t.Cleanup(func() { // nobody else ends the session that was forgotten
		for s := range server.Sessions() {
			_ = s.Close()
		}
	})
	h := handler()
	l, failed := open(t, func(w http.ResponseWriter, r *http.Request) { h.ServeHTTP(w, r) })
	write(t, l, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
	f, err := l.Next()
	if err != nil || !strings.Contains(string(f), `"protocolVersion":"2025-11-25"`) {
		t.Fatalf("%s, %v", f, err)
	}
	h = handler() // the server was started anew
	write(t, l, `{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}`)
	if f := <-failed; f.id != "2" || f.err != ErrSessionLost {
		t.Errorf("%+v", f)
	}
	if _, err := l.Next(); err != ErrSessionLost {
		t.Errorf("Next() = %v", err)
	}
}
