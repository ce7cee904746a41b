package hostfile

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
)

// inline reports whether n is a table between braces, which can only be edited
// between them.
func inline(n *node) bool { return n.kind == object && n.end > 0 }

// addTOML puts value at path: into the braces that hold it, or as a table of its
// own at the end of the file, where it cannot take keys from another.
func (d *document) addTOML(path []string, value *node, holder *node) (*document, error) {
	if inline(holder) {
		if err := d.editable(holder); err != nil {
			return nil, err
		}
		key := path[len(path)-1]
		item := tomlKey(key) + " = " + tomlInline(value)
		return d.splice(tomlSequence(d.data, holder).insert(len(holder.members), func(string) string { return item }))
	}
	return d.appendTOML(tomlTable(path, value))
}

// editable refuses braces with dotted keys, whose parts are not in one place.
func (d *document) editable(holder *node) error {
	for _, m := range holder.members {
		if m.value.end <= 0 {
			return at(d.path, d.data, m.start, "dotted keys between braces are not edited", "write each server as a table: [mcp_servers.NAME]")
		}
	}
	return nil
}

// appendTOML puts lines at the end, after an empty one.
func (d *document) appendTOML(lines string) (*document, error) {
	newline := "\n"
	if bytes.Contains(d.data, []byte("\r\n")) {
		newline = "\r\n"
	}
	var gap string
	switch body := bytes.TrimPrefix(d.data, []byte(bom)); {
	case len(bytes.TrimSpace(body)) == 0:
	case !bytes.HasSuffix(body, []byte("\n")):
		gap = newline + newline
	case !bytes.HasSuffix(body, []byte(newline+newline)):
		gap = newline
	}
	lines = strings.ReplaceAll(strings.ReplaceAll(lines, "\r\n", "\n"), "\n", newline)
	return d.splice(slices.Concat(d.data, []byte(gap+lines)))
}

// cutTOML removes the lines of the entry, and returns them as a table.
func (d *document) cutTOML(path []string, holder *node, i int) (data []byte, raw string, err error) {
	value := holder.members[i].value
	if inline(holder) {
		if err := d.editable(holder); err != nil {
			return nil, "", err
		}
		return tomlSequence(d.data, holder).remove(i), tomlTable(path, value), nil
	}
	var splices []splice
	tables := true // whether the lines mean the same anywhere
	var text strings.Builder
	for _, run := range d.runs(path) {
		tables = tables && run.header
		text.Write(d.data[run.start:run.end])
		splices = append(splices, splice{span: d.blankAfter(run.span)})
	}
	raw = text.String()
	if !strings.HasSuffix(raw, "\n") {
		raw += "\n"
	}
	if !tables {
		raw = tomlTable(path, value)
	}
	return apply(d.data, splices...), raw, nil
}

type run struct {
	span
	header bool
}

// runs returns the whole lines of the expressions at and below path, those in a
// row as one.
func (d *document) runs(path []string) []run {
	var out []run
	before := false
	for _, x := range d.toml.expressions {
		below := len(x.path) >= len(path) && slices.Equal(x.path[:len(path)], path)
		if below {
			end := lineOf(d.data, x.end)
			if next := bytes.IndexByte(d.data[end:], '\n'); next >= 0 {
				end += next + 1
			}
			if before {
				out[len(out)-1].end = end
			} else {
				start := bytes.LastIndexByte(d.data[:x.start], '\n') + 1
				if start == 0 && bytes.HasPrefix(d.data, []byte(bom)) {
					start = len(bom)
				}
				out = append(out, run{span{start, end}, x.header})
			}
		}
		before = below
	}
	return out
}

// blankAfter widens s over the empty lines that follow, so that no two gaps meet.
func (d *document) blankAfter(s span) span {
	for s.end < len(d.data) {
		end := bytes.IndexByte(d.data[s.end:], '\n')
		if end < 0 || len(bytes.TrimSpace(d.data[s.end:s.end+end])) > 0 {
			break
		}
		s.end += end + 1
	}
	return s
}

// restoreTOML puts the lines of a removed table back, at the end.
func (d *document) restoreTOML(o op, holder *node) (*document, error) {
	if !inline(holder) {
		return d.appendTOML(o.Raw)
	}
	f, err := readTOML(d.path, []byte(o.Raw))
	if err != nil {
		return nil, err
	}
	return d.addTOML(o.Path, f.root.get(o.Path...), holder)
}

var bareKey = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

func tomlKey(key string) string {
	if bareKey.MatchString(key) {
		return key
	}
	return tomlString(key)
}

// tomlString is s in quotes. JSON's escapes are TOML's too, but for DEL, which
// JSON writes as it is.
func tomlString(s string) string { return strings.ReplaceAll(quote(s), "\x7f", `\u007f`) }

// tomlTable writes value as a table with its header, and tables in it as tables
// of their own.
func tomlTable(path []string, value *node) string {
	var b strings.Builder
	keys := make([]string, len(path))
	for i, key := range path {
		keys[i] = tomlKey(key)
	}
	b.WriteString("[" + strings.Join(keys, ".") + "]\n")
	for _, m := range value.members {
		if m.value.kind != object {
			b.WriteString(tomlKey(m.key) + " = " + tomlInline(m.value) + "\n")
		}
	}
	for _, m := range value.members {
		if m.value.kind == object {
			b.WriteString("\n" + tomlTable(slices.Concat(path, []string{m.key}), m.value))
		}
	}
	return b.String()
}

// tomlInline writes n in one line.
func tomlInline(n *node) string {
	var parts []string
	switch n.kind {
	case object:
		for _, m := range n.members {
			parts = append(parts, tomlKey(m.key)+" = "+tomlInline(m.value))
		}
		if len(parts) == 0 {
			return "{}"
		}
		return "{ " + strings.Join(parts, ", ") + " }"
	case array:
		for _, item := range n.items {
			parts = append(parts, tomlInline(item))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case str:
		return tomlString(n.text)
	}
	return n.text
}
