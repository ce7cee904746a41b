package streamable

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"heddle/internal/wire"
)

// TestResume: a stream that breaks off is taken up again from its last event, as
// often as it goes on.
func TestResume(t *testing.T) {
	var gets atomic.Int32
	s := &legacy{}
	s.get = func(w http.ResponseWriter, r *http.Request) {
		last := r.Header.Get("Last-Event-Id")
		if last == "" {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		n := gets.Add(1)
		if want := fmt.Sprintf("e%d", (n+1)/2); last != want || r.Header.Get("Mcp-Session-Id") != "s-1" {
			t.Errorf("resumed after %q, want %q", last, want)
		}
		switch {
		case n == 13:
			stream(w)("data: {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}\n\n")
		case n%2 == 1:
			w.WriteHeader(http.StatusServiceUnavailable)
		default:
			stream(w)(fmt.Sprintf("id: e%d\ndata:\n\n", n/2+1))
		}
	}
	s.post = func(w http.ResponseWriter, _ *http.Request, _ wire.Message) {
		stream(w)("id: e1\nretry: 1\ndata: \n\n")
	}
	l, failed := session(t, s)
	write(t, l, request(`2`, "tools/call"))
	wantFrame(t, l, `{"jsonrpc":"2.0","id":2,"result":{}}`)
	if string(l.Origin()) != "2" || len(failed) > 0 {
		t.Errorf("origin %s, %d failures", l.Origin(), len(failed))
	}
}

func TestResumeGivesUp(t *testing.T) {
	var gets atomic.Int32
	status := http.StatusServiceUnavailable
	s := &legacy{}
	s.get = func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Last-Event-Id") == "" {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		gets.Add(1)
		w.WriteHeader(status)
	}
	s.post = func(w http.ResponseWriter, _ *http.Request, m wire.Message) {
		send := stream(w)
		if string(m.ID) != "4" {
			send("id: e1\nretry: 0\n\n")
		}
		if string(m.ID) == "5" {
			panic(http.ErrAbortHandler)
		}
	}
	l, failed := session(t, s)
	write(t, l, request(`2`, "tools/call"))
	if f := <-failed; f.id != "2" || !strings.Contains(f.err.Error(), "no answer came: the server took the stream up again with HTTP 503") || gets.Load() != 5 {
		t.Errorf("%+v after %d tries", f, gets.Load())
	}
	status = http.StatusBadRequest
	write(t, l, request(`3`, "tools/call"))
	if f := <-failed; f.id != "3" || !strings.Contains(f.err.Error(), "does not take it up again (HTTP 400)") || gets.Load() != 6 {
		t.Errorf("%+v after %d tries", f, gets.Load())
	}
	write(t, l, request(`4`, "tools/call")) // without an event id there is nothing to take up
	if f := <-failed; f.id != "4" || f.err.Error() != "no answer came: the server ended its stream" || gets.Load() != 6 {
		t.Errorf("%+v after %d tries", f, gets.Load())
	}
	write(t, l, request(`5`, "tools/call"))
	if f := <-failed; f.id != "5" || gets.Load() != 7 {
		t.Errorf("%+v after %d tries", f, gets.Load())
	}
}

func TestResumeFindsSessionLost(t *testing.T) {
	s := &legacy{}
	s.get = func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Last-Event-Id") == "" {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		w.WriteHeader(http.StatusNotFound)
	}
	s.post = func(w http.ResponseWriter, _ *http.Request, _ wire.Message) { stream(w)("id: e1\nretry: 1\n\n") }
	l, failed := session(t, s)
	write(t, l, request(`2`, "tools/call"))
	if f := <-failed; f.id != "2" || f.err != ErrInterrupted {
		t.Errorf("%+v", f)
	}
	if _, err := l.Next(); err != ErrSessionLost {
		t.Errorf("Next() = %v", err)
	}
}

// TestAfterTheAnswer: what comes behind the answer is taken, and a stream that goes
// on all the same is closed.
func TestAfterTheAnswer(t *testing.T) {
	gone := make(chan struct{})
	l, failed := session(t, &legacy{post: func(w http.ResponseWriter, r *http.Request, m wire.Message) {
		send := stream(w)
		send("data: " + result(m, "{}") + "\n\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"more\"}\n\n")
		<-r.Context().Done()
		close(gone)
	}})
	write(t, l, request(`2`, "tools/call"))
	wantFrame(t, l, `{"jsonrpc":"2.0","id":2,"result":{}}`)
	wantFrame(t, l, `{"jsonrpc":"2.0","method":"more"}`)
	<-gone
	if len(failed) > 0 {
		t.Errorf("%+v", <-failed)
	}
}

