package hostfile

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// format is the syntax of a file.
type format string

const (
	jsonFormat format = "json"
	tomlFormat format = "toml"
)

// document is a file that was read as a whole. Edits return another document,
// parsed from the new bytes: offsets are never carried over.
type document struct {
	path   string
	format format
	data   []byte
	root   *node
	toml   *tomlFile
	style  style
	// prefix are the keys to the object that the document is, if it is part of a
	// file, and base is the indentation of the line that it begins on.
	prefix []string
	base   string
}

// parse reads the bytes of a file, which is named in errors as path.
func parse(path string, f format, data []byte) (*document, error) {
	d := &document{path: path, format: f, data: data}
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xfe")), bytes.HasPrefix(data, []byte("\xfe\xff")):
		return nil, &Error{Path: path, Message: "is UTF-16", Hint: "save it as UTF-8"}
	case !utf8.Valid(data):
		off := 0
		for r, n := utf8.DecodeRune(data); r != utf8.RuneError || n != 1; r, n = utf8.DecodeRune(data[off:]) {
			off += n
		}
		return nil, at(path, data, off, "is not valid UTF-8", "save it as UTF-8")
	}
	var err error
	if f == tomlFormat {
		if d.toml, err = readTOML(path, data); err == nil {
			d.root = d.toml.root
		}
		return d, err
	}
	if d.root, err = parseJSON(path, data); err == nil {
		d.style = styleOf(data, d.root)
	}
	return d, err
}

// empty returns what a file of that format begins as.
func (f format) empty() string {
	if f == tomlFormat {
		return ""
	}
	return "{\n}\n"
}

// op is one thing that was done to a file, with what it takes to undo it.
type op struct {
	// Add tells an addition from a removal.
	Add bool `json:"add,omitempty"`
	// Path are the keys to the entry.
	Path []string `json:"path"`
	// Item is true if Path is a list's and the entry a string in it.
	Item bool `json:"item,omitempty"`
	// Values are the forms of the entry that heddle wrote, or the one that it took
	// out, as [node.canon] has them.
	Values []string `json:"values"`
	// Made is how many objects or lists were made to hold what was added.
	Made int `json:"made,omitempty"`
	// Raw is what stood in the file, After the key before it, "" for none, and Lead
	// the comments between the two.
	Raw   string `json:"raw,omitempty"`
	After string `json:"after,omitempty"`
	Lead  string `json:"lead,omitempty"`
}

// name returns the key of the entry.
func (o op) name() string { return o.Path[len(o.Path)-1] }

// holder returns the keys to what holds the entry.
func (o op) holder() []string { return o.Path[:len(o.Path)-1] }

// errorAt returns an error about n.
func (d *document) errorAt(n *node, message, hint string) *Error {
	return at(d.path, d.data, n.start, message, hint)
}

// container returns the deepest value that is there on the way to keys, and how
// many of the keys lead to it; what is at all of them is of the kind want, and
// what is before an object. Where one of the keys is there twice it is not clear which
// one a host reads, so that no edit is right. Other keys are no concern of an edit.
func (d *document) container(keys []string, want kind) (*node, int, error) {
	n := d.root
	for i, key := range keys {
		if i < len(d.prefix) {
			continue
		}
		if err := d.once(n, key); err != nil {
			return nil, 0, err
		}
		next := n.get(key)
		if next == nil {
			return n, i, nil
		}
		should := object
		if i == len(keys)-1 {
			should = want
		}
		if next.kind != should {
			return nil, 0, d.errorAt(next, fmt.Sprintf("%s must be %s, not %s", strings.Join(keys[:i+1], "."), should, next.kind), "correct it by hand")
		}
		n = next
	}
	return n, len(keys), nil
}

// unique refuses an object that has a key twice.
func (d *document) unique(n *node) error {
	if m := n.twice(); m != nil {
		return d.isTwice(m)
	}
	return nil
}

// once refuses an object that has this key twice.
func (d *document) once(n *node, key string) error {
	first := slices.IndexFunc(n.members, func(m member) bool { return m.key == key })
	if last := n.last(key); first != last {
		return d.isTwice(&n.members[last])
	}
	return nil
}

func (d *document) isTwice(m *member) error {
	return at(d.path, d.data, m.start, fmt.Sprintf("the key %q is there twice", m.key), "remove one of the two; which one the host reads is not clear")
}

