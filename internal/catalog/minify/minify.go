// Package minify makes tool definitions cost a model fewer tokens and mean the
// same: a minified schema accepts exactly the arguments that the original
// accepts, under the original's own dialect.
//
// It only ever removes what is said twice or says nothing, shortens prose to its
// first sentence and to those that state facts, and names what repeats once. What
// it does not understand it returns as it was. Validation never uses a minified
// schema.
//
// Start reading at [Definition]: the schema is read into a tree (tree.go), judged
// (dialect.go), stripped (strip.go, union.go), its repetitions are given names
// (hoist.go), and it is written again. Descriptions are cut into sentences
// (sentences.go) of which those stay that state facts (facts.go, text.go); words.go
// knows which only repeat a name.
package minify

import (
	"encoding/json"
)

const (
	// maxBytes and maxDepth bound what is looked at: the largest definition seen in
	// the wild has 80 kB and nests 30 deep.
	maxBytes = 4 << 20
	maxDepth = 250
)

// Definition returns a tool definition with its name, the start of its
// description, its input schema minified and the hint that it destroys. It returns
// raw itself if it cannot be read or nothing would be won.
func Definition(raw json.RawMessage) json.RawMessage {
	def := parse(raw)
	if def == nil || def.kind != '{' {
		return raw
	}
	out := &value{kind: '{'}
	name := def.text("name")
	said := def.text("description")
	schema, facts := minified(def.get("inputSchema"), owner{name: name, said: said, text: firstSentence(said)})
	for _, key := range []string{"name", "description", "inputSchema", "annotations"} {
		m := def.member(key)
		switch v := m.value(); {
		case v == nil:
		case key == "description" && v.kind == '"':
			if short := shortTool(said, facts); short != "" {
				out.add(m.rawKey, textValue(v, short))
			}
		case key == "inputSchema":
			out.add(m.rawKey, schema)
		case key == "annotations":
			if hint := hints(v); hint != nil {
				out.add(m.rawKey, hint)
			}
		default:
			out.add(m.rawKey, v)
		}
	}
	return shorter(raw, out)
}

// Schema returns a JSON schema minified, or raw itself if it cannot be read or
// nothing would be won.
func Schema(raw json.RawMessage) json.RawMessage {
	root := parse(raw)
	if root == nil {
		return raw
	}
	schema, _ := minified(root, owner{})
	return shorter(raw, schema)
}

func shorter(raw json.RawMessage, v *value) json.RawMessage {
	if out := v.append(nil); len(out) < len(raw) {
		return out
	}
	return raw
}

// owner is what a schema belongs to: what its tool is called and says need not be
// said again.
type owner struct {
	name string
	said string // its whole description
	text string // its first sentence
}

// minified returns the schema root minified, and what reads the description of its
// tool. It may change root.
func minified(root *value, of owner) (*value, reader) {
	if root == nil || root.kind != '{' {
		return root, describedBy(nil)
	}
	d := judge(root)
	if !d.known {
		return root, describedBy(root)
	}
	s := stripper{dialect: d, owner: of}
	s.schema(root, place{root: true})
	order(root)
	facts := describedBy(root)
	if d.structural {
		hoist(root, d, false)
		if d.modern {
			hoist(root, d, true)
		}
	}
	return root, facts
}

// hints keeps of a tool's annotations the one that a model should know before it
// calls: that the tool says of itself that it destroys. The others say that a
// call does less.
func hints(v *value) *value {
	m := v.member("destructiveHint")
	if m == nil || !m.v.isTrue() {
		return nil
	}
	out := &value{kind: '{'}
	out.add(m.rawKey, m.v)
	return out
}
