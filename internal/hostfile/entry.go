package hostfile

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Reasons why a server stays with its host.
const (
	noStart     = "it has no command and no url"
	noURL       = "it has no url"
	noKind      = "heddle does not know its type"
	noObject    = "it is not an object"
	isExtension = "it belongs to an extension of the host, which alone can start it"
	bothWays    = "it has both a command and a url"
)

// loopback is a URL of this machine. A server of heddle's name there is
// `heddle serve`.
var loopback = regexp.MustCompile(`^https?://(?:localhost|127\.[0-9.]+|\[::1\])(?:[:/]|$)`)

// entry reads one server. The hosts' dialects share most of their words and give
// none of them two meanings, so that one reader serves all.
type entry struct {
	server  *Server
	value   *node
	dialect *dialect
	known   map[string]bool
}

// take returns the value of the first of keys that is there and not null.
func (e *entry) take(n *node, keys ...string) *node {
	var found *node
	for _, key := range keys {
		e.known[key] = true
		if v := n.get(key); found == nil && !v.isNull() {
			found = v
		}
	}
	return found
}

func (e *entry) read(t translator) {
	s := e.server
	e.known = map[string]bool{}
	if e.value.kind != object {
		s.Unusable = noObject
		return
	}
	t.server = s
	e.switches()
	n := e.value
	if inner := e.take(n, "transport"); inner != nil && inner.kind == object { // Cline
		n = inner
	}
	kind := e.word(e.take(n, "type", "transportType"))
	command, args := e.command(n)
	url, urlKey := e.url(n)
	switch {
	case e.word(e.take(n, "source")) == "extension":
		s.Unusable = isExtension
	case command != "" && url != nil && kind == "":
		s.Unusable = bothWays
	case url != nil && (command == "" || remote(kind)):
		e.remote(t, n, kind, url, urlKey)
	case remote(kind):
		s.Unusable = noURL
	case command == "":
		s.Unusable = noStart
	default:
		e.local(t, n, command, args)
	}
	e.extra()
}

// switches reads what turns the server or its tools off.
func (e *entry) switches() {
	s := e.server
	s.Disabled = e.take(e.value, "disabled").isTrue() || e.take(e.value, "enabled").isFalse()
	s.Allow = stringsOf(e.take(e.value, "includeTools", "enabled_tools", "tools"))
	s.Deny = stringsOf(e.take(e.value, "excludeTools", "disabled_tools", "disabledTools"))
	if slices.Contains(s.Allow, "*") {
		s.Allow = nil
	}
}

// command returns what is started: a string, a list (OpenCode) or an object with
// a path (Zed of old).
func (e *entry) command(n *node) (string, []string) {
	c := e.take(n, "command")
	args := stringsOf(e.take(n, "args"))
	switch {
	case c == nil:
		return "", nil
	case c.kind == array:
		if all := stringsOf(c); len(all) > 0 {
			return all[0], all[1:]
		}
		return "", nil
	case c.kind == object:
		if path := c.get("path"); path != nil {
			return path.text, stringsOf(c.get("args"))
		}
		return "", nil
	}
	return c.text, args
}

// url returns where a server is, and the key that says so.
func (e *entry) url(n *node) (url *node, key string) {
	for _, k := range []string{"httpUrl", "serverUrl", "url"} {
		if v := e.take(n, k); v != nil && v.kind == str && url == nil {
			url, key = v, k
		}
	}
	return url, key
}

// local reads a server that the host starts.
func (e *entry) local(t translator, n *node, command string, args []string) {
	s := e.server
	s.Heddle = isHeddle(command, args)
	if command, args = unwrap(command, args); isHeddle(command, args) {
		s.Heddle = true
	}
	s.Type = "stdio"
	s.Command = t.text("command", command)
	for _, arg := range args {
		s.Args = append(s.Args, t.text("args", arg))
	}
	env := e.take(n, "env", "environment")
	if c := n.get("command"); env == nil && c != nil && c.kind == object {
		env = c.get("env")
	}
	s.Env = t.texts("env", env)
	for _, v := range itemsOf(e.take(n, "env_vars", "envPassthrough")) { // names, or as in Codex objects with one
		if v.kind == object {
			v = v.get("name")
		}
		if v != nil && v.text != "" {
			s.Passthrough = append(s.Passthrough, v.text)
		}
	}
	if cwd := e.take(n, "cwd"); cwd != nil {
		s.Cwd = t.text("cwd", cwd.text)
		if e.dialect == claudeCode {
			s.Notes = append(s.Notes, "its host starts it in the project's directory and does not look at cwd; heddle does")
		}
	}
}

// remote reads a server that is reached by a URL.
func (e *entry) remote(t translator, n *node, kind string, url *node, key string) {
	s := e.server
	switch {
	case kind == "sse", kind == "" && key == "url" && e.dialect.bareURL == "sse":
		s.Type = "sse"
	case strings.Contains(kind, "http"), kind == "" && (key == "httpUrl" || e.dialect == codex):
		s.Type = "http"
	case kind == "", kind == "remote":
		s.Type = "remote"
	default:
		s.Unusable = noKind
		return
	}
	s.URL = t.text("url", url.text)
	s.Heddle = s.Name == "heddle" && loopback.MatchString(s.URL)
	s.Headers = t.texts("headers", e.take(n, "headers", "http_headers"))
	add := func(name, value string) {
		if s.Headers == nil {
			s.Headers = map[string]string{}
		}
		s.Headers[name] = value
	}
	if v := e.take(n, "bearer_token_env_var"); v != nil {
		add("Authorization", "Bearer ${"+v.text+"}")
	}
	if v := e.take(n, "env_http_headers"); v != nil {
		for _, m := range v.members {
			add(m.key, "${"+m.value.text+"}")
		}
	}
}

// extra notes the keys that nothing above asked for.
func (e *entry) extra() {
	for _, m := range e.value.members {
		if !e.known[m.key] && !slices.Contains(e.server.Extra, m.key) {
			e.server.Extra = append(e.server.Extra, m.key)
		}
	}
}

func (e *entry) word(n *node) string {
	if n == nil || n.kind != str {
		return ""
	}
	return strings.ToLower(n.text)
}

// remote reports whether a host means a server behind a URL by this type.
func remote(kind string) bool {
	return kind == "sse" || kind == "remote" || kind == "ws" || strings.Contains(kind, "http")
}

// unwrap takes off the "cmd /c" that hosts need on Windows and heddle does not.
func unwrap(command string, args []string) (string, []string) {
	name := strings.ToLower(command[strings.LastIndexAny(command, `/\`)+1:])
	shell := strings.TrimSuffix(name, ".exe") == "cmd"
	if shell && len(args) > 1 && strings.EqualFold(args[0], "/c") && !strings.Contains(args[1], " ") {
		return args[1], args[2:]
	}
	return command, args
}

func itemsOf(n *node) []*node {
	if n == nil || n.kind != array {
		return nil
	}
	return n.items
}

// stringsOf returns the texts of a list; nil if n is none.
func stringsOf(n *node) []string {
	if n == nil || n.kind != array {
		return nil
	}
	out := []string{}
	for _, item := range n.items {
		if item.kind == str || item.kind == scalar {
			out = append(out, item.text)
		}
	}
	return out
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
