package surface_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"heddle/internal/mcptest"
	"heddle/internal/wire"

	"github.com/google/go-cmp/cmp"
)

// keep lists output schemas too, so that nothing at all is left out.
const keep = "results: {output_schema: keep}\n"

// results are what servers answer that a round trip through typed values loses.
var results = map[string]string{
	"big_integer":      `{"content":[],"structuredContent":{"id":9007199254740993,"n":-9223372036854775808,"u":18446744073709551615}}`,
	"long_number":      `{"content":[],"structuredContent":{"n":123456789012345678901234567890.123456789012345678901234567890}}`,
	"float_spelling":   `{"content":[],"structuredContent":{"a":1.0,"b":1e2,"c":1E+2,"d":-0,"e":-0.0,"f":0.10,"g":1e400}}`,
	"unknown_fields":   `{"content":[{"type":"text","text":"t","x":{"y":[{"z":null}]}}],"future":{"deep":[[{"k":1.50}]]},"resultKind":null}`,
	"meta":             `{"_meta":{"trace":"abc","n":9007199254740993},"content":[{"type":"text","text":"t","_meta":{"k":1}}]}`,
	"key_order":        `{"structuredContent":{"z":1,"a":2,"m":3},"isError":false,"content":[{"text":"t","type":"text"}]}`,
	"duplicate_keys":   `{"content":[{"type":"text","text":"a","text":"b"}]}`,
	"escapes":          `{"content":[{"type":"text","text":"\u003ca\u003e\/ \u00e9é \b\f\n\r\t\\ \u2028 \u007f"}]}`,
	"raw_separators":   "{\"content\":[{\"type\":\"text\",\"text\":\"<&>\u2028\u2029\u007f\"}]}",
	"lone_surrogate":   `{"content":[{"type":"text","text":"\ud800 \uDFFF x\udc00"}]}`,
	"null_character":   `{"content":[{"type":"text","text":"a\u0000b"}]}`,
	"white_space":      `{ "content" : [ { "type" : "text" ,	"text" : "t" } ] }`,
	"all_blocks":       `{"content":[{"type":"text","text":"t","annotations":{"audience":["user"],"priority":0.5},"_meta":{"k":1}},{"type":"image","data":"iVBORw0KGgo=","mimeType":"image/png"},{"type":"audio","data":"UklGRg==","mimeType":"audio/wav"},{"type":"resource_link","uri":"x://1","name":"n","size":3},{"type":"resource","resource":{"uri":"x://2","blob":"AA==","mimeType":"a/b"}},{"type":"resource","resource":{"uri":"x://3","text":"t","_meta":{"ui":{"csp":[]}}}},{"type":"future_kind","z":1}],"structuredContent":{"a":1},"isError":true,"_meta":{"trace":"abc"}}`,
	"is_error":         `{"content":[{"type":"text","text":"it failed"}],"isError":true}`,
	"structured_array": `{"content":[],"structuredContent":[1,2.0,"3",null]}`,
	"structured_text":  `{"content":[],"structuredContent":"text"}`,
	"structured_int":   `{"content":[],"structuredContent":9007199254740993}`,
	"structured_bool":  `{"content":[],"structuredContent":false}`,
	"structured_null":  `{"content":[],"structuredContent":null}`,
	"content_missing":  `{"structuredContent":{"a":1}}`,
	"content_odd":      `{"content":"no array","isError":"no bool"}`,
	"empty":            `{}`,
	"input_required":   `{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{"message":"m"}}},"requestState":"s"}`,
}

// errorObjects are JSON-RPC errors of servers.
var errorObjects = map[string]string{
	"with_data":    `{"code":-32050,"message":"no \u2028 luck","data":{"id":9007199254740993,"z":1,"a":[1.0]}}`,
	"zero_code":    `{"code":0,"message":""}`,
	"big_code":     `{"code":-9007199254740993,"message":"m"}`,
	"unknown_more": `{"code":1,"message":"m","data":null,"x":{"y":1e2}}`,
	"not_found":    `{"code":-32601,"message":"method not found"}`,
}

func rawMap(in map[string]string) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	for k, v := range in {
		out[k] = json.RawMessage(v)
	}
	return out
}

// toolsNamed are plain definitions of these names.
func toolsNamed(names ...string) []json.RawMessage {
	var out []json.RawMessage
	for _, n := range names {
		out = append(out, mcptest.Tool(n))
	}
	return out
}

func TestResultsAreExact(t *testing.T) {
	server := mcptest.Options{Results: rawMap(results), Tools: toolsNamed(sortedKeys(results)...)}
	eachMode(t, stageOptions{config: keep, servers: map[string]mcptest.Options{"up": server}}, func(t *testing.T, s *stage) {
		for _, name := range sortedKeys(results) {
			m := s.run("up_"+name, "{}")
			if diff := cmp.Diff(results[name], string(m.Result)); diff != "" || m.Error != nil {
				t.Errorf("%s: error %s, result (-want +got):\n%s", name, m.Error, diff)
			}
		}
	})
}

