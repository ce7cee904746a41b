// Package capture keeps large results exactly as they came: immutable, one
// principal's each, compressed, in memory first and then in a private directory.
// It gives them back by page, by position and by search, and says so when one is
// gone. It never changes a byte, never reaches an upstream and has no goroutines.
//
// Start at [Store.Put] and [Store.Get]; then room.go for what goes where when
// memory is full, sequence.go for why a name is never given twice,
// [Capture.Page] for paging and [Capture.Search] for search.
package capture
