package streamable

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEncode(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "us-west1": "us-west1", "two words": "two words", "Hello, 世界": "=?base64?SGVsbG8sIOS4lueVjA==?=",
		" padded ": "=?base64?IHBhZGRlZCA=?=", "line1\nline2": "=?base64?bGluZTEKbGluZTI=?=", "tab\t": "=?base64?dGFiCQ==?=", "\x7f": "=?base64?fw==?=",
		"=?base64?literal?=": "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=", "=?base64?": "=?base64?PT9iYXNlNjQ/?=", "=?base64?x": "=?base64?x",
	} {
		if in == "=?base64?" { // begins and ends like the mark, but is too short to be one
			want = "=?base64?"
		}
		if got := encode(in); got != want {
			t.Errorf("encode(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestEncodeValue(t *testing.T) {
	for in, want := range map[string]string{
		`"a\u0062"`: "ab", `true`: "true", `false`: "false", `12`: "12", `-0`: "0", `1.0`: "1", `1e3`: "1000", `9007199254740991`: "9007199254740991",
		`9007199254740992`: "-", `1.5`: "-", `1e999`: "-", `null`: "-", `[1]`: "-", `{}`: "-",
	} {
		got, ok := encodeValue(json.RawMessage(in))
		if !ok {
			got = "-"
		}
		if got != want {
			t.Errorf("encodeValue(%s) = %q, want %q", in, got, want)
		}
	}
}

func TestMarks(t *testing.T) {
	tests := []struct {
		name, properties string
		want             http.Header
	}{
		{"plain", `{"r":{"type":"string","x-mcp-header":"Region"},"n":{"type":"integer","x-mcp-header":"N"},"b":{"type":"boolean","x-mcp-header":"B"}}`,
			http.Header{"Mcp-Param-Region": {"eu"}, "Mcp-Param-N": {"5"}, "Mcp-Param-B": {"true"}}},
		{"nested", `{"o":{"type":"object","properties":{"p":{"type":"string","x-mcp-header":"P"}}}}`, http.Header{"Mcp-Param-P": {"=?base64?w6k=?="}}},
		{"absent and null", `{"none":{"type":"string","x-mcp-header":"X"},"z":{"type":"string","x-mcp-header":"Z"}}`, http.Header{}},
		{"number", `{"r":{"type":"string","x-mcp-header":"Region"},"n":{"type":"number","x-mcp-header":"N"}}`, http.Header{}},
		{"no token", `{"r":{"type":"string","x-mcp-header":"Re gion"}}`, http.Header{}},
		{"empty", `{"r":{"type":"string","x-mcp-header":""}}`, http.Header{}},
		{"not text", `{"r":{"type":"string","x-mcp-header":5}}`, http.Header{}},
		{"twice", `{"r":{"type":"string","x-mcp-header":"A"},"b":{"type":"boolean","x-mcp-header":"a"}}`, http.Header{}},
	}
	for _, tt := range tests {
		var m marks
		m.learn([]byte(`{"jsonrpc":"2.0","id":1,"result":{"tools":[null,{"name":"other"},{"name":"t","inputSchema":{"properties":` + tt.properties + `}}]}}`))
		h := http.Header{}
		m.set(h, "t", json.RawMessage(`{"r":"eu","n":5,"b":true,"o":{"p":"é"},"z":null}`))
		if diff := cmp.Diff(tt.want, h); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		m.learn([]byte(`{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"t"}]}}`))
		h = http.Header{}
		if m.set(h, "t", json.RawMessage(`{"r":"eu"}`)); len(h) > 0 {
			t.Errorf("%s: marks that are gone are still set: %v", tt.name, h)
		}
	}
}

// TestStateless: what a message without session carries.
func TestStateless(t *testing.T) {
	headers := make(chan http.Header, 1)
	l, _ := open(t, func(w http.ResponseWriter, r *http.Request) {
		headers <- r.Header.Clone()
		m := readMessage(t, r)
		w.Header().Set("Mcp-Session-Id", "never")
		answer(w, result(m, `{"tools":[{"name":"t","inputSchema":{"type":"object","properties":{"r":{"type":"string","x-mcp-header":"Region"}}}}]}`))
	})
	tests := []struct{ method, params, name, region string }{
		{"tools/list", `"name":"x"`, "", ""},
		{"tools/call", `"name":"t","arguments":{"r":"eu"}`, "t", "eu"},
		{"tools/call", `"name":"häßlich","arguments":{"r":"eu"}`, "=?base64?aMOkw59saWNo?=", ""},
		{"prompts/get", `"name":"p"`, "p", ""},
		{"resources/read", `"uri":"file:///x","name":"no"`, "file:///x", ""},
		{"server/discover", `"x":1`, "", ""},
	}
	for _, tt := range tests {
		write(t, l, modernRequest("1", tt.method, tt.params))
		h := <-headers
		if _, err := l.Next(); err != nil {
			t.Fatal(err)
		}
		got := []string{h.Get("Mcp-Protocol-Version"), h.Get("Mcp-Method"), h.Get("Mcp-Name"), h.Get("Mcp-Param-Region"), h.Get("Mcp-Session-Id")}
		if diff := cmp.Diff([]string{"2026-07-28", tt.method, tt.name, tt.region, ""}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.method, diff)
		}
	}
	write(t, l, request("1", "tools/list")) // R063: a version belongs to the message that names it
	if h := <-headers; h.Get("Mcp-Protocol-Version") != "" || h.Get("Mcp-Method") != "" {
		t.Errorf("a message without version carries %v", h)
	}
}
