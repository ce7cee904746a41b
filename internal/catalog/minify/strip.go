package minify

import (
	"slices"
	"strings"
)

// stripper takes out of a schema what says nothing.
type stripper struct {
	dialect *dialect
	owner   owner
	read    int // bytes of descriptions so far
}

// maxText is how much of descriptions is read, in bytes: five times that of the
// largest definition seen. What comes after it stays as it is.
const maxText = 256 << 10

// place is where a schema stands.
type place struct {
	root  bool
	name  string // of the property, "" if it is none
	of    string // the property that it is part of
	above string // what the schema around this one, of the same property, says of it
}

// schema strips v and everything below it.
func (s *stripper) schema(v *value, at place) {
	if v.kind != '{' {
		return
	}
	said := v.text("description") // before it is shortened
	if said == "" {
		said = at.above
	}
	kept := v.members[:0]
	for _, m := range v.members {
		if m.v.pinned || !s.drops(v, m, at, said) {
			kept = append(kept, m)
		}
	}
	v.members = kept
	s.describe(v, at)
	subschemas(v, func(keyword string, m *member, sub *value) {
		below := place{of: at.name}
		if keyword == "properties" || keyword == "patternProperties" || keyword == "$defs" || keyword == "definitions" {
			below.name = m.key
		} else if keyword == "items" {
			below.name, below.of = at.name, at.of // what a list's name says, it says of the items
		} else if keyword == "anyOf" || keyword == "oneOf" || keyword == "allOf" {
			below.name, below.of, below.above = at.name, at.of, said
		}
		s.schema(sub, below)
	})
	if s.dialect.structural && !s.dialect.unevaluated && !v.pinned {
		mergeUnion(v)
	}
}

// drops reports whether a member of the schema v may go. Members of a kind that
// their keyword does not allow stay: the schema may not be usable, and then all
// arguments pass.
func (s *stripper) drops(v *value, m *member, at place, said string) bool {
	switch m.key {
	case "title":
		if m.v.kind != '"' {
			return false
		}
		if at.root || said != "" || repeats(unquote(m.v.raw), at.name) {
			return true
		}
		m.key, m.rawKey = "description", []byte(`"description"`) // it says what nothing else does
	case "$comment":
		return m.v.kind == '"'
	case "$schema":
		return at.root && !s.dialect.named
	case "type":
		return !at.root && s.tells(v, unquoteKind(m.v))
	case "examples":
		return m.v.kind == '[' && !s.example(v, m)
	}
	return s.empty(v, m)
}

// tells reports whether the allowed values of v are all of one type, which then
// need not be said.
func (s *stripper) tells(v *value, name string) bool {
	values := []*value{v.get("const")}
	if enum := v.get("enum"); enum != nil && enum.kind == '[' && len(enum.items) > 0 {
		values = enum.items
	}
	for _, x := range values {
		if x == nil || name != "string" || x.kind != '"' {
			return false
		}
	}
	return s.dialect.structural
}

func unquoteKind(v *value) string {
	if v.kind != '"' {
		return ""
	}
	return unquote(v.raw)
}

// example keeps of a list of examples one that shows a format that nothing else
// tells.
func (s *stripper) example(v *value, m *member) (keep bool) {
	for _, other := range []string{"enum", "const", "format", "default"} {
		if v.get(other) != nil {
			return false
		}
	}
	for _, e := range m.v.items {
		if e.kind == '"' && len(e.raw) <= 40 && strings.ContainsAny(string(e.raw), "0123456789:/@#_-.,{[") {
			m.v.items = []*value{e}
			return true
		}
	}
	return false
}

// empty reports whether a keyword holds what is true without it.
func (s *stripper) empty(v *value, m *member) bool {
	empty := len(m.v.members)+len(m.v.items) == 0
	switch m.key {
	case "required":
		return m.v.kind == '[' && empty && s.dialect.draft != 4
	case "properties", "patternProperties":
		return m.v.kind == '{' && empty
	case "additionalProperties", "additionalItems":
		return (m.v.isTrue() || m.v.kind == '{' && empty) && !s.dialect.unevaluated
	case "items":
		return (m.v.isTrue() && s.dialect.modern || m.v.kind == '{' && empty) && !s.dialect.unevaluated
	case "minLength", "minItems", "minProperties":
		return string(m.v.raw) == "0"
	case "propertyNames": // names are strings in any case
		return m.v.kind == '{' && len(m.v.members) == 1 && m.v.text("type") == "string" && !m.v.pinned
	case "uniqueItems":
		return string(m.v.raw) == "false"
	}
	return false
}

// describe shortens the description of v, or takes it out.
func (s *stripper) describe(v *value, at place) {
	m := v.member("description")
	if m == nil || m.v.kind != '"' || m.v.pinned {
		return
	}
	text := unquote(m.v.raw)
	if s.read += len(text); s.read > maxText {
		return
	}
	facts := propertyOf(v)
	short := shortText(text, facts)
	names := []string{at.name, at.of, s.owner.name}
	if stated, _ := facts.read(short); stated == 0 {
		names = append(names, s.owner.text) // of facts the tool's description may rely on the schema
	}
	switch {
	case text == at.above,
		at.root && (strings.HasPrefix(s.owner.said, text) || repeats(short, s.owner.name)),
		!at.root && at.name != "" && repeats(short, names...):
		short = ""
	}
	if short == "" {
		v.remove("description")
		return
	}
	m.v = textValue(m.v, short)
}

func (v *value) remove(key string) {
	for i, m := range v.members {
		if m.key == key {
			v.members = append(v.members[:i:i], v.members[i+1:]...)
			return
		}
	}
}

// order puts the description first and the type second in every schema: so they
// cost fewest tokens, and what says the same is written alike.
func order(v *value) {
	if v.kind != '{' {
		return
	}
	rank := func(m *member) int {
		return slices.Index([]string{"type", "description"}, m.key)
	}
	slices.SortStableFunc(v.members, func(a, b *member) int { return rank(b) - rank(a) })
	subschemas(v, func(_ string, _ *member, sub *value) { order(sub) })
}
