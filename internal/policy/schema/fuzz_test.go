package schema

import (
	"encoding/json"
	"testing"

	"heddle"
)

// FuzzCheck: whatever a server and a model send, a check never panics, its parser
// agrees with encoding/json, and what it lets through is JSON.
func FuzzCheck(f *testing.F) {
	f.Add(recursive, `{"root":{"name":"a","children":"[]"}}`)
	f.Add(rootAny, `{"content":1e999999999}`)
	f.Add(numbers, `"{\"id\":\"5\"}"`)
	f.Add(`{"$ref":"#/a b","a b":{"not":{"$schema":"x"}}}`, `{"\ud800":[[],{}],"":null}`)
	f.Add(`{"patternProperties":{"^x":{"uniqueItems":true}},"unevaluatedProperties":false}`, `{"x":[1,1.0]}`)
	f.Fuzz(func(t *testing.T, schema, args string) {
		if len(schema) > 4096 || len(args) > 4096 {
			return
		}
		out, parsed, vs, err := New(1).Check(&heddle.Tool{InputSchema: json.RawMessage(schema)}, json.RawMessage(args))
		if len(vs) == 0 && !json.Valid(out) {
			t.Errorf("passed %q, which is not JSON", out)
		}
		if len(parsed) > 0 && len(vs) > 0 {
			t.Errorf("parsed %q and refused", parsed)
		}
		for _, v := range vs {
			if len(v.Message) > maxMessage || v.Message == "" {
				t.Errorf("message %q", v.Message)
			}
		}
		var tr tree
		if got, want := tr.parse(args, maxDepth) == nil, json.Valid([]byte(args)); got != want {
			t.Errorf("parse(%q) valid: got %v, want %v", args, got, want)
		}
		_ = Signature("t", &heddle.Tool{InputSchema: json.RawMessage(schema)})
		_ = err
	})
}
