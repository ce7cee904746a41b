package streamable

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"heddle/internal/wire"
)

// exact is JSON that a trip through structs would change.
const exact = `{"z":9007199254740993,"a":1.0,"nested":{"b":1e400,"a":-0.0,"u":"\ud800 \u00e9 é"},"_unknown":[123456789012345678901234567890],"isError":false}`

func TestExactJSON(t *testing.T) {
	digits := strings.Repeat("1234567890", 1000)
	for _, raw := range []string{exact, `{"n":` + digits + `}`} {
		l, _ := open(t, func(w http.ResponseWriter, r *http.Request) { answer(w, result(readMessage(t, r), raw)) })
		write(t, l, request(`"h7"`, "tools/call"))
		wantFrame(t, l, `{"jsonrpc":"2.0","id":"h7","result":`+raw+`}`)
		if got := string(l.Origin()); got != `"h7"` {
			t.Errorf("Origin() = %s", got)
		}
	}
}

func TestExactEvents(t *testing.T) {
	l, _ := open(t, func(w http.ResponseWriter, r *http.Request) {
		m := readMessage(t, r)
		send := stream(w)
		send("event: message\nid: 1\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}\n\n")
		send("data: {\"jsonrpc\":\"2.0\",\r\ndata:  \"result\":" + exact + ",\r\ndata:  \"id\":" + string(m.ID) + "}\r\n\r\n")
	})
	write(t, l, request(`5`, "tools/call"))
	wantFrame(t, l, `{"jsonrpc":"2.0","method":"notifications/progress"}`)
	if got := string(l.Origin()); got != "5" {
		t.Errorf("Origin() = %s", got)
	}
	wantFrame(t, l, `{"jsonrpc":"2.0",  "result":`+exact+`,  "id":5}`)
}

func TestOneLine(t *testing.T) {
	l, _ := open(t, func(w http.ResponseWriter, r *http.Request) {
		readMessage(t, r)
		answer(w, "\ufeff{\r\n  \"jsonrpc\": \"2.0\",\n\t\"id\": 1,\n  \"result\": {\n}\n}\n")
	})
	write(t, l, request(`1`, "x"))
	wantFrame(t, l, "{    \"jsonrpc\": \"2.0\", \t\"id\": 1,   \"result\": { } }")
}

func TestBatchAnswer(t *testing.T) {
	const batch = `[{"jsonrpc":"2.0","method":"notifications/message"},{"jsonrpc":"2.0","id":1,"result":{}}]`
	l, failed := open(t, func(w http.ResponseWriter, _ *http.Request) { answer(w, batch) })
	write(t, l, request(`1`, "x"))
	wantFrame(t, l, batch)
	if len(failed) > 0 {
		t.Errorf("%+v", <-failed)
	}
}

