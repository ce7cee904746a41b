package upstream

import (
	"fmt"
	"sync"
	"time"

	"heddle/internal/wire"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// probeWait is how long a server may take to answer server/discover before the
// handshake of older protocol versions begins. Servers older than that method
// may never answer it.
const probeWait = time.Second

// probe watches the request with which the SDK asks whether a server speaks a
// protocol without handshake.
type probe struct {
	wait time.Duration // 0 is probeWait

	mu     sync.Mutex
	id     string // of the request; "" before it was sent
	timer  *time.Timer
	gaveUp bool // we answered in the server's place
	got    bool // the server answered in time
	late   bool // the server answered, and well, but too late
}

func (p *probe) start(conn *wire.Conn, id jsonrpc.ID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	d := p.wait
	if d == 0 {
		d = probeWait
	}
	p.id = fmt.Sprint(id.Raw())
	p.timer = time.AfterFunc(d, func() {
		p.mu.Lock()
		give := !p.got
		p.gaveUp = give
		p.mu.Unlock()
		if give {
			conn.Inject(&jsonrpc.Response{ID: id, Error: &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "no answer to server/discover"}})
		}
	})
}

// answered is told of each response to the SDK and reports whether the SDK must
// not see it.
func (p *probe) answered(m *wire.Message) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.id == "" || string(m.ID) != p.id {
		return false
	}
	if p.gaveUp {
		p.late = p.late || m.Result != nil
		return true
	}
	p.got = true
	p.timer.Stop()
	return false
}

// unanswered reports whether the request was sent and never answered.
func (p *probe) unanswered() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.id != "" && !p.got && !p.late
}

func (p *probe) cameLate() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.late
}
