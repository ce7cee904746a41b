package upstream

import (
	"slices"

	"heddle"
	"heddle/internal/wire"
)

// lists are the methods that list what a server has, by the notification that
// says a list has changed.
var lists = map[string][]string{
	"notifications/tools/list_changed":     {listTools},
	"notifications/resources/list_changed": {ListResources, ListTemplates},
	"notifications/prompts/list_changed":   {ListPrompts},
}

// forwarded are the notifications that hosts may want to hear.
var forwarded = map[string]bool{
	"notifications/message": true, "notifications/resources/updated": true, "notifications/elicitation/complete": true,
}

// takeNotification handles what a server says unasked. The SDK sees only what
// it needs for its own session.
func (s *session) takeNotification(m *wire.Message) bool {
	switch {
	case m.Method == "notifications/cancelled":
		s.asks.cancelled(wire.Member(m.Params, "requestId"))
		return true
	case lists[m.Method] != nil:
		s.outdate(lists[m.Method])
		return true
	case forwarded[m.Method]:
		if s.deps.Heard != nil {
			s.deps.Heard(s.name, m.Method, s.deps.said(m.Params), s.hearer())
		}
		return true
	}
	return false
}

// outdate notes that lists have changed. A server may say so many times of one
// list; none of the others is lost for that.
func (s *session) outdate(methods []string) {
	s.mu.Lock()
	for _, method := range methods {
		if !slices.Contains(s.stale, method) {
			s.stale = append(s.stale, method)
		}
	}
	s.mu.Unlock()
	select {
	case s.relist <- struct{}{}:
	default: // one is waiting already
	}
}

// outdated returns the lists that have changed since the last time.
func (s *session) outdated() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	methods := s.stale
	s.stale = nil
	return methods
}

// hearer returns the host on whose call's stream the last frame came; nil where
// the transport does not tell.
func (s *session) hearer() heddle.Host {
	if s.origin == nil {
		return nil
	}
	n, ok := number(s.origin())
	if !ok {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.pending[n]; p != nil {
		return p.host
	}
	return nil
}
