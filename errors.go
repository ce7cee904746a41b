package heddle

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Kind names why a call was refused or failed. Kinds are shown to models and
// stored in the ledger: append only.
type Kind string

// The kinds of failure.
const (
	KindInvalidArguments Kind = "invalid_arguments"
	KindUnknownTool      Kind = "unknown_tool"
	KindDenied           Kind = "denied"
	KindStarting         Kind = "starting"
	KindUnavailable      Kind = "unavailable"
	KindUpstreamExited   Kind = "upstream_exited"
	KindTimeout          Kind = "timeout"
	KindCircuitOpen      Kind = "circuit_open"
	KindCancelled        Kind = "cancelled"
	KindResultTooLarge   Kind = "result_too_large"
	KindResultExpired    Kind = "result_expired"
	KindInvalidQuery     Kind = "invalid_query"
	KindInvalidCursor    Kind = "invalid_cursor"
	// KindConfirmation is a call that its user must confirm and did not.
	KindConfirmation Kind = "confirmation_required"
	// KindRateLimited is a call too many; the error's RetryAfter says when the next
	// may come.
	KindRateLimited Kind = "rate_limited"
	// KindBlockedAddress is a call with an address that must not be reached.
	KindBlockedAddress Kind = "blocked_address"
	// KindInjection is a call, or a result, with a text that tries to take control.
	KindInjection Kind = "injection"
	// KindQuarantined is a call of a tool whose definition waits for approval.
	KindQuarantined Kind = "quarantined"
	// KindUpstreamError is an upstream's own JSON-RPC error, passed through; it is
	// never shown as a refusal.
	KindUpstreamError Kind = "upstream_error"
	// KindInternal is a fault of heddle's own.
	KindInternal Kind = "internal"
)

// Error is the one error type that crosses packages. A surface turns it into an
// MCP answer, the command line into an exit code.
type Error struct {
	Kind Kind
	// Op is the operation that failed, for logs: "upstream.call".
	Op string
	// Public is the text for the host. It says what to change, is built from
	// schemas and configuration, and never contains a submitted value or a secret.
	Public string
	// Tool is the name under which the host knows the tool; empty if there is none.
	Tool string
	// Invoked is true once the call was sent to the upstream: whatever it does may
	// have happened.
	Invoked bool
	// RetryAfter is when another try makes sense; 0 if that is not known.
	RetryAfter time.Duration
	// Violations are what validation found wrong, most important first.
	Violations []Violation
	// Near are names close to an unknown one.
	Near []string
	// Signature is the tool's one-line signature; a surface shows it with the first
	// refusal of a tool in a session.
	Signature string
	// Err is the cause, for logs; may be nil.
	Err error
}

// Violation is one place where arguments do not fit a schema or a rule.
type Violation struct {
	// Path is a JSON pointer into the arguments; "" is the whole.
	Path string `json:"path"`
	// Keyword is the schema keyword, or "params" for a configured rule.
	Keyword string `json:"keyword"`
	// Message says what is expected, from the schema alone.
	Message string `json:"message"`
}

// Error implements error.
func (e *Error) Error() string {
	s := string(e.Kind)
	if e.Op != "" {
		s = e.Op + ": " + s
	}
	if e.Public != "" {
		s += ": " + e.Public
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// KindOf returns the kind of the first [Error] in err's chain,
// [KindUpstreamError] for an [RPCError], [KindInternal] for any other error and
// "" for nil.
func KindOf(err error) Kind {
	if err == nil {
		return ""
	}
	var e *Error
	var rpc *RPCError
	switch {
	case errors.As(err, &e):
		return e.Kind
	case errors.As(err, &rpc):
		return KindUpstreamError
	}
	return KindInternal
}

// RPCError is a JSON-RPC error object as its sender wrote it. It passes through
// heddle byte for byte.
type RPCError struct{ Raw json.RawMessage }

// Error implements error.
func (e *RPCError) Error() string {
	code, msg := e.Code(), e.Message()
	return fmt.Sprintf("JSON-RPC error %d: %s", code, msg)
}

// Code returns the error's code, 0 if it has none.
func (e *RPCError) Code() int64 {
	var v struct {
		Code json.Number `json:"code"`
	}
	_ = json.Unmarshal(e.Raw, &v)
	n, _ := v.Code.Int64()
	return n
}

// Message returns the error's message.
func (e *RPCError) Message() string {
	var v struct {
		Message string `json:"message"`
	}
	_ = json.Unmarshal(e.Raw, &v)
	return v.Message
}

// NewRPCError makes an error object of a code and a message.
func NewRPCError(code int, message string) *RPCError {
	raw, _ := json.Marshal(struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}{code, message})
	return &RPCError{Raw: raw}
}
