package streamable

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"heddle/internal/wire"
)

// TestErrorBodies: a 404 that answers the request itself is about its method.
func TestErrorBodies(t *testing.T) {
	tests := []struct {
		name   string
		status int
		body   string
		want   string
	}{
		{"a method", 404, `{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"no"}}`, `{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"no"}}`},
		{"our id", 400, "{\"jsonrpc\":\"2.0\",\n\"id\":2,\"error\":{\"code\":-32602,\"message\":\"no\",\"data\":1.0}}", `{"jsonrpc":"2.0", "id":2,"error":{"code":-32602,"message":"no","data":1.0}}`},
		{"null id", 500, `{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"oops"}}`, `{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"oops"}}`},
		{"no id", 503, `{"jsonrpc":"2.0","error":{"code":-32603,"message":"oops"}}`, `{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"oops"}}`},
		{"null id, status 200", 200, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"oops"}}`, `{"jsonrpc":"2.0","id":2,"error":{"code":-32700,"message":"oops"}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l, _ := session(t, &legacy{post: func(w http.ResponseWriter, _ *http.Request, _ wire.Message) {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(tt.status)
				_, _ = io.WriteString(w, tt.body)
			}})
			write(t, l, request(`2`, "x"))
			wantFrame(t, l, tt.want)
		})
	}
}

func TestStatusErrors(t *testing.T) {
	tests := []struct {
		status     int
		kind, body string
		header     [2]string
		want       string
	}{
		{401, "text/plain", "no token", [2]string{"WWW-Authenticate", `Bearer realm="x"`}, "HTTP 401 Unauthorized: no token: the server wants credentials; set headers.Authorization"},
		{401, "application/json", `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"who?"}}`, [2]string{}, `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"who?"}}: the server wants credentials`},
		{403, "text/plain", "", [2]string{}, "HTTP 403 Forbidden: the server refuses these credentials"},
		{429, "text/plain", "slow\n\tdown\x1b[1m", [2]string{"Retry-After", "17"}, "HTTP 429 Too Many Requests: slow down [1m: the server is asked too often; it says to wait (Retry-After: 17)"},
		{502, "text/html", "<!DOCTYPE html><html><head><title>Bad\n gateway</title>", [2]string{}, `HTTP 502 Bad Gateway, an HTML page with the title "Bad gateway": the server, or a proxy in front of it, failed`},
		{200, "text/html; charset=utf-8", "<html><body>Log in", [2]string{}, "HTTP 200 OK, an HTML page: no MCP server answers at this URL"},
		{200, "text/plain", "hello", [2]string{}, "HTTP 200 OK with the type text/plain: hello: no MCP server answers"},
		{404, "text/plain", "gone with sesame-token", [2]string{}, "HTTP 404 Not Found: gone with [redacted]: no MCP server answers at this URL; check its path"},
		{418, "text/plain", strings.Repeat("é", 400), [2]string{}, "HTTP 418 I'm a teapot: " + strings.Repeat("é", 300) + "…"},
		{202, "", "", [2]string{}, "HTTP 202 without an answer"},
	}
	for _, tt := range tests {
		l, failed := open(t, func(w http.ResponseWriter, _ *http.Request) {
			if tt.header[0] != "" {
				w.Header().Set(tt.header[0], tt.header[1])
			}
			w.Header().Set("Content-Type", tt.kind)
			w.WriteHeader(tt.status)
			_, _ = io.WriteString(w, tt.body)
		}, header("Authorization", "Bearer sesame-token"))
		write(t, l, request(`2`, "x"))
		f := <-failed
		if f.id != "2" || !strings.Contains(f.err.Error(), tt.want) {
			t.Errorf("%d: %s: %v; want %q", tt.status, f.id, f.err, tt.want)
		}
		var e *StatusError
		if tt.status == 401 && tt.header[0] != "" && (!errors.As(f.err, &e) || e.WWWAuthenticate != tt.header[1] || e.Status != 401) {
			t.Errorf("%+v", e)
		}
	}
}

func TestTransportErrors(t *testing.T) {
	dead := httptest.NewServer(nil)
	dead.Close()
	l, failed := dial(t, dead.URL+"/mcp?key=very-secret")
	write(t, l, initFrame)
	f := <-failed
	if f.id != "1" || !strings.Contains(f.err.Error(), "connection refused") || strings.Contains(f.err.Error(), "secret") || strings.Contains(f.err.Error(), "Post") {
		t.Errorf("%s: %v", f.id, f.err)
	}
	var op *net.OpError
	if !errors.As(f.err, &op) {
		t.Errorf("%T hides its cause", f.err)
	}
	write(t, l, request(`2`, "x")) // the link lives, and nothing is held
	if f := <-failed; f.id != "2" {
		t.Errorf("%+v", f)
	}
}
