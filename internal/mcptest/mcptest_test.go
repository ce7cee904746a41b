package mcptest

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"heddle/internal/wire"

	"github.com/google/go-cmp/cmp"
)

func TestMain(m *testing.M) {
	Main()
	os.Exit(m.Run())
}

// connect returns a host of a server in this process.
func connect(t *testing.T, o Options) (*Host, *Server) {
	t.Helper()
	s := NewServer(o)
	peer, err := s.Connect(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return NewHost(t, peer, peer), s
}

func TestHostAndServerInMemory(t *testing.T) {
	h, s := connect(t, Options{PageSize: 2, Instructions: "hello"})
	if got := string(h.Initialize("2025-06-18")); !strings.Contains(got, `"protocolVersion":"2025-06-18"`) || !strings.Contains(got, `"hello"`) {
		t.Errorf("initialize: %s", got)
	}
	s.WaitEvents(t, "initialized", 1)
	if got := TextOf(h.Call("echo", `{"text":"hi"}`).Result); got != "hi" {
		t.Errorf("echo: %q", got)
	}
	m := h.Wait(h.Start(`1.0`, "tools/call", `{"name":"args","arguments":{ "a":1.0 },"_meta":{"x":9007199254740993}}`))
	if got, want := TextOf(m.Result), `{"arguments":{ "a":1.0 },"_meta":{"x":9007199254740993}}`; got != want || string(m.ID) != "1.0" {
		t.Errorf("args under id %s: %s, want %s", m.ID, got, want)
	}
	page := h.Request("tools/list", `{"cursor":"2"}`)
	if got := string(page.Result); !strings.Contains(got, `"slow"`) || !strings.Contains(got, `"nextCursor":"4"`) {
		t.Errorf("page: %s", got)
	}
	h.Call("add_tool", `{"name":"new","times":3}`)
	if n := len(h.WaitReceived("notifications/tools/list_changed", 3)); n != 3 {
		t.Errorf("%d notifications", n)
	}
}

func TestServerReportsWhatItWasToldAndAsked(t *testing.T) {
	h, s := connect(t, Options{})
	h.Reply(func(m wire.Message) json.RawMessage { return json.RawMessage(`{"roots":[]}`) })
	if got, want := TextOf(h.Call("ask", `{"method":"roots/list"}`).Result), `{"jsonrpc":"2.0","id":"ask-1","result":{"roots":[]}}`; got != want {
		t.Errorf("ask: %s, want %s", got, want)
	}
	h.Start(`"s"`, "tools/call", CallParams("slow", `{"ms":60000}`))
	s.WaitEvents(t, "call", 2)
	h.Notify("notifications/cancelled", `{"requestId":"s"}`)
	if got := s.WaitEvents(t, "cancelled", 1)[0].ID; got != `"s"` {
		t.Errorf("cancelled %s", got)
	}
	h.Send(`not json`)
	h.CloseWrite()
	h.WaitEnded()
	s.WaitEvents(t, "eof", 1)
}

func TestServerAsAProcess(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	log := t.TempDir() + "/events"
	name, args, env := Command(Options{Log: log, Noise: "banner\n", Children: []string{"setsid"}})
	cmd := exec.Command(name, args...)
	cmd.Env = env
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	h := NewHost(t, out, in)
	h.Initialize("2025-11-25")
	started := WaitEvents(t, log, "start", 1)[0]
	if d := cmp.Diff(cmd.Process.Pid, started.PID); d != "" {
		t.Errorf("pid (-want +got):\n%s", d)
	}
	if !Alive(started.PID) || !Alive(started.Children[0]) {
		t.Error("the server or its child is not alive")
	}
	if got := string(h.Lines()[0]); got != "banner" {
		t.Errorf("the first line is %q", got)
	}
	h.Start(`1`, "tools/call", CallParams("crash", `{"code":5}`))
	if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() != 5 {
		t.Errorf("ended with %v", err)
	}
	if p, err := os.FindProcess(started.Children[0]); err != nil || p.Kill() != nil {
		t.Errorf("cannot kill %d", started.Children[0])
	}
	WaitGone(t, started.PID, started.Children[0])
}
