package schema

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Schemas with leftovers of other languages, or that lead out of themselves, are
// the tool's own trouble: the reason is said, nothing is loaded.
func TestCompileErrors(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "s.json")
	if err := os.WriteFile(secret, []byte(`{"type":"string"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, schema, want string }{
		{"openapi leftovers", `{"type":"object","properties":{"a":{"type":"any"},"b":{"type":"number","minimum":0,"exclusiveMinimum":true},"c":{"type":"string","required":true,"nullable":true,"example":"x"}}}`, "/properties/"},
		{"unknown type", `{"properties":{"a":{"type":"any"}}}`, "/properties/a/type is none of the values that the draft knows"},
		{"remote ref", `{"properties":{"a":{"$ref":"https://example.com/s.json#/x"}}}`, `$ref "https://example.com/s.json" is outside the schema, and nothing is loaded`},
		{"file ref", `{"properties":{"a":{"$ref":"file://` + filepath.ToSlash(secret) + `"}}}`, "is outside the schema"},
		{"relative ref", `{"properties":{"a":{"$ref":"other.json"}}}`, `$ref "other.json" is outside the schema`},
		{"dangling ref", `{"properties":{"a":{"$ref":"#/$defs/none"}}}`, `$ref "#/$defs/none" leads nowhere`},
		{"ref to itself", `{"$ref":"#"}`, "a $ref leads back to itself"},
		{"refs in a circle", `{"$ref":"#/$defs/a","$defs":{"a":{"allOf":[{"$ref":"#/$defs/b"}]},"b":{"anyOf":[{"$ref":"#/$defs/a"}]}}}`, "a $ref leads back to itself"},
		{"bad pattern", `{"properties":{"a":{"pattern":"("}}}`, "/properties/a/pattern is not a valid regex"},
		{"huge number", `{"properties":{"a":{"minimum":1e999999999}}}`, "it holds a number with more than 400 digits"},
		{"no object", `"object"`, "it is not an object"},
		{"root takes arrays", `{"type":"array"}`, noObject},
		{"root takes nothing", `false`, noObject},
		{"root takes a number", `{"enum":[1]}`, noObject},
		{"root takes null", `{"const":null}`, noObject},
		{"root takes arrays or strings", `{"type":["array","string"],"items":{}}`, noObject},
		{"no JSON", `{"type":`, "at byte 8: a value is missing"},
		{"too deep", strings.Repeat(`{"not":`, 5000) + `{}` + strings.Repeat(`}`, 5000), "it nests too deeply"},
		{"too many", `{"anyOf":[` + strings.Repeat(`{},`, 20_000) + `{}]}`, "it has more than 10000 objects"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, _, vs, err := New(0).Check(toolOf(tt.schema), json.RawMessage(`{"a":1,"b":2,"c":"z"}`))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("got error %v, want %q", err, tt.want)
			}
			if len(vs) > 0 || string(out) != `{"a":1,"b":2,"c":"z"}` {
				t.Errorf("got %s and %v, want the arguments as they are", out, vs)
			}
			if len(err.Error()) > 300 || strings.Contains(err.Error(), "heddle:///") {
				t.Errorf("reason is not for users: %v", err)
			}
		})
	}
}

// noObject is the reason of a schema that no arguments would ever fit.
const noObject = "its root does not accept an object, which arguments are"

// TestRootThatAcceptsAnObjectCompiles: also one that accepts more, or says nothing.
func TestRootThatAcceptsAnObjectCompiles(t *testing.T) {
	for _, schema := range []string{`true`, `{}`, `{"type":["object","null"]}`, `{"type":"object"}`, `{"properties":{"a":{}}}`, `{"enum":[1,{"a":1}]}`, `{"anyOf":[{"type":"array"},{"type":"object"}]}`} {
		out, _, vs, err := New(0).Check(toolOf(schema), json.RawMessage(`{"a":1}`))
		if err != nil || len(vs) > 0 || string(out) != `{"a":1}` {
			t.Errorf("%s: got %s, %v, %v; want the arguments to fit", schema, out, vs, err)
		}
	}
}

func TestDraftsAndReferences(t *testing.T) {
	tests := []struct{ name, schema, fits, not string }{
		{"no $schema is 2020-12", `{"properties":{"a":{"prefixItems":[{"type":"string"}]}}}`, `{"a":["x"]}`, `{"a":[1]}`},
		{"no $schema, a tuple as items", `{"properties":{"a":{"items":[{"type":"string"}]}}}`, `{"a":["x",1]}`, `{"a":[1]}`},
		{"no $schema, exclusiveMinimum of draft-04", `{"properties":{"a":{"minimum":0,"exclusiveMinimum":true}}}`, `{"a":1}`, `{"a":0}`},
		{"no $schema, definitions", `{"properties":{"a":{"$ref":"#/definitions/A"}},"definitions":{"A":{"type":"string"}}}`, `{"a":"x"}`, `{"a":1}`},
		{"draft-04", `{"$schema":"http://json-schema.org/draft-04/schema#","properties":{"a":{"maximum":5,"exclusiveMaximum":true}}}`, `{"a":4}`, `{"a":5}`},
		{"draft-06", `{"$schema":"http://json-schema.org/draft-06/schema","properties":{"a":{"const":1},"b":{"if":true,"then":false}}}`, `{"a":1,"b":2}`, `{"a":2}`},
		{"draft-07 over https with #", `{"$schema":"https://json-schema.org/draft-07/schema#","if":{"required":["a"]},"then":{"required":["b"]}}`, `{"a":1,"b":1}`, `{"a":1}`},
		{"draft-07 ignores dependentRequired", `{"$schema":"http://json-schema.org/draft-07/schema#","dependentRequired":{"a":["b"]},"required":["a"]}`, `{"a":1}`, `{}`},
		{"2019-09", `{"$schema":"https://json-schema.org/draft/2019-09/schema","dependentRequired":{"a":["b"]}}`, `{"a":1,"b":1}`, `{"a":1}`},
		{"2019-09 recursive", `{"$schema":"https://json-schema.org/draft/2019-09/schema","$recursiveAnchor":true,"properties":{"a":{"$recursiveRef":"#"}},"additionalProperties":false}`, `{"a":{"a":{}}}`, `{"a":{"b":1}}`},
		{"2020-12 dynamic", `{"$schema":"https://json-schema.org/draft/2020-12/schema#","$dynamicAnchor":"n","properties":{"a":{"$dynamicRef":"#n"}},"additionalProperties":false}`, `{"a":{"a":{}}}`, `{"a":{"b":1}}`},
		{"an unknown $schema is 2020-12", `{"$schema":"https://example.com/mine","properties":{"a":{"prefixItems":[{"type":"string"}]}}}`, `{"a":["x"]}`, `{"a":[1]}`},
		{"an unknown $schema below", `{"properties":{"a":{"$schema":"urn:x","type":"string"}}}`, `{"a":"x"}`, `{"a":1}`},
		{"a property called $schema", `{"properties":{"$schema":{"type":"string"}}}`, `{"$schema":"x"}`, `{"$schema":1}`},
		{"ref to a property", `{"properties":{"x":{"type":"string"},"y":{"$ref":"#/properties/x"}}}`, `{"y":"a"}`, `{"y":1}`},
		{"ref to an anchor", `{"properties":{"y":{"$ref":"#s"}},"$defs":{"S":{"$anchor":"s","type":"string"}}}`, `{"y":"a"}`, `{"y":1}`},
		{"ref by $id", `{"$id":"https://example.com/root.json","properties":{"y":{"$ref":"s.json"}},"$defs":{"S":{"$id":"s.json","type":"string"}}}`, `{"y":"a"}`, `{"y":1}`},
		{"ref with characters that no URI has", `{"properties":{"y":{"$ref":"#/$defs/Page<Item[x] y>"}},"$defs":{"Page<Item[x] y>":{"type":"string"}}}`, `{"y":"a"}`, `{"y":1}`},
		{"data that looks like a schema", `{"properties":{"y":{"const":{"$ref":"a b","$schema":"x"}}}}`, `{"y":{"$schema":"x","$ref":"a b"}}`, `{"y":{}}`},
		{"pattern with what Go's lacks", `{"properties":{"y":{"pattern":"^(?!a)\\w+(?<=z)$"}}}`, `{"y":"xyz"}`, `{"y":"az"}`},
		{"pattern with classes of Unicode", `{"properties":{"y":{"pattern":"^\\p{L}+$"}}}`, `{"y":"äß"}`, `{"y":"1"}`},
		{"a shared schema", `{"properties":{"y":{"allOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/a"}]}},"$defs":{"a":{"type":"string"}}}`, `{"y":"a"}`, `{"y":1}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := verdict(t, tt.schema, tt.fits); got != nil {
				t.Errorf("%s: got %q, want that it fits", tt.fits, got)
			}
			if got := verdict(t, tt.schema, tt.not); got == nil {
				t.Errorf("%s fits, want a violation", tt.not)
			}
		})
	}
}

