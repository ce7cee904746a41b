package ledger

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"heddle"
)

// maxText is the longest text of a row in bytes. Names come from hosts and
// servers, which may send anything.
const maxText = 256

// maxDecisions is how many decisions a row keeps: the first ones and the last,
// which is the one that refused the call, if any did.
const maxDecisions = 16

// Tokens is a count of tokens; the zero value was not measured, which is not the
// same as none.
type Tokens struct {
	N     int64
	Known bool
}

// Measured returns a count that is known.
func Measured(n int) Tokens { return Tokens{N: int64(n), Known: true} }

// Row is what the ledger keeps of one call. [Ledger.Begin] makes it. Texts are
// stored with control characters escaped, at most 256 bytes each; times and
// durations in whole microseconds.
type Row struct {
	// Time is when the call began.
	Time      time.Time
	Principal heddle.Principal
	Session   string
	Mode      string
	// Tool is the name that the host used.
	Tool string
	// Server and Name are the tool that this resolved to, empty if it did not.
	Server, Name string

	// Kind is why the call was refused or failed; empty on success.
	Kind heddle.Kind
	// IsError is the tool's own report of failure.
	IsError bool
	// Decisions are what the checks decided, in order.
	Decisions []heddle.Decision
	// Form is how the result was delivered; empty if there was none.
	Form heddle.Form

	// Queue, Policy, Upstream and Deliver are the times spent waiting for a place,
	// in the checks, at the server and in making the delivery.
	Queue, Policy, Upstream, Deliver time.Duration
	// Total is set by [Ledger.End].
	Total time.Duration

	// UpstreamBytes is the size of the server's result, DeliveredBytes that of
	// what the host received.
	UpstreamBytes, DeliveredBytes int64
	// UpstreamTokens and DeliveredTokens are the same in tokens; DefinitionTokens
	// are those of the tool definitions that this call showed.
	UpstreamTokens, DeliveredTokens, DefinitionTokens Tokens
	// CacheHit says that definitions shown came from the cache.
	CacheHit bool
}

// SessionRow is what the ledger keeps of one session of a host.
type SessionRow struct {
	// ID is unique across processes.
	ID string
	// Started is when the session began; zero is now.
	Started   time.Time
	Principal heddle.Principal
	Mode      string
	// Client and ClientVersion are how the host named itself.
	Client, ClientVersion string
	// Protocol is the MCP version that was agreed on.
	Protocol string
	// NativeBytes is the size of the definitions of all authorized tools,
	// SurfaceBytes that of what the host was listed instead.
	NativeBytes, SurfaceBytes   int64
	NativeTokens, SurfaceTokens Tokens
}

// limit cuts long texts, so that a queued row never holds on to a message that a
// host sent. Escaping is left to the writer: it costs the caller nothing.
func (r *Row) limit() {
	r.Principal = cut(r.Principal)
	r.Session = cut(r.Session)
	r.Mode = cut(r.Mode)
	r.Tool = cut(r.Tool)
	r.Server = cut(r.Server)
	r.Name = cut(r.Name)
	if n := len(r.Decisions); n > maxDecisions {
		kept := make([]heddle.Decision, maxDecisions)
		copy(kept, r.Decisions[:maxDecisions-1])
		kept[maxDecisions-1] = r.Decisions[n-1]
		r.Decisions = kept
	}
}

func (s *SessionRow) limit() {
	s.ID = cut(s.ID)
	s.Principal = cut(s.Principal)
	s.Mode = cut(s.Mode)
	s.Client = cut(s.Client)
	s.ClientVersion = cut(s.ClientVersion)
	s.Protocol = cut(s.Protocol)
}

// cut returns s, or a copy of its first [maxText] bytes less a broken rune.
func cut[S ~string](s S) S {
	if len(s) <= maxText {
		return s
	}
	n := maxText
	for n > maxText-utf8.UTFMax && !utf8.RuneStart(s[n]) {
		n--
	}
	return S(strings.Clone(string(s[:n])))
}

// clean returns s as it is stored: unprintable characters and broken UTF-8
// written as escapes, so that a name cannot forge a line of a report or turn its
// direction. The result is at most [maxText] bytes and cleaning it again does
// not change it.
func clean[S ~string](s S) string {
	if len(s) <= maxText && plain(s) {
		return string(s)
	}
	out := make([]byte, 0, maxText)
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(string(s[i:]))
		n := len(out)
		switch {
		case r == utf8.RuneError && size == 1:
			const hex = "0123456789abcdef"
			out = append(out, '\\', 'x', hex[s[i]>>4], hex[s[i]&15])
		case strconv.IsPrint(r):
			out = utf8.AppendRune(out, r)
		default:
			q := strconv.AppendQuoteRuneToASCII(nil, r)
			out = append(out, q[1:len(q)-1]...)
		}
		if len(out) > maxText {
			return string(out[:n])
		}
		i += size
	}
	return string(out)
}

func plain[S ~string](s S) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// masking hides secrets in texts; nil hides none.
type masking func(string) string

// clean is the other clean for what is stored: a name may be a secret by mistake.
func (m masking) clean(s string) string {
	if m != nil {
		s = m(s)
	}
	return clean(s)
}

// encodeDecisions returns d as JSON text, nil for none.
func encodeDecisions(d []heddle.Decision, clean func(string) string) any {
	if len(d) == 0 {
		return nil
	}
	list := make([]decision, len(d))
	for i, x := range d {
		list[i] = decision{clean(x.Check), clean(x.Action), clean(x.Rule)}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // people read this
	if err := enc.Encode(list); err != nil {
		return nil // strings always encode
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// decision is a [heddle.Decision] as it is stored.
type decision struct {
	Check  string `json:"check"`
	Action string `json:"action"`
	Rule   string `json:"rule,omitempty"`
}

func decodeDecisions(s string) ([]heddle.Decision, error) {
	if s == "" {
		return nil, nil
	}
	var list []decision
	if err := json.Unmarshal([]byte(s), &list); err != nil {
		return nil, err
	}
	out := make([]heddle.Decision, len(list))
	for i, x := range list {
		out[i] = heddle.Decision(x)
	}
	return out, nil
}
