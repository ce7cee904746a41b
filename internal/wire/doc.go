// Package wire owns the newline-delimited JSON-RPC framing of both stdio sides
// and carries raw JSON through the SDK's message types.
//
// The SDK's own stdio transport ends a session on one stray line, rounds large
// ids, caps a frame at 16 MiB and decodes a message several times. This one
// survives noise and oversized frames, keeps every byte of params and results,
// and lets a lane take hot messages before the SDK sees them.
//
// It never interprets a method, starts a process or logs.
//
// Start reading at [Conn]; [Reader] and [Writer] are the two directions, and
// scan.go the JSON scanner under all of them.
package wire