// catalogTools reads the real catalogs of testdata.
func catalogTools(t testing.TB) map[string]json.RawMessage {
	t.Helper()
	files, err := filepath.Glob("testdata/catalogs/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no catalogs: %v", err)
	}
	tools := map[string]json.RawMessage{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var list struct {
			Tools []struct {
				Name        string          `json:"name"`
				InputSchema json.RawMessage `json:"inputSchema"`
			} `json:"tools"`
		}
		if err := json.Unmarshal(data, &list); err != nil {
			t.Fatal(err)
		}
		for _, tool := range list.Tools {
			tools[filepath.Base(file)+"/"+tool.Name] = tool.InputSchema
		}
	}
	return tools
}

func TestRealSchemasCompile(t *testing.T) {
	for name, schema := range catalogTools(t) {
		tool := toolOf(string(schema))
		if err := New(0).Compile(tool); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if sig := Signature(tool.Ref.Name, tool); len(sig) > maxSignature || strings.ContainsAny(sig, "\n") {
			t.Errorf("%s: signature %q", name, sig)
		}
	}
}

func TestSignature(t *testing.T) {
	long := make([]string, 100)
	for i := range long {
		long[i] = `"parameter_` + itoa(i) + `":{"type":"string"}`
	}
	tests := []struct{ schema, want string }{
		{"", "tool()"},
		{"{}", "tool()"},
		{"[", "tool(…)"},
		{`{"properties":{"labels":{"type":"array","items":{"type":"string"}},"owner":{"type":"string"},"state":{"enum":["open","closed"]},"repo":{"type":"string"}},"required":["owner","repo"]}`,
			`tool(owner: string, repo: string, labels?: string[], state?: "open"|"closed")`},
		{`{"properties":{"a":{"$ref":"#/$defs/A"},"n":{"anyOf":[{"type":"integer"},{"type":"null"}]},"t":{"type":["string","null"]},"x":{},"e":{"enum":[1,2,3,4,5,6,7,8]}},"$defs":{"A":{"type":"object","properties":{"k":{"type":"boolean"},"self":{"$ref":"#/$defs/A"}},"required":["k"]}}}`,
			`tool(a?: {k: boolean, self?: object}, n?: integer|null, t?: string|null, x?: any, e?: 1|2|3|4|5|6|… 2 more)`},
	}
	for _, tt := range tests {
		if got := Signature(toolOf(tt.schema).Ref.Name, toolOf(tt.schema)); got != tt.want {
			t.Errorf("Signature(%s)\n got %s\nwant %s", tt.schema, got, tt.want)
		}
	}
	got := Signature("t", toolOf(`{"properties":{`+strings.Join(long, ",")+`}}`))
	if len(got) > maxSignature || !strings.HasSuffix(got, " more)") {
		t.Errorf("long signature of %d bytes: %s", len(got), got)
	}
}
