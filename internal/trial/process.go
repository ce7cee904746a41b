package trial

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"time"
)

// version is what most hosts ask for.
const version = "2025-11-25"

// process is a heddle that runs. It is spoken to byte by byte, as hosts do, and
// not through the SDK, which would choose another era of the protocol.
type process struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	lines chan []byte // closed with its stdout
	ended chan error
	once  sync.Once
	asked int
}

func start(c *exec.Cmd) (*process, error) {
	in, err := c.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.Start(); err != nil {
		return nil, err
	}
	p := &process{cmd: c, stdin: in, lines: make(chan []byte, 64), ended: make(chan error, 1)}
	go func() {
		r := bufio.NewReader(out)
		for {
			line, err := r.ReadBytes('\n')
			if err != nil {
				break
			}
			p.lines <- line
		}
		close(p.lines)
		p.ended <- c.Wait()
	}()
	return p, nil
}

const (
	calm  = 5 * time.Second // to end once stdin is closed
	haste = 2 * time.Second // to end once interrupted
)

// end closes stdin, as hosts do, and helps where that is not enough.
func (p *process) end() {
	p.once.Do(func() {
		_ = p.stdin.Close() // it may have ended
		go func() {         // nobody reads on
			for range p.lines {
			}
		}()
		for _, next := range []struct {
			wait time.Duration
			then func()
		}{{calm, func() { interrupt(p.cmd) }}, {haste, func() { _ = p.cmd.Process.Kill() }}} {
			select {
			case <-p.ended:
				return
			case <-time.After(next.wait):
				next.then()
			}
		}
		<-p.ended
	})
}

// greet shakes hands.
func (p *process) greet(ctx context.Context, host string) (Session, error) {
	var init struct {
		ProtocolVersion string
		ServerInfo      struct{ Name, Version string }
	}
	err := p.ask(ctx, "initialize", map[string]any{
		"protocolVersion": version, "capabilities": struct{}{}, "clientInfo": map[string]string{"name": host, "version": "verify"},
	}, &init)
	if err == nil {
		err = p.write(map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"})
	}
	if err != nil {
		return Session{}, &Error{"initialize", nil, err}
	}
	return Session{Server: init.ServerInfo.Name + " " + init.ServerInfo.Version, Protocol: init.ProtocolVersion}, nil
}

// maxPages bounds a list that does not end.
const maxPages = 100

// tools lists the names of all tools.
func (p *process) tools(ctx context.Context) ([]string, error) {
	var out []string
	params := map[string]any{}
	for range maxPages {
		var page struct {
			Tools      []struct{ Name string }
			NextCursor string
		}
		if err := p.ask(ctx, "tools/list", params, &page); err != nil {
			return out, &Error{"tools/list", nil, err}
		}
		for _, t := range page.Tools {
			out = append(out, t.Name)
		}
		if page.NextCursor == "" {
			break
		}
		params["cursor"] = page.NextCursor
	}
	return out, nil
}

func (p *process) write(message map[string]any) error {
	raw, err := json.Marshal(message)
	if err == nil {
		_, err = p.stdin.Write(append(raw, '\n'))
	}
	return err
}

// ask sends a request and waits for its answer.
func (p *process) ask(ctx context.Context, method string, params any, result any) error {
	p.asked++
	// A broken pipe is no reason: the end of stdout says more.
	_ = p.write(map[string]any{"jsonrpc": "2.0", "id": p.asked, "method": method, "params": params})
	for {
		select {
		case <-ctx.Done():
			return fmt.Errorf("no answer within %s", patience)
		case line, ok := <-p.lines:
			if !ok {
				return errors.New("heddle ended without an answer")
			}
			var m struct {
				ID     any
				Result json.RawMessage
				Error  *struct{ Message string }
			}
			if err := json.Unmarshal(line, &m); err != nil {
				return errors.New("what is on stdout is no JSON-RPC")
			}
			if m.ID != float64(p.asked) {
				continue // a notification
			}
			if m.Error != nil {
				return errors.New(m.Error.Message)
			}
			return json.Unmarshal(m.Result, result)
		}
	}
}