// add puts value at path, whose last key must not be there.
func (d *document) add(path []string, value *node) (*document, op, error) {
	o := op{Add: true, Path: path, Values: []string{value.canon()}}
	holder, n, err := d.container(path[:len(path)-1], object)
	if err != nil {
		return nil, o, err
	}
	o.Made = len(path) - 1 - n
	if d.format == tomlFormat {
		out, err := d.addTOML(path, value, holder)
		return out, o, err
	}
	for i := len(path) - 1; i > n; i-- {
		value = (&node{kind: object}).with(path[i], value)
	}
	out, err := d.splice(d.insertMember(holder, len(holder.members), path[n], value))
	return out, o, err
}

// addItem puts a string at the end of the list at path.
func (d *document) addItem(path []string, item string) (*document, op, error) {
	o := op{Add: true, Path: path, Item: true, Values: []string{text(item).canon()}}
	holder, n, err := d.container(path, array)
	if err != nil {
		return nil, o, err
	}
	if n < len(path) {
		out, made, err := d.add(path, list(item))
		o.Made = made.Made + 1
		return out, o, err
	}
	out, err := d.splice(d.sequence(holder).insert(len(holder.items), func(string) string { return quote(item) }))
	return out, o, err
}

// insertMember writes a member into an object of JSON.
func (d *document) insertMember(holder *node, i int, key string, value *node) []byte {
	return d.sequence(holder).insert(i, func(indent string) string {
		return quote(key) + ":" + d.style.space + jsonText(value, indent, d.style)
	})
}

// splice parses what an edit made.
func (d *document) splice(data []byte) (*document, error) {
	out, err := parse(d.path, d.format, data)
	if err == nil && d.prefix != nil {
		out.prefix, out.base, out.style = d.prefix, d.base, d.style
	}
	return out, err
}

// within makes several edits in the object at path as one. The object becomes a
// document of its own for that time: a host may keep megabytes of its state
// around it, which are then parsed once and not for each edit.
func (d *document) within(path []string, do func(*document) (*document, error)) (*document, error) {
	n := d.get(path)
	if d.format != jsonFormat || n == nil || n.kind != object {
		return do(d)
	}
	part, err := parse(d.path, d.format, d.data[n.start:n.end])
	if err != nil {
		return nil, err
	}
	part.prefix, part.style = path, d.style
	part.base, _ = indentation(d.data, n.start)
	if part, err = do(part); err != nil {
		return nil, err
	}
	return d.splice(apply(d.data, splice{span{n.start, n.end}, string(part.data)}))
}

// get returns the value at path, nil if there is none.
func (d *document) get(path []string) *node { return d.root.get(path[len(d.prefix):]...) }

// removeAll takes out several entries, which stand side by side.
func (d *document) removeAll(paths [][]string) (*document, []op, error) {
	if len(paths) == 0 {
		return d, nil, nil
	}
	for _, path := range paths { // while errors still have their place
		if holder := d.get(path[:len(path)-1]); holder != nil {
			if err := d.once(holder, path[len(path)-1]); err != nil {
				return nil, nil, err
			}
		}
		if n := d.get(path); n != nil && n.kind == object {
			if err := d.unique(n); err != nil {
				return nil, nil, err
			}
		}
	}
	var ops []op
	out, err := d.within(paths[0][:len(paths[0])-1], func(d *document) (*document, error) {
		for _, path := range paths {
			next, o, err := d.remove(path)
			if err != nil {
				return nil, err
			}
			d, ops = next, append(ops, o)
		}
		return d, nil
	})
	return out, ops, err
}

// remove takes out the entry at path, which must be there.
func (d *document) remove(path []string) (*document, op, error) {
	o := op{Path: path}
	key := path[len(path)-1]
	holder, n, err := d.container(path[:len(path)-1], object)
	if err != nil {
		return nil, o, err
	}
	if err := d.once(holder, key); err != nil {
		return nil, o, err
	}
	i := holder.last(key)
	if n < len(path)-1 || i < 0 {
		return nil, o, &Error{Path: d.path, Message: strings.Join(path, ".") + " is not there"}
	}
	m := holder.members[i]
	if m.value.kind == object {
		if err := d.unique(m.value); err != nil {
			return nil, o, err
		}
	}
	o.Values = []string{m.value.canon()}
	if i > 0 {
		o.After = holder.members[i-1].key
	}
	if d.format == tomlFormat {
		data, raw, err := d.cutTOML(path, holder, i)
		if err != nil {
			return nil, o, err
		}
		o.Raw = raw
		out, err := d.splice(data)
		return out, o, err
	}
	o.Raw = string(d.data[m.start:m.value.end])
	seq := d.sequence(holder)
	o.Lead = strings.TrimSpace(string(d.data[seq.gap(i):m.start]))
	out, err := d.splice(seq.remove(i))
	return out, o, err
}
