package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"heddle"
	"heddle/internal/inproc"
	"heddle/internal/policy"
	"heddle/internal/wire"
)

// peerHost is the client's end of a server's stream.
type peerHost struct {
	t *testing.T
	c io.ReadWriteCloser
	r *wire.Reader
}

func connectTo(t *testing.T, s *server) *peerHost {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	c, err := s.Connect(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(); cancel() })
	return &peerHost{t, c, wire.NewReader(c, inproc.MaxFrame)}
}

// line writes a line and returns the next one of the server's.
func (p *peerHost) line(text string) string {
	p.t.Helper()
	if _, err := io.WriteString(p.c, text+"\n"); err != nil {
		p.t.Fatal(err)
	}
	return p.next()
}

func (p *peerHost) next() string {
	p.t.Helper()
	frame, err := p.r.Next()
	if err != nil {
		p.t.Fatal(err)
	}
	return string(frame)
}

// TestProtocol speaks to a server without heddle in between.
func TestProtocol(t *testing.T) {
	fleet, err := newFleet()
	if err != nil {
		t.Fatal(err)
	}
	p := connectTo(t, fleet.servers[5])
	for _, c := range []struct{ send, want string }{
		{`{"jsonrpc":"2.0","id":1,"method":"server/discover"}`, `"id":1,"error":{"code":-32601`},
		{`{"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocolVersion":"2025-06-18"}}`, `"id":"a","result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}}`},
		{`{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"2031-01-01"}}`, `"protocolVersion":"2025-11-25"`},
		{`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" + `{"jsonrpc":"2.0","id":3,"method":"ping"}`, `{"jsonrpc":"2.0","id":3,"result":{}}`},
		{`{"jsonrpc":"2.0","id":4,"method":"tools/list"}`, `{"tools":[{"name":"read_file","description":"Read a file`},
		{`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"nothing"}}`, `"id":5,"error":{"code":-32602`},
		{`{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"read_file","arguments":{"path":"/no"}}}`, `"text":"there is no file /no"}],"isError":true`},
		{`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"read_file","arguments":{"path":7}}}`, `"isError":true`},
		{`{"jsonrpc":"2.0","id":8}`, `"id":8,"error":{"code":-32600`},
		{`what?`, `"id":null,"error":{"code":-32700`},
	} {
		if got := p.line(c.send); !strings.Contains(got, c.want) {
			t.Errorf("%s\n got %s\nwant %s", c.send, got, c.want)
		}
	}
}

// TestSlow cancels the export, and lets one run to its end.
func TestSlow(t *testing.T) {
	fleet, err := newFleet()
	if err != nil {
		t.Fatal(err)
	}
	fleet.database.tables[0].Rows = exportRows + 1
	p := connectTo(t, fleet.servers[1])
	call := func(id, table string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"export_table","arguments":{"table":"` + table + `"},"_meta":{"progressToken":9}}}`
	}
	if got, want := p.line(call("1", "orders")), `"params":{"progressToken":9,"progress":1000,"total":200000}`; !strings.Contains(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
	_, _ = io.WriteString(p.c, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`+"\n")
	<-fleet.database.stopped
	got := p.line(call("2", "customers"))
	for strings.Contains(got, `"total":200000`) { // was under way
		got = p.next()
	}
	if want := `"progress":1000,"total":1001`; !strings.Contains(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := p.next(), `\"status\":\"done\",\"rows_written\":1001,\"rows\":1001,\"file\":\"/exports/customers.csv\"`; !strings.Contains(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
}

// samples are good arguments of every tool, in an order in which all succeed.
var samples = []struct{ server, tool, args, want string }{
	{"source", "search_repositories", `{"query":"SHOP"}`, `"total":1`},
	{"source", "get_file_contents", `{"repository":"acme/shop","path":"README.md"}`, `"ref":"main"`},
	{"source", "create_branch", `{"repository":"acme/shop","branch":"try"}`, `"name":"try"`},
	{"source", "list_branches", `{"repository":"acme/shop"}`, `"name":"try"`},
	{"source", "create_issue", `{"repository":"acme/shop","title":"T","labels":["bug"]}`, `"id":9007199254740993,"number":128`},
	{"source", "add_issue_comment", `{"repository":"acme/shop","number":128,"body":"Seen too."}`, `"body":"Seen too."`},
	{"source", "get_issue", `{"repository":"acme/shop","number":128,"comments":true}`, `"comments":[{"author":"you"`},
	{"source", "list_issues", `{"repository":"acme/shop"}`, `"total":3`},
	{"source", "create_pull_request", `{"repository":"acme/shop","title":"P","head":"try"}`, `"number":129`},
	{"source", "merge_pull_request", `{"repository":"acme/shop","number":125}`, `"state":"merged"`},
	{"database", "list_tables", `{}`, `"name":"orders"`},
	{"database", "describe_table", `{"table":"orders"}`, `"type":"bigint"`},
	{"database", "run_query", `{"sql":"SELECT 1"}`, `"row_count":3`},
	{"database", "explain_query", `{"sql":"SELECT 1"}`, `Seq Scan`},
	{"database", "insert_rows", `{"table":"orders","rows":[{"id":1}]}`, `"rows":200001`},
	{"database", "list_exports", `{}`, `"exports":[]`},
	{"database", "drop_table", `{"table":"orders"}`, `"dropped":"orders"`},
	{"chat", "list_channels", `{}`, `#ops`},
	{"chat", "post_message", `{"channel":"#ops","text":"<hi>"}`, `"text":"<hi>"`},
	{"chat", "reply_in_thread", `{"channel":"#ops","message_id":"m503","text":"yes"}`, `"thread":"m503"`},
	{"chat", "get_channel_history", `{"channel":"#ops"}`, `"message_id":"m504"`},
	{"chat", "search_messages", `{"query":"latency"}`, `m502`},
	{"chat", "add_reaction", `{"channel":"#ops","message_id":"m501","emoji":"eyes"}`, `"eyes"`},
	{"chat", "schedule_message", `{"channel":"#ops","text":"later","post_at":"2026-04-01T08:00:00Z"}`, `"scheduled":true`},
	{"chat", "get_user_profile", `{"user":"@mira"}`, `Mira`},
	{"payments", "create_customer", `{"name":"N","email":"n@example.com"}`, `"customer_id":"cus_n1"`},
	{"payments", "get_customer", `{"customer_id":"cus_n1"}`, `n@example.com`},
	{"payments", "create_invoice", `{"customer_id":"cus_n1","currency":"eur","lines":[{"description":"x","quantity":2,"unit_amount":50}],"draft":false}`, `"status":"open","currency":"eur","total":100`},
	{"payments", "list_invoices", `{"status":"open"}`, `inv_1043`},
	{"payments", "create_payment_link", `{"amount":100,"currency":"eur","description":"x"}`, `"active":true`},
	{"payments", "create_refund", `{"payment_id":"pay_8c2d","amount":900,"reason":"duplicate"}`, `"amount":900`},
	{"payments", "get_payment", `{"payment_id":"pay_8c2d"}`, `"refund_id":"ref_1"`},
	{"payments", "list_disputes", `{}`, `"disputes":[]`},
	{"payments", "get_balance", `{}`, `"available":1204415`},
	{"cloud", "list_instances", `{"state":"running"}`, `i-4c20`},
	{"cloud", "get_instance", `{"instance_id":"i-4c1f"}`, `shop-web-1`},
	{"cloud", "restart_instance", `{"instance_id":"i-4c1f"}`, `restarting`},
	{"cloud", "resize_instance", `{"instance_id":"i-4c1f","type":"c2.xlarge"}`, `"type":"c2.xlarge"`},
	{"cloud", "create_snapshot", `{"instance_id":"i-4c1f"}`, `snap-0001`},
	{"cloud", "list_alarms", `{}`, `cpu_percent`},
	{"cloud", "get_metrics", `{"instance_id":"i-4c1f","metric":"cpu_percent","from":"2026-03-02T00:00:00Z"}`, `"points":[31.2`},
	{"cloud", "tail_logs", `{"instance_id":"i-4c1f"}`, `listening`},
	{"cloud", "update_firewall_rule", `{"instance_id":"i-4c1f","action":"allow","port":443,"cidr":"10.0.0.0/8"}`, `"applied_at"`},
	{"files", "write_file", `{"path":"/new/a.txt","content":"x\ny\n"}`, `"bytes":4`},
	{"files", "read_file", `{"path":"/new/a.txt","from_line":2,"to_line":2}`, `"text":"y\n"`},
	{"files", "list_directory", `{"path":"/"}`, `"new/"`},
	{"files", "search_files", `{"query":"a.*"}`, `/new/a.txt`},
	{"files", "move_file", `{"from":"/new/a.txt","to":"/new/b.txt"}`, `/new/b.txt`},
	{"files", "get_file_info", `{"path":"/new/b.txt"}`, `"size":4`},
	{"files", "share_file", `{"path":"/new/b.txt"}`, `"access":"view"`},
	{"files", "delete_file", `{"path":"/new/b.txt"}`, `"restorable_days":30`},
}

// TestTools calls every tool with arguments that heddle lets through.
func TestTools(t *testing.T) {
	fleet, err := newFleet()
	if err != nil {
		t.Fatal(err)
	}
	checks, err := policy.New(policy.Config{})
	if err != nil {
		t.Fatal(err)
	}
	peers, definitions, called := map[string]*peerHost{}, map[heddle.ToolRef]json.RawMessage{}, map[heddle.ToolRef]bool{{Server: "database", Name: "export_table"}: true}
	for _, s := range fleet.servers {
		peers[s.Name] = connectTo(t, s)
		list, _ := wire.Elements(s.Definitions)
		for _, d := range list {
			name, _ := wire.Unquote(wire.Member(d, "name"))
			definitions[heddle.ToolRef{Server: s.Name, Name: name}] = d
		}
	}
	for _, c := range samples {
		ref := heddle.ToolRef{Server: c.server, Name: c.tool}
		called[ref] = true
		d := definitions[ref]
		tool := &heddle.Tool{Ref: ref, Exposed: ref.String(), Definition: d, InputSchema: wire.Member(d, "inputSchema"), Fingerprint: ref.String()}
		v := checks.Before(t.Context(), &heddle.Call{Tool: ref.String(), Arguments: []byte(c.args)}, tool)
		if v.Err != nil || !bytes.Equal(v.Arguments, []byte(c.args)) {
			t.Errorf("%s %s: %v", ref, c.args, v.Err)
		}
		got := peers[c.server].line(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + c.tool + `","arguments":` + c.args + `}}`)
		text, _ := wire.Unquote(wire.Member(mustElement(t, wire.Member(wire.Member([]byte(got), "result"), "content")), "text"))
		if !strings.Contains(text, strings.ReplaceAll(c.want, `\\n`, `\n`)) || strings.Contains(got, "isError") {
			t.Errorf("%s %s: got %s, want %s", ref, c.args, got, c.want)
		}
	}
	for ref := range definitions {
		if !called[ref] {
			t.Errorf("%s is never called", ref)
		}
	}
}

func mustElement(t *testing.T, list json.RawMessage) json.RawMessage {
	t.Helper()
	all, err := wire.Elements(list)
	if err != nil || len(all) != 1 {
		t.Fatalf("%s: want one element", list)
	}
	return all[0]
}

// A server that is misused says so, as its tools' own failure.
func TestToolErrors(t *testing.T) {
	fleet, err := newFleet()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		server             int
		tool, args, expect string
	}{
		{0, "create_issue", `{"repository":"a/b","title":"T"}`, "there is no repository a/b"},
		{0, "merge_pull_request", `{"repository":"acme/shop","number":9}`, "there is no pull request 9"},
		{0, "create_branch", `{"repository":"acme/shop","branch":"main"}`, "branch main exists"},
		{1, "describe_table", `{"table":"x"}`, "there is no table x"},
		{1, "export_table", `{"table":"x"}`, "there is no table x"},
		{2, "add_reaction", `{"message_id":"m1","emoji":"eyes"}`, "there is no message m1"},
		{3, "create_refund", `{"payment_id":"pay_8c2d","amount":48901,"reason":"duplicate"}`, "only 48900"},
		{3, "get_customer", `{"customer_id":"cus_0"}`, "there is no customer cus_0"},
		{4, "get_instance", `{"instance_id":"i-0"}`, "there is no instance i-0"},
		{5, "write_file", `{"path":"/handbook/release.md","content":""}`, "exists; set overwrite"},
	} {
		got := connectTo(t, fleet.servers[c.server]).line(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + c.tool + `","arguments":` + c.args + `}}`)
		if !strings.Contains(got, c.expect) || !strings.HasSuffix(got, `,"isError":true}}`) {
			t.Errorf("%s %s: got %s, want %s", c.tool, c.args, got, c.expect)
		}
	}
}
