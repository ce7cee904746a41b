package deliver

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"heddle"
	"heddle/internal/capture"
	"heddle/internal/deliver/estimate"
)

// Reading is what read_result was asked for: one of Query, Cursor and SQL, or none of
// them for the beginning of Ref.
type Reading struct {
	Ref, Query, Cursor string
	// SQL is a statement over all datasets, SaveAs keeps what it returns as a pinned
	// dataset of that name, Export writes it to a file: csv, json, or a file name with
	// one of them at its end.
	SQL, SaveAs, Export string
}

const (
	// maxFragments is how many places a search shows.
	maxFragments = 3
	// pageRoom is what both blocks of a page may take as JSON: what hosts show.
	pageRoom = maxText
	// framing is what the JSON around two blocks takes.
	framing = 80
	// fragmentRoom is what the fragments of a search may take.
	fragmentRoom = 6 << 10
)

// Read answers read_result. It never reaches a server.
func (d *Deliverer) Read(ctx context.Context, call *heddle.Call, r Reading) (heddle.Delivery, error) {
	raw, err := d.read(ctx, call, r)
	if err != nil {
		return heddle.Delivery{}, err
	}
	return heddle.Delivery{Raw: raw, Form: heddle.FormOwn, DeliveredTokens: estimate.Result(raw)}, nil
}

func (d *Deliverer) read(ctx context.Context, call *heddle.Call, r Reading) (json.RawMessage, error) {
	if r.SQL != "" {
		return d.queried(ctx, call, r)
	}
	c, err := d.o.Captures.Get(call.Principal, r.Ref)
	if err != nil {
		return nil, err
	}
	release, err := c.Hold() // it may not go between two reads
	if err != nil {
		return nil, err
	}
	defer release()
	if r.Query != "" {
		return search(c, r.Query)
	}
	return page(c, r.Cursor)
}

// Whole captures a tool's definition for a host that was shown less than all of it,
// and returns its name: the same as long as it is held. again is the tool of heddle
// that shows definitions. "" means that it could not be kept.
func (d *Deliverer) Whole(p heddle.Principal, t *heddle.Tool, again string) (ref string) {
	c, err := d.o.Captures.PutOnce(p, heddle.ToolRef{Name: again}, t.Ref.Name+"_definition", t.Ref.String()+" "+t.Fingerprint, t.Definition)
	if err != nil {
		d.o.Logger.Warn("definition shown in part: it could not be captured", "tool", t.Ref.String(), "err", err)
		return ""
	}
	return c.Ref
}

// page returns two blocks: where the second one stands, and the exact bytes.
func page(c *capture.Capture, cursor string) (json.RawMessage, error) {
	const position = 300 // more than the first block ever takes
	pg, err := c.Page(cursor, pageRoom-position-framing)
	if err != nil {
		return nil, err
	}
	where := fmt.Sprintf("[%s: bytes %d to %d of %d, lines %d to %d", c.Ref, pg.Offset, pg.End, pg.Size, pg.FirstLine, pg.LastLine)
	if pg.Next == "" {
		where += "; this is the end.]"
	} else {
		where += fmt.Sprintf("; next_cursor %s]", pg.Next)
	}
	return answer(textBlock(where), textBlock(pg.Text)), nil
}

// search returns the places that fit a query, each with the cursor that pages on
// from there.
func search(c *capture.Capture, query string) (json.RawMessage, error) {
	found, total, err := c.Search(query, maxFragments, fragmentRoom)
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	switch {
	case len(found) == 0:
		fmt.Fprintf(&b, "[%s: nothing fits. Try fewer or other words, or page without query.]", c.Ref)
	case found[0].Way == capture.WaySome:
		fmt.Fprintf(&b, "[%s: no place has all of it; these have some.]", c.Ref)
	case total > len(found):
		fmt.Fprintf(&b, "[%s: %d of %d matches. Add words to narrow it, or page on from a cursor.]", c.Ref, len(found), total)
	default:
		fmt.Fprintf(&b, "[%s: %s.]", c.Ref, counted(len(found), "match", "matches"))
	}
	for _, f := range found {
		fmt.Fprintf(&b, "\n\n--- line %d, byte %d, cursor %s\n", f.Line, f.Offset, f.Cursor)
		if f.Before {
			b.WriteString("…")
		}
		b.WriteString(strings.TrimRight(f.Text, "\r\n"))
		if f.After {
			b.WriteString("…")
		}
	}
	return answer(textBlock(strings.ToValidUTF8(b.String(), "\uFFFD"))), nil
}

func counted(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprint(n, " ", more)
}

func answer(blocks ...json.RawMessage) json.RawMessage {
	out := []byte(`{"content":[`)
	for i, b := range blocks {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, b...)
	}
	return append(out, `]}`...)
}
