package surface

import (
	"bytes"
	"context"
	"encoding/json"
	"sync"

	"heddle/internal/wire"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const listenMethod = "subscriptions/listen"

// sdkConn is the host's connection as the SDK sees it. The SDK names a
// subscription by the id of the request that opened it, of which it knows only
// the number that [wire.Conn] gave it; the host must read its own.
type sdkConn struct {
	*wire.Conn

	mu   sync.Mutex
	open map[int64]json.RawMessage // the host's ids of open subscriptions, by the SDK's
}

// Connect implements [mcp.Transport].
func (c *sdkConn) Connect(context.Context) (mcp.Connection, error) { return c, nil }

// Read implements [mcp.Connection].
func (c *sdkConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	msg, err := c.Conn.Read(ctx)
	if r, ok := msg.(*jsonrpc.Request); ok && r.Method == listenMethod {
		if extra, ok := r.Extra.(*mcp.RequestExtra); ok && len(extra.Header[idHeader]) == 1 {
			n, _ := r.ID.Raw().(int64)
			c.mu.Lock()
			c.open[n] = json.RawMessage(extra.Header[idHeader][0])
			c.mu.Unlock()
		}
	}
	return msg, err
}

// Write implements [mcp.Connection].
func (c *sdkConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	switch m := msg.(type) {
	case *jsonrpc.Request:
		if bytes.Contains(m.Params, []byte(mcp.MetaKeySubscriptionID)) {
			msg = &jsonrpc.Request{ID: m.ID, Method: m.Method, Params: c.named(m.Params)}
		}
	case *jsonrpc.Response:
		if n, _ := m.ID.Raw().(int64); c.subscription(n) != nil {
			msg = &jsonrpc.Response{ID: m.ID, Result: c.named(m.Result), Error: m.Error}
			defer c.forget(n)
		}
	}
	return c.Conn.Write(ctx, msg)
}

func (c *sdkConn) subscription(n int64) json.RawMessage {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.open[n]
}

func (c *sdkConn) forget(n int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, n)
}

// named returns params or a result with the subscription's id in its _meta as
// the host wrote it.
func (c *sdkConn) named(raw json.RawMessage) json.RawMessage {
	meta := wire.Member(raw, "_meta")
	var n int64
	if json.Unmarshal(wire.Member(meta, mcp.MetaKeySubscriptionID), &n) != nil {
		return raw
	}
	id := c.subscription(n)
	if id == nil {
		return raw
	}
	return wire.Replace(raw, "_meta", wire.Replace(meta, mcp.MetaKeySubscriptionID, id))
}

// unlisten ends all subscriptions, as their host's cancellation would: they
// would otherwise never be answered. The connection must have read its last
// frame.
func (c *sdkConn) unlisten() {
	c.mu.Lock()
	var ids []json.RawMessage
	for _, id := range c.open {
		ids = append(ids, id)
	}
	c.mu.Unlock()
	for _, id := range ids {
		params := append(append([]byte(`{"requestId":`), id...), '}')
		c.Feed(wire.AppendRequest(nil, nil, "notifications/cancelled", params))
	}
}
