package dataset

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"heddle"
	"heddle/internal/capture"
	"heddle/internal/dataset/protocol"
	"heddle/internal/dataset/records"
	"heddle/internal/secret"
)

// Query is a statement over a principal's datasets.
type Query struct {
	SQL string
	// Result is a dataset that the name "result" means; "" for none.
	Result string
	// Inline is how many bytes of rows may come back; what is larger becomes a
	// dataset, called Name and a number.
	Inline int
	Name   string
	// SaveAs keeps the result as a pinned dataset of that name.
	SaveAs string
	// JSON writes rows that come back as an array of objects.
	JSON bool
	// Sample is how many rows the profile of a new dataset shows.
	Sample int
}

// Answer is what a query returned.
type Answer struct {
	protocol.Result
	// Text are the rows as in [protocol.Result], or what EXPLAIN says; nil if Dataset
	// has them.
	Text []byte
	// Dataset is the new dataset that has the rows.
	Dataset *Dataset
}

// Listing is the name of a table of the datasets themselves.
const Listing = "datasets"

// Query runs a statement. Its errors say what to change.
func (s *Store) Query(ctx context.Context, p heddle.Principal, q Query) (*Answer, error) {
	o, err := s.owner(p)
	if err != nil {
		return nil, err
	}
	o.reopen(ctx)
	if q.SaveAs != "" {
		if err := o.checkName(q.SaveAs); err != nil {
			return nil, err
		}
	}
	if strings.Contains(strings.ToLower(q.SQL), Listing) {
		if err := o.listing(ctx); err != nil {
			return nil, err
		}
	}
	var refs []string
	if q.Result != "" {
		refs = []string{q.Result}
	}
	format := ""
	if q.JSON {
		format = "json"
	}
	reply, payload, by, err := o.with(ctx, refs, protocol.Request{Query: &protocol.Query{
		SQL: q.SQL, Inline: q.Inline, Format: format, Keep: q.SaveAs != "", Result: q.Result,
	}})
	if err != nil {
		return nil, err
	}
	a := &Answer{Result: *reply.Result, Text: payload}
	if a.Kept == "" {
		return a, nil
	}
	a.Text = nil
	if a.More && q.SaveAs != "" {
		o.drop(ctx, by, []string{a.Kept})
		return nil, tooMany("saved")
	}
	a.Dataset, err = o.keep(ctx, by, q, reply.Result, payload)
	return a, err
}

// keep makes a dataset of a query's result, which a worker has under a name of its
// own.
func (o *owner) keep(ctx context.Context, w *worker, q Query, r *protocol.Result, snapshot []byte) (*Dataset, error) {
	now := o.store.o.Now()
	d := &Dataset{
		Table: records.Table{Form: records.FormSnapshot, Source: "query", Count: int(r.Rows)}, Created: now,
		Provenance: Provenance{SQL: secret.Mask(cut(q.SQL, maxArgs)), Created: now, Source: "query"}, Implicit: q.SaveAs == "",
	}
	for _, f := range r.Columns {
		d.types = append(d.types, f.Type)
	}
	if q.SaveAs != "" {
		d.Ref, d.Pinned = q.SaveAs, true
		d.source = o.pinned(d.Ref)
	} else {
		c, err := o.store.o.Captures.PutAs(o.principal, queryTool, q.Name, capture.KindText, snapshot)
		if err != nil {
			o.drop(ctx, w, []string{r.Kept})
			return nil, o.failure(ctx, fmt.Errorf("capture of a query's result: %w", err))
		}
		o.store.o.Captures.Chill(c)
		d.Ref, d.Capture = o.free(c.Ref), c.Ref
		d.source = o.captured(c.Ref)
	}
	adopt := protocol.Request{Adopt: &protocol.Adopt{Kept: r.Kept, Name: d.Ref, Sample: q.Sample}}
	reply, _, err := w.do(ctx, adopt, nil, o.store.o.Timeout)
	if err == nil && reply.Kind == "" {
		d.in, d.used, d.Profile = w, now, *reply.Profile
	} else { // the worker is gone: it is made again from what was captured
		d.Profile = protocol.Profile{Rows: r.Rows, Bytes: r.Bytes}
		for _, f := range r.Columns {
			d.Profile.Columns = append(d.Profile.Columns, protocol.Column{Field: f})
		}
	}
	if r.More {
		d.Profile.Notes = append(d.Profile.Notes, "Truncated: the query returned more rows than these.")
	}
	if d.Pinned {
		if err := o.pin(d, snapshot); err != nil {
			o.drop(ctx, w, []string{d.Ref})
			return nil, err
		}
	}
	o.mu.Lock()
	o.sets[d.Ref] = d
	o.mu.Unlock()
	o.makeRoom(ctx, d.Ref)
	return d, nil
}

// queryTool stands in a capture's place for the tool.
var queryTool = heddle.ToolRef{Name: "sql"}

// captured is the source of a result that was captured as a snapshot.
func (o *owner) captured(ref string) source {
	return func() (records.Table, error) {
		c, err := o.store.o.Captures.Get(o.principal, ref)
		if err != nil {
			return records.Table{}, err
		}
		b, err := c.Bytes()
		return snapshotTable(b), err
	}
}

