package config

import (
	"errors"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// tomlReader turns TOML into nodes. The decoder has the word on what is valid;
// the syntax tree gives order and places.
type tomlReader struct {
	p    *unstable.Parser
	root *node
	// table is that of the latest header.
	table *node
}

// parseTOML returns the root of data, nil after reporting why there is none.
func (d syntax) parseTOML(data []byte) *node {
	var all map[string]any
	if err := toml.Unmarshal(data, &all); err != nil {
		at := &node{}
		var where *toml.DecodeError
		if errors.As(err, &where) {
			at.line, at.col = where.Position()
		}
		d.problem(at, "", "not valid TOML") // the decoder's reason may quote a value
		return nil
	}
	r := &tomlReader{p: &unstable.Parser{}, root: &node{kind: kindMap}}
	r.table = r.root
	r.p.Reset(data)
	for r.p.NextExpression() {
		switch x := r.p.Expression(); x.Kind {
		case unstable.KeyValue:
			r.set(r.table, x)
		case unstable.Table, unstable.ArrayTable:
			keys := r.keys(x)
			n := r.descend(r.root, keys[:len(keys)-1])
			r.table = r.open(n, keys[len(keys)-1], x.Kind == unstable.ArrayTable)
		}
	}
	return r.root
}

// keys returns the parts of a key with their places.
func (r *tomlReader) keys(x *unstable.Node) []field {
	var out []field
	for it := x.Key(); it.Next(); {
		at := r.p.Shape(it.Node().Raw).Start
		out = append(out, field{key: string(it.Node().Data), line: at.Line, col: at.Column})
	}
	return out
}

// set puts a key with its value below n.
func (r *tomlReader) set(n *node, x *unstable.Node) {
	keys := r.keys(x)
	last := keys[len(keys)-1]
	last.value = r.value(x.Value(), last)
	n = r.descend(n, keys[:len(keys)-1])
	n.fields = append(n.fields, last)
}

// descend returns the table below n at keys, made if need be.
func (r *tomlReader) descend(n *node, keys []field) *node {
	for _, key := range keys {
		n = r.open(n, key, false)
	}
	return n
}

// open returns the table of n under a key, made if need be: of a list of tables
// the last, or with another one a new one.
func (r *tomlReader) open(n *node, key field, another bool) *node {
	next := n.get(key.key)
	if next == nil {
		next = &node{kind: kindMap, line: key.line, col: key.col}
		if another {
			next.kind = kindList
		}
		key.value = next
		n.fields = append(n.fields, key)
	}
	if next.kind != kindList || !another && len(next.items) == 0 { // the decoder takes no table below a plain value
		return next
	}
	if another {
		next.items = append(next.items, &node{kind: kindMap, line: key.line, col: key.col})
	}
	return next.items[len(next.items)-1]
}

// value converts the value of a key, whose place stands for that of an inner one
// that has none.
func (r *tomlReader) value(x *unstable.Node, key field) *node {
	n := &node{line: key.line, col: key.col}
	if x.Raw.Length > 0 {
		at := r.p.Shape(x.Raw).Start
		n.line, n.col = at.Line, at.Column
	}
	switch x.Kind {
	case unstable.InlineTable:
		n.kind = kindMap
		for it := x.Children(); it.Next(); {
			if it.Node().Kind == unstable.KeyValue {
				r.set(n, it.Node())
			}
		}
	case unstable.Array:
		n.kind = kindList
		for it := x.Children(); it.Next(); {
			if it.Node().Kind != unstable.Comment {
				n.items = append(n.items, r.value(it.Node(), key))
			}
		}
	case unstable.Bool:
		n.kind, n.text = kindBool, string(x.Data)
	case unstable.Integer, unstable.Float:
		n.kind, n.text = kindNumber, string(x.Data)
	default:
		n.kind, n.text = kindString, string(x.Data)
	}
	return n
}
