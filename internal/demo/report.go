package demo

import (
	"encoding/json"
	"slices"
	"time"

	"heddle"
	"heddle/internal/inproc"
	"heddle/internal/ledger"
	"heddle/internal/wire"
)

// Report is what one run of the demo measured. Its JSON form has stable names.
type Report struct {
	Version string `json:"heddle"`
	// Encoding is the one that all tokens are counted in.
	Encoding   string `json:"encoding"`
	DurationMS int64  `json:"duration_ms"`
	// Servers are the simulated servers with the tools that are allowed.
	Servers []ServerCount `json:"servers"`
	// Native is what a host is listed that sees every tool, Compact what heddle
	// lists instead.
	Native  Listing `json:"native"`
	Compact Listing `json:"compact"`
	Steps   []Step  `json:"steps"`
	Ledger  Totals  `json:"ledger"`
	Savings Savings `json:"savings"`
	// Evidence is what all of this was counted on.
	Evidence Evidence `json:"-"`
}

// ServerCount is a server and the number of its tools.
type ServerCount struct {
	Name  string `json:"name"`
	Tools int    `json:"tools"`
}

// Listing is the size of the definitions in a tools/list.
type Listing struct {
	Tools  int `json:"tools"`
	Bytes  int `json:"bytes"`
	Tokens int `json:"tokens"`
}

// Step is a part of the session.
type Step struct {
	// Name is stable, Title for people.
	Name  string `json:"name"`
	Title string `json:"title"`
	// Why is a sentence or two for people.
	Why   string  `json:"-"`
	Calls []*Call `json:"calls"`
}

// Call is one tools/call of the session. Names, sizes in bytes, outcome and times
// are those of its row in the ledger.
type Call struct {
	Request int `json:"request"` // id on the wire
	// Tool is the name that the model used: of heddle's own tool, or of the one
	// that call_tool ran.
	Tool      string          `json:"tool"`
	Server    string          `json:"server,omitempty"`
	Name      string          `json:"name,omitempty"`
	Arguments json.RawMessage `json:"arguments"`
	Kind      heddle.Kind     `json:"kind"` // "" is success
	IsError   bool            `json:"is_error"`
	Form      heddle.Form     `json:"form"`
	TotalUS   int64           `json:"total_us"`
	// UpstreamUS is the time at the server, HeddleUS the rest but for waiting.
	UpstreamUS     int64 `json:"upstream_us"`
	HeddleUS       int64 `json:"heddle_us"`
	UpstreamBytes  int64 `json:"upstream_bytes"`
	DeliveredBytes int64 `json:"delivered_bytes"`
	// UpstreamTokens are those of the result object that the server wrote,
	// AnswerTokens and AnswerBytes those of the one that the host got.
	UpstreamTokens int `json:"upstream_tokens"`
	AnswerTokens   int `json:"answer_tokens"`
	AnswerBytes    int `json:"answer_bytes"`
	// Progress counts the notifications that came before the answer, WaitedMS is
	// how long the host waited first, because an answer had said so.
	Progress int   `json:"progress,omitempty"`
	WaitedMS int64 `json:"waited_ms,omitempty"`
	// Circuit is the state of the server's circuit afterwards.
	Circuit string `json:"circuit,omitempty"`

	answer   json.RawMessage // the result object; nil if the call was cancelled
	upstream json.RawMessage // the server's; nil if it wrote none
	progress json.RawMessage // params of the last progress
}

// own reports whether the call was answered by one of heddle's own tools.
func (c *Call) own() bool { return c.Form == heddle.FormOwn }

// text is what the model reads of the answer.
func (c *Call) text() string {
	blocks, _ := wire.Elements(wire.Member(c.answer, "content"))
	if len(blocks) == 0 {
		return ""
	}
	text, _ := wire.Unquote(wire.Member(blocks[0], "text"))
	return text
}

// refusal is the structured error of the answer, nil if it is none.
func (c *Call) refusal() json.RawMessage {
	return wire.Member(wire.Member(c.answer, "structuredContent"), "error")
}

