package surface_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"heddle/internal/daemon"
	"heddle/internal/mcptest"

	"github.com/google/go-cmp/cmp"
)

const token = "a-token-that-is-long-enough"

// ask sends a request and returns the answer, with its body read.
func (s *webStage) ask(method, path, body string, header map[string]string) (*http.Response, string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), mcptest.Deadline)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for k, v := range header {
		r.Header.Set(k, v)
		switch {
		case k == "Host":
			r.Host = strings.ReplaceAll(v, "PORT", s.port())
		case v == "":
			delete(r.Header, k)
		}
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(r)
	if err != nil {
		s.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	return resp, string(text)
}

func (s *webStage) port() string { return s.url[strings.LastIndex(s.url, ":")+1:] }

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`

// A page of a browser cannot use a heddle on this machine, whatever it sends; a
// program can.
func TestWhoMaySpeakToALocalPort(t *testing.T) {
	s := newWebStage(t, stageOptions{mode: "native"}, daemon.HTTPOptions{Loopback: true})
	tests := []struct {
		name   string
		header map[string]string
		want   int
	}{
		{"a program", nil, 200},
		{"a page of this server", map[string]string{"Origin": "http://127.0.0.1:" + s.port()}, 200},
		{"a page of another local server", map[string]string{"Origin": "http://localhost:3000"}, 403},
		{"a page of this server under another name", map[string]string{"Origin": "http://localhost:" + s.port()}, 200},
		{"a page from elsewhere", map[string]string{"Origin": "https://evil.test"}, 403},
		{"a page that looks local", map[string]string{"Origin": "https://localhost.evil.test"}, 403},
		{"a page with a user that looks local", map[string]string{"Origin": "https://127.0.0.1@evil.test"}, 403},
		{"a page without an origin", map[string]string{"Origin": "null"}, 403},
		{"an empty origin", map[string]string{"Origin": " "}, 403},
		{"no URL", map[string]string{"Origin": "::"}, 403},
		{"a name that was rebound", map[string]string{"Host": "evil.test:PORT"}, 403},
		{"a name that was rebound, of the same origin", map[string]string{"Host": "evil.test:PORT", "Origin": "http://evil.test:" + s.port()}, 403},
		{"an address of elsewhere", map[string]string{"Host": "192.0.2.1:PORT"}, 403},
		{"localhost", map[string]string{"Host": "localhost:PORT"}, 200},
		{"the other family", map[string]string{"Host": "[::1]:PORT"}, 200},
		{"another address of the loop", map[string]string{"Host": "127.9.9.9:PORT"}, 200},
		{"a link from elsewhere", map[string]string{"Sec-Fetch-Site": "cross-site"}, 403},
		{"what a form can send", map[string]string{"Content-Type": "text/plain"}, 415},
		{"no type at all", map[string]string{"Content-Type": ""}, 415},
	}
	for _, test := range tests {
		resp, body := s.ask("POST", "/mcp", initialize, test.header)
		if resp.StatusCode != test.want {
			t.Errorf("%s: %d %.100s, want %d", test.name, resp.StatusCode, body, test.want)
		}
		if got := resp.Header.Get("Access-Control-Allow-Origin"); got != "" {
			t.Errorf("%s: Access-Control-Allow-Origin %q", test.name, got)
		}
		if test.want != 403 {
			continue
		}
		for method, path := range map[string]string{"GET": "/sse", "POST": "/sse?sessionId=x", "OPTIONS": "/mcp", "DELETE": "/mcp/up", "HEAD": "/status"} {
			if resp, body := s.ask(method, path, "", test.header); resp.StatusCode != 403 {
				t.Errorf("%s, %s %s: %d %.100s, want 403", test.name, method, path, resp.StatusCode, body)
			}
		}
	}
	resp, _ := s.ask("OPTIONS", "/mcp", "", map[string]string{"Access-Control-Request-Method": "POST"})
	if resp.StatusCode < 400 || resp.Header.Get("Access-Control-Allow-Origin") != "" || resp.Header.Get("Access-Control-Allow-Methods") != "" {
		t.Errorf("a preflight: %d %v, want a refusal", resp.StatusCode, resp.Header)
	}
}

// A port that others reach wants the token, whoever asks.
func TestToken(t *testing.T) {
	s := newWebStage(t, stageOptions{mode: "native"}, daemon.HTTPOptions{Token: token})
	for _, test := range []struct {
		given string
		want  int
	}{
		{"", 401}, {"Bearer", 401}, {"Bearer ", 401}, {"Bearer wrong", 401}, {"Bearer " + token[:len(token)-1], 401}, {"Bearer " + token + "x", 401},
		{"Basic " + token, 401}, {token, 401}, {"Bearer " + token, 200}, {"bearer  " + token, 200},
	} {
		resp, body := s.ask("POST", "/mcp", initialize, map[string]string{"Authorization": test.given})
		if resp.StatusCode != test.want || (resp.Header.Get("WWW-Authenticate") == "") != (test.want == 200) {
			t.Errorf("%q: %d %.100s, want %d", test.given, resp.StatusCode, body, test.want)
		}
		if test.want == 401 {
			for method, path := range map[string]string{"GET": "/sse", "POST": "/sse?sessionId=x", "DELETE": "/mcp/up", "HEAD": "/nothing"} {
				if resp, _ := s.ask(method, path, "", map[string]string{"Authorization": test.given}); resp.StatusCode != 401 {
					t.Errorf("%q, %s %s: %d, want 401", test.given, method, path, resp.StatusCode)
				}
			}
		}
	}
	// A page from elsewhere does not get further with it.
	if resp, _ := s.ask("POST", "/mcp", initialize, map[string]string{"Authorization": "Bearer " + token, "Origin": "https://evil.test"}); resp.StatusCode != 403 {
		t.Errorf("a page with the token: %d, want 403", resp.StatusCode)
	}
	if resp, _ := s.ask("POST", "/mcp", initialize, map[string]string{"Authorization": "Bearer " + token, "Host": "heddle.test"}); resp.StatusCode != 200 {
		t.Errorf("another name of this machine: %d, want 200", resp.StatusCode)
	}
}

// A session that is not there is 404, so that the host begins a new one; one
// that never was is 400.
func TestSessionThatIsGone(t *testing.T) {
	s := newWebStage(t, stageOptions{mode: "native"}, daemon.HTTPOptions{Loopback: true})
	list := `{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}`
	w := s.host("/mcp", newestHandshake, "{}")
	if got := w.Delete(); got != 204 {
		t.Errorf("DELETE: %d, want 204", got)
	}
	for name, id := range map[string]string{"deleted": w.Session(), "of another process": "NOSUCHSESSION"} {
		for method, body := range map[string]string{"POST": list, "GET": "", "DELETE": ""} {
			if resp, text := s.ask(method, "/mcp", body, map[string]string{"Mcp-Session-Id": id}); resp.StatusCode != 404 {
				t.Errorf("%s, %s: %d %.100s, want 404", name, method, resp.StatusCode, text)
			}
		}
		resp, text := s.ask("POST", "/mcp", initialize, map[string]string{"Mcp-Session-Id": id})
		if fresh := resp.Header.Get("Mcp-Session-Id"); resp.StatusCode != 200 || fresh == "" || fresh == id {
			t.Errorf("%s, initialize: %d %.100s, want a new session", name, resp.StatusCode, text)
		}
	}
	if resp, text := s.ask("GET", "/mcp", "", nil); resp.StatusCode != 400 {
		t.Errorf("a stream of no session: %d %.100s, want 400", resp.StatusCode, text)
	}
	if resp, text := s.ask("DELETE", "/mcp", "", nil); resp.StatusCode != 400 {
		t.Errorf("the end of no session: %d %.100s, want 400", resp.StatusCode, text)
	}
	if resp, text := s.ask("POST", "/mcp", list, map[string]string{"Mcp-Protocol-Version": "1999-01-01"}); resp.StatusCode != 400 {
		t.Errorf("a version that nobody speaks: %d %.100s, want 400", resp.StatusCode, text)
	}
}

// One URL serves both eras at once.
func TestBothErasAtOneURL(t *testing.T) {
	t.Parallel()
	s := newWebStage(t, stageOptions{mode: "native"}, daemon.HTTPOptions{Loopback: true})
	legacy, modern := s.host("/mcp", newestHandshake, "{}"), s.host("/mcp", "-", "")
	for range 2 {
		m := legacy.Request("tools/call", callParams("native", "up_args", `{"n":9007199254740993}`, `"_meta":{"k":1}`))
		if got, want := string(m.Result), string(mcptest.Text(`{"arguments":{"n":9007199254740993},"_meta":{"k":1}}`)); got != want {
			t.Errorf("with handshake: %s%s, want %s", got, m.Error, want)
		}
		m = modern.Request("tools/call", callParams("native", "up_args", `{"n":9007199254740993}`, modernMeta))
		if got := mcptest.TextOf(m.Result); got != `{"arguments":{"n":9007199254740993},"_meta":{"k":1}}` || !strings.Contains(string(m.Result), `"resultType":"complete"`) {
			t.Errorf("without: %s%s", m.Result, m.Error)
		}
		if m = modern.Request("server/discover", "{"+modernMeta+"}"); !strings.Contains(string(m.Result), "supportedVersions") {
			t.Errorf("discover: %s%s", m.Result, m.Error)
		}
	}
	if modern.Session() != "" || legacy.Session() == "" {
		t.Errorf("sessions %q and %q, want one with handshake alone", modern.Session(), legacy.Session())
	}
}

// An endpoint of one server has its tools under their own names, in any mode.
func TestEndpointOfOneServer(t *testing.T) {
	o := stageOptions{mode: "compact", servers: map[string]mcptest.Options{"a": {Tools: toolsNamed("search", "read_result", "with/slash")}, "b": {Tools: toolsNamed("search")}}}
	s := newWebStage(t, o, daemon.HTTPOptions{Loopback: true})
	if diff := cmp.Diff([]string{"search", "a_read_result", "with/slash", "read_result"}, toolNames(t, s.host("/mcp/a", newestHandshake, "{}").Request("tools/list", "{}"))); diff != "" {
		t.Errorf("tools of a (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"search", "read_result"}, toolNames(t, s.host("/mcp/b", newestHandshake, "{}").Request("tools/list", "{}"))); diff != "" {
		t.Errorf("tools of b (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(ownTools["compact"], toolNames(t, s.host("/mcp", newestHandshake, "{}").Request("tools/list", "{}"))); diff != "" {
		t.Errorf("tools of all (-want +got):\n%s", diff)
	}
	for _, path := range []string{"/mcp/nobody", "/mcp/a/b", "/", "/status", "/metrics"} {
		if resp, _ := s.ask("POST", path, initialize, nil); resp.StatusCode != 404 {
			t.Errorf("%s: %d, want 404", path, resp.StatusCode)
		}
	}
	// A session is of the URL that it began at.
	w := s.host("/mcp/a", newestHandshake, "{}")
	if resp, _ := s.ask("POST", "/mcp/b", `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`, map[string]string{"Mcp-Session-Id": w.Session()}); resp.StatusCode != 404 {
		t.Errorf("a session of another URL: %d, want 404", resp.StatusCode)
	}
}

// Hosts of the oldest protocol get everything through their pair of URLs.
func TestStreamOfEvents(t *testing.T) {
	s := newWebStage(t, stageOptions{mode: "native", servers: map[string]mcptest.Options{"up": {Extra: true}}}, daemon.HTTPOptions{Loopback: true})
	h := s.stream("{}")
	if got := toolNames(t, h.Request("tools/list", "{}")); len(got) != len(mcptest.Builtin())+4 {
		t.Errorf("tools %q", got)
	}
	m := h.Request("tools/call", `{"name":"args","arguments":{"n":9007199254740993, "t":"\n€"},"_meta":{"progressToken":7}}`)
	if got := mcptest.TextOf(m.Result); !strings.Contains(got, `{"n":9007199254740993, "t":"\n€"}`) {
		t.Errorf("args: %s%s", m.Result, m.Error)
	}
	h.Request("tools/call", `{"name":"progress","arguments":{"steps":3},"_meta":{"progressToken":"p"}}`)
	h.WaitReceived("notifications/progress", 3)
	h.Request("tools/call", callParams("native", "add_tool", `{"name":"fresh","times":1}`))
	h.WaitReceived(changed, 1)
	// The session ends with its stream.
	h.Close()
	mcptest.Eventually(t, func() bool {
		resp, _ := s.ask("POST", h.URL[len(s.url):], `{"jsonrpc":"2.0","id":9,"method":"ping"}`, nil)
		return resp.StatusCode == 404
	}, "404 for a session whose stream has ended")
	if resp, _ := s.ask("POST", "/sse", `{}`, nil); resp.StatusCode != 404 {
		t.Errorf("a post to no session: %d, want 404", resp.StatusCode)
	}
	if resp, _ := s.ask("PUT", "/sse", `{}`, nil); resp.StatusCode != 405 {
		t.Errorf("PUT: %d, want 405", resp.StatusCode)
	}
}

// A message that is too large is refused, and its session lives.
func TestLargeMessageOverHTTP(t *testing.T) {
	s := newWebStage(t, stageOptions{mode: "native", config: "results: {max_frame: 1MB}\n"}, daemon.HTTPOptions{Loopback: true})
	w := s.host("/mcp", newestHandshake, "{}")
	resp, body := s.ask("POST", "/mcp", `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"up_echo","arguments":{"text":"`+strings.Repeat("x", 2<<20)+`"}}}`, map[string]string{"Mcp-Session-Id": w.Session()})
	if resp.StatusCode != 413 || !strings.Contains(body, "max_frame") {
		t.Errorf("%d %.100s, want 413", resp.StatusCode, body)
	}
	if got := text(t, w.Request("tools/call", callParams("native", "up_echo", `{"text":"on"}`))); got != "on" {
		t.Errorf("echo: %q", got)
	}
}

// At the cap no session is begun, and those that are open go on.
func TestSessionsAreBounded(t *testing.T) {
	s := newWebStage(t, stageOptions{mode: "native"}, daemon.HTTPOptions{Loopback: true})
	ids := s.openSessions(1000)
	resp, body := s.ask("POST", "/mcp", initialize, nil)
	if resp.StatusCode != 503 || resp.Header.Get("Retry-After") == "" {
		t.Errorf("session 1,001: %d %.100s, want 503 with Retry-After", resp.StatusCode, body)
	}
	ping := `{"jsonrpc":"2.0","id":2,"method":"ping"}`
	if resp, body = s.ask("POST", "/mcp", ping, map[string]string{"Mcp-Session-Id": ids[0]}); resp.StatusCode != 200 {
		t.Errorf("an open session: %d %.100s", resp.StatusCode, body)
	}
	s.deleteSessions(ids[:1])
	if resp, body = s.ask("POST", "/mcp", initialize, nil); resp.StatusCode != 200 {
		t.Errorf("after one has ended: %d %.100s", resp.StatusCode, body)
	}
}

// What hosts open and close leaves nothing behind.
func TestSessionsLeaveNothing(t *testing.T) {
	s := newWebStage(t, stageOptions{mode: "native"}, daemon.HTTPOptions{Loopback: true})
	s.deleteSessions(s.openSessions(10))
	before := runtime.NumGoroutine()
	for range 4 {
		s.deleteSessions(s.openSessions(500))
	}
	mcptest.Eventually(t, func() bool { return runtime.NumGoroutine() <= before+10 }, "%d goroutines again, not %d", before, runtime.NumGoroutine())
}

// openSessions opens sessions and returns their ids.
func (s *webStage) openSessions(n int) []string {
	s.t.Helper()
	ids := make([]string, n)
	s.inParallel(n, func(i int, client *http.Client) {
		ids[i] = s.quick(client, "POST", initialize, "", 200)
	})
	return ids
}

func (s *webStage) deleteSessions(ids []string) {
	s.t.Helper()
	s.inParallel(len(ids), func(i int, client *http.Client) { s.quick(client, "DELETE", "", ids[i], 204) })
}

func (s *webStage) inParallel(n int, f func(int, *http.Client)) {
	transport := &http.Transport{MaxIdleConnsPerHost: 8}
	defer transport.CloseIdleConnections()
	var busy sync.WaitGroup
	for k := range 8 {
		busy.Go(func() {
			for i := k; i < n; i += 8 {
				f(i, &http.Client{Transport: transport})
			}
		})
	}
	busy.Wait()
}

// quick sends a request and returns the session's id.
func (s *webStage) quick(client *http.Client, method, body, id string, want int) string {
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.url+"/mcp", strings.NewReader(body))
	if err != nil {
		s.t.Error(err)
		return ""
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if id != "" {
		r.Header.Set("Mcp-Session-Id", id)
	}
	resp, err := client.Do(r)
	if err != nil {
		s.t.Error(err)
		return ""
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body)
	if resp.StatusCode != want {
		s.t.Errorf("%s: %d, want %d", method, resp.StatusCode, want)
	}
	return resp.Header.Get("Mcp-Session-Id")
}

// A host that opens a stream and one that waits for an answer may go at any time.
func TestHostGoesInTheMiddle(t *testing.T) {
	s := newWebStage(t, stageOptions{mode: "native"}, daemon.HTTPOptions{Loopback: true})
	for i := range 3 {
		w := s.host("/mcp", newestHandshake, "{}")
		ctx, cancel := context.WithCancel(t.Context())
		r, err := http.NewRequestWithContext(ctx, "POST", s.url+"/mcp", strings.NewReader(fmt.Sprintf(`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":%s}`, callParams("native", "up_slow", `{"ms":60000}`))))
		if err != nil {
			t.Fatal(err)
		}
		r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Mcp-Session-Id": {w.Session()}}
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		gone := make(chan struct{})
		go func() {
			defer close(gone)
			if resp, err := client.Do(r); err == nil {
				_, _ = bufio.NewReader(resp.Body).ReadString('\n')
				_ = resp.Body.Close()
			}
		}()
		s.servers["up"].WaitEvents(t, "call", i+1)
		cancel()
		<-gone
		// The host may come back for the answer, so the call goes on until its session ends.
		if got := w.Delete(); got != 204 {
			t.Errorf("DELETE: %d, want 204", got)
		}
		s.servers["up"].WaitEvents(t, "cancelled", i+1)
	}
	began := time.Now()
	s.host("/mcp", newestHandshake, "{}").Listen()
	if time.Since(began) > 5*time.Second {
		t.Errorf("a stream opened after %s", time.Since(began))
	}
}

