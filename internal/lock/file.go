package lock

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"heddle"
)

// File is what heddle.lock says. The zero value approves nothing and is that of a file
// which does not exist yet. It is not for several goroutines at once, but for those
// that only read.
type File struct {
	entries map[heddle.ToolRef]*Entry
	was     []byte // what the file had when it was read; nil if there was none
}

// Entry is one approved tool.
type Entry struct {
	Ref heddle.ToolRef
	// Definition is the canonical form of what was approved, Hash its [Hash].
	Definition json.RawMessage
	Hash       string
	// Approved is when, to the second, in UTC.
	Approved time.Time
}

// Tool is a tool as a server lists it now.
type Tool struct {
	Ref        heddle.ToolRef
	Definition json.RawMessage
	// Hash is the definition's [Hash], "" if it is not known yet.
	Hash string
}

func (t *Tool) hash() string {
	if t.Hash == "" {
		return Hash(t.Definition)
	}
	return t.Hash
}

// Len returns how many tools are approved.
func (f *File) Len() int { return len(f.entries) }

// Entry returns the entry of a tool. ok is false if there is none.
func (f *File) Entry(ref heddle.ToolRef) (e Entry, ok bool) {
	if p := f.entries[ref]; p != nil {
		return *p, true
	}
	return Entry{}, false
}

// Entries returns all entries, by server and name.
func (f *File) Entries() []Entry {
	out := make([]Entry, 0, len(f.entries))
	for _, e := range f.entries {
		out = append(out, *e)
	}
	slices.SortFunc(out, func(a, b Entry) int { return compare(a.Ref, b.Ref) })
	return out
}

func compare(a, b heddle.ToolRef) int {
	if c := strings.Compare(a.Server, b.Server); c != 0 {
		return c
	}
	return strings.Compare(a.Name, b.Name)
}

// Approve notes that the tool's definition as it is now is approved. One that was
// approved already keeps its time. A definition that is no JSON is [ErrInvalid].
func (f *File) Approve(t Tool, at time.Time) error {
	form, err := Canonical(t.Definition)
	if err != nil {
		return err
	}
	hash := sum(form) // of what is written, whatever the caller believes
	if e := f.entries[t.Ref]; e != nil && e.Hash == hash {
		return nil
	}
	f.put(&Entry{Ref: t.Ref, Definition: form, Hash: hash, Approved: at.UTC().Truncate(time.Second)})
	return nil
}

func (f *File) put(e *Entry) {
	if f.entries == nil {
		f.entries = map[heddle.ToolRef]*Entry{}
	}
	f.entries[e.Ref] = e
}

// Remove takes an approval back. It returns whether there was one.
func (f *File) Remove(ref heddle.ToolRef) bool {
	_, ok := f.entries[ref]
	delete(f.entries, ref)
	return ok
}

// version is that of the format which this package reads and writes.
const version = "1"

// encode writes the file. Equal approvals make equal bytes.
func (f *File) encode() []byte {
	b := []byte("{\n  \"version\": " + version + ",\n  \"tools\": [")
	for i, e := range f.Entries() {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, "\n    {\n      \"server\": "...)
		b = appendText(b, e.Ref.Server, hidden)
		b = append(b, ",\n      \"tool\": "...)
		b = appendText(b, e.Ref.Name, hidden)
		b = append(b, ",\n      \"approved\": "...)
		b = appendText(b, e.Approved.Format(time.RFC3339), hidden)
		b = append(b, ",\n      \"sha256\": "...)
		b = appendText(b, e.Hash, hidden)
		b = append(b, ",\n      \"definition\": "...)
		n, _ := parse(e.Definition) // canonical, so valid
		b = n.append(b, hidden)
		b = append(b, "\n    }"...)
	}
	if len(f.entries) > 0 {
		b = append(b, "\n  "...)
	}
	return append(b, "]\n}\n"...)
}
