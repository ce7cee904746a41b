package minify

// typed are the keywords that look at values of one type alone, by that type.
var typed = map[string][]string{
	"string":  {"minLength", "maxLength", "pattern", "format"},
	"number":  {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"},
	"integer": {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"},
	"boolean": {},
	"null":    {},
	"array":   {"items", "minItems", "maxItems", "uniqueItems"},
	"object":  {"properties", "required", "additionalProperties", "minProperties", "maxProperties"},
}

// neighbours change what others beside them mean: a branch that has such must not
// come to stand beside those of its parent.
var neighbours = []string{"properties", "patternProperties", "additionalProperties", "items", "prefixItems", "additionalItems", "contains"}

// mergeUnion writes {"anyOf":[{"type":"string"},{"type":"null"}]} as
// {"type":["string","null"]}: branches of different types whose other keywords
// look at their own type alone say the same side by side.
func mergeUnion(v *value) {
	for _, key := range []string{"anyOf", "oneOf"} {
		m := v.member(key)
		if m == nil || m.v.kind != '[' || m.v.pinned || len(m.v.items) < 2 || v.get("$ref") != nil {
			continue
		}
		merged := union(v, m.v.items)
		if merged == nil {
			continue
		}
		out := make([]*member, 0, len(v.members)+len(merged))
		for _, old := range v.members {
			if old == m {
				out = append(out, merged...)
			} else {
				out = append(out, old)
			}
		}
		v.members = out
	}
}

// union returns the members that stand for the branches, nil if there are none
// that say the same.
func union(v *value, branches []*value) []*member {
	types := &value{kind: '['}
	out := []*member{{"type", []byte(`"type"`), types}}
	taken := map[string]bool{}
	for _, m := range v.members {
		taken[m.key] = true
	}
	if taken["type"] {
		return nil
	}
	for _, keyword := range neighbours {
		if taken[keyword] {
			return nil
		}
	}
	for _, b := range branches {
		name := b.text("type")
		allowed, ok := typed[name]
		if !ok || taken[":"+name] || b.pinned {
			return nil
		}
		taken[":"+name] = true
		if name == "integer" || name == "number" { // an integer is a number
			taken[":integer"], taken[":number"] = true, true
		}
		for _, m := range b.members {
			switch {
			case m.key == "type":
				types.items = append(types.items, m.v)
			case !contains(allowed, m.key) || taken[m.key]:
				return nil
			default:
				taken[m.key] = true
				out = append(out, m)
			}
		}
	}
	return out
}

func contains(all []string, s string) bool {
	for _, x := range all {
		if x == s {
			return true
		}
	}
	return false
}
