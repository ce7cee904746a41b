package wire

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// lane records what it is told and takes the methods that start with "hot/".
type lane struct {
	mu    sync.Mutex
	taken []string
	stray []string
	large []*TooLargeError
	sent  []string
}

func (l *lane) Next() {}

func (l *lane) Take(m *Message) bool {
	if !strings.HasPrefix(m.Method, "hot/") {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.taken = append(l.taken, m.Method)
	return true
}

func (l *lane) Stray(line []byte, m *Message, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stray = append(l.stray, fmt.Sprintf("%s|%s|%v", line, m.ID, err))
}

func (l *lane) TooLarge(e *TooLargeError) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.large = append(l.large, e)
}

func (l *lane) Sent(method string, _ *jsonrpc.Response) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sent = append(l.sent, method)
}

// peer is the other end of a Conn.
type peer struct {
	t    *testing.T
	conn *Conn
	lane *lane
	in   io.WriteCloser // to the Conn
	out  *bufio.Reader  // from it
	run  chan error
}

func newPeer(t *testing.T) *peer {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	p := &peer{t: t, lane: &lane{}, in: inW, out: bufio.NewReader(outR), run: make(chan error, 1)}
	p.conn = NewConn(NewReader(inR, 1000), NewWriter(outW), p.lane, outW.Close)
	go func() { p.run <- p.conn.Run() }()
	t.Cleanup(func() {
		_ = p.conn.Close()
		_ = inW.Close()
	})
	return p
}

// send writes lines to the Conn.
func (p *peer) send(lines ...string) {
	p.t.Helper()
	within(p.t, "sending", func() {
		for _, line := range lines {
			_, _ = io.WriteString(p.in, line+"\n")
		}
	})
}

// read returns the next message for the SDK.
func (p *peer) read() jsonrpc.Message {
	p.t.Helper()
	var m jsonrpc.Message
	var err error
	within(p.t, "Read", func() { m, err = p.conn.Read(p.t.Context()) })
	if err != nil {
		p.t.Fatalf("Read: %v", err)
	}
	return m
}

func (p *peer) request() *jsonrpc.Request {
	p.t.Helper()
	r, ok := p.read().(*jsonrpc.Request)
	if !ok {
		p.t.Fatal("not a request")
	}
	return r
}

// line returns the next line that the Conn writes.
func (p *peer) line() string {
	p.t.Helper()
	var s string
	within(p.t, "reading a line", func() { s, _ = p.out.ReadString('\n') })
	return strings.TrimSuffix(s, "\n")
}

func (p *peer) answer(r *jsonrpc.Request, result string) {
	p.t.Helper()
	if err := p.conn.Write(p.t.Context(), &jsonrpc.Response{ID: r.ID, Result: json.RawMessage(result)}); err != nil {
		p.t.Errorf("Write: %v", err)
	}
}

func TestConnIDsComeBackWithTypeAndDigits(t *testing.T) {
	p := newPeer(t)
	for _, id := range []string{`0`, `"0"`, `""`, `1.5`, `1.0`, `9007199254740993`, `-7`, `"a\u0062"`} {
		p.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"ping","params":{"n":9007199254740993}}`)
		r := p.request()
		if string(r.Params) != `{"n":9007199254740993}` {
			t.Errorf("params of %s: %s", id, r.Params)
		}
		p.answer(r, `{"x":1.0}`)
		if got, want := p.line(), `{"jsonrpc":"2.0","id":`+id+`,"result":{"x":1.0}}`; got != want {
			t.Errorf("id %s: got %s, want %s", id, got, want)
		}
	}
	if d := cmp.Diff(strings.Fields(strings.Repeat("ping ", 8)), p.lane.sent); d != "" {
		t.Errorf("sent (-want +got):\n%s", d)
	}
}

func TestConnSameIDTwiceGetsTwoAnswers(t *testing.T) {
	p := newPeer(t)
	p.send(`{"jsonrpc":"2.0","id":1,"method":"a"}`, `{"jsonrpc":"2.0","id":1,"method":"b"}`)
	a, b := p.request(), p.request()
	p.answer(b, `"b"`)
	p.answer(a, `"a"`)
	got := []string{p.line(), p.line()}
	want := []string{`{"jsonrpc":"2.0","id":1,"result":"b"}`, `{"jsonrpc":"2.0","id":1,"result":"a"}`}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("answers (-want +got):\n%s", d)
	}
}

func TestConnErrorsKeepCodeMessageAndData(t *testing.T) {
	p := newPeer(t)
	for _, c := range []struct {
		err  error
		want string
	}{
		{&jsonrpc.Error{Code: -32602, Message: "<bad>", Data: json.RawMessage(`{"a": 1.0}`)}, `{"code":-32602,"message":"<bad>","data":{"a":1.0}}`},
		{fmt.Errorf("handling: %w", &jsonrpc.Error{Code: -32001, Message: "inner"}), `{"code":-32001,"message":"handling: inner"}`},
		{errors.New("plain"), `{"code":-32603,"message":"plain"}`},
	} {
		p.send(`{"jsonrpc":"2.0","id":"x","method":"m"}`)
		r := p.request()
		_ = p.conn.Write(t.Context(), &jsonrpc.Response{ID: r.ID, Error: c.err})
		if got, want := p.line(), `{"jsonrpc":"2.0","id":"x","error":`+c.want+`}`; got != want {
			t.Errorf("%v:\ngot  %s\nwant %s", c.err, got, want)
		}
	}
}

func TestConnTranslatesCancellation(t *testing.T) {
	p := newPeer(t)
	p.send(`{"jsonrpc":"2.0","id":"1","method":"slow"}`, `{"jsonrpc":"2.0","id":1,"method":"slow"}`)
	text, number := p.request(), p.request()
	p.send(
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`,   // never sent
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}`,                // names nothing
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,   // the number
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"1"}}`, // the text
	)
	for _, want := range []*jsonrpc.Request{number, text} {
		got := p.request()
		if s := fmt.Sprintf(`{"requestId":%d}`, want.ID.Raw()); got.Method != "notifications/cancelled" || string(got.Params) != s {
			t.Errorf("got %s %s, want %s", got.Method, got.Params, s)
		}
	}
	p.answer(number, `{}`)
	_ = p.line()
	p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, `{"jsonrpc":"2.0","method":"next"}`)
	if got := p.request().Method; got != "next" {
		t.Errorf("a cancellation of an answered request reached the SDK as %s", got)
	}
}

