package catalog

import (
	"encoding/json"
	"slices"
)

// emptySchema stands for schemas that hosts could not use.
const emptySchema = `{"type":"object"}`

// note is a [Warning] without its tool.
type note struct{ kind, message string }

// repair returns the schema that hosts see. Three real hosts lose all tools of a
// server if one inputSchema has no root "type":"object", so that much is put
// right and nothing else: the rest keeps its bytes. A schema that needs no
// repair is returned as it is, sharing its bytes.
func repair(schema []byte, depth int) (listed json.RawMessage, notes []note) {
	empty := func(kind, what string) (json.RawMessage, []note) {
		return json.RawMessage(emptySchema), []note{{kind, what + "; listed as " + emptySchema}}
	}
	switch {
	case schema == nil:
		return empty(WarnMissingSchema, "no inputSchema")
	case string(schema) == "null":
		return empty(WarnNullSchema, "inputSchema is null")
	case schema[0] != '{':
		return empty(WarnInvalidSchema, "inputSchema is not an object")
	case depth > maxDepth:
		return empty(WarnInvalidSchema, "inputSchema is nested too deep")
	}
	root := readRoot(schema)
	if root.empty {
		return empty(WarnEmptySchema, "inputSchema is {}")
	}
	listed, n := root.repair(schema)
	if n.kind != "" {
		notes = append(notes, n)
	}
	if root.combinator != "" {
		notes = append(notes, note{WarnRootCombinator,
			root.combinator + " at the root of inputSchema: some hosts drop such a tool; listed as it is"})
	}
	return listed, notes
}

// schemaRoot is what repair needs to know of a schema's root.
type schemaRoot struct {
	empty, wrapped bool
	combinator     string
	types          []edit // what would make every type "object"
	typed          bool
}

func readRoot(schema []byte) schemaRoot {
	r := schemaRoot{empty: true}
	for m := range members(schema, 0) {
		r.empty = false
		value := schema[m.start:m.end]
		switch string(m.key) {
		case "type":
			r.typed = true
			if string(unquote(value)) != "object" {
				r.types = append(r.types, edit{m.start, m.end, `"object"`})
			}
		case "jsonSchema":
			r.wrapped = value[0] == '{'
		case "anyOf", "oneOf", "allOf", "not":
			r.combinator = string(m.key)
		}
	}
	return r
}

// repair returns the schema with a root "type":"object" and what was done.
func (r schemaRoot) repair(schema []byte) (json.RawMessage, note) {
	switch {
	case len(r.types) > 0:
		return apply(schema, r.types), note{WarnRootType, `the root type of inputSchema is not "object"; listed as if it were`}
	case r.typed:
		return slices.Clip(schema), note{}
	}
	listed := apply(schema, []edit{{1, 1, `"type":"object",`}})
	if r.wrapped {
		return listed, note{WarnWrappedSchema, `inputSchema is wrapped in "jsonSchema"; listed with "type":"object" added, which accepts any arguments`}
	}
	return listed, note{WarnMissingType, `inputSchema has no root type; listed with "type":"object" added`}
}

// edit replaces the bytes from start to end.
type edit struct {
	start, end int
	text       string
}

// apply returns a copy of b with the edits made. Edits are in order and do not
// overlap.
func apply(b []byte, edits []edit) []byte {
	size := len(b)
	for _, e := range edits {
		size += len(e.text) - (e.end - e.start)
	}
	out := make([]byte, 0, size)
	from := 0
	for _, e := range edits {
		out = append(out, b[from:e.start]...)
		out = append(out, e.text...)
		from = e.end
	}
	return append(out, b[from:]...)
}
