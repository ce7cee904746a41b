package minify

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"heddle"
)

// What goes, what stays, and what is data and not touched.
func TestSchema(t *testing.T) {
	long := `{"type":"object","properties":{"x":{"type":"string","maxLength":7},"y":{"type":"number","minimum":3}},"required":["x"]}`
	tests := []struct{ name, schema, want string }{
		{"noise", `{"type":"object","title":"T","$comment":"c","properties":{"a":{"title":"A","type":"string","examples":["b"]}},"required":[],"additionalProperties":true}`,
			`{"type":"object","properties":{"a":{"type":"string"}}}`},
		{"properties with such names", `{"title":"T","properties":{"title":{"type":"string","title":"Title"},"description":{"type":"string"},"default":{"const":1},"examples":{"type":"array"}},"type":"object"}`,
			`{"type":"object","properties":{"title":{"type":"string"},"description":{"type":"string"},"default":{"const":1},"examples":{"type":"array"}}}`},
		{"definitions with such names", `{"title":"T","$defs":{"title":{"type":"string","title":"x"},"examples":{"type":"null"}},"properties":{"a":{"$ref":"#/$defs/title"},"b":{"$ref":"#/$defs/examples"}}}`,
			`{"$defs":{"title":{"description":"x","type":"string"},"examples":{"type":"null"}},"properties":{"a":{"$ref":"#/$defs/title"},"b":{"$ref":"#/$defs/examples"}}}`},
		{"data", `{"title":"T","properties":{"a":{"const":{"title":"t","examples":[1]}},"b":{"enum":[{"description":"The b."},{"required":[]}]},"c":{"default":{"title":"C","properties":{}}}}}`,
			`{"properties":{"a":{"const":{"title":"t","examples":[1]}},"b":{"enum":[{"description":"The b."},{"required":[]}]},"c":{"default":{"title":"C","properties":{}}}}}`},
		{"numbers", `{"title":"T","properties":{"a":{"enum":[9007199254740993,1.0,1e2]},"b":{"const":123456789012345678901234567890},"c":{"default":0.10}}}`,
			`{"properties":{"a":{"enum":[9007199254740993,1.0,1e2]},"b":{"const":123456789012345678901234567890},"c":{"default":0.10}}}`},
		{"escapes", `{"title":"T","properties":{"\u0061":{"enum":["\ud800","\/"]}}}`, `{"properties":{"\u0061":{"enum":["\ud800","\/"]}}}`},
		{"repetition", `{"type":"object","properties":{"repo_name":{"type":"string","description":"The name of the repo."},"q":{"type":"string","description":"What to look for. Be brief."}}}`,
			`{"type":"object","properties":{"repo_name":{"type":"string"},"q":{"description":"What to look for","type":"string"}}}`},
		{"a title that says something", `{"properties":{"q":{"type":"string","title":"Lucene query"},"r":{"type":"string","title":"R"}}}`,
			`{"properties":{"q":{"description":"Lucene query","type":"string"},"r":{"type":"string"}}}`},
		{"names are strings", `{"properties":{"q":{"type":"object","propertyNames":{"type":"string"},"additionalProperties":{}}}}`, `{"properties":{"q":{"type":"object"}}}`},
		{"a nullable type", `{"properties":{"a":{"anyOf":[{"type":"string","maxLength":3},{"type":"null"}],"default":null}}}`,
			`{"properties":{"a":{"type":["string","null"],"maxLength":3,"default":null}}}`},
		{"types that are not disjoint", `{"title":"x","properties":{"a":{"oneOf":[{"type":"number"},{"type":"integer"}]}}}`,
			`{"properties":{"a":{"oneOf":[{"type":"number"},{"type":"integer"}]}}}`},
		{"a name for what repeats", `{"properties":{"a":` + long + `,"b":` + long + `,"c":` + long + `}}`,
			`{"properties":{"a":{"$ref":"#/$defs/a"},"b":{"$ref":"#/$defs/a"},"c":{"$ref":"#/$defs/a"}},"$defs":{"a":` + long + `}}`},
		{"a name that is taken", `{"$defs":{"a":{"type":"null"}},"properties":{"a":` + long + `,"b":` + long + `,"c":` + long + `}}`,
			`{"$defs":{"a":{"type":"null"},"b":` + long + `},"properties":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/b"},"c":{"$ref":"#/$defs/b"}}}`},
		{"draft-04", `{"$schema":"http://json-schema.org/draft-04/schema#","properties":{"a":` + long + `,"b":` + long + `,"c":` + long + `}}`,
			`{"$schema":"http://json-schema.org/draft-04/schema#","properties":{"a":{"$ref":"#/definitions/a"},"b":{"$ref":"#/definitions/a"},"c":{"$ref":"#/definitions/a"}},"definitions":{"a":` + long + `}}`},
		{"draft-07 that says the same today", `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object"}`, `{"type":"object"}`},
		{"draft-07 that does not", `{"$schema":"http://json-schema.org/draft-07/schema#","title":"x","properties":{"a":{"items":[{"type":"string"}]}}}`,
			`{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"items":[{"type":"string"}]}}}`},
		{"a reference into it", `{"properties":{"a":` + long + `,"b":` + long + `,"c":{"$ref":"#/properties/a/properties/x"}}}`,
			`{"properties":{"a":` + long + `,"b":` + long + `,"c":{"$ref":"#/properties/a/properties/x"}}}`},
		{"anchors", `{"properties":{"a":{"$anchor":"q","type":"string"},"b":` + long + `,"c":` + long + `}}`, `{"properties":{"a":{"$anchor":"q","type":"string"},"b":` + long + `,"c":` + long + `}}`},
		{"an address", `{"$id":"https://example.com/x","properties":{"a":` + long + `,"b":` + long + `,"c":` + long + `}}`, `{"$id":"https://example.com/x","properties":{"a":` + long + `,"b":` + long + `,"c":` + long + `}}`},
		{"a dialect of its own", `{"$schema":"https://example.com/mine","title":"T"}`, `{"$schema":"https://example.com/mine","title":"T"}`},
		{"a keyword twice", `{"title":"T","title":"U"}`, `{"title":"T","title":"U"}`},
		{"no JSON", `{"title":`, `{"title":`},
		{"no object", `[{"title":"T"}]`, `[{"title":"T"}]`},
		{"true", `true`, `true`},
		{"unusable", `{"properties":{"a":{"title":7,"examples":8}},"required":null}`, `{"properties":{"a":{"title":7,"examples":8}},"required":null}`},
	}
	for _, test := range tests {
		if got := string(Schema(json.RawMessage(test.schema))); got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.name, got, test.want)
		}
	}
}

