package records

import (
	"bytes"
	"regexp"
	"slices"

	"heddle/internal/wire"
)

// yamlList finds a list of records in YAML: "- key: value" with more keys below it, and
// maps in it. Of YAML it knows plain and quoted texts of one line; anything else, a
// list in a record, an anchor, a text of several lines, makes it none.
func yamlList(p *page) (m match, ok bool) {
	from := slices.IndexFunc(p.top(), func(l line) bool { return bytes.HasPrefix(l.text, []byte("- ")) })
	if from < 0 {
		return m, false
	}
	y := yaml{p: p, i: from}
	var records [][]pair
	for y.i < len(p.lines) && bytes.HasPrefix(p.lines[y.i].text, []byte("- ")) {
		y.record = nil
		if !y.keys(2, "") {
			return m, false
		}
		records = append(records, y.record)
	}
	for _, l := range p.lines[y.i:] {
		if indent(l.text) > 0 || bytes.HasPrefix(l.text, []byte("-")) { // it goes on
			return m, false
		}
	}
	table, ok := recordTable(records)
	return match{table: table, from: from, to: y.i}, ok && p.few(from, y.i)
}

// yaml reads one record after the other.
type yaml struct {
	p      *page
	i      int // the line at hand
	record []pair
	depth  int
}

// yamlKey is a key, with its value if that is in the same line.
var yamlKey = regexp.MustCompile(`^([\p{L}_][\p{L}\p{N}_./-]*):(?: +(.*))?$`)

// keys reads the keys of a map at an indent. The first line of a record has a dash in
// place of the indent's first bytes.
func (y *yaml) keys(at int, prefix string) bool {
	if y.depth++; y.depth > maxFlat {
		return false
	}
	defer func() { y.depth-- }()
	for first := true; y.i < len(y.p.lines); first = false {
		text := y.p.lines[y.i].text
		dash := first && prefix == "" // the caller has seen it
		if !dash && (len(text) == 0 || indent(text) < at || text[0] == '-') {
			return !first
		}
		if len(text) < at || !dash && indent(text) != at {
			return false
		}
		f := yamlKey.FindSubmatch(text[at:])
		if f == nil {
			return false
		}
		y.i++
		key := prefix + string(f[1])
		value := bytes.TrimRight(f[2], " ")
		if len(value) == 0 {
			if y.i < len(y.p.lines) && indent(y.p.lines[y.i].text) > at {
				if !y.keys(indent(y.p.lines[y.i].text), key+".") {
					return false
				}
				continue
			}
			y.record = append(y.record, pair{key: key})
			continue
		}
		scalar, ok := yamlScalar(value)
		if !ok {
			return false
		}
		y.record = append(y.record, pair{key, scalar})
	}
	return true
}

// indent is how many spaces a line starts with.
func indent(text []byte) int { return len(text) - len(bytes.TrimLeft(text, " ")) }

// yamlScalar returns the text of a scalar, nil for null; ok is false if it is none that
// can be told for sure.
func yamlScalar(b []byte) (text []byte, ok bool) {
	switch b[0] {
	case '\'':
		inner := b[1:]
		if len(inner) == 0 || inner[len(inner)-1] != '\'' {
			return nil, false
		}
		inner = bytes.ReplaceAll(inner[:len(inner)-1], []byte("''"), []byte("\x00"))
		if bytes.IndexByte(inner, '\'') >= 0 {
			return nil, false
		}
		return append([]byte{}, bytes.ReplaceAll(inner, []byte("\x00"), []byte("'"))...), true
	case '"':
		if text, ok = wire.Text(b); ok && text == nil {
			text = []byte{}
		}
		return text, ok
	case '|', '>', '&', '*', '!', '{', '[', '#', '%', '@', '`', '?', ',', ']', '}':
		return nil, false
	}
	if bytes.Contains(b, []byte(" #")) || bytes.Contains(b, []byte(": ")) || b[len(b)-1] == ':' || bytes.HasPrefix(b, []byte("- ")) {
		return nil, false
	}
	if s := string(b); s == "null" || s == "~" || s == "Null" || s == "NULL" {
		return nil, true
	}
	return b, true
}
