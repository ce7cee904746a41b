// Package hostfile owns what heddle does with the configuration files of hosts:
// where they are, which servers they list, and how heddle gets in there and out
// again.
//
// It never prints, starts nothing and has no settings of its own. It never writes
// a file that it has not read and understood as a whole, and it changes nothing
// in a file but the entries that a change names: comments, order, indentation,
// line ends, mode and links stay. No value of a variable or a header is in an
// error or a diff.
//
// A host is a value in the table of hosts.go; its dialect (dialect.go) says how
// it writes servers. Both forms of file, JSON with comments (json.go) and TOML
// (toml.go), become one tree of nodes with offsets, and an edit is a splice of
// bytes at those offsets (sequence.go).
//
// An [Editor] plans a change (planner.go, undo.go), which shows itself as a diff
// (diff.go, mask.go), and applies it as a transaction (apply.go, replace.go) with
// a record of how to get back (record.go).
//
// [Read] and [Merge] need no Editor.
//
// Start reading at Editor.Plan in plan.go.
package hostfile
