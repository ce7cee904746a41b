package catalog

import (
	"encoding/json"
	"slices"
	"sync"
	"sync/atomic"

	"heddle"
)

// DefaultNameBudget is the longest exposed name when Options say nothing: with
// the prefix mcp__heddle__ that hosts put before it, it stays within the 64
// characters that model APIs accept.
const DefaultNameBudget = 51

// minNameBudget is the least that still tells tools apart: a hash, a separator
// and a few characters of the name.
const minNameBudget = 16

// Source is one server's contribution to the catalog. Sources come in the order
// in which the configuration declares them, whenever the servers connect.
type Source struct {
	// Server is the normalised server name.
	Server string
	// Definitions are the tools as the server listed them, in its order, each one
	// JSON value. The catalog keeps these bytes: do not modify them afterwards.
	Definitions []json.RawMessage
	// Instructions are the server's own; may be empty.
	Instructions string
	// Known is false for a server that has not listed its tools yet; its
	// Definitions are then ignored.
	Known bool
	// State is how the server is doing, for texts: "ready", "starting", "failed".
	State string
}

// Warning is one thing about a definition or a name that the operator should
// know. Nothing else is lost by it.
type Warning struct {
	// Server is the normalised server name.
	Server string
	// Tool is the tool's own name, its control characters replaced and its length
	// bounded; "" if it has none.
	Tool string
	// Kind is a stable name, one of the Warn constants.
	Kind string
	// Message says what is odd and what was done about it.
	Message string
}

// The kinds of warnings.
const (
	WarnMissingSchema     = "missing_schema"     // no inputSchema: listed as an empty object
	WarnNullSchema        = "null_schema"        // inputSchema is null: likewise
	WarnEmptySchema       = "empty_schema"       // inputSchema is {}: likewise
	WarnInvalidSchema     = "invalid_schema"     // no object, or nested too deep: likewise
	WarnWrappedSchema     = "wrapped_schema"     // {"jsonSchema": …}: a root type was added
	WarnMissingType       = "missing_type"       // a root type was added
	WarnRootType          = "root_type"          // the root type was not "object": replaced
	WarnRootCombinator    = "root_combinator"    // listed as it is, but some hosts drop the tool
	WarnInvalidField      = "invalid_field"      // description or title is not a string
	WarnNotAnObject       = "not_an_object"      // skipped: the definition is no JSON object
	WarnInvalidJSON       = "invalid_json"       // skipped: the definition is no JSON
	WarnTooDeep           = "too_deep"           // skipped: nested too deep outside its inputSchema
	WarnNoName            = "no_name"            // skipped: no name, an empty one, or not a string
	WarnInvalidName       = "invalid_name"       // skipped: the name is no Unicode text
	WarnControlCharacters = "control_characters" // skipped: control characters in the name
	WarnDuplicateName     = "duplicate_name"     // skipped: the server listed the name before
	WarnNameTooLong       = "name_too_long"      // over 128 characters: not usable as it is, or skipped
	WarnNameCut           = "name_cut"           // the exposed name was cut to the budget
	WarnNameCollision     = "name_collision"     // the exposed name got a suffix
	WarnReservedName      = "reserved_name"      // the name is one of heddle's own tools
	WarnFlagged           = "flagged"            // the definition holds what a guard looks for
	WarnHeld              = "quarantined"        // kept out until a person approves the definition
)

// Options say what a catalog holds and how tools are named.
type Options struct {
	// Allowed decides whether a tool exists for the catalog's principal; nil allows
	// all. It must be a pure function.
	Allowed func(heddle.ToolRef) bool
	// NameBudget is the longest exposed name in characters; 0 means
	// [DefaultNameBudget]; less than 16 means 16, more than 128 means 128.
	NameBudget int
	// Review judges definitions as they are listed: one answer a tool, in order. Nil
	// finds nothing. It is asked at each update and should remember its answers.
	Review func([]*heddle.Tool) []Review
	// Own are the names of heddle's own tools, which no tool's name may equal.
	Own []string
}

func (o Options) withDefaults() Options {
	if o.Allowed == nil {
		o.Allowed = func(heddle.ToolRef) bool { return true }
	}
	if o.NameBudget <= 0 {
		o.NameBudget = DefaultNameBudget
	}
	o.NameBudget = min(max(o.NameBudget, minNameBudget), maxNativeName)
	o.Own = slices.Clone(o.Own)
	return o
}

// Catalog publishes snapshots. Its methods may be called by several goroutines.
type Catalog struct {
	options Options
	updates sync.Mutex // one Update at a time
	given   *given     // guarded by updates
	current atomic.Pointer[published]
}

// published pairs a snapshot with its generation, so that both change at once.
type published struct {
	snapshot   *Snapshot
	generation uint64
}

// New returns a catalog with an empty snapshot of generation 0.
func New(o Options) *Catalog {
	c := &Catalog{options: o, given: newGiven()}
	c.current.Store(&published{snapshot: Build(nil, o)})
	return c
}

// Inherit takes over the names that another catalog has given, so that they keep
// their meaning across a reload. It must come before the first Update.
func (c *Catalog) Inherit(from *Catalog) {
	from.updates.Lock()
	defer from.updates.Unlock()
	c.given = from.given.clone()
}

// Update builds a snapshot of the sources and publishes it. It returns whether a
// host could see a difference. If not, the generation stays, and so does the
// snapshot, unless states or warnings differ, which hosts do not see in lists
// but texts show: then a snapshot takes its place that has the same tools and
// the same search index. Tools whose definitions and names did not change keep
// their *heddle.Tool.
func (c *Catalog) Update(sources []Source) (changed bool) {
	c.updates.Lock()
	defer c.updates.Unlock()
	old := c.current.Load()
	next := build(sources, c.options, old.snapshot, c.given)
	if !Unchanged(old.snapshot, next) {
		c.current.Store(&published{snapshot: next, generation: old.generation + 1})
		return true
	}
	if !slices.Equal(old.snapshot.servers, next.servers) || !slices.Equal(old.snapshot.warnings, next.warnings) {
		s := *old.snapshot
		s.servers, s.warnings, s.held = next.servers, next.warnings, next.held
		c.current.Store(&published{snapshot: &s, generation: old.generation})
	}
	return false
}

// Snapshot returns the current snapshot, never nil.
func (c *Catalog) Snapshot() *Snapshot { return c.current.Load().snapshot }

// Generation counts the changes that a host could see, from 0.
func (c *Catalog) Generation() uint64 { return c.current.Load().generation }
