package catalog

import (
	"encoding/json"
	"slices"

	"heddle"
)

// NativeDefinition returns the definition of a tool of this snapshot as native
// mode lists it: byte for byte the server's own, but for its name where Native
// differs, its inputSchema where Listed differs, and its outputSchema, which is
// left out unless keepOutputSchema. Without any of these it is t.Definition
// itself; do not modify it.
func (s *Snapshot) NativeDefinition(t *heddle.Tool, keepOutputSchema bool) json.RawMessage {
	return definition(t, t.Native, keepOutputSchema)
}

// ExposedDefinition is [Snapshot.NativeDefinition] under the exposed name, without
// an outputSchema.
func (s *Snapshot) ExposedDefinition(t *heddle.Tool) json.RawMessage {
	return definition(t, t.Exposed, false)
}

func definition(t *heddle.Tool, name string, keepOutputSchema bool) json.RawMessage {
	var room [16]member
	all := slices.AppendSeq(room[:0], members(t.Definition, 0))
	var edits []edit
	nameEnd, hasInput, described, kept := 0, false, false, false
	for i, m := range all {
		value := t.Definition[m.start:m.end]
		// Equal keys are all edited: which one counts is the host's choice.
		switch string(m.key) {
		case "name":
			nameEnd = m.end
			if string(unquote(value)) != name {
				edits = append(edits, edit{m.start, m.end, `"` + name + `"`})
			}
		case "inputSchema":
			hasInput = true
			if string(value) != string(t.Listed) {
				edits = append(edits, edit{m.start, m.end, string(t.Listed)})
			}
		case "description":
			described = true
			if t.Note != "" {
				edits = append(edits, edit{m.start, m.end, quote(t.Description)})
			}
		case "outputSchema":
			if !keepOutputSchema {
				edits = append(edits, removal(all, i, kept))
				continue
			}
		}
		kept = true
	}
	if !described && t.Note != "" {
		edits = insert(edits, edit{nameEnd, nameEnd, `,"description":` + quote(t.Description)})
	}
	if !hasInput {
		edits = insert(edits, edit{nameEnd, nameEnd, `,"inputSchema":` + string(t.Listed)})
	}
	if len(edits) == 0 {
		return t.Definition
	}
	return apply(t.Definition, edits)
}

// Written returns a tool's definition as its server wrote it, but for the
// description of one that has a note.
func Written(t *heddle.Tool) json.RawMessage {
	if t.Note == "" {
		return t.Definition
	}
	plain := *t
	plain.Listed = nil
	for m := range members(t.Definition, 0) {
		if string(m.key) == "inputSchema" {
			plain.Listed = t.Definition[m.start:m.end]
		}
	}
	if plain.Listed == nil {
		plain.Listed = t.Listed
	}
	return definition(&plain, t.Ref.Name, true)
}

func quote(s string) string {
	b, _ := json.Marshal(s) // a string always encodes
	return string(b)
}

// removal removes member i with the comma that it makes superfluous: the one
// before it if any member before it is kept, else the one after it.
func removal(all []member, i int, kept bool) edit {
	switch {
	case kept:
		return edit{all[i-1].end, all[i].end, ""}
	case i+1 < len(all):
		return edit{all[i].keyStart, all[i+1].keyStart, ""}
	}
	return edit{all[i].keyStart, all[i].end, ""}
}

// insert puts e in its place among edits that are in order.
func insert(edits []edit, e edit) []edit {
	at := slices.IndexFunc(edits, func(x edit) bool { return x.start >= e.start })
	if at < 0 {
		at = len(edits)
	}
	return slices.Insert(edits, at, e)
}
