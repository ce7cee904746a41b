//go:build race

package minify

// raced says that the race detector is on, under which all of the catalogs take
// minutes.
const raced = true
