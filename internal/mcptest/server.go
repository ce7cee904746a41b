package mcptest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"heddle/internal/wire"
)

// Server is a raw MCP server over newline-delimited JSON-RPC. It runs calls side
// by side and serves one stream.
type Server struct {
	o      Options
	events events
	exit   func(int) // of a process; in memory the stream is closed instead
	asked  atomic.Int64

	in  io.Reader
	out io.Writer

	writing sync.Mutex // one frame at a time

	mu    sync.Mutex
	tools []json.RawMessage
	others
	calls   map[string]context.CancelFunc // by id
	answers map[string]chan []byte        // of the client, by our id
	busy    sync.WaitGroup
}

// NewServer returns a server that does nothing until Serve.
func NewServer(o Options) *Server {
	s := &Server{o: o, tools: o.Tools, others: others{o.Resources, o.Templates, o.Prompts}, calls: map[string]context.CancelFunc{}, answers: map[string]chan []byte{}}
	s.events.more = make(chan struct{})
	if o.Log != "" {
		s.events.file, _ = os.OpenFile(o.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600) // nil keeps them in memory alone
	}
	if o.Tools == nil {
		s.tools = builtin(o.Extra)
	}
	return s
}

// Connect serves a new in-memory stream and returns the client's end, which the
// client must close. It is a Connect function of an upstream's configuration.
// One server serves one stream.
func (s *Server) Connect(context.Context) (io.ReadWriteCloser, error) {
	client, server := net.Pipe()
	s.exit = func(int) { _ = server.Close() }
	go func() {
		s.Serve(server, server)
		_ = server.Close()
	}()
	return client, nil
}

// Events returns what happened so far.
func (s *Server) Events() []Event {
	list, _ := s.events.get()
	return list
}

// WaitEvents waits for n events of the kind and returns all of that kind.
func (s *Server) WaitEvents(t testing.TB, kind string, n int) []Event {
	t.Helper()
	limit := time.NewTimer(Deadline)
	defer limit.Stop()
	for {
		list, more := s.events.get()
		var out []Event
		for _, e := range list {
			if e.Kind == kind {
				out = append(out, e)
			}
		}
		if len(out) >= n {
			return out
		}
		select {
		case <-more:
		case <-limit.C:
			t.Fatalf("the server saw %d events %q, want %d; all: %+v", len(out), kind, n, list)
		}
	}
}

// Serve answers what comes from in until it ends. It returns once every call
// that was begun has its answer or its cancellation.
func (s *Server) Serve(in io.Reader, out io.Writer) {
	s.in, s.out = in, out
	s.begin()
	r := wire.NewReader(in, 256<<20)
	for {
		frame, err := r.Next()
		if err != nil {
			break
		}
		if s.handle(frame) {
			break
		}
	}
	s.events.add(Event{Kind: "eof"})
	s.mu.Lock()
	for _, cancel := range s.calls {
		cancel()
	}
	s.mu.Unlock()
	if s.o.Stubborn {
		forever()
	}
	s.busy.Wait()
}

// forever waits with a timer running: without one the runtime would take the
// silence of all goroutines for a deadlock and end the process.
func forever() { pause(context.Background(), 24*60*60*1000) }

// begin does what the options want at the start.
func (s *Server) begin() {
	if s.o.Stubborn {
		onTerm(func() { s.events.add(Event{Kind: "signal"}) })
	}
	start := Event{Kind: "start"}
	for _, kind := range s.o.Children {
		start.Children = append(start.Children, child(kind))
	}
	s.events.add(start)
	for s.o.BurnCPU > 0 && cpu() < s.o.BurnCPU {
		burn()
	}
	s.stderr(s.o.Stderr)
	s.flood()
	if s.o.ExitAtStart != 0 {
		s.exit(s.o.ExitAtStart)
	}
	s.exitByFile()
	s.raw([]byte(s.o.Noise))
	s.noise()
}

func burn() {
	x := uint64(1)
	for range 1_000_000 {
		x = x*6364136223846793005 + 1442695040888963407
	}
	if x == 0 {
		panic("unreachable")
	}
}

func (s *Server) exitByFile() {
	if s.o.ExitOnce != "" {
		f, err := os.OpenFile(s.o.ExitOnce, os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			_ = f.Close()
			s.exit(1)
		}
	}
	if s.o.ExitUntil != "" {
		if _, err := os.Stat(s.o.ExitUntil); err != nil {
			s.exit(1)
		}
	}
}

// noise writes FloodKiB to stdout.
func (s *Server) noise() {
	line := bytes.Repeat([]byte("."), 1023)
	end := []byte("\n")
	if s.o.FloodLine {
		end = []byte(".")
	}
	for range s.o.FloodKiB {
		s.raw(append(line[:1023:1023], end...))
	}
	if s.o.FloodKiB > 0 {
		s.raw([]byte("\n"))
	}
}

