package catalog

import (
	"slices"
	"strings"
	"unicode"

	"heddle"
)

// Review is what a guard says of a tool's definition as it is listed.
type Review struct {
	// Held says why the tool stays out of the catalog until a person has approved its
	// definition; "" lets it in.
	Held string
	// Note is one line for the model, which stands before the tool's description; ""
	// for none.
	Note string
	// Flags are what was found, for people: rules and places, never the text.
	Flags []string
}

// Held is a tool that is kept out of the catalog by its definition.
type Held struct {
	Tool *heddle.Tool
	// Why says what holds it.
	Why string
}

// review asks about all tools at once, because some things show only beside other
// servers' tools. Those held are taken out, those with a note become copies.
func (b *builder) review() {
	if b.options.Review == nil {
		return
	}
	plain := make([]*heddle.Tool, len(b.tools))
	for i, t := range b.tools {
		plain[i] = t
		if t.Note != "" { // of the old snapshot: what is judged is what the server wrote
			plain[i] = withNote(t, "")
		}
	}
	kept := b.tools[:0]
	for i, r := range b.options.Review(plain) {
		t := b.tools[i]
		for _, flag := range r.Flags {
			b.warnings = append(b.warnings, warning(t.Ref.Server, t.Ref.Name, note{WarnFlagged, flag}))
		}
		if r.Held != "" {
			b.held = append(b.held, Held{plain[i], r.Held})
			b.warnings = append(b.warnings, warning(t.Ref.Server, t.Ref.Name, note{WarnHeld, r.Held}))
			continue
		}
		if t.Note != r.Note {
			t = withNote(plain[i], r.Note)
		}
		kept = append(kept, t)
	}
	b.tools = kept
}

// withNote returns a copy of the tool whose description begins with a note, and
// has no characters that a reader would not see.
func withNote(t *heddle.Tool, line string) *heddle.Tool {
	fresh := *t
	fresh.Note = line
	fresh.Description, _ = text("description", readFields(t.Definition).description, nil)
	if line != "" {
		fresh.Description = strings.TrimSpace(line + "\n" + visible(fresh.Description))
	}
	return &fresh
}

// visible drops invisible and control characters, of which a marked text has no
// honest use.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unicode.IsControl(r), unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point):
			return -1
		}
		return r
	}, s)
}

// Held returns the tools that are kept out until somebody approves them. The slice
// is shared; do not modify it.
func (s *Snapshot) Held() []Held { return s.held }

// HeldBy returns the held tool that a host means by a name that it knew before.
func (s *Snapshot) HeldBy(name string) (Held, bool) {
	i := slices.IndexFunc(s.held, func(h Held) bool {
		return means(name, h.Tool.Ref) || name != "" && (name == h.Tool.Exposed || name == h.Tool.Native)
	})
	if i < 0 {
		return Held{}, false
	}
	return s.held[i], true
}

// DeniedBy returns the tool that is not allowed and that a name seems to mean. It
// is for records alone: to a host there is no such tool.
func (s *Snapshot) DeniedBy(name string) (heddle.ToolRef, bool) {
	i := slices.IndexFunc(s.denied, func(ref heddle.ToolRef) bool { return means(name, ref) })
	if i < 0 {
		return heddle.ToolRef{}, false
	}
	return s.denied[i], true
}

// means reports whether a name is one of the plain spellings of a tool.
func means(name string, ref heddle.ToolRef) bool {
	if name == ref.Name {
		return true
	}
	rest, ok := strings.CutPrefix(name, ref.Server)
	return ok && (rest == "_"+ref.Name || rest == "::"+ref.Name || rest == "/"+ref.Name)
}
