package schema

import (
	"slices"
	"strings"

	"heddle"
)

// maxSignature is how long a signature may be, in bytes.
const maxSignature = 400

// Signature returns one line that says how the tool is called under the name that
// its caller knows, such as
//
//	create_issue(owner: string, labels?: string[], state?: "open"|"closed", since?: string<date-time>, limit?: integer = 30)
//
// Required parameters come first, each group in the order of the schema. Short
// formats and defaults are in it; long enums and unions are counted, nested
// objects shown to a depth. It is at most 400 bytes long; what does not fit is
// counted. A schema that cannot be read gives "name(…)".
func Signature(name string, t *heddle.Tool) string {
	name = clip(oneLine(name), 128)
	if len(t.InputSchema) == 0 {
		return name + "()"
	}
	s := signer{}
	if s.t.parse(string(t.InputSchema), maxSchemaDepth) != nil {
		return name + "(…)"
	}
	return name + "(" + s.params(s.resolve(0), 4, maxSignature-len(name)-2) + ")"
}

// signer writes types of the schema in t.
type signer struct{ t tree }

// get returns a member of a schema, 0 if it has none.
func (s *signer) get(n uint32, name string) uint32 {
	if s.t.nodes[n].typ != typeObject {
		return 0
	}
	return s.t.member(n, name)
}

// strings returns the strings of an array, or the one string.
func (s *signer) strings(n uint32) []string {
	switch {
	case n == 0:
		return nil
	case s.t.nodes[n].typ == typeString:
		return []string{s.t.str(n)}
	}
	var out []string
	for c := s.t.first(n); c != 0; c = s.t.after(c) {
		if s.t.nodes[c].typ == typeString {
			out = append(out, s.t.str(c))
		}
	}
	return out
}

// resolve follows local references of n, as far as they lead.
func (s *signer) resolve(n uint32) uint32 {
	for range 8 {
		ref := s.get(n, "$ref")
		if ref == 0 || s.t.nodes[ref].typ != typeString {
			return n
		}
		path, ok := strings.CutPrefix(s.t.str(ref), "#/")
		if !ok {
			return n
		}
		at := uint32(0)
		for tok := range strings.SplitSeq(path, "/") {
			tok = strings.ReplaceAll(strings.ReplaceAll(tok, "~1", "/"), "~0", "~")
			if at = s.get(at, tok); at == 0 {
				return n
			}
		}
		n = at
	}
	return n
}

// params lists the properties of an object within room bytes, nested types to a
// depth.
func (s *signer) params(n uint32, depth, room int) string {
	required := s.strings(s.get(n, "required"))
	var need, may []string
	if props := s.get(n, "properties"); props != 0 {
		for c := s.t.first(props); c != 0; c = s.t.after(c) {
			name := oneLine(s.t.key(c))
			if slices.Contains(required, name) {
				need = append(need, name+": "+s.typ(c, depth))
			} else {
				may = append(may, name+"?: "+s.typ(c, depth)+s.otherwise(c))
			}
		}
	}
	return joinSome(append(need, may...), room)
}

// maxDetail is how long a format or a default may be to be shown, in bytes.
const maxDetail = 20

// otherwise writes the default of a property, if it is short and says something.
func (s *signer) otherwise(n uint32) string {
	v := s.get(s.resolve(n), "default")
	if d := s.get(n, "default"); d != 0 { // beside a reference
		v = d
	}
	if v == 0 || s.t.nodes[v].typ&(typeNull|typeObject|typeArray) != 0 {
		return ""
	}
	text := oneLine(s.t.raw(v))
	if len(text) > maxDetail || text == `""` {
		return ""
	}
	return " = " + text
}

// format writes the format of a string, if it is short.
func (s *signer) format(n uint32) string {
	f := s.get(n, "format")
	if f == 0 || s.t.nodes[f].typ != typeString {
		return ""
	}
	if text := oneLine(s.t.str(f)); text != "" && len(text) <= maxDetail {
		return "<" + text + ">"
	}
	return ""
}

