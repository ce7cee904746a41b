// Package bench owns `heddle bench`: what heddle saves of a model's context, and
// whether what it leaves out can still be read.
//
// A host speaks JSON-RPC to the same daemon and surface that `heddle start` runs,
// and to the server alone for comparison. Every figure is counted on what that
// host received; nothing is known of a result but what arrived. It never reads a
// configuration, never writes outside one temporary directory, and calls nothing
// of the gateway's.
//
// Start reading at [Run]. task.go, compression.go and stress.go are the three
// benches, reader.go the scripted reader, tasks.go the tasks and data*.go what
// their tools return; floor.go compares with what was reached before.
package bench
