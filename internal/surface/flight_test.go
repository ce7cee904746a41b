package surface_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"heddle/internal/mcptest"
	"heddle/internal/upstream"
	"heddle/internal/wire"

	"github.com/google/go-cmp/cmp"
)

// Progress comes back under the token that the host chose, its type and digits,
// and all else as the server wrote it.
func TestProgress(t *testing.T) {
	eachMode(t, stageOptions{}, func(t *testing.T, s *stage) {
		for _, token := range []string{`"p1"`, `7`, `0`, `""`, `7.0`, `9007199254740993`, `"\u0041"`} {
			before := len(s.Received("notifications/progress"))
			text(t, s.run("up_progress", `{"steps":2,"ms":1}`, `"_meta":{"progressToken":`+token+`}`))
			var got []string
			for _, m := range s.WaitReceived("notifications/progress", before+2)[before:] {
				got = append(got, string(m.Params))
			}
			var want []string
			for i := range 2 {
				want = append(want, fmt.Sprintf(`{"progress":%d,"progressToken":%s,"total":2,"x":9007199254740993}`, i+1, token))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("token %s (-want +got):\n%s", token, diff)
			}
		}
		before := len(s.Received("notifications/progress"))
		text(t, s.run("up_progress", `{"steps":2,"ms":1}`)) // without a token nobody asked for any
		text(t, s.run("up_echo", `{}`))
		if got := len(s.Received("notifications/progress")); got != before {
			t.Errorf("%d notifications for a call without token", got-before)
		}
	})
}

// Progress keeps a call alive beyond its timeout, token or not.
func TestProgressExtendsTheDeadline(t *testing.T) {
	short := func(c *upstream.Config) { c.Timeout = time.Second }
	eachMode(t, stageOptions{upstream: short}, func(t *testing.T, s *stage) {
		if got := text(t, s.run("up_progress", `{"steps":10,"ms":150}`)); got != "10 steps" {
			t.Errorf("got %q", got)
		}
	})
}

func TestProgressWithoutHandshake(t *testing.T) {
	eachMode(t, stageOptions{version: "-"}, func(t *testing.T, s *stage) {
		meta := strings.Replace(modernMeta, `"k":1`, `"progressToken":"modern"`, 1)
		text(t, s.run("up_progress", `{"steps":1,"ms":1}`, meta))
		got := string(s.WaitReceived("notifications/progress", 1)[0].Params)
		if want := `{"progress":1,"progressToken":"modern","total":1,"x":9007199254740993}`; got != want {
			t.Errorf("progress %s, want %s", got, want)
		}
	})
}

// A cancelled call gets no answer, not even when the server answers all the same;
// the server is told with the id that it knows.
func TestCancel(t *testing.T) {
	eachMode(t, stageOptions{}, func(t *testing.T, s *stage) {
		for i, id := range []string{`101`, `"c"`, `0`} {
			late := s.Start(id, "tools/call", s.params("up_slow", `{"ms":60000,"late":1}`))
			other := s.Start(`"other"`, "tools/call", s.params("up_slow", `{"ms":100}`))
			calls := s.servers["up"].WaitEvents(t, "call", 2*i+2)
			s.Notify("notifications/cancelled", `{"requestId":`+id+`,"reason":"enough"}`)
			cancelled := s.servers["up"].WaitEvents(t, "cancelled", i+1)
			want := ""
			for _, c := range calls[2*i:] {
				if strings.Contains(string(c.Params), "60000") {
					want = c.ID
				}
			}
			if got := cancelled[i].ID; got != want {
				t.Errorf("the server was told to cancel %s, want %s", got, want)
			}
			if got := text(t, s.Wait(other)); got != "done" {
				t.Errorf("the other call: %q", got)
			}
			select {
			case m := <-late:
				t.Errorf("an answer to the cancelled call %s: %s%s", id, m.Result, m.Error)
			default:
			}
		}
		s.close()
		for _, id := range []string{`101`, `"c"`, `0`} {
			if got := linesWith(s, `"id":`+id+`,`); got != nil {
				t.Errorf("an answer to the cancelled call %s: %s", id, got)
			}
		}
	})
}