// TestServerRequest: a request of the server on a call's stream belongs to the
// call, whatever its id, and is not taken for the answer.
func TestServerRequest(t *testing.T) {
	answered := make(chan string, 1)
	l, _ := session(t, &legacy{post: func(w http.ResponseWriter, _ *http.Request, m wire.Message) {
		if m.IsResponse() {
			answered <- string(m.Result)
			w.WriteHeader(http.StatusAccepted)
			return
		}
		send := stream(w)
		send("data: {\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"sampling/createMessage\",\"params\":{}}\n\n")
		<-answered
		send("data: " + result(m, "{}") + "\n\n")
	}})
	write(t, l, request(`2`, "tools/call"))
	wantFrame(t, l, `{"jsonrpc":"2.0","id":2,"method":"sampling/createMessage","params":{}}`)
	if string(l.Origin()) != "2" {
		t.Errorf("origin %s", l.Origin())
	}
	write(t, l, `{"jsonrpc":"2.0","id":2,"result":{"x":1}}`)
	wantFrame(t, l, `{"jsonrpc":"2.0","id":2,"result":{}}`)
}

// TestListeningResumes: the listening stream is opened again, from its last event.
func TestListeningResumes(t *testing.T) {
	s := &legacy{}
	var gets atomic.Int32
	s.get = func(w http.ResponseWriter, r *http.Request) {
		n := gets.Add(1)
		switch last := r.Header.Get("Last-Event-Id"); {
		case n == 1 && last == "", n == 3 && last == "a", n == 4 && last == "b":
		case n == 2 && last == "a":
			w.WriteHeader(http.StatusBadGateway)
			return
		default:
			t.Errorf("GET %d after %q", n, last)
		}
		send := stream(w)
		send(fmt.Sprintf("id: %c\nretry: 1\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"m%d\"}\n\n", "aabc"[n-1], n))
		switch n {
		case 3:
			panic(http.ErrAbortHandler) // broken off, not ended
		case 4:
			<-r.Context().Done()
		}
	}
	l, _ := session(t, s)
	for _, n := range []int{1, 3, 4} {
		wantFrame(t, l, fmt.Sprintf(`{"jsonrpc":"2.0","method":"m%d"}`, n))
		if l.Origin() != nil {
			t.Errorf("origin %s", l.Origin())
		}
	}
}

func TestListeningFindsSessionLost(t *testing.T) {
	s := &legacy{}
	var gets atomic.Int32
	s.get = func(w http.ResponseWriter, _ *http.Request) {
		if gets.Add(1) == 2 {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		stream(w)("id: a\nretry: 1\n\n")
	}
	l, _ := session(t, s)
	if _, err := l.Next(); err != ErrSessionLost {
		t.Errorf("Next() = %v, want ErrSessionLost", err)
	}
}

// TestNoListening: a server without the stream is asked once.
func TestNoListening(t *testing.T) {
	for _, status := range []int{400, 404, 405, 401, 501} {
		asked := make(chan struct{}, 10)
		s := &legacy{post: func(w http.ResponseWriter, _ *http.Request, m wire.Message) { answer(w, result(m, "{}")) }}
		s.get = func(w http.ResponseWriter, _ *http.Request) {
			asked <- struct{}{}
			w.WriteHeader(status)
		}
		l, _ := session(t, s)
		<-asked
		write(t, l, request(`2`, "x"))
		wantFrame(t, l, `{"jsonrpc":"2.0","id":2,"result":{}}`)
		_ = l.Close()
		if len(asked) > 0 {
			t.Errorf("%d: asked again", status)
		}
	}
}

// TestAnswerOnListening: some servers accept a request and answer it on their own
// stream.
func TestAnswerOnListening(t *testing.T) {
	ids := make(chan string, 1)
	s := &legacy{post: func(w http.ResponseWriter, _ *http.Request, m wire.Message) {
		w.WriteHeader(http.StatusAccepted)
		ids <- string(m.ID)
	}}
	s.get = func(w http.ResponseWriter, r *http.Request) {
		send := stream(w)
		select {
		case id := <-ids:
			send(`data: {"jsonrpc":"2.0","id":` + id + ",\"result\":{}}\n\n")
		case <-r.Context().Done():
		}
		<-r.Context().Done()
	}
	l, failed := session(t, s)
	write(t, l, request(`2`, "x"))
	wantFrame(t, l, `{"jsonrpc":"2.0","id":2,"result":{}}`)
	if len(failed) > 0 {
		t.Errorf("%+v", <-failed)
	}
}

func TestAcceptedWithoutStream(t *testing.T) {
	l, failed := session(t, &legacy{post: func(w http.ResponseWriter, _ *http.Request, _ wire.Message) { w.WriteHeader(http.StatusAccepted) }})
	write(t, l, request(`2`, "x"))
	if f := <-failed; f.id != "2" || !strings.Contains(f.err.Error(), "without an answer to the request") {
		t.Errorf("%+v", f)
	}
}

// fake is a response without a network, for tests whose time is not real.
func fake(r *http.Request, status int, kind, body string) *http.Response {
	return &http.Response{
		StatusCode: status, Header: http.Header{"Content-Type": {kind}, "Mcp-Session-Id": {"s"}}, Request: r,
		Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)),
	}
}