// What a session has subscribed to ends with it: the server would tell nobody.
func TestSubscriptionsEndWithTheirSession(t *testing.T) {
	s := newWebStage(t, stageOptions{mode: "native", servers: map[string]mcptest.Options{"up": library("up")}}, daemon.HTTPOptions{Loopback: true})
	w := s.host("/mcp", newestHandshake, "{}")
	if m := w.Request("resources/subscribe", `{"uri":"shared://one"}`); m.Error != nil {
		t.Fatalf("subscribe: %s", m.Error)
	}
	if got := w.Delete(); got != 204 {
		t.Errorf("DELETE: %d, want 204", got)
	}
	mcptest.Eventually(t, func() bool {
		return len(mcptest.Requests(s.servers["up"].Events(), "resources/unsubscribe")) == 1
	}, "the end of the subscription")
}

// Ids keep their spelling over HTTP too, and none is taken for another.
func TestIdsOverHTTPKeepTheirDigits(t *testing.T) {
	s := newWebStage(t, stageOptions{mode: "native"}, daemon.HTTPOptions{Loopback: true})
	w := s.host("/mcp", newestHandshake, "{}")
	for _, id := range []string{`9007199254740993`, `12345678901234567890`, `1.5`, `1e2`, `-0`, `"x"`, `7`} {
		for _, method := range []string{"ping", "tools/list"} {
			_, body := s.ask("POST", "/mcp", `{"jsonrpc":"2.0","id":`+id+`,"method":"`+method+`"}`, map[string]string{"Mcp-Session-Id": w.Session()})
			if !strings.Contains(body, `"id":`+id+`,`) {
				t.Errorf("%s under id %s: %.200s", method, id, body)
			}
		}
	}
	// Two that a machine's numbers cannot tell apart, at once.
	for _, id := range []string{"9007199254740992", "9007199254740993"} {
		w.Start(id, "tools/call", callParams("native", "slow", `{"ms":60000}`))
	}
	s.servers["up"].WaitEvents(t, "call", 2)
	w.Notify("notifications/cancelled", `{"requestId":9007199254740993}`)
	s.servers["up"].WaitEvents(t, "cancelled", 1)
	if got := w.Delete(); got != 204 {
		t.Errorf("DELETE: %d, want 204", got)
	}
}

