package schema

import (
	"encoding/json"
	"slices"
	"strings"
)

// equal compares the value n with one of a schema. Numbers are equal by value.
func (t *tree) equal(n uint32, v any) bool {
	nd := &t.nodes[n]
	switch v := v.(type) {
	case nil:
		return nd.typ == typeNull
	case bool:
		return nd.typ == typeBoolean && (t.text[nd.start] == 't') == v
	case json.Number:
		return nd.typ == typeNumber && sameNumber(t.raw(n), v.String())
	case string:
		return nd.typ == typeString && t.str(n) == v
	case []any:
		if nd.typ != typeArray || int(nd.n) != len(v) {
			return false
		}
		c := t.first(n)
		for _, item := range v {
			if !t.equal(c, item) {
				return false
			}
			c = t.after(c)
		}
		return true
	case map[string]any:
		if nd.typ != typeObject || int(nd.n) != len(v) {
			return false
		}
		for c := t.first(n); c != 0; c = t.after(c) {
			item, ok := v[t.key(c)]
			if !ok || !t.equal(c, item) {
				return false
			}
		}
		return true
	}
	return false
}

// unique says whether no two items of the array n are equal.
func (e *eval) unique(n uint32) bool {
	seen := make(map[string]struct{}, e.t.nodes[n].n)
	for c := e.t.first(n); c != 0; c = e.t.after(c) {
		if !e.step(4 + int(e.t.nodes[c].end-e.t.nodes[c].start)/16) {
			return false
		}
		k := string(e.t.canonical(nil, c))
		if _, ok := seen[k]; ok {
			return false
		}
		seen[k] = struct{}{}
	}
	return true
}

// canonical appends a spelling of n that is the same for all equal values.
func (t *tree) canonical(b []byte, n uint32) []byte {
	switch t.nodes[n].typ {
	case typeNumber:
		return append(b, parseDecimal(t.raw(n)).text()...)
	case typeString:
		return append(b, quote(t.str(n))...)
	case typeArray:
		b = append(b, '[')
		for c := t.first(n); c != 0; c = t.after(c) {
			b = append(t.canonical(b, c), ',')
		}
		return append(b, ']')
	case typeObject:
		members := make([]uint32, 0, t.nodes[n].n)
		for c := t.first(n); c != 0; c = t.after(c) {
			members = append(members, c)
		}
		slices.SortFunc(members, func(x, y uint32) int { return strings.Compare(t.key(x), t.key(y)) })
		b = append(b, '{')
		for _, c := range members {
			b = append(append(b, quote(t.key(c))...), ':')
			b = append(t.canonical(b, c), ',')
		}
		return append(b, '}')
	}
	return append(b, t.raw(n)...)
}

// quote writes s as a JSON string.
func quote(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}
