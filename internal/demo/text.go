package demo

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"heddle"
	"heddle/internal/wire"
)

// width is how many columns the text takes at most.
const width = 100

// Text shows a run to people, step by step. A nil Text shows nothing.
type Text struct {
	w     io.Writer
	color bool
}

// NewText writes to w, with the colours of a terminal or without.
func NewText(w io.Writer, color bool) *Text { return &Text{w, color} }

// style is a way to show text on a terminal.
type style string

const (
	plain  style = ""
	bold   style = "1"
	dim    style = "2"
	red    style = "31"
	green  style = "32"
	yellow style = "33"
	cyan   style = "36"
)

func (t *Text) paint(s style, text string) string {
	if !t.color || s == plain || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

// page gathers what is written at once.
type page struct {
	*Text
	strings.Builder
}

func (p *page) line(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

func (p *page) head(n int, title, why string) {
	p.line("")
	p.line("%s  %s", p.paint(bold, fmt.Sprintf("%2d", n)), p.paint(bold, title))
	p.line("    %s", p.paint(dim, why))
}

// says is what the model writes.
func (p *page) says(tool, args, note string) {
	room := width - 8 - utf8.RuneCountInString(tool) - utf8.RuneCountInString(note)
	p.line("    %s %s  %s%s", p.paint(cyan, "→"), p.paint(cyan, tool), shorten(args, room), p.paint(dim, note))
}

// gets is what the model reads.
func (p *page) gets(s style, text string) {
	p.line("    %s %s", p.paint(s, "←"), shorten(text, width-6))
}

// note is what was measured.
func (p *page) note(parts ...string) {
	p.line("      %s", p.paint(dim, strings.Join(parts, " · ")))
}

func (t *Text) show(f func(*page)) error {
	if t == nil {
		return nil
	}
	p := &page{Text: t}
	f(p)
	_, err := io.WriteString(t.w, p.String())
	return err
}

// catalog shows what the lists of tools cost.
func (t *Text) catalog(r *Report) error {
	return t.show(func(p *page) {
		var servers []string
		for _, s := range r.Servers {
			servers = append(servers, fmt.Sprintf("%s (%d)", s.Name, s.Tools))
		}
		p.line("%s", p.paint(bold, fmt.Sprintf("heddle %s: a real session with %d simulated servers and their %d tools", r.Version, len(r.Servers), r.Native.Tools)))
		p.line("%s", p.paint(dim, strings.Join(servers, ", ")))
		p.head(1, "What the host would have paid", "Every definition of every server stands in the model's context before it has done anything.")
		row := func(s style, name string, l Listing, what string) {
			p.line("    %-15s %3d tools %8s bytes %s  %s", name, l.Tools, number(l.Bytes), p.paint(s, fmt.Sprintf("%7s tokens", number(l.Tokens))), p.paint(dim, what))
		}
		row(yellow, "without heddle", r.Native, "all, as their servers wrote them")
		row(green, "with heddle", r.Compact, "find_tool, call_tool, read_result")
	})
}

// step shows the calls of a step.
func (t *Text) step(n int, s *Step) error {
	return t.show(func(p *page) {
		p.head(n, s.Title, s.Why)
		for i := 0; i < len(s.Calls); i++ {
			c := s.Calls[i]
			same := 1 // calls in a row that went alike
			for i+1 < len(s.Calls) && c.Kind == heddle.KindTimeout && s.Calls[i+1].Kind == c.Kind {
				i++
				same++
			}
			switch {
			case c.own():
				p.search(c, len(s.Calls) == 1)
			case same > 1:
				p.repeated(s.Calls[i+1-same : i+1])
			default:
				p.call(c)
			}
		}
	})
}

// search shows a call of find_tool, in full or on one line.
func (p *page) search(c *Call, full bool) {
	p.says(c.Tool, string(c.Arguments), "")
	found := matches(c)
	var names []string
	for _, m := range found {
		names = append(names, m.name)
		if full {
			p.gets(green, fmt.Sprintf("%-22s %s", m.name, m.description))
		}
	}
	if !full {
		p.gets(green, strings.Join(names, ", "))
	}
	p.note(count(len(found), "definition"), count(c.AnswerTokens, "token"), duration(c.TotalUS))
}

// call shows a call that call_tool ran.
func (p *page) call(c *Call) {
	args := string(wire.Member(c.Arguments, "arguments"))
	note := ""
	if c.WaitedMS > 0 {
		note = fmt.Sprintf("  after %s ms, as it was told", number(int(c.WaitedMS)))
	}
	p.says(c.Tool, args, note)
	switch {
	case c.answer == nil:
		p.gets(green, fmt.Sprintf("notifications/progress  %s  %d times", c.progress, c.Progress))
		p.says("notifications/cancelled", fmt.Sprintf(`{"requestId":%d}`, c.Request), "")
		p.note("no answer, as the protocol asks", duration(c.TotalUS))
	case c.Kind == "":
		p.gets(green, c.text())
		parts := []string{
			fmt.Sprintf("%s bytes from the server, %s to the host", number(int(c.UpstreamBytes)), number(int(c.DeliveredBytes))),
			count(c.AnswerTokens, "token"), duration(c.TotalUS),
		}
		if c.Circuit != "" {
			parts = append(parts, "circuit "+c.Circuit)
		}
		p.note(parts...)
	default:
		p.refused(c)
	}
}

// refused shows a refusal: its kind, its text whole, and what it cost.
func (p *page) refused(c *Call) {
	kind, rest, _ := strings.Cut(c.text(), ": ")
	rest, signature, _ := strings.Cut(rest, "\n")
	lines := wrap(kind+": "+rest, width-6)
	lines[0] = p.paint(red, kind) + strings.TrimPrefix(lines[0], kind)
	p.line("    %s %s", p.paint(red, "←"), lines[0])
	for _, l := range lines[1:] {
		p.line("      %s", l)
	}
	if signature != "" {
		p.line("      %s", shorten(signature, width-6))
	}
	parts := []string{count(c.AnswerTokens, "token"), duration(c.TotalUS)}
	if string(wire.Member(c.refusal(), "upstream_invoked")) == "false" {
		parts = append([]string{"no server was asked"}, parts...)
	}
	if c.Circuit != "" {
		parts = append(parts, "circuit "+c.Circuit)
	}
	p.note(parts...)
}

// repeated shows calls that failed alike.
func (p *page) repeated(calls []*Call) {
	c := calls[0]
	p.says(c.Tool, string(wire.Member(c.Arguments, "arguments")), fmt.Sprintf("  %d times", len(calls)))
	_, rest, _ := strings.Cut(c.text(), ": ")
	p.gets(yellow, string(c.Kind)+": "+rest)
	var times []string
	for _, c := range calls {
		times = append(times, duration(c.TotalUS))
	}
	p.note(strings.Join(times, ", "), "circuit "+calls[len(calls)-1].Circuit)
}

// savings shows the account.
func (t *Text) savings(r *Report) error {
	return t.show(func(p *page) {
		s := r.Savings
		p.head(len(r.Steps)+2, "What it saved", fmt.Sprintf("Tokens of %s in the raw JSON of this session, which is more than a model is shown of it.", r.Encoding))
		p.line("    %-44s %s", "", p.paint(dim, "without heddle    with heddle"))
		row := func(what string, without, with int) {
			p.line("    %-44s %14s %14s", what, orDash(without), orDash(with))
		}
		row("definitions that the host lists", s.Native, s.Surface)
		row("definitions that "+count(s.Searches, "search")+" showed", 0, s.Definitions)
		row("results of the servers", s.Upstream, s.Delivered-s.Refusals)
		row("refusals and failures, in words", 0, s.Refusals)
		row("in all", s.Native+s.Upstream, s.Surface+s.Definitions+s.Delivered)
		p.line("    %s", p.paint(green, fmt.Sprintf("%-44s %14s %14s  %d %%", "saved", "", number(s.Saved), s.Percent)))
		p.line("")
		p.line("%s", p.paint(dim, fmt.Sprintf("Ledger: %s, %d refused, failed or cancelled. heddle's own part of a good call: %s (median).",
			count(r.Ledger.Calls, "call"), r.failed(), duration(r.Ledger.HeddleUS))))
		p.line("%s", p.paint(dim, fmt.Sprintf("%.1f s in all. `heddle demo --serve` offers these servers to your host, --json has the numbers.", float64(r.DurationMS)/1000)))
	})
}

// orDash is a number in a table, where nothing is a dash.
func orDash(n int) string {
	if n == 0 {
		return "–"
	}
	return number(n)
}

func (r *Report) failed() (n int) {
	for _, k := range r.Ledger.Kinds {
		n += k
	}
	return n
}

// shorten cuts text to one line of so many columns.
func shorten(text string, room int) string {
	if utf8.RuneCountInString(text) <= room {
		return text
	}
	return string([]rune(text)[:max(0, room-1)]) + "…"
}

// wrap breaks text between words into lines of so many columns.
func wrap(text string, room int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && utf8.RuneCountInString(line+" "+word) > room {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}

// number groups digits by three.
func number(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	if strings.HasSuffix(what, "ch") {
		what += "e"
	}
	return number(n) + " " + what + "s"
}

// duration shows microseconds as people read times.
func duration(us int64) string {
	if us < 1000 {
		return fmt.Sprintf("%d µs", us)
	}
	if us < 10_000 {
		return fmt.Sprintf("%.1f ms", float64(us)/1000)
	}
	return number(int((us+500)/1000)) + " ms"
}
