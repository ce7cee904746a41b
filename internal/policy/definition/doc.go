// Package definition judges what a server says of its tools before a model reads it.
//
// A host puts every definition before its model, so a server can talk to the model
// without being called: by words in a description, in a parameter's default or in any
// other text; by characters that a person does not see; by a name or a description
// that draws another server's tool into it. [Inspect] looks at one definition alone,
// [InspectText] at what else a server says of itself, and [Shadows] at all tools beside
// those of other servers.
//
// Findings name a rule and a place, never the text. What follows from them (a warning,
// a note, quarantine) is the caller's business. What a tool openly does is none of this
// package's: a port scanner that says that it scans ports deceives nobody.
//
// Whether a definition is still the approved one is a matter of heddle/internal/lock.
package definition
