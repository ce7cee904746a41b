// Package lock owns heddle.lock, the file that says which definition of which tool a
// person has approved.
//
// A server may change what a tool says of itself at any time, and hosts put that text
// before their model. With the file a change is seen before the model sees it. It lies
// beside heddle.yml, belongs into version control and is made to be read in a review:
// sorted, a tool a block, the definition in its canonical form, characters that nobody
// sees written as escapes.
//
// The package decides nothing: what a changed tool may do is the caller's business. A
// definition is a stranger's text; whatever is printed of it is escaped. A file that
// cannot be read is an error and never an empty one, which would approve nothing today
// and everything after the next write.
//
// Start at [Update], which changes a file, and [File.Check], which compares.
// canonical.go says which definitions are the same, diff.go how two differ.
package lock
