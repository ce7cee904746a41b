// Package arch holds the rules of the tree as tests: who may import whom, what
// only some packages may do, how long a function may get, and that the documents
// name what exists.
//
// It has no code of its own, and nothing imports it. An exception to a rule
// stands in the rule's table with its reason.
//
// Start reading at mayImport in imports_test.go.
package arch
