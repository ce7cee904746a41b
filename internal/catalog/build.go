package catalog

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"heddle"
)

// Build makes the snapshot of the sources. It is deterministic and never fails:
// what cannot be used is skipped with a warning.
func Build(sources []Source, o Options) *Snapshot { return build(sources, o, nil, nil) }

// build is Build with a snapshot whose tools are used again where their
// definitions are the same, and the names that hosts may have seen.
func build(sources []Source, o Options, old *Snapshot, given *given) *Snapshot {
	b := builder{given: given, options: o.withDefaults(), seen: map[heddle.ToolRef]bool{}, old: map[heddle.ToolRef]*heddle.Tool{}}
	b.notes = map[heddle.ToolRef][]note{}
	if old != nil {
		b.oldNotes = old.notes
		for _, t := range old.tools {
			b.old[t.Ref] = t
		}
	}
	servers := make([]ServerInfo, 0, len(sources))
	for _, src := range sources {
		info := ServerInfo{Name: src.Server, Known: src.Known, State: src.State, Instructions: src.Instructions}
		if src.Known {
			b.addServer(src)
		}
		servers = append(servers, info)
	}
	b.review()
	counts := map[string]int{}
	for _, t := range b.tools {
		counts[t.Ref.Server]++
	}
	for i := range servers {
		servers[i].Tools = counts[servers[i].Name]
	}
	b.nameTools()
	s := &Snapshot{tools: b.tools, held: b.held, denied: b.denied, servers: servers, warnings: b.warnings, notes: b.notes, index: newLazyIndex(old)}
	s.digest = digestOf(s.servers, s.tools)
	s.names, s.native = nameMaps(s.tools, b.options.Own)
	given.keep(s)
	return s
}

// builder holds what a build gathers.
type builder struct {
	options   Options
	given     *given
	canonical canonical
	seen      map[heddle.ToolRef]bool
	tools     []*heddle.Tool
	held      []Held
	denied    []heddle.ToolRef
	warnings  []Warning
	notes     map[heddle.ToolRef][]note
	old       map[heddle.ToolRef]*heddle.Tool
	oldNotes  map[heddle.ToolRef][]note
}

// addServer adds a server's tools.
func (b *builder) addServer(src Source) {
	b.tools = slices.Grow(b.tools, len(src.Definitions))
	for i, definition := range src.Definitions {
		name, n := b.addTool(src.Server, definition)
		if n.kind == WarnNoName || n.kind == WarnNotAnObject {
			n.message += " (position " + strconv.Itoa(i+1) + " in the server's list)"
		}
		if n.kind != "" {
			b.warnings = append(b.warnings, warning(src.Server, name, n))
		}
	}
}

// addTool adds one tool. If it must be skipped, it returns why.
func (b *builder) addTool(server string, definition []byte) (name string, n note) {
	definition = bytes.TrimSpace(definition)
	if len(definition) == 0 || definition[0] != '{' {
		return "", note{WarnNotAnObject, "a definition that is not an object; skipped"}
	}
	f := readFields(definition)
	name, n = readName(f.name)
	if n.kind != "" {
		return name, n
	}
	ref := heddle.ToolRef{Server: server, Name: name}
	old := b.old[ref]
	same := old != nil && bytes.Equal(old.Definition, definition)
	if !same {
		if n = f.problem(definition); n.kind != "" {
			return name, n
		}
	}
	if b.seen[ref] {
		return name, note{WarnDuplicateName, "the server lists this name twice; the second is skipped"}
	}
	b.seen[ref] = true
	if !b.options.Allowed(ref) {
		b.denied = append(b.denied, ref)
		return name, note{}
	}
	tool, notes := old, b.oldNotes[ref]
	if !same {
		tool, notes = newTool(ref, definition, f, &b.canonical)
		if old != nil && old.Fingerprint == tool.Fingerprint {
			// The same but for key order or white space: hosts keep seeing the old bytes.
			tool, notes = old, b.oldNotes[ref]
		}
	}
	b.keep(tool, notes)
	return name, note{}
}

// keep adds an authorized tool and what is odd about it.
func (b *builder) keep(t *heddle.Tool, notes []note) {
	b.tools = append(b.tools, t)
	if len(notes) == 0 {
		return
	}
	b.notes[t.Ref] = notes
	for _, n := range notes {
		b.warnings = append(b.warnings, warning(t.Ref.Server, t.Ref.Name, n))
	}
}

// nameTools gives all tools their names. A tool of the old snapshot is shared
// with calls in flight: if its names change, a copy gets them.
func (b *builder) nameTools() {
	refs := make([]heddle.ToolRef, len(b.tools))
	for i, t := range b.tools {
		refs[i] = t.Ref
	}
	exposed, warnings := expose(refs, b.options.NameBudget, b.options.Own, b.given)
	b.warnings = append(b.warnings, warnings...)
	native, warnings := nativeNames(refs, exposed, b.options.Own, b.given)
	b.warnings = append(b.warnings, warnings...)
	for i, t := range b.tools {
		if t.Exposed == exposed[i] && t.Native == native[i] {
			continue
		}
		if b.old[t.Ref] == t {
			fresh := *t
			t = &fresh
			b.tools[i] = t
		}
		t.Exposed, t.Native = exposed[i], native[i]
	}
}

func warning(server, tool string, n note) Warning {
	return Warning{Server: server, Tool: shown(tool), Kind: n.kind, Message: n.message}
}

// shown makes a name fit for logs and terminals.
func shown(name string) string {
	const most = 200
	name = strings.ToValidUTF8(name, "\uFFFD")
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return '\uFFFD'
		}
		return r
	}, name)
	if len(name) > most {
		name = strings.ToValidUTF8(name[:most], "") + "…"
	}
	return name
}
