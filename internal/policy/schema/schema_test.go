package schema

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"heddle"
)

// toolOf makes a tool of a schema, "" for none.
func toolOf(schema string) *heddle.Tool {
	t := &heddle.Tool{Ref: heddle.ToolRef{Server: "s", Name: "tool"}, Fingerprint: "fp:" + schema}
	if schema != "" {
		t.InputSchema = json.RawMessage(schema)
	}
	return t
}

// lines writes violations as "path keyword: message".
func lines(vs []heddle.Violation) []string {
	var out []string
	for _, v := range vs {
		out = append(out, v.Path+" "+v.Keyword+": "+v.Message)
	}
	return out
}

// verdict checks once and fails the test if the schema does not compile.
func verdict(t *testing.T, schema, args string) []string {
	t.Helper()
	out, _, vs, err := New(0).Check(toolOf(schema), json.RawMessage(args))
	if err != nil {
		t.Fatalf("Check(%s): %v", schema, err)
	}
	if len(vs) > 0 && string(out) != args {
		t.Errorf("Check(%s) refused and changed the arguments to %s", args, out)
	}
	return lines(vs)
}

const (
	recursive = `{"type":"object","properties":{"root":{"$ref":"#/$defs/node"}},"required":["root"],"$defs":{"node":{"type":"object","properties":{"name":{"type":"string"},"children":{"type":"array","items":{"$ref":"#/$defs/node"}}},"required":["name"]}}}`
	defs      = `{"type":"object","properties":{"query_model":{"$ref":"#/$defs/Q"}},"required":["query_model"],"additionalProperties":false,"$defs":{"Q":{"type":"object","properties":{"team_ids":{"type":"array","items":{"type":"string"}},"limit":{"type":"integer"}}}}}`
	rootAny   = `{"type":"object","anyOf":[{"properties":{"content":{"type":"string"}},"required":["content"]},{"properties":{"source_url":{"type":"string"}},"required":["source_url"]}]}`
	bools     = `{"type":"object","properties":{"data":true,"never":false},"additionalProperties":true}`
	sibling   = `{"type":"object","properties":{"s":{"$ref":"#/$defs/S","maxLength":3},"e":{"$ref":"#/components/schemas/S"}},"$defs":{"S":{"type":"string"}},"components":{"schemas":{"S":{"type":"string"}}}}`
	numbers   = `{"type":"object","properties":{"id":{"type":"integer"},"u":{"type":"string","format":"uri"},"n":{"type":"number","minimum":0.1,"maximum":100,"multipleOf":0.1}}}`
)

// Each row guards one way in which real schemas and real models went wrong with
// gateways: references that dangle, recursion, combinators at the root, booleans as
// schemas, references with siblings, numbers beyond 2^53, and so on.
func TestCheck(t *testing.T) {
	in := func(schema, prefix string) string { return prefix + schema[1:] }
	draft7 := `{"$schema":"http://json-schema.org/draft-07/schema#",`
	tests := []struct {
		name, schema, args string
		want               []string
	}{
		{"ref to $defs fits", defs, `{"query_model":{"limit":5}}`, nil},
		{"ref to $defs names the place", defs, `{"query_model":{"limit":"x"}}`,
			[]string{"/query_model/limit type: must be integer: send a number, not text"}},
		{"recursion fits", recursive, `{"root":{"name":"a","children":[{"name":"b","children":[{"name":"c","children":[{"name":"d"}]}]}]}}`, nil},
		{"recursion names the deep place", recursive, `{"root":{"name":"a","children":[{"name":"b","children":[{"name":"c","children":[{"name":7}]}]}]}}`,
			[]string{"/root/children/0/children/0/children/0/name type: must be string: send it as text, in quotes"}},
		{"combinator at the root, first", rootAny, `{"content":"x"}`, nil},
		{"combinator at the root, second", rootAny, `{"source_url":"y"}`, nil},
		{"combinator at the root, none", rootAny, `{}`,
			[]string{" anyOf: must be one of these: object with content; or object with source_url"}},
		{"boolean true", bools, `{"data":[1,{"x":null}],"more":1}`, nil},
		{"boolean false", bools, `{"never":1}`, []string{"/never false: is not allowed"}},
		{"siblings of a ref apply", sibling, `{"s":"abcd"}`, []string{"/s maxLength: must have at most 3 characters"}},
		{"siblings of a ref do not apply before 2019", in(sibling, draft7), `{"s":"abcd","e":"x"}`, nil},
		{"ref outside $defs", sibling, `{"e":1}`, []string{"/e type: must be string: send it as text, in quotes"}},
		{"integers are exact and formats annotations", numbers, `{"id":9007199254740993,"u":"not a uri"}`, nil},
		{"format is an annotation in old drafts too", in(numbers, draft7), `{"u":"not a uri"}`, nil},
		{"5.0 is an integer", numbers, `{"id":5.0}`, nil},
		{"50e-1 is an integer", numbers, `{"id":50e-1}`, nil},
		{"5.5 is not", numbers, `{"id":5.5}`, []string{"/id type: must be integer: send a number without a fraction"}},
		{"text is no number", numbers, `{"id":"5"}`, []string{"/id type: must be integer: send a number, not text"}},
		{"huge exponents are numbers", numbers, `{"id":1e999999999999999999999}`, nil},
		{"huge exponents compare", numbers, `{"n":1e400}`, []string{"/n maximum: must be at most 100"}},
		{"tiny exponents compare", numbers, `{"n":1e-999999999}`,
			[]string{"/n minimum: must be at least 0.1", "/n multipleOf: must be a multiple of 0.1"}},
		{"decimals divide exactly", numbers, `{"n":0.3}`, nil},
		{"the last of repeated names counts", numbers, `{"id":"x","id":1}`, nil},
		{"null", numbers, `{"id":null}`, []string{"/id type: must be integer: not null; leave an optional property out"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, verdict(t, tt.schema, tt.args)); diff != "" {
				t.Errorf("Check(%s) (-want +got):\n%s", tt.args, diff)
			}
		})
	}
}

