package minify

import (
	"net/url"
	"strings"
)

// dialect is what may be done to a schema without a change of its meaning.
type dialect struct {
	// known is false for a dialect of the author's own: nothing is touched.
	known bool
	// modern dialects read members beside a $ref.
	modern bool
	// structural says that subschemas may be moved and rewritten: every reference
	// is a pointer into this schema, and none goes by names or by where it stands.
	structural bool
	// unevaluated says that the schema asks which parts others have looked at.
	unevaluated bool
	// named keeps $schema: without it the schema would mean something else.
	named bool
	// draft is 4, 6, 7, 2019 or 2020.
	draft int
}

// foreign reports whether the dialect does not know a keyword that holds schemas:
// what it holds is then data, which nobody reads and which may be no schema.
func (d *dialect) foreign(keyword string) bool {
	switch keyword {
	case "const", "contains", "propertyNames":
		return d.draft < 6
	case "if", "then", "else":
		return d.draft < 7
	case "$defs", "dependentSchemas", "unevaluatedItems", "unevaluatedProperties", "contentSchema":
		return d.draft < 2019
	case "prefixItems":
		return d.draft < 2020
	case "additionalItems":
		return d.draft >= 2020
	}
	return false
}

// holds says how a keyword of a schema holds others.
type holds byte

const (
	holdsOne  holds = 1 + iota // a schema, or for items also a list
	holdsList                  // an array of schemas
	holdsBag                   // an object of schemas by name
)

// holder returns how the keyword holds schemas, 0 if what it holds is data.
func holder(keyword string) holds {
	switch keyword {
	case "items", "additionalItems", "unevaluatedItems", "contains", "additionalProperties", "unevaluatedProperties",
		"propertyNames", "not", "if", "then", "else", "contentSchema":
		return holdsOne
	case "allOf", "anyOf", "oneOf", "prefixItems":
		return holdsList
	case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies":
		return holdsBag
	}
	return 0
}

// subschemas calls f with every schema that stands directly in v.
func subschemas(v *value, f func(keyword string, m *member, sub *value)) {
	for _, m := range v.members {
		switch how := holder(m.key); {
		case how == holdsOne && m.v.kind == '[' || how == holdsList:
			for _, item := range m.v.items {
				f(m.key, nil, item)
			}
		case how == holdsOne:
			f(m.key, m, m.v)
		case how == holdsBag:
			for _, sub := range m.v.members {
				f(m.key, sub, sub.v)
			}
		}
	}
}

// judge says what may be done to the schema root, and pins what its references
// lead to.
func judge(root *value) *dialect {
	d := &dialect{structural: true}
	ambiguous := false
	switch name := strings.TrimSuffix(root.text("$schema"), "#"); {
	case root.get("$schema") == nil:
		d.known, d.modern, d.draft = true, true, 2020
	case strings.HasSuffix(name, "json-schema.org/draft/2020-12/schema"):
		d.known, d.modern, d.draft = true, true, 2020
	case strings.HasSuffix(name, "json-schema.org/draft/2019-09/schema"):
		d.known, d.modern, d.draft, ambiguous = true, true, 2019, true
	case strings.HasSuffix(name, "json-schema.org/draft-07/schema"):
		d.known, d.draft, ambiguous = true, 7, true
	case strings.HasSuffix(name, "json-schema.org/draft-06/schema"):
		d.known, d.named, d.draft = true, true, 6
	case strings.HasSuffix(name, "json-schema.org/draft-04/schema"):
		d.known, d.named, d.draft = true, true, 4
	}
	if !d.known {
		return d
	}
	differs := d.survey(root, root, true)
	if ambiguous && differs {
		d.named = true
	}
	if differs && root.get("$schema") == nil {
		// Read as whatever draft knows it: leave every structure as it is.
		d.structural = false
	}
	if ambiguous && !d.named {
		d.modern = true // it will be read as 2020-12, in which it says the same
	}
	return d
}

// survey looks at every schema below v. It reports whether any has what drafts
// since 06 read in different ways.
func (d *dialect) survey(root, v *value, top bool) (differs bool) {
	if v.kind != '{' {
		return false
	}
	for _, m := range v.members {
		if d.foreign(m.key) && !wellFormed(&value{kind: '{', members: []*member{m}}) {
			// What nobody reads need not be usable, but must be once it is moved.
			d.structural, differs = false, true
		}
		switch m.key {
		case "$ref":
			differs = differs || refSiblings(v)
			d.pin(root, m.v)
		case "$schema":
			d.structural = d.structural && top
		case "$id", "id", "$anchor", "$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor":
			// Of these only a root's own address leaves pointers alone. "id" is one in
			// draft-04 and nothing in the others.
			if m.key != "id" || d.draft == 4 {
				d.structural, differs = false, true
			}
		case "unevaluatedProperties", "unevaluatedItems":
			d.unevaluated, differs = true, true
		case "items":
			differs = differs || m.v.kind == '['
		case "exclusiveMinimum", "exclusiveMaximum":
			differs = differs || string(m.v.raw) == "true" || string(m.v.raw) == "false"
		case "additionalItems", "dependencies", "prefixItems", "minContains", "maxContains", "dependentRequired", "dependentSchemas", "contentSchema":
			differs = true
		}
	}
	subschemas(v, func(_ string, _ *member, sub *value) { differs = d.survey(root, sub, false) || differs })
	return differs
}

// refSiblings reports whether something stands beside a $ref that checks values.
func refSiblings(v *value) bool {
	for _, m := range v.members {
		switch m.key {
		case "$ref", "title", "description", "$comment", "examples", "default", "deprecated", "$schema", "readOnly", "writeOnly":
		case "$defs", "definitions": // found by pointers all the same
		default:
			return true
		}
	}
	return false
}

// pin marks every value on the way of a reference. One that leaves the schema, or
// leads to nothing, keeps everything where it is.
func (d *dialect) pin(root, ref *value) {
	if ref.kind != '"' {
		d.structural = false
		return
	}
	path, ok := strings.CutPrefix(unquote(ref.raw), "#")
	path, err := url.PathUnescape(path)
	if !ok || err != nil || path != "" && path[0] != '/' {
		d.structural = false
		return
	}
	if !pinPath(root, path) {
		d.structural = false
	}
}

// pinPath marks what a JSON pointer passes. It reports whether that is schemas and
// what holds them all the way, and leads to one.
func pinPath(root *value, path string) bool {
	at, held := root, holdsOne // what at is: a schema, or what holds schemas
	root.pinned = true
	for i, token := range strings.Split(path, "/") {
		if i == 0 {
			continue
		}
		inSchema := held == holdsOne && at.kind == '{'
		if at = at.step(token); at == nil {
			return false
		}
		at.pinned = true
		switch {
		case inSchema:
			if held = holder(token); held == 0 {
				return false
			}
		default:
			held = holdsOne
		}
	}
	return held == holdsOne && at.kind != '['
}
