package config

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// rawServer is a server with its references unresolved.
type rawServer struct {
	Server
	at      *node // the key
	path    string
	command text
	args    []text
	env     []envEntry
	cwd     text
	url     text
	headers []envEntry
	caFile  text
}

// text is one value that may hold references.
type text struct {
	at   *node
	path string
	// parts is nil for an absent value.
	parts template
}

type envEntry struct {
	key   string
	value text
}

// newServer returns a server with the values of absent keys.
func newServer(f field, path string) *rawServer {
	return &rawServer{at: f.at(), path: path, Server: Server{
		Original:     f.key,
		StartTimeout: 120 * time.Second, Timeout: 300 * time.Second, MaxTimeout: 30 * time.Minute,
		MaxConcurrency: 16,
	}}
}

// serverDecoder reads servers of either form.
type serverDecoder struct {
	values
	// host says that the file is a host's, with its forms of references.
	host bool
}

// servers reads the servers of heddle.yml.
func (d *heddleDecoder) servers(n *node, path string) {
	if n.kind == kindList {
		d.problem(n, path, "must be a mapping from names to servers, not a list")
		d.hint("write the name as a key: servers: {github: {command: npx, args: [...]}}")
		return
	}
	names := map[string]string{}
	for _, f := range d.fields(n, path) {
		at := join(path, f.key)
		s := newServer(f, at)
		s.Name = d.serverName(f, at, names)
		d.server(f, at, s)
		d.raw = append(d.raw, s)
	}
}

// serverName normalises a name of heddle.yml and refuses what would be
// ambiguous. names maps normalised to original ones.
func (d *heddleDecoder) serverName(f field, path string, names map[string]string) string {
	name := Normalise(f.key)
	first, taken := names[name]
	switch {
	case name == "":
		d.problem(f.at(), path, "the name has no letter or digit of a-z, 0-9; rename the server")
	case reserved[name]:
		d.problem(f.at(), path, "the name %q is reserved; rename the server", name)
	case taken:
		d.problem(f.at(), path, "%q and %q both become %q; rename one of them", first, f.key, name)
	case name != f.key:
		d.warn(f.at(), path, "the server is called %q in tool names and patterns", name)
	}
	if !taken {
		names[name] = f.key
	}
	return name
}

// server reads one server of heddle.yml.
func (d serverDecoder) server(f field, path string, s *rawServer) {
	before := len(d.problems)
	d.section(f.value, path, keys{
		"command":         func(n *node, path string) { s.command = d.command(n, path) },
		"args":            func(n *node, path string) { s.args = d.args(n, path) },
		"env":             func(n *node, path string) { s.env = d.environment(n, path) },
		"cwd":             func(n *node, path string) { s.cwd = d.reference(n, path) },
		"env_passthrough": func(n *node, path string) { s.EnvPassthrough = d.passthrough(n, path) },
		"url":             func(n *node, path string) { s.url = d.url(n, path) },
		"headers":         func(n *node, path string) { s.headers = d.headers(n, path) },
		"ca_file":         func(n *node, path string) { s.caFile = d.reference(n, path) },
		"start":           func(n *node, path string) { d.oneOf(n, path, &s.Start, "lazy", "eager") },
		"type":            func(n *node, path string) { d.oneOf(n, path, &s.Type, "http", "sse", "stdio") },
		"start_timeout":   d.time(&s.StartTimeout),
		"timeout":         d.time(&s.Timeout),
		"max_timeout":     d.time(&s.MaxTimeout),
		"idle_stop":       func(n *node, path string) { d.idleStop(n, path, &s.IdleStop) },
		"max_concurrency": func(n *node, path string) { d.integer(n, path, &s.MaxConcurrency, 1, 100_000) },
		"disabled":        func(n *node, path string) { d.boolean(n, path, &s.Disabled) },
		"tools":           d.serverTools(&s.Tools),
		"provenance_denylist": func(n *node, path string) {
			for _, item := range d.strings(n, path) {
				s.ProvenanceDenylist = append(s.ProvenanceDenylist, item.text)
			}
		},
		"allow_private_hosts": d.hosts(&s.AllowPrivateHosts, privateHost),
	})
	d.oneWay(f, path, s)
	if s.Timeout > s.MaxTimeout && !d.wrong(before, join(path, "timeout"), join(path, "max_timeout")) {
		d.timeouts(f, path, s)
	}
}

// wrong reports whether one of fields has a problem after the first n.
func (r *report) wrong(n int, fields ...string) bool {
	return slices.ContainsFunc(r.problems[n:], func(p Problem) bool { return slices.Contains(fields, p.Field) })
}

// timeouts reports a timeout above the maximum, at the key that was written.
func (d serverDecoder) timeouts(f field, path string, s *rawServer) {
	at, key := f.value.get("timeout"), "timeout"
	if at == nil {
		at, key = f.value.get("max_timeout"), "max_timeout"
	}
	d.problem(at, join(path, key), "timeout (%s) is longer than max_timeout (%s)", s.Timeout, s.MaxTimeout)
	d.hint("set max_timeout to at least %s", s.Timeout)
}

// command reads what starts the server.
func (d serverDecoder) command(n *node, path string) text {
	if n.kind == kindList {
		d.problem(n, path, "must be text, not a list; the rest of the list belongs into args")
		return text{}
	}
	if n.kind == kindNull || n.kind == kindString && strings.TrimSpace(n.text) == "" {
		d.problem(n, path, "is empty; give the command that starts the server")
		return text{}
	}
	return d.reference(n, path)
}

func (d serverDecoder) args(n *node, path string) []text {
	if n.kind == kindNull {
		return nil
	}
	var out []text
	for i, item := range d.strings(n, path) {
		out = append(out, d.reference(item, fmt.Sprintf("%s[%d]", path, i)))
	}
	return out
}

func (d serverDecoder) environment(n *node, path string) []envEntry {
	var out []envEntry
	for _, f := range d.fields(n, path) {
		at := join(path, f.key)
		if f.key == "" || strings.ContainsAny(f.key, "=\x00") {
			d.problem(f.at(), at, "is not a possible name of a variable")
			continue
		}
		out = append(out, envEntry{f.key, d.reference(f.value, at)})
	}
	return out
}

// passthrough reads names of variables. Patterns are refused: they would pass on
// more than was thought of.
func (d serverDecoder) passthrough(n *node, path string) []string {
	if n.kind == kindNull {
		return nil
	}
	var out []string
	for i, item := range d.strings(n, path) {
		at := fmt.Sprintf("%s[%d]", path, i)
		switch {
		case strings.ContainsAny(item.text, "*?["):
			d.problem(item, at, "patterns are not read here; name each variable")
		case item.text == "" || strings.ContainsAny(item.text, "=${} \t\r\n"):
			d.problem(item, at, "must be the name of a variable, without its value")
		default:
			out = append(out, item.text)
		}
	}
	return out
}

// reference reads a text that may hold references. In a host's file a malformed
// one stays as it is, as it does for the host.
func (d serverDecoder) reference(n *node, path string) text {
	if !d.isText(n, path) {
		return text{}
	}
	parts, err := parseTemplate(n.text, d.host)
	switch {
	case err != nil && d.host:
		d.warn(n, path, "%v; it is passed as written", err)
		parts = template{{literal: n.text}}
	case err != nil:
		d.problem(n, path, "%v", err)
		d.hint("write $$ for a literal $")
	}
	return text{at: n, path: path, parts: parts}
}
