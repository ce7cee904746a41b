package catalog

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"heddle"
)

// Lengths of tool names in bytes: what hosts accept as it is, and what is beyond
// any use.
const (
	maxNativeName = 128
	maxName       = 4096
)

// fields are the members of a definition that the catalog reads, as raw values;
// nil if absent. Of equal keys the last counts, as in every common decoder.
type fields struct {
	name, title, description, input, output, annotations []byte
	inputDepth, otherDepth                               int
	inputStart                                           int
}

// readFields scans the object definition once. Values share its bytes.
func readFields(definition []byte) fields {
	var f fields
	for m := range members(definition, 0) {
		value := slices.Clip(definition[m.start:m.end])
		switch string(m.key) {
		case "inputSchema":
			f.input, f.inputDepth, f.inputStart = value, m.depth, m.start
			continue // its depth has its own limit and consequence
		case "name":
			f.name = value
		case "title":
			f.title = value
		case "description":
			f.description = value
		case "outputSchema":
			f.output = value
		case "annotations":
			f.annotations = value
		}
		f.otherDepth = max(f.otherDepth, m.depth)
	}
	return f
}

// problem says why the definition must be skipped; the zero note if it need not.
func (f fields) problem(definition []byte) note {
	if f.otherDepth > maxDepth {
		return note{WarnTooDeep, "the definition is nested too deep; skipped"}
	}
	if f.inputDepth > maxDepth {
		// encoding/json gives up on such nesting. Hosts never see that schema, so what
		// they do see is checked instead.
		definition = apply(definition, []edit{{f.inputStart, f.inputStart + len(f.input), emptySchema}})
	}
	if !json.Valid(definition) {
		return note{WarnInvalidJSON, "the definition is not valid JSON; skipped"}
	}
	return note{}
}

// readName returns the tool's name, or why a tool with that name is skipped.
func readName(raw []byte) (string, note) {
	name := string(unquote(raw))
	switch {
	case raw == nil:
		return "", note{WarnNoName, "a tool without a name; skipped"}
	case !isString(raw):
		return "", note{WarnNoName, "a tool whose name is not a string; skipped"}
	case strings.TrimSpace(name) == "":
		return name, note{WarnNoName, "a tool with an empty name; skipped"}
	case !utf8.ValidString(name):
		// It could not be sent back to the server as it was.
		return name, note{WarnInvalidName, "the name is not valid Unicode; skipped"}
	case strings.ContainsFunc(name, unicode.IsControl):
		return name, note{WarnControlCharacters, "control characters in the name; skipped"}
	case len(name) > maxName:
		return name, note{WarnNameTooLong, "the name is over 4096 bytes; skipped"}
	}
	return name, note{}
}

// newTool makes the tool of a definition, its names in every mode but its own
// still missing.
func newTool(ref heddle.ToolRef, definition []byte, f fields, c *canonical) (*heddle.Tool, []note) {
	var notes []note
	t := &heddle.Tool{
		Ref:             ref,
		Definition:      definition,
		HasOutputSchema: f.output != nil && string(f.output) != "null",
		Fingerprint:     c.fingerprint(definition),
	}
	if f.input != nil && string(f.input) != "null" {
		t.InputSchema = f.input
	}
	t.Listed, notes = repair(f.input, f.inputDepth)
	t.Description, notes = text("description", f.description, notes)
	t.Title, notes = text("title", f.title, notes)
	if len(f.annotations) > 0 && f.annotations[0] == '{' {
		for m := range members(f.annotations, 0) {
			if string(m.key) == "destructiveHint" {
				t.Destructive = string(f.annotations[m.start:m.end]) == "true"
			}
		}
	}
	if len(ref.Name) > maxNativeName {
		notes = append(notes, note{WarnNameTooLong, "the name is over 128 characters; hosts see it cut"})
	}
	return t, notes
}

// text returns a string field, unescaped.
func text(field string, raw []byte, notes []note) (string, []note) {
	if raw != nil && !isString(raw) {
		return "", append(notes, note{WarnInvalidField, field + " is not a string; some hosts refuse such a tool"})
	}
	return strings.ToValidUTF8(string(unquote(raw)), "\uFFFD"), notes
}
