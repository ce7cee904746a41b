package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"heddle/internal/inproc"
	"heddle/internal/tokens"
	"heddle/internal/wire"
)

// answer is what a host got for one request.
type answer struct {
	raw        json.RawMessage // the result object
	texts      []string        // of the text blocks
	structured json.RawMessage // nil if there is none
	failed     bool
}

// text is what a reader sees.
func (a *answer) text() string {
	all := strings.Join(a.texts, "\n")
	if a.structured != nil {
		all += "\n" + string(a.structured)
	}
	return all
}

func parseAnswer(raw json.RawMessage) (*answer, error) {
	blocks, err := wire.Elements(wire.Member(raw, "content"))
	if err != nil {
		return nil, fmt.Errorf("content of the answer: %w", err)
	}
	a := &answer{raw: raw, structured: wire.Member(raw, "structuredContent"), failed: string(wire.Member(raw, "isError")) == "true"}
	for _, b := range blocks {
		if text, ok := wire.Unquote(wire.Member(b, "text")); ok {
			a.texts = append(a.texts, text)
		}
	}
	return a, nil
}

// meter counts the tokens that a host receives.
type meter struct{ counter *tokens.Counter }

// of counts the text of text blocks and the structured content.
func (m meter) of(a *answer) int {
	n := m.text(string(a.structured))
	for _, t := range a.texts {
		n += m.text(t)
	}
	return n
}

func (m meter) text(s string) int { return m.counter.Count(s) }

// listing counts definitions as they are listed.
func (m meter) listing(list []json.RawMessage) (n int) {
	for _, d := range list {
		n += m.text(string(d))
	}
	return n
}

// client is a host's side of a session.
type client struct {
	host *inproc.Host
	mode string // "" for a session with the server alone
}

// list returns the definitions that the host is shown.
func (c *client) list(ctx context.Context) ([]json.RawMessage, error) {
	raw, err := c.host.Request(ctx, "tools/list", nil, nil)
	if err != nil {
		return nil, err
	}
	return wire.Elements(wire.Member(raw, "tools"))
}

func (c *client) request(ctx context.Context, tool, args string) (*answer, error) {
	raw, err := c.host.Request(ctx, "tools/call", fmt.Appendf(nil, `{"name":%s,"arguments":%s}`, wire.Quote(tool), args), nil)
	if err != nil {
		return nil, err
	}
	return parseAnswer(raw)
}

// finds reports whether the mode has find_tool and call_tool.
func (c *client) finds() bool { return c.mode == "compact" || c.mode == "extreme" }

// find asks for a tool in words and returns the name under which it is called.
func (c *client) find(ctx context.Context, query, tool string) (*answer, string, error) {
	a, err := c.request(ctx, "find_tool", fmt.Sprintf(`{"query":%s}`, wire.Quote(query)))
	if err != nil {
		return nil, "", err
	}
	for line := range strings.Lines(a.text()) {
		if name, ok := wire.Unquote(wire.Member([]byte(line), "name")); ok && strings.HasSuffix(name, "_"+tool) {
			return a, name, nil
		}
	}
	return nil, "", fmt.Errorf("find_tool %q does not find %s: %s", query, tool, a.text())
}

// call runs a tool, by the name that find gave.
func (c *client) call(ctx context.Context, tool, args string) (*answer, error) {
	if c.finds() {
		return c.request(ctx, "call_tool", fmt.Sprintf(`{"tool":%s,"arguments":%s}`, wire.Quote(tool), args))
	}
	return c.request(ctx, tool, args)
}

// read runs read_result with one of query and cursor, or neither.
func (c *client) read(ctx context.Context, ref, query, cursor string) (*answer, error) {
	args := object{"result_ref": ref}
	if query != "" {
		args["query"] = query
	}
	if cursor != "" {
		args["cursor"] = cursor
	}
	a, err := c.request(ctx, "read_result", string(encode(args)))
	if err == nil && a.failed {
		err = fmt.Errorf("read_result %s: %s", encode(args), a.text())
	}
	return a, err
}

var (
	refIn    = regexp.MustCompile(`read_result \{"result_ref":"([^"]+)"\}`)
	cursorIn = regexp.MustCompile(`cursor (\w+)`)
	nextIn   = regexp.MustCompile(`next_cursor (\w+)`)
)

// refs are the captures that a delivery names, each once.
func (a *answer) refs() (refs []string) {
	for _, m := range refIn.FindAllStringSubmatch(a.text(), -1) {
		if !slices.Contains(refs, m[1]) {
			refs = append(refs, m[1])
		}
	}
	return refs
}

// page reads one page: its bytes, and the cursor of the next, "" at the end.
func (c *client) page(ctx context.Context, ref, cursor string) (a *answer, next string, err error) {
	if a, err = c.read(ctx, ref, "", cursor); err != nil {
		return nil, "", err
	}
	if len(a.texts) != 2 {
		return nil, "", fmt.Errorf("a page of %s has %d blocks of text", ref, len(a.texts))
	}
	if m := nextIn.FindStringSubmatch(a.texts[0]); m != nil {
		next = m[1]
	}
	return a, next, nil
}

// pages reads a capture from the beginning to the end.
func (c *client) pages(ctx context.Context, ref string) (all []*answer, err error) {
	for cursor := ""; ; {
		a, next, err := c.page(ctx, ref, cursor)
		if err != nil {
			return nil, err
		}
		all = append(all, a)
		if next == "" {
			return all, nil
		}
		cursor = next
	}
}

// exact is the text of pages put together.
func exact(pages []*answer) string {
	var b strings.Builder
	for _, p := range pages {
		b.WriteString(p.texts[1])
	}
	return b.String()
}
