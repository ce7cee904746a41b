package deliver

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"heddle"
	"heddle/internal/dataset"
	"heddle/internal/dataset/protocol"
	"heddle/internal/deliver/estimate"
)

// Loom answers the tools of loom mode, in the JSON that hosts of mcp-loom know.
type Loom struct{ d *Deliverer }

// Loom returns what answers loom mode's own tools.
func (d *Deliverer) Loom() Loom { return Loom{d} }

const (
	// loomBudget is what an envelope should cost, in tokens.
	loomBudget = 610
	// loomInline is how many bytes of rows loom_query returns; more become a dataset.
	loomInline = 6 << 10
	// describedRows is how many rows loom_describe shows.
	describedRows = 10
	// loomPrefix begins the names of datasets in loom mode.
	loomPrefix = "ds_"
)

// loomEnvelope stands for a table.
type loomEnvelope struct {
	Kind        string             `json:"kind"`
	Ref         string             `json:"ref"`
	Rows        int64              `json:"rows"`
	Truncated   bool               `json:"truncated,omitempty"`
	TokensSaved int                `json:"approxTokensSaved"`
	Schema      []loomColumn       `json:"schema"`
	Sample      []json.RawMessage  `json:"sample"`
	Hints       []loomHint         `json:"joinHints,omitempty"`
	Context     map[string]any     `json:"context,omitempty"`
	Siblings    []loomSibling      `json:"siblings,omitempty"`
	Age         *int64             `json:"ageSeconds,omitempty"`
	Provenance  dataset.Provenance `json:"provenance"`
	Usage       string             `json:"usage"`
}

type loomColumn struct {
	Name       string  `json:"name"`
	Type       string  `json:"type"`
	Nulls      float64 `json:"nullFraction"`
	Distinct   int64   `json:"approxDistinct"`
	Uniqueness float64 `json:"uniqueness"`
}

type loomHint struct {
	Column  string  `json:"column"`
	Ref     string  `json:"ref"`
	Other   string  `json:"otherColumn"`
	Overlap float64 `json:"overlap"`
}

type loomSibling struct {
	Ref  string `json:"ref"`
	Path string `json:"path,omitempty"`
	Rows int64  `json:"rows"`
}

// loom writes the envelope for loom mode.
func (e *envelope) loom() string {
	d := e.main
	out := loomEnvelope{
		Kind: "loom_dataset_ref", Ref: d.Ref, Rows: d.Profile.Rows, Schema: loomSchema(&d.Profile),
		Hints: loomHints(e.hints()), Context: e.context(), Provenance: d.Provenance, Sample: []json.RawMessage{},
		Usage: fmt.Sprintf("loom_query %s. Refs live for this session and may be evicted; loom_materialize keeps one.", object("sql", "SELECT … FROM "+sqlName(d.Ref))),
	}
	for _, s := range e.siblings {
		out.Siblings = append(out.Siblings, loomSibling{Ref: s.Ref, Path: s.Table.Path, Rows: s.Profile.Rows})
	}
	left := loomBudget - estimate.Text(marshal(out))
	for i, row := range loomRows(&d.Profile, sampleRows) {
		if left -= estimate.Text(row); i > 0 && left < 0 {
			break
		}
		out.Sample = append(out.Sample, row)
	}
	if e.saved > 0 {
		out.TokensSaved = max(0, e.saved-estimate.Text(marshal(out)))
	}
	return string(marshal(out))
}

