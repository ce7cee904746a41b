package schema

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"
)

// schemaGen draws schemas from a small vocabulary, so that they often say something
// about the values of valueGen.
func schemaGen(depth int) *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any {
		if depth == 0 || rapid.IntRange(0, 9).Draw(t, "bool") == 0 {
			return rapid.SampledFrom([]any{true, false, map[string]any{}, map[string]any{"type": "string"}, map[string]any{"type": "integer"}}).Draw(t, "leaf")
		}
		s := map[string]any{}
		sub := func() any { return schemaGen(depth-1).Draw(t, "sub") }
		subs := func() any { return []any{sub(), sub()} }
		for range rapid.IntRange(1, 3).Draw(t, "keywords") {
			switch k := rapid.SampledFrom(keywords).Draw(t, "keyword"); k {
			case "type":
				s[k] = rapid.SampledFrom(typeNames).Draw(t, "type")
			case "enum":
				s[k] = []any{value(t, 1), value(t, 1)}
			case "const":
				s[k] = value(t, 1)
			case "properties", "patternProperties", "dependentSchemas":
				s[k] = map[string]any{"a": sub(), "b": sub()}
			case "required":
				s[k] = []any{rapid.SampledFrom([]string{"a", "b"}).Draw(t, "name")}
			case "dependentRequired":
				s[k] = map[string]any{"a": []any{"b"}}
			case "allOf", "anyOf", "oneOf", "prefixItems":
				s[k] = subs()
			case "minimum", "maximum", "exclusiveMinimum", "minLength", "maxLength", "minItems", "maxItems", "minProperties", "minContains", "maxContains":
				s[k] = rapid.IntRange(0, 3).Draw(t, "bound")
			case "multipleOf":
				s[k] = rapid.SampledFrom([]any{1, 2, 0.5, json.Number("0.1")}).Draw(t, "multiple")
			case "uniqueItems":
				s[k] = true
			case "pattern":
				s[k] = "^a"
			case "$ref":
				s[k] = rapid.SampledFrom([]string{"#/$defs/x", "#/$defs/y"}).Draw(t, "ref")
			default:
				s[k] = sub()
			}
		}
		return s
	})
}

var keywords = []string{
	"type", "enum", "const", "properties", "patternProperties", "additionalProperties", "propertyNames",
	"required", "dependentRequired", "dependentSchemas", "minProperties", "unevaluatedProperties",
	"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "$ref",
	"items", "prefixItems", "contains", "minContains", "maxContains", "minItems", "maxItems", "uniqueItems", "unevaluatedItems",
	"minLength", "maxLength", "pattern", "minimum", "maximum", "exclusiveMinimum", "multipleOf",
}

func value(t *rapid.T, depth int) any {
	k := rapid.IntRange(0, 7).Draw(t, "kind")
	if depth == 0 && k > 5 {
		k -= 4
	}
	switch k {
	case 0:
		return nil
	case 1:
		return rapid.Bool().Draw(t, "bool")
	case 2, 3:
		return json.Number(rapid.SampledFrom([]string{"0", "1", "1.0", "2", "2.5", "-1", "0.3", "1e2", "9007199254740993"}).Draw(t, "number"))
	case 4, 5:
		return rapid.SampledFrom([]string{"", "a", "ab", "b", "é"}).Draw(t, "string")
	case 6:
		items := []any{}
		for range rapid.IntRange(0, 3).Draw(t, "items") {
			items = append(items, value(t, depth-1))
		}
		return items
	}
	obj := map[string]any{}
	for _, name := range rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "ab", "c"}), 0, 3).Draw(t, "names") {
		obj[name] = value(t, depth-1)
	}
	return obj
}

// The check is our own; what is valid must be what the library says, and a report
// must come to the same verdict as the check without one.
func TestVerdictsAgreeWithTheLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := map[string]any{"allOf": []any{schemaGen(3).Draw(t, "schema")}, "$defs": map[string]any{"x": schemaGen(2).Draw(t, "x"), "y": schemaGen(1).Draw(t, "y")}}
		text, _ := json.Marshal(s)
		prog, cerr := compile(text)
		if cerr != nil {
			t.Skip("does not compile")
		}
		doc, _ := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
		lib, err := compileAs(doc, jsonschema.Draft2020)
		if err != nil {
			t.Fatalf("the library alone does not compile %s: %v", text, err)
		}
		v := value(t, 3)
		args, _ := json.Marshal(v)
		var tr tree
		if err := tr.parse(string(args), maxDepth); err != nil {
			t.Fatalf("parse(%s): %s", args, err.msg)
		}
		e := newEval(&tr)
		got, want := e.check(prog.root, 0, nil, nil), lib.Validate(v) == nil
		if got != want || e.spent {
			t.Fatalf("schema %s\nvalue %s\n got %v, want %v", text, args, got, want)
		}
		var rep report
		if again := newEval(&tr).check(prog.root, 0, nil, &rep); again != got || !got && len(rep.violations) == 0 {
			t.Fatalf("schema %s\nvalue %s\nwith a report: %v, %v, without: %v", text, args, again, rep.violations, got)
		}
	})
}

func TestParserAgreesWithEncodingJSON(t *testing.T) {
	for _, s := range []string{`{"a":[1,-0.5e+3,"\u00e9\ud83d\ude00\ud800x\n",true,false,null,{}]}`, `"\x"`, "\"\x01\"", `-`, `1.`, `.5`, `01`, `1e`, `tru`, `[1,]`, `{,}`, `{"a"}`, `{"a":1,}`, `"\u12"`, ``, ` `, `nul`, `[[]`, `"`, `{"a":1 "b":2}`} {
		var tr tree
		if got, want := tr.parse(s, maxDepth) == nil, json.Valid([]byte(s)); got != want {
			t.Errorf("parse(%q) valid: got %v, want %v", s, got, want)
		}
	}
}
