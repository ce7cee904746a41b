package mcptest

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"heddle/internal/wire"
)

// Web is a [Host] over streamable HTTP: each frame that it sends is a POST, and
// what the answers hold, events or a message, is what it receives.
type Web struct {
	*Host
	t      testing.TB
	url    string
	client *http.Client
	ctx    context.Context
	busy   sync.WaitGroup
	out    *io.PipeWriter
	shared sync.Mutex // one frame at a time into out

	mu       sync.Mutex
	header   http.Header
	session  string
	statuses []int
}

// NewWeb returns a host of the server at url that sends header with each request.
// The test's cleanup ends its streams; it does not delete the session.
func NewWeb(t testing.TB, url string, header http.Header) *Web {
	in, out := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background()) // of the test: its end is the cleanup
	w := &Web{t: t, url: url, client: &http.Client{Transport: &http.Transport{}}, ctx: ctx, out: out, header: header.Clone()}
	if w.header == nil {
		w.header = http.Header{}
	}
	w.Host = NewHost(t, in, webWriter{w})
	t.Cleanup(func() {
		cancel()
		_ = in.Close()
		w.busy.Wait()
		w.client.CloseIdleConnections()
	})
	return w
}

// webWriter takes the host's frames.
type webWriter struct{ w *Web }

// Write sends one frame. A request does not wait for its answer; anything else
// is sent before Write returns, so that order is kept.
func (ww webWriter) Write(frame []byte) (int, error) {
	m, _ := wire.Parse(bytes.TrimSpace(frame))
	body := bytes.Clone(frame)
	if m.IsRequest() {
		ww.w.busy.Go(func() { ww.w.post(body, &m) })
	} else {
		ww.w.post(body, &m)
	}
	return len(frame), nil
}

// Close ends what the host receives.
func (ww webWriter) Close() error { return ww.w.out.Close() }

func (w *Web) post(body []byte, m *wire.Message) {
	r, err := http.NewRequestWithContext(w.ctx, http.MethodPost, w.url, bytes.NewReader(body))
	if err != nil {
		w.t.Error(err)
		return
	}
	r.Header.Set("Content-Type", "application/json")
	if version, ok := wire.Unquote(wire.Member(wire.Member(m.Params, "_meta"), "io.modelcontextprotocol/protocolVersion")); ok {
		r.Header.Set("Mcp-Protocol-Version", version)
		r.Header.Set("Mcp-Method", m.Method)
		for _, key := range []string{"name", "uri"} {
			if v, ok := wire.Unquote(wire.Member(m.Params, key)); ok {
				r.Header.Set("Mcp-Name", v)
			}
		}
	}
	w.do(r)
}

// Listen opens the stream of what concerns no request, and returns once it is
// open.
func (w *Web) Listen() {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.ctx, http.MethodGet, w.url, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	resp := w.send(r)
	if resp == nil || resp.StatusCode != http.StatusOK {
		w.t.Fatalf("the stream does not open: %+v", resp)
	}
	w.busy.Go(func() { w.receive(resp) })
}

// Delete ends the session and returns the status of the answer.
func (w *Web) Delete() int {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.ctx, http.MethodDelete, w.url, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	resp := w.send(r)
	if resp == nil {
		return 0
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

// Session returns the session's id, "" before there is one.
func (w *Web) Session() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.session
}

// Statuses are those of all answers so far.
func (w *Web) Statuses() []int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]int(nil), w.statuses...)
}

// send sends a request with what all have in common; nil if it was not answered.
func (w *Web) send(r *http.Request) *http.Response {
	w.mu.Lock()
	for k, v := range w.header {
		r.Header[k] = v
	}
	if w.session != "" {
		r.Header.Set("Mcp-Session-Id", w.session)
	}
	w.mu.Unlock()
	r.Header.Set("Accept", "application/json, text/event-stream")
	resp, err := w.client.Do(r)
	if err != nil {
		return nil // the test has ended, or the server
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.statuses = append(w.statuses, resp.StatusCode)
	if id := resp.Header.Get("Mcp-Session-Id"); id != "" {
		w.session = id
	}
	return resp
}

func (w *Web) do(r *http.Request) {
	if resp := w.send(r); resp != nil {
		w.receive(resp)
	}
}

// receive hands on the messages of an answer.
func (w *Web) receive(resp *http.Response) {
	defer resp.Body.Close()
	switch kind := resp.Header.Get("Content-Type"); {
	case strings.HasPrefix(kind, "application/json"):
		if body, err := io.ReadAll(resp.Body); err == nil {
			w.deliver(body)
		}
	case strings.HasPrefix(kind, "text/event-stream"):
		lines := bufio.NewReader(resp.Body)
		for {
			line, err := lines.ReadBytes('\n')
			if data, ok := bytes.CutPrefix(line, []byte("data: ")); ok {
				w.deliver(data)
			}
			if err != nil {
				return
			}
		}
	}
}

func (w *Web) deliver(frame []byte) {
	if frame = bytes.TrimSpace(frame); len(frame) == 0 {
		return
	}
	w.shared.Lock()
	defer w.shared.Unlock()
	_, _ = w.out.Write(append(bytes.Clone(frame), '\n')) // the test has ended if nobody reads
}
