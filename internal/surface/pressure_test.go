package surface_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"heddle/internal/mcptest"
	"heddle/internal/wire"

	"github.com/google/go-cmp/cmp"
)

// A host may send its first calls with the handshake, all in one write.
func TestPipelinedHandshake(t *testing.T) {
	for _, version := range []string{newestHandshake, "2025-03-26", "2024-11-05"} {
		t.Run(version, func(t *testing.T) {
			eachMode(t, stageOptions{version: "-"}, func(t *testing.T, s *stage) {
				const calls = 200
				lines := []string{
					`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"` + version + `","capabilities":{},"clientInfo":{"name":"eager","version":"1"}}}`,
					`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
				}
				want := map[string]string{`"hello"`: ""}
				for i := range calls {
					want[fmt.Sprint(i)] = fmt.Sprintf("text %d", i)
					lines = append(lines, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":%s}`, i, s.params("up_echo", fmt.Sprintf(`{"text":"text %d"}`, i))))
				}
				s.Send(strings.Join(lines, "\n"))
				mcptest.Eventually(t, func() bool { return len(linesWith(s, `"id":`)) >= len(want) }, "%d answers", len(want))
				got := map[string]string{}
				for _, line := range linesWith(s, `"id":`) {
					m, err := wire.Parse([]byte(line))
					if err != nil || m.Error != nil {
						t.Errorf("answer %s: %v", line, err)
					}
					got[string(m.ID)] = mcptest.TextOf(m.Result)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("answers (-want +got):\n%s", diff)
				}
				if first := s.Lines()[0]; !strings.Contains(string(first), `"id":"hello"`) {
					t.Errorf("the first line is %.200s, want the answer to initialize", first)
				}
			})
		})
	}
}

// Calls that come with the handshake, even before the host says that it is
// initialised, are those of a session: results and errors come back byte for byte.
func TestPipelinedCallsAreExact(t *testing.T) {
	const result, object = `{ "content":[ ], "z":1.0, "n":9007199254740993, "t":"<&>" }`, `{ "message":"<no>", "code":-32050, "x":1.0 }`
	server := mcptest.Options{
		Tools: toolsNamed("exact", "broken"), Results: rawMap(map[string]string{"exact": result}), Errors: rawMap(map[string]string{"broken": object}),
	}
	eachMode(t, stageOptions{version: "-", servers: map[string]mcptest.Options{"up": server}}, func(t *testing.T, s *stage) {
		s.Send(strings.Join([]string{
			`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"` + newestHandshake + `","capabilities":{},"clientInfo":{"name":"eager","version":"1"}}}`,
			`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":` + s.params("up_exact", `{}`) + `}`,
			`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
			`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":` + s.params("up_broken", `{}`) + `}`,
		}, "\n"))
		for id, want := range map[string]string{"2": `"result":` + result, "3": `"error":` + object} {
			mcptest.Eventually(t, func() bool { return len(linesWith(s, `"id":`+id+`,`)) == 1 }, "the answer to %s", id)
			if diff := cmp.Diff(`{"jsonrpc":"2.0","id":`+id+`,`+want+`}`, linesWith(s, `"id":`+id+`,`)[0]); diff != "" {
				t.Errorf("answer to %s (-want +got):\n%s", id, diff)
			}
		}
	})
}

// An initialize that is refused does not hold back what came with it.
func TestPipelinedHandshakeThatIsRefused(t *testing.T) {
	eachMode(t, stageOptions{version: "-"}, func(t *testing.T, s *stage) {
		s.Send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":7}}` + "\n" +
			`{"jsonrpc":"2.0","id":2,"method":"ping"}` + "\n" +
			`{"jsonrpc":"2.0","id":3,"method":"initialize","params":{"protocolVersion":"` + newestHandshake + `","capabilities":{},"clientInfo":{"name":"eager","version":"1"}}}` + "\n" +
			`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" +
			`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":` + s.params("up_echo", `{"text":"after all"}`) + `}`)
		mcptest.Eventually(t, func() bool { return len(linesWith(s, "after all")) == 1 }, "the answer to the call")
		for _, id := range []string{"1", "2", "3"} {
			if len(linesWith(s, `"id":`+id+`,`)) != 1 {
				t.Errorf("no answer to %s: %s", id, linesWith(s, ""))
			}
		}
	})
}

// resultSize is that of the results of a flood; maxRunning is how many calls
// heddle runs for a host at most, and maxQueued how many answers may wait: twice
// what the queue holds, since one part of it is being written.
const (
	resultSize = 8 << 10
	maxRunning = 1024
	maxQueued  = 2 * (8 << 20) / resultSize
)