// TestHandshake: the order of messages, and what each carries. The version is the
// one that was agreed on, never the newest that was offered.
func TestHandshake(t *testing.T) {
	listening := make(chan http.Header, 1)
	s := &legacy{get: func(w http.ResponseWriter, r *http.Request) {
		listening <- r.Header.Clone()
		stream(w)("data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n")
		<-r.Context().Done()
	}}
	s.post = func(w http.ResponseWriter, r *http.Request, m wire.Message) {
		for name, want := range map[string]string{
			"Accept": "application/json, text/event-stream", "Content-Type": "application/json", "User-Agent": "heddle/9.9", "Authorization": "Bearer x",
		} {
			if got := r.Header.Get(name); got != want {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
		answer(w, result(m, "{}"))
	}
	s.delete = make(chan string, 1)
	s.t = t
	l, _ := open(t, s.ServeHTTP, header("Authorization", "Bearer x"))
	write(t, l, initFrame, doneFrame, request(`"h1"`, "tools/call")) // all at once
	wantFrame(t, l, initAnswer)
	wants := map[string]string{
		`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`: "",
		`{"jsonrpc":"2.0","id":"h1","result":{}}`:                       `"h1"`,
	}
	for range 2 {
		f, err := l.Next()
		if origin, ok := wants[string(f)]; err != nil || !ok || origin != string(l.Origin()) {
			t.Fatalf("Next() = %s of %s, %v", f, l.Origin(), err)
		}
		delete(wants, string(f))
	}
	want := []string{"initialize  ", "notifications/initialized s-1 2025-06-18", "tools/call s-1 2025-06-18"}
	s.mu.Lock()
	if !slices.Equal(s.asked, want) {
		t.Errorf("the server saw %q, want %q", s.asked, want)
	}
	s.mu.Unlock()
	h := <-listening
	if h.Get("Accept") != "text/event-stream" || h.Get("Mcp-Session-Id") != "s-1" || h.Get("Mcp-Protocol-Version") != "2025-06-18" || h.Get("Authorization") != "Bearer x" {
		t.Errorf("the listening stream was asked for with %v", h)
	}
	for range 2 {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
	if got := <-s.delete; got != "s-1" {
		t.Errorf("session %q was deleted, want s-1", got)
	}
	if _, err := l.Next(); err != io.EOF {
		t.Errorf("Next() after Close: %v, want EOF", err)
	}
	if _, err := l.Write([]byte("{}\n")); err != io.EOF {
		t.Errorf("Write() after Close: %v, want EOF", err)
	}
}

// TestHandshakeHolds: nothing overtakes the two messages of the handshake.
func TestHandshakeHolds(t *testing.T) {
	var inside atomic.Int32
	gate := make(chan struct{})
	s := &legacy{t: t, post: func(w http.ResponseWriter, _ *http.Request, m wire.Message) {
		if inside.Load() != 2 {
			t.Error("a request came before the end of the handshake")
		}
		answer(w, result(m, "{}"))
	}}
	l, _ := open(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && inside.Load() < 2 {
			<-gate
			defer inside.Add(1)
		}
		s.ServeHTTP(w, r)
	})
	write(t, l, initFrame, doneFrame)
	for range 10 {
		write(t, l, request(`2`, "tools/list"))
	}
	close(gate)
	wantFrame(t, l, initAnswer)
	wantFrame(t, l, `{"jsonrpc":"2.0","id":2,"result":{}}`)
}

func TestCancelledWhileHeld(t *testing.T) {
	gate := make(chan struct{})
	s := &legacy{t: t, post: func(w http.ResponseWriter, _ *http.Request, m wire.Message) {
		if string(m.ID) != "3" {
			t.Errorf("%s %s went out", m.Method, m.ID)
		}
		answer(w, result(m, "{}"))
	}}
	l, failed := open(t, func(w http.ResponseWriter, r *http.Request) {
		<-gate
		s.ServeHTTP(w, r)
	})
	write(t, l, initFrame, doneFrame, request(`2`, "tools/call"), `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`, request(`3`, "tools/call"))
	close(gate)
	wantFrame(t, l, initAnswer)
	wantFrame(t, l, `{"jsonrpc":"2.0","id":3,"result":{}}`)
	if len(failed) > 0 {
		t.Errorf("%+v", <-failed)
	}
}

func TestCancelInSession(t *testing.T) {
	entered, gone := make(chan struct{}), make(chan struct{})
	told := make(chan string, 1)
	s := &legacy{post: func(w http.ResponseWriter, r *http.Request, m wire.Message) {
		if m.Method == "notifications/cancelled" {
			told <- string(m.Params)
			w.WriteHeader(http.StatusAccepted)
			return
		}
		stream(w)
		close(entered)
		<-r.Context().Done()
		if len(told) == 0 {
			t.Error("the connection was closed before the server was told")
		}
		close(gone)
	}}
	l, failed := session(t, s)
	write(t, l, request(`"h1"`, "tools/call"))
	<-entered
	write(t, l, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"h\u0031","reason":"r"}}`)
	<-gone
	if got := <-told; got != `{"requestId":"h\u0031","reason":"r"}` {
		t.Errorf("the server was told %s", got)
	}
	if len(failed) > 0 {
		t.Errorf("a cancelled request was reported: %+v", <-failed)
	}
}

func TestCancelStateless(t *testing.T) {
	entered, gone := make(chan struct{}), make(chan struct{})
	l, failed := open(t, func(w http.ResponseWriter, r *http.Request) {
		if m := readMessage(t, r); m.Method != "tools/call" {
			t.Errorf("the server saw %s", m.Method)
		}
		close(entered)
		<-r.Context().Done()
		close(gone)
	})
	write(t, l, modernRequest(`1`, "tools/call", `"name":"t"`))
	<-entered
	write(t, l, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	<-gone
	if err := l.Close(); err != nil || len(failed) > 0 {
		t.Errorf("a cancelled request was reported")
	}
}

func TestSessionLost(t *testing.T) {
	tests := map[string]func(w http.ResponseWriter){
		"plain": func(w http.ResponseWriter) { http.Error(w, "session not found", http.StatusNotFound) },
		"TypeScript": func(w http.ResponseWriter) {
			w.WriteHeader(404)
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}`)
		},
		"Python": func(w http.ResponseWriter) {
			w.WriteHeader(404)
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":"server-error","error":{"code":-32600,"message":"Session not found"}}`)
		},
		"started anew": func(w http.ResponseWriter) {
			w.WriteHeader(400)
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"},"id":null}`)
		},
	}
	for name, deny := range tests {
		t.Run(name, func(t *testing.T) {
			entered := make(chan struct{})
			s := &legacy{delete: make(chan string, 1), post: func(w http.ResponseWriter, r *http.Request, m wire.Message) {
				if string(m.ID) == "2" {
					close(entered)
					<-r.Context().Done()
					return
				}
				deny(w)
			}}
			l, failed := session(t, s)
			write(t, l, request(`2`, "tools/call"))
			<-entered
			write(t, l, request(`3`, "tools/call"))
			if f, err := l.Next(); err != ErrSessionLost {
				t.Errorf("Next() = %s, %v; want ErrSessionLost", f, err)
			}
			got := map[string]error{}
			for range 2 {
				f := <-failed
				got[f.id] = f.err
			}
			if got["2"] != ErrInterrupted || got["3"] != ErrSessionLost || len(failed) > 0 { // 3 was refused, 2 may have had its effect
				t.Errorf("failures %v", got)
			}
			if _, err := l.Write([]byte("{}\n")); err != ErrSessionLost {
				t.Errorf("Write() = %v", err)
			}
			if err := l.Close(); err != nil || len(s.delete) > 0 {
				t.Error("a session that is gone was deleted")
			}
		})
	}
}

