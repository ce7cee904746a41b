package surface

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"heddle"
	"heddle/internal/wire"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// newestEra is the version of the protocol without handshake that is spoken.
const newestEra = "2026-07-28"

// post looks at a message before the SDK does: it finds its era, keeps what the
// SDK would lose of it, and answers what the SDK would not answer as the protocol
// has it. It returns false if the message is answered.
func (h *HTTP) post(w http.ResponseWriter, r *http.Request, e *endpoint) (modern, ok bool) {
	version := r.Header.Get("Mcp-Protocol-Version")
	modern = version >= "2026" || r.Header.Get("Mcp-Method") != ""
	body, ok := h.body(w, r)
	if !ok {
		return modern, false
	}
	m, err := wire.Parse(body) // what is no message is the SDK's to refuse
	if err == nil {
		modern = modern || m.IsRequest() && isModern(m.Params)
		if m.Method == "initialize" && !isModern(m.Params) { // its header says nothing yet
			modern = version == newestEra
			if !modern {
				r.Header.Del("Mcp-Protocol-Version")
			}
		}
		if !modern && !e.admit(w, r, &m) {
			return modern, false
		}
	} else if !wire.Valid(body) {
		refuse(w, http.StatusBadRequest, nil, jsonrpc.CodeParseError, "the body is no JSON")
		return modern, false
	}
	if m.IsResponse() && m.Result != nil {
		body = keepRaw(body, m.Result)
	}
	if odd(m.ID) {
		body = wire.Replace(body, "id", e.alias(m.ID))
	}
	if id := wire.Member(m.Params, "requestId"); m.Method == "notifications/cancelled" && odd(id) {
		body = wire.Replace(body, "params", wire.Replace(m.Params, "requestId", e.alias(id)))
	}
	delete(r.Header, paramsHeader)
	if m.HasMethod {
		r.Header[paramsHeader] = []string{string(m.Params)}
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return modern, true
}

// admit answers what needs no session, or has none. It returns true for the rest.
func (e *endpoint) admit(w http.ResponseWriter, r *http.Request, m *wire.Message) bool {
	id := r.Header.Get("Mcp-Session-Id")
	switch {
	case m.Method == "initialize":
		if !e.open(id) {
			r.Header.Del("Mcp-Session-Id") // of a session that has ended: this begins the next
		}
		if e.full() {
			w.Header().Set("Retry-After", "30")
			http.Error(w, "too many sessions are open", http.StatusServiceUnavailable)
			return false
		}
	case m.IsRequest() && id == "":
		refuse(w, http.StatusBadRequest, m.ID, jsonrpc.CodeInvalidRequest, "the header Mcp-Session-Id is missing: begin with initialize")
		return false
	case id != "" && !e.open(id): // the SDK says so
	case m.IsRequest() && !known(m.Method):
		refuse(w, http.StatusOK, m.ID, jsonrpc.CodeMethodNotFound, fmt.Sprintf("%q is not supported", m.Method))
		return false
	case m.IsNotification() && !heardFromHosts[m.Method]:
		w.WriteHeader(http.StatusAccepted)
		return false
	}
	return true
}

// heardFromHosts are the notifications that mean something to heddle. Any other
// is taken and ignored, as the protocol asks.
var heardFromHosts = map[string]bool{
	"notifications/initialized": true, "notifications/cancelled": true, "notifications/progress": true, "notifications/roots/list_changed": true,
}

// known reports whether there is a method of that name.
func known(method string) bool {
	_, forward := forwarded[method]
	return forward || carried[method] || method == "tools/call" || method == "tools/list"
}

// refuse answers a message with an error.
func refuse(w http.ResponseWriter, status int, id json.RawMessage, code int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(wire.AppendError(nil, id, heddle.NewRPCError(code, text).Raw)) // a host that is gone misses nothing
}

// The SDK reads ids as numbers of the machine, so 9007199254740993 and 1.5 come
// back as others. Such an id goes through it as a text that says what it was.

const aliasPrefix = `"heddle-id:`

// odd reports whether an id would not come back as it was.
func odd(id json.RawMessage) bool {
	if len(id) == 0 || id[0] == '"' || id[0] == 'n' {
		return false
	}
	n, err := strconv.ParseInt(string(id), 10, 64)
	const exact = 1 << 53
	return err != nil || n >= exact || n <= -exact || strconv.FormatInt(n, 10) != string(id)
}

func (e *endpoint) alias(id json.RawMessage) json.RawMessage {
	e.aliased.Store(true)
	return append(hex.AppendEncode([]byte(aliasPrefix), id), '"')
}

// realIDs puts ids back where their aliases stand.
func realIDs(p []byte) []byte {
	if !bytes.Contains(p, []byte(aliasPrefix)) {
		return p
	}
	var out []byte
	for {
		before, rest, found := bytes.Cut(p, []byte(aliasPrefix))
		out = append(out, before...)
		if !found {
			return out
		}
		code, after, _ := bytes.Cut(rest, []byte{'"'})
		id, err := hex.DecodeString(string(code))
		if err != nil { // somebody's own words
			id, after = []byte(aliasPrefix), rest
		}
		out, p = append(out, id...), after
	}
}

// listening ends a stream of what comes unasked with heddle.
func (h *HTTP) listening(r *http.Request) (*http.Request, context.CancelFunc) {
	ctx, cancel := context.WithCancel(r.Context())
	go func() {
		select {
		case <-h.over:
			cancel()
		case <-ctx.Done():
		}
	}()
	return r.WithContext(ctx), cancel
}

// isJSON reports whether a request says that its body is JSON. A page from
// elsewhere can send other bodies without asking first.
func isJSON(r *http.Request) bool {
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	return strings.EqualFold(strings.TrimSpace(kind), "application/json")
}
