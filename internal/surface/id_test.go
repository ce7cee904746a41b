package surface_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"heddle/internal/mcptest"
	"heddle/internal/wire"

	"github.com/google/go-cmp/cmp"
)

var ids = []string{`0`, `"0"`, `""`, `1`, `"1"`, `9007199254740993`, `1.0`, `1.5`, `-7`, `1e3`, `123456789012345678901234567890`, `"\u0041"`, `"h1"`}

// An answer has its request's id, type, digits and spelling, in both lanes.
func TestIDs(t *testing.T) {
	eachMode(t, stageOptions{}, func(t *testing.T, s *stage) {
		for _, id := range ids {
			if got := text(t, s.Wait(s.Start(id, "tools/call", s.params("up_echo", `{"text":"x"}`)))); got != "x" {
				t.Errorf("call %s: %q", id, got)
			}
			if m := s.Wait(s.Start(id, "ping", "")); string(m.Result) != "{}" {
				t.Errorf("ping %s: %s%s", id, m.Result, m.Error)
			}
			if m := s.Wait(s.Start(id, "tools/list", "{}")); m.Result == nil {
				t.Errorf("list %s: %s", id, m.Error)
			}
			if m := s.Wait(s.Start(id, "no/such", "{}")); string(wire.Member(m.Error, "code")) != "-32601" {
				t.Errorf("no/such %s: %s%s", id, m.Result, m.Error)
			}
		}
	})
}

func TestIDsInFlightTogether(t *testing.T) {
	eachMode(t, stageOptions{}, func(t *testing.T, s *stage) {
		answers := map[string]<-chan wire.Message{}
		for _, id := range ids {
			answers[id] = s.Start(id, "tools/call", s.params("up_echo", `{"text":`+string(wire.Quote(id))+`}`))
		}
		for _, id := range ids {
			if got := text(t, s.Wait(answers[id])); got != id {
				t.Errorf("id %s got the answer %q", id, got)
			}
		}
	})
}

// A host that uses an id twice at once gets two answers.
func TestDuplicateIDs(t *testing.T) {
	eachMode(t, stageOptions{}, func(t *testing.T, s *stage) {
		first := s.Start(`7`, "tools/call", s.params("up_slow", `{"ms":50}`))
		s.servers["up"].WaitEvents(t, "call", 1)
		line := fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":%s}`, s.params("up_slow", `{"ms":60}`))
		s.Send(line)
		text(t, s.Wait(first))
		mcptest.Eventually(t, func() bool { return len(linesWith(s, `"id":7,`)) == 2 }, "the second answer")
	})
}

// linesWith are the frames that hold the text.
func linesWith(s *stage, part string) []string {
	var out []string
	for _, l := range s.Lines() {
		if strings.Contains(string(l), part) {
			out = append(out, string(l))
		}
	}
	return out
}

// lineAfter sends a line and returns the first frame with the text.
func lineAfter(t *testing.T, s *stage, line, part string) string {
	t.Helper()
	before := len(linesWith(s, part))
	s.Send(line)
	mcptest.Eventually(t, func() bool { return len(linesWith(s, part)) > before }, "a line with %s after %.80s", part, line)
	return linesWith(s, part)[before]
}