// A host that asks and does not read is held back, and gets everything in the end.
func TestHostThatDoesNotRead(t *testing.T) {
	if testing.Short() {
		t.Skip("moves hundreds of megabytes: not with -short")
	}
	for _, c := range []struct{ name, version, meta string }{
		{"calls", newestHandshake, `"_meta":{}`}, {"calls without handshake", "-", modernMeta},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStage(t, stageOptions{mode: "compact", version: c.version, servers: map[string]mcptest.Options{
				"up": {Tools: toolsNamed("large"), Results: map[string]json.RawMessage{"large": mcptest.Text(strings.Repeat("x", resultSize))}},
			}})
			text(t, s.run("up_large", `{}`, c.meta)) // all is started
			goroutines := runtime.NumGoroutine()
			s.gate.shut()
			const calls = 20_000
			answers := make([]<-chan wire.Message, calls)
			var sent atomic.Int64
			done := make(chan struct{})
			go func() {
				defer close(done)
				params := s.params("up_large", `{}`, c.meta)
				for i := range calls {
					answers[i] = s.Start(fmt.Sprint(i+1), "tools/call", params)
					sent.Add(1)
				}
			}()
			held := heldBack(t, s, &sent, done)
			if most := int64(maxRunning + maxQueued + 200); held > most { // and some of the one read that was let through
				t.Errorf("%d requests were read from a host that does not read, want at most %d", held, most)
			}
			if n := runtime.NumGoroutine() - goroutines; n > maxRunning+500 {
				t.Errorf("%d goroutines for them, want at most %d", n, maxRunning)
			}
			s.gate.unlock()
			<-done
			for i, a := range answers {
				if m := s.Wait(a); len(mcptest.TextOf(m.Result)) != resultSize {
					t.Fatalf("answer %d: %.200s%s", i, m.Result, m.Error)
				}
			}
		})
	}
}

// heldBack waits until the host gets rid of no more requests, and returns how many
// it did. Waiting too short finds too few of them, never too many.
func heldBack(t *testing.T, s *stage, sent *atomic.Int64, done <-chan struct{}) int64 {
	t.Helper()
	const quiet = 500 * time.Millisecond
	last, since := int64(-1), time.Now()
	mcptest.Eventually(t, func() bool {
		select {
		case <-done:
			return true
		default:
		}
		if now := sent.Load() + int64(mcptest.Count(s.servers["up"].Events(), "call")); now != last || now == 0 {
			last, since = now, time.Now()
		}
		return time.Since(since) > quiet
	}, "a host that is held back")
	return sent.Load()
}

// What is refused before it is a call is said, however far the host is behind.
func TestRefusalsReachAHostThatIsBehind(t *testing.T) {
	s := newStage(t, stageOptions{mode: "compact", config: "results: {max_frame: 64KB}\n"})
	s.gate.shut()
	const lines = 6000
	pad := strings.Repeat("p", 200) // so that the refusals are far more than notifications may fill
	large := strings.Repeat("x", 70<<10)
	want := map[string]string{}
	for i := range lines {
		id := fmt.Sprintf(`"%d-%s"`, i, pad)
		want[id] = "-32600"
		switch {
		case i%1000 == 999:
			s.Send(`{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"` + large + `"}}`)
		case i%2 == 0:
			s.Send(`{"jsonrpc":"2.0","id":` + id + `}`)
		default:
			s.Send(`{"id":` + id + `,"method":"ping"}`)
		}
	}
	last := s.Start(`"last"`, "tools/call", s.params("up_echo", `{"text":"last"}`)) // it is read once all before are refused
	s.gate.unlock()
	if got := text(t, s.Wait(last)); got != "last" {
		t.Errorf("the call after them: %q", got)
	}
	mcptest.Eventually(t, func() bool { return len(s.Received("")) >= lines }, "all refusals")
	got := map[string]string{}
	for _, m := range s.Received("") {
		got[string(m.ID)] = string(wire.Member(m.Error, "code"))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("refusals (-want +got):\n%.2000s", diff)
	}
}

