package deliver

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"heddle"
	"heddle/internal/dataset"
	"heddle/internal/wire"
)

// inlineRows is how many bytes of rows a query may return: what hosts show, less
// what stands above them.
const inlineRows = maxText - 1<<10

// queried runs the SQL of read_result and shows what it returned.
func (d *Deliverer) queried(ctx context.Context, c *heddle.Call, r Reading) (json.RawMessage, error) {
	if r.Export != "" {
		return d.export(ctx, c, r)
	}
	a, err := d.o.Datasets.Query(ctx, c.Principal, dataset.Query{
		SQL: r.SQL, Inline: inlineRows, Name: "query", SaveAs: r.SaveAs, Sample: sampleRows,
	})
	if err != nil {
		return nil, err
	}
	return answer(textBlock(d.rows(a, c.Mode))), nil
}

// rows shows what a query returned: all rows, or the envelope of the dataset that
// has them.
func (d *Deliverer) rows(a *dataset.Answer, mode string) string {
	if a.Dataset != nil {
		e := envelope{main: a.Dataset, budget: budget(mode)}
		if a.More {
			e.notes = append(e.notes, fmt.Sprintf("Truncated: these are the first %s rows, the query returns more.", grouped(int(a.Rows))))
		}
		if a.Dataset.Pinned {
			e.notes = append(e.notes, "It is kept in heddle's state directory and is there again after a restart.")
		}
		return e.text()
	}
	if a.Result.Text {
		return strings.TrimRight(string(a.Text), "\n")
	}
	return fmt.Sprintf("[%s %s]\n%s", grouped(int(a.Rows)), plural(a.Rows, "row"), strings.TrimRight(string(a.Text), "\n"))
}

// export writes the result of a query to a file.
func (d *Deliverer) export(ctx context.Context, c *heddle.Call, r Reading) (json.RawMessage, error) {
	format, name := strings.ToLower(r.Export), ""
	if i := strings.LastIndexByte(r.Export, '.'); i >= 0 {
		format, name = strings.ToLower(r.Export[i+1:]), r.Export
	}
	x, err := d.o.Datasets.Export(ctx, c.Principal, r.SQL, format, name)
	if err != nil {
		return nil, err
	}
	return answer(textBlock(fmt.Sprintf("[%s, %s bytes, written to %s]", counted(int(x.Rows), "row", "rows"), grouped(int(x.Bytes)), x.Path))), nil
}

// budget is what an envelope may cost in a mode.
func budget(mode string) int {
	if mode == "extreme" {
		return extremeEnvelope
	}
	return envelopeBudget
}

// quote writes a JSON string.
func quote(s string) string { return string(wire.Quote(s)) }
