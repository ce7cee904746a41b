package test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"

	"heddle/internal/mcptest"
	"heddle/internal/wire"
)

// parrot becomes an MCP server that repeats what it is told, in every place where a
// server can write. Its tools take "text" and any other arguments:
//
//	say, strict, limited, rare, asks, denied   its arguments, as a result
//	same    {"result"}  that result
//	fail                its arguments, with isError
//	rpc                 its arguments, as message and data of a JSON-RPC error
//	log                 its arguments, on stderr, as a log message and as progress
//	big                 the text in the middle of a long log
//	rows                a table, whatever it is told
//	die                 its arguments, environment and command line on stderr; then it ends
//
// With PARROT=dead it does that at the start, with PARROT=loud it says all that on
// stderr and lives on. PARROT_TOOLS are names of further tools.
func parrot() {
	p := &parrotServer{}
	switch os.Getenv("PARROT") {
	case "dead":
		p.tell("")
		os.Exit(4)
	case "loud":
		p.tell("")
	}
	in := wire.NewReader(os.Stdin, 64<<20)
	for {
		frame, err := in.Next()
		if err != nil {
			os.Exit(0)
		}
		if m, err := wire.Parse(frame); err == nil && m.IsRequest() {
			p.answer(&m)
		}
	}
}

type parrotServer struct{ writing sync.Mutex }

func (p *parrotServer) send(frame []byte) {
	p.writing.Lock()
	defer p.writing.Unlock()
	_, _ = os.Stdout.Write(append(frame, '\n'))
}

// tell writes on stderr what the server knows: how it was started, and a text.
func (p *parrotServer) tell(text string) {
	for _, kv := range os.Environ() {
		if strings.HasPrefix(kv, "KNOWN") || strings.HasPrefix(kv, "API_TOKEN") {
			fmt.Fprintln(os.Stderr, "parrot has", kv)
		}
	}
	for _, a := range os.Args[1:] {
		fmt.Fprintln(os.Stderr, "parrot got", a)
	}
	if text != "" {
		fmt.Fprintln(os.Stderr, text)
	}
}

func (p *parrotServer) answer(m *wire.Message) {
	switch m.Method {
	case "initialize":
		p.send(wire.AppendResponse(nil, m.ID, json.RawMessage(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"logging":{}},"serverInfo":{"name":"parrot","version":"1"}}`)))
	case "ping", "logging/setLevel":
		p.send(wire.AppendResponse(nil, m.ID, json.RawMessage(`{}`)))
	case "tools/list":
		p.send(wire.AppendResponse(nil, m.ID, parrotTools()))
	case "tools/call":
		p.call(m)
	default:
		p.send(wire.AppendError(nil, m.ID, json.RawMessage(`{"code":-32601,"message":"method not found"}`)))
	}
}

func parrotTools() json.RawMessage {
	var tools []string
	for _, name := range append([]string{"say", "same", "fail", "rpc", "log", "big", "rows", "die", "limited", "rare", "asks", "denied"}, strings.Fields(os.Getenv("PARROT_TOOLS"))...) {
		tools = append(tools, string(mcptest.Tool(name)))
	}
	tools = append(tools, `{"name":"strict","description":"A tool of parrot.","inputSchema":{"type":"object","properties":{"n":{"type":"integer"},"of":{"enum":["a","b"]}},"required":["n"],"additionalProperties":false}}`)
	return json.RawMessage(`{"tools":[` + strings.Join(tools, ",") + `]}`)
}

func (p *parrotServer) call(m *wire.Message) {
	name, _ := wire.Unquote(wire.Member(m.Params, "name"))
	args := wire.Member(m.Params, "arguments")
	text, _ := wire.Unquote(wire.Member(args, "text"))
	quoted := string(wire.Quote(text))
	both := json.RawMessage(`{"content":[{"type":"text","text":` + quoted + `},{"type":"text","text":` + string(wire.Quote(string(args))) + `}],"structuredContent":{"said":` + string(args) + `}`)
	switch name {
	case "same":
		p.send(wire.AppendResponse(nil, m.ID, wire.Member(args, "result")))
		return
	case "fail":
		both = append(both, `,"isError":true`...)
	case "rpc":
		p.send(wire.AppendError(nil, m.ID, json.RawMessage(`{"code":-32050,"message":`+quoted+`,"data":`+string(args)+`}`)))
		return
	case "log":
		p.tell(text)
		p.send(wire.AppendRequest(nil, nil, "notifications/message", json.RawMessage(`{"level":"error","logger":`+quoted+`,"data":`+quoted+`}`)))
		p.send(wire.AppendRequest(nil, nil, "notifications/message", json.RawMessage(`{"level":"error","data":`+string(args)+`}`)))
		if token := wire.Member(wire.Member(m.Params, "_meta"), "progressToken"); token != nil {
			p.send(wire.AppendRequest(nil, nil, "notifications/progress", json.RawMessage(`{"progress":1,"progressToken":`+string(token)+`,"message":`+quoted+`}`)))
		}
	case "big":
		half := strings.Repeat("2026-03-01T00:00:00Z INFO worker: a job took some ms\n", 150)
		p.send(wire.AppendResponse(nil, m.ID, mcptest.Text(half+text+"\n"+half)))
		return
	case "rows":
		var rows []string
		for i := range 80 {
			rows = append(rows, fmt.Sprintf(`{"order_id":%d,"customer":"customer %d","amount":%d.5}`, i, i%20, i))
		}
		p.send(wire.AppendResponse(nil, m.ID, mcptest.Text("["+strings.Join(rows, ",")+"]")))
		return
	case "die":
		p.tell(text)
		os.Exit(3)
	}
	p.send(wire.AppendResponse(nil, m.ID, append(both, '}')))
}
