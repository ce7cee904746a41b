// Package worker is heddle-sql: a process that owns a DuckDB database in memory and
// does what the gateway asks of it, over the pipes of package protocol. It loads
// records into tables, describes them and runs queries.
//
// A query is written by a model and may be hostile. The process is therefore sealed
// before the engine opens (package seal), a statement passes the gate before it runs
// (package gate), and whatever still hangs or grows is ended from outside: the worker
// holds nothing that its gateway cannot load again.
//
// The engine is C++ and needs cgo; without it this package is empty but for [Main],
// which says so. Start reading at main.go; serve.go has the life of a request.
package worker