// Hosts send nothing, null, "" or [] to tools without parameters.
func TestArgumentsShape(t *testing.T) {
	notObject := []string{" type: the arguments must be a JSON object, such as {}"}
	tests := []struct {
		args, out string
		want      []string
	}{
		{"", "{}", nil},
		{" ", "{}", nil},
		{"null", "{}", nil},
		{"{}", "{}", nil},
		{` {"a" : 1.0} `, ` {"a" : 1.0} `, nil},
		{`"{\"a\":1}"`, `{"a":1}`, nil},
		{`""`, `""`, notObject},
		{`[]`, `[]`, notObject},
		{`5`, `5`, notObject},
		{`"[]"`, `"[]"`, notObject},
		{`{"a":1`, `{"a":1`, []string{" json: is not JSON: at byte 6, an object does not end"}},
		{`{} {}`, `{} {}`, []string{" json: is not JSON: at byte 3, there is text after the value"}},
		{`{"a":01}`, `{"a":01}`, []string{" json: is not JSON: at byte 6, an object does not end"}},
	}
	for _, schema := range []string{"", "null", "{}", `{"type":"object"}`, `{"jsonSchema":{"type":"object","properties":{"a":{"type":"string"}}}}`, `{"type":"any"}`} {
		for _, tt := range tests {
			out, _, vs, _ := New(0).Check(toolOf(schema), json.RawMessage(tt.args))
			if string(out) != tt.out {
				t.Errorf("schema %q, Check(%q) sends %q up, want %q", schema, tt.args, out, tt.out)
			}
			if diff := cmp.Diff(tt.want, lines(vs)); diff != "" {
				t.Errorf("schema %q, Check(%q) (-want +got):\n%s", schema, tt.args, diff)
			}
		}
	}
}

// A recursive schema and deep arguments once grew the stack of a gateway until it
// died.
func TestDeepArguments(t *testing.T) {
	deep := func(n int) string {
		return `{"root":` + strings.Repeat(`{"name":"x","children":[`, n) + strings.Repeat(`]}`, n) + `}`
	}
	if got := verdict(t, recursive, deep(400)); got != nil {
		t.Errorf("400 nodes deep: got %q, want none", got)
	}
	want := []string{" depth: nests more than 1000 levels deep: send flatter arguments"}
	for _, n := range []int{600, 10_000, 200_000} {
		if diff := cmp.Diff(want, verdict(t, recursive, deep(n))); diff != "" {
			t.Errorf("%d nodes deep (-want +got):\n%s", n, diff)
		}
	}
}

