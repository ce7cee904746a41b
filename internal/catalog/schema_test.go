package catalog

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

const anyObject = `{"type":"object"}`

// Each definition shows how one odd schema is listed. Hosts lose whole servers
// over a schema without a root type; they must lose none over ours.
func TestListedSchema(t *testing.T) {
	deep := `{"type":"object","properties":{"a":` + strings.Repeat(`{"items":`, 10_000) + `{}` + strings.Repeat("}", 10_000) + `}}`
	const refs = `{"type":"object","properties":{"query_model":{"$ref":"#/$defs/RotaQuery"}},"required":["query_model"],"additionalProperties":false,"$defs":{"RotaQuery":{"type":"object","properties":{"team_ids":{"type":"array","items":{"type":"string"}},"limit":{"type":"integer","default":20}}}}}`
	const recursive = `{"type":"object","properties":{"root":{"$ref":"#/$defs/node"}},"$defs":{"node":{"properties":{"children":{"type":"array","items":{"$ref":"#/$defs/node"}}}}}}`
	const booleans = `{"type":"object","properties":{"data":true,"never":false},"additionalProperties":true}`
	const openAPI = `{"type":"object","properties":{"a":{"type":"any"},"b":{"type":"number","minimum":0,"exclusiveMinimum":true},"c":{"type":"string","required":true,"nullable":true,"example":"x"}}}`
	const combined = `{"type":"object","anyOf":[{"properties":{"content":{"type":"string"}}},{"required":["b"]}]}`
	cases := []struct{ name, schema, listed, kind string }{
		{"references stay", refs, refs, ""},
		{"recursion stays", recursive, recursive, ""},
		{"boolean sub-schemas stay", booleans, booleans, ""},
		{"OpenAPI leftovers stay", openAPI, openAPI, ""},
		{"only a type stays", anyObject, anyObject, ""},
		{"white space stays", "{ \"type\" :\n\"object\" }", "{ \"type\" :\n\"object\" }", ""},
		{"escaped type stays", `{"type":"\u006fbject"}`, `{"type":"\u006fbject"}`, ""},
		{"lone surrogates stay", `{"type":"object","title":"\ud800"}`, `{"type":"object","title":"\ud800"}`, ""},
		{"root combinator", combined, combined, WarnRootCombinator},
		{"missing", "", anyObject, WarnMissingSchema},
		{"null", `null`, anyObject, WarnNullSchema},
		{"empty", `{}`, anyObject, WarnEmptySchema},
		{"empty with space", `{ }`, anyObject, WarnEmptySchema},
		{"wrapped", `{"jsonSchema":{"type":"object","properties":{"a":{"type":"string"}}}}`, `{"type":"object","jsonSchema":{"type":"object","properties":{"a":{"type":"string"}}}}`, WarnWrappedSchema},
		{"no type", "{\n \"properties\":{\"a\":{}}}", "{\"type\":\"object\",\n \"properties\":{\"a\":{}}}", WarnMissingType},
		{"type string", `{"type":"string","minLength":1}`, `{"type":"object","minLength":1}`, WarnRootType},
		{"types", `{"type":["object","null"],"properties":{}}`, `{"type":"object","properties":{}}`, WarnRootType},
		{"type null", `{"type":null}`, `{"type":"object"}`, WarnRootType},
		{"two types", `{"type":"string","a":1,"type":"object"}`, `{"type":"object","a":1,"type":"object"}`, WarnRootType},
		{"true", `true`, anyObject, WarnInvalidSchema},
		{"false", `false`, anyObject, WarnInvalidSchema},
		{"string", `"object"`, anyObject, WarnInvalidSchema},
		{"array", `[{"type":"object"}]`, anyObject, WarnInvalidSchema},
		{"number", `7`, anyObject, WarnInvalidSchema},
		{"too deep", deep, anyObject, WarnInvalidSchema},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			definition := `{"name":"x"}`
			if c.schema != "" {
				definition = `{"name":"x","inputSchema":` + c.schema + `}`
			}
			s := Build([]Source{source("a", `{"name":"before"}`, definition, `{"name":"after"}`)}, Options{})
			if len(s.Tools()) != 3 {
				t.Fatalf("%d tools, want 3: siblings must survive", len(s.Tools()))
			}
			tool := s.Tools()[1]
			if string(tool.Listed) != c.listed {
				t.Errorf("listed %.200s, want %.200s", tool.Listed, c.listed)
			}
			wantInput := c.schema
			if wantInput == "null" {
				wantInput = ""
			}
			if string(tool.InputSchema) != wantInput || (tool.InputSchema == nil) != (wantInput == "") {
				t.Errorf("InputSchema = %.200s, want %.200s", tool.InputSchema, wantInput)
			}
			kind := ""
			for _, w := range s.Warnings() {
				if w.Tool == "x" {
					kind += w.Kind
				}
			}
			diff(t, "warning", kind, c.kind)
			want := `{"name":"x","inputSchema":` + c.listed + `}`
			if got := s.NativeDefinition(tool, false); string(got) != want {
				t.Errorf("native definition %.200s, want %.200s", got, want)
			}
		})
	}
}