// A description loses what goes on, never what a caller has to know.
func TestDescriptions(t *testing.T) {
	for text, want := range map[string]string{
		"How long to wait. The wait is in seconds. Be patient.":                                          "How long to wait. The wait is in seconds",
		"When it starts. It is an ISO 8601 date. Nothing else.":                                          "When it starts. It is an ISO 8601 date",
		"How it is sorted. Ordering matters. One of: name, date, size.":                                  "How it is sorted. One of: name, date, size",
		"Sort order. Valid values:\n- asc\n- desc\n\nSee the manual.":                                    "Sort order. Valid values: - asc - desc",
		"Page size. Large pages are slow. Defaults to 10.":                                               "Page size. Defaults to 10",
		"Old way to do it. Deprecated: use other.":                                                       "Old way to do it. Deprecated: use other",
		"Number of rows. Rows are sorted. Max 100.":                                                      "Number of rows. Max 100",
		"Weight of the parcel, measured in kilograms of mass. Heavy ones cost more":                      "Weight of the parcel, measured in kilograms of mass",
		"Ids, comma-separated. None is fine.":                                                            "Ids, comma-separated",
		"True if it is inline; otherwise, false. No more is said than this, however long.":               "True if it is inline; otherwise, false",
		"Sort order. The direction in which things\ncome, one of the following values:\n\n- asc\n- desc": "Sort order. The direction in which things come, one of the following values: - asc - desc",
		"A name (e.g. v1.2). It ends here.":                                                              "name (e.g. v1.2)",
		"":                                                                                               "",
	} {
		if got := shortText(text, &property{}); got != want {
			t.Errorf("%q:\n got %q\nwant %q", text, got, want)
		}
	}
	got := string(Schema(json.RawMessage(`{"properties":{"n":{"type":"integer","default":10,"minimum":1,"maximum":100,"description":"Rows a page. Defaults to 10 (max 100)."}}}`)))
	if want := `{"properties":{"n":{"description":"Rows a page","type":"integer","default":10,"minimum":1,"maximum":100}}}`; got != want {
		t.Errorf("what the schema says itself:\n got %s\nwant %s", got, want)
	}
}

