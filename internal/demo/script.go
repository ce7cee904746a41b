package demo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"heddle"
	"heddle/internal/wire"
)

// part is a step of the session.
type part struct {
	name, title, why string
	play             func(*session, context.Context) error
}

// script is the session, in order. Each part is what a model does with heddle:
// it knows three tools, and finds all others first.
func script() []part {
	return []part{
		{"search", "A search", "The model asks in words. It gets at most three definitions, with their complete schemas.", (*session).search},
		{"refusal", "A refused call and its repair", "Arguments are checked against the tool's own schema before its server sees them.", (*session).refusal},
		{"exact", "A good call", "What the server wrote reaches the host byte for byte: the id is beyond 2^53.", (*session).exact},
		{"denied", "A tool that was not allowed", "The configuration denies database/drop_table: it is not listed, not found and not callable.", (*session).denied},
		{"circuit", "A circuit that opens and heals", "From now on the cloud server takes calls and answers none. The others go on.", (*session).circuit},
		{"cancel", "A slow call is cancelled", "Progress and cancellation pass through, and the server stops its work.", (*session).cancelled},
	}
}

// run runs a tool through call_tool and wants this outcome.
func (s *session) run(ctx context.Context, want heddle.Kind, tool, args string) (*Call, error) {
	c, err := s.call(ctx, "call_tool", fmt.Appendf(nil, `{"tool":%s,"arguments":%s}`, wire.Quote(tool), args), "", nil)
	if err != nil {
		return nil, err
	}
	if got := c.kind(); got != want {
		return nil, fmt.Errorf("%s: got %q, want %q: %s", tool, got, want, c.answer)
	}
	if string(wire.Member(c.answer, "isError")) == "true" && want == "" {
		return nil, fmt.Errorf("%s failed: %s", tool, c.answer)
	}
	if want == "" && !bytes.Equal(c.answer, c.upstream) {
		return nil, fmt.Errorf("%s: the server wrote %s and the host got %s", tool, c.upstream, c.answer)
	}
	return c, nil
}

// find searches, and wants the tools among the matches.
func (s *session) find(ctx context.Context, query string, want ...string) error {
	c, err := s.call(ctx, "find_tool", fmt.Appendf(nil, `{"query":%s}`, wire.Quote(query)), "", nil)
	if err != nil {
		return err
	}
	for _, name := range want {
		if !slices.ContainsFunc(matches(c), func(m match) bool { return m.name == name }) {
			return fmt.Errorf("find_tool %q does not find %s: %s", query, name, c.text())
		}
	}
	return nil
}

// match is a tool in the answer of find_tool.
type match struct{ name, description string }

// matches reads the answer of find_tool, one definition a line.
func matches(c *Call) (out []match) {
	for line := range strings.Lines(c.text()) {
		if name, ok := wire.Unquote(wire.Member([]byte(line), "name")); ok {
			text, _ := wire.Unquote(wire.Member([]byte(line), "description"))
			out = append(out, match{name, text})
		}
	}
	return out
}

func (s *session) search(ctx context.Context) error {
	return s.find(ctx, "open an issue in a repository", "source_create_issue", "source_get_issue")
}

func (s *session) refusal(ctx context.Context) error {
	const rest = `"severity":"high","body":"Press Pay with nothing in the basket."`
	if _, err := s.run(ctx, heddle.KindInvalidArguments, "source_create_issue", `{"repository":"acme/shop","labels":"bug",`+rest+`}`); err != nil {
		return err
	}
	c, err := s.run(ctx, "", "source_create_issue", `{"repository":"acme/shop","title":"Checkout fails","labels":["bug"],`+rest+`}`)
	if err != nil {
		return err
	}
	s.issue, err = strconv.Atoi(string(wire.Member([]byte(c.text()), "number")))
	return err
}

func (s *session) exact(ctx context.Context) error {
	c, err := s.run(ctx, "", "source_get_issue", fmt.Sprintf(`{"repository":"acme/shop","number":%d}`, s.issue))
	if err == nil && !strings.Contains(c.text(), `"title":"Checkout fails"`) {
		return fmt.Errorf("the issue is not the one that was opened: %s", c.text())
	}
	return err
}