// maxUnion is how many members of an enum or union a signature names.
const maxUnion = 6

// typ writes the type of a property.
func (s *signer) typ(n uint32, depth int) string {
	n = s.resolve(n)
	if s.t.nodes[n].typ != typeObject || depth <= 0 {
		return "any"
	}
	if c := s.get(n, "const"); c != 0 {
		return clip(oneLine(s.t.raw(c)), 40)
	}
	if c := s.get(n, "enum"); c != 0 {
		return s.union(c, func(v uint32) string { return clip(oneLine(s.t.raw(v)), 40) })
	}
	for _, k := range []string{"anyOf", "oneOf"} {
		if c := s.get(n, k); c != 0 {
			return s.union(c, func(v uint32) string { return s.typ(v, depth-1) })
		}
	}
	var parts []string
	for _, name := range s.strings(s.get(n, "type")) {
		parts = append(parts, s.named(n, name, depth))
	}
	switch {
	case len(parts) > 0:
		return strings.Join(parts, "|")
	case s.get(n, "properties") != 0:
		return s.named(n, "object", depth)
	}
	if c := s.get(n, "allOf"); c != 0 && s.t.nodes[c].n == 1 {
		return s.typ(s.t.first(c), depth-1)
	}
	return "any"
}

// named writes one type of the schema n.
func (s *signer) named(n uint32, name string, depth int) string {
	switch name {
	case "array":
		items := s.get(n, "items")
		if items == 0 {
			return "any[]"
		}
		t := s.typ(items, depth-1)
		if strings.Contains(t, "|") {
			t = "(" + t + ")"
		}
		return t + "[]"
	case "object":
		if s.get(n, "properties") != 0 && depth > 2 {
			return "{" + s.params(n, depth-2, 120) + "}"
		}
	case "string":
		return name + s.format(n)
	case "integer", "number", "boolean", "null":
	default:
		return clip(oneLine(name), 20)
	}
	return name
}

// union joins the members of the array n with "|", without repeats.
func (s *signer) union(n uint32, show func(uint32) string) string {
	var out []string
	left := int(s.t.nodes[n].n)
	for c := s.t.first(n); c != 0 && len(out) < maxUnion; c = s.t.after(c) {
		left--
		if text := show(c); !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	if left > 0 {
		out = append(out, "… "+itoa(left)+" more")
	}
	if len(out) == 0 {
		return "any"
	}
	return strings.Join(out, "|")
}

// Parameter is one parameter of a tool, for people.
type Parameter struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	Required bool   `json:"required"`
	// Default is the JSON of the default value, "" if there is none.
	Default string `json:"default,omitempty"`
	// Description is the schema's own.
	Description string `json:"description,omitempty"`
}

// Parameters returns the parameters of the tool in the order of [Signature], nil
// if its schema cannot be read.
func Parameters(t *heddle.Tool) []Parameter {
	s := signer{}
	if len(t.InputSchema) == 0 || s.t.parse(string(t.InputSchema), maxSchemaDepth) != nil {
		return nil
	}
	root := s.resolve(0)
	required := s.strings(s.get(root, "required"))
	var need, may []Parameter
	props := s.get(root, "properties")
	if props == 0 || s.t.nodes[props].typ != typeObject {
		return nil
	}
	for c := s.t.first(props); c != 0; c = s.t.after(c) {
		p := Parameter{Name: oneLine(s.t.key(c)), Type: s.typ(c, 4), Required: slices.Contains(required, s.t.key(c))}
		if d := s.get(c, "default"); d != 0 {
			p.Default = clip(oneLine(s.t.raw(d)), 60)
		}
		if d := s.get(c, "description"); d != 0 && s.t.nodes[d].typ == typeString {
			p.Description = s.t.str(d)
		}
		if p.Required {
			need = append(need, p)
		} else {
			may = append(may, p)
		}
	}
	return append(need, may...)
}
