// Package records finds tables in the results of tools, and reads their rows. It is
// pure Go and does no I/O: the gateway decides with [Find] whether a result is
// tabular, and heddle-sql reads the rows of what was found with [Table.Schema] and
// [Schema.Rows].
//
// It never lies: text becomes a table only if all of it reads as one, and no value is
// changed on the way.
package records

import "encoding/json"

// Input is a result of a tool, taken apart.
type Input struct {
	// Structured is structuredContent, nil if there is none.
	Structured json.RawMessage
	// Texts are the blocks of text, unescaped. A result with other blocks is not
	// asked about.
	Texts [][]byte
}

// Found is what is in a tabular result.
type Found struct {
	// Main is the table with most rows.
	Main Table
	// Siblings are other arrays of at least [MinSibling] records; they become
	// datasets too.
	Siblings []Table
	// Others are the parts of the document beside the tables that are no scalars,
	// smaller arrays and objects: named, so that nothing is thought to be gone.
	Others []Part
	// Context are scalars from around the array, a model needs them to page on.
	Context []Scalar
	// Residue is the text around a table in text, trimmed; "" if there is none.
	Residue string
}

// MinSibling is how many records an array must have to become a table beside another.
const MinSibling = 5

// Part is something in a document beside its tables.
type Part struct {
	Path string // such as $.summary; "" for what has no place of its own
	Kind string // "array of 400 numbers", "object of 3 keys"
}

// Scalar is a value that stands alone.
type Scalar struct {
	Path  string
	Value string // JSON, cut at 200 bytes between runes and then ended by …
}

// Form is how records are written.
type Form string

// The forms of tables.
const (
	// FormArray is a JSON array of objects.
	FormArray Form = "array"
	// FormLines is a sequence of JSON objects with white space between them.
	FormLines Form = "lines"
	// FormMarkdown is a table with bars, also as psql and MySQL print it.
	FormMarkdown Form = "markdown"
	// FormDelimited is lines with a delimiter, quoted as in RFC 4180.
	FormDelimited Form = "delimited"
	// FormCells is a line with a JSON array of column names, then a line with a JSON
	// array of texts and nulls for each row: what [Find] makes of blocks of "key:
	// value" lines, listings and such.
	FormCells Form = "cells"
	// FormSnapshot is a table as heddle-sql writes it: as FormCells, but the columns
	// are texts whatever they look like.
	FormSnapshot Form = "snapshot"
)

// Table is where records are and how they are written. All but Data goes to the
// worker as JSON, and Data after it.
type Table struct {
	Form Form `json:"form"`
	// Path is where it stands in the document, as $.items; "$" for all of it, "" in
	// text.
	Path string `json:"path,omitempty"`
	// Source is the channel: structuredContent, text, text:markdown-table,
	// text:delimited, text:record-blocks.
	Source string `json:"source"`
	// Count is how many records there are.
	Count int `json:"count"`
	// Data are the records, and nothing else; it aliases the input where it can.
	Data []byte `json:"-"`

	// Delimiter is of FormDelimited.
	Delimiter string `json:"delimiter,omitempty"`
	// Header are the names of the columns of a text table whose first line does not
	// say them: then every line is a record.
	Header []string `json:"header,omitempty"`
}

// Type is what all values of a column are.
type Type string

// The types of columns. All values of a column keep every digit in its type; what
// has no such type in common is JSON.
const (
	Null    Type = "null" // no value at all: VARCHAR
	Boolean Type = "boolean"
	Integer Type = "integer" // fits 64 bits, signed
	Huge    Type = "huge"    // fits 128 bits, signed
	Double  Type = "double"  // no value loses a digit
	Text    Type = "text"    // strings, character for character
	Number  Type = "number"  // numbers that no numeric type holds all: their text
	JSON    Type = "json"    // arrays, or values of several types: the JSON of each
)

// Schema is the columns of a table, which all of its rows were read for. It is for one
// goroutine.
type Schema struct {
	Columns []SchemaColumn
	// Count is how many rows there are.
	Count int
	// Notes are sentences about keys that came twice and such.
	Notes []string

	table Table
	root  *object // of a table in JSON
}

// SchemaColumn is one column.
type SchemaColumn struct {
	// Name is distinct without regard to case, not empty, at most 255 bytes.
	Name string
	// Source is the path of keys where that is not Name.
	Source string
	Type   Type
	Nulls  int
	// Note is a few words about its values: mixed types, ISO dates.
	Note string
}

// Cell is one value.
type Cell struct {
	// Null says that it is missing or null.
	Null bool
	// Bool, Int, Float are the value of a column of that type.
	Bool  bool
	Int   int64
	Float float64
	// Text is the value of any other column: of Huge the digits. It is valid until the
	// next row.
	Text []byte
}

// Schema reads all rows and says what their columns are. The error is a [LimitError],
// or says what is wrong with Data.
func (t *Table) Schema() (*Schema, error) {
	if len(t.Data) > MaxBytes {
		return nil, &LimitError{"bytes", MaxBytes}
	}
	switch t.Form {
	case FormArray, FormLines:
		return t.jsonSchema()
	}
	return t.textSchema()
}

// Rows calls f with the cells of each row, one a column, until it returns an error,
// which it then returns. The cells are valid during the call.
func (s *Schema) Rows(f func(cells []Cell) error) error {
	if s.root != nil {
		return s.jsonRows(f)
	}
	return s.textRows(f)
}
