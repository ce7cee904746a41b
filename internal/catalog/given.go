package catalog

import (
	"maps"

	"heddle"
)

// given remembers what each name meant that a host may have seen. A name never
// moves to another tool while heddle runs: servers come and go, and a host that
// allows "search" for good has allowed one tool, not whichever has the name.
type given struct {
	exposed, native map[string]heddle.ToolRef
	bare            map[string]heddle.ToolRef // tools' own names that led to them without a server's
}

func newGiven() *given {
	return &given{exposed: map[string]heddle.ToolRef{}, native: map[string]heddle.ToolRef{}, bare: map[string]heddle.ToolRef{}}
}

func (g *given) clone() *given {
	return &given{exposed: maps.Clone(g.exposed), native: maps.Clone(g.native), bare: maps.Clone(g.bare)}
}

// other reports whether the name has meant another tool than ref.
func other(names map[string]heddle.ToolRef, name string, ref heddle.ToolRef) bool {
	was, ok := names[name]
	return ok && was != ref
}

// toOther reports whether an exposed or native name was given to another tool; a
// nil given has given none.
func (g *given) toOther(name string, ref heddle.ToolRef, native bool) bool {
	if g == nil {
		return false
	}
	if native {
		return other(g.native, name, ref)
	}
	return other(g.exposed, name, ref)
}

// keep notes the names of a snapshot, and lets names that were given before and
// are not listed any more still lead to their tools.
func (g *given) keep(s *Snapshot) {
	if g == nil {
		return
	}
	byRef := make(map[heddle.ToolRef]*heddle.Tool, len(s.tools))
	for _, t := range s.tools {
		byRef[t.Ref] = t
		g.exposed[t.Exposed], g.native[t.Native] = t.Ref, t.Ref
		if s.names[t.Ref.Name] == t {
			if other(g.bare, t.Ref.Name, t.Ref) {
				s.names[t.Ref.Name] = nil
			} else {
				g.bare[t.Ref.Name] = t.Ref
			}
		}
	}
	for name, ref := range g.exposed {
		s.names[name] = byRef[ref] // nil where the tool is gone: nothing else takes its place
	}
	for name, ref := range g.native {
		s.native[name] = byRef[ref]
	}
}
