package mcptest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"heddle/internal/wire"
)

// names are the built-in tools:
//
//	echo      {"text"}               the text
//	args      anything               its own arguments and _meta, exact bytes, as JSON text
//	slow      {"ms","late"}          waits; cancelled it never answers, with late it answers anyway
//	progress  {"steps","ms"}         reports progress before each pause; nothing without a token
//	crash     {"code","stderr"}      writes to stderr and exits
//	big       {"bytes","id_last","of"}  that much text, of "log" or "rows"; the response's id first or last
//	add_tool  {"name","times"}       lists one tool more and says so that many times
//	ask       {"method","params"}    sends the request to the client and returns its whole answer
//	bad_utf8  {}                     bytes that are no UTF-8
//	pid, env  {}                     the process id, the environment
//	fail      {}                     isError
//	close_stdout {}                  closes stdout and lives on
//
// and, with Extra, what belongs to the rest of the protocol:
//
//	notify    {"method","params","times"}  sends the notification that many times, at least once
//	add       {"to","item","times"}  lists one resource, template or prompt more and says so
//	input     {"requests","times"}   answers input_required that many times, then what it was told
var names = []string{"echo", "args", "slow", "progress", "crash", "big", "add_tool", "ask", "bad_utf8", "pid", "env", "fail", "close_stdout"}

var extra = []string{"notify", "add", "input"}

func builtin(more bool) []json.RawMessage {
	var out []json.RawMessage
	for _, n := range names {
		out = append(out, Tool(n))
	}
	for _, n := range extra {
		if more {
			out = append(out, Tool(n))
		}
	}
	return out
}

// Builtin returns the names of the built-in tools.
func Builtin() []string { return append([]string(nil), names...) }

// Text returns a result of one text block, as the built-in tools answer it.
func Text(s string) json.RawMessage {
	return json.RawMessage(`{"content":[{"type":"text","text":` + string(wire.Quote(s)) + `}]}`)
}

// errAnswered says that the tool has written its answer itself.
var errAnswered = errors.New("answered")

// call is the request that a tool answers.
type call struct{ id, params json.RawMessage }

// arguments of all built-in tools.
type arguments struct {
	Text, Name, Method, Stderr   string
	MS, Steps, Bytes, Code, Late int
	Times                        int
	IDLast                       bool `json:"id_last"`
	Params, Item, Requests       json.RawMessage
	To, Of                       string
}

func (s *Server) tool(ctx context.Context, name string, raw json.RawMessage, c call) (json.RawMessage, error) {
	var a arguments
	_ = json.Unmarshal(raw, &a) // what does not fit is left zero: this server checks nothing
	switch name {
	case "echo":
		return Text(a.Text), nil
	case "args":
		return Text(fmt.Sprintf(`{"arguments":%s,"_meta":%s}`, orNull(raw), orNull(wire.Member(c.params, "_meta")))), nil
	case "slow":
		return s.slow(ctx, &a)
	case "progress":
		return s.progress(ctx, &a, c)
	case "crash":
		s.stderr(a.Stderr)
		s.exit(a.Code)
		return nil, errAnswered
	case "big":
		return nil, s.big(&a, c)
	case "add_tool":
		s.addTool(&a)
		return Text("added"), nil
	case "ask":
		return s.ask(ctx, &a)
	case "notify":
		for range max(1, a.Times) {
			s.Notify(a.Method, a.Params)
		}
		return Text("told"), nil
	case "add":
		s.Add(a.To, a.Item, a.Times)
		return Text("added"), nil
	case "input":
		return input(&a, c), nil
	case "bad_utf8":
		return json.RawMessage("{\"content\":[{\"type\":\"text\",\"text\":\"\xb0\xa1 \xff\"}]}"), nil
	case "pid":
		return Text(strconv.Itoa(os.Getpid())), nil
	case "env":
		text, _ := json.Marshal(os.Environ())
		return Text(string(text)), nil
	case "fail":
		return json.RawMessage(`{"content":[{"type":"text","text":"it failed"}],"isError":true}`), nil
	case "close_stdout":
		_ = os.Stdout.Close()
		return nil, errAnswered
	}
	return nil, errors.New("unknown tool " + name)
}

func orNull(raw json.RawMessage) json.RawMessage {
	if raw == nil {
		return json.RawMessage("null")
	}
	return raw
}

