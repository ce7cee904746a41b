package records

import "bytes"

// object is the keys that the objects at one place of the rows have.
type object struct {
	fields []*field // in the order in which they came
	index  map[string]*field
	// first is the field that the last object began with. Rows are much alike, so that
	// the key at hand is nearly always the one that was there in the row before.
	first *field
}

// field is a key of an object, and what the rows have there.
type field struct {
	key     string
	literal []byte // the key as it was first written, with quotes
	after   *field // the field that last came after this one

	row    int  // the last row that has it, from 1
	filled bool // that row's value is not null
	values int  // how many are not null
	holds  holds
	looks  looks
	sub    object // of the objects among the values

	role   role
	column int // of a leaf
	typ    Type
}

// role is what becomes of a field.
type role uint8

const (
	leaf   role = iota
	branch      // an object whose keys are columns
)

// reader goes through the rows of JSON.
type reader struct {
	scanner
	row    int
	fields int // how many there are in the tree
}

// find returns the field of o whose key is at i, and the index of its value. guess is
// the field that is expected there.
func (r *reader) find(o *object, guess *field, i int) (f *field, value int, err error) {
	if guess != nil && bytes.HasPrefix(r.b[i:], guess.literal) {
		value, err = r.colon(i + len(guess.literal))
		return guess, value, err
	}
	key, end, err := r.unquote(i)
	if err != nil {
		return nil, 0, err
	}
	f = o.index[string(key)]
	if f == nil {
		if r.fields++; r.fields > maxFields {
			return nil, 0, &LimitError{"columns", MaxColumns}
		}
		f = &field{key: string(key), literal: r.b[i:end:end], looks: allLooks}
		if o.index == nil {
			o.index = map[string]*field{}
		}
		o.index[f.key] = f
		o.fields = append(o.fields, f)
	}
	value, err = r.colon(end)
	return f, value, err
}

// each calls f for each row of a table in JSON with the index of its object; f returns
// the index behind it.
func (r *reader) each(form Form, f func(i int) (int, error)) error {
	r.row = 0
	i := r.space(0)
	more := i < len(r.b)
	if form == FormArray {
		if r.at(i) != '[' {
			return errSyntax
		}
		i = r.space(i + 1)
		if more = r.at(i) != ']'; !more {
			i++
		}
	}
	for more {
		if r.at(i) != '{' {
			return errSyntax
		}
		if r.row++; r.row > MaxRows {
			return &LimitError{"rows", MaxRows}
		}
		end, err := f(i)
		if err != nil {
			return err
		}
		if form == FormLines {
			i = r.space(end)
			more = i < len(r.b)
		} else if i, more, err = r.next(end, ']'); err != nil {
			return err
		}
	}
	if r.space(i) != len(r.b) {
		return errSyntax
	}
	return nil
}
