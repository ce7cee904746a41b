package config

import (
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// The bounds of a YAML file. The parser recurses and takes quadratic time on
// deep nesting, and aliases let a small file grow without end.
const (
	maxYAML      = 1 << 20
	maxDepth     = 64
	maxYAMLNodes = 200_000
)

// yamlReader turns the parser's tree into nodes: anchors resolved, merge keys
// merged, duplicate keys reported.
type yamlReader struct {
	d       syntax
	anchors map[string]*node
	nodes   int
}

// parseYAML returns the one document of data, or nil after reporting why there
// is none.
func (d syntax) parseYAML(data []byte) *node {
	if len(data) > maxYAML {
		d.problem(nil, "", "is larger than 1 MiB")
		return nil
	}
	body := d.yamlDocument(string(data))
	if body == nil {
		return nil
	}
	r := &yamlReader{d: d, anchors: map[string]*node{}}
	root := r.node(body, "")
	if r.nodes > maxYAMLNodes {
		d.problem(nil, "", "its aliases expand to more than %d values", maxYAMLNodes)
		return nil
	}
	return root
}

// yamlDocument parses text. The parser is not proof against all input, so its
// panics become a problem like any other.
func (d syntax) yamlDocument(text string) (body ast.Node) {
	defer func() {
		if recover() != nil {
			d.problem(nil, "", "is not YAML that can be read")
			body = nil
		}
	}()
	tokens := lexer.Tokenize(text)
	if at := tooDeep(tokens); at != nil {
		d.problem(at, "", "is nested more than %d deep", maxDepth)
		return nil
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		d.yamlError(err)
		return nil
	}
	for _, doc := range file.Docs {
		if doc.Body == nil || doc.Body.Type() == ast.DirectiveType {
			continue
		}
		if body != nil {
			d.problem(beginning(doc.Body), "", "holds a second document; only one is read, so join them or remove the \"---\" line")
			return nil
		}
		body = doc.Body
	}
	if body == nil {
		d.problem(nil, "", "is empty; begin with \"version: 2\"")
	}
	return body
}

// yamlError reports the parser's error by its message and place alone: its full
// text quotes the source, and with it secrets.
func (d syntax) yamlError(err error) {
	e, ok := err.(yaml.Error)
	if !ok {
		d.problem(nil, "", "is not YAML that can be read")
		return
	}
	msg := "not valid YAML: " + e.GetMessage()
	if strings.Contains(msg, "'\t'") {
		msg = "not valid YAML: a tab where only spaces may indent"
	}
	d.problem(place(e.GetToken()), "", "%s", msg)
}

// beginning returns where a document begins; a mapping's own place is its colon.
func beginning(n ast.Node) *node {
	if m, ok := n.(*ast.MappingNode); ok && len(m.Values) > 0 {
		return place(m.Values[0].Key.GetToken())
	}
	return place(n.GetToken())
}

func place(t *token.Token) *node {
	if t == nil || t.Position == nil {
		return nil
	}
	return &node{line: t.Position.Line, col: t.Position.Column}
}

// tooDeep returns where nesting in brackets, or in dashes on one line, passes
// maxDepth; nil if it does not.
func tooDeep(tokens token.Tokens) *node {
	flow, dashes, line := 0, 0, 0
	for _, t := range tokens {
		if t.Position.Line != line {
			dashes, line = 0, t.Position.Line
		}
		switch t.Type {
		case token.MappingStartType, token.SequenceStartType:
			flow++
		case token.MappingEndType, token.SequenceEndType:
			flow--
		case token.SequenceEntryType, token.MappingKeyType, token.AnchorType, token.TagType:
			dashes++
		}
		if flow > maxDepth || dashes > maxDepth || t.Position.IndentNum > 16*maxDepth {
			return place(t)
		}
	}
	return nil
}

// node converts n, which stands at path.
func (r *yamlReader) node(n ast.Node, path string) *node {
	out := r.convert(n, path)
	if out.size == 0 {
		out.size = 1
		for _, item := range out.items {
			out.size += item.size
		}
		for _, f := range out.fields {
			out.size += f.value.size
		}
	}
	return out
}

func (r *yamlReader) convert(n ast.Node, path string) *node {
	r.nodes++
	out := &node{kind: kindNull}
	if n == nil {
		return out
	}
	if at := place(n.GetToken()); at != nil {
		out.line, out.col = at.line, at.col
	}
	switch n := n.(type) {
	case *ast.AnchorNode:
		v := r.node(n.Value, path)
		r.anchors[n.Name.GetToken().Value] = v
		return v
	case *ast.AliasNode:
		return r.alias(n, path)
	case *ast.TagNode:
		return r.tagged(n, path)
	case *ast.MappingNode:
		r.mapping(out, n.Values, path)
	case *ast.MappingValueNode:
		r.mapping(out, []*ast.MappingValueNode{n}, path)
	case *ast.SequenceNode:
		out.kind = kindList
		for i, item := range n.Values {
			out.items = append(out.items, r.node(item, fmt.Sprintf("%s[%d]", path, i)))
		}
	default:
		r.scalar(out, n, path)
	}
	return out
}

func (r *yamlReader) scalar(out *node, n ast.Node, path string) {
	switch n := n.(type) {
	case *ast.NullNode:
	case *ast.StringNode:
		out.kind, out.text = kindString, n.Value
	case *ast.LiteralNode:
		out.kind, out.text = kindString, n.Value.Value
	case *ast.BoolNode:
		out.kind, out.text = kindBool, n.GetToken().Value
	case *ast.IntegerNode, *ast.FloatNode:
		out.kind, out.text = kindNumber, n.GetToken().Value
	case *ast.InfinityNode, *ast.NanNode:
		out.kind, out.text = kindNumber, n.GetToken().Value
	default:
		r.d.problem(out, path, "is YAML that heddle does not read")
		out.kind = kindBroken
	}
}

// alias returns what the alias stands for. An anchor is known only once its
// value is complete, so that no value can contain itself.
func (r *yamlReader) alias(n *ast.AliasNode, path string) *node {
	name := n.Value.GetToken().Value
	v, ok := r.anchors[name]
	if !ok {
		at := place(n.GetToken())
		r.d.problem(at, path, "the alias *%s has no anchor &%s before it", name, name)
		return &node{kind: kindBroken}
	}
	// Past the limit the tree is cut: the file is refused anyway.
	if r.nodes += v.size; r.nodes > maxYAMLNodes {
		return &node{kind: kindNull}
	}
	return v
}

// tagged reads the core tags; any other asks for a type that does not exist here.
func (r *yamlReader) tagged(n *ast.TagNode, path string) *node {
	v := r.node(n.Value, path)
	switch n.Start.Value {
	case "!!str":
		if v.kind == kindBool || v.kind == kindNumber || v.kind == kindNull {
			return &node{kind: kindString, text: v.text, line: v.line, col: v.col, size: 1}
		}
	case "!!int", "!!float", "!!bool", "!!null", "!!map", "!!seq":
	default:
		r.d.problem(place(n.Start), path, "the tag %s is not read; remove it", n.Start.Value)
	}
	return v
}

// mapping fills out with values. Explicit keys win over merged ones, wherever
// the merge key stands.
func (r *yamlReader) mapping(out *node, values []*ast.MappingValueNode, path string) {
	out.kind = kindMap
	seen := map[string]int{}
	var merged []*node
	for _, v := range values {
		if v.Key.IsMergeKey() {
			merged = append(merged, r.merge(v, path)...)
			continue
		}
		f, ok := r.key(v, path)
		if !ok {
			continue
		}
		if len(out.fields) == 0 {
			// The parser's own place is the colon.
			out.line, out.col = f.line, f.col
		}
		f.value = r.node(v.Value, join(path, f.key))
		if first, dup := seen[f.key]; dup {
			was := out.fields[first]
			r.d.problem(f.at(), join(path, f.key), "duplicate key, first at %d:%d", was.line, was.col)
			continue
		}
		seen[f.key] = len(out.fields)
		out.fields = append(out.fields, f)
	}
	for _, m := range merged {
		for _, f := range m.fields {
			if _, ok := seen[f.key]; !ok {
				seen[f.key] = len(out.fields)
				out.fields = append(out.fields, f)
			}
		}
	}
}

// merge returns the mappings that a merge key names.
func (r *yamlReader) merge(v *ast.MappingValueNode, path string) []*node {
	n := r.node(v.Value, join(path, "<<"))
	switch {
	case n.kind == kindMap:
		return []*node{n}
	case n.kind == kindList:
		for _, item := range n.items {
			if item.kind != kindMap {
				r.d.problem(item, join(path, "<<"), "merges %s; only mappings can be merged", item.kind)
				return nil
			}
		}
		return n.items
	}
	r.d.problem(place(v.Key.GetToken()), join(path, "<<"), "merges what is %s; only mappings can be merged", n.kind)
	return nil
}

// key reads a mapping's key, which must be a plain scalar.
func (r *yamlReader) key(v *ast.MappingValueNode, path string) (field, bool) {
	var k ast.Node = v.Key
	if explicit, ok := k.(*ast.MappingKeyNode); ok {
		k = explicit.Value
	}
	if k == nil {
		return field{}, false
	}
	f := field{}
	if at := place(k.GetToken()); at != nil {
		f.line, f.col = at.line, at.col
	}
	switch k := k.(type) {
	case *ast.StringNode:
		f.key = k.Value
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		f.key = k.GetToken().Value
	default:
		r.d.problem(f.at(), path, "a key must be plain text")
		return f, false
	}
	return f, true
}