func TestErrorsAreExact(t *testing.T) {
	server := mcptest.Options{Errors: rawMap(errorObjects), Tools: toolsNamed(sortedKeys(errorObjects)...)}
	eachMode(t, stageOptions{servers: map[string]mcptest.Options{"up": server}}, func(t *testing.T, s *stage) {
		for _, name := range sortedKeys(errorObjects) {
			m := s.run("up_"+name, "{}")
			if diff := cmp.Diff(errorObjects[name], string(m.Error)); diff != "" || m.Result != nil {
				t.Errorf("%s: result %s, error (-want +got):\n%s", name, m.Result, diff)
			}
		}
	})
}

// The one protocol without handshake goes through the SDK, and must lose nothing
// either.
func TestResultsAreExactWithoutHandshake(t *testing.T) {
	server := mcptest.Options{Results: rawMap(results), Errors: rawMap(errorObjects), Tools: toolsNamed(append(sortedKeys(results), sortedKeys(errorObjects)...)...)}
	eachMode(t, stageOptions{version: "-", config: keep, servers: map[string]mcptest.Options{"up": server}}, func(t *testing.T, s *stage) {
		for _, name := range sortedKeys(results) {
			m := s.run("up_"+name, "{}", modernMeta)
			// The SDK takes the white space out; everything else stays.
			got, want := members(t, m.Result), members(t, compacted(t, results[name]))
			if got["resultType"] == `"complete"` && want["resultType"] == "" {
				delete(got, "resultType")
			}
			wantMeta, gotMeta := want["_meta"], got["_meta"]
			if wantMeta != "" && !strings.HasPrefix(gotMeta, strings.TrimSuffix(wantMeta, "}")) {
				t.Errorf("%s: _meta %s does not begin with the server's %s", name, gotMeta, wantMeta)
			}
			delete(got, "_meta")
			delete(want, "_meta")
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: error %s, members (-want +got):\n%s", name, m.Error, diff)
			}
		}
		m := s.run("up_with_data", "{}", modernMeta)
		if got := string(wire.Member(m.Error, "code")); got != "-32050" {
			t.Errorf("code %s, want -32050: %s", got, m.Error)
		}
		if got, want := string(wire.Member(m.Error, "data")), `{"id":9007199254740993,"z":1,"a":[1.0]}`; got != want {
			t.Errorf("error data %s, want %s", got, want)
		}
	})
}

// compacted is raw without white space between its tokens.
func compacted(t *testing.T, raw string) json.RawMessage {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(raw)); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// members are those of an object, their values as written.
func members(t *testing.T, raw json.RawMessage) map[string]string {
	t.Helper()
	out := map[string]string{}
	if err := wire.Members(raw, func(k string, v json.RawMessage) bool { out[k] = string(v); return true }); err != nil {
		t.Fatalf("%q: %v", raw, err)
	}
	return out
}

func TestArgumentsAreExact(t *testing.T) {
	tests := map[string]string{
		"big":         `{"id":9007199254740993,"u":18446744073709551615,"n":123456789012345678901234567890}`,
		"spelling":    `{"a":1.0,"b":1e2,"c":-0,"d":1E+2}`,
		"order":       `{"z":1,"a":{"y":1,"b":2},"m":[3,2,1]}`,
		"escapes":     `{"t":"\u003c\/\ud800\u0000 é","<k&\"":"v"}`,
		"white space": `{ "a" : [ 1 , 2 ] }`,
		"duplicates":  `{"a":1,"a":2}`,
		"empty":       `{}`,
		"deep":        `{"a":` + strings.Repeat("[", 500) + strings.Repeat("]", 500) + `}`,
	}
	eachMode(t, stageOptions{}, func(t *testing.T, s *stage) {
		for name, arguments := range tests {
			want := `{"arguments":` + arguments + `,"_meta":{"k":1}}`
			if got := text(t, s.run("up_args", arguments, `"_meta":{"k":1}`)); got != want {
				t.Errorf("%s: the server got %s, want %s", name, got, want)
			}
		}
	})
}

func TestMetaReachesTheServer(t *testing.T) {
	eachMode(t, stageOptions{}, func(t *testing.T, s *stage) {
		meta := func(more ...string) string {
			return string(wire.Member([]byte(text(t, s.run("up_args", "{}", more...))), "_meta"))
		}
		for _, want := range []string{`{"trace":"a","n":9007199254740993,"z":{"b":1.0,"a":2}}`, `{}`, `{"a":1,"com.example/k":null}`} {
			if got := meta(`"_meta":` + want); got != want {
				t.Errorf("_meta at the server: %s, want %s", got, want)
			}
		}
		got := meta(`"_meta":{"a":1.0,"progressToken":7,"b":2}`)
		if !strings.HasPrefix(got, `{"a":1.0,"progressToken":"h`) || !strings.HasSuffix(got, `","b":2}`) {
			t.Errorf("_meta with a token: %s, want the token replaced by ours in its place", got)
		}
		if got := meta(); !strings.HasPrefix(got, `{"progressToken":"h`) {
			t.Errorf("without _meta the server got %s, want a token, so that progress extends the deadline", got)
		}
		m := s.run("up_args", "{}", `"_meta":[]`)
		if got := string(wire.Member(m.Error, "code")); got != "-32602" {
			t.Errorf("_meta that is no object: %s%s, want -32602", m.Result, m.Error)
		}
	})
}

