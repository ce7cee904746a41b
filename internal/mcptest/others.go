package mcptest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"heddle/internal/wire"
)

// others are what a server lists beside tools.
type others struct{ resources, templates, prompts []json.RawMessage }

// capabilities returns what the options offer.
func (s *Server) capabilities() string {
	out := []string{`"tools":{"listChanged":true}`}
	if s.o.Resources != nil || s.o.Templates != nil {
		out = append(out, `"resources":{"listChanged":true,"subscribe":`+strconv.FormatBool(s.o.Subscribe)+`}`)
	}
	if s.o.Prompts != nil {
		out = append(out, `"prompts":{"listChanged":true}`)
	}
	if s.o.Completion != nil {
		out = append(out, `"completions":{}`)
	}
	if s.o.Logging {
		out = append(out, `"logging":{}`)
	}
	return "{" + strings.Join(out, ",") + "}"
}

// other answers a request that is about no tools.
func (s *Server) other(m *wire.Message) {
	if slices.Contains(s.o.Hang, m.Method) {
		return
	}
	s.mu.Lock()
	o := s.others
	s.mu.Unlock()
	uri, _ := wire.Unquote(wire.Member(m.Params, "uri"))
	name, _ := wire.Unquote(wire.Member(m.Params, "name"))
	switch {
	case m.Method == "resources/list" && s.o.Resources != nil:
		s.items(m, "resources", o.resources, `{"uri":"x://%[1]d","name":"item_%[1]d"}`)
	case m.Method == "resources/templates/list" && s.o.Templates != nil:
		s.items(m, "resourceTemplates", o.templates, `{"uriTemplate":"x://%[1]d/{id}","name":"item_%[1]d"}`)
	case m.Method == "prompts/list" && s.o.Prompts != nil:
		s.items(m, "prompts", o.prompts, `{"name":"item_%d"}`)
	case m.Method == "resources/read" && s.o.Contents[uri] != nil:
		s.answer(m.ID, s.o.Contents[uri], false)
	case m.Method == "resources/read":
		s.answer(m.ID, fmt.Appendf(nil, `{"code":-32002,"message":"Resource not found","data":{"uri":%s}}`, wire.Quote(uri)), true)
	case m.Method == "prompts/get" && s.o.Messages[name] != nil:
		s.answer(m.ID, s.o.Messages[name], false)
	case m.Method == "completion/complete" && s.o.Completion != nil:
		s.answer(m.ID, s.o.Completion, false)
	case m.Method == "logging/setLevel" && s.o.Logging, strings.HasSuffix(m.Method, "subscribe") && s.o.Subscribe:
		s.answer(m.ID, json.RawMessage(`{}`), false)
	default:
		s.answer(m.ID, json.RawMessage(`{"code":-32601,"message":"method not found"}`), true)
	}
}

// items answers one page of a list; generated is the format of an item where
// pages of those are wanted.
func (s *Server) items(m *wire.Message, key string, items []json.RawMessage, generated string) {
	from := 0
	if cursor, ok := wire.Unquote(wire.Member(m.Params, "cursor")); ok {
		from, _ = strconv.Atoi(cursor)
	}
	if s.o.Pages > 0 {
		s.page(m.ID, key, []json.RawMessage{fmt.Appendf(nil, generated, from)}, from+1, from+1 < s.o.Pages)
		return
	}
	s.pageOf(m.ID, key, items, from)
}

// Requests returns the requests of the method among the events.
func Requests(events []Event, method string) []Event {
	var out []Event
	for _, e := range events {
		if e.Kind == "request" && e.Method == method {
			out = append(out, e)
		}
	}
	return out
}
