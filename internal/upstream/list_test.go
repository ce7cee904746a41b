package upstream

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"heddle/internal/mcptest"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"heddle"
)

func tools(n int) []json.RawMessage {
	out := []json.RawMessage{}
	for i := range n {
		out = append(out, mcptest.Tool(fmt.Sprint("t", i)))
	}
	return out
}

func TestListingCollectsAllPages(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		o        mcptest.Options
		tools    int
		pages    int
		warnings int
	}{
		{"one page", mcptest.Options{Tools: tools(3)}, 3, 1, 0},
		{"no tools", mcptest.Options{Tools: tools(0)}, 0, 1, 0},
		{"8 and 6", mcptest.Options{Tools: tools(14), PageSize: 8}, 14, 2, 0},
		{"empty cursor", mcptest.Options{Tools: tools(14), PageSize: 8, EmptyCursor: true}, 14, 2, 0},
		{"1,000 pages", mcptest.Options{Pages: 1000}, 1000, 1000, 0},
		{"repeated cursor", mcptest.Options{Tools: tools(8), PageSize: 8, RepeatCursor: true}, 16, 2, 1},
		{"page 2 fails", mcptest.Options{Tools: tools(14), PageSize: 8, ListError: json.RawMessage(`{"code":-32603,"message":"s3cr3t-token"}`), ListErrorFrom: 8}, 8, 2, 1},
		{"no such method", mcptest.Options{ListError: json.RawMessage(`{"code":-32601,"message":"no"}`)}, 0, 1, 0},
	} {
		cfg, mem := memoryConfig("pages", c.o)
		r := start(t, cfg).ready()
		st := r.Status()
		if st.Tools != c.tools || len(st.Warnings) != c.warnings || !r.Listing().Listed {
			t.Errorf("%s: %d tools, warnings %q, want %d and %d", c.name, st.Tools, st.Warnings, c.tools, c.warnings)
		}
		if strings.Contains(fmt.Sprint(st.Warnings), "s3cr3t") {
			t.Errorf("%s: warnings show a secret: %q", c.name, st.Warnings)
		}
		if n := mcptest.Count(mem.last().Events(), "list"); n != c.pages {
			t.Errorf("%s: %d pages were asked for, want %d", c.name, n, c.pages)
		}
		r.stop()
	}
}

func TestDefinitionsAreListedByteForByte(t *testing.T) {
	t.Parallel()
	raw := json.RawMessage(`{ "name":"odd","x":9007199254740993, "inputSchema":{"properties":{"b":{},"a":{"maximum":1.0}}},"description":"\u20ac" }`)
	cfg, _ := memoryConfig("exact", mcptest.Options{Tools: []json.RawMessage{raw}, Instructions: "Use it well."})
	r := start(t, cfg).ready()
	l := r.Listing()
	if len(l.Tools) != 1 || string(l.Tools[0]) != string(raw) || l.Instructions != "Use it well." || l.Server != "exact" || l.State != StateReady {
		t.Errorf("listing %+v", l)
	}
}

func TestBurstOfListChangedIsRelistedOnceOrTwice(t *testing.T) {
	t.Parallel()
	cfg, mem := memoryConfig("busy", mcptest.Options{})
	r := start(t, cfg).ready()
	if _, err := r.do(t.Context(), "add_tool", `{"name":"new","times":20}`); err != nil {
		t.Fatal(err)
	}
	st := r.until("relisted", func(st Status) bool { return st.Tools == len(mcptest.Builtin())+1 })
	if st.Restarts != 0 {
		t.Errorf("%d restarts", st.Restarts)
	}
	if _, err := r.do(t.Context(), "add_tool", `{"name":"newer","times":1}`); err != nil {
		t.Fatal(err)
	}
	r.until("relisted again", func(st Status) bool { return st.Tools == len(mcptest.Builtin())+2 })
	// Each burst is worth a listing at its start and one for what came meanwhile.
	if n := mcptest.Count(mem.last().Events(), "list"); n < 3 || n > 5 {
		t.Errorf("%d listings, want 3 to 5", n)
	}
	want := append(mcptest.Builtin(), "new", "newer")
	if d := cmp.Diff(want, r.names()); d != "" {
		t.Errorf("tools (-want +got):\n%s", d)
	}
}

