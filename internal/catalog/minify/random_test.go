package minify

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"heddle"
	"heddle/internal/policy/schema"
)

// author writes schemas out of a small vocabulary, so that they often say
// something about the values that they meet, repeat themselves and point at each
// other.
type author struct {
	*rand.Rand
	refs []string
}

func (a *author) pick(list ...any) any { return list[a.IntN(len(list))] }

func (a *author) schema(depth int) any {
	if depth == 0 || a.IntN(8) == 0 {
		return a.pick(true, false, map[string]any{}, map[string]any{"type": "string"}, map[string]any{"type": "null"}, map[string]any{"type": "integer", "minimum": 1, "title": "Whole"})
	}
	s := map[string]any{}
	for range 1 + a.IntN(4) {
		a.keyword(s, depth)
	}
	return s
}

func (a *author) keyword(s map[string]any, depth int) {
	sub := func() any { return a.schema(depth - 1) }
	switch k := a.pick("type", "type", "enum", "const", "properties", "properties", "patternProperties", "required", "anyOf", "oneOf", "allOf", "anyOf",
		"items", "prefixItems", "additionalProperties", "propertyNames", "unevaluatedProperties", "not", "if", "then", "minimum", "maxLength", "minItems", "uniqueItems",
		"description", "title", "examples", "$comment", "default", "$ref", "dependencies", "twins", "nullable").(string); k {
	case "type":
		s[k] = a.pick("string", "number", "integer", "null", "object", "array", []any{"string", "null"}, "boolean")
	case "enum":
		s[k] = a.pick([]any{"a", "b"}, []any{"a", 1, nil}, []any{json.Number("1.0"), 2})
	case "const":
		s[k] = a.pick("a", 1, nil, map[string]any{"title": "t", "description": "d"})
	case "properties", "patternProperties", "dependencies":
		s[k] = map[string]any{"a": sub(), "title": sub()}
	case "required":
		s[k] = a.pick([]any{}, []any{"a"}, []any{"a", "title"})
	case "anyOf", "oneOf", "allOf", "prefixItems":
		s[k] = []any{sub(), sub()}
	case "nullable":
		s[a.pick("anyOf", "oneOf").(string)] = []any{
			a.pick(map[string]any{"type": "string", "maxLength": 1}, map[string]any{"type": "object", "properties": map[string]any{"a": sub()}, "required": []any{"a"}}, map[string]any{"type": "array", "items": sub()}, map[string]any{"type": "integer"}),
			a.pick(map[string]any{"type": "null"}, map[string]any{"type": "number", "minimum": 2}, map[string]any{"type": "array"}),
		}
	case "minimum", "maxLength", "minItems":
		s[k] = a.IntN(3)
	case "uniqueItems":
		s[k] = a.IntN(2) == 0
	case "description", "title", "$comment":
		s[k] = a.pick("The a.", "First sentence here. It defaults to 10.", "Deprecated")
	case "examples":
		s[k] = []any{"2024-01-02", "b"}
	case "default":
		s[k] = map[string]any{"title": "kept", "examples": []any{}}
	case "$ref":
		s[k] = a.refs[a.IntN(len(a.refs))]
	case "twins": // the same again, large enough to be worth a name
		twin := map[string]any{"type": "object", "properties": map[string]any{"a": sub(), "b": map[string]any{"type": "string", "maxLength": 1}}, "required": []any{"a"}}
		s["properties"] = map[string]any{"a": twin, "b": twin, "title": map[string]any{"anyOf": []any{twin, map[string]any{"type": "array", "items": twin}}, "description": "One of them."}}
	default:
		s[k] = sub()
	}
}

func (a *author) value(depth int) any {
	if depth == 0 || a.IntN(3) == 0 {
		return a.pick("a", "bb", "", 1, 2, json.Number("1.0"), 0.5, nil, true, map[string]any{}, []any{})
	}
	if a.IntN(4) == 0 {
		return []any{a.value(depth - 1), a.value(depth - 1)}
	}
	out := map[string]any{}
	for _, k := range []string{"a", "b", "title"} {
		if a.IntN(2) == 0 {
			out[k] = a.value(depth - 1)
		}
	}
	return out
}

// Schemas that nobody would write, in every dialect, mean the same minified.
func TestRandomSchemas(t *testing.T) {
	rounds := 1200
	if testing.Short() || raced {
		rounds = 200
	}
	cache := schema.New(4)
	var compiled, smaller, named, accepted, refused int
	for i := range rounds {
		a := &author{Rand: rand.New(rand.NewPCG(uint64(i), 1)), refs: []string{"#/$defs/x", "#/$defs/y", "#/properties/a", "#", "#/definitions/z"}}
		root := map[string]any{
			"type": "object", "properties": map[string]any{"a": a.schema(3), "b": a.schema(2), "title": a.schema(3)},
			"$defs": map[string]any{"x": a.schema(2), "y": a.schema(2)}, "definitions": map[string]any{"z": a.schema(2)},
		}
		if name := a.pick("", "", "http://json-schema.org/draft-07/schema#", "http://json-schema.org/draft-04/schema#", "https://json-schema.org/draft/2019-09/schema", "https://json-schema.org/draft/2020-12/schema"); name != "" {
			root["$schema"] = name
		}
		a.keyword(root, 3)
		raw, err := json.Marshal(root)
		if err != nil {
			t.Fatal(err)
		}
		one, two := &heddle.Tool{InputSchema: raw}, &heddle.Tool{InputSchema: Schema(raw)}
		if cache.Compile(one) == nil {
			compiled++
		}
		if len(two.InputSchema) < len(raw) {
			smaller++
		}
		if countRefs(two.InputSchema) > countRefs(raw) {
			named++
		}
		for range 12 {
			if same(t, cache, one, two, a.value(4)) {
				accepted++
			} else {
				refused++
			}
		}
		if t.Failed() {
			t.Fatalf("round %d\noriginal: %s\nminified: %s", i, raw, two.InputSchema)
		}
	}
	t.Logf("%d schemas: %d compile, %d are smaller, %d have new names; %d values accepted, %d refused", rounds, compiled, smaller, named, accepted, refused)
	if compiled < rounds/3 || named < rounds/40 || accepted < rounds/2 || refused < rounds/2 {
		t.Error("the schemas test too little")
	}
}

func countRefs(raw json.RawMessage) int {
	v := parse(raw)
	if v == nil {
		panic(fmt.Sprintf("not JSON: %s", raw))
	}
	n := 0
	var walk func(*value)
	walk = func(v *value) {
		if v.get("$ref") != nil {
			n++
		}
		subschemas(v, func(_ string, _ *member, sub *value) { walk(sub) })
	}
	walk(v)
	return n
}
