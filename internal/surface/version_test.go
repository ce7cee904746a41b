package surface_test

import (
	"encoding/json"
	"strings"
	"testing"

	"heddle/internal/mcptest"
	"heddle/internal/wire"

	"github.com/google/go-cmp/cmp"
)

// offered are the capabilities that heddle has, whatever is behind it.
const offered = `{"completions":{},"logging":{},"prompts":{"listChanged":true},"resources":{"listChanged":true,"subscribe":true},"tools":{"listChanged":true}}`

// modernMeta is what each request carries in the protocol without handshake.
const modernMeta = `"_meta":{"k":1,"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"modern","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`

func TestVersions(t *testing.T) {
	tests := []struct{ asked, want string }{
		{`"2024-11-05"`, "2024-11-05"},
		{`"2025-03-26"`, "2025-03-26"},
		{`"2025-06-18"`, "2025-06-18"},
		{`"2025-11-25"`, "2025-11-25"},
		{`"2026-07-28"`, newestHandshake}, // it has no handshake
		{`"2099-01-01"`, newestHandshake},
		{`"1999-01-01"`, newestHandshake},
		{`""`, newestHandshake},
		{``, newestHandshake},
	}
	for _, test := range tests {
		t.Run(test.asked, func(t *testing.T) {
			eachMode(t, stageOptions{version: "-"}, func(t *testing.T, s *stage) {
				params := `{"capabilities":{},"clientInfo":{"name":"x","version":"1"}`
				if test.asked != "" {
					params += `,"protocolVersion":` + test.asked
				}
				init := s.Request("initialize", params+"}")
				if got, _ := wire.Unquote(wire.Member(init.Result, "protocolVersion")); got != test.want {
					t.Errorf("protocolVersion %q, want %q: %s%s", got, test.want, init.Result, init.Error)
				}
				if got := string(wire.Member(init.Result, "capabilities")); got != offered {
					t.Errorf("capabilities %s, want those that heddle carries", got)
				}
				s.Notify("notifications/initialized", "")
				if got := text(t, s.run("up_echo", `{"text":"hello"}`)); got != "hello" {
					t.Errorf("echo: %q", got)
				}
				// Who speaks with us says nothing of who is behind.
				asked := s.servers["up"].WaitEvents(t, "initialize", 1)[0]
				if got, _ := wire.Unquote(wire.Member(asked.Params, "protocolVersion")); got != newestHandshake {
					t.Errorf("the server was asked for %q, want %q", got, newestHandshake)
				}
			})
		})
	}
}

// What heddle does not carry is not advertised and has one answer.
func TestMethodsNotCarried(t *testing.T) {
	methods := []string{"tasks/list", "tasks/get", "no/such", ""}
	eachMode(t, stageOptions{}, func(t *testing.T, s *stage) {
		for _, method := range methods {
			m := s.Request(method, `{"name":"x","uri":"x://1"}`)
			if got := string(wire.Member(m.Error, "code")); got != "-32601" {
				t.Errorf("%s: %s%s, want -32601", method, m.Result, m.Error)
			}
		}
		if m := s.Request("ping", ""); string(m.Result) != "{}" {
			t.Errorf("ping: %s%s", m.Result, m.Error)
		}
		for _, method := range []string{"tools/list", "resources/list", "resources/templates/list", "prompts/list"} {
			if m := s.Request(method, `{"cursor":"x"}`); string(wire.Member(m.Error, "code")) != "-32602" {
				t.Errorf("%s with a cursor that heddle never gave: %s%s, want -32602", method, m.Result, m.Error)
			}
		}
	})
}