// snapshotTable is a snapshot as a table.
func snapshotTable(b []byte) records.Table {
	return records.Table{Form: records.FormSnapshot, Source: "query", Count: max(0, bytes.Count(b, []byte{'\n'})-1), Data: b}
}

// listing makes the table of the datasets themselves.
func (o *owner) listing(ctx context.Context) error {
	o.listings.Lock() // the engine does not replace a table twice at once
	defer o.listings.Unlock()
	b := []byte(`["name","rows","columns","server","tool","source","sql","pinned","age_seconds","capture"]` + "\n")
	now := o.store.o.Now()
	for _, d := range o.list() {
		var names []string
		for _, c := range d.Profile.Columns {
			names = append(names, c.Name)
		}
		row, err := json.Marshal([]*string{
			&d.Ref, text(fmt.Sprint(d.Profile.Rows)), text(cut(strings.Join(names, ", "), 1000)), text(d.Provenance.Server), text(d.Provenance.Tool),
			&d.Provenance.Source, text(d.Provenance.SQL), text(fmt.Sprint(d.Pinned)), text(fmt.Sprint(int(now.Sub(d.Created).Seconds()))), text(d.Capture),
		})
		if err != nil {
			return err
		}
		b = append(append(b, row...), '\n')
	}
	w, release, err := o.acquire(ctx)
	if err != nil {
		return err
	}
	defer release()
	reply, _, err := w.do(ctx, protocol.Request{Load: &protocol.Load{
		Name: Listing, Table: snapshotTable(nil), Quiet: true,
		Types: []string{"VARCHAR", "BIGINT", "VARCHAR", "VARCHAR", "VARCHAR", "VARCHAR", "VARCHAR", "BOOLEAN", "BIGINT", "VARCHAR"},
	}}, b, o.store.o.Timeout)
	if err == nil && reply.Kind != "" {
		return o.refusal(reply)
	}
	if err != nil {
		return o.failure(ctx, err)
	}
	return nil
}

// text is a cell of a snapshot; an empty text is null.
func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// cut shortens a text to so many bytes, between runes.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

var goodName = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,62}$`)

// checkName refuses names that would not work in SQL as they are, or are taken.
func (o *owner) checkName(name string) error {
	refuse := func(why string) error {
		return &heddle.Error{
			Kind: heddle.KindInvalidArguments, Op: "dataset.save", Public: "The dataset cannot be saved as that: " + why,
			Violations: []heddle.Violation{{Path: "/save_as", Keyword: "pattern", Message: why}},
		}
	}
	switch {
	case o.store.o.StateDir == "":
		return refuse("this heddle has no state directory to keep it in.")
	case !goodName.MatchString(name):
		return refuse("a name is lower-case letters, digits and _, begins with a letter or _, and has at most 63 characters.")
	case name == Listing || name == "result":
		return refuse("that name has a meaning of its own.")
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.sets[name] != nil {
		return refuse("there is a dataset of that name. Choose another; nothing is overwritten.")
	}
	return nil
}

// FreeName returns a name for a dataset that is not taken: stem and a number.
func (s *Store) FreeName(ctx context.Context, p heddle.Principal, stem string) (string, error) {
	o, err := s.owner(p)
	if err != nil {
		return "", err
	}
	o.reopen(ctx)
	o.mu.Lock()
	defer o.mu.Unlock()
	for n := 1; ; n++ {
		if name := fmt.Sprintf("%s_%d", stem, n); o.sets[name] == nil {
			return name, nil
		}
	}
}

// Export is where the rows of a query went.
type Export struct {
	Path  string
	Rows  int64
	Bytes int64
}

// Export writes the result of a statement to a file below the export directory:
// format is csv or json, name the file's, "" for one that is made up. No file is
// overwritten.
func (s *Store) Export(ctx context.Context, p heddle.Principal, sql, format, name string) (*Export, error) {
	o, err := s.owner(p)
	if err != nil {
		return nil, err
	}
	o.reopen(ctx)
	if err := s.checkExport(format, name); err != nil {
		return nil, err
	}
	if strings.Contains(strings.ToLower(sql), Listing) {
		if err := o.listing(ctx); err != nil {
			return nil, err
		}
	}
	reply, payload, by, err := o.with(ctx, nil, protocol.Request{Query: &protocol.Query{SQL: sql, Format: format, Inline: protocol.MaxPayload}})
	if err != nil {
		return nil, err
	}
	if reply.Result.More || reply.Result.Kept != "" {
		o.drop(ctx, by, []string{reply.Result.Kept})
		return nil, tooMany("written")
	}
	path, err := s.write(format, name, payload, s.o.Now())
	if err != nil {
		return nil, err
	}
	return &Export{Path: path, Rows: reply.Result.Rows, Bytes: int64(len(payload))}, nil
}

// tooMany refuses to do a thing with a part of what a query returns.
func tooMany(done string) error {
	return &heddle.Error{
		Kind: heddle.KindResultTooLarge, Op: "dataset.query",
		Public: fmt.Sprintf("The query returns more than %d,000 rows or %d MiB; nothing was %s. Take it in parts, with a WHERE or with ORDER BY, LIMIT and OFFSET.", protocol.MaxRows/1000, protocol.MaxPayload>>20, done),
	}
}

// All is the statement that returns all of a dataset.
func All(ref string) string { return `SELECT * FROM "` + strings.ReplaceAll(ref, `"`, `""`) + `"` }
