package config

import (
	"strconv"
	"strings"
)

// kind is what a value in a file is.
type kind string

// The kinds, as problems name them.
const (
	kindNull   kind = "empty"
	kindBool   kind = "true or false"
	kindNumber kind = "a number"
	kindString kind = "text"
	kindList   kind = "a list"
	kindMap    kind = "a mapping"
	// kindBroken is a value already reported; nothing more is said about it.
	kindBroken kind = "broken"
	// The last two are texts of a certain form.
	kindDuration kind = "a duration like 30s"
	kindSize     kind = "a size like 64MB"
)

// node is a value in a file, whether YAML or JSON: the one form that the decoder
// reads.
type node struct {
	kind      kind
	line, col int
	// text is a scalar's: numbers and booleans as written, strings unquoted.
	text   string
	items  []*node // of a list
	fields []field // of a mapping: in order, each key once
	// size counts this value and all below it, aliases expanded.
	size int
}

// field is one key of a mapping with its value.
type field struct {
	key       string
	line, col int
	value     *node
}

// at returns a node that stands for a key's place.
func (f field) at() *node { return &node{line: f.line, col: f.col} }

// get returns the value of a key, or nil.
func (n *node) get(key string) *node {
	for _, f := range n.fields {
		if f.key == key {
			return f.value
		}
	}
	return nil
}

// indexed returns the path of an item of the list at path.
func indexed(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

// join returns the path of key below path, quoted where dots would mislead.
func join(path, key string) string {
	if key == "" || strings.ContainsAny(key, ". []\"\n\t") {
		key = quote(key)
	}
	if path == "" {
		return key
	}
	return path + "." + key
}
