package streamable

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"heddle/internal/wire"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// failures is what a link reports.
type failures chan failure

type failure struct {
	id  string
	err error
}

func (f failures) failed(id json.RawMessage, err error) { f <- failure{string(id), err} }

// open returns a link to a server that h is.
func open(t *testing.T, h http.HandlerFunc, change ...func(*Config)) (*Link, failures) {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return dial(t, s.URL, change...)
}

func dial(t *testing.T, url string, change ...func(*Config)) (*Link, failures) {
	t.Helper()
	failed := make(failures, 2000)
	tr := &http.Transport{MaxIdleConnsPerHost: 64}
	c := Config{URL: url, Client: &http.Client{Transport: tr}, MaxFrame: 1 << 20, Version: "9.9", Failed: failed.failed}
	for _, f := range change {
		f(&c)
	}
	l, err := Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		tr.CloseIdleConnections()
	})
	return l, failed
}

func kind(k string) func(*Config)  { return func(c *Config) { c.Kind = k } }
func maxFrame(n int) func(*Config) { return func(c *Config) { c.MaxFrame = n } }
func header(h, v string) func(*Config) {
	return func(c *Config) { c.Header = http.Header{h: {v}} }
}

func write(t *testing.T, l *Link, frames ...string) {
	t.Helper()
	for _, f := range frames {
		if n, err := l.Write([]byte(f + "\n")); err != nil || n != len(f)+1 {
			t.Fatalf("Write(%.80s) = %d, %v", f, n, err)
		}
	}
}

// wantFrame reads the next frame.
func wantFrame(t *testing.T, l *Link, want string) {
	t.Helper()
	got, err := l.Next()
	if err != nil || string(got) != want {
		t.Fatalf("Next() = %.300s, %v; want %.300s", got, err, want)
	}
}

const (
	initFrame  = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`
	doneFrame  = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	initAnswer = `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{}}}`
)

func request(id, method string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{"name":"t"}}`, id, method)
}

func modernRequest(id, method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{%s,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`, id, method, params)
}

// legacy is a server with sessions. Its functions are for what comes after the
// handshake; nil ones say that there is no such thing.
type legacy struct {
	t      *testing.T
	post   func(w http.ResponseWriter, r *http.Request, m wire.Message)
	get    http.HandlerFunc
	mu     sync.Mutex
	asked  []string // method and session of every request
	delete chan string
}

func (s *legacy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodGet:
		if s.get == nil {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		s.get(w, r)
	case http.MethodDelete:
		if s.delete != nil {
			s.delete <- r.Header.Get("Mcp-Session-Id")
		}
	case http.MethodPost:
		m := readMessage(s.t, r)
		s.mu.Lock()
		s.asked = append(s.asked, m.Method+" "+r.Header.Get("Mcp-Session-Id")+" "+r.Header.Get("Mcp-Protocol-Version"))
		s.mu.Unlock()
		switch m.Method {
		case "initialize":
			w.Header().Set("Mcp-Session-Id", "s-1")
			answer(w, initAnswer)
		case "notifications/initialized":
			w.WriteHeader(http.StatusAccepted)
		default:
			s.post(w, r, m)
		}
	}
}

func readMessage(t *testing.T, r *http.Request) wire.Message {
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Errorf("body: %v", err)
	}
	m, err := wire.Parse(b)
	if err != nil {
		t.Errorf("%s: %v", b, err)
	}
	return m
}

func answer(w http.ResponseWriter, body string) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, body)
}

// stream begins an event stream and returns what sends on it.
func stream(w http.ResponseWriter) func(string) {
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(text string) {
		_, _ = io.WriteString(w, text)
		w.(http.Flusher).Flush()
	}
	send(": hello\n\n")
	return send
}

func result(m wire.Message, raw string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, raw)
}

// shake does the handshake.
func shake(t *testing.T, l *Link) {
	t.Helper()
	write(t, l, initFrame)
	wantFrame(t, l, initAnswer)
	write(t, l, doneFrame)
}

// session returns a link with a session with s.
func session(t *testing.T, s *legacy, change ...func(*Config)) (*Link, failures) {
	t.Helper()
	s.t = t
	l, failed := open(t, s.ServeHTTP, change...)
	shake(t, l)
	return l, failed
}

// until waits for a signal of a server.
func until(t *testing.T, ctx context.Context, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-ctx.Done():
		t.Error("the signal never came")
	}
}
