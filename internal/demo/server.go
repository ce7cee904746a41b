package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"heddle/internal/inproc"
	"heddle/internal/wire"
)

// tool runs one call of a tool. The JSON that it returns becomes the text of the
// result, an error a result that says isError.
type tool func(ctx context.Context, c *inproc.Call) (json.RawMessage, error)

// simple is a tool that answers at once from its arguments. It has the lock of
// its server's state until its answer, which may point into that, is written
// down.
func simple[A any](state *sync.Mutex, f func(A) (any, error)) tool {
	return func(_ context.Context, c *inproc.Call) (json.RawMessage, error) {
		var args A
		if len(c.Arguments) > 0 {
			if err := json.Unmarshal(c.Arguments, &args); err != nil {
				return nil, fmt.Errorf("arguments: %w", err)
			}
		}
		state.Lock()
		defer state.Unlock()
		v, err := f(args)
		if err != nil {
			return nil, err
		}
		return encode(v)
	}
}

// encode is JSON as people would write it: without HTML escapes.
func encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimRight(b.Bytes(), "\n"), err
}

// object is a JSON object without a type of its own.
type object map[string]any

// server is one MCP server. Its sessions share the state behind the tools.
type server struct {
	inproc.Server
	tools   map[string]tool
	timeout time.Duration // that heddle gives it; 0 is patience
	results *results

	silent atomic.Bool // it takes calls and answers none
}

// run runs a call of a tool; nil if there is no such tool.
func (s *server) run(ctx context.Context, c *inproc.Call) json.RawMessage {
	run := s.tools[c.Tool]
	if run == nil {
		return nil
	}
	if s.silent.Load() {
		<-ctx.Done()
		return nil
	}
	answer, err := run(ctx, c)
	if ctx.Err() != nil {
		return nil
	}
	raw := result(answer, err)
	s.results.add(s.Name, raw)
	return raw
}

// result is the result object of what a tool returned.
func result(answer json.RawMessage, err error) json.RawMessage {
	if err != nil {
		return fmt.Appendf(nil, `{"content":[{"type":"text","text":%s}],"isError":true}`, wire.Quote(err.Error()))
	}
	return fmt.Appendf(nil, `{"content":[{"type":"text","text":%s}]}`, wire.Quote(string(answer)))
}
