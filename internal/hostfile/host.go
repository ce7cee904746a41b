package hostfile

import (
	"fmt"
	"slices"
	"strings"
)

// Scope says for whom a host's file counts.
type Scope string

// The scopes.
const (
	// User is a file for all that a user does.
	User Scope = "user"
	// Project is a file for one directory.
	Project Scope = "project"
)

// Mode is a set of tools that a host sees, as `heddle start --mode` names it.
type Mode string

// The modes.
const (
	Native  Mode = "native"
	Compact Mode = "compact"
	Extreme Mode = "extreme"
	Mesh    Mode = "mesh"
	Loom    Mode = "loom"
)

var modes = []Mode{Native, Compact, Extreme, Mesh, Loom}

// Host is a program that starts MCP servers. The values are in the table of
// hosts; nothing changes them.
type Host struct {
	// Name is what `--host` takes.
	Name string
	// Title is the name for people.
	Title string
	// Mode is the default mode.
	Mode Mode
	// After is what the user does after a change for the host to see it; "" if that
	// is nothing.
	After string
	// Window is true for a host that is opened from a window, and has not what a
	// shell would have given it.
	Window bool

	dialect *dialect
	// places are its files; the first of a scope is the one that is written to.
	places []location
	// refuses says why a mode is not offered.
	refuses map[Mode]string
	// approve tells what a server needs before the host starts it; nil if that is
	// nothing.
	approve func(env Env, scope Scope, name string) (approval, error)
	// restricts returns what its settings say against tools; nil where that is not
	// known. toolNames are what it puts before a tool's name, with SERVER for the
	// server's.
	restricts func(env Env) ([]rule, error)
	toolNames []string
}

// location is where a host has a file.
type location struct {
	scope Scope
	path  func(Env) string
	// other is true for a file that is read, and written only if it is there.
	other bool
}

// File is a host's file, whether or not it is there.
type File struct {
	Host  *Host
	Scope Scope
	// Path is absolute, as the host has it: a link is not followed.
	Path string
	env  Env
}

// Written reports whether an install would write to it, and not to another file of the
// host's and scope.
func (f File) Written() bool {
	files := f.Host.Files(f.env, f.Scope)
	return len(files) > 0 && files[0].Path == f.Path
}

// String returns "Cursor, /home/u/.cursor/mcp.json".
func (f File) String() string { return f.Host.Title + ", " + f.Path }

// Hosts returns all hosts, by name.
func Hosts() []*Host { return slices.Clone(table()) }

// Lookup returns the host of that name or title, in any case.
func Lookup(name string) (*Host, error) {
	var names []string
	for _, h := range table() {
		if strings.EqualFold(name, h.Name) || strings.EqualFold(name, h.Title) {
			return h, nil
		}
		names = append(names, h.Name)
	}
	return nil, &Error{Message: fmt.Sprintf("heddle knows no host %q", name), Hint: "the hosts are " + strings.Join(names, ", ")}
}

// Scopes returns the scopes that the host has, the default first: a project's
// file, where there is one, leaves all other projects alone.
func (h *Host) Scopes() []Scope {
	var out []Scope
	for _, scope := range []Scope{Project, User} {
		if slices.ContainsFunc(h.places, func(l location) bool { return l.scope == scope }) {
			out = append(out, scope)
		}
	}
	return out
}

// Files returns the files of a scope that the host reads on that machine, first
// the one that a change would be made in.
func (h *Host) Files(env Env, scope Scope) []File {
	var out []File
	for _, l := range h.places {
		if l.scope == scope {
			f := File{Host: h, Scope: scope, Path: l.path(env), env: env}
			if l.other && len(out) > 0 && exists(f.Path) && !exists(out[0].Path) {
				out = append([]File{f}, out...)
				continue
			}
			out = append(out, f)
		}
	}
	return out
}

// CheckMode returns the mode to use, the host's default for "", or an error that
// says why the host does not get that one.
func (h *Host) CheckMode(mode Mode) (Mode, error) {
	if mode == "" {
		return h.Mode, nil
	}
	if !slices.Contains(modes, mode) {
		return "", &Error{Message: fmt.Sprintf("there is no mode %q", string(mode)), Hint: "the modes are native, compact, extreme, mesh and loom"}
	}
	if why := h.refuses[mode]; why != "" {
		return "", &Error{Message: fmt.Sprintf("mode %s is not for %s: %s", mode, h.Title, why), Hint: "use --mode " + string(h.Mode)}
	}
	return mode, nil
}

// checkScope returns the scope to use, the host's default for "".
func (h *Host) checkScope(scope Scope) (Scope, error) {
	scopes := h.Scopes()
	switch {
	case scope == "":
		return scopes[0], nil
	case slices.Contains(scopes, scope):
		return scope, nil
	case scope == Project:
		return "", &Error{Message: h.Title + " has no file for a project", Hint: "use --scope user"}
	case scope == User:
		return "", &Error{Message: h.Title + " has no file for a user", Hint: "use --scope project"}
	}
	return "", &Error{Message: fmt.Sprintf("there is no scope %q", string(scope)), Hint: "the scopes are user and project"}
}

// All returns every file that a host would read on that machine, whether or not
// it is there.
func All(env Env) []File {
	var out []File
	for _, h := range table() {
		for _, scope := range []Scope{User, Project} {
			if scope == User && env.Home == "" || scope == Project && env.Cwd == "" {
				continue
			}
			out = append(out, h.Files(env, scope)...)
		}
	}
	return out
}

// Find returns the files that are there, also those that cannot be read: what a
// host may have in them is not nothing.
func Find(env Env) []File {
	seen := map[string]bool{}
	return slices.DeleteFunc(All(env), func(f File) bool {
		again := seen[f.Path]
		seen[f.Path] = true
		return again || !exists(f.Path)
	})
}
