package minify

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"heddle"
	"heddle/internal/policy/schema"
)

// For every tool of the catalogs: arguments made from its schema, and each of
// them broken in one place, are accepted by the minified schema exactly if they
// are by the original.
func TestAcceptsTheSame(t *testing.T) {
	rounds := 6
	if testing.Short() {
		rounds = 2
	}
	var made, accepted, broken, refused, tools, different int
	cache := schema.New(4)
	for _, s := range catalogs(t) {
		for i, raw := range s.Tools {
			if raced && i%16 != 0 {
				continue
			}
			tool := toolOf(t, raw)
			small := &heddle.Tool{InputSchema: Schema(tool.InputSchema)}
			tools++
			if !bytes.Equal(tool.InputSchema, small.InputSchema) {
				different++
			}
			g := newMaker(tool.InputSchema, rand.New(rand.NewPCG(uint64(i), 7)))
			for range rounds {
				args := g.arguments()
				made++
				if same(t, cache, tool, small, args) {
					accepted++
				}
				for range 2 {
					wrong := g.broken(args)
					broken++
					if !same(t, cache, tool, small, wrong) {
						refused++
					}
				}
			}
			if t.Failed() {
				t.Fatalf("%s::%s\nminified: %.2000s", s.Server, tool.Ref.Name, small.InputSchema)
			}
		}
	}
	t.Logf("%d tools, %d of them smaller: %d arguments made, %.1f%% accepted; %d broken, %.1f%% refused",
		tools, different, made, 100*float64(accepted)/float64(made), broken, 100*float64(refused)/float64(broken))
	if float64(accepted) < .9*float64(made) || float64(refused) < .45*float64(broken) {
		t.Error("the arguments test too little: want 90% of those made accepted, 45% of those broken refused")
	}
}

// same reports whether the arguments are accepted, and fails if that differs.
func same(t *testing.T, cache *schema.Cache, a, b *heddle.Tool, args any) bool {
	t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	_, _, first, ferr := cache.Check(a, raw)
	_, _, second, serr := cache.Check(b, raw)
	if (len(first) == 0) != (len(second) == 0) || (ferr == nil) != (serr == nil) {
		t.Errorf("arguments %.500s: the original says %v %v, the minified %v %v", raw, first, ferr, second, serr)
	}
	return len(first) == 0
}

// maker makes arguments that fit a schema.
type maker struct {
	root any
	rand *rand.Rand
}

func newMaker(raw json.RawMessage, r *rand.Rand) *maker {
	m := &maker{rand: r}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	_ = d.Decode(&m.root)
	return m
}

func (m *maker) arguments() any {
	if v, ok := m.value(m.root, 0).(map[string]any); ok {
		return v
	}
	return map[string]any{}
}

// value makes a value that fits s, as far as it understands s.
func (m *maker) value(s any, depth int) any {
	o, ok := s.(map[string]any)
	if !ok || depth > 12 {
		return "x"
	}
	if ref, ok := o["$ref"].(string); ok {
		return m.value(m.resolve(ref), depth+1)
	}
	if c, ok := o["const"]; ok {
		return c
	}
	if e, ok := o["enum"].([]any); ok && len(e) > 0 {
		return e[m.rand.IntN(len(e))]
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		if list, ok := o[key].([]any); ok && len(list) > 0 {
			return m.merged(o, m.value(list[m.rand.IntN(len(list))], depth+1), depth)
		}
	}
	if list, ok := o["allOf"].([]any); ok && len(list) > 0 {
		var v any = map[string]any{}
		for _, sub := range list {
			v = m.merge(v, m.value(sub, depth+1))
		}
		return m.merged(o, v, depth)
	}
	return m.typed(o, depth)
}

// merged adds the properties of o itself to a value made from a part of it.
func (m *maker) merged(o map[string]any, v any, depth int) any {
	if _, ok := o["properties"]; ok {
		return m.merge(m.typed(o, depth), v)
	}
	return v
}

func (*maker) merge(a, b any) any {
	x, ok := a.(map[string]any)
	y, also := b.(map[string]any)
	if !ok || !also {
		return b
	}
	out := maps.Clone(x)
	maps.Copy(out, y)
	return out
}

