package lock

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"time"

	"heddle"
)

// Read reads the file. One that is not there is fs.ErrNotExist to errors.Is; one that
// is broken is an [Error] with a line.
func Read(path string) (*File, error) {
	b, err := load(path)
	if err != nil {
		return nil, err
	}
	r := reader{path: path, b: b}
	f, err := r.file()
	if err != nil {
		return nil, err
	}
	f.was = b
	return f, nil
}

// load returns what is in the file, never nil.
func load(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, reason(path, err)
	}
	if !info.Mode().IsRegular() { // reading a pipe would wait for ever
		return nil, &Error{Path: path, Message: "is no regular file", Hint: "move it away"}
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, reason(path, err)
	}
	return append([]byte{}, b...), nil
}

// reader makes a File of bytes.
type reader struct {
	path string
	b    []byte
}

// at makes the error for a place in the file.
func (r *reader) at(offset int, message, hint string) error {
	return &Error{Path: r.path, Line: 1 + bytes.Count(r.b[:offset], []byte("\n")), Message: message, Hint: hint}
}

func (r *reader) file() (*File, error) {
	root, ok := parse(r.b)
	if !ok {
		return nil, r.broken()
	}
	fields, err := r.fields(&root, "version", "tools")
	if err != nil {
		return nil, err
	}
	if v := fields[0]; v.kind != scalar || v.text != version {
		return nil, r.at(v.start, "version "+string(v.append(nil, hidden))+" is not known, this heddle reads version "+version, update)
	}
	tools := fields[1]
	if tools.kind != array {
		return nil, r.at(tools.start, "tools must be a list", restore)
	}
	f := &File{entries: make(map[heddle.ToolRef]*Entry, len(tools.elements))}
	for i := range tools.elements {
		n := &tools.elements[i]
		e, err := r.entry(n)
		if err != nil {
			return nil, err
		}
		if f.entries[e.Ref] != nil {
			return nil, r.at(n.start, "a second entry for "+Show(e.Ref.String()), "remove the one that nobody has reviewed")
		}
		f.put(e)
	}
	return f, nil
}

// entry reads one approved tool.
func (r *reader) entry(n *node) (*Entry, error) {
	fields, err := r.fields(n, "server", "tool", "approved", "sha256", "definition")
	if err != nil {
		return nil, err
	}
	for i, name := range []string{"server", "tool", "approved", "sha256"} {
		if fields[i].kind != text {
			return nil, r.at(fields[i].start, name+" must be a text", restore)
		}
	}
	e := &Entry{Ref: heddle.ToolRef{Server: fields[0].text, Name: fields[1].text}, Hash: fields[3].text}
	if e.Approved, err = time.Parse(time.RFC3339, fields[2].text); err != nil {
		return nil, r.at(fields[2].start, "approved must be a time such as 2026-01-31T12:00:00Z", restore)
	}
	e.Approved = e.Approved.UTC().Truncate(time.Second)
	e.Definition = fields[4].append(nil, plain)
	if e.Hash != sum(e.Definition) {
		return nil, r.at(fields[3].start, "sha256 is not that of the definition of "+Show(e.Ref.String()), renew)
	}
	return e, nil
}

// fields returns the members of an object, each of which must be there once, and no
// others: one that is not understood might mean that less is approved than it seems.
func (r *reader) fields(n *node, names ...string) ([]*node, error) {
	if n.kind != object {
		return nil, r.at(n.start, "an object was expected", restore)
	}
	out := make([]*node, len(names))
	for i := range n.members {
		m := &n.members[i]
		known := false
		for k, name := range names {
			if m.name != name {
				continue
			}
			if out[k] != nil {
				return nil, r.at(m.value.start, name+" is there twice", restore)
			}
			known, out[k] = true, &m.value
		}
		if !known {
			return nil, r.at(m.value.start, Show(m.name)+" is not known", update)
		}
	}
	for k, name := range names {
		if out[k] == nil {
			return nil, r.at(n.start, name+" is missing", restore)
		}
	}
	return out, nil
}

// broken says where the file ceases to be JSON.
func (r *reader) broken() error {
	for mark := range bytes.Lines(r.b) {
		if bytes.HasPrefix(mark, []byte("<<<<<<< ")) || bytes.HasPrefix(mark, []byte(">>>>>>> ")) {
			return r.at(bytes.Index(r.b, mark), "two versions that were not merged", merge)
		}
	}
	if len(bytes.TrimSpace(r.b)) == 0 {
		return r.at(0, "the file is empty", restore)
	}
	var v any
	offset := len(r.b)
	if e, ok := errors.AsType[*json.SyntaxError](json.Unmarshal(r.b, &v)); ok {
		offset = min(int(e.Offset), offset)
	}
	return r.at(offset, "not valid JSON", restore)
}

// missing says that there is no file.
func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
