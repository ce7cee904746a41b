// Package protocol is what the gateway and heddle-sql say to each other: requests
// down the worker's stdin, replies up a pipe that was its stdout. It has types and
// framing, and no behaviour.
//
// A message is one line of JSON and as many bytes after it as its payload says.
// Requests run side by side in the worker and are answered in any order, one reply
// each; the worker's first message is its [Hello].
package protocol

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"heddle/internal/dataset/records"
)

// Config is how a worker is started: the flag -config of heddle-sql has it as JSON.
type Config struct {
	// Memory is what DuckDB may use, in bytes; the process may reserve twice that and
	// 312 MB.
	Memory int64 `json:"memory"`
	// Threads of DuckDB; 0 lets the worker decide.
	Threads int `json:"threads,omitempty"`
	// TempDir is a private directory that exists: the only place where the worker can write.
	TempDir string `json:"tempDir"`
}

// Hello is the first message of a worker, sent once it is sealed and its self-test
// has passed.
type Hello struct {
	Engine string `json:"engine"` // such as "DuckDB v1.5.6"
	// Lacks are the parts of the seal that this system does not have, a sentence each.
	Lacks []string `json:"lacks,omitempty"`
	// Error says why no SQL is offered; the worker exits after it.
	Error string `json:"error,omitempty"`
}

// Request is one thing to do. Exactly one of the pointers is set, or Cancel.
type Request struct {
	ID uint64 `json:"id"`
	// Timeout in milliseconds, from when the worker reads the request; it then
	// interrupts. Whoever sent it kills the worker a second later.
	Timeout int64 `json:"timeout,omitempty"`

	Load     *Load     `json:"load,omitempty"`
	Query    *Query    `json:"query,omitempty"`
	Adopt    *Adopt    `json:"adopt,omitempty"`
	Describe *Describe `json:"describe,omitempty"`
	Drop     []string  `json:"drop,omitempty"`
	// Cancel interrupts the request with that id, which answers as cancelled. It has
	// no answer of its own.
	Cancel uint64 `json:"cancel,omitempty"`

	// Payload is how many bytes follow.
	Payload int64 `json:"payload,omitempty"`
}

// Load makes a table of records; the payload is what Table describes. It is made
// whole or not at all.
type Load struct {
	// Name is the table's; one that exists is replaced.
	Name  string        `json:"name"`
	Table records.Table `json:"table"`
	// Types are the SQL types of the columns, in order, where they are known from
	// before; each value then has a text or is null.
	Types []string `json:"types,omitempty"`
	// Sample is how many rows the profile shows.
	Sample int `json:"sample"`
	// Quiet leaves the profile and the hints out: the table was described before.
	Quiet bool `json:"quiet,omitempty"`
}

// Query runs one statement that passes the gate.
type Query struct {
	SQL string `json:"sql"`
	// Inline is how many bytes of rows may come back; a larger result, or any with
	// Keep, stays in the worker as table Result.Kept until it is adopted or dropped,
	// and comes back as a snapshot in the payload.
	Inline int  `json:"inline"`
	Keep   bool `json:"keep,omitempty"`
	// Format is how rows that come back are written: "" tab-separated, "csv", or
	// "json" as an array of objects.
	Format string `json:"format,omitempty"`
	// Result is a table that the name "result" means in this query.
	Result string `json:"result,omitempty"`
	// All says that every dataset is loaded: a query that asks what there are may run.
	All bool `json:"all,omitempty"`
}

// Adopt gives a kept table its name, and describes it.
type Adopt struct {
	Kept   string `json:"kept"`
	Name   string `json:"name"`
	Sample int    `json:"sample"`
}

// Describe asks for the profile of a table with fresh hints.
type Describe struct {
	Name   string `json:"name"`
	Sample int    `json:"sample"`
}

// Kind says what went wrong.
type Kind string

// The kinds of errors. Their texts are for the model: they name no path of this
// machine.
const (
	Refused   Kind = "refused"   // by the gate: not executed
	Missing   Kind = "missing"   // Reply.Names are not loaded, or "*" for all
	Invalid   Kind = "invalid"   // the engine does not accept it
	Failed    Kind = "failed"    // it failed while it ran
	Timeout   Kind = "timeout"   // past its time
	Cancelled Kind = "cancelled" // as asked
	TooLarge  Kind = "too_large" // over a limit that the text names
	Memory    Kind = "memory"    // over the memory of the engine or the process, of which others may have taken a part
	Broken    Kind = "broken"    // the engine is of no use any more; the worker exits
)

// Queued is the text of a Timeout that the request has spent waiting for others.
const Queued = "it waited for other queries"

