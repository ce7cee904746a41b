package daemon

import (
	"context"
	"io"
	"strings"
	"testing"

	"heddle/internal/mcptest"
	"heddle/internal/surface"
)

// serve runs a host on the daemon over pipes.
func (f *fixture) serve(mode string) *mcptest.Host {
	f.t.Helper()
	m, err := surface.NewMode(mode, surface.Options{})
	if err != nil {
		f.t.Fatal(err)
	}
	in, toHeddle := io.Pipe()
	fromHeddle, out := io.Pipe()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := f.d.ServeStdio(context.Background(), m, in, out); err != nil {
			f.t.Errorf("serve: %v", err)
		}
		_ = out.Close()
	}()
	h := mcptest.NewHost(f.t, fromHeddle, toHeddle)
	f.t.Cleanup(func() { h.CloseWrite(); <-ended })
	h.Initialize("2025-11-25")
	return h
}

const listChanged = "notifications/tools/list_changed"

// A new configuration reaches the host that is connected: the list, and that it
// changed.
func TestReloadReachesTheHost(t *testing.T) {
	a, b := server("a", mcptest.Options{}), server("b", mcptest.Options{})
	for mode, want := range map[string][2]string{"native": {`"name":"a_echo"`, `"name":"b_echo"`}, "compact": {"Servers: a (12)", "Servers: a (12), b (13)"}} {
		t.Run(mode, func(t *testing.T) {
			f := newFixture(t, "servers:\n"+a, fixtureOptions{})
			f.ready("a")
			h := f.serve(mode)
			h.Request("tools/list", "{}")
			// One tool less, then one server more.
			f.write("tools: {deny: [a_pid]}\nservers:\n" + a)
			h.WaitReceived(listChanged, 1)
			first := string(h.Request("tools/list", "{}").Result)
			if strings.Contains(first, `"pid"`) || mode == "compact" && !strings.Contains(first, want[0]) {
				t.Errorf("after the denial: %s", first)
			}
			f.write("tools: {deny: [a_pid]}\nservers:\n" + a + b)
			h.WaitReceived(listChanged, 2)
			mcptest.Eventually(t, func() bool { return strings.Contains(string(h.Request("tools/list", "{}").Result), want[1]) }, "%s in the list", want[1])
			// What changes nothing for the host is not told.
			f.write("tools: {deny: [a_pid]}\nledger: {keep: 1d}\nservers:\n" + a + b)
			f.logged(reloaded, 3)
			told := len(h.Received(listChanged))
			h.Request("tools/list", "{}")
			if told > 3 || len(h.Received(listChanged)) != told {
				t.Errorf("told %d times", told)
			}
		})
	}
}
