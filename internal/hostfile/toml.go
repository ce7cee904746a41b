package hostfile

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// expression is a line of TOML, or several for a long value: a header or a key
// with its value.
type expression struct {
	// path is the whole key, with that of the table it stands in.
	path       []string
	start, end int
	header     bool
}

// tomlFile is what a file of TOML says and where.
type tomlFile struct {
	root        *node
	expressions []expression
}

// readTOML reads TOML. The decoder, which is strict, has the word on what is valid;
// the syntax tree then gives the offsets.
func readTOML(path string, data []byte) (*tomlFile, error) {
	body := bytes.TrimPrefix(data, []byte(bom))
	shift := len(data) - len(body)
	if err := checkTOML(path, data, body); err != nil {
		return nil, err
	}
	r := &tomlReader{p: &unstable.Parser{}, body: body, shift: shift, file: &tomlFile{root: &node{kind: object}}, index: map[*node]map[string]*node{}}
	r.table = r.file.root
	r.p.Reset(body)
	for r.p.NextExpression() {
		r.expression(r.p.Expression())
	}
	if err := r.p.Error(); err != nil { // the decoder took it
		return nil, &Error{Path: path, Message: "is not valid TOML", Err: err}
	}
	return r.file, nil
}

// checkTOML reports what is not TOML.
func checkTOML(path string, data, body []byte) error {
	var all map[string]any
	err := toml.Unmarshal(body, &all)
	if err == nil {
		return nil
	}
	e := &Error{Path: path, Message: "is not valid TOML", Hint: "correct it by hand; heddle does not touch a file that it cannot read"}
	var where *toml.DecodeError
	if errors.As(err, &where) {
		e.Line, e.Column = where.Position()
		e.Excerpt = excerpt(data, e.Line, max(e.Column, 1))
		e.Message += ": " + tomlReason(where.Error())
	}
	return e
}

// tomlReason keeps the decoder's reasons that quote nothing of the file but
// keys.
func tomlReason(message string) string {
	message = strings.TrimPrefix(message, "toml: ")
	for _, known := range []string{"already", "redefin", "duplicate"} {
		if strings.Contains(message, known) {
			return "a key or table is there twice"
		}
	}
	if strings.HasPrefix(message, "expected") || strings.Contains(message, "incomplete") {
		message, _, _ = strings.Cut(message, " but got")
		return message
	}
	return "wrong syntax"
}

type tomlReader struct {
	p     *unstable.Parser
	body  []byte
	shift int
	file  *tomlFile
	// table and prefix are those of the latest header.
	table  *node
	prefix []string
	// index finds members: a file may have thousands of tables.
	index map[*node]map[string]*node
}

func (r *tomlReader) expression(x *unstable.Node) {
	keys, first, last := r.keys(x.Key())
	switch x.Kind {
	case unstable.KeyValue:
		start, end := r.span(x.Raw)
		r.file.expressions = append(r.file.expressions, expression{path: slices.Concat(r.prefix, keys), start: start, end: end})
		r.set(r.table, keys, first, r.value(x.Value(), end))
	case unstable.Table, unstable.ArrayTable:
		start := r.shift + bytes.LastIndexByte(r.body[:first-r.shift], '\n') + 1
		end := last + bytes.IndexByte(r.body[last-r.shift:], ']') + 1
		if x.Kind == unstable.ArrayTable {
			end++
		}
		for r.body[start-r.shift] == ' ' || r.body[start-r.shift] == '\t' {
			start++
		}
		r.file.expressions = append(r.file.expressions, expression{path: keys, start: start, end: end, header: true})
		r.prefix, r.table = keys, r.descend(r.file.root, keys, first, x.Kind == unstable.ArrayTable)
	}
}

// keys returns the parts of a key, the offset where it begins and where it ends.
func (r *tomlReader) keys(it unstable.Iterator) (keys []string, first, last int) {
	first = -1
	for it.Next() {
		start, end := r.span(it.Node().Raw)
		if first < 0 {
			first = start
		}
		last = end
		keys = append(keys, string(it.Node().Data))
	}
	return keys, first, last
}

func (r *tomlReader) span(raw unstable.Range) (start, end int) {
	start = r.shift + int(raw.Offset)
	return start, start + int(raw.Length)
}

// value converts a value that ends at end, -1 if that is not known.
func (r *tomlReader) value(x *unstable.Node, end int) *node {
	n := &node{end: end}
	var literal int
	if n.start, literal = r.span(x.Raw); end < 0 && x.Kind != unstable.InlineTable {
		n.end = literal
	}
	switch x.Kind {
	case unstable.InlineTable:
		n.kind = object
		for it := x.Children(); it.Next(); {
			if it.Node().Kind != unstable.KeyValue {
				continue
			}
			keys, first, _ := r.keys(it.Node().Key())
			_, end := r.span(it.Node().Raw)
			r.set(n, keys, first, r.value(it.Node().Value(), end))
		}
	case unstable.Array:
		n.kind = array
		for it := x.Children(); it.Next(); {
			if it.Node().Kind != unstable.Comment {
				n.items = append(n.items, r.value(it.Node(), -1))
			}
		}
	case unstable.String:
		n.kind, n.text = str, string(x.Data)
	default:
		n.kind, n.text = scalar, string(x.Data)
	}
	return n
}

// set puts value below n at a dotted key.
func (r *tomlReader) set(n *node, keys []string, start int, value *node) {
	last := len(keys) - 1
	r.member(r.descend(n, keys[:last], start, false), keys[last], start, value)
}

// member adds a member to n.
func (r *tomlReader) member(n *node, key string, start int, value *node) {
	n.members = append(n.members, member{key, start, value})
	if r.index[n] == nil {
		r.index[n] = map[string]*node{}
	}
	r.index[n][key] = value
}

// descend returns the table below n at keys, which it makes if need be. The last
// element of a list of tables is the one that keys mean; another one begins with
// again.
func (r *tomlReader) descend(n *node, keys []string, start int, again bool) *node {
	for i, key := range keys {
		next := r.index[n][key]
		last := again && i == len(keys)-1
		if next == nil {
			next = &node{kind: object}
			if last {
				next = &node{kind: array}
			}
			r.member(n, key, start, next)
		}
		if last {
			next.items = append(next.items, &node{kind: object})
		}
		if next.kind == array && len(next.items) > 0 {
			next = next.items[len(next.items)-1]
		}
		n = next
	}
	return n
}
