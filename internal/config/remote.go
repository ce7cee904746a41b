package config

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// oneWay wants a command or a url, and of the other keys those alone that go with
// it.
func (d serverDecoder) oneWay(f field, path string, s *rawServer) {
	url, command := f.value.get("url") != nil, f.value.get("command") != nil
	switch {
	case url && command:
		d.problem(f.at(), path, "has both command and url; a server has one of them")
		return
	case url:
		d.misplaced(f, path, "url", "args", "env", "cwd", "env_passthrough")
	case command:
		d.misplaced(f, path, "command", "headers", "ca_file")
	case f.value.kind == kindMap || f.value.kind == kindNull:
		d.problem(f.at(), path, "has neither command nor url; give the command that starts the server, or the url of one that runs")
	}
	if n := f.value.get("type"); s.Type != "" {
		switch {
		case url && s.Type == "stdio":
			d.problem(n, join(path, "type"), "stdio is for a server with a command; with a url it is http or sse")
		case command && s.Type != "stdio":
			d.problem(n, join(path, "type"), "%s is for a server with a url; remove the key", s.Type)
		}
	}
	if s.Type == "stdio" {
		s.Type = ""
	}
}

// misplaced reports keys that do not go with the one named has.
func (d serverDecoder) misplaced(f field, path, has string, names ...string) {
	for _, m := range f.value.fields {
		if slices.Contains(names, m.key) {
			d.problem(m.at(), join(path, m.key), "does not go with %s; remove the key", has)
		}
	}
}

// url reads where a server is. With references in it, it is checked once they are
// resolved.
func (d serverDecoder) url(n *node, path string) text {
	if n.kind == kindNull || n.kind == kindString && strings.TrimSpace(n.text) == "" {
		d.problem(n, path, "is empty; give the URL of the server")
		return text{}
	}
	t := d.reference(n, path)
	if t.parts == nil || t.parts.hasRefs() {
		return t
	}
	if why := badURL(t.parts.literal()); why != "" {
		d.problem(n, path, "%s", why)
	}
	return t
}

// badURL says what is wrong with a server's URL, "" if nothing is. It does not
// show the URL, which may hold a secret.
func badURL(s string) string {
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return "is not a URL; write one like https://example.com/mcp"
	case u.User != nil:
		return "holds a user or a password; write them as headers, like headers: {Authorization: \"Basic …\"}"
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return "must be an absolute http or https URL with a host, like https://example.com/mcp"
	}
	return ""
}

// headers reads what is sent with each request to a URL.
func (d serverDecoder) headers(n *node, path string) []envEntry {
	var out []envEntry
	seen := map[string]string{}
	for _, f := range d.fields(n, path) {
		at := join(path, f.key)
		name := http.CanonicalHeaderKey(f.key)
		why := badHeader(f.key)
		if first, ok := seen[name]; ok && why == "" {
			why = "is the same header as " + first
		}
		switch {
		case why != "" && d.host: // the host may need it all the same
			d.warn(f.at(), at, "%s; it is not sent", why)
			continue
		case why != "":
			d.problem(f.at(), at, "%s; remove it", why)
			continue
		}
		seen[name] = f.key
		t := d.reference(f.value, at)
		if badValue(t.parts.literal()) {
			d.problem(f.value, at, "holds a line break or another control character, which no header can carry")
			continue
		}
		out = append(out, envEntry{name, t})
	}
	return out
}

// ownHeaders are set by the protocol, or by HTTP itself.
var ownHeaders = words(`host content-length content-type content-encoding accept accept-encoding transfer-encoding connection
	keep-alive proxy-connection proxy-authorization proxy-authenticate te trailer upgrade expect last-event-id
	mcp-session-id mcp-protocol-version mcp-method mcp-name`)

// badHeader says what is wrong with the name of a header, "" if nothing is.
func badHeader(name string) string {
	for _, c := range name {
		if (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && !strings.ContainsRune("!#$%&'*+-.^_`|~", c) {
			return "is not a possible name of a header"
		}
	}
	low := strings.ToLower(name)
	switch {
	case name == "":
		return "is not a possible name of a header"
	case ownHeaders[low] || strings.HasPrefix(low, "mcp-param-"):
		return "is a header that heddle sets itself"
	}
	return ""
}

// badValue reports whether a header cannot carry s.
func badValue(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}

// idleStop reads a time that may be zero.
func (d values) idleStop(n *node, path string, into *time.Duration) {
	if v, err := parseDuration(n.text); err == nil && v == 0 && (n.kind == kindNumber || n.kind == kindString) {
		*into = 0
		return
	}
	d.duration(n, path, into)
}

// hostType brings what hosts call a type of remote server, in lower case, into
// ours; false if heddle does not know it.
func hostType(kind string) (ours string, ok bool) {
	switch strings.NewReplacer("-", "", "_", "").Replace(kind) {
	case "", "remote":
		return "", true
	case "http", "streamablehttp", "httpstream", "httpstreamable":
		return "http", true
	case "sse":
		return "sse", true
	}
	return "", false
}

// remote resolves what a server with a URL has.
func (r *resolver) remote(raw *rawServer, s *Server, gaps *gaps) {
	s.URL = r.text(raw.url, gaps)
	if gaps.none() {
		if why := badURL(s.URL); why != "" {
			gaps.add("its url " + why)
		}
	}
	s.Headers = map[string]string{}
	for _, h := range raw.headers {
		v := strings.TrimSpace(r.text(h.value, gaps))
		if badValue(v) {
			gaps.add("its header " + h.key + " holds a line break or another control character")
		}
		s.Headers[h.key] = v
	}
	if raw.caFile.at != nil {
		if s.CAFile = r.text(raw.caFile, gaps); s.CAFile != "" {
			s.CAFile = absolute(s.CAFile, r.cfg.Dir, r.env)
		} else if gaps.none() {
			gaps.add("its ca_file is empty")
		}
	}
}
