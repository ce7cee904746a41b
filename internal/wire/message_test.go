package wire

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func kind(m *Message) string {
	switch {
	case m.IsRequest():
		return "request"
	case m.IsNotification():
		return "notification"
	case m.IsResponse():
		return "response"
	}
	return "none"
}

func TestParseTellsMessagesApart(t *testing.T) {
	for _, c := range []struct{ in, kind, id, method, params, result, err string }{
		{`{"jsonrpc":"2.0","id":1,"method":"m","params":{"a": 1.0}}`, "request", `1`, "m", `{"a": 1.0}`, "", ""},
		{`{"jsonrpc":"2.0","method":"m"}`, "notification", "", "m", "", "", ""},
		{`{"jsonrpc":"2.0","method":"\u006d"}`, "notification", "", "m", "", "", ""},
		{`{"jsonrpc":"2.0","method":"","id":1}`, "request", `1`, "", "", "", ""},
		{`{"id":"a","result":{"n":9007199254740993},"jsonrpc":"2.0"}`, "response", `"a"`, "", "", `{"n":9007199254740993}`, ""},
		{`{"jsonrpc":"2.0","id":1,"result":null}`, "response", `1`, "", "", `null`, ""},
		{`{"jsonrpc":"2.0","id":1,"error":{"code":1}}`, "response", `1`, "", "", "", `{"code":1}`},
		{`{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1}}`, "response", `1`, "", "", `{}`, `{"code":1}`},
		{`{"jsonrpc":"2.0","id":1,"result":{},"error":null}`, "response", `1`, "", "", `{}`, ""},
		{`{"jsonrpc":"2.0","id":1,"error": null ,"result":{}}`, "response", `1`, "", "", `{}`, ""},
		{`{"jsonrpc":"2.0","id":1,"error":"oops"}`, "response", `1`, "", "", "", `"oops"`},
		{`{"jsonrpc":"2.0","id":1,"method":"m","result":{},"error":{}}`, "request", `1`, "m", "", "", ""},
		{` {"jsonrpc" : "2.0" , "id" : 7 , "result" : [ ] } `, "response", `7`, "", "", `[ ]`, ""},
	} {
		m, err := Parse([]byte(c.in))
		if err != nil {
			t.Errorf("Parse(%s): %v", c.in, err)
			continue
		}
		got := []string{kind(&m), string(m.ID), m.Method, string(m.Params), string(m.Result), string(m.Error)}
		if d := cmp.Diff([]string{c.kind, c.id, c.method, c.params, c.result, c.err}, got); d != "" {
			t.Errorf("Parse(%s) (-want +got):\n%s", c.in, d)
		}
	}
}

func TestParseKeepsTypeAndDigitsOfIDs(t *testing.T) {
	for _, id := range []string{`0`, `"0"`, `""`, `1.5`, `1.0`, `-1`, `9007199254740993`, `123456789012345678901234567890`, `1e3`, `"a\u0062"`, `"é"`} {
		m, err := Parse([]byte(`{"jsonrpc":"2.0","id":` + id + `,"method":"m"}`))
		if err != nil || string(m.ID) != id || !m.IsRequest() {
			t.Errorf("id %s: got %s, %v, request %v", id, m.ID, err, m.IsRequest())
		}
	}
}

func TestParseRefusesWhatIsNoMessage(t *testing.T) {
	for _, c := range []struct {
		in, id string
		err    error
	}{
		{`{"jsonrpc":"2.0","id":null,"method":"m"}`, `null`, ErrInvalidRequest},
		{`{"jsonrpc":"2.0","id":null,"error":{"code":-32700}}`, `null`, ErrInvalidRequest},
		{`{"jsonrpc":"2.0","id":true,"method":"m"}`, `null`, ErrInvalidRequest},
		{`{"jsonrpc":"2.0","id":{},"method":"m"}`, `null`, ErrInvalidRequest},
		{`{"jsonrpc":"2.0","id":[1],"method":"m"}`, `null`, ErrInvalidRequest},
		{`{"id":1,"method":"m"}`, `1`, ErrInvalidRequest},
		{`{"jsonrpc":"1.0","id":1,"method":"m"}`, `1`, ErrInvalidRequest},
		{`{"jsonrpc":2.0,"id":1,"method":"m"}`, `1`, ErrInvalidRequest},
		{`{"jsonrpc":"2.0","id":1,"method":7}`, `1`, ErrInvalidRequest},
		{`{"jsonrpc":"2.0","id":1}`, `1`, ErrInvalidRequest},
		{`{"jsonrpc":"2.0","id":1,"error":null}`, `1`, ErrInvalidRequest},
		{`{"jsonrpc":"2.0","result":{}}`, ``, ErrInvalidRequest},
		{`{"jsonrpc":"2.0"}`, ``, ErrInvalidRequest},
		{`{}`, ``, ErrInvalidRequest},
		{`[{"jsonrpc":"2.0","method":"m"}]`, ``, ErrSyntax},
		{`42`, ``, ErrSyntax},
		{`{not json`, ``, ErrSyntax},
		{`{"jsonrpc":"2.0","id":1,"method":"m"`, ``, ErrSyntax},
		{`{"jsonrpc":"2.0","id":1,"method":"m"}}`, ``, ErrSyntax},
		{`Server ready`, ``, ErrSyntax},
	} {
		m, err := Parse([]byte(c.in))
		if err != c.err || string(m.ID) != c.id {
			t.Errorf("Parse(%s): got id %q and %v, want %q and %v", c.in, m.ID, err, c.id, c.err)
		}
	}
}