// A schema whose branches both recurse takes 2^depth steps without a bound.
func TestCostIsBounded(t *testing.T) {
	schema := `{"$ref":"#/$defs/n","$defs":{"n":{"anyOf":[{"allOf":[{"properties":{"c":{"$ref":"#/$defs/n"}}},{"required":["x"]}]},{"allOf":[{"properties":{"c":{"$ref":"#/$defs/n"}}},{"required":["y"]}]}]}}}`
	args := strings.Repeat(`{"c":`, 60) + `{}` + strings.Repeat(`}`, 60)
	start := time.Now()
	got := verdict(t, schema, args)
	if len(got) != 1 || !strings.Contains(got[0], "takes too long to check") {
		t.Errorf("got %q, want that it takes too long", got)
	}
	slow := `{"properties":{"a":{"type":"array","items":{"pattern":"^(a+)+$"}}}}`
	item := `"` + strings.Repeat("a", 40) + `!"`
	got = verdict(t, slow, `{"a":[`+strings.Repeat(item+",", 50)+item+`]}`)
	if len(got) != 1 || !strings.Contains(got[0], "takes too long to check") {
		t.Errorf("slow pattern: got %q, want that it takes too long", got)
	}
	if d := time.Since(start); d > 5*time.Second {
		t.Errorf("took %v", d)
	}
}