// What a tool says of units, formats, allowed values, defaults, ranges and its end
// stays, wherever it says so, unless its schema says it too.
func TestToolFacts(t *testing.T) {
	const long = "Counts things. It is quite clever in how it goes about that. Many people have found it useful. "
	schema := `{"type":"object","properties":{"mode":{"enum":["fast","slow"]},"since":{"type":"string","format":"date","description":"Day to start at (ISO 8601)."},"rows":{"type":"integer","default":20,"maximum":50}}}`
	for said, kept := range map[string]bool{
		"Timeouts are given in milliseconds.":                           true,
		"Dates must be in YYYY-MM-DD form.":                             true,
		"The load is given in kilograms.":                               true,
		"The body is base64-encoded.":                                   true,
		"Ids are comma-separated.":                                      true,
		"Times are in UTC.":                                             true,
		"Allowed values are open, closed and all.":                      true,
		"The state can be `open` or `closed`.":                          true,
		"Sorts by name, date, or size (one of these).":                  true,
		"Set access to DenyAll, AllowAll, or AllowPrivate.":             true,
		"The order (asc or desc) matters.":                              true,
		"Only PNG and GIF are supported.":                               true,
		"Recency is hour/day/week/month.":                               true,
		"If no region is given it defaults to eu-west.":                 true,
		"By default, 30 are counted.":                                   true,
		"At most 200 things may be counted.":                            true,
		"If the call takes over 300 seconds, it is stopped.":            true,
		"This tool is deprecated, use sum.":                             true,
		"The count will be removed in version 3.":                       true,
		"Lists of things, people, or places are counted.":               false,
		"Use this tool when the user asks for totals, sums, or counts.": false,
		"Returns the id, the name, and the count.":                      false,
		"See the manual for the supported formats.":                     false,
		"`mode` is one of `fast` or `slow`.":                            false, // the schema says so
		"`since` is an ISO 8601 date.":                                  false,
		"Rows default to 20.":                                           false,
		"`rows` defaults to 20.":                                        false,
		"`rows` defaults to 25.":                                        true, // the schema says otherwise
		"`mode` is one of `fast`, `slow` or `lazy`.":                    true,
		"`since` is a day in UTC.":                                      true,
		"`rows` is at most 60.":                                         true,
	} {
		for _, text := range []string{long + said, long + said + " And so it ends.", long + "\n\nNotes:\n- Be patient with it.\n- " + said + "\n- Be kind."} {
			raw, _ := json.Marshal(map[string]any{"name": "count", "description": text, "inputSchema": json.RawMessage(schema)})
			got := parse(Definition(raw)).text("description")
			if strings.Contains(got, strings.TrimSuffix(said, ".")) != kept {
				t.Errorf("%q: kept is not %v in %q", said, kept, got)
			}
			if !strings.HasPrefix(got, "Counts things") || strings.Contains(got, "clever") || strings.Contains(got, "patient") {
				t.Errorf("%q became %q", text, got)
			}
		}
	}
	for text, want := range map[string]string{
		"Counts.\n\n| Parameter | Allowed values |\n|---|---|\n| kind | big, small |\n| when | now |":         "Counts. | Parameter | Allowed values | | kind | big, small | | when | now |",
		"This endpoint is deprecated. Counts things. It is slow.":                                             "This endpoint is deprecated. Counts things",
		"<use_case>\nCounts things.\n</use_case>\n```json\n{\"a\": \"b\"}\n```\nThe limit is in bytes.":       "Counts things. The limit is in bytes",
		"Counts (adds up) all of the things that there are in here, and nothing else, which is a lot of them": "Counts (adds up) all of the things that there are in here, and nothing else",
	} {
		raw, _ := json.Marshal(map[string]any{"name": "count", "description": text, "inputSchema": json.RawMessage(schema), "title": "x"})
		if got := parse(Definition(raw)).text("description"); got != want {
			t.Errorf("%q:\n got %q\nwant %q", text, got, want)
		}
	}
}