// flood writes StderrKiB to stderr.
func (s *Server) flood() {
	kib := strings.Repeat("-", 1023) + "\n"
	if s.o.StderrLine {
		kib = strings.Repeat("\rprogress", 114)
	}
	for range s.o.StderrKiB {
		s.stderr(kib)
	}
}

func (s *Server) stderr(text string) {
	if text != "" {
		_, _ = os.Stderr.WriteString(text)
	}
}

// raw writes bytes to stdout as they are.
func (s *Server) raw(b []byte) {
	if len(b) == 0 {
		return
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	s.write(b)
}

func (s *Server) write(b []byte) {
	n := s.o.Chunk
	if n == 0 {
		n = len(b)
	}
	for len(b) > 0 {
		k := min(n, len(b))
		if _, err := s.out.Write(b[:k]); err != nil {
			return // nobody reads any more
		}
		b = b[k:]
	}
}

// send writes one frame, which has no newline yet.
func (s *Server) send(frame []byte) {
	end := "\n"
	if s.o.CRLF {
		end = "\r\n"
	}
	frame = append(bytes.TrimRight(frame, "\n"), end...)
	s.raw(frame)
}

// answer writes a response. result is an object; an error object if failed.
func (s *Server) answer(id, result json.RawMessage, failed bool) {
	s.raw([]byte(s.o.NoiseBetween))
	if s.o.WrongIDs {
		for _, wrong := range []string{`"h99999999"`, `77777777`, `"nobody"`, `0`, `1.5`, `null`} {
			s.send(wire.AppendResponse(nil, json.RawMessage(wrong), json.RawMessage(`{"wrong":true}`)))
		}
	}
	if failed {
		s.send(wire.AppendError(nil, id, result))
		return
	}
	s.send(wire.AppendResponse(nil, id, result))
}

// Notify sends a notification to the client.
func (s *Server) Notify(method string, params json.RawMessage) {
	s.send(wire.AppendRequest(nil, nil, method, params))
}

// handle answers one message and reports whether to stop reading.
func (s *Server) handle(frame []byte) (stop bool) {
	m, err := wire.Parse(frame)
	if err != nil {
		s.answer(m.ID, json.RawMessage(`{"code":-32700,"message":"not a message"}`), true)
		return false
	}
	if m.IsResponse() {
		s.events.add(Event{Kind: "response", ID: string(m.ID), Params: frame})
		s.mu.Lock()
		c := s.answers[string(m.ID)]
		s.mu.Unlock()
		if c != nil {
			c <- frame
		}
		return false
	}
	switch m.Method {
	case "server/discover":
		s.discover(&m)
	case "initialize":
		s.events.add(Event{Kind: "initialize", ID: string(m.ID), Params: m.Params})
		s.initialize(&m)
	case "notifications/initialized":
		s.events.add(Event{Kind: "initialized"})
	case "notifications/cancelled":
		s.cancelled(m.Params)
	case "tools/list":
		s.events.add(Event{Kind: "list", ID: string(m.ID), Params: m.Params})
		s.list(&m)
	case "tools/call":
		return s.call(&m)
	case "ping":
		s.answer(m.ID, json.RawMessage(`{}`), false)
	case "subscriptions/listen":
		s.Notify("notifications/subscriptions/acknowledged", json.RawMessage(`{"_meta":{"io.modelcontextprotocol/subscriptionId":`+string(m.ID)+`},"notifications":{"toolsListChanged":true}}`))
	default:
		kind := "notification"
		if m.IsRequest() {
			kind = "request"
		}
		s.events.add(Event{Kind: kind, ID: string(m.ID), Method: m.Method, Params: m.Params})
		if m.IsRequest() {
			s.other(&m)
		}
	}
	return false
}

func (s *Server) discover(m *wire.Message) {
	s.events.add(Event{Kind: "discover", ID: string(m.ID), Params: m.Params})
	switch s.o.Discover {
	case "die":
		s.exit(1)
	case "ignore":
	case "modern":
		pause(context.Background(), s.o.DiscoverDelay)
		s.answer(m.ID, json.RawMessage(`{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":`+s.capabilities()+`,"instructions":`+
			string(wire.Quote(s.o.Instructions))+`,"ttlMs":0,"cacheScope":"private"}`), false)
	default:
		s.answer(m.ID, json.RawMessage(`{"code":-32601,"message":"method not found"}`), true)
	}
}

// later runs f after so many milliseconds, while the server goes on reading.
func (s *Server) later(ms int, f func()) {
	if ms == 0 {
		f()
		return
	}
	time.AfterFunc(time.Duration(ms)*time.Millisecond, f)
}

func (s *Server) initialize(m *wire.Message) {
	switch {
	case s.o.NeverInit:
		return
	case s.o.ModernOnly:
		s.answer(m.ID, json.RawMessage(`{"code":-32601,"message":"initialize is gone"}`), true)
		return
	case s.o.InitError != nil:
		s.answer(m.ID, s.o.InitError, true)
		return
	}
	version := string(wire.Member(m.Params, "protocolVersion"))
	if s.o.Version != "" {
		version = strconv.Quote(s.o.Version)
	}
	field := `"protocolVersion":` + version + `,`
	if s.o.Version == "-" {
		field = ""
	}
	result := fmt.Sprintf(`{%s"capabilities":%s,"serverInfo":{"name":"mcptest","version":"1"},"instructions":%s}`, field, s.capabilities(), wire.Quote(s.o.Instructions))
	s.later(s.o.InitDelay, func() { s.answer(m.ID, json.RawMessage(result), false) })
}

// list answers one page of tools/list.
func (s *Server) list(m *wire.Message) {
	from := 0
	if cursor, ok := wire.Unquote(wire.Member(m.Params, "cursor")); ok {
		from, _ = strconv.Atoi(cursor)
	}
	switch {
	case s.o.ListHang:
		return
	case s.o.ListError != nil && from >= s.o.ListErrorFrom:
		s.answer(m.ID, s.o.ListError, true)
		return
	case s.o.Pages > 0:
		tool := Tool(fmt.Sprintf("tool_%d", from))
		s.page(m.ID, "tools", []json.RawMessage{tool}, from+1, from+1 < s.o.Pages)
		return
	}
	s.mu.Lock()
	tools := s.tools
	s.mu.Unlock()
	s.pageOf(m.ID, "tools", tools, from)
}

// pageOf answers the page of a list that begins with that item.
func (s *Server) pageOf(id json.RawMessage, key string, items []json.RawMessage, from int) {
	from = min(from, len(items))
	to := len(items)
	if s.o.PageSize > 0 {
		to = min(to, from+s.o.PageSize)
	}
	s.page(id, key, items[from:to], to, to < len(items))
}

func (s *Server) page(id json.RawMessage, key string, items []json.RawMessage, next int, more bool) {
	texts := make([]string, len(items))
	for i, t := range items {
		texts[i] = string(t)
	}
	cursor := ""
	switch {
	case s.o.RepeatCursor:
		cursor = `,"nextCursor":"0"`
	case more:
		cursor = `,"nextCursor":"` + strconv.Itoa(next) + `"`
	case s.o.EmptyCursor:
		cursor = `,"nextCursor":""`
	}
	if s.o.Discover == "modern" {
		cursor += `,"resultType":"complete","ttlMs":0,"cacheScope":"private"`
	}
	s.answer(id, json.RawMessage(`{"`+key+`":[`+strings.Join(texts, ",")+`]`+cursor+`}`), false)
}

// Tool returns a tool definition with an empty object schema.
func Tool(name string) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"name":%s,"description":"A tool of mcptest.","inputSchema":{"type":"object"}}`, wire.Quote(name)))
}

func (s *Server) cancelled(params json.RawMessage) {
	id := string(wire.Member(params, "requestId"))
	s.mu.Lock()
	cancel := s.calls[id]
	s.mu.Unlock()
	if cancel != nil {
		cancel()
	}
	s.events.add(Event{Kind: "cancelled", ID: id, Params: params})
}

// call starts a tool and reports whether to stop reading.
func (s *Server) call(m *wire.Message) (stop bool) {
	name, _ := wire.Unquote(wire.Member(m.Params, "name"))
	s.events.add(Event{Kind: "call", ID: string(m.ID), Tool: name, Params: m.Params})
	ctx, cancel := context.WithCancel(context.Background()) // a call ends with the server, whose end cancels it
	s.mu.Lock()
	s.calls[string(m.ID)] = cancel
	s.mu.Unlock()
	s.busy.Go(func() {
		defer func() {
			s.mu.Lock()
			delete(s.calls, string(m.ID))
			s.mu.Unlock()
			cancel()
		}()
		if s.o.StderrKiB > 0 {
			s.flood()
		}
		s.run(ctx, m.ID, name, m.Params)
	})
	switch {
	case s.o.CloseStdin:
		s.busy.Wait()
		if c, ok := s.in.(io.Closer); ok {
			_ = c.Close()
		}
		forever()
	case s.o.Deaf:
		forever()
	}
	return false
}

// errCancelled ends a tool without an answer.
var errCancelled = errors.New("cancelled")

func (s *Server) run(ctx context.Context, id json.RawMessage, name string, params json.RawMessage) {
	if raw, ok := s.o.Results[name]; ok {
		s.answer(id, raw, false)
		return
	}
	if raw, ok := s.o.Errors[name]; ok {
		s.answer(id, raw, true)
		return
	}
	args := wire.Member(params, "arguments")
	result, err := s.tool(ctx, name, args, call{id: id, params: params})
	switch {
	case errors.Is(err, errCancelled), errors.Is(err, errAnswered):
	case err != nil:
		s.answer(id, json.RawMessage(`{"code":-32602,"message":`+string(wire.Quote(err.Error()))+`}`), true)
	default:
		s.answer(id, result, false)
	}
}
