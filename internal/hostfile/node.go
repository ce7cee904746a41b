package hostfile

import (
	"encoding/json"
	"slices"
	"strings"
)

// kind is what a value is.
type kind string

const (
	object kind = "an object"
	array  kind = "a list"
	str    kind = "a string"
	// scalar is a number, a boolean, null or a date, kept as it was written.
	scalar kind = "a plain value"
)

// node is a value of a file, or one to be written to it.
type node struct {
	kind kind
	// text is a string's value, or what a scalar looks like in the file.
	text    string
	members []member // of an object, in order
	items   []*node  // of a list
	// start and end are its bytes in the file. A table of TOML has none.
	start, end int
}

type member struct {
	key   string
	start int // offset of the key
	value *node
}

func text(s string) *node { return &node{kind: str, text: s} }

func list(items ...string) *node {
	n := &node{kind: array}
	for _, s := range items {
		n.items = append(n.items, text(s))
	}
	return n
}

// with returns n with one more member.
func (n *node) with(key string, value *node) *node {
	n.members = append(n.members, member{key: key, value: value})
	return n
}

// get returns the value of a key, nil if n is no object that has it. Of a key
// that is there twice the last one counts, as it does for hosts.
func (n *node) get(keys ...string) *node {
	for _, key := range keys {
		if n == nil || n.kind != object {
			return nil
		}
		i := n.last(key)
		if i < 0 {
			return nil
		}
		n = n.members[i].value
	}
	return n
}

// last returns the index of the last member with that key, -1 if there is none.
func (n *node) last(key string) int {
	for i := len(n.members) - 1; i >= 0; i-- {
		if n.members[i].key == key {
			return i
		}
	}
	return -1
}

// twice returns the second member of n that has the key of another, nil if all
// differ.
func (n *node) twice() *member {
	seen := map[string]bool{}
	for i, m := range n.members {
		if seen[m.key] {
			return &n.members[i]
		}
		seen[m.key] = true
	}
	return nil
}

// isNull reports whether n is absent or null.
func (n *node) isNull() bool { return n == nil || n.kind == scalar && n.text == "null" }

// isTrue and isFalse report what a boolean says.
func (n *node) isTrue() bool  { return n != nil && n.kind == scalar && n.text == "true" }
func (n *node) isFalse() bool { return n != nil && n.kind == scalar && n.text == "false" }

// canon returns n in one form whatever its order and layout.
func (n *node) canon() string {
	var b strings.Builder
	n.appendCanon(&b)
	return b.String()
}

func (n *node) appendCanon(b *strings.Builder) {
	switch n.kind {
	case object:
		// A stable sort keeps the order of members with the same key.
		sorted := slices.Clone(n.members)
		slices.SortStableFunc(sorted, func(x, y member) int { return strings.Compare(x.key, y.key) })
		b.WriteByte('{')
		for _, m := range sorted {
			b.WriteString(quote(m.key) + ":")
			m.value.appendCanon(b)
			b.WriteByte(',')
		}
		b.WriteByte('}')
	case array:
		b.WriteByte('[')
		for _, item := range n.items {
			item.appendCanon(b)
			b.WriteByte(',')
		}
		b.WriteByte(']')
	case str:
		b.WriteString(quote(n.text))
	default:
		b.WriteString(n.text)
	}
}

// quote returns s as a JSON string, with < and > as they are.
func quote(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string always encodes
	return strings.TrimSuffix(b.String(), "\n")
}