// TestSessionLostTogether: of several requests each that was refused is known to
// be, and one that is answered all the same is answered.
func TestSessionLostTogether(t *testing.T) {
	var inside sync.WaitGroup
	inside.Add(10)
	s := &legacy{post: func(w http.ResponseWriter, _ *http.Request, m wire.Message) {
		inside.Done()
		inside.Wait()
		if string(m.ID) == "15" {
			answer(w, result(m, "{}"))
			return
		}
		w.WriteHeader(http.StatusNotFound)
	}}
	l, failed := session(t, s)
	for i := range 10 {
		write(t, l, request(strconv.Itoa(10+i), "tools/call"))
	}
	wantFrame(t, l, `{"jsonrpc":"2.0","id":15,"result":{}}`)
	if _, err := l.Next(); err != ErrSessionLost {
		t.Errorf("Next() = %v, want ErrSessionLost", err)
	}
	for range 9 {
		if f := <-failed; f.err != ErrSessionLost {
			t.Errorf("%+v", f)
		}
	}
	if len(failed) > 0 {
		t.Errorf("%+v", <-failed)
	}
}

func TestBrokenBody(t *testing.T) {
	l, failed := open(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		answer(w, `{"jsonrpc":"2.0",`)
	})
	write(t, l, request(`2`, "x"))
	if f := <-failed; !strings.Contains(f.err.Error(), "the answer broke off: unexpected EOF") {
		t.Errorf("%+v", f)
	}
}

func TestGzipUnasked(t *testing.T) {
	l, _ := open(t, func(w http.ResponseWriter, r *http.Request) {
		m := readMessage(t, r)
		w.Header().Set("Content-Encoding", "gzip")
		if string(m.ID) == "1" {
			w.Header().Set("Content-Type", "application/json")
		} else {
			w.Header().Set("Content-Type", "text/event-stream")
		}
		z := gzip.NewWriter(w)
		if string(m.ID) == "2" {
			_, _ = io.WriteString(z, "data: ")
		}
		_, _ = io.WriteString(z, result(m, exact))
		if string(m.ID) == "2" {
			_, _ = io.WriteString(z, "\n\n")
		}
		_ = z.Flush()
		w.(http.Flusher).Flush()
		_ = z.Close()
	}, func(c *Config) { c.Client.Transport.(*http.Transport).DisableCompression = true })
	write(t, l, request(`1`, "x"))
	wantFrame(t, l, `{"jsonrpc":"2.0","id":1,"result":`+exact+`}`)
	write(t, l, request(`2`, "x"))
	wantFrame(t, l, `{"jsonrpc":"2.0","id":2,"result":`+exact+`}`)
}

func wantTooLarge(t *testing.T, l *Link, id string) *wire.TooLargeError {
	t.Helper()
	f, err := l.Next()
	var large *wire.TooLargeError
	if !errors.As(err, &large) || string(large.ID) != id || large.Limit != 1000 || large.Size <= 1000 {
		t.Fatalf("Next() = %.100s, %+v; want TooLargeError of %s", f, err, id)
	}
	return large
}

