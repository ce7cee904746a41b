package config

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Profile is a named part of a configuration, for one host or one project. It
// only takes away: what the file does not allow, no profile does.
type Profile struct {
	Name string
	// Servers are the names of those that it has, as Server.Name has them. Nil means
	// all, a non-nil empty list none.
	Servers []string
	// Tools are lists that a tool must pass besides those of the file.
	Tools Tools
}

// ProfileError says that a file has no profile of a name.
type ProfileError struct {
	Name, Path string
	// Known are the names of those that it has.
	Known []string
}

// Error names the profiles that there are.
func (e *ProfileError) Error() string {
	if len(e.Known) == 0 {
		return fmt.Sprintf("there is no profile %q: %s has no profiles", e.Name, e.Path)
	}
	return fmt.Sprintf("there is no profile %q in %s; it has %s", e.Name, e.Path, strings.Join(e.Known, ", "))
}

// WithProfile returns the configuration as that profile leaves it. A name that
// the file does not have, in just these letters, is a [*ProfileError], never
// everything.
func (c *Config) WithProfile(name string) (*Config, error) {
	e := &ProfileError{Name: name, Path: c.Path}
	for _, p := range c.Profiles {
		if p.Name != name {
			e.Known = append(e.Known, p.Name)
			continue
		}
		out := *c
		out.Profile = &p
		if p.Servers != nil {
			out.Servers = slices.DeleteFunc(slices.Clone(c.Servers), func(s Server) bool { return !slices.Contains(p.Servers, s.Name) })
		}
		return &out, nil
	}
	return nil, e
}

var profileName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`)

// profiles reads the section. Which servers there are is not known yet.
func (d *heddleDecoder) profiles(n *node, path string) {
	for _, f := range d.fields(n, path) {
		at := join(path, f.key)
		if !profileName.MatchString(f.key) {
			d.problem(f.at(), at, "a profile's name has letters, digits, dots and dashes; rename it")
		}
		p := Profile{Name: f.key}
		before := len(d.problems)
		d.section(f.value, at, keys{
			"servers": func(n *node, path string) {
				if n.kind == kindNull {
					d.problem(n, path, "has no value; write [] for none, or remove the key")
					return
				}
				p.Servers = []string{}
				for i, item := range d.strings(n, path) {
					p.Servers = append(p.Servers, Normalise(item.text))
					d.named = append(d.named, text{at: item, path: indexed(path, i)})
				}
			},
			"tools": d.serverTools(&p.Tools),
		})
		if p.Servers == nil && p.Tools.Allow == nil && p.Tools.Deny == nil && len(d.problems) == before {
			d.warn(f.at(), at, "takes nothing away: all servers and tools are in it")
		}
		d.cfg.Profiles = append(d.cfg.Profiles, p)
	}
}

// knownServers refuses profiles with servers that the file does not have.
func (d *heddleDecoder) knownServers() {
	var names []string
	for _, s := range d.raw {
		names = append(names, s.Name)
	}
	for _, t := range d.named {
		switch near := nearest(t.at.text, slices.Clone(names)); {
		case slices.Contains(names, Normalise(t.at.text)):
		case near != "":
			d.problem(t.at, t.path, "there is no server %q; did you mean %q?", t.at.text, near)
		default:
			d.problem(t.at, t.path, "there is no server %q", t.at.text)
		}
	}
}
