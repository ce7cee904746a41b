package test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// model is a language model that follows a script: what it does next depends on
// the results that stand in the conversation alone. It speaks the
// protocols that hosts speak to models.
type model struct {
	*httptest.Server
	// next returns the tool to call, with arguments, or what to say at the end.
	next func(results []string) (tool, args, say string)
	// named is what the host calls a tool of heddle.
	named func(tool string) string

	mu      sync.Mutex
	results []string // of the longest conversation
	tools   []string // that the host offered with it
	others  []string // what else was asked for
}

func newModel(t *testing.T, named func(string) string, next func([]string) (tool, args, say string)) *model {
	t.Helper()
	m := &model{named: named, next: next}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/messages", m.messages)
	mux.HandleFunc("POST /v1/chat/completions", m.completions)
	mux.HandleFunc("POST /v1/responses", m.responses)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		m.note(func() { m.others = append(m.others, r.Method+" "+r.URL.Path) })
		http.NotFound(w, r)
	})
	m.Server = httptest.NewServer(mux)
	t.Cleanup(m.Close)
	return m
}

func (m *model) note(do func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	do()
}

// seen is what reached the model.
func (m *model) seen() (tools, results []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.tools, m.results
}

// turn decides about a conversation. A host that offers no tool of heddle's wants
// something else, a title perhaps.
func (m *model) turn(tools, results []string) (tool, args, say string) {
	offered := false
	for _, name := range tools {
		offered = offered || name == m.named("find_tool")
	}
	if !offered {
		return "", "", "A title"
	}
	m.note(func() {
		if len(results) >= len(m.results) {
			m.tools, m.results = tools, results
		}
	})
	return m.next(results)
}

// blocks reads a content that is text, or a list of texts.
func blocks(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var list []struct{ Text string }
	_ = json.Unmarshal(raw, &list) // what is neither holds no text
	for _, b := range list {
		text += b.Text
	}
	return text
}

// messages speaks as Anthropic does.
func (m *model) messages(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Stream   bool
		Tools    []struct{ Name string }
		Messages []struct{ Content json.RawMessage }
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var tools, results []string
	for _, t := range in.Tools {
		tools = append(tools, t.Name)
	}
	for _, msg := range in.Messages {
		var parts []struct {
			Type    string
			Content json.RawMessage
		}
		_ = json.Unmarshal(msg.Content, &parts) // a text has no results
		for _, p := range parts {
			if p.Type == "tool_result" {
				results = append(results, blocks(p.Content))
			}
		}
	}
	tool, args, say := m.turn(tools, results)
	block, delta, stop := `{"type":"text","text":""}`, fmt.Sprintf(`{"type":"text_delta","text":%q}`, say), "end_turn"
	if tool != "" {
		block = fmt.Sprintf(`{"type":"tool_use","id":"toolu_%d","name":%q,"input":{}}`, len(results), m.named(tool))
		delta, stop = fmt.Sprintf(`{"type":"input_json_delta","partial_json":%s}`, mustJSON(args)), "tool_use"
	}
	const usage = `"usage":{"input_tokens":10,"output_tokens":10}`
	if !in.Stream {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"id":"msg_1","type":"message","role":"assistant","model":"scripted","content":[{"type":"text","text":%q}],"stop_reason":"end_turn","stop_sequence":null,%s}`, say, usage)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, event := range []string{
		`{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"scripted","content":[],"stop_reason":null,"stop_sequence":null,` + usage + `}}`,
		`{"type":"content_block_start","index":0,"content_block":` + block + `}`,
		`{"type":"content_block_delta","index":0,"delta":` + delta + `}`,
		`{"type":"content_block_stop","index":0}`,
		`{"type":"message_delta","delta":{"stop_reason":"` + stop + `","stop_sequence":null},"usage":{"output_tokens":10}}`,
		`{"type":"message_stop"}`,
	} {
		name, _, _ := strings.Cut(strings.TrimPrefix(event, `{"type":"`), `"`)
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", name, event)
	}
}

// completions speaks as OpenAI does, and many after it.
func (m *model) completions(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Stream bool
		Tools  []struct{ Function struct{ Name string } }
		// Messages with the role "tool" are results.
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var tools, results []string
	for _, t := range in.Tools {
		tools = append(tools, t.Function.Name)
	}
	for _, msg := range in.Messages {
		if msg.Role == "tool" {
			results = append(results, blocks(msg.Content))
		}
	}
	tool, args, say := m.turn(tools, results)
	message, stop := fmt.Sprintf(`{"role":"assistant","content":%q}`, say), "stop"
	if tool != "" {
		message = fmt.Sprintf(`{"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"call_%d","type":"function","function":{"name":%q,"arguments":%s}}]}`,
			len(results), m.named(tool), mustJSON(args))
		stop = "tool_calls"
	}
	const head, usage = `{"id":"c1","object":"chat.completion%s","created":1,"model":"scripted","choices":[{"index":0,`, `"usage":{"prompt_tokens":10,"completion_tokens":10,"total_tokens":20}}`
	if !in.Stream {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, head+`"message":%s,"finish_reason":%q}],%s`, "", message, stop, usage)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprintf(w, "data: "+head+`"delta":%s,"finish_reason":null}]}`+"\n\n", ".chunk", message)
	fmt.Fprintf(w, "data: "+head+`"delta":{},"finish_reason":%q}],%s`+"\n\n", ".chunk", stop, usage)
	_, _ = io.WriteString(w, "data: [DONE]\n\n") // a host that went needs no end
}

// responses speaks as OpenAI's own hosts do. They group the tools of a server
// under a name.
func (m *model) responses(w http.ResponseWriter, r *http.Request) {
	type tool struct{ Type, Name string }
	var in struct {
		Tools []struct {
			tool
			Tools []tool
		}
		Input []struct {
			Type   string
			Output json.RawMessage
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var tools, results []string
	for _, t := range in.Tools {
		tools = append(tools, t.Name)
		for _, inner := range t.Tools {
			tools = append(tools, t.Name+" "+inner.Name)
		}
	}
	for _, item := range in.Input {
		if item.Type == "function_call_output" {
			results = append(results, blocks(item.Output))
		}
	}
	name, args, say := m.turn(tools, results)
	item := fmt.Sprintf(`{"type":"message","id":"m1","role":"assistant","content":[{"type":"output_text","text":%q}]}`, say)
	if name != "" {
		group, name, _ := strings.Cut(m.named(name), " ")
		item = fmt.Sprintf(`{"type":"function_call","id":"fc%d","call_id":"call_%d","namespace":%q,"name":%q,"arguments":%s}`, len(results), len(results), group, name, mustJSON(args))
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, event := range []string{
		`{"type":"response.created","response":{"id":"r1"}}`,
		`{"type":"response.output_item.done","output_index":0,"item":` + item + `}`,
		`{"type":"response.completed","response":{"id":"r1","usage":{"input_tokens":10,"input_tokens_details":null,"output_tokens":10,"output_tokens_details":null,"total_tokens":20}}}`,
	} {
		kind, _, _ := strings.Cut(strings.TrimPrefix(event, `{"type":"`), `"`)
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, event)
	}
}