// TestListeningPauses: pauses grow to half a minute while nothing comes, and begin
// again once something does.
func TestListeningPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var at []time.Duration
		begin := time.Now()
		enough := make(chan struct{})
		client := &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			switch r.Method {
			case http.MethodGet:
				at = append(at, time.Since(begin))
				begin = time.Now()
				switch len(at) {
				case 1:
					return fake(r, 200, "text/event-stream", ": nothing\n\n"), nil
				case 2:
					return nil, errors.New("no network")
				case 9:
					return fake(r, 200, "text/event-stream", "id: 1\n\n"), nil
				case 11:
					close(enough)
				}
				return fake(r, 503, "text/plain", ""), nil
			case http.MethodPost:
				b, _ := io.ReadAll(r.Body)
				if bytes.Contains(b, []byte(`"initialize"`)) {
					return fake(r, 200, "application/json", initAnswer), nil
				}
				return fake(r, 202, "", ""), nil
			}
			return fake(r, 200, "", ""), nil
		})}
		l, err := Open(t.Context(), Config{URL: "http://h/", Client: client, MaxFrame: 1000})
		if err != nil {
			t.Fatal(err)
		}
		shake(t, l)
		<-enough
		_ = l.Close()
		want := []time.Duration{0, 1, 2, 4, 8, 16, 30, 30, 30, 1, 2}
		for i := range want {
			if at[i] != want[i]*time.Second {
				t.Errorf("pause %d was %s, want %d s", i, at[i], want[i])
			}
		}
	})
}

// oldServer is HTTP+SSE; out is what comes on its stream.
func oldServer(t *testing.T, endpoint func(r *http.Request) string, out chan string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodGet && r.URL.Path == "/sse":
			send := stream(w)
			send("event: endpoint\ndata: " + endpoint(r) + "\n\n")
			for {
				select {
				case text, ok := <-out:
					if !ok {
						return
					}
					send("event: message\ndata: " + text + "\n\n")
				case <-r.Context().Done():
					return
				}
			}
		case r.Method == http.MethodPost && r.URL.Path == "/messages" && r.URL.RawQuery == "s=1":
			m := readMessage(t, r)
			switch {
			case m.Method == "bad":
				http.Error(w, "no such thing", http.StatusBadRequest)
				return
			case m.Method == "initialize":
				out <- initAnswer
			case m.IsRequest():
				out <- result(m, exact)
			}
			w.WriteHeader(http.StatusAccepted)
			_, _ = io.WriteString(w, "Accepted")
		default:
			http.Error(w, "no", http.StatusMethodNotAllowed)
		}
	}
}

func TestOldTransport(t *testing.T) {
	for _, k := range []string{"", "sse"} {
		for _, ref := range []string{"/messages?s=1", "messages?s=1", "http://%s/messages?s=1"} {
			out := make(chan string, 10)
			s := httptest.NewServer(oldServer(t, func(r *http.Request) string { return strings.ReplaceAll(ref, "%s", r.Host) }, out))
			l, failed := dial(t, s.URL+"/sse", kind(k))
			write(t, l, initFrame, doneFrame, request(`2`, "tools/call"))
			wantFrame(t, l, initAnswer)
			wantFrame(t, l, `{"jsonrpc":"2.0","id":2,"result":`+exact+`}`)
			write(t, l, request(`3`, "bad"), `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
			if f := <-failed; f.id != "3" || !strings.Contains(f.err.Error(), "HTTP 400 Bad Request: no such thing") {
				t.Errorf("%+v", f)
			}
			close(out)
			if _, err := l.Next(); err == nil || err == io.EOF || !strings.Contains(err.Error(), "the server ended its event stream") {
				t.Errorf("Next() = %v", err)
			}
			_ = l.Close()
			s.Close()
		}
	}
}

func TestOldTransportElsewhere(t *testing.T) {
	l, _ := open(t, oldServer(t, func(*http.Request) string { return "http://127.0.0.2:1/messages?s=1" }, nil), kind("sse"),
		func(c *Config) { c.URL += "/sse" })
	if _, err := l.Next(); !errors.Is(err, errOtherOrigin) {
		t.Errorf("Next() = %v, want %v", err, errOtherOrigin)
	}
}

func TestOldTransportIsNotThere(t *testing.T) {
	l, _ := open(t, func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "nobody", http.StatusNotFound) }, kind("sse"))
	if _, err := l.Next(); err == nil || !strings.Contains(err.Error(), "HTTP 404 Not Found: nobody") {
		t.Errorf("Next() = %v", err)
	}
}

// TestNeitherTransport: what streamable HTTP said is what the user reads first, and
// the link goes on.
func TestNeitherTransport(t *testing.T) {
	var posts atomic.Int32
	h := func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			posts.Add(1)
		}
		http.Error(w, "nobody", http.StatusNotFound)
	}
	l, failed := open(t, h)
	write(t, l, initFrame)
	f := <-failed
	var status *StatusError
	if f.id != "1" || !strings.Contains(f.err.Error(), "nor does it speak HTTP+SSE") || !errors.As(f.err, &status) || posts.Load() != 1 {
		t.Errorf("%+v", f)
	}
	write(t, l, request(`2`, "x"))
	if f := <-failed; f.id != "2" {
		t.Errorf("%+v", f)
	}
	l, failed = open(t, h, kind("http"))
	write(t, l, initFrame)
	if f := <-failed; strings.Contains(f.err.Error(), "SSE") {
		t.Errorf("kind http: %+v", f)
	}
}