func TestCancelOfNothing(t *testing.T) {
	eachMode(t, stageOptions{}, func(t *testing.T, s *stage) {
		text(t, s.Wait(s.Start(`1`, "tools/call", s.params("up_echo", "{}"))))
		for _, params := range []string{`{"requestId":1}`, `{"requestId":"1"}`, `{"requestId":77}`, `{"requestId":null}`, `{}`, `[]`, ``} {
			s.Notify("notifications/cancelled", params)
		}
		// The text "8" is not the number 8.
		eight := s.Start(`8`, "tools/call", s.params("up_slow", `{"ms":50}`))
		s.servers["up"].WaitEvents(t, "call", 2)
		s.Notify("notifications/cancelled", `{"requestId":"8"}`)
		if got := text(t, s.Wait(eight)); got != "done" {
			t.Errorf("got %q", got)
		}
		if n := mcptest.Count(s.servers["up"].Events(), "cancelled"); n != 0 {
			t.Errorf("the server was told of %d cancellations, want 0", n)
		}
	})
}

func TestCancelWithoutHandshake(t *testing.T) {
	eachMode(t, stageOptions{version: "-"}, func(t *testing.T, s *stage) {
		s.Start(`"m"`, "tools/call", s.params("up_slow", `{"ms":60000}`, modernMeta))
		call := s.servers["up"].WaitEvents(t, "call", 1)[0]
		s.Notify("notifications/cancelled", `{"requestId":"m",`+modernMeta+`}`)
		if got := s.servers["up"].WaitEvents(t, "cancelled", 1)[0].ID; got != call.ID {
			t.Errorf("the server was told to cancel %s, want %s", got, call.ID)
		}
	})
}

// Nothing is lost and nothing crossed, whatever comes back in what order.
func TestManyCalls(t *testing.T) {
	servers := map[string]mcptest.Options{}
	for i := range 6 {
		servers[fmt.Sprintf("up%d", i)] = mcptest.Options{}
	}
	eachMode(t, stageOptions{servers: servers}, func(t *testing.T, s *stage) {
		answers := map[string]<-chan wire.Message{}
		want := map[string]string{}
		for i := range 64 {
			id := fmt.Sprint(i)
			want[id] = fmt.Sprintf("text %d", i)
			answers[id] = s.Start(id, "tools/call", s.params(fmt.Sprintf("up%d_echo", i%6), fmt.Sprintf(`{"text":%q}`, want[id])))
		}
		got := map[string]string{}
		for id, c := range answers {
			got[id] = text(t, s.Wait(c))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("answers (-want +got):\n%s", diff)
		}
		if n := len(s.Received("")); n != 0 {
			t.Errorf("%d messages that nobody waited for", n)
		}
	})
}

// A host that writes its requests and closes still gets its answers.
func TestAnswersBeforeTheEnd(t *testing.T) {
	eachMode(t, stageOptions{}, func(t *testing.T, s *stage) {
		slow := s.Start(`1`, "tools/call", s.params("up_slow", `{"ms":100}`))
		list := s.Start(`2`, "tools/list", "{}")
		s.CloseWrite()
		if got := text(t, s.Wait(slow)); got != "done" {
			t.Errorf("got %q", got)
		}
		if m := s.Wait(list); m.Result == nil {
			t.Errorf("list: %s", m.Error)
		}
		s.WaitEnded()
	})
}

// An upstream cannot ask this host anything yet, and learns so at once.
func TestQuestionsOfServers(t *testing.T) {
	eachMode(t, stageOptions{}, func(t *testing.T, s *stage) {
		for _, method := range []string{"sampling/createMessage", "elicitation/create", "roots/list", "no/such"} {
			got := text(t, s.run("up_ask", `{"method":"`+method+`","params":{}}`))
			if !strings.Contains(got, "-32601") {
				t.Errorf("%s: the server got %s, want -32601", method, got)
			}
		}
		if got := text(t, s.run("up_ask", `{"method":"ping"}`)); !strings.Contains(got, `"result":{}`) {
			t.Errorf("ping: the server got %s", got)
		}
	})
}