func TestEveryProtocolVersionIsSpoken(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, version string
		o             mcptest.Options
	}{
		{"2024-11-05", "2024-11-05", mcptest.Options{Version: "2024-11-05"}},
		{"2025-03-26", "2025-03-26", mcptest.Options{Version: "2025-03-26"}},
		{"2025-06-18", "2025-06-18", mcptest.Options{Version: "2025-06-18"}},
		{"2025-11-25", "2025-11-25", mcptest.Options{Version: "2025-11-25"}},
		{"echoes ours", "2025-11-25", mcptest.Options{}},
		{"ignores server/discover", "2025-11-25", mcptest.Options{Discover: "ignore"}},
		{"dies on server/discover", "2025-11-25", mcptest.Options{Discover: "die"}},
		{"modern", "2026-07-28", mcptest.Options{Discover: "modern", ModernOnly: true}},
		{"modern but late", "2026-07-28", mcptest.Options{Discover: "modern", ModernOnly: true, DiscoverDelay: 1300}},
		{"both, but late", "2025-11-25", mcptest.Options{Discover: "modern", DiscoverDelay: 1300}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.o.Instructions = "hello"
			cfg, mem := memoryConfig("v", c.o)
			cfg.MaxAttempts = 0 // the other half of a handshake is no restart
			r := start(t, cfg)
			if !r.Booted(t.Context()) || r.Status().State != StateReady {
				t.Fatalf("booted as %+v", r.Status())
			}
			r.ready().echo(c.name)
			st := r.Status()
			if st.Protocol != c.version || st.Restarts != 0 || st.Tools != len(mcptest.Builtin()) || r.Listing().Instructions != "hello" {
				t.Errorf("protocol %s with %d restarts and %d tools, want %s", st.Protocol, st.Restarts, st.Tools, c.version)
			}
			if n := mem.count(); n > 2 {
				t.Errorf("%d connections", n)
			}
			if _, err := r.do(t.Context(), "add_tool", `{"name":"new","times":1}`); err != nil {
				t.Error(err)
			}
			r.until("relisted", func(st Status) bool { return st.Tools == len(mcptest.Builtin())+1 })
		})
	}
}

func TestModernServerGetsOurMetaWithEachRequest(t *testing.T) {
	t.Parallel()
	cfg, mem := memoryConfig("modern", mcptest.Options{Discover: "modern", ModernOnly: true, PageSize: 5})
	r := start(t, cfg).ready()
	for _, list := range mem.last().WaitEvents(t, "list", 3) {
		checkMeta(t, list.Params)
	}
	for _, meta := range []string{``, `{}`, `{"progressToken":1}`, `{"trace":"x","` + mcp.MetaKeyProtocolVersion + `":"2099-01-01","` + mcp.MetaKeyClientInfo + `":{"name":"host"},"` + mcp.MetaKeyClientCapabilities + `":{"sampling":{}}}`} {
		c := &heddle.Call{}
		if meta != "" {
			c.Meta = json.RawMessage(meta)
		}
		if _, err := r.with(t.Context(), "args", c); err != nil {
			t.Errorf("%s: %v", meta, err)
		}
		params := lastCall(t, mem.last()).Params
		checkMeta(t, params)
		if strings.Contains(meta, "trace") && !strings.Contains(string(params), `"trace":"x"`) {
			t.Errorf("the host's own members are lost: %s", params)
		}
	}
}

// checkMeta checks that a request names the version and the client once, as
// this leg's client: the host's era is its own.
func checkMeta(t *testing.T, params json.RawMessage) {
	t.Helper()
	for key, want := range map[string]string{mcp.MetaKeyProtocolVersion: `"2026-07-28"`, mcp.MetaKeyClientInfo: `{"name":"heddle","version":"test"}`, mcp.MetaKeyClientCapabilities: `{}`} {
		if n := strings.Count(string(params), key); n != 1 || !strings.Contains(string(params), `"`+key+`":`+want) {
			t.Errorf("params %s have %s %d times, want it once as %s", params, key, n, want)
		}
	}
}
