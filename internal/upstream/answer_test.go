package upstream

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"heddle"
	"heddle/internal/mcptest"
	"heddle/internal/wire"

	"github.com/google/go-cmp/cmp"
)

// answering is a server that answers tools/call with this frame; ID in it stands
// for the request's id.
func answering(t *testing.T, frame string) *running {
	t.Helper()
	cfg := config("odd")
	cfg.Connect = rewritten(func(line string) string {
		if id := wire.FindID([]byte(line)); strings.HasPrefix(string(id), idPrefix) && strings.Contains(line, `"content":`) {
			return strings.ReplaceAll(frame, "ID", string(id))
		}
		return line
	})
	return start(t, cfg).ready()
}

func TestNullErrorBesideAResultIsNone(t *testing.T) {
	t.Parallel()
	for _, frame := range []string{
		`{"jsonrpc":"2.0","id":ID,"result":{"x":1.0},"error":null}`, `{"jsonrpc":"2.0","id":ID,"error":null,"result":{"x":1.0}}`,
		`{"error": null ,"result":{"x":1.0},"id":ID,"jsonrpc":"2.0"}`,
	} {
		got, err := answering(t, frame).do(t.Context(), "echo", `{}`)
		if err != nil || got != `{"x":1.0}` {
			t.Errorf("%s: got %s, %v; want the result", frame, got, err)
		}
	}
}

// TestDamagedAnswerFailsItsCallAtOnce: the kind tells an answer from a timeout.
func TestDamagedAnswerFailsItsCallAtOnce(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", wire.MaxDepth+1) + strings.Repeat("]", wire.MaxDepth+1)
	for _, c := range []struct{ name, frame, says string }{
		{"error is text", `{"jsonrpc":"2.0","id":ID,"error":"oops"}`, "is an error without code and message"},
		{"error is empty", `{"jsonrpc":"2.0","id":ID,"error":{}}`, "is an error without code and message"},
		{"error code is text", `{"jsonrpc":"2.0","id":ID,"error":{"code":"x"}}`, "is an error without code and message"},
		{"error code is text, with message", `{"jsonrpc":"2.0","id":ID,"error":{"code":"x","message":"m"}}`, "is an error without code and message"},
		{"error message is no text", `{"jsonrpc":"2.0","id":ID,"error":{"code":1,"message":{}}}`, "is an error without code and message"},
		{"error without message", `{"jsonrpc":"2.0","id":ID,"error":{"code":1}}`, "is an error without code and message"},
		{"error is a list", `{"jsonrpc":"2.0","id":ID,"error":[]}`, "is an error without code and message"},
		{"nested too deeply", `{"jsonrpc":"2.0","id":ID,"result":{"a":` + deep + `}}`, "nested too deeply"},
		{"nested too deeply, the id last", `{"jsonrpc":"2.0","result":{"a":` + deep + `},"id":ID}`, "nested too deeply"},
		{"a tab in a string", "{\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"a\tb\"}]}}", "not valid JSON"},
		{"cut off", `{"jsonrpc":"2.0","id":ID,"result":{"content":[`, "not valid JSON"},
		{"neither result nor error", `{"jsonrpc":"2.0","id":ID}`, "not a JSON-RPC 2.0 message"},
		{"null error alone", `{"jsonrpc":"2.0","id":ID,"error":null}`, "not a JSON-RPC 2.0 message"},
		{"no version", `{"id":ID,"result":{}}`, "not a JSON-RPC 2.0 message"},
		{"in a batch", `[{"jsonrpc":"2.0","id":ID}]`, "not a JSON-RPC 2.0 message"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := answering(t, c.frame)
			for range 5 {
				_, err := r.do(t.Context(), "echo", `{}`)
				e := refused(t, err, heddle.KindUpstreamError, "odd", c.says, "may have happened")
				if !e.Invoked {
					t.Error("the call is not marked as sent")
				}
			}
			if st := r.Status(); st.Circuit != "closed" || st.InFlight != 0 || st.State != StateReady {
				t.Errorf("state %s, circuit %s, %d in flight", st.State, st.Circuit, st.InFlight)
			}
		})
	}
}

// TestErrorObjectWithCodeAndMessageIsTheServersOwn: whatever else is in it.
func TestErrorObjectWithCodeAndMessageIsTheServersOwn(t *testing.T) {
	t.Parallel()
	for _, object := range []string{`{"code":-32000,"message":""}`, `{"code":1e2,"message":"m","data":null}`, `{ "message":"m", "x":[1.0], "code":12345678901234567890 }`} {
		_, err := answering(t, `{"jsonrpc":"2.0","id":ID,"error":`+object+`}`).do(t.Context(), "echo", `{}`)
		e, ok := err.(*heddle.RPCError)
		if !ok || string(e.Raw) != object {
			t.Errorf("got error %v, want %s", err, object)
		}
	}
}

// TestServerThatAnswersInBatches: from the handshake on, and several at once.
func TestServerThatAnswersInBatches(t *testing.T) {
	t.Parallel()
	const together = 3
	var held []string // answers that wait for company
	cfg := config("batches")
	cfg.Connect = rewritten(func(line string) string {
		if !strings.Contains(line, `"content":`) {
			return "[" + line + "]"
		}
		if held = append(held, line); len(held) < together {
			return ""
		}
		line = " [ " + strings.Join(held, " , ") + ` , {"jsonrpc":"2.0","method":"notifications/message","params":{}} ] `
		held = nil
		return line
	})
	r := start(t, cfg).ready()
	if d := cmp.Diff(mcptest.Builtin(), r.names()); d != "" {
		t.Errorf("tools (-want +got):\n%s", d)
	}
	var busy sync.WaitGroup
	for n := range 20 * together {
		busy.Go(func() { r.echo(fmt.Sprint(n)) })
	}
	busy.Wait()
	if st := r.Status(); st.Stray != 0 || st.Late != 0 {
		t.Errorf("%d stray lines and %d late answers, want none: %q", st.Stray, st.Late, st.StrayFirst)
	}
}

// TestDamagedLineOfNobodyIsStray: an id that is not ours, or that nobody waits
// for, fails no call.
func TestDamagedLineOfNobodyIsStray(t *testing.T) {
	t.Parallel()
	cfg := config("chatty")
	cfg.Connect = rewritten(func(line string) string {
		if strings.Contains(line, `"content":`) {
			return "{\"id\":7,\"x\":\"\t\"}\n{\"id\":\"h999999\"}\n{\"id\":\"h\"}\n[]\n[7]\n[{\"id\":\n" + line
		}
		return line
	})
	r := start(t, cfg).ready()
	got, err := r.do(t.Context(), "echo", `{"text":"through"}`)
	if err != nil || mcptest.TextOf(json.RawMessage(got)) != "through" {
		t.Errorf("got %s, %v", got, err)
	}
	if st := r.Status(); st.Stray != 6 {
		t.Errorf("%d stray lines, want 6: %q", st.Stray, st.StrayFirst)
	}
}
