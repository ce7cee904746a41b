// Package gate decides whether a SQL text from a model may run in the worker. It
// never runs the text, and it is not the only wall: the engine is locked and the
// process is sealed, so that what slips through here still reaches nothing.
//
//	g := gate.New(parser)              // once; parser asks the engine for a syntax tree
//	v, err := g.Check(ctx, sql)        // an *Error says Refused or Invalid, to the model
//	... load v.Tables (all, if v.AllTables), then run v.SQL, which is what was checked
//
// A check has three steps. [Lexical] looks at the text without a parser, because
// some texts hang the engine's: it bounds what must be bounded, removes comments and
// splits EXPLAIN off. Then the engine's own parser makes a syntax tree of the text,
// which is the one thing that this package asks of it. Then the tree is walked:
// kinds of nodes, tables and table functions are allowed by list, scalar functions
// are denied by list, and literals that would make a huge value are refused.
//
// The text that passes is the text that was parsed. There is one exception, in
// pivot.go, with its reason.
package gate

import (
	"fmt"

	"heddle/internal/dataset/protocol"
)

// Verdict says how to run a statement that may run.
type Verdict struct {
	// SQL is the statement: one for the engine, or two that the driver runs in turn
	// if Pivot is set. Only this text was checked.
	SQL string
	// Explain is "EXPLAIN" or "EXPLAIN ANALYZE" and options if SQL begins with it,
	// else "".
	Explain string
	// Tables are the plain names of tables that the statement reads, as written,
	// each once whatever its case; names that it defines itself are not in it.
	Tables []string
	// AllTables says that it looks at the catalog, so that all tables must be there.
	AllTables bool
	// Pivot says that SQL has a PIVOT without IN, of which the engine makes two
	// statements: a temporary type with the values, then the SELECT.
	Pivot bool
}

// Error says to the model why a statement does not run and what to write instead.
// It quotes the statement at most, never the machine.
type Error struct {
	Kind protocol.Kind // protocol.Refused or protocol.Invalid
	Text string
}

// Error returns the text.
func (e *Error) Error() string { return e.Text }

func refuse(format string, args ...any) *Error {
	return &Error{Kind: protocol.Refused, Text: fmt.Sprintf(format, args...)}
}

func invalid(format string, args ...any) *Error {
	return &Error{Kind: protocol.Invalid, Text: fmt.Sprintf(format, args...)}
}
