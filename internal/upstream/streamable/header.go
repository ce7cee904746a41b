package streamable

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"heddle/internal/wire"
)

const (
	sessionHeader = "Mcp-Session-Id"
	versionHeader = "Mcp-Protocol-Version"
	methodHeader  = "Mcp-Method"
	nameHeader    = "Mcp-Name"
	paramHeader   = "Mcp-Param-"

	metaVersion = "io.modelcontextprotocol/protocolVersion"
)

// modernHeader returns the header of a message that stands alone. What routes it
// is repeated there, so that proxies need not read the body; a server refuses a
// header that says something else than the body.
func (l *Link) modernHeader(f *flight) http.Header {
	l.mu.Lock()
	h := l.head.Clone()
	l.mu.Unlock()
	h.Del(sessionHeader)
	h.Set(versionHeader, f.params.version)
	h.Set(methodHeader, encode(f.method))
	switch f.method {
	case "tools/call", "prompts/get", "resources/read":
		if name, ok := wire.Unquote(f.params.name); ok {
			h.Set(nameHeader, encode(name))
			if f.method == "tools/call" {
				l.marks.set(h, name, f.params.arguments)
			}
		}
	}
	return h
}

const (
	encodedStart = "=?base64?"
	encodedEnd   = "?="
)

// encode returns s as it may stand in a header: as it is if it is plain ASCII that
// nobody trims, else in Base64 with a mark around it.
func encode(s string) string {
	if s == "" {
		return s
	}
	plain := s[0] != ' ' && s[len(s)-1] != ' ' && !(strings.HasPrefix(s, encodedStart) && strings.HasSuffix(s, encodedEnd))
	for i := 0; plain && i < len(s); i++ {
		plain = s[i] >= 0x20 && s[i] <= 0x7e
	}
	if plain {
		return s
	}
	return encodedStart + base64.StdEncoding.EncodeToString([]byte(s)) + encodedEnd
}

// encodeValue returns an argument as it stands in a header; false if it is nothing
// that may be repeated there: null, a list, an object, a number that is not whole or that a
// double does not hold exactly.
func encodeValue(v json.RawMessage) (string, bool) {
	switch v[0] {
	case '"':
		s, ok := wire.Unquote(v)
		return encode(s), ok
	case 't', 'f':
		return string(v), true
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		const safe = 1<<53 - 1
		n, err := strconv.ParseFloat(string(v), 64)
		if err != nil || n != math.Trunc(n) || n < -safe || n > safe {
			return "", false
		}
		return strconv.FormatInt(int64(n), 10), true
	}
	return "", false
}

// mark says that an argument is repeated in a header.
type mark struct {
	path   []string // of names of properties
	header string
}

// marks are the marks that tools of the server carry.
type marks struct {
	mu    sync.Mutex
	tools map[string][]mark
}

const markKey = "x-mcp-header"

// learn reads the marks of the tools in an answer to tools/list.
func (m *marks) learn(answer []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.tools) == 0 && !bytes.Contains(answer, []byte(markKey)) {
		return
	}
	list, _ := wire.Elements(wire.Member(wire.Member(answer, "result"), "tools"))
	for _, tool := range list {
		name, ok := wire.Unquote(wire.Member(tool, "name"))
		if !ok {
			continue
		}
		delete(m.tools, name)
		if !bytes.Contains(tool, []byte(markKey)) {
			continue
		}
		if found, ok := marksOf(tool); ok && len(found) > 0 {
			if m.tools == nil {
				m.tools = map[string][]mark{}
			}
			m.tools[name] = found
		}
	}
}

// set adds the headers that a call of the tool needs.
func (m *marks) set(h http.Header, tool string, arguments json.RawMessage) {
	m.mu.Lock()
	list := m.tools[tool] // replaced, never changed
	m.mu.Unlock()
	for _, k := range list {
		v := arguments
		for _, name := range k.path {
			if v = wire.Member(v, name); v == nil {
				break
			}
		}
		if v == nil {
			continue
		}
		if text, ok := encodeValue(v); ok {
			h.Set(paramHeader+k.header, text)
		}
	}
}

// marksOf returns the marks of a tool; false if one of them breaks the rules, and
// then none counts, because a server does not accept half of them either.
func marksOf(tool json.RawMessage) ([]mark, bool) {
	c := &markReader{seen: map[string]bool{}, ok: true}
	c.properties(wire.Member(wire.Member(tool, "inputSchema"), "properties"), nil)
	return c.found, c.ok
}

type markReader struct {
	found []mark
	seen  map[string]bool // headers in lower case
	ok    bool
}

// maxNesting bounds how deep properties are followed.
const maxNesting = 64

func (c *markReader) properties(list json.RawMessage, above []string) {
	if len(list) == 0 || list[0] != '{' || len(above) >= maxNesting || !bytes.Contains(list, []byte(markKey)) {
		return
	}
	_ = wire.Members(list, func(name string, property json.RawMessage) bool { // it is part of valid JSON
		if property[0] != '{' {
			return true
		}
		path := append(above[:len(above):len(above)], name)
		if v := wire.Member(property, markKey); v != nil {
			c.mark(v, property, path)
		}
		c.properties(wire.Member(property, "properties"), path)
		return c.ok
	})
}

func (c *markReader) mark(v, property json.RawMessage, path []string) {
	header, ok := wire.Unquote(v)
	kind, _ := wire.Unquote(wire.Member(property, "type"))
	fits := kind == "string" || kind == "integer" || kind == "boolean"
	low := strings.ToLower(header)
	if !ok || !fits || !isToken(header) || c.seen[low] {
		c.ok = false
		return
	}
	c.seen[low] = true
	c.found = append(c.found, mark{path, header})
}

// isToken reports whether s may be the name of a header.
func isToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && strings.IndexByte("!#$%&'*+-.^_`|~", c) < 0 {
			return false
		}
	}
	return s != ""
}
