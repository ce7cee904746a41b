package records

import (
	"encoding/json"
	"strconv"

	"heddle/internal/wire"
)

// maxLevels is how many objects may be around an array that is looked for: $.a.b.c is
// the deepest.
const maxLevels = 3

// What is named of a document at most; the rest is counted.
const (
	maxContext = 20
	maxOthers  = 30
	maxScalar  = 200 // bytes of a value
)

// document is what one JSON document holds.
type document struct {
	scanner
	source string

	tables  []Table // arrays of objects, of any length
	others  []Part
	context [maxLevels + 1][]Scalar // by how many objects are around
	// How many were not kept.
	moreOthers, moreScalars int
}

// read looks through the object or array b, which has nothing but white space around
// it. root is its path.
func read(b []byte, source, root string) (*document, error) {
	d := &document{scanner: scanner{b: b}, source: source}
	i := d.space(0)
	if c := d.at(i); c != '{' && c != '[' {
		return d, errSyntax
	}
	end, err := d.part(i, root, 0)
	if err == nil && d.space(end) != len(b) {
		err = errSyntax
	}
	return d, err
}

// part looks at the value at i, which has level objects around it.
func (d *document) part(i int, path string, level int) (int, error) {
	switch d.at(i) {
	case '[':
		return d.array(i, path)
	case '{':
		return d.object(i, path, level)
	}
	end, err := d.scalar(i)
	if err == nil {
		d.note(Scalar{path, cutMark(string(d.b[i:end]))}, level)
	}
	return end, err
}

// object looks through an object, which is named as a whole if it has no table.
func (d *document) object(i int, path string, level int) (int, error) {
	tables, others, more, keys := len(d.tables), len(d.others), d.moreOthers, 0
	end, err := d.members(i, func(key []byte, i int) (int, error) {
		if keys++; level == maxLevels {
			return d.value(i)
		}
		switch d.at(i) {
		case '[', '{':
			return d.part(i, path+step(key), level+1)
		}
		if len(d.context[level+1]) < maxContext {
			return d.part(i, path+step(key), level+1)
		}
		d.moreScalars++
		return d.scalar(i)
	})
	if len(d.tables) == tables && level > 0 {
		d.others, d.moreOthers = d.others[:others], more
		d.other(Part{path, "object of " + counted(keys, "key")})
	}
	return end, err
}

// members calls f for each member of the object at i with its key as it is written,
// and the index of its value; f returns the index behind that.
func (s *scanner) members(i int, f func(key []byte, i int) (int, error)) (int, error) {
	if i = s.space(i + 1); s.at(i) == '}' {
		return i + 1, nil
	}
	for more := true; more; {
		value, err := s.key(i)
		if err != nil {
			return 0, err
		}
		end, _, _ := s.text(i + 1)
		if value, err = f(s.b[i:end], value); err != nil {
			return 0, err
		}
		if i, more, err = s.next(value, '}'); err != nil {
			return 0, err
		}
	}
	return i, nil
}

// array looks through an array for what its elements are.
func (d *document) array(i int, path string) (int, error) {
	start, kind, n := i, byte(0), 0
	i = d.space(i + 1)
	for more := d.at(i) != ']'; more; n++ {
		if k := kindOf(d.at(i)); n == 0 {
			kind = k
		} else if k != kind {
			kind = 0
		}
		end, err := d.value(i)
		if err != nil {
			return 0, err
		}
		if i, more, err = d.next(end, ']'); err != nil {
			return 0, err
		}
	}
	switch {
	case n == 0:
		i++
		d.other(Part{path, "empty array"})
	case kind == '{':
		d.tables = append(d.tables, Table{Form: FormArray, Path: path, Source: d.source, Count: n, Data: d.b[start:i:i]})
	default:
		d.other(Part{path, "array of " + counted(n, elements[kind])})
	}
	return i, nil
}

// kindOf is the kind of a value that starts with c: the same for all numbers and for
// both booleans.
func kindOf(c byte) byte {
	switch c {
	case '{', '[', '"', 'n':
		return c
	case 't', 'f':
		return 't'
	}
	return '0'
}

var elements = map[byte]string{0: "mixed value", '[': "array", '"': "text", 'n': "null", 't': "boolean", '0': "number"}

func (d *document) other(p Part) {
	if len(d.others) == maxOthers {
		d.moreOthers++
		return
	}
	d.others = append(d.others, p)
}

func (d *document) note(s Scalar, level int) {
	d.context[level] = append(d.context[level], s)
}

// add puts what stands beside the tables into found.
func (d *document) add(found *Found) {
	found.Others = append(found.Others, d.others...)
	if d.moreOthers > 0 {
		found.Others = append(found.Others, Part{"", counted(d.moreOthers, "other array") + " or object"})
	}
	more := d.moreScalars
	for _, scalars := range d.context {
		n := min(len(scalars), maxContext-len(found.Context))
		found.Context = append(found.Context, scalars[:n]...)
		more += len(scalars) - n
	}
	if more > 0 {
		found.Others = append(found.Others, Part{"", counted(more, "other scalar")})
	}
}

// step is a key, as it is written, as a part of a path.
func step(literal []byte) string {
	key, _ := wire.Text(literal)
	for _, c := range key {
		if c != '_' && c != '-' && c < 0x80 && !isDigit(c) && (c|0x20 < 'a' || c|0x20 > 'z') {
			return "[" + string(literal) + "]"
		}
	}
	if len(key) == 0 {
		return `[""]`
	}
	return "." + string(key)
}

func counted(n int, what string) string {
	s := strconv.Itoa(n) + " " + what
	if n != 1 {
		s += "s"
	}
	return s
}

// cutMark cuts s as a [Scalar] is.
func cutMark(s string) string {
	if len(s) <= maxScalar {
		return s
	}
	return cut(s, maxScalar) + "…"
}

// onlyText returns the text that a structured result is, if it is an object with one
// member that is a text: what the SDKs make of a function that returns a string.
func onlyText(b json.RawMessage) (text []byte, ok bool) {
	members := 0
	var last json.RawMessage
	err := wire.Members(b, func(_ string, value json.RawMessage) bool {
		members++
		last = value
		return members == 1
	})
	if err != nil || members != 1 {
		return nil, false
	}
	return wire.Text(last)
}