func TestLinesThatAreNoRequests(t *testing.T) {
	tests := []struct {
		name, line string
		code       string // "" is no answer
		id         string
	}{
		{"null id", `{"jsonrpc":"2.0","id":null,"method":"tools/list"}`, "-32600", "null"},
		{"null id of a call", `{"jsonrpc":"2.0","id":null,"method":"tools/call","params":{"name":"up_echo"}}`, "-32600", "null"},
		{"boolean id", `{"jsonrpc":"2.0","id":true,"method":"ping"}`, "-32600", "null"},
		{"object id", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, "-32600", "null"},
		{"no version", `{"id":41,"method":"ping"}`, "-32600", "41"},
		{"old version", `{"jsonrpc":"1.0","id":42,"method":"ping"}`, "-32600", "42"},
		{"no method", `{"jsonrpc":"2.0","id":"43"}`, "-32600", `"43"`},
		{"method is a number", `{"jsonrpc":"2.0","id":44,"method":1}`, "-32600", "44"},
		{"parse error", `{"jsonrpc":"2.0","id":45,"method":`, "-32700", "null"},
		{"batch", `[{"jsonrpc":"2.0","id":46,"method":"ping"}]`, "-32600", "null"},
		{"empty batch", `[]`, "-32600", "null"},
		{"params are a number", `{"jsonrpc":"2.0","id":47,"method":"tools/call","params":7}`, "-32602", "47"},
		{"no params", `{"jsonrpc":"2.0","id":48,"method":"tools/call"}`, "-32602", "48"},
		{"no name", `{"jsonrpc":"2.0","id":49,"method":"tools/call","params":{}}`, "-32602", "49"},
		{"name is a number", `{"jsonrpc":"2.0","id":50,"method":"tools/call","params":{"name":7}}`, "-32602", "50"},
		{"noise", "npm notice \x1b[32mnew version\x1b[0m\r", "", ""},
		{"empty line", "", "", ""},
		{"white space", " \t\r", "", ""},
		{"a number", "42", "", ""},
		{"an answer to nothing", `{"jsonrpc":"2.0","id":"nobody","result":{}}`, "", ""},
		{"an answer to a number", `{"jsonrpc":"2.0","id":99,"result":{}}`, "", ""},
		{"unknown notification", `{"jsonrpc":"2.0","method":"notifications/no_such","params":{}}`, "", ""},
		{"a call without id", `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"up_echo"}}`, "", ""},
	}
	eachMode(t, stageOptions{}, func(t *testing.T, s *stage) {
		for _, test := range tests {
			want := len(s.Lines()) + 1
			if test.code != "" {
				got := lineAfter(t, s, test.line, fmt.Sprintf(`"id":%s,"error":{"code":%s,`, test.id, test.code))
				if !json.Valid([]byte(got)) {
					t.Errorf("%s: %s", test.name, got)
				}
				want++
			} else {
				s.Send(test.line)
			}
			if got := text(t, s.run("up_echo", `{"text":"alive"}`)); got != "alive" {
				t.Errorf("the call after %s: %q", test.name, got)
			}
			if got := len(s.Lines()); got != want {
				t.Errorf("%s: %d lines, want %d; the last: %s", test.name, got, want, s.Lines()[got-1])
			}
		}
	})
}

func TestLineOverTheLimit(t *testing.T) {
	eachMode(t, stageOptions{config: "results: {max_frame: 64KB}\n"}, func(t *testing.T, s *stage) {
		large := `{"text":"` + strings.Repeat("x", 200<<10) + `"}`
		m := s.Wait(s.Start(`"large"`, "tools/call", s.params("up_echo", large)))
		if got := string(m.Error); !strings.Contains(got, "-32600") || !strings.Contains(got, "max_frame") {
			t.Errorf("a line over the limit: %s%s, want an error that names max_frame", m.Result, m.Error)
		}
		if got := text(t, s.run("up_echo", `{"text":"next"}`)); got != "next" {
			t.Errorf("the next call: %q", got)
		}
		if n := mcptest.Count(s.servers["up"].Events(), "call"); n != 1 {
			t.Errorf("the server saw %d calls, want 1", n)
		}
	})
}

func TestResultOverTheLimit(t *testing.T) {
	eachMode(t, stageOptions{config: "results: {max_frame: 64KB}\n"}, func(t *testing.T, s *stage) {
		for _, last := range []string{"false", "true"} {
			r := refusalOf(t, s.run("up_big", `{"bytes":200000,"id_last":`+last+`}`))
			if r.Kind != "result_too_large" || !*r.Invoked || !strings.Contains(r.Message, "limit 64000") {
				t.Errorf("id last %s: %+v, want result_too_large with the limit", last, r)
			}
			if got := text(t, s.run("up_echo", `{"text":"next"}`)); got != "next" {
				t.Errorf("the next call: %q", got)
			}
		}
	})
}