func (s *session) denied(ctx context.Context) error {
	const tool = "database_drop_table"
	if err := s.find(ctx, "drop a database table"); err != nil {
		return err
	}
	if c := s.step.Calls[0]; strings.Contains(c.text(), tool) {
		return fmt.Errorf("find_tool shows %s: %s", tool, c.text())
	}
	_, err := s.run(ctx, heddle.KindUnknownTool, tool, `{"table":"orders"}`)
	return err
}

// circuit has the cloud server fail as often as opens its circuit, calls another
// server meanwhile, and comes back when heddle says so.
func (s *session) circuit(ctx context.Context) error {
	const read, args = "cloud_get_instance", `{"instance_id":"i-4c1f"}`
	if err := s.find(ctx, "read the state of a cloud instance", read); err != nil {
		return err
	}
	if err := s.find(ctx, "post a message to a channel", "chat_post_message"); err != nil {
		return err
	}
	s.fleet.cloud.silent.Store(true)
	cfg, err := configuration()
	if err != nil {
		return err
	}
	for range cfg.Breaker.Failures {
		if err := s.state(s.run(ctx, heddle.KindTimeout, read, args)); err != nil {
			return err
		}
	}
	open, err := s.run(ctx, heddle.KindCircuitOpen, read, args)
	if err := s.state(open, err); err != nil {
		return err
	}
	if open.Circuit != "open" {
		return fmt.Errorf("the circuit is %s", open.Circuit)
	}
	if _, err := s.run(ctx, "", "chat_post_message", `{"channel":"#ops","text":"The cloud API does not answer."}`); err != nil {
		return err
	}
	s.fleet.cloud.silent.Store(false)
	return s.heal(ctx, open, read, args)
}

// heal calls again once the refusal says that it makes sense.
func (s *session) heal(ctx context.Context, refused *Call, tool, args string) error {
	after, err := strconv.ParseInt(string(wire.Member(refused.refusal(), "retry_after_ms")), 10, 64)
	if err != nil {
		return fmt.Errorf("retry_after_ms: %w", err)
	}
	began := time.Now()
	// The answer's milliseconds are rounded down.
	t := time.NewTimer(time.Duration(after+1) * time.Millisecond)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	c, err := s.run(ctx, "", tool, args)
	if err := s.state(c, err); err != nil {
		return err
	}
	c.WaitedMS = time.Since(began).Milliseconds()
	if c.Circuit != "closed" {
		return fmt.Errorf("the circuit is %s", c.Circuit)
	}
	return nil
}

// state notes the circuit of the cloud server, as heddle status shows it.
func (s *session) state(c *Call, err error) error {
	if err == nil {
		c.Circuit = s.daemon.Pool().Server(s.fleet.cloud.Name).Status().Circuit
	}
	return err
}

// cancelled begins a long export, hears of its progress, cancels it, and reads
// from the server that it has stopped.
func (s *session) cancelled(ctx context.Context) error {
	if err := s.find(ctx, "export a table to a file", "database_export_table", "database_list_exports"); err != nil {
		return err
	}
	const enough = 3
	args := []byte(`{"tool":"database_export_table","arguments":{"table":"orders","format":"csv"}}`)
	heard := 0
	c, err := s.call(ctx, "call_tool", args, "export-1", func() bool { heard++; return heard == enough })
	switch {
	case err != nil:
		return err
	case c.answer != nil:
		return fmt.Errorf("the export was not cancelled: %s", c.answer)
	}
	select {
	case <-s.fleet.database.stopped:
	case <-ctx.Done():
		return errors.New("the server never saw the cancellation")
	}
	if _, err := s.rows(ctx, s.done+len(s.step.Calls)); err != nil {
		return err
	}
	seen, err := s.run(ctx, "", "database_list_exports", `{"limit":1}`)
	if err == nil && !strings.Contains(seen.text(), `"status":"cancelled"`) {
		return fmt.Errorf("the export goes on: %s", seen.text())
	}
	return err
}