// What is advertised has an answer, also where no server has any of it.
func TestMethodsThatNoServerHas(t *testing.T) {
	tests := []struct{ method, params, result, code string }{
		{"resources/list", "{}", `{"resources":[]}`, ""},
		{"resources/templates/list", "{}", `{"resourceTemplates":[]}`, ""},
		{"prompts/list", "{}", `{"prompts":[]}`, ""},
		{"resources/read", `{"uri":"x://1"}`, "", "-32002"},
		{"resources/subscribe", `{"uri":"x://1"}`, "", "-32002"},
		{"prompts/get", `{"name":"x"}`, "", "-32602"},
		{"completion/complete", `{"ref":{"type":"ref/prompt","name":"x"},"argument":{"name":"a","value":"b"}}`, "", "-32602"},
		{"logging/setLevel", `{"level":"error"}`, "{}", ""},
	}
	eachMode(t, stageOptions{}, func(t *testing.T, s *stage) {
		for _, test := range tests {
			m := s.Request(test.method, test.params)
			if got := string(wire.Member(m.Error, "code")); got != test.code || string(m.Result) != test.result {
				t.Errorf("%s: %s%s, want %s%s", test.method, m.Result, m.Error, test.result, test.code)
			}
		}
		for _, e := range s.servers["up"].Events() {
			if e.Kind == "request" {
				t.Errorf("the server was asked for what it does not have: %s %s", e.Method, e.Params)
			}
		}
	})
}

func TestWithoutHandshake(t *testing.T) {
	eachMode(t, stageOptions{version: "-"}, func(t *testing.T, s *stage) {
		for method, cacheable := range map[string]bool{"server/discover": true, "tools/list": true, "tools/call": false} {
			params := "{" + modernMeta + "}"
			if method == "tools/call" {
				params = s.params("up_args", `{"id":9007199254740993}`, modernMeta)
			}
			m := s.Request(method, params)
			if m.Error != nil {
				t.Fatalf("%s: %s", method, m.Error)
			}
			got := members(t, m.Result)
			if got["resultType"] != `"complete"` {
				t.Errorf("%s: resultType %s", method, got["resultType"])
			}
			if _, ok := got["ttlMs"]; ok != cacheable || (got["cacheScope"] != "") != cacheable {
				t.Errorf("%s: ttlMs %s, cacheScope %s; want them: %v", method, got["ttlMs"], got["cacheScope"], cacheable)
			}
			if info := wire.Member([]byte(got["_meta"]), "io.modelcontextprotocol/serverInfo"); string(wire.Member(info, "name")) != `"heddle"` {
				t.Errorf("%s: _meta %s, want serverInfo in it", method, got["_meta"])
			}
			if method == "tools/call" {
				// The host's own members of the protocol stay between the host and heddle.
				if got, want := mcptest.TextOf(m.Result), `{"arguments":{"id":9007199254740993},"_meta":{"k":1}}`; got != want {
					t.Errorf("the server got %s, want %s", got, want)
				}
			}
		}
		for _, e := range s.servers["up"].Events() {
			if e.Kind == "call" && strings.Contains(string(e.Params), "io.modelcontextprotocol/") {
				t.Errorf("a member of the host's protocol reached the server: %s", e.Params)
			}
		}
	})
}

