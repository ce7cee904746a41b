// Package heddle holds the words that every other package speaks: who calls
// (Principal), what is called (ToolRef, Tool), the call itself (Call), what came
// back (Result), what the host receives (Delivery), what was decided on the way
// (Decision) and what went wrong (Error).
//
// It has no behaviour beyond these words, imports the standard library alone,
// and every package below internal may import it.
//
// Start reading at [Call], then follow one through internal/gateway/call.go.
package heddle