// A host that takes no answers any more is gone.
func TestHostWhoseReadingEndIsClosed(t *testing.T) {
	eachMode(t, stageOptions{breaks: true}, func(t *testing.T, s *stage) {
		s.boot()
		s.Start(`1`, "tools/call", s.params("up_slow", `{"ms":60000}`))
		s.servers["up"].WaitEvents(t, "call", 1)
		gone := errors.New("nobody reads")
		_ = s.out.CloseWithError(gone)
		s.Start(`2`, "ping", "")
		select {
		case <-s.ended:
		case <-time.After(mcptest.Deadline):
			t.Fatal("the session goes on")
		}
		if !errors.Is(s.err, gone) || !strings.Contains(s.err.Error(), "write to the host") {
			t.Errorf("got error %v, want one that says that the host cannot be written to", s.err)
		}
	})
}

// A host that does not read and then goes leaves nothing running.
func TestHostThatIsBehindAndGoes(t *testing.T) {
	for _, how := range []string{"closes its writing end", "closes its reading end"} {
		t.Run(how, func(t *testing.T) {
			s := newStage(t, stageOptions{mode: "compact", breaks: true, servers: map[string]mcptest.Options{
				"up": {Tools: toolsNamed("large"), Results: map[string]json.RawMessage{"large": mcptest.Text(strings.Repeat("x", 1<<20))}},
			}})
			s.boot()
			s.gate.shut()
			var lines []string
			for i := range 30 { // in one write, which is taken as a whole before heddle is held back
				lines = append(lines, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":%s}`, i+1, s.params("up_large", `{}`)))
			}
			s.Send(strings.Join(lines, "\n"))
			s.servers["up"].WaitEvents(t, "call", 8)
			if how == "closes its reading end" {
				_ = s.out.CloseWithError(io.ErrClosedPipe)
			}
			s.CloseWrite()
			select {
			case <-s.ended:
			case <-time.After(mcptest.Deadline):
				t.Fatal("the session goes on")
			}
			s.gate.unlock()
		})
	}
}

// A tools/call that names no tool is refused and has a row all the same.
func TestCallOfNothingHasARow(t *testing.T) {
	for _, version := range []string{newestHandshake, "-"} {
		for _, mode := range modes {
			t.Run(mode+version, func(t *testing.T) {
				t.Parallel()
				path := filepath.Join(t.TempDir(), "ledger.db")
				s := newStage(t, stageOptions{mode: mode, version: version, ledger: path})
				all := []string{`{}`, `{"name":7}`, `{"name":"up_echo","_meta":7}`}
				if version == "-" {
					all = []string{`{` + modernMeta + `}`}
				}
				for _, params := range all {
					if m := s.Request("tools/call", params); string(wire.Member(m.Error, "code")) != "-32602" {
						t.Errorf("%s: got %s%s, want error -32602", params, m.Result, m.Error)
					}
				}
				rows := s.rows(path)
				var got []string
				for _, r := range rows {
					got = append(got, r.Tool)
					if r.Mode != mode || r.Session == "" || r.Kind == "" || r.DeliveredBytes != 0 {
						t.Errorf("row %+v", r)
					}
				}
				want := []string{"", "", "up_echo"}[:len(all)]
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("tools of the rows (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// An answer of a server that cannot be used is the tool's failure in heddle's own
// words, at once.
func TestDamagedAnswers(t *testing.T) {
	nested := strings.Repeat("[", wire.MaxDepth) + strings.Repeat("]", wire.MaxDepth)
	server := mcptest.Options{
		Errors:  rawMap(map[string]string{"oops": `"oops"`, "empty": `{}`, "text_code": `{"code":"x"}`}),
		Results: rawMap(map[string]string{"deep": `{"a":` + nested + `}`, "tab": "{\"content\":[{\"type\":\"text\",\"text\":\"a\tb\"}]}"}),
	}
	broken := append(sortedKeys(server.Errors), sortedKeys(server.Results)...)
	server.Results["null_error"] = json.RawMessage(string(mcptest.Text("kept")) + `,"error":null`) // stands behind "result":
	server.Errors["null_error_first"] = json.RawMessage(`null,"result":` + string(mcptest.Text("kept")))
	server.Tools = toolsNamed(append(broken, "null_error", "null_error_first")...)
	eachMode(t, stageOptions{servers: map[string]mcptest.Options{"up": server}}, func(t *testing.T, s *stage) {
		for _, name := range broken {
			r := refusalOf(t, s.run("up_"+name, "{}"))
			if r.Kind != "upstream_error" || !*r.Invoked || !strings.Contains(r.Message, "Server up answered, but its answer is ") {
				t.Errorf("%s: %+v, want upstream_error", name, r)
			}
		}
		for _, name := range []string{"null_error", "null_error_first"} {
			if got := text(t, s.run("up_"+name, "{}")); got != "kept" {
				t.Errorf("%s: %q, want the result", name, got)
			}
		}
	})
}