// pause waits and reports whether that was not cancelled.
func pause(ctx context.Context, ms int) bool {
	t := time.NewTimer(time.Duration(ms) * time.Millisecond)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func (s *Server) slow(ctx context.Context, a *arguments) (json.RawMessage, error) {
	if pause(ctx, a.MS) || a.Late > 0 {
		return Text("done"), nil
	}
	return nil, errCancelled
}

func (s *Server) progress(ctx context.Context, a *arguments, c call) (json.RawMessage, error) {
	token := wire.Member(wire.Member(c.params, "_meta"), "progressToken")
	for i := range a.Steps {
		if token != nil {
			s.Notify("notifications/progress", fmt.Appendf(nil, `{"progress":%d,"progressToken":%s,"total":%d,"x":9007199254740993}`, i+1, token, a.Steps))
		}
		if !pause(ctx, a.MS) {
			return nil, errCancelled
		}
	}
	return Text(fmt.Sprintf("%d steps", a.Steps)), nil
}

// big writes its response itself, so that the id may stand last.
func (s *Server) big(a *arguments, c call) error {
	var b bytes.Buffer
	b.WriteString(`{"jsonrpc":"2.0",`)
	if !a.IDLast {
		fmt.Fprintf(&b, `"id":%s,`, c.id)
	}
	b.WriteString(`"result":{"content":[{"type":"text","text":"`)
	b.WriteString(bigText(a.Of, a.Bytes))
	b.WriteString(`"}]}`)
	if a.IDLast {
		fmt.Fprintf(&b, `,"id":%s`, c.id)
	}
	b.WriteString(`}`)
	s.send(b.Bytes())
	return errAnswered
}

// bigText is at least so many bytes of text as it stands in a JSON string.
func bigText(of string, size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		switch of {
		case "log":
			fmt.Fprintf(&b, `2026-03-01T00:00:00Z INFO worker-%d: \"job\" %08x took %d ms\n`, i%16, uint32(i)*2654435761, i*7919%997)
		case "rows":
			fmt.Fprintf(&b, `%s{\"id\":%d,\"name\":\"item %08x\",\"ms\":%d,\"tags\":[\"a\",\"b\"]}`, sep(i), i, uint32(i)*2654435761, i*7919%997)
		default:
			return strings.Repeat("x", size)
		}
	}
	if of == "rows" {
		b.WriteByte(']')
	}
	return b.String()
}

func sep(i int) string {
	if i == 0 {
		return "["
	}
	return ","
}

func (s *Server) addTool(a *arguments) {
	s.mu.Lock()
	s.tools = append(s.tools[:len(s.tools):len(s.tools)], Tool(a.Name))
	s.mu.Unlock()
	for range a.Times {
		s.Notify("notifications/tools/list_changed", nil)
	}
}

// Add lists one item more in "resources", "templates" or "prompts" and says so
// that many times.
func (s *Server) Add(to string, item json.RawMessage, times int) {
	notification := "notifications/resources/list_changed"
	s.mu.Lock()
	switch to {
	case "resources":
		s.resources = append(s.resources[:len(s.resources):len(s.resources)], item)
	case "templates":
		s.templates = append(s.templates[:len(s.templates):len(s.templates)], item)
	case "prompts":
		s.prompts, notification = append(s.prompts[:len(s.prompts):len(s.prompts)], item), "notifications/prompts/list_changed"
	}
	s.mu.Unlock()
	for range times {
		s.Notify(notification, nil)
	}
}

// input answers as a server without handshake asks back: with what it wants to
// know, until it has been told often enough. The state counts, as text that
// nobody but this server may read.
func input(a *arguments, c call) json.RawMessage {
	responses, state, round := wire.Member(c.params, "inputResponses"), wire.Member(c.params, "requestState"), 0
	if text, ok := wire.Unquote(state); ok {
		_, _ = fmt.Sscanf(text, "round \\ %d", &round)
	}
	if round < a.Times {
		return fmt.Appendf(nil, `{"resultType":"input_required","inputRequests":%s,"requestState":"round \\ %d"}`, a.Requests, round+1)
	}
	return Text(fmt.Sprintf(`{"inputResponses":%s,"requestState":%s}`, orNull(responses), orNull(state)))
}

// Ask sends a request to the client and returns its id and where the whole
// answer comes. Ids are "ask-1", "ask-2", ….
func (s *Server) Ask(method string, params json.RawMessage) (id string, answer <-chan []byte) {
	id = fmt.Sprintf(`"ask-%d"`, s.asked.Add(1))
	c := make(chan []byte, 1)
	s.mu.Lock()
	s.answers[id] = c
	s.mu.Unlock()
	s.send(wire.AppendRequest(nil, json.RawMessage(id), method, params))
	return id, c
}

// ask sends a request to the client and returns its answer as text.
func (s *Server) ask(ctx context.Context, a *arguments) (json.RawMessage, error) {
	_, c := s.Ask(a.Method, a.Params)
	select {
	case frame := <-c:
		return Text(string(frame)), nil
	case <-ctx.Done():
		return nil, errCancelled
	}
}