func TestConnLaneTakesAndNoiseIsStray(t *testing.T) {
	p := newPeer(t)
	p.send(
		"\x1b[32mServer ready\x1b[0m", `{not json`, `42`, ``, `{"jsonrpc":"2.0","id":null,"method":"m"}`, `{"id":3,"method":"m"}`,
		`{"jsonrpc":"2.0","id":"nobody","result":{}}`, `{"jsonrpc":"2.0","id":5,"method":"hot/call"}`, `{"jsonrpc":"2.0","method":"hot/note"}`,
		`{"jsonrpc":"2.0","id":8,"result":{"x":"`+strings.Repeat("x", 2000)+`"}}`, `{"jsonrpc":"2.0","method":"last"}`)
	if got := p.request().Method; got != "last" {
		t.Errorf("got %s first", got)
	}
	p.lane.mu.Lock()
	defer p.lane.mu.Unlock()
	if d := cmp.Diff([]string{"hot/call", "hot/note"}, p.lane.taken); d != "" {
		t.Errorf("taken (-want +got):\n%s", d)
	}
	want := []string{
		"\x1b[32mServer ready\x1b[0m||not valid JSON", `{not json||not valid JSON`, `42||not valid JSON`,
		`{"jsonrpc":"2.0","id":null,"method":"m"}|null|` + ErrInvalidRequest.Error(), `{"id":3,"method":"m"}|3|` + ErrInvalidRequest.Error(),
		`"nobody"|"nobody"|` + ErrUnknownID.Error(),
	}
	if d := cmp.Diff(want, p.lane.stray); d != "" {
		t.Errorf("stray (-want +got):\n%s", d)
	}
	if len(p.lane.large) != 1 || string(p.lane.large[0].ID) != "8" {
		t.Errorf("too large: %v, want one with id 8", p.lane.large)
	}
}