func TestSameIDComparesTypeAndDigits(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{`1`, `1`, true}, {`1`, `"1"`, false}, {`1`, `1.0`, false}, {`"a"`, `"\u0061"`, true}, {`""`, `""`, true}, {`0`, `""`, false},
		{`9007199254740993`, `9007199254740992`, false}, {`"a"`, `"b"`, false},
	} {
		if got := SameID(json.RawMessage(c.a), json.RawMessage(c.b)); got != c.want {
			t.Errorf("SameID(%s, %s) = %v, want %v", c.a, c.b, got, c.want)
		}
	}
}

func TestAppendKeepsAFrameOnOneLine(t *testing.T) {
	pretty := json.RawMessage("{\r\n  \"a\": \"x\\ny\"\n}")
	for _, c := range []struct{ name, got, want string }{
		{"response", string(AppendResponse(nil, json.RawMessage(`1.0`), pretty)), `{"jsonrpc":"2.0","id":1.0,"result":{    "a": "x\ny" }}` + "\n"},
		{"error", string(AppendError([]byte("x"), nil, json.RawMessage(`{}`))), `x{"jsonrpc":"2.0","id":null,"error":{}}` + "\n"},
		{"request", string(AppendRequest(nil, json.RawMessage(`"h1"`), "m", pretty)), `{"jsonrpc":"2.0","id":"h1","method":"m","params":{    "a": "x\ny" }}` + "\n"},
		{"notification", string(AppendRequest(nil, nil, "m", nil)), `{"jsonrpc":"2.0","method":"m"}` + "\n"},
		{"one line", string(OneLine(pretty)), `{    "a": "x\ny" }`},
	} {
		if c.got != c.want {
			t.Errorf("%s:\ngot  %q\nwant %q", c.name, c.got, c.want)
		}
	}
}

func TestElementsSplitsAnArray(t *testing.T) {
	got, err := Elements([]byte(` [ {"a":1} , 2.0,"x" , [ ] ] `))
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, e := range got {
		texts = append(texts, string(e))
	}
	if d := cmp.Diff([]string{`{"a":1}`, `2.0`, `"x"`, `[ ]`}, texts); d != "" {
		t.Errorf("elements (-want +got):\n%s", d)
	}
	for _, s := range []string{`{}`, `[1,]`, ``, `[`, `1`} {
		if _, err := Elements([]byte(s)); err == nil {
			t.Errorf("Elements(%s): no error", s)
		}
	}
}

func TestFindIDReadsWhatIsNoMessage(t *testing.T) {
	deep := strings.Repeat(`[`, MaxDepth+1) + strings.Repeat(`]`, MaxDepth+1)
	for _, c := range []struct{ name, in, want string }{
		{"a control character in a string", "{\"id\":\"h1\",\"result\":{\"a\":\"x\ty\"}}", `"h1"`},
		{"the id last", "{\"result\":{\"a\":\"x\ty\",\"id\":7},\"id\":\"h1\"}", `"h1"`},
		{"too deep", `{"id":1.50,"result":` + deep + `}`, `1.50`},
		{"too deep, the id last", `{"result":` + deep + `,"id":-7}`, `-7`},
		{"cut off", `{"jsonrpc":"2.0","id":"h1","result":{"a":`, `"h1"`},
		{"an id in a string", `{"x":"\"id\":1","id":2}`, `2`},
		{"no id", `{"jsonrpc":"2.0","result":{"id":1}}`, ``},
		{"null", `{"id":null,"x"}`, ``},
		{"true", `{"id":true,"x"}`, ``},
		{"an object", `{"id":{"a":1},"x"}`, ``},
		{"no JSON", `Server ready, id: 7`, ``},
		{"nothing", ``, ``},
	} {
		if got := string(FindID([]byte(c.in))); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}