// Reply answers a request.
type Reply struct {
	ID    uint64 `json:"id"`
	Hello *Hello `json:"hello,omitempty"`

	Kind  Kind     `json:"kind,omitempty"` // "" is success
	Error string   `json:"error,omitempty"`
	Names []string `json:"names,omitempty"`

	// Profile answers Load, Adopt and Describe.
	Profile *Profile `json:"profile,omitempty"`
	// Result answers Query.
	Result *Result `json:"result,omitempty"`

	Payload int64 `json:"payload,omitempty"`
}

// Result is what a query returned.
type Result struct {
	Columns []Field `json:"columns"`
	// Rows is how many there are; at most MaxRows, and then More says that there are
	// more than that.
	Rows int64 `json:"rows"`
	More bool  `json:"more,omitempty"`
	// Kept is the name of the table that has them, "" if the payload does: a header
	// line and tab-separated rows, where tab, line break and backslash in a value are
	// \t, \n, \r and \\, and NULL is an empty cell. A text that is empty is "". A cell
	// is the engine's text; a nested value is JSON, a blob its hexadecimal digits.
	Kept string `json:"kept,omitempty"`
	// Bytes is how much of the worker's memory the kept table takes, about.
	Bytes int64 `json:"bytes,omitempty"`
	// Text says that the payload is text to be shown as it is: of EXPLAIN.
	Text bool `json:"text,omitempty"`
	// Tables are the tables that the query has read.
	Tables []string `json:"tables,omitempty"`
}

// Field is a column of a result.
type Field struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

// Profile describes a table.
type Profile struct {
	Rows int64 `json:"rows"`
	// Bytes is how much memory the table takes, about.
	Bytes   int64    `json:"bytes"`
	Columns []Column `json:"columns"`
	// Sample are the first rows; a cell is null or a text as in Result, not escaped,
	// cut at [MaxCell] bytes between runes and then ended by "…".
	Sample [][]*string `json:"sample,omitempty"`
	Hints  []Hint      `json:"hints,omitempty"`
	// Notes are sentences about what is not as it looks: keys that were renamed or
	// came twice, numbers kept as text.
	Notes []string `json:"notes,omitempty"`
}

// Column describes a column.
type Column struct {
	Field
	// Source is the key or the path of keys that it comes from where Name is another.
	Source string `json:"source,omitempty"`
	Nulls  int64  `json:"nulls,omitempty"`
	// Distinct is how many values there are, NULL not counted; Approx says about.
	Distinct int64  `json:"distinct"`
	Approx   bool   `json:"approx,omitempty"`
	Min      string `json:"min,omitempty"` // cut as a cell
	Max      string `json:"max,omitempty"`
	// Top are the most frequent values of a column with few, most frequent first.
	Top []Count `json:"top,omitempty"`
	// Note is a few words: "mixed: JSON of each value", "ISO dates: cast to TIMESTAMP".
	Note string `json:"note,omitempty"`
}

// Count is how often a value occurs.
type Count struct {
	Value string `json:"value"`
	Count int64  `json:"count"`
}

// Hint is a column of another table with values in common.
type Hint struct {
	Column string `json:"column"`
	Table  string `json:"table"`
	Other  string `json:"other"` // column of Table
	// Overlap is the Jaccard index of the distinct values, from 0 to 1.
	Overlap float64 `json:"overlap"`
	Shared  int     `json:"shared"` // how many are in both
}

// Limits that both sides know.
const (
	MaxRows    = records.MaxRows
	MaxColumns = records.MaxColumns
	MaxPayload = records.MaxBytes // of a table or a result
	MaxCell    = 200              // bytes of a cell, a value or a bound that a profile shows
	MaxSQL     = 32_000           // bytes of a statement
)

// maxHeader is how long the line of a message may be.
const maxHeader = 16 << 20

// Write writes a message; m is a Request or a Reply whose Payload is len(payload).
func Write(w io.Writer, m any, payload []byte) error {
	line, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if _, err := w.Write(append(line, '\n')); err != nil || len(payload) == 0 {
		return err
	}
	_, err = w.Write(payload)
	return err
}

// Read reads the line of a message into m; the payload is next in r. The error is
// io.EOF at the end between messages.
func Read(r *bufio.Reader, m any) error {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case err == nil:
			return json.Unmarshal(line, m)
		case errors.Is(err, io.EOF) && len(line) > 0:
			return io.ErrUnexpectedEOF
		case !errors.Is(err, bufio.ErrBufferFull):
			return err
		case len(line) > maxHeader:
			return fmt.Errorf("message over %d bytes", maxHeader)
		}
	}
}