func TestConnReplacesInvalidUTF8AndCounts(t *testing.T) {
	p := newPeer(t)
	p.send("{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":{\"t\":\"\xb0\xa1 \xff\"}}", `{"jsonrpc":"2.0","method":"m","params":{"t":"\ud800"}}`)
	if got, want := string(p.request().Params), "{\"t\":\"\uFFFD\uFFFD \uFFFD\"}"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := string(p.request().Params), `{"t":"\ud800"}`; got != want {
		t.Errorf("an escaped surrogate: got %s, want it untouched", got)
	}
	if got := p.conn.BadBytes(); got != 3 {
		t.Errorf("BadBytes = %d, want 3", got)
	}
}

func TestConnResponsesReachTheSDK(t *testing.T) {
	p := newPeer(t)
	id, _ := jsonrpc.MakeID(float64(3))
	go func() {
		_ = p.conn.Write(t.Context(), &jsonrpc.Request{ID: id, Method: "ping"})
		_ = p.conn.Write(t.Context(), &jsonrpc.Request{Method: "notifications/initialized"})
	}()
	if got := []string{p.line(), p.line()}; cmp.Diff([]string{`{"jsonrpc":"2.0","id":3,"method":"ping"}`, `{"jsonrpc":"2.0","method":"notifications/initialized"}`}, got) != "" {
		t.Errorf("wrote %q", got)
	}
	p.send(`{"jsonrpc":"2.0","id":3,"result":{"a":1.0}}`, `{"jsonrpc":"2.0","id":4,"error":{"code":-32001,"message":"no","data":[1]}}`, `{"jsonrpc":"2.0","id":5,"error":"text"}`)
	if r := p.read().(*jsonrpc.Response); r.ID != id || string(r.Result) != `{"a":1.0}` {
		t.Errorf("got %+v", r)
	}
	for _, want := range []int64{-32001, jsonrpc.CodeInternalError} {
		var e *jsonrpc.Error
		if r := p.read().(*jsonrpc.Response); !errors.As(r.Error, &e) || e.Code != want {
			t.Errorf("got %v, want code %d", r.Error, want)
		}
	}
}

func TestConnAnswersABatchInOneArray(t *testing.T) {
	p := newPeer(t)
	elements, err := Elements([]byte(`[{"jsonrpc":"2.0","id":1,"method":"a"},{"jsonrpc":"2.0","method":"note"},{"jsonrpc":"2.0","id":"2","method":"b"},{"jsonrpc":"2.0","id":3,"method":"gone"}]`))
	if err != nil {
		t.Fatal(err)
	}
	p.conn.FeedBatch(elements) // nothing else is read meanwhile
	a, note, b, gone := p.request(), p.request(), p.request(), p.request()
	if note.Method != "note" || gone.Method != "gone" {
		t.Fatalf("order: %s, %s, %s, %s", a.Method, note.Method, b.Method, gone.Method)
	}
	p.answer(b, `{"b":1}`)
	p.answer(a, `{"a":1}`)
	p.conn.Drop(t.Context(), json.RawMessage(`3`))
	p.conn.Drop(t.Context(), json.RawMessage(`3`)) // a second time does nothing
	if got, want := p.line(), `[{"jsonrpc":"2.0","id":"2","result":{"b":1}},{"jsonrpc":"2.0","id":1,"result":{"a":1}}]`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	p.send(`{"jsonrpc":"2.0","id":1,"method":"alone"}`)
	p.answer(p.request(), `{}`)
	if got, want := p.line(), `{"jsonrpc":"2.0","id":1,"result":{}}`; got != want {
		t.Errorf("after the batch: got %s, want %s", got, want)
	}
}

// TestConnEndWaitsForOpenRequests: a script writes its requests and closes; the
// SDK would cancel them if it saw that end at once.
func TestConnEndWaitsForOpenRequests(t *testing.T) {
	p := newPeer(t)
	p.send(`{"jsonrpc":"2.0","id":1,"method":"m"}`)
	r := p.request()
	_ = p.in.Close()
	if err := <-p.run; err != nil {
		t.Errorf("Run: %v", err)
	}
	end := make(chan error, 1)
	go func() {
		_, err := p.conn.Read(t.Context())
		end <- err
	}()
	select {
	case err := <-end:
		t.Fatalf("Read ended with %v before the answer", err)
	case <-p.conn.Idle():
		t.Fatal("idle before the answer")
	case <-time.After(20 * time.Millisecond):
	}
	p.answer(r, `{}`)
	_ = p.line()
	within(t, "Idle", func() { <-p.conn.Idle() })
	within(t, "Read", func() {
		if err := <-end; !errors.Is(err, io.EOF) {
			t.Errorf("Read: got %v, want EOF", err)
		}
	})
}

func TestConnMessagesBeforeTheEndAreNotLost(t *testing.T) {
	for range 200 {
		p := newPeer(t)
		p.send(`{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","id":2,"result":{}}`)
		_ = p.in.Close()
		_, _ = p.read(), p.read()
		if _, err := p.conn.Read(t.Context()); !errors.Is(err, io.EOF) {
			t.Fatalf("got %v, want EOF", err)
		}
	}
}

func TestConnCloseEndsReadAtOnce(t *testing.T) {
	p := newPeer(t)
	end := make(chan error, 1)
	go func() {
		_, err := p.conn.Read(context.WithoutCancel(t.Context()))
		end <- err
	}()
	if err := p.conn.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	within(t, "Read after Close", func() {
		if err := <-end; !errors.Is(err, io.EOF) {
			t.Errorf("got %v, want EOF", err)
		}
	})
	for range 40 { // more than the inbox holds: the reader must not hang
		p.send(`{"jsonrpc":"2.0","method":"m"}`)
	}
}

// TestConnBelowWaitsForAnswers: a peer that asks for more than it takes is held
// back until the SDK has answered some, or the connection is closed.
func TestConnBelowWaitsForAnswers(t *testing.T) {
	for _, closed := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			p := newPeer(t)
			go func() { _, _ = io.Copy(io.Discard, p.out) }()
			p.conn.Below(1) // nothing is open
			for i := range 3 {
				_, _ = fmt.Fprintf(p.in, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"m\"}\n", i)
			}
			synctest.Wait()
			p.conn.Below(4)
			below := make(chan struct{})
			go func() { p.conn.Below(2); close(below) }()
			waiting := func() bool {
				synctest.Wait()
				select {
				case <-below:
					return false
				default:
					return true
				}
			}
			got := []bool{waiting()}
			if closed {
				_ = p.conn.Close()
				got = append(got, waiting())
			}
			for range 2 {
				if closed {
					break
				}
				m, err := p.conn.Read(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				p.answer(m.(*jsonrpc.Request), `{}`)
				got = append(got, waiting())
			}
			want := []bool{true, true, false} // three are open, then two, then one
			if closed {
				want = []bool{true, false}
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("closed %v: waiting (-want +got):\n%s", closed, d)
			}
			_ = p.conn.Close()
			_ = p.in.Close()
		})
	}
}
