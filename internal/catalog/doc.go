// Package catalog owns the set of authorized tools that a host can reach: their
// names, their definitions as hosts may see them, their fingerprints, and the
// way from a name to a tool.
//
// A [Snapshot] is built whole from what the servers listed and never changes; a
// [Catalog] publishes one snapshot after the other, each with a generation that
// moves only when a host could see a difference. One odd definition costs at
// most itself: it is repaired just enough that hosts keep it, or skipped, and a
// [Warning] says so.
//
// The package starts no goroutines, does no I/O, never decides what is allowed
// (it asks Options.Allowed) and never validates arguments.
//
// Start at [Build]; then names.go for how a tool gets its names and schema.go
// for what is repaired. The ranking behind [Snapshot.Find] is in the package
// search below this one.
package catalog