func (m *maker) resolve(ref string) any {
	at := m.root
	for token := range strings.SplitSeq(strings.TrimPrefix(strings.TrimPrefix(ref, "#"), "/"), "/") {
		switch v := at.(type) {
		case map[string]any:
			if token != "" {
				at = v[strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")]
			}
		case []any:
			var i int
			if _, err := fmt.Sscan(token, &i); err != nil || i >= len(v) {
				return nil
			}
			at = v[i]
		}
	}
	return at
}

func (m *maker) typed(o map[string]any, depth int) any {
	name, _ := o["type"].(string)
	if list, ok := o["type"].([]any); ok && len(list) > 0 {
		name, _ = list[m.rand.IntN(len(list))].(string)
	}
	_, hasProps := o["properties"]
	switch {
	case name == "object" || name == "" && hasProps:
		return m.object(o, depth)
	case name == "array":
		out := []any{}
		for range max(int(bound(o, "minItems", 0)), min(m.rand.IntN(3), int(bound(o, "maxItems", 3)))) {
			out = append(out, m.value(o["items"], depth+1))
		}
		return out
	case name == "boolean":
		return m.rand.IntN(2) == 0
	case name == "null":
		return nil
	case name == "integer" || name == "number":
		return m.number(o)
	}
	return m.text(o)
}

func (m *maker) object(o map[string]any, depth int) any {
	out := map[string]any{}
	props, _ := o["properties"].(map[string]any)
	required := fmt.Sprint(o["required"])
	for _, name := range slices.Sorted(maps.Keys(props)) {
		if regexp.MustCompile(`[\[ ]`+regexp.QuoteMeta(name)+`[\] ]`).MatchString(required) || depth < 4 && m.rand.IntN(2) == 0 {
			out[name] = m.value(props[name], depth+1)
		}
	}
	if extra, ok := o["additionalProperties"].(map[string]any); ok && len(props) == 0 {
		out["extra"] = m.value(extra, depth+1)
	}
	return out
}

func bound(o map[string]any, key string, otherwise float64) float64 {
	if n, ok := o[key].(json.Number); ok {
		f, _ := n.Float64()
		return f
	}
	return otherwise
}

func (m *maker) number(o map[string]any) any {
	low := bound(o, "minimum", bound(o, "exclusiveMinimum", 0)+.5)
	high := bound(o, "maximum", bound(o, "exclusiveMaximum", low+10)-.5)
	if o["type"] == "integer" || m.rand.IntN(2) == 0 {
		n := int64(max(low, min(high, low+1)))
		if float64(n) < low {
			n++
		}
		return n
	}
	return (low + high) / 2
}

// samples are texts for the formats and patterns that real schemas have.
var samples = []string{
	"x", "2024-01-02T03:04:05Z", "2024-01-02", "6ba7b810-9dad-11d1-80b4-00c04fd430c8", "a@example.com", "https://example.com/a", "abc", "A1", "10", "1.2.3",
	"#ffffff", "a/b", "/a/b", "12:30", "12345678", "en-US", "PT1H", "0x1f", "C123", "U12345678", "main", "k=v", "10.0.0.1", "ABC-1", "a.b.c", "P1D", "file.txt",
}

func (m *maker) text(o map[string]any) any {
	low, high := int(bound(o, "minLength", 0)), int(bound(o, "maxLength", 1000))
	pattern, _ := o["pattern"].(string)
	re, err := regexp.Compile(pattern)
	start := m.rand.IntN(len(samples))
	for i := range samples {
		s := samples[(start+i)%len(samples)]
		if len(s) < low {
			s += strings.Repeat("x", low-len(s))
		}
		if len(s) <= high && (err != nil || re.MatchString(s)) {
			return s
		}
	}
	return strings.Repeat("x", max(1, low))
}

// broken returns a copy of v that is changed in one place.
func (m *maker) broken(v any) any {
	raw, _ := json.Marshal(v)
	var out any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	_ = d.Decode(&out)
	var places []func()
	m.places(out, func(any) {}, &places)
	if len(places) == 0 {
		return out
	}
	places[m.rand.IntN(len(places))]()
	return out
}

// places collects the ways in which v may be changed; set replaces v.
func (m *maker) places(v any, set func(any), out *[]func()) {
	add := func(values ...any) {
		*out = append(*out, func() { set(values[m.rand.IntN(len(values))]) })
	}
	switch x := v.(type) {
	case map[string]any:
		*out = append(*out, func() { x["no_such_member"] = "x" })
		for _, k := range slices.Sorted(maps.Keys(x)) {
			*out = append(*out, func() { delete(x, k) })
			m.places(x[k], func(n any) { x[k] = n }, out)
		}
		add("text", 7, []any{}, nil)
	case []any:
		for i := range x {
			m.places(x[i], func(n any) { x[i] = n }, out)
		}
		add([]any{}, append(slices.Clone(x), map[string]any{"odd": true}), slices.Repeat(x, 60), "text", 7, nil)
	case string:
		add("", "no such value", strings.Repeat("long ", 200), 7, true, nil, []any{1}, map[string]any{"a": 1})
	case json.Number:
		add(json.Number("-1e30"), json.Number("1e30"), json.Number("0.123"), json.Number("-7"), "text", nil, []any{}, true)
	default:
		add("text", 7, nil, []any{}, map[string]any{}, true)
	}
}
