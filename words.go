package heddle

import (
	"context"
	"encoding/json"
	"time"
)

// Version is the release that this tree builds.
const Version = "0.1.0"

// Principal says who calls. Over stdio there is one: [Local].
type Principal string

// Local is the principal of a host that speaks stdio: the user who started it.
const Local Principal = "local"

// ToolRef is the pair that identifies a tool: the normalised server name and the
// tool's name exactly as its server wrote it. Every decision is made on this
// pair, never on the name that a host sees.
type ToolRef struct{ Server, Name string }

// String returns "server::name", the form that the command line takes.
func (r ToolRef) String() string { return r.Server + "::" + r.Name }

// Tool is one authorized tool of the catalog. It is immutable once built and
// shared by all calls.
type Tool struct {
	Ref ToolRef
	// Exposed is the name in every mode but native: "<server>_<tool>" made safe
	// for hosts, cut to the name budget and unique in its snapshot.
	Exposed string
	// Native is the name in native mode: the tool's own, or Exposed where two
	// servers share it, it clashes with one of heddle's own tools, or hosts would
	// refuse it.
	Native string
	// Definition is the tool as its server wrote it, byte for byte.
	Definition json.RawMessage
	// InputSchema is the schema as the server wrote it; nil if missing or null.
	// Validation always uses this one.
	InputSchema json.RawMessage
	// Listed is the schema that hosts see: InputSchema repaired just enough that
	// hosts do not lose the tool (a root "type":"object").
	Listed json.RawMessage
	// Description is the tool's own, unescaped, or Note and what of it is visible;
	// Title is its own.
	Description, Title string
	// Note is one line of heddle's own before Description, for a definition that a
	// guard has something to say of; "" for others.
	Note string
	// HasOutputSchema says that the definition carries an outputSchema.
	HasOutputSchema bool
	// Destructive says that the definition's annotations have destructiveHint true.
	Destructive bool
	// Fingerprint is the hex SHA-256 of the definition in canonical form: key order
	// and white space do not count.
	Fingerprint string
}

// Host is the handle of the host that made a call, through which an upstream or
// a check can ask the user. A host that cannot be asked answers with an
// [RPCError] of code -32601.
type Host interface {
	// ID tells one host's session from another's.
	ID() string
	// Capabilities are the client capabilities that the host declared, as it wrote
	// them; nil before it did.
	Capabilities() json.RawMessage
	// Request sends a request to the host and returns the raw result.
	Request(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error)
	// Notify sends a notification to the host. It does not wait for delivery.
	Notify(ctx context.Context, method string, params json.RawMessage) error
}

// Call is one request of a host to run a tool, translated by its surface.
type Call struct {
	Principal Principal
	// Session identifies the host's session in the ledger.
	Session string
	// Mode is the surface's name: native, compact, ….
	Mode string
	// Tool is the name that the host used. What it may look like depends on the
	// mode; the catalog resolves it.
	Tool string
	// Arguments are the exact bytes from the host; nil when absent.
	Arguments json.RawMessage
	// Meta is the request's _meta, exact bytes; nil when absent.
	Meta json.RawMessage
	// Protocol are the members of the request's _meta that the protocol without
	// handshake defines (its version, the client's capabilities, …), as
	// `"key":value,…`; nil for a host with a handshake. They are not in Meta.
	Protocol json.RawMessage
	// Extra are the members of the request's params that are none of the above, as
	// `,"key":value…`; nil when there are none. They go up as they are.
	Extra json.RawMessage
	// SQL is what the host wants to know of the result, which is then the table
	// "result"; "" for the result itself.
	SQL string
	// Host is where questions and progress of this call go; never nil.
	Host Host
}

// Result is what an upstream answered: the result object of the JSON-RPC
// response, byte for byte.
type Result struct {
	Raw json.RawMessage
	// Queued is the time that the call waited for a place (starting server,
	// max_concurrency) before it was sent.
	Queued time.Duration
}

// Delivery is what the host receives for a call.
type Delivery struct {
	// Raw is the whole result object.
	Raw json.RawMessage
	// Form says how the result was delivered.
	Form Form
	// Refs are the captures that hold what is left out.
	Refs []string
	// UpstreamTokens and DeliveredTokens are estimates of the result and of Raw; 0
	// where nobody needed to know.
	UpstreamTokens, DeliveredTokens int
	// Definitions says that Raw shows definitions of tools, CacheHit that what was
	// made of them was there already.
	Definitions, CacheHit bool
}

// Form is how a result was delivered. Values are stored in the ledger: append
// only.
type Form string

// The forms of a delivery.
const (
	// FormExact is the upstream's result, byte for byte.
	FormExact Form = "exact"
	// FormProjected is a short text in place of a captured result.
	FormProjected Form = "projected"
	// FormDataset is the description of a table that the result was made into, or rows
	// of it.
	FormDataset Form = "dataset"
	// FormOwn is an answer of one of heddle's own tools.
	FormOwn Form = "own"
)

// Decision is one thing that a check decided about a call, kept in the ledger.
// It carries names of rules and JSON pointers, never values.
type Decision struct {
	// Check is the check's name: "authorization", "schema", ….
	Check string
	// Action is "refused", "changed" or "noted".
	Action string
	// Rule is what decided, for example "deny github/delete_*" or "parsed
	// /arguments/ids".
	Rule string
}