// Time must grow with the size of arguments, not with its square.
func TestLargeArguments(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"n":1`)
	for i := range 100_000 {
		fmt.Fprintf(&b, `,"k%d":%d`, i, i)
	}
	b.WriteString(`,"list":[` + strings.Repeat("1,", 300_000) + `2]}`)
	required := make([]string, 5000)
	for i := range required {
		required[i] = fmt.Sprintf(`"k%d"`, i)
	}
	schema := `{"properties":{"list":{"items":{"type":"integer"}}},"required":[` + strings.Join(required, ",") + `]}`
	start := time.Now()
	if got := verdict(t, schema, b.String()); got != nil {
		t.Errorf("got %q, want none", got)
	}
	if d := time.Since(start); d > 5*time.Second {
		t.Errorf("took %v", d)
	}
}

func TestTooManyValues(t *testing.T) {
	if testing.Short() {
		t.Skip("takes memory")
	}
	want := []string{" size: holds more than 4194304 values: send less at once"}
	if diff := cmp.Diff(want, verdict(t, "", `{"a":[`+strings.Repeat("1,", maxValues)+`1]}`)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A list of 5,000 values must be checked whole and never be written out.
func TestHugeEnum(t *testing.T) {
	values := make([]string, 5000)
	for i := range values {
		values[i] = fmt.Sprintf(`"region-%05d"`, i)
	}
	schema := `{"properties":{"region":{"type":"string","enum":[` + strings.Join(values, ",") + `]}},"description":"` + strings.Repeat("x", 60_000) + `"}`
	if got := verdict(t, schema, `{"region":"region-04998"}`); got != nil {
		t.Errorf("a listed value: got %q, want none", got)
	}
	want := []string{`/region enum: must be one of 5000 values, e.g. "region-04998", "region-00998", "region-01998", "region-02998", "region-03998"`}
	if diff := cmp.Diff(want, verdict(t, schema, `{"region":"region-04998x"}`)); diff != "" {
		t.Errorf("a value not listed (-want +got):\n%s", diff)
	}
}

func TestMessages(t *testing.T) {
	const union = `{"properties":{"x":{"oneOf":[{"type":"object","properties":{"kind":{"const":"a"},"n":{"type":"integer"}},"required":["kind","n"]},{"type":"object","properties":{"kind":{"const":"b"}},"required":["kind"]},{"type":"null"}]}}}`
	tests := []struct {
		name, schema, args string
		want               []string
	}{
		{"missing", `{"required":["title","a/b"]}`, `{}`,
			[]string{"/title required: required property is missing", "/a~1b required: required property is missing"}},
		{"stranger lists the nearest first", `{"properties":{"owner":{},"repo":{},"title":{}},"additionalProperties":false}`, `{"titel":"secret"}`,
			[]string{" additionalProperties: has a property that is not allowed; allowed: title, owner, repo"}},
		{"stranger where nothing is allowed", `{"additionalProperties":false}`, `{"a":1,"b":2}`,
			[]string{" additionalProperties: has 2 properties that are not allowed; it takes none"}},
		{"names of the caller are not repeated", `{"properties":{"labels":{"additionalProperties":{"type":"object","properties":{"n":{"type":"integer"}}}}}}`, `{"labels":{"secret":{"n":"x"}}}`,
			[]string{"/labels type: one of its entries: must be integer: send a number, not text"}},
		{"property names", `{"propertyNames":{"pattern":"^[a-z]+$"}}`, `{"SECRET":1}`,
			[]string{" propertyNames: every property name must be string matching ^[a-z]+$"}},
		{"unevaluated", `{"allOf":[{"properties":{"a":{}}}],"unevaluatedProperties":false}`, `{"secret":1}`,
			[]string{" unevaluatedProperties: has properties that are not allowed"}},
		{"a tagged union says what its branch misses", union, `{"x":{"kind":"a"}}`,
			[]string{"/x/n required: required property is missing (integer)"}},
		{"an unknown tag lists the forms", union, `{"x":{"kind":"c"}}`,
			[]string{`/x oneOf: must be one of these: object with kind "a", n; or object with kind "b"; or null`}},
		{"a union by type", union, `{"x":"c"}`,
			[]string{"/x type: must be object or null: send a JSON object, not text"}},
		{"an optional string", `{"properties":{"x":{"anyOf":[{"type":"string","maxLength":1},{"type":"null"}]}}}`, `{"x":"secret"}`,
			[]string{"/x maxLength: must have at most 1 character"}},
		{"a list for one value", `{"properties":{"x":{"type":"array"}}}`, `{"x":5}`,
			[]string{"/x type: must be array: send a list, even for one value"}},
		{"text that is no JSON", `{"properties":{"x":{"type":"object"}}}`, `{"x":"{secret"}`,
			[]string{"/x type: must be object: send a JSON object, not text"}},
		{"a short enum", `{"properties":{"x":{"enum":["open","closed",1]}}}`, `{"x":"secret"}`,
			[]string{`/x enum: must be one of "open", "closed", 1`}},
		{"more than one form", `{"properties":{"x":{"oneOf":[{"type":"integer"},{"minimum":1}]}}}`, `{"x":5}`,
			[]string{"/x oneOf: fits more than one of 2 forms, but must fit exactly one"}},
		{"if and then", `{"if":{"required":["a"]},"then":{"required":["b"]}}`, `{"a":1}`,
			[]string{"/b required: required property is missing"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := verdict(t, tt.schema, tt.args)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Check(%s) (-want +got):\n%s", tt.args, diff)
			}
			if strings.Contains(strings.ToLower(strings.Join(got, "")), "secret") {
				t.Errorf("%q holds what was submitted", got)
			}
		})
	}
}

func TestViolationsAreBounded(t *testing.T) {
	long := strings.Repeat("ä", 500)
	schema := `{"additionalProperties":{"enum":["` + long + `","x` + long + `"]},"properties":{"p":{"pattern":"` + long + `"}}}`
	var b strings.Builder
	b.WriteString(`{"p":"q"`)
	for i := range 50 {
		fmt.Fprintf(&b, `,"k%d":[%d]`, i, i)
	}
	b.WriteString(`}`)
	_, _, vs, err := New(0).Check(toolOf(schema), json.RawMessage(b.String()))
	if err != nil || len(vs) == 0 || len(vs) > 8 {
		t.Fatalf("got %d violations, %v, want 1 to 8", len(vs), err)
	}
	items := `{"items":{"type":"string"},"properties":{"a":{"items":{"type":"string"}}}}`
	if got := verdict(t, items, `{"a":[1,2,3,4,5,6,7,8,9,10]}`); len(got) != 8 {
		t.Errorf("got %d violations, want 8", len(got))
	}
	for _, v := range vs {
		if len(v.Message) > 200 {
			t.Errorf("message of %d bytes: %q", len(v.Message), v.Message)
		}
	}
}

func TestCacheForgetsTheOldest(t *testing.T) {
	c := New(2)
	for i := range 5 {
		if err := c.Compile(toolOf(fmt.Sprintf(`{"minProperties":%d}`, i))); err != nil {
			t.Fatal(err)
		}
	}
	if got := len(c.byKey); got != 2 || c.order.Len() != 2 {
		t.Errorf("cache holds %d schemas, want 2", got)
	}
}

// A schema that fails must not be compiled again at every call.
func TestFailureIsRemembered(t *testing.T) {
	c, tool := New(0), toolOf(`{"type":"any"}`)
	first, second := c.Compile(tool), c.Compile(tool)
	if first == nil || first != second {
		t.Errorf("got %v, then %v, want the same error", first, second)
	}
}