// Members of params that heddle does not know belong to the server.
func TestUnknownParamsReachTheServer(t *testing.T) {
	eachMode(t, stageOptions{}, func(t *testing.T, s *stage) {
		text(t, s.run("up_echo", "{}", `"task":{"ttl":60000.0}`, `"requestState":"s"`))
		call := s.servers["up"].WaitEvents(t, "call", 1)[0]
		got := []string{string(wire.Member(call.Params, "task")), string(wire.Member(call.Params, "requestState"))}
		if diff := cmp.Diff([]string{`{"ttl":60000.0}`, `"s"`}, got); diff != "" {
			t.Errorf("params at the server %s (-want +got):\n%s", call.Params, diff)
		}
	})
}

func TestMissingArguments(t *testing.T) {
	eachMode(t, stageOptions{}, func(t *testing.T, s *stage) {
		for _, arguments := range []string{"", "null", "{}"} {
			got := string(wire.Member([]byte(text(t, s.run("up_args", arguments))), "arguments"))
			if got != "{}" {
				t.Errorf("arguments %q: the server got %s, want {}", arguments, got)
			}
		}
		for _, arguments := range []string{`""`, `[]`, `7`, `true`, `"text"`, `"[1]"`} {
			r := refusalOf(t, s.run("up_args", arguments))
			if r.Kind != "invalid_arguments" || !strings.Contains(r.Message, "object") || *r.Invoked {
				t.Errorf("arguments %s: %+v, want a refusal that asks for an object", arguments, r)
			}
		}
		if n := mcptest.Count(s.servers["up"].Events(), "call"); n != 3 {
			t.Errorf("the server saw %d calls, want 3", n)
		}
	})
}

// What is not UTF-8 becomes U+FFFD; the next call works.
func TestInvalidUTF8(t *testing.T) {
	eachMode(t, stageOptions{}, func(t *testing.T, s *stage) {
		if got, want := text(t, s.run("up_bad_utf8", "{}")), "\ufffd\ufffd \ufffd"; got != want {
			t.Errorf("text %q, want %q", got, want)
		}
		if got := text(t, s.run("up_echo", `{"text":"next"}`)); got != "next" {
			t.Errorf("the next call: %q", got)
		}
	})
}

func TestDefinitionsAreExact(t *testing.T) {
	definitions := []string{
		`{"name":"list_rota","inputSchema":{"type":"object","properties":{"query_model":{"$ref":"#/$defs/RotaQuery"}},"required":["query_model"],"additionalProperties":false,"$defs":{"RotaQuery":{"type":"object","properties":{"limit":{"type":"integer","default":20.0}}}}}}`,
		`{"name":"odd","title":"T","inputSchema":{"type":"object","properties":{"data":true,"never":false}},"outputSchema":{"type":"object","properties":{"data":true}},"annotations":{"readOnlyHint":true,"x":9007199254740993},"_meta":{"ui":{"a":1.0}},"icons":[],"execution":{"taskSupport":"optional"}}`,
		`{"inputSchema":{"anyOf":[{"required":["a"]},{"required":["b"]}],"type":"object"},"name":"root_union","description":"\u2028<>&"}`,
	}
	repaired := []string{ // what hosts would lose the tool for
		`{"name":"none"}`, `{"name":"null","inputSchema":null}`, `{"name":"bare","inputSchema":{}}`,
	}
	var tools []json.RawMessage
	for _, d := range append(definitions, repaired...) {
		tools = append(tools, json.RawMessage(d))
	}
	want := append(definitions, `{"name":"none","inputSchema":{"type":"object"}}`, `{"name":"null","inputSchema":{"type":"object"}}`, `{"name":"bare","inputSchema":{"type":"object"}}`)
	for _, schema := range []string{"keep", "drop"} {
		t.Run(schema, func(t *testing.T) {
			s := newStage(t, stageOptions{mode: "native", config: "results: {output_schema: " + schema + "}\n", servers: map[string]mcptest.Options{"up": {Tools: tools}}})
			list, err := wire.Elements(wire.Member(s.Request("tools/list", "{}").Result, "tools"))
			if err != nil || len(list) != len(want)+1 {
				t.Fatalf("%d tools, %v; want %d and read_result", len(list), err, len(want))
			}
			for i, w := range want {
				if schema == "drop" {
					w = strings.Replace(w, `,"outputSchema":{"type":"object","properties":{"data":true}}`, "", 1)
				}
				if diff := cmp.Diff(w, string(list[i])); diff != "" {
					t.Errorf("definition (-want +got):\n%s", diff)
				}
			}
		})
	}
}