// A default of null states none.
func TestDefaultNull(t *testing.T) {
	got := string(Schema(json.RawMessage(`{"properties":{"who":{"type":["string","null"],"default":null,"title":"Who","description":"Login to look for. Defaults to the current user."}}}`)))
	if want := `"description":"Login to look for. Defaults to the current user"`; !strings.Contains(got, want) {
		t.Errorf("got %s, want %s in it", got, want)
	}
}

func TestDefinition(t *testing.T) {
	got := string(Definition(json.RawMessage(`{ "name":"x", "title":"X", "description":"Does x. And more of it.", "inputSchema":{"type":"object","description":"Does x."},
		"outputSchema":{"type":"object"}, "annotations":{"title":"X","destructiveHint":true,"readOnlyHint":false}, "icons":[], "_meta":{} }`)))
	if want := `{"name":"x","description":"Does x","inputSchema":{"type":"object"},"annotations":{"destructiveHint":true}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for _, odd := range []string{`{"name":`, `7`, `null`, ``, `{"name":"a"}`, strings.Repeat(`{"name":`, 20000), strings.Repeat(`[`, 9000) + strings.Repeat(`]`, 9000)} {
		if got := string(Definition(json.RawMessage(odd))); got != odd {
			t.Errorf("%.40q became %.40q", odd, got)
		}
	}
}

// Time grows with the size of a schema, however it repeats and nests.
func TestTimeIsLinear(t *testing.T) {
	deep := strings.Repeat(`{"properties":{"a":`, 200) + `{}` + strings.Repeat(`}}`, 200)
	wide := `{"properties":{` + strings.Repeat(`"p":{"type":"string","description":"`+strings.Repeat("word, (a) ", 50)+`"},`, 1) + `"q":{}}}`
	parts := make([]string, 5000)
	for i := range parts {
		parts[i] = fmt.Sprintf(`"p%d":%s`, i, `{"type":"object","properties":{"a":{"type":"string","maxLength":100}},"required":["a"]}`)
	}
	for name, schema := range map[string]string{"deep": deep, "wide": wide, "many": `{"properties":{` + strings.Join(parts, ",") + `}}`,
		"text": `{"description":"` + strings.Repeat("a, (b) 'c' [d. ", 100_000) + `"}`} {
		start := time.Now()
		out := Schema(json.RawMessage(schema))
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("%s: %v for %d bytes", name, took, len(schema))
		}
		start = time.Now()
		_ = Definition(json.RawMessage(`{"name":"x","description":` + string(quote(strings.Repeat("It is 5 px\nor "+"`a`, `b`"+" wide.\n", 8000)+strings.Repeat("and 5 px\n", 8000))) + `,"inputSchema":` + schema + `}`))
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("%s and much to say: %v", name, took)
		}
		if !json.Valid(out) {
			t.Errorf("%s: not JSON", name)
		}
	}
}

func TestCache(t *testing.T) {
	made := 0
	c := NewCache(2, func(t *heddle.Tool) string { made++; return t.Ref.Name })
	get := func(f string) bool {
		v, hit := c.Get(&heddle.Tool{Fingerprint: f, Ref: heddle.ToolRef{Name: f}})
		if v != f {
			t.Errorf("Get(%q) = %q", f, v)
		}
		return hit
	}
	for i, step := range []struct {
		key string
		hit bool
	}{{"a", false}, {"b", false}, {"a", true}, {"c", false}, {"a", true}, {"b", false}, {"", false}, {"", false}} {
		if got := get(step.key); got != step.hit {
			t.Errorf("step %d, %q: hit %v, want %v", i, step.key, got, step.hit)
		}
	}
	if hits, misses := c.Stats(); hits != 2 || misses != 4 || made != 6 {
		t.Errorf("%d hits, %d misses, %d made", hits, misses, made)
	}
	shared := NewCache(8, func(t *heddle.Tool) string { return t.Fingerprint })
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 500 {
				f := fmt.Sprint("f", (i*j)%20)
				if v, _ := shared.Get(&heddle.Tool{Fingerprint: f}); v != f {
					t.Errorf("%q, want %q", v, f)
				}
			}
		})
	}
	wg.Wait()
	if len(shared.byKey) > 8 || shared.order.Len() != len(shared.byKey) {
		t.Errorf("%d kept, want at most 8", len(shared.byKey))
	}
}
