package schema

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// Models send objects and arrays as JSON text. It is parsed where the schema leaves
// no other reading, and nothing else is touched.
func TestTextIsParsedWhereOnlyJSONFits(t *testing.T) {
	const basic = `{"type":"object","properties":{"patch":{"type":"object"},"ids":{"type":"array","items":{"type":"integer"}},"q":{"type":"string"},"any":{},"n":{"type":"integer"},"b":{"type":"boolean"}}}`
	tests := []struct {
		name, schema, args, out string
		parsed                  []string
	}{
		{"objects and arrays", basic, `{"patch":"{\"k\":\"v\"}","ids":"[1,2]","q":"{\"keep\":\"me\"}"}`,
			`{"patch":{"k":"v"},"ids":[1,2],"q":"{\"keep\":\"me\"}"}`, []string{"/patch", "/ids"}},
		{"the rest keeps its bytes", basic, ` { "q" : "\u0041", "n":9007199254740993 ,"ids":" [1.0 , 2]\n","x":1.50e+1}`,
			` { "q" : "\u0041", "n":9007199254740993 ,"ids":[1.0 , 2],"x":1.50e+1}`, []string{"/ids"}},
		{"line breaks become spaces", basic, `{"ids":"[1,\r\n2]"}`, `{"ids":[1,  2]}`, []string{"/ids"}},
		{"through a ref and null", `{"properties":{"p":{"anyOf":[{"$ref":"#/$defs/P"},{"type":"null"}]}},"$defs":{"P":{"type":"object","required":["k"]}}}`,
			`{"p":"{\"k\":1}"}`, `{"p":{"k":1}}`, []string{"/p"}},
		{"text within text", `{"properties":{"a":{"type":"array","items":{"type":"object","properties":{"b":{"type":"array"}}}}}}`,
			`{"a":"[\"{\\\"b\\\":\\\"[1]\\\"}\"]"}`, `{"a":[{"b":[1]}]}`, []string{"/a", "/a/0", "/a/0/b"}},
		{"in items and entries", `{"properties":{"a":{"items":{"type":"object"}},"m":{"additionalProperties":{"type":"array"}}}}`,
			`{"a":["{}",{}],"m":{"secret":"[]"}}`, `{"a":[{},{}],"m":{"secret":[]}}`, []string{"/a/0", "/m/*"}},
		{"all of the arguments", basic, `"{\"ids\":\"[1]\"}"`, `{"ids":[1]}`, []string{"", "/ids"}},
		{"in a branch at the root", `{"properties":{"ids":{"type":"array"}},"anyOf":[{"required":["ids"]},{"required":["q"]}]}`,
			`{"ids":"[1]"}`, `{"ids":[1]}`, []string{"/ids"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, parsed, vs, err := New(0).Check(toolOf(tt.schema), json.RawMessage(tt.args))
			if err != nil || len(vs) > 0 {
				t.Fatalf("Check(%s): %v, %v", tt.args, lines(vs), err)
			}
			if string(out) != tt.out {
				t.Errorf("Check(%s)\n got %s\nwant %s", tt.args, out, tt.out)
			}
			if diff := cmp.Diff(tt.parsed, parsed); diff != "" {
				t.Errorf("parsed (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTextStaysWhereItMayBeMeant(t *testing.T) {
	tests := []struct{ name, schema, args string }{
		{"a string or an object", `{"properties":{"a":{"type":["string","object"]},"z":{"type":"integer"}}}`, `{"a":"{}","z":"5"}`},
		{"another branch takes text", `{"anyOf":[{"properties":{"a":{"type":"object"}},"required":["a","b"]},{"properties":{"a":{"type":"string"}},"required":["a","c"]}]}`, `{"a":"{}"}`},
		{"not JSON", `{"properties":{"a":{"type":"object"}}}`, `{"a":"{k:1}"}`},
		{"more than JSON", `{"properties":{"a":{"type":"object"}}}`, `{"a":"{} {}"}`},
		{"the wrong kind", `{"properties":{"a":{"type":"object"}}}`, `{"a":"[1]"}`},
		{"numbers and booleans", `{"properties":{"a":{"type":"integer"},"b":{"type":"boolean"}}}`, `{"a":"5","b":"true"}`},
		{"what it holds does not fit", `{"properties":{"a":{"type":"array","items":{"type":"integer"}}}}`, `{"a":"[\"x\"]"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := verdict(t, tt.schema, tt.args); got == nil {
				t.Errorf("Check(%s) passes, want a violation and no repair", tt.args)
			}
		})
	}
	got := verdict(t, tests[6].schema, tests[6].args)
	if want := []string{"/a/0 type: must be integer: send a number, not text"}; !cmp.Equal(got, want) {
		t.Errorf("violations of parsed text: got %q, want %q", got, want)
	}
}

// Whatever stands around a repaired value keeps its bytes, spaces and digits
// included.
func TestRepairKeepsOtherBytes(t *testing.T) {
	schema := toolOf(`{"properties":{"ids":{"type":"array"}}}`)
	c := New(0)
	spaces := rapid.StringMatching(`[ \t]{0,3}`)
	value := rapid.SampledFrom([]string{`1`, `1.0`, `-0`, `1e400`, `"\ud800"`, `"\/"`, `"é"`, `[ 1 ,2]`, `{"b":1, "a":2,"a":3}`, `null`, `"[]"`, `true`})
	rapid.Check(t, func(t *rapid.T) {
		member := func(label string) string {
			n := rapid.IntRange(0, 4).Draw(t, label)
			var b strings.Builder
			for range n {
				b.WriteString(spaces.Draw(t, "space") + `"k"` + spaces.Draw(t, "space") + `:` + value.Draw(t, "value") + spaces.Draw(t, "space") + `,`)
			}
			return b.String()
		}
		inner := `[` + spaces.Draw(t, "space") + value.Draw(t, "item") + `]`
		before, after := `{`+member("before")+`"ids":`, `,`+member("after")+`"end":0}`
		args := before + quote(inner) + after
		out, parsed, vs, err := c.Check(schema, json.RawMessage(args))
		if err != nil || len(vs) > 0 || len(parsed) != 1 {
			t.Fatalf("Check(%s): parsed %q, %v, %v", args, parsed, vs, err)
		}
		if want := before + inner + after; string(out) != want {
			t.Fatalf("Check(%s)\n got %s\nwant %s", args, out, want)
		}
	})
}
