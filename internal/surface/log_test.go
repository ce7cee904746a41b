package surface_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"heddle/internal/daemon"
	"heddle/internal/mcptest"
	"heddle/internal/wire"

	"github.com/google/go-cmp/cmp"
)

const message = "notifications/message"

// talker is a server that logs.
func talker() mcptest.Options { return mcptest.Options{Extra: true, Logging: true} }

// logAt are the arguments of a tool that logs.
func logAt(level, data string, more ...string) string {
	params := append([]string{`"level":"` + level + `"`, `"data":` + data}, more...)
	return `{"method":"notifications/message","params":{` + strings.Join(params, ",") + `}}`
}

// levels returns the levels of the log messages that a host has received.
func levels(h *mcptest.Host) []string {
	out := []string{}
	for _, m := range h.Received(message) {
		level, _ := wire.Unquote(wire.Member(m.Params, "level"))
		out = append(out, level)
	}
	return out
}

// asked returns the levels that a server was asked for.
func asked(s *mcptest.Server) []string {
	out := []string{}
	for _, e := range mcptest.Requests(s.Events(), "logging/setLevel") {
		level, _ := wire.Unquote(wire.Member(e.Params, "level"))
		out = append(out, level)
	}
	return out
}

// A level goes to the servers that log, and to no others; what is less is not
// told.
func TestLogLevel(t *testing.T) {
	s := newStage(t, stageOptions{mode: "native", servers: map[string]mcptest.Options{"loud": talker(), "mute": {}}})
	s.list()
	for _, bad := range []string{`"verbose"`, `""`, `"ERROR"`, `7`, `null`} {
		if m := s.Request("logging/setLevel", `{"level":`+bad+`}`); string(wire.Member(m.Error, "code")) != "-32602" {
			t.Errorf("level %s: %s%s, want -32602", bad, m.Result, m.Error)
		}
	}
	if m := s.Request("logging/setLevel", `{"level":"warning"}`); string(m.Result) != "{}" {
		t.Fatalf("setLevel: %s%s", m.Result, m.Error)
	}
	// A server that has just become ready may be told twice, never something else.
	mcptest.Eventually(t, func() bool { return slices.Equal(slices.Compact(asked(s.servers["loud"])), []string{"warning"}) }, "the level at the server that logs")
	for _, level := range []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"} {
		text(t, s.run("notify", logAt(level, `"x"`)))
	}
	want := []string{"warning", "error", "critical", "alert", "emergency"}
	s.WaitReceived(message, len(want))
	if diff := cmp.Diff(want, levels(s.Host)); diff != "" {
		t.Errorf("levels (-want +got):\n%s", diff)
	}
	if got := asked(s.servers["mute"]); len(got) != 0 {
		t.Errorf("a server without logging was asked for %q", got)
	}
}

// A message says which server it is of; all else is as the server wrote it.
func TestLogMessage(t *testing.T) {
	for _, way := range []string{"stdio", "http"} {
		var h *mcptest.Host
		o := stageOptions{mode: "compact", servers: map[string]mcptest.Options{"up": talker()}}
		if way == "stdio" {
			h = newStage(t, o).Host
		} else {
			w := newWebStage(t, o, daemon.HTTPOptions{Loopback: true}).host("/mcp", newestHandshake, "{}")
			w.Listen()
			h = w.Host
		}
		h.Request("logging/setLevel", `{"level":"debug"}`)
		for i, test := range []struct{ data, more, want string }{
			{`{"n":9007199254740993,"t":"<b>"}`, `"vendor":1.0`, `{"logger":"up","level":"info","data":{"n":9007199254740993,"t":"<b>"},"vendor":1.0}`},
			{`1.0`, `"logger":"db"`, `{"logger":"up/db","level":"info","data":1.0}`},
			{`null`, `"logger":""`, `{"logger":"up","level":"info","data":null}`},
		} {
			h.Request("tools/call", callParams("compact", "up_notify", logAt("info", test.data, test.more)))
			if got := string(h.WaitReceived(message, i+1)[i].Params); got != test.want {
				t.Errorf("%s: got %s, want %s", way, got, test.want)
			}
		}
	}
}

// A message is not how a server fills the host's memory.
func TestLogMessageIsCut(t *testing.T) {
	t.Parallel()
	s := newStage(t, stageOptions{mode: "native", servers: map[string]mcptest.Options{"up": talker()}})
	s.list()
	for i, data := range []string{`"` + strings.Repeat("x", 1<<20) + `"`, `{"a":["` + strings.Repeat("€", 1<<20) + `"]}`} {
		text(t, s.run("notify", logAt("error", data)))
		got := s.WaitReceived(message, i+1)[i].Params
		shown, ok := wire.Unquote(wire.Member(got, "data"))
		if len(got) > 5000 || !ok || !strings.Contains(shown, "cut") || strings.ContainsRune(shown, '\uFFFD') {
			t.Errorf("%d bytes of a large message: %.1500s", len(got), got)
		}
	}
}