// Protocol 2025-03-26 alone has batches: the answers come in one array.
func TestBatch(t *testing.T) {
	eachMode(t, stageOptions{version: "2025-03-26"}, func(t *testing.T, s *stage) {
		call := func(id, text string) string {
			return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":%s}`, id, s.params("up_echo", `{"text":"`+text+`"}`))
		}
		line := lineAfter(t, s, "["+strings.Join([]string{
			call(`"a"`, "one"), `{"jsonrpc":"2.0","method":"notifications/no_such"}`, `{"jsonrpc":"2.0","id":0,"method":"ping"}`,
			`{"jsonrpc":"2.0","id":9007199254740993,"method":"tools/list"}`, call(`1.5`, "two"), `{"jsonrpc":"2.0","id":"m","method":"no/such"}`,
		}, ",")+"]", "[{")
		var got []struct {
			ID            json.RawMessage
			Result, Error json.RawMessage
		}
		if err := json.Unmarshal([]byte(line), &got); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		answers := map[string]string{}
		for _, a := range got {
			answers[string(a.ID)] = mcptest.TextOf(a.Result) + string(wire.Member(a.Error, "code"))
		}
		want := map[string]string{`"a"`: "one", `0`: "", `9007199254740993`: "", `1.5`: "two", `"m"`: "-32601"}
		if diff := cmp.Diff(want, answers); diff != "" {
			t.Errorf("answers (-want +got):\n%s", diff)
		}

		if line := lineAfter(t, s, "["+call("5", "alone")+"]", `"id":5,`); !strings.HasPrefix(line, "[{") {
			t.Errorf("a batch of one: %s, want an array", line)
		}
		s.Send(`[{"jsonrpc":"2.0","method":"notifications/no_such"}]`) // nothing to answer
		lineAfter(t, s, `[]`, `"id":null,"error":{"code":-32600,`)
		if got := text(t, s.run("up_echo", `{"text":"next"}`)); got != "next" {
			t.Errorf("the next call: %q", got)
		}
	})
}

// A cancelled member of a batch does not hold the others back.
func TestBatchWithCancellation(t *testing.T) {
	eachMode(t, stageOptions{version: "2025-03-26"}, func(t *testing.T, s *stage) {
		s.Send(fmt.Sprintf(`[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":%s},{"jsonrpc":"2.0","id":2,"method":"tools/call","params":%s}]`,
			s.params("up_slow", `{"ms":60000}`), s.params("up_echo", `{"text":"other"}`)))
		s.servers["up"].WaitEvents(t, "call", 2)
		line := lineAfter(t, s, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, "[{")
		if strings.Contains(line, `"id":1,`) || !strings.Contains(line, "other") {
			t.Errorf("answers %s, want that of id 2 alone", line)
		}
	})
}

// What is no request in a batch does not keep the others from their answers.
func TestBatchWithOddMembers(t *testing.T) {
	for name, member := range map[string]string{
		"number": `7`, "no version": `{"id":5,"method":"ping"}`, "null id": `{"jsonrpc":"2.0","id":null,"method":"ping"}`,
		"response": `{"jsonrpc":"2.0","id":9,"result":{}}`, "array": `[{"jsonrpc":"2.0","id":6,"method":"ping"}]`,
	} {
		t.Run(name, func(t *testing.T) {
			eachMode(t, stageOptions{version: "2025-03-26"}, func(t *testing.T, s *stage) {
				line := lineAfter(t, s, fmt.Sprintf(`[%s,{"jsonrpc":"2.0","id":1,"method":"tools/call","params":%s},{"jsonrpc":"2.0","id":2,"method":"ping"}]`,
					member, s.params("up_echo", `{"text":"answered"}`)), "answered")
				if !json.Valid([]byte(line)) {
					t.Errorf("not JSON: %s", line)
				}
			})
		})
	}
}

// Two members with one id get two answers.
func TestBatchWithOneIDTwice(t *testing.T) {
	eachMode(t, stageOptions{version: "2025-03-26"}, func(t *testing.T, s *stage) {
		lineAfter(t, s, fmt.Sprintf(`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":1,"method":"tools/call","params":%s}]`,
			s.params("up_echo", `{"text":"answered"}`)), "answered")
	})
}