// kind is the kind of failure that the answer names.
func (c *Call) kind() heddle.Kind {
	kind, _ := wire.Unquote(wire.Member(c.refusal(), "kind"))
	return heddle.Kind(kind)
}

// Totals are what the ledger holds of the run.
type Totals struct {
	Sessions int                 `json:"sessions"`
	Calls    int                 `json:"calls"`
	Kinds    map[heddle.Kind]int `json:"kinds"` // of the calls that failed
	// HeddleUS is the median of heddle's own time in calls that a server answered.
	HeddleUS int64 `json:"heddle_us"`
}

// Savings compare what the session put before the model with what it would have
// been without heddle, in tokens.
type Savings struct {
	Native      int `json:"native_tokens"`
	Surface     int `json:"surface_tokens"`
	Searches    int `json:"searches"`
	Definitions int `json:"definition_tokens"` // shown by the searches
	Upstream    int `json:"upstream_tokens"`   // of the servers' results
	Delivered   int `json:"delivered_tokens"`  // of all answers but the searches'
	Refusals    int `json:"refusal_tokens"`    // the part of Delivered that heddle wrote itself
	Saved       int `json:"saved_tokens"`
	Percent     int `json:"saved_percent"` // of Native and Upstream
}

// Evidence is the raw material of a [Report].
type Evidence struct {
	// Native and Compact are the two sessions, line by line.
	Native, Compact []inproc.Frame
	// Results are what the servers wrote, in order.
	Results []ServerResult
	// Ledger is the file; it is gone after [Run] unless Options.Dir was given.
	Ledger string
}

// counter counts tokens.
type counter interface{ Count(text string) int }

// listing measures the definitions of a tools/list result.
func listing(result json.RawMessage, count counter, skip func(name string) bool) Listing {
	var l Listing
	list, _ := wire.Elements(wire.Member(result, "tools"))
	for _, d := range list {
		if name, _ := wire.Unquote(wire.Member(d, "name")); skip != nil && skip(name) {
			continue
		}
		l.Tools++
		l.Bytes += len(d)
		l.Tokens += count.Count(string(d))
	}
	return l
}

// fill completes a call from its row and the bytes that passed.
func (c *Call) fill(row *ledger.Row, count counter) {
	c.Tool, c.Server, c.Name = row.Tool, row.Server, row.Name
	c.Kind, c.IsError, c.Form = row.Kind, row.IsError, row.Form
	c.TotalUS, c.UpstreamUS = row.Total.Microseconds(), row.Upstream.Microseconds()
	c.HeddleUS = c.TotalUS - c.UpstreamUS - row.Queue.Microseconds()
	c.UpstreamBytes, c.DeliveredBytes = row.UpstreamBytes, row.DeliveredBytes
	c.AnswerBytes = len(c.answer)
	c.AnswerTokens = count.Count(string(c.answer))
	c.UpstreamTokens = count.Count(string(c.upstream))
}

// sum computes what depends on all steps.
func (r *Report) sum(sessions int, took time.Duration) {
	r.DurationMS = took.Milliseconds()
	r.Ledger = Totals{Sessions: sessions, Kinds: map[heddle.Kind]int{}}
	s := Savings{Native: r.Native.Tokens, Surface: r.Compact.Tokens}
	var times []int64
	for _, step := range r.Steps {
		for _, c := range step.Calls {
			r.Ledger.Calls++
			if c.Kind != "" {
				r.Ledger.Kinds[c.Kind]++
			}
			if c.own() {
				s.Searches++
				s.Definitions += c.AnswerTokens
				continue
			}
			s.Upstream += c.UpstreamTokens
			s.Delivered += c.AnswerTokens
			if c.Kind != "" {
				s.Refusals += c.AnswerTokens
			} else {
				times = append(times, c.HeddleUS)
			}
		}
	}
	slices.Sort(times)
	r.Ledger.HeddleUS = times[len(times)/2]
	s.Saved = s.Native - (s.Surface + s.Definitions) + (s.Upstream - s.Delivered)
	s.Percent = (200*s.Saved + s.Native + s.Upstream) / (2 * (s.Native + s.Upstream)) // rounded
	r.Savings = s
}