// Secrets of the configuration do not reach the host's log.
func TestLogMessageIsMasked(t *testing.T) {
	s := newStage(t, stageOptions{
		mode: "native", servers: map[string]mcptest.Options{"up": talker()},
		config: "servers:\n  off:\n    command: x\n    disabled: true\n    env: {API_TOKEN: hunter2-hunter2-hunter2}\n",
	})
	s.list()
	text(t, s.run("notify", logAt("error", `{"token":"hunter2-hunter2-hunter2"}`, `"logger":"hunter2-hunter2-hunter2"`)))
	if got, want := string(s.WaitReceived(message, 1)[0].Params), `{"logger":"up/[redacted]","level":"error","data":{"token":"[redacted]"}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Two hosts want different levels: the server is asked for the most verbose, and
// each hears what it asked for.
func TestLogLevelsOfTwoHosts(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"http", "sse"} {
		s := newWebStage(t, stageOptions{mode: "native", servers: map[string]mcptest.Options{"up": talker()}}, daemon.HTTPOptions{Loopback: true})
		var a, b *mcptest.Host
		if way == "http" {
			wa, wb := s.host("/mcp", newestHandshake, "{}"), s.host("/mcp", newestHandshake, "{}")
			wa.Listen()
			wb.Listen()
			a, b = wa.Host, wb.Host
		} else {
			a, b = s.stream("{}").Host, s.stream("{}").Host
		}
		a.Request("tools/list", "{}")
		for i, step := range []struct {
			h     *mcptest.Host
			level string
			want  []string
		}{
			{a, "error", []string{"error"}}, {b, "debug", []string{"error", "debug"}}, {a, "critical", []string{"error", "debug"}}, {b, "warning", []string{"error", "debug", "warning"}},
		} {
			step.h.Request("logging/setLevel", `{"level":"`+step.level+`"}`)
			mcptest.Eventually(t, func() bool { return len(asked(s.servers["up"])) >= len(step.want) }, "%s, step %d: levels %q; got %q", way, i, step.want, asked(s.servers["up"]))
		}
		for _, level := range []string{"debug", "warning", "error", "critical", "emergency"} {
			s.servers["up"].Notify(message, json.RawMessage(`{"level":"`+level+`","data":1}`))
		}
		for _, want := range []struct {
			h      *mcptest.Host
			levels []string
		}{{a, []string{"critical", "emergency"}}, {b, []string{"warning", "error", "critical", "emergency"}}} {
			want.h.WaitReceived(message, len(want.levels))
			if diff := cmp.Diff(want.levels, levels(want.h)); diff != "" {
				t.Errorf("%s: levels (-want +got):\n%s", way, diff)
			}
		}
		if diff := cmp.Diff([]string{"error", "debug", "warning"}, asked(s.servers["up"])); diff != "" {
			t.Errorf("%s: the server was asked for (-want +got):\n%s", way, diff)
		}
	}
}

// Messages arrive in the order in which the server wrote them.
func TestLogMessagesKeepTheirOrder(t *testing.T) {
	s := newWebStage(t, stageOptions{mode: "native", servers: map[string]mcptest.Options{"up": talker()}}, daemon.HTTPOptions{Loopback: true})
	w := s.host("/mcp", newestHandshake, "{}")
	w.Listen()
	w.Request("tools/list", "{}")
	w.Request("logging/setLevel", `{"level":"debug"}`)
	const n = 200
	for i := range n {
		s.servers["up"].Notify(message, fmt.Appendf(nil, `{"level":"info","data":%d}`, i))
	}
	for i, m := range w.WaitReceived(message, n) {
		if got := string(wire.Member(m.Params, "data")); got != fmt.Sprint(i) {
			t.Fatalf("message %d is %s", i, got)
		}
	}
}

// A server that starts later, or again, is told the level too.
func TestLogLevelOfALaterSession(t *testing.T) {
	t.Parallel()
	o := talker()
	o.Tools = toolsNamed("crash")
	s := newStage(t, stageOptions{mode: "native", config: "restart: {base_delay: 10ms}\n", servers: map[string]mcptest.Options{"up": o}})
	s.Request("logging/setLevel", `{"level":"notice"}`)
	mcptest.Eventually(t, func() bool { return len(asked(s.servers["up"])) == 1 }, "the level")
	s.run("crash", `{"code":1}`)
	mcptest.Eventually(t, func() bool { return slices.Equal(asked(s.servers["up"]), []string{"notice", "notice"}) }, "the level after a restart")
}
