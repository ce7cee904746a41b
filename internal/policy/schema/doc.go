// Package schema checks the arguments of a call against the tool's own input
// schema, in that schema's own dialect.
//
// It owns three things: compiled schemas ([Cache]), the check itself with its
// one repair (an object or array that a model sent as text), and the short
// signature of a tool. It never loads anything: a reference that leaves the
// schema is a [CompileError].
//
// The jsonschema library reads a schema: drafts, metaschemas, references. The
// check is our own, over the compiled schema and the raw bytes, because the
// library's
//
//   - has no bound: a schema whose branches recurse takes exponential time and
//     memory on nested arguments. Here each check has a budget of steps.
//   - turns numbers into big.Rat: 1e999999999 in a call would take the machine's
//     memory. Here they are compared as decimal text.
//   - builds its messages from submitted values, which ours must not contain.
//
// A test compares the verdicts of both.
//
// Start reading at [Cache.Check], then check.go.
package schema