func TestDiscoverSaysWhatIsThere(t *testing.T) {
	eachMode(t, stageOptions{version: "-"}, func(t *testing.T, s *stage) {
		var got struct {
			SupportedVersions []string
			Capabilities      json.RawMessage
			Instructions      string
		}
		m := s.Request("server/discover", "{"+modernMeta+"}")
		if err := json.Unmarshal(m.Result, &got); err != nil {
			t.Fatal(err)
		}
		want := []string{"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}
		if diff := cmp.Diff(want, got.SupportedVersions); diff != "" {
			t.Errorf("supportedVersions (-want +got):\n%s", diff)
		}
		if string(got.Capabilities) != offered || !strings.Contains(got.Instructions, "Servers: up.") {
			t.Errorf("discover: %s", m.Result)
		}
	})
}

func TestUnsupportedVersionWithoutHandshake(t *testing.T) {
	meta := strings.Replace(modernMeta, "2026-07-28", "2099-01-01", 1)
	eachMode(t, stageOptions{version: "-"}, func(t *testing.T, s *stage) {
		for _, method := range []string{"tools/list", "tools/call", "server/discover"} {
			m := s.Request(method, s.params("up_echo", "{}", meta))
			var e struct {
				Code int
				Data struct{ Supported []string }
			}
			if err := json.Unmarshal(m.Error, &e); err != nil || e.Code != -32022 || len(e.Data.Supported) < 5 {
				t.Errorf("%s: %s%s, want -32022 with data.supported", method, m.Result, m.Error)
			}
		}
	})
}

// A refusal is a result like any other in the protocol without handshake.
func TestRefusalWithoutHandshake(t *testing.T) {
	eachMode(t, stageOptions{version: "-"}, func(t *testing.T, s *stage) {
		m := s.run("up_nothing", "{}", modernMeta)
		if r := refusalOf(t, m); r.Kind != "unknown_tool" {
			t.Errorf("kind %s, want unknown_tool", r.Kind)
		}
		if string(wire.Member(m.Result, "resultType")) != `"complete"` {
			t.Errorf("no resultType: %s", m.Result)
		}
	})
}

// A subscription is named by the id of its request, type and digits.
func TestSubscription(t *testing.T) {
	for _, id := range []string{`"sub"`, `9007199254740993`, `0`, `1.0`} {
		s := newStage(t, stageOptions{mode: "native", version: "-"})
		s.Request("tools/list", "{"+modernMeta+"}")
		subscription := s.Start(id, "subscriptions/listen", `{"notifications":{"toolsListChanged":true},`+modernMeta+`}`)
		named := func(params json.RawMessage) string {
			return string(wire.Member(wire.Member(params, "_meta"), "io.modelcontextprotocol/subscriptionId"))
		}
		if got := named(s.WaitReceived("notifications/subscriptions/acknowledged", 1)[0].Params); got != id {
			t.Errorf("acknowledged as %s, want %s", got, id)
		}
		text(t, s.run("up_add_tool", `{"name":"fresh","times":3}`, modernMeta))
		if got := named(s.WaitReceived(changed, 1)[0].Params); got != id {
			t.Errorf("list_changed of subscription %s, want %s", got, id)
		}
		if got := toolNames(t, s.Request("tools/list", "{"+modernMeta+"}")); got[len(got)-2] != "fresh" {
			t.Errorf("tools %q, want fresh among them", got)
		}
		// It does not hold up the end.
		s.CloseWrite()
		if got := named(s.Wait(subscription).Result); got != id {
			t.Errorf("the end of subscription %s, want %s", got, id)
		}
		s.close()
	}
}

// Who has not subscribed is told nothing.
func TestNoSubscription(t *testing.T) {
	s := newStage(t, stageOptions{mode: "native", version: "-"})
	s.Request("tools/list", "{"+modernMeta+"}")
	text(t, s.run("up_add_tool", `{"name":"fresh","times":3}`, modernMeta))
	mcptest.Eventually(t, func() bool {
		return strings.Contains(string(s.Request("tools/list", "{"+modernMeta+"}").Result), "fresh")
	}, "the new tool")
	s.close()
	if got := s.Received(""); len(got) != 0 {
		t.Errorf("%d messages to a host that asked for none: %s %s", len(got), got[0].Method, got[0].Params)
	}
}

// The protocol of a request is what its _meta says, however it is spelt, and
// nothing else that happens to hold the same words.
func TestWhichProtocol(t *testing.T) {
	escaped := strings.ReplaceAll(modernMeta, "/", `\/`)
	eachMode(t, stageOptions{version: "-"}, func(t *testing.T, s *stage) {
		m := s.run("up_args", `{}`, escaped)
		if got, want := mcptest.TextOf(m.Result), `{"arguments":{},"_meta":{"k":1}}`; got != want {
			t.Errorf("escaped slashes: the server got %s, want %s", got, want)
		}
		if string(wire.Member(m.Result, "resultType")) != `"complete"` {
			t.Errorf("escaped slashes: no resultType: %s", m.Result)
		}
		m = s.Request("tools/list", "{"+escaped+"}")
		if string(wire.Member(m.Result, "resultType")) != `"complete"` {
			t.Errorf("escaped slashes: no resultType: %.100s", m.Result)
		}
	})
	eachMode(t, stageOptions{}, func(t *testing.T, s *stage) {
		words := `{"text":"io.modelcontextprotocol/protocolVersion","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}`
		m := s.run("up_echo", words)
		if got, want := string(m.Result), `{"content":[{"type":"text","text":"io.modelcontextprotocol/protocolVersion"}]}`; got != want {
			t.Errorf("the words in an argument: %s%s, want %s", m.Result, m.Error, want)
		}
	})
}
