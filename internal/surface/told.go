package surface

import (
	"container/list"
	"sync"
)

// maxTold is how many sessions are remembered, maxToldServers how many servers of
// each.
const (
	maxTold        = 1000
	maxToldServers = 1000
)

// told remembers which servers a session has been told about, for the sessions
// used last. The zero value is ready.
type told struct {
	mu       sync.Mutex
	sessions map[string]*list.Element
	order    list.List // of *toldSession, most recent first
}

type toldSession struct {
	id      string
	servers map[string]bool
}

// once reports whether the session is still to be told of the server, and counts
// it as told.
func (t *told) once(session, server string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sessions == nil {
		t.sessions = map[string]*list.Element{}
	}
	el := t.sessions[session]
	if el == nil {
		el = t.order.PushFront(&toldSession{session, map[string]bool{}})
		t.sessions[session] = el
		if t.order.Len() > maxTold {
			oldest := t.order.Remove(t.order.Back()).(*toldSession)
			delete(t.sessions, oldest.id)
		}
	}
	t.order.MoveToFront(el)
	servers := el.Value.(*toldSession).servers
	if servers[server] || len(servers) >= maxToldServers {
		return false
	}
	servers[server] = true
	return true
}
