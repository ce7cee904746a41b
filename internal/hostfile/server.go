package hostfile

import (
	"fmt"
	"slices"
	"strings"

	"heddle/internal/config"
)

// Server is an entry of a host's file, with its references in heddle's syntax:
// ${VAR}, ${VAR:-default}, ${file:PATH}, and $$ for a dollar sign.
type Server struct {
	// Name is as the host has it.
	Name string
	// File is where it stands; Line and Column are those of its name.
	File         File
	Line, Column int
	// Project is the directory that the entry is for where the file has entries for
	// several; "" if it is for all.
	Project string

	// Type is "stdio", "http", "sse" or, where its host finds out, "remote"; "" if
	// Unusable says why.
	Type    string
	Command string
	Args    []string
	Env     map[string]string
	Cwd     string
	URL     string
	Headers map[string]string
	// Passthrough are variables that the server gets from its host's environment.
	Passthrough []string
	// Allow and Deny are the tools that the host's user chose; Allow is nil if that
	// is all.
	Allow, Deny []string

	// Disabled is true if the host does not start it.
	Disabled bool
	// Heddle is true if the entry starts heddle itself.
	Heddle bool
	// Unusable says why heddle cannot run it; "" if it can.
	Unusable string
	// Notes are what is worth knowing about how it was read.
	Notes []string
	// Extra are keys of the entry that heddle has no use for.
	Extra []string

	path []string // the keys to it
}

// String returns the name and where it stands, without any value.
func (s Server) String() string {
	if s.Project != "" {
		return fmt.Sprintf("%s (%s, for %s)", s.Name, s.File, s.Project)
	}
	return fmt.Sprintf("%s (%s)", s.Name, s.File)
}

// Same reports whether two entries, whatever their names, start the same thing.
func (s Server) Same(o Server) bool { return s.definition().canon() == o.definition().canon() }

// Read returns the servers of a host's file in its order. A file that is not
// there has none; one that cannot be read or understood is an error, which is an
// [*Error] with the place.
func Read(f File) ([]Server, error) {
	snap, err := load(f.Path)
	if err != nil || !snap.exists {
		return nil, err
	}
	return readServers(f, snap.data)
}

func readServers(f File, data []byte) ([]Server, error) {
	d, err := parse(f.Path, f.Host.dialect.format, data)
	if err != nil {
		return nil, err
	}
	return serversOf(f, d)
}

func serversOf(f File, d *document) ([]Server, error) {
	var out []Server
	for _, shelf := range f.Host.dialect.shelves(d.root) {
		if shelf.node.isNull() {
			continue
		}
		if shelf.node.kind != object {
			return nil, d.errorAt(shelf.node, fmt.Sprintf("%s must be an object, not %s", strings.Join(shelf.path, "."), shelf.node.kind), "correct it by hand")
		}
		for i, m := range shelf.node.members {
			if shelf.node.last(m.key) != i {
				continue // the host reads the later one
			}
			s := Server{Name: m.key, File: f, Project: shelf.project, path: append(slices.Clone(shelf.path), m.key)}
			s.Line, s.Column = place(d.data, m.start)
			if first := slices.IndexFunc(shelf.node.members, func(o member) bool { return o.key == m.key }); first != i {
				s.Notes = append(s.Notes, "the name is there twice; the last one counts")
			}
			e := entry{server: &s, value: m.value, dialect: f.Host.dialect}
			e.read(translator{env: f.env, dialect: f.Host.dialect, project: projectOf(f, shelf)})
			out = append(out, s)
		}
	}
	return out, nil
}

// projectOf returns the directory that a host means by the workspace, "" if that
// depends on where it is started.
func projectOf(f File, s shelf) string {
	if s.project != "" {
		return s.project
	}
	if f.Scope == Project {
		return f.env.Cwd
	}
	return ""
}

// definition is what heddle would run, in one form.
func (s Server) definition() *node {
	n := &node{kind: object}
	add := func(key string, value *node) {
		if value != nil {
			n.with(key, value)
		}
	}
	add("command", optional(s.Command))
	add("args", optionalList(s.Args))
	add("env", optionalMap(s.Env))
	add("env_passthrough", optionalList(s.Passthrough))
	add("cwd", optional(s.Cwd))
	add("url", optional(s.URL))
	if s.URL != "" && s.Type != "remote" {
		add("type", optional(s.Type))
	}
	add("headers", optionalMap(s.Headers))
	if s.Allow != nil || s.Deny != nil {
		tools := &node{kind: object}
		if s.Allow != nil {
			tools.with("allow", list(s.Allow...))
		}
		if s.Deny != nil {
			tools.with("deny", list(s.Deny...))
		}
		add("tools", tools)
	}
	return n
}

func optional(s string) *node {
	if s == "" {
		return nil
	}
	return text(s)
}

func optionalList(items []string) *node {
	if len(items) == 0 {
		return nil
	}
	return list(items...)
}

func optionalMap(m map[string]string) *node {
	if len(m) == 0 {
		return nil
	}
	n := &node{kind: object}
	for _, key := range sortedKeys(m) {
		n.with(key, text(m[key]))
	}
	return n
}

// isHeddle reports whether an entry starts heddle, by any spelling of its name.
func isHeddle(command string, args []string) bool {
	return command != "" && config.IsHeddle(command, args)
}