func TestTooLarge(t *testing.T) {
	big := `"` + strings.Repeat("x", 100_000) + `"`
	s := &legacy{}
	more := make(chan struct{})
	s.get = func(w http.ResponseWriter, r *http.Request) {
		send := stream(w)
		<-more
		send(`data: {"jsonrpc":"2.0","params":` + big + "\ndata: ,\"method\":\"x\",\"id\":77}\nid: 5\n\n")
		send("data: {\"jsonrpc\":\"2.0\",\"method\":\"after\"}\n\n")
		<-r.Context().Done()
	}
	s.post = func(w http.ResponseWriter, _ *http.Request, m wire.Message) {
		body := result(m, big)
		switch string(m.ID) {
		case "2":
			answer(w, body)
		case "3":
			w.Header().Set("Content-Length", "100046")
			answer(w, body)
		case "4":
			stream(w)("data: " + body + "\n\n")
		case "5":
			stream(w)("data: " + strings.ReplaceAll(body, `,"result"`, "\ndata: ,\"result\"") + "\n\n")
		default:
			answer(w, result(m, "{}"))
		}
	}
	l, failed := session(t, s, maxFrame(1000))
	for _, id := range []string{"2", "3", "4", "5"} {
		write(t, l, request(id, "x"))
		wantTooLarge(t, l, id)
	}
	close(more)
	if large := wantTooLarge(t, l, "77"); large.Size < 100_000 || l.Origin() != nil {
		t.Errorf("size %d", large.Size)
	}
	wantFrame(t, l, `{"jsonrpc":"2.0","method":"after"}`)
	write(t, l, request("6", "x"))
	wantFrame(t, l, `{"jsonrpc":"2.0","id":6,"result":{}}`)
	if len(failed) > 0 {
		t.Errorf("%+v", <-failed)
	}
}

func TestManyOpen(t *testing.T) {
	l, failed := open(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body)
		<-r.Context().Done()
	}, func(c *Config) {
		c.Client.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})
	})
	for i := range maxOpen + 1 {
		write(t, l, request(`"`+strings.Repeat("x", i+1)+`"`, "x"))
	}
	if f := <-failed; f.err != ErrBusy || len(f.id) != maxOpen+3 {
		t.Errorf("%d: %v", len(f.id), f.err)
	}
}

func TestContextEndsLink(t *testing.T) {
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	l, err := Open(ctx, Config{URL: "http://127.0.0.1:1/", Client: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		<-r.Context().Done()
		return nil, context.Cause(r.Context())
	})}, MaxFrame: 1000, Failed: func(json.RawMessage, error) { t.Error("the end was reported as a failure") }})
	if err != nil {
		t.Fatal(err)
	}
	write(t, l, request(`1`, "x"))
	cancel(cause)
	if _, err := l.Next(); err != cause {
		t.Errorf("Next() = %v, want the cause", err)
	}
	_ = l.Close()
}

// TestBackpressure: what is not taken is not read.
func TestBackpressure(t *testing.T) {
	var sent atomic.Int32
	l, _ := open(t, func(w http.ResponseWriter, r *http.Request) {
		m := readMessage(t, r)
		send := stream(w)
		for range 1000 {
			send(`data: {"jsonrpc":"2.0","method":"` + strings.Repeat("x", 100_000) + "\"}\n\n")
			if r.Context().Err() != nil {
				return
			}
			sent.Add(1)
		}
		send("data: " + result(m, "{}") + "\n\n")
	})
	write(t, l, request(`1`, "x"))
	for range 20 {
		if _, err := l.Next(); err != nil {
			t.Fatal(err)
		}
	}
	if n := sent.Load(); n > 500 {
		t.Errorf("%d events of 100 kB were sent before 21 were read", n)
	}
	_ = l.Close()
}

func TestCloseIsBounded(t *testing.T) {
	s := &legacy{post: func(http.ResponseWriter, *http.Request, wire.Message) {}}
	s.t = t
	l, _ := open(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodDelete {
			<-r.Context().Done()
			return
		}
		s.ServeHTTP(w, r)
	})
	shake(t, l)
	begin := time.Now()
	_ = l.Close()
	if d := time.Since(begin); d > 5*time.Second {
		t.Errorf("Close took %s", d)
	}
}

func TestOpenRefuses(t *testing.T) {
	for _, c := range []Config{{URL: "/x"}, {URL: "ftp://h/"}, {URL: "http://"}, {URL: "http://h", Kind: "ws"}} {
		if _, err := Open(t.Context(), c); err == nil {
			t.Errorf("Open(%+v) worked", c)
		}
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
