package audit

import (
	"log/slog"
	"slices"
	"strconv"
	"time"

	"heddle"
	"heddle/internal/ledger"
)

const (
	// lineStart begins every line.
	lineStart = `{"time":"`
	// timeFormat is RFC 3339 with microseconds, for UTC.
	timeFormat = "2006-01-02T15:04:05.000000Z"
	// maxDecisions is how many decisions of a call are written: the first ones and the
	// last, which is the one that refused it, if any did.
	maxDecisions = 16
	// maxAttrs is how many attributes of an event are written.
	maxAttrs = 16
	// maxSessions is how many sessions' hosts are remembered.
	maxSessions = 1024
)

// encoder makes lines. Its members are written in a fixed order.
type encoder struct {
	mask  func(string) string
	buf   []byte // of the line that is being made
	done  [][]byte
	hosts hosts
}

// take returns the lines made since the last time.
func (e *encoder) take() [][]byte {
	out := e.done
	e.done = nil
	return out
}

func (e *encoder) begin(at time.Time, event string) {
	e.buf = append(e.buf[:0], lineStart...)
	e.buf = at.UTC().AppendFormat(e.buf, timeFormat)
	e.buf = append(e.buf, '"')
	e.text("event", event)
}

func (e *encoder) end() {
	e.buf = append(e.buf, '}', '\n')
	e.done = append(e.done, slices.Clone(e.buf))
}

// key begins a member. Inside of an object that was just opened it needs no comma.
func (e *encoder) key(k string) {
	if c := e.buf[len(e.buf)-1]; c != '{' && c != '[' {
		e.buf = append(e.buf, ',')
	}
	e.buf = append(appendQuoted(e.buf, k), ':')
}

func (e *encoder) text(k, v string) {
	e.key(k)
	e.buf = appendQuoted(e.buf, cut(e.masked(v)))
}

// some is text for a member that is left out if there is none.
func (e *encoder) some(k, v string) {
	if v != "" {
		e.text(k, v)
	}
}

func (e *encoder) number(k string, v int64) {
	e.key(k)
	e.buf = strconv.AppendInt(e.buf, v, 10)
}

func (e *encoder) bool(k string, v bool) {
	e.key(k)
	e.buf = strconv.AppendBool(e.buf, v)
}

// millis writes a duration in milliseconds, to the microsecond.
func (e *encoder) millis(k string, d time.Duration) {
	e.key(k)
	e.buf = strconv.AppendFloat(e.buf, float64(max(0, d.Microseconds()))/1000, 'f', -1, 64)
}

// masked returns v without secrets. A mask that fails costs the text, not the process.
func (e *encoder) masked(v string) (out string) {
	if e.mask == nil || v == "" {
		return v
	}
	defer func() {
		if recover() != nil {
			out = "[not masked]"
		}
	}()
	return e.mask(v)
}

// call is the line of a call.
type call struct {
	row     ledger.Row
	invoked bool
}

func newCall(r *ledger.Row, invoked bool) *call {
	c := &call{*r, invoked}
	c.row.Principal = hold(r.Principal)
	c.row.Session = hold(r.Session)
	c.row.Mode = hold(r.Mode)
	c.row.Tool = hold(r.Tool)
	c.row.Server = hold(r.Server)
	c.row.Name = hold(r.Name)
	if n := len(r.Decisions); n > maxDecisions {
		c.row.Decisions = append(slices.Clone(r.Decisions[:maxDecisions-1]), r.Decisions[n-1])
	}
	return c
}

func (c *call) lines(e *encoder) {
	r := &c.row
	e.begin(r.Time, "call")
	e.text("session", r.Session)
	e.text("principal", string(r.Principal))
	e.text("client", e.hosts.name(r.Session))
	e.text("mode", r.Mode)
	e.text("server", r.Server)
	tool := r.Name
	if tool == "" {
		tool = r.Tool // it resolved to none
	}
	e.text("tool", tool)
	if tool != r.Tool {
		e.some("asked", r.Tool) // as the host named it
	}
	e.text("outcome", c.outcome())
	e.some("kind", string(r.Kind))
	e.bool("upstream_invoked", c.invoked)
	e.decisions(r.Decisions)
	e.key("ms")
	e.buf = append(e.buf, '{')
	e.millis("queue", r.Queue)
	e.millis("policy", r.Policy)
	e.millis("upstream", r.Upstream)
	e.millis("deliver", r.Deliver)
	e.buf = append(e.buf, '}')
	e.key("bytes")
	e.buf = append(e.buf, '{')
	e.number("upstream", r.UpstreamBytes)
	e.number("delivered", r.DeliveredBytes)
	e.buf = append(e.buf, '}')
	e.some("form", string(r.Form))
	e.end()
}