// context is what is around a table: scalars by path, other parts, text.
func (e *envelope) context() map[string]any {
	if e.found == nil {
		return nil
	}
	out := map[string]any{}
	room := 2 * aroundRoom
	for _, s := range e.found.Context {
		if room -= len(s.Path) + len(s.Value); room < 0 {
			break
		}
		out[s.Path] = s.Value
		if json.Valid([]byte(s.Value)) {
			out[s.Path] = json.RawMessage(s.Value)
		}
	}
	for _, o := range e.found.Others {
		if room -= len(o.Path) + len(o.Kind); room < 0 {
			break
		}
		out[o.Path] = o.Kind + ", in " + e.main.Capture + " (read_result)"
	}
	if e.found.Residue != "" {
		out["residue"] = shown(e.found.Residue, aroundRoom)
	}
	for i, n := range e.notes {
		out[fmt.Sprintf("note%d", i+1)] = n
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

func loomSchema(p *protocol.Profile) []loomColumn {
	out := make([]loomColumn, 0, min(len(p.Columns), loomColumns))
	for _, c := range p.Columns[:min(len(p.Columns), loomColumns)] {
		col := loomColumn{Name: c.Name, Type: c.Type, Distinct: c.Distinct}
		if p.Rows > 0 {
			col.Nulls = rounded(float64(c.Nulls) / float64(p.Rows))
		}
		if n := p.Rows - c.Nulls; n > 0 {
			col.Uniqueness = rounded(min(1, float64(c.Distinct)/float64(n)))
		}
		out = append(out, col)
	}
	return out
}

// loomColumns is how many columns a schema shows; DESCRIBE has all.
const loomColumns = 60

// rounded keeps three digits.
func rounded(f float64) float64 { return float64(int(f*1000+0.5)) / 1000 }

func loomHints(hints []protocol.Hint) (out []loomHint) {
	for _, h := range hints {
		out = append(out, loomHint{Column: h.Column, Ref: h.Table, Other: h.Other, Overlap: rounded(h.Overlap)})
	}
	return out
}

// loomRows are the first rows as objects.
func loomRows(p *protocol.Profile, most int) (out []json.RawMessage) {
	for _, row := range p.Sample[:min(most, len(p.Sample))] {
		var b bytes.Buffer
		b.WriteByte('{')
		for i, cell := range row[:min(len(row), loomColumns)] {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(quote(p.Columns[i].Name) + ":")
			b.Write(loomCell(cell, p.Columns[i].Type))
		}
		b.WriteByte('}')
		out = append(out, b.Bytes())
	}
	return out
}

// loomCell is a cell as JSON: numbers and booleans as such, all else as text.
func loomCell(cell *string, kind string) []byte {
	if cell == nil {
		return []byte("null")
	}
	switch kind {
	case "BIGINT", "HUGEINT", "INTEGER", "DOUBLE", "BOOLEAN":
		if json.Valid([]byte(*cell)) {
			return []byte(*cell)
		}
	}
	return []byte(quote(*cell))
}

// marshal writes a value whose types always can be.
func marshal(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v)
	return bytes.TrimRight(b.Bytes(), "\n")
}

// Query answers loom_query: the rows where there are few, else a dataset of them.
func (l Loom) Query(ctx context.Context, p heddle.Principal, sql string) (string, error) {
	a, err := l.d.o.Datasets.Query(ctx, p, dataset.Query{SQL: sql, JSON: true, Inline: loomInline, Name: loomPrefix + "query", Sample: sampleRows})
	if err != nil {
		return "", err
	}
	if a.Dataset != nil {
		return l.made(a), nil
	}
	if a.Result.Text {
		return string(marshal(map[string]any{"plan": string(a.Text)})), nil
	}
	return string(marshal(struct {
		Rows  json.RawMessage `json:"rows"`
		Count int64           `json:"rowCount"`
	}{bytes.TrimSpace(a.Text), a.Rows})), nil
}

// made is the envelope of what a query has made.
func (l Loom) made(a *dataset.Answer) string {
	e := envelope{main: a.Dataset}
	if a.More {
		e.notes = append(e.notes, "truncated: the query returns more rows")
	}
	return e.loom()
}

// Materialize answers loom_materialize: a pinned dataset of what a query returns.
func (l Loom) Materialize(ctx context.Context, p heddle.Principal, sql, name string) (string, error) {
	ref, err := l.d.o.Datasets.FreeName(ctx, p, loomPrefix+"view_"+name)
	if err != nil {
		return "", err
	}
	a, err := l.d.o.Datasets.Query(ctx, p, dataset.Query{SQL: sql, SaveAs: ref, Sample: sampleRows})
	if err != nil {
		return "", err
	}
	return l.made(a), nil
}

// List answers loom_list_datasets.
func (l Loom) List(ctx context.Context, p heddle.Principal) string {
	type entry struct {
		Ref        string             `json:"ref"`
		Rows       int64              `json:"rows"`
		Bytes      int64              `json:"bytes"`
		Age        int64              `json:"ageSeconds"`
		Pinned     bool               `json:"pinned"`
		Implicit   bool               `json:"implicit"`
		Provenance dataset.Provenance `json:"provenance"`
	}
	list := []entry{}
	sets := l.d.o.Datasets.List(ctx, p)
	room := maxText - 200
	left := 0
	for i := len(sets) - 1; i >= 0; i-- { // newest first
		d := sets[i]
		e := entry{d.Ref, d.Profile.Rows, d.Profile.Bytes, age(d.Created), d.Pinned, d.Implicit, d.Provenance}
		if room -= len(marshal(e)); room < 0 {
			left = i + 1
			break
		}
		list = append(list, e)
	}
	out := map[string]any{"datasets": list}
	if left > 0 {
		out["more"] = fmt.Sprintf("%d older ones: loom_query SELECT * FROM datasets", left)
	}
	return string(marshal(out))
}

// Describe answers loom_describe: everything about a dataset.
func (l Loom) Describe(ctx context.Context, p heddle.Principal, ref string) (string, error) {
	d, profile, err := l.d.o.Datasets.Describe(ctx, p, ref, describedRows)
	if err != nil {
		return "", err
	}
	seconds := age(d.Created)
	out := loomEnvelope{
		Kind: "loom_dataset", Ref: d.Ref, Rows: profile.Rows, Schema: loomSchema(&profile), Sample: loomRows(&profile, describedRows),
		Hints: loomHints(profile.Hints), Provenance: d.Provenance, Age: &seconds,
		Usage: fmt.Sprintf("loom_query %s", object("sql", "SELECT … FROM "+sqlName(d.Ref))),
	}
	text := marshal(out)
	for len(text) > maxText && len(out.Sample) > 1 {
		out.Sample = out.Sample[:len(out.Sample)-1]
		text = marshal(out)
	}
	return string(text), nil
}

// Export answers loom_export: the path of the file that was written.
func (l Loom) Export(ctx context.Context, p heddle.Principal, ref, format, name string) (string, error) {
	if _, err := l.d.o.Datasets.Get(ctx, p, ref); err != nil {
		return "", err
	}
	if name == "" {
		name = ref
	}
	x, err := l.d.o.Datasets.Export(ctx, p, dataset.All(ref), format, name)
	if err != nil {
		return "", err
	}
	return string(marshal(map[string]any{"path": x.Path, "rows": x.Rows, "bytes": x.Bytes})), nil
}

func age(t time.Time) int64 { return int64(max(0, time.Since(t)).Seconds()) }
