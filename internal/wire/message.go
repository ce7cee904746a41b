package wire

import (
	"bytes"
	"encoding/json"
	"errors"
)

// Message is one JSON-RPC message, its parts as the sender wrote them. All
// slices alias the frame.
type Message struct {
	// ID is nil when absent; the literal null counts as present.
	ID json.RawMessage
	// Method is empty for a response.
	Method    string
	HasMethod bool
	Params    json.RawMessage
	Result    json.RawMessage
	Error     json.RawMessage
	// Extra travels to the SDK's request as it is.
	Extra   any
	version bool
}

// Kinds of message.
func (m *Message) IsRequest() bool      { return m.HasMethod && m.ID != nil }
func (m *Message) IsNotification() bool { return m.HasMethod && m.ID == nil }
func (m *Message) IsResponse() bool {
	return !m.HasMethod && m.ID != nil && (m.Result != nil || m.Error != nil)
}

// ErrInvalidRequest says that a frame is JSON but no JSON-RPC 2.0 message.
var ErrInvalidRequest = errors.New("not a JSON-RPC 2.0 message")

// Parse reads one message. On ErrInvalidRequest the message holds the id, if
// the frame has one that JSON-RPC allows.
func Parse(frame []byte) (Message, error) {
	var m Message
	badMethod := false
	err := Members(frame, func(key string, v json.RawMessage) bool {
		switch key {
		case "jsonrpc":
			m.version = string(v) == `"2.0"`
		case "id":
			m.ID = v
		case "method":
			m.HasMethod = true
			badMethod = v[0] != '"'
			if !badMethod {
				m.Method = intern(v)
			}
		case "params":
			m.Params = v
		case "result":
			m.Result = v
		case "error":
			if string(v) != "null" { // some libraries write it beside every result
				m.Error = v
			}
		}
		return true
	})
	if err != nil {
		return Message{}, err
	}
	if m.HasMethod { // a request's stray result or error must not make it look like a response
		m.Result, m.Error = nil, nil
	}
	if m.ID != nil && m.ID[0] != '"' && m.ID[0] != '-' && !digit(m.ID, 0) {
		m.ID = json.RawMessage("null")
		return m, ErrInvalidRequest
	}
	if !m.version || badMethod || (!m.IsRequest() && !m.IsNotification() && !m.IsResponse()) {
		return m, ErrInvalidRequest
	}
	return m, nil
}

// FindID returns the top-level id of a line that is no message, nil if it has
// none that can be read.
func FindID(line []byte) json.RawMessage {
	var f idFinder
	f.feed(line)
	id := f.id()
	if id == nil || id[0] != '"' && id[0] != '-' && !digit(id, 0) {
		return nil
	}
	return id
}

// Elements splits a JSON array, such as a batch, into its elements, which alias
// b. null has none.
func Elements(b []byte) ([]json.RawMessage, error) {
	i := space(b, 0)
	if i >= len(b) || b[i] != '[' {
		if Valid(b) && string(bytes.TrimSpace(b)) == "null" {
			return nil, nil
		}
		return nil, ErrSyntax
	}
	out := []json.RawMessage{}
	if i = space(b, i+1); i < len(b) && b[i] == ']' {
		return out, end(b, i+1)
	}
	for {
		from := i
		var err error
		if i, err = skipValue(b, from); err != nil {
			return nil, err
		}
		out = append(out, b[from:i:i])
		if i = space(b, i); i >= len(b) {
			return nil, ErrSyntax
		}
		switch b[i] {
		case ',':
			i = space(b, i+1)
		case ']':
			return out, end(b, i+1)
		default:
			return nil, ErrSyntax
		}
	}
}

// AppendResponse appends a response frame, newline included.
func AppendResponse(b []byte, id json.RawMessage, result json.RawMessage) []byte {
	b = appendHead(b, id)
	b = append(b, `,"result":`...)
	b = appendLine(b, result)
	return append(b, '}', '\n')
}

// AppendError appends an error response frame, newline included.
func AppendError(b []byte, id json.RawMessage, object json.RawMessage) []byte {
	b = appendHead(b, id)
	b = append(b, `,"error":`...)
	b = appendLine(b, object)
	return append(b, '}', '\n')
}

// AppendRequest appends a request frame, or a notification if id is nil;
// newline included. params may be nil.
func AppendRequest(b []byte, id json.RawMessage, method string, params json.RawMessage) []byte {
	b = append(b, `{"jsonrpc":"2.0"`...)
	if id != nil {
		b = append(b, `,"id":`...)
		b = append(b, id...)
	}
	b = append(b, `,"method":"`...)
	b = append(b, method...)
	b = append(b, '"')
	if params != nil {
		b = append(b, `,"params":`...)
		b = appendLine(b, params)
	}
	return append(b, '}', '\n')
}

func appendHead(b []byte, id json.RawMessage) []byte {
	b = append(b, `{"jsonrpc":"2.0","id":`...)
	if id == nil {
		return append(b, "null"...)
	}
	return append(b, id...)
}

// appendLine appends raw JSON that must stand on one line. A line break can
// only be white space between tokens, so a space says the same.
func appendLine(b []byte, raw json.RawMessage) []byte {
	n := len(b)
	b = append(b, raw...)
	if bytes.IndexByte(raw, '\n') >= 0 || bytes.IndexByte(raw, '\r') >= 0 {
		for i := n; i < len(b); i++ {
			if b[i] == '\n' || b[i] == '\r' {
				b[i] = ' '
			}
		}
	}
	return b
}

// Quote returns s as a JSON string literal without HTML escapes.
func Quote(s string) json.RawMessage {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string always encodes
	return bytes.TrimRight(buf.Bytes(), "\n")
}

// OneLine returns raw JSON without line breaks, so that it may stand in a frame.
func OneLine(raw json.RawMessage) json.RawMessage { return appendLine(nil, raw) }

// Replace returns an object with another value for one of its members. All else
// keeps its bytes; an object without the member comes back as it is.
func Replace(object json.RawMessage, key string, value json.RawMessage) json.RawMessage {
	out := object
	_ = Spans(object, func(k string, start, end int) bool {
		if k == key {
			out = append(append(append([]byte(nil), object[:start]...), value...), object[end:]...)
		}
		return k != key
	})
	return out
}