func (e *encoder) decisions(list []heddle.Decision) {
	e.key("decisions")
	e.buf = append(e.buf, '[')
	for i, d := range list {
		if i > 0 {
			e.buf = append(e.buf, ',')
		}
		e.buf = append(e.buf, '{')
		e.text("check", d.Check)
		e.text("action", d.Action)
		e.some("rule", d.Rule)
		e.buf = append(e.buf, '}')
	}
	e.buf = append(e.buf, ']')
}

// outcome is "ok", "tool_error" (the tool says that it failed), "refused" (heddle said
// no) or "failed" (it could not be done).
func (c *call) outcome() string {
	r := &c.row
	switch {
	case r.Kind == "" && r.IsError:
		return "tool_error"
	case r.Kind == "":
		return "ok"
	case refusedBy(r.Decisions):
		return "refused"
	}
	switch r.Kind {
	case heddle.KindUnknownTool, heddle.KindDenied, heddle.KindInvalidArguments, heddle.KindConfirmation,
		heddle.KindInvalidQuery, heddle.KindInvalidCursor:
		return "refused"
	}
	return "failed"
}

// refusedBy reports whether the last word of the checks was no.
func refusedBy(list []heddle.Decision) bool {
	return len(list) > 0 && list[len(list)-1].Action == "refused"
}

// session is the line of a host's session.
type session struct{ row ledger.SessionRow }

func newSession(s ledger.SessionRow) *session {
	s.ID = hold(s.ID)
	s.Principal = hold(s.Principal)
	s.Mode = hold(s.Mode)
	s.Client = hold(s.Client)
	s.ClientVersion = hold(s.ClientVersion)
	s.Protocol = hold(s.Protocol)
	return &session{s}
}

func (s *session) lines(e *encoder) {
	r := &s.row
	if known := e.hosts.add(r.ID, r.Client); known {
		return
	}
	e.begin(r.Started, "session")
	e.text("session", r.ID)
	e.text("principal", string(r.Principal))
	e.text("client", r.Client)
	e.some("client_version", r.ClientVersion)
	e.some("protocol", r.Protocol)
	e.text("mode", r.Mode)
	e.end()
}

// hosts remembers the names of the hosts of the newest sessions.
type hosts struct {
	names map[string]string
	order []string // a ring once it is full
	next  int
}

// add reports whether the session was known.
func (h *hosts) add(session, name string) (known bool) {
	if h.names == nil {
		h.names = map[string]string{}
	}
	_, known = h.names[session]
	h.names[session] = name
	switch {
	case known:
	case len(h.order) < maxSessions:
		h.order = append(h.order, session)
	default:
		delete(h.names, h.order[h.next])
		h.order[h.next] = session
		h.next = (h.next + 1) % maxSessions
	}
	return known
}

func (h *hosts) name(session string) string { return h.names[session] }

// event is a line that is no call's.
type event struct {
	at    time.Time
	name  string
	attrs []slog.Attr
}

func newEvent(at time.Time, name string, attrs []slog.Attr) *event {
	kept := slices.Clone(attrs[:min(maxAttrs, len(attrs))])
	for i, a := range kept {
		switch v := a.Value.Resolve(); v.Kind() {
		case slog.KindInt64, slog.KindUint64, slog.KindBool:
			kept[i].Value = v
		case slog.KindTime:
			kept[i].Value = slog.StringValue(v.Time().UTC().Format(timeFormat))
		default: // now, while what it points to is as it was
			kept[i].Value = slog.StringValue(hold(v.String()))
		}
	}
	return &event{at, name, kept}
}

// newLost is the event that so many lines are missing.
func newLost(at time.Time, n uint64) *event {
	return newEvent(at, "lost", []slog.Attr{slog.Uint64("lines", n)})
}

func (ev *event) lines(e *encoder) {
	e.begin(ev.at, ev.name)
	for _, a := range ev.attrs {
		if a.Key == "time" || a.Key == "event" {
			continue // the line's own
		}
		switch v := a.Value; v.Kind() {
		case slog.KindInt64:
			e.number(a.Key, v.Int64())
		case slog.KindUint64:
			e.key(a.Key)
			e.buf = strconv.AppendUint(e.buf, v.Uint64(), 10)
		case slog.KindBool:
			e.bool(a.Key, v.Bool())
		default:
			e.text(a.Key, v.String())
		}
	}
	e.end()
}