func TestNativeDefinitionSplices(t *testing.T) {
	clash := named("b", "x")
	cases := []struct {
		name, definition string
		keep             bool
		want             string
	}{
		{"name", `{ "name" : "x" , "inputSchema" : {"type":"object"} }`, false, `{ "name" : "a_x" , "inputSchema" : {"type":"object"} }`},
		{"outputSchema last", `{"name":"x","inputSchema":{"type":"object"} , "outputSchema":{"a":[1,"}"]} }`, false, `{"name":"a_x","inputSchema":{"type":"object"} }`},
		{"outputSchema first", `{ "outputSchema":{}, "name":"x","inputSchema":{"type":"object"}}`, false, `{ "name":"a_x","inputSchema":{"type":"object"}}`},
		{"outputSchema kept", `{"outputSchema":{},"name":"x","inputSchema":{"type":"object"}}`, true, `{"outputSchema":{},"name":"a_x","inputSchema":{"type":"object"}}`},
		{"several outputSchemas", `{"outputSchema":1,"outputSchema":2,"name":"x","outputSchema":3,"inputSchema":{"type":"object"},"outputSchema":4}`, false, `{"name":"a_x","inputSchema":{"type":"object"}}`},
		{"schema missing", `{"name":"x","outputSchema":{},"title":"T"}`, false, `{"name":"a_x","inputSchema":{"type":"object"},"title":"T"}`},
		{"schema null", `{"inputSchema":null,"name":"x"}`, false, `{"inputSchema":{"type":"object"},"name":"a_x"}`},
		{"last of equal keys", `{"name":"y","inputSchema":{},"name":"x","inputSchema":{"type":"object","a":1}}`, false, `{"name":"a_x","inputSchema":{"type":"object","a":1},"name":"a_x","inputSchema":{"type":"object","a":1}}`},
		{"unknown fields", `{"x":9007199254740993,"name":"\u0078","inputSchema":{"type":"object"},"y":"\ud800"}`, false, `{"x":9007199254740993,"name":"a_x","inputSchema":{"type":"object"},"y":"\ud800"}`},
	}
	for _, c := range cases {
		s := Build([]Source{source("a", c.definition), clash}, Options{})
		if got := string(s.NativeDefinition(s.Tools()[0], c.keep)); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// ordered decodes an object into its members with their exact bytes.
func ordered(t *testing.T, object []byte) (keys []string, values map[string]string) {
	t.Helper()
	values = map[string]string{}
	d := json.NewDecoder(bytes.NewReader(object))
	if _, err := d.Token(); err != nil {
		t.Fatalf("%.100s: %v", object, err)
	}
	for d.More() {
		key, err := d.Token()
		var value json.RawMessage
		if err != nil || d.Decode(&value) != nil {
			t.Fatalf("%.100s: no object", object)
		}
		keys = append(keys, key.(string))
		values[key.(string)] = string(value)
	}
	return keys, values
}

// Real definitions keep every byte but for what is named.
func TestNativeDefinitionOfRealTools(t *testing.T) {
	for _, src := range catalogs(t) {
		s := Build([]Source{src}, Options{})
		if len(s.Tools()) != len(src.Definitions) {
			t.Errorf("%s: %d of %d tools", src.Server, len(s.Tools()), len(src.Definitions))
			continue
		}
		for i, tool := range s.Tools() {
			raw := string(src.Definitions[i])
			repaired := string(tool.Listed) != string(tool.InputSchema)
			if got := string(s.NativeDefinition(tool, true)); !repaired && got != raw {
				t.Errorf("%v: definition changed:\n got %s\nwant %s", tool.Ref, got, raw)
			}
			wantKeys, wantValues := ordered(t, []byte(raw))
			want := []string{}
			for _, key := range wantKeys {
				if key != "outputSchema" {
					want = append(want, key)
				}
			}
			delete(wantValues, "outputSchema")
			wantValues["inputSchema"] = string(tool.Listed)
			keys, values := ordered(t, s.NativeDefinition(tool, false))
			diff(t, tool.Ref.String(), keys, want)
			diff(t, tool.Ref.String(), values, wantValues)
		}
	}
}

func TestRealWarnings(t *testing.T) {
	count := map[string]int{}
	for _, w := range Build(catalogs(t), Options{}).Warnings() {
		count[w.Server+" "+w.Kind]++
	}
	diff(t, "warnings of real servers", count, map[string]int{"gitlab-legacy missing_type": 9, "mobile-mcp name_cut": 1})
}

func TestOddDefinitions(t *testing.T) {
	s := Build([]Source{source("a",
		``, ` `, `null`, `true`, `[]`, `"x"`, `7`, `{}`, `{"name":null}`, `{"name":7}`, `{"name":["x"]}`, `{"Name":"x"}`,
		`{"name":"broken","inputSchema":{"a":}}`, `{"name":"cut`, `{"name":"\ud800"}`,
		`{"name":"deep","_meta":`+strings.Repeat("[", 10_000)+strings.Repeat("]", 10_000)+`}`,
		`{"name":"fine","description":7,"title":null}`, `{"name":"twice","name":"last"}`,
		`{"name":"text","description":"a\nb \ud800","title":"\u00e9","outputSchema":null}`,
		" \n{\"name\":\"spaced\",\"outputSchema\":{}}\n",
	)}, Options{})
	diff(t, "exposed", exposed(s), []string{"a_fine", "a_last", "a_text", "a_spaced"})
	var got []string
	for _, k := range kinds(s) {
		if !strings.HasSuffix(k, WarnMissingSchema) {
			got = append(got, k)
		}
	}
	diff(t, "warnings", got, []string{
		": not_an_object", ": not_an_object", ": not_an_object", ": not_an_object", ": not_an_object", ": not_an_object", ": not_an_object",
		": no_name", ": no_name", ": no_name", ": no_name", ": no_name", "broken: invalid_json", ": no_name",
		"\uFFFD: invalid_name", "deep: too_deep", "fine: invalid_field", "fine: invalid_field",
	})
	text, spaced := s.Tools()[2], s.Tools()[3]
	diff(t, "description", text.Description, "a\nb \uFFFD")
	diff(t, "title", text.Title, "é")
	if text.HasOutputSchema || !spaced.HasOutputSchema {
		t.Errorf("HasOutputSchema = %v, %v, want false, true", text.HasOutputSchema, spaced.HasOutputSchema)
	}
}

func TestDeepDefinitionsAreBounded(t *testing.T) {
	deep := strings.Repeat(`{"items":`, 1_000_000) + `{}` + strings.Repeat("}", 1_000_000)
	s := Build([]Source{source("a", `{"name":"x","inputSchema":`+deep+`}`, `{"name":"y"}`)}, Options{})
	diff(t, "exposed", exposed(s), []string{"a_x", "a_y"})
}
