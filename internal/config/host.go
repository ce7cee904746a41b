package config

import (
	"maps"
	"strings"
)

const (
	noKind  = "heddle does not know its type"
	noURL   = "it has no url"
	noStart = "it has no command and no url"
)

// hostDecoder reads a host's own file.
type hostDecoder struct {
	serverDecoder
	cfg *Config
}

// hostKeys are where hosts keep their servers. The first that is there counts.
var hostKeys = []string{"mcpServers", "servers", "mcp_servers"}

// hostFile reads the servers of a host's own file. All that heddle does not know
// in it belongs to the host and is left alone.
func (d hostDecoder) hostFile(root *node) []*rawServer {
	if root.kind != kindMap {
		d.problem(root, "", "must be an object with mcpServers or servers, not %s", root.kind)
		return nil
	}
	for _, key := range []string{"tools", "ssrf", "rate_limit", "injection_detection"} {
		if n := root.get(key); n != nil {
			d.warn(n, key, "is not read in a host's file; write \"version\": 2 and \"servers\" to make this a configuration of heddle")
		}
	}
	var n *node
	key := ""
	for _, k := range hostKeys {
		switch found := root.get(k); {
		case found == nil:
		case n == nil:
			n, key = found, k
		default:
			d.warn(found, k, "is not read, because there is %s", key)
		}
	}
	switch {
	case n == nil:
		d.problem(nil, "", "has none of %s", strings.Join(hostKeys, ", "))
		return nil
	case n.kind == kindList:
		return d.loom(root, n, key)
	}
	return d.hostServers(n, key)
}

// hostServers reads each entry. A name that needs no change is never taken by
// one that does.
func (d hostDecoder) hostServers(n *node, path string) []*rawServer {
	var out []*rawServer
	fields := d.fields(n, path)
	taken := map[string]bool{}
	for _, f := range fields {
		taken[f.key] = Normalise(f.key) == f.key && !reserved[f.key]
	}
	for _, f := range fields {
		at := join(path, f.key)
		s := newServer(f, at)
		if s.Name = f.key; !taken[f.key] {
			name := Normalise(f.key)
			if name == "" {
				name = "server"
			}
			s.Name = unique(name, func(n string) bool { return taken[n] || reserved[n] })
			taken[s.Name] = true
			d.warn(f.at(), at, "the server is called %q in tool names and patterns", s.Name)
		}
		d.hostServer(f, at, s)
		out = append(out, s)
	}
	return out
}

// hostServer reads one entry. What heddle cannot run is not wrong: it is left
// out with a warning, and the others work.
func (d serverDecoder) hostServer(f field, path string, s *rawServer) {
	kind, enabled := "", true
	known := keys{
		"command":  func(n *node, path string) { s.command = d.command(n, path) },
		"args":     func(n *node, path string) { s.args = d.args(n, path) },
		"env":      func(n *node, path string) { s.env = d.environment(n, path) },
		"cwd":      func(n *node, path string) { s.cwd = d.reference(n, path) },
		"headers":  func(n *node, path string) { s.headers = d.headers(n, path) },
		"disabled": func(n *node, path string) { d.boolean(n, path, &s.Disabled) },
		"enabled":  func(n *node, path string) { d.boolean(n, path, &enabled) },
		"type":     func(n *node, _ string) { kind = strings.ToLower(n.text) },
	}
	maps.Copy(known, d.loomKeys(s))
	maps.Copy(known, d.codexKeys(s))
	for _, member := range d.fields(f.value, path) {
		if read, ok := known[member.key]; ok && member.value.kind != kindNull {
			read(member.value, join(path, member.key))
		}
	}
	s.Disabled = s.Disabled || !enabled
	url, key := hostURL(f.value)
	command := f.value.get("command") != nil && f.value.get("command").kind != kindNull
	switch {
	case url != nil && command && kind == "":
		d.problem(f.at(), path, "has both command and url; a server has one of them")
	case url != nil && (!command || isHTTP(kind)):
		d.hostRemote(url, join(path, key), kind, s)
	case isHTTP(kind):
		s.Unusable = noURL
	case !command:
		s.Unusable = noStart
	default:
		s.headers = nil
	}
	if s.Unusable != "" { // such servers stay with their host, which is nothing to mend
		s.Disabled = true
		d.warn(f.at(), path, "is skipped: %s", s.Unusable)
	}
}

// hostURL returns the URL of an entry and its key, nil if there is none.
func hostURL(entry *node) (*node, string) {
	for _, key := range []string{"httpUrl", "url", "serverUrl"} {
		if n := entry.get(key); n != nil && n.kind != kindNull {
			return n, key
		}
	}
	return nil, ""
}

// hostRemote reads where a host's entry finds its server.
func (d serverDecoder) hostRemote(n *node, path, kind string, s *rawServer) {
	s.command, s.args, s.env, s.cwd = text{}, nil, nil, text{}
	var known bool
	if s.Type, known = hostType(kind); !known {
		s.Unusable = noKind
		return
	}
	s.url = d.reference(n, path)
	if s.url.at == nil || s.url.parts.hasRefs() {
		return
	}
	if why := badURL(s.url.parts.literal()); why != "" {
		s.Unusable = "its url " + why
	}
}

// isHTTP reports whether a host means a remote server by this type.
func isHTTP(kind string) bool {
	return kind == "sse" || kind == "remote" || kind == "ws" || strings.Contains(kind, "http")
}
