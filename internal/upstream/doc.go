// Package upstream owns one supervised session to each MCP server behind
// heddle: its process, its handshake, its restarts, its circuit, its deadlines
// and its end. Results come back as the raw bytes that the server wrote.
//
// It never decides whether a call is allowed, changes a result or knows a
// host's mode.
//
// Start reading at [Server.Call], the way of a call; [Server.Run] is the
// supervision; session.go is the lane that calls take past the SDK, process*.go
// how processes start and end.
package upstream