// What heddle does not know is refused as the protocol has it, in words.
func TestUnknownMessagesOverHTTP(t *testing.T) {
	s := newWebStage(t, stageOptions{mode: "native"}, daemon.HTTPOptions{Loopback: true})
	w := s.host("/mcp", newestHandshake, "{}")
	in := map[string]string{"Mcp-Session-Id": w.Session()}
	for _, c := range []struct {
		body   string
		header map[string]string
		status int
		want   string
	}{
		{`{"jsonrpc":"2.0","id":3,"method":"tasks/list"}`, in, 200, `"code":-32601`},
		{`{"jsonrpc":"2.0","method":"notifications/foo"}`, in, 202, ``},
		{`{"jsonrpc":"2.0","id":3,"method":"ping"} garbage`, in, 400, `"code":-32700`},
		{`{"jsonrpc":"2.0","id":3,"method":"tools/list"}`, nil, 400, `Mcp-Session-Id`},
		{initialize, map[string]string{"MCP-Protocol-Version": "1999-01-01"}, 200, `"protocolVersion"`},
	} {
		resp, body := s.ask("POST", "/mcp", c.body, c.header)
		if resp.StatusCode != c.status || !strings.Contains(body, c.want) {
			t.Errorf("%s: %d %.200s, want %d with %s", c.body, resp.StatusCode, body, c.status, c.want)
		}
	}
}
