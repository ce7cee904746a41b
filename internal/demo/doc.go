// Package demo owns the six simulated servers of `heddle demo`, and the session
// with which heddle shows itself on them.
//
// The servers are real MCP servers over in-memory pipes: fleet.go and server.go
// are the protocol, servers/*.json their definitions, and there is one file of
// Go a server for what its tools do. [Run] is a host that speaks JSON-RPC to the
// same daemon and surface that `heddle start` runs; it never calls into the
// gateway. Every number that it reports is counted on the bytes that passed the
// wire or read from the ledger of that run.
//
// It never reads a configuration or a file of the user's, never writes outside
// one directory of its own, and does nothing before it is asked to.
//
// Start reading at [Run]; script.go is what the host says, report.go what is
// counted, text.go how it is shown.
package demo
