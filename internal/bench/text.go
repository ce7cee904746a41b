package bench

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// Text writes the report as tables of at most 100 columns.
func (r *Report) Text(w io.Writer) error {
	p := &page{}
	switch {
	case r.Task != nil:
		r.Task.text(p, r)
	case r.Compression != nil:
		r.Compression.text(p, r)
	case r.Stress != nil:
		r.Stress.text(p, r)
	}
	p.line("")
	p.line("%.1f s in all. --json has every figure, --verify compares them with those recorded in this build.", float64(r.DurationMS)/1000)
	_, err := io.WriteString(w, p.String())
	return err
}

// page gathers lines.
type page struct{ strings.Builder }

func (p *page) line(format string, args ...any) {
	p.WriteString(strings.TrimRight(fmt.Sprintf(format, args...), " ") + "\n")
}

func (r *TaskReport) text(p *page, run *Report) {
	var modes []string
	for _, m := range Modes() {
		if r.Modes[m] != nil {
			modes = append(modes, m)
		}
	}
	p.line("heddle %s: %d tasks over the %d tools of one server, over the real protocol", run.Version, len(r.Tasks), r.Tools)
	p.line("Tokens of %s in what the host receives: text and structured content, no images.", run.Encoding)
	p.line("")
	head, under := fmt.Sprintf("%-12s %-12s %7s", "", "", "direct"), fmt.Sprintf("%-12s %-12s %7s", "task", "result", "tokens")
	for _, m := range modes {
		head += fmt.Sprintf("  %-20s", m)
		under += fmt.Sprintf("  %6s %7s %5s", "tokens", "saved", "reads")
	}
	p.line("%s", head)
	p.line("%s", under)
	for _, one := range r.Tasks {
		row := fmt.Sprintf("%-12s %-12s %7s", one.ID, one.Kind, grouped(one.Direct))
		for _, m := range modes {
			a := one.Modes[m]
			row += fmt.Sprintf("  %6s %7s %5s", grouped(a.Tokens), percent(a.Saved), reads(a))
		}
		p.line("%s", row)
	}
	r.totals(p, modes)
}

// reads is the number of reads, or that there was no answer.
func reads(a *Attempt) string {
	if !a.Answered {
		return "no!"
	}
	return strconv.Itoa(a.Reads)
}

func (r *TaskReport) totals(p *page, modes []string) {
	p.line("")
	results := 0
	for _, one := range r.Tasks {
		results += one.Direct
	}
	row := func(what, direct string, of func(*Total) string) {
		line := fmt.Sprintf("%-34s %10s", what, direct)
		for _, m := range modes {
			line += fmt.Sprintf(" %12s", of(r.Modes[m]))
		}
		p.line("%s", line)
	}
	line := fmt.Sprintf("%-34s %10s", "all tasks in one session", "direct")
	for _, m := range modes {
		line += fmt.Sprintf(" %12s", m)
	}
	p.line("%s", line)
	row("definitions that are listed", grouped(r.Definitions), func(x *Total) string { return grouped(x.Surface) })
	row("answers of find_tool", "–", func(x *Total) string { return orDash(x.Find) })
	row("results, as first delivered", grouped(results), func(x *Total) string { return grouped(x.Delivery) })
	row("answers of read_result", "–", func(x *Total) string { return orDash(x.Read) })
	row("tokens", grouped(r.Definitions+results), func(x *Total) string { return grouped(x.Tokens) })
	row("saved", "", func(x *Total) string { return percent(x.Saved) })
	for _, size := range []string{small, middle, large} {
		row("  with "+size+" results", "", func(x *Total) string { return percent(x.Sizes[size].Saved) })
	}
	row("follow-up reads", "–", func(x *Total) string { return strconv.Itoa(x.Reads) })
	row("answered", strconv.Itoa(len(r.Tasks)), func(x *Total) string { return fmt.Sprintf("%d of %d", x.Answered, len(r.Tasks)) })
}

func (r *CompressionReport) text(p *page, run *Report) {
	p.line("heddle %s: %d recorded results in %s mode, over the real protocol", run.Version, len(r.Results), r.Mode)
	p.line("Tokens of %s in what the host receives. paged is reading all of it back, per token of", run.Encoding)
	p.line("what was captured; equal says that this gave what the server wrote, byte for byte.")
	p.line("")
	const format = "%-24s %-21s %-12s %8s %7s %7s %6s %5s"
	p.line(format, "result", "", "taken for", "raw", "first", "saved", "paged", "equal")
	for _, one := range r.Results {
		kind, paged := one.Kind, "–"
		if kind == "" {
			kind = "as it is"
		}
		if one.Pages > 0 {
			paged = fmt.Sprintf("%.3f", one.Ratio)
		}
		p.line(format, one.Name, one.What, kind, grouped(one.Raw), grouped(one.Delivery), percent(one.Saved), paged, yes(one.Equal))
	}
	p.line(format, "all", "", "", grouped(r.Raw), grouped(r.Delivery), percent(r.Saved), fmt.Sprintf("≤%.2f", r.Ratio), fmt.Sprintf("%d/%d", r.Equal, len(r.Results)))
}

func (r *StressReport) text(p *page, run *Report) {
	p.line("heddle %s: %d tools and a result of %s rows in %s mode, over the real protocol", run.Version, r.Tools, grouped(r.Rows), r.Mode)
	p.line("Tokens of %s in what the host receives.", run.Encoding)
	p.line("")
	row := func(what, without, with string) { p.line("%-44s %14s %14s", what, without, with) }
	row("", "server alone", "with heddle")
	row("definitions that are listed", grouped(r.Definitions), grouped(r.Surface))
	row("answer of find_tool", "–", orDash(r.Find))
	row("result, as first delivered", grouped(r.Result), grouped(r.Delivery))
	row("tokens", grouped(r.Definitions+r.Result), grouped(r.Surface+r.Find+r.Delivery))
	row("saved", "", percent(r.Saved))
	p.line("")
	p.line("calls at the server     %d", r.Calls)
	p.line("read back               %s pages, %s tokens, %.3f of the original's; equal: %s", grouped(r.Pages), grouped(r.Paged), r.Ratio, yes(r.Equal))
	p.line("time                    %.0f ms for the call (%.1f MB), %.0f ms for reading all back", r.CallMS, float64(r.Bytes)/1e6, r.PagingMS)
	if r.Peak > 0 {
		p.line("peak of the process     %.0f MB, the server and the host in it included", float64(r.Peak)/1e6)
	}
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "NO"
}

// percent shows one digit and never rounds up.
func percent(v float64) string { return fmt.Sprintf("%.1f%%", math.Floor(v*10)/10) }

func orDash(n int) string {
	if n == 0 {
		return "–"
	}
	return grouped(n)
}

// grouped writes a number with separators.
func grouped(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
