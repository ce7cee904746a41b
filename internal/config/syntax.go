package config

import (
	"bytes"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

// syntax turns a file's bytes into a tree of nodes.
type syntax struct{ *report }

// parse returns the file's root and its form, nil after reporting a problem. The
// form follows from the name where that is clear, else from the contents.
func (d syntax) parse(data []byte) (*node, string) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		d.problem(nil, "", "is UTF-16; save it as UTF-8")
		return nil, ""
	}
	if !utf8.Valid(data) {
		d.problem(invalidUTF8(data), "", "is not valid UTF-8")
		return nil, ""
	}
	switch ext := strings.ToLower(filepath.Ext(d.file)); {
	case ext == ".toml" || ext != ".json" && looksTOML(data):
		return d.parseTOML(data), formHost
	case ext == ".yml" || ext == ".yaml":
		return d.parseYAML(data), formHeddle
	case ext == ".json" || ext == ".jsonc" || ext == ".json5" || looksJSON(data):
		return d.jsonRoot(data)
	}
	return d.parseYAML(data), formHeddle
}

func invalidUTF8(data []byte) *node {
	line, col := 1, 1
	for len(data) > 0 {
		r, n := utf8.DecodeRune(data)
		if r == utf8.RuneError && n == 1 {
			break
		}
		col++
		if r == '\n' {
			line, col = line+1, 1
		}
		data = data[n:]
	}
	return &node{line: line, col: col}
}

var tomlHeader = regexp.MustCompile(`(?m)^\s*\[mcp_servers[.\]]`)

func looksTOML(data []byte) bool { return tomlHeader.Match(data) }

// looksJSON reports whether data begins with an object, perhaps after comments.
func looksJSON(data []byte) bool {
	data = bytes.TrimSpace(data)
	return bytes.HasPrefix(data, []byte("{")) || bytes.HasPrefix(data, []byte("//")) || bytes.HasPrefix(data, []byte("/*"))
}

// jsonRoot parses JSON. With a version and without mcpServers it is heddle.yml
// written as JSON, and held to the same rules: its deny lists must not be
// ignored as some host's foreign keys.
func (d syntax) jsonRoot(data []byte) (*node, string) {
	v, ok := d.parseJSON(data)
	if !ok {
		return nil, ""
	}
	r := &jsonReader{d: d, data: data, lines: lineStarts(data)}
	form := formHost
	if obj, ok := v.Value.(*hujson.Object); ok && isHeddleJSON(obj) {
		form, r.strict = formHeddle, true
	} else {
		r.only = words(strings.Join(hostKeys, " ") + " " + loomSettings)
	}
	return r.node(v, ""), form
}

func isHeddleJSON(obj *hujson.Object) bool {
	version := false
	for _, m := range obj.Members {
		switch m.Name.Value.(hujson.Literal).String() {
		case "mcpServers":
			return false
		case "version":
			version = m.Value.Value.Kind() == '0' && string(m.Value.Value.(hujson.Literal)) == "2"
		}
	}
	return version
}
