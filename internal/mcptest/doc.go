// Package mcptest owns the fake peers of heddle's tests: [Server], an MCP server
// that can misbehave in every way that real ones do, and [Host], a client that
// sees every byte. Both are written without the SDK, so that they can send what
// the SDK never would.
//
// A Server runs in the test's process over a pipe, or as a child process: the
// test binary itself, started with the command of [Command], becomes the server
// when its TestMain calls [Main] first.
//
// It is for tests only; no program imports it.
package mcptest
