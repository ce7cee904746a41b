package deliver

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"heddle/internal/dataset"
	"heddle/internal/dataset/protocol"
	"heddle/internal/dataset/records"
	"heddle/internal/deliver/estimate"
)

// envelope is the text that stands for a table: what it is, its columns, some rows,
// what was around it, and how to ask for more. It is made for few tokens.
type envelope struct {
	main *dataset.Dataset
	// siblings are other tables of the same result, found what else is in it.
	siblings []*dataset.Dataset
	found    *records.Found
	// saved is how many tokens the result has, 0 if nobody counted.
	saved int
	// notes are sentences for the end of the first line.
	notes []string
	// budget is how many tokens it should cost.
	budget int
}

const (
	// envelopeBudget is what an envelope should cost, in tokens.
	envelopeBudget = 430
	// extremeEnvelope is the same in extreme mode.
	extremeEnvelope = 260
	// sampleRows is how many rows an envelope shows if they fit.
	sampleRows = 5
	// sampleCell is how many bytes of a cell it shows.
	sampleCell = 60
	// fullColumns is how many columns are described, a line each; more are named.
	fullColumns = 30
	// columnRoom is how many bytes their lines may take, but for the last.
	columnRoom = 4 << 10
	// nameRoom is how many bytes the names of further columns may take.
	nameRoom = 1200
	// aroundRoom is how many bytes the line of what is around a table may take.
	aroundRoom = 400
)

// text writes the envelope. Rows come last in what is kept: they give way first.
func (e *envelope) text() string {
	before, after := e.before(), e.after()
	cost := estimate.Text([]byte(before)) + estimate.Text([]byte(after)) + headCost
	rows, more := e.rows(e.budget - cost)
	return e.head(cost+more) + before + rows + after
}

// headCost is about what the first line costs, in tokens.
const headCost = 35

// head is the first line of an envelope that costs so many tokens.
func (e *envelope) head(cost int) string {
	var b strings.Builder
	d := e.main
	fmt.Fprintf(&b, "[SQL table %s: %s", d.Ref, size(&d.Profile))
	if e.saved > 0 {
		fmt.Fprintf(&b, ", about %s tokens saved", grouped(max(0, e.saved-cost)))
	}
	if d.Capture != "" {
		b.WriteString(", captured whole")
	}
	b.WriteString(".")
	for _, n := range e.notes {
		b.WriteString(" " + n)
	}
	b.WriteString("]\n")
	return b.String()
}

// before is what stands between the first line and the rows: source and columns.
func (e *envelope) before() string {
	var b strings.Builder
	d := e.main
	b.WriteString(source(d) + "\n")
	columns, n := d.Profile.Columns, 0
	for ; n < min(fullColumns, len(columns)) && b.Len() < columnRoom; n++ {
		b.WriteString(column(&columns[n], d.Profile.Rows) + "\n")
	}
	if rest := columns[n:]; len(rest) > 0 {
		fmt.Fprintf(&b, "and %s: %s\n", counted(len(rest), "column", "columns"), names(rest, nameRoom))
	}
	return b.String()
}

// size says how large a table is.
func size(p *protocol.Profile) string {
	return fmt.Sprintf("%s %s × %s", grouped(int(p.Rows)), plural(p.Rows, "row"), counted(len(p.Columns), "column", "columns"))
}

// plural is a word for so many.
func plural(n int64, word string) string {
	if n == 1 {
		return word
	}
	return word + "s"
}

// source says where a dataset comes from.
func source(d *dataset.Dataset) string {
	p := d.Provenance
	at := p.Created.UTC().Format(time.TimeOnly) + " UTC"
	if p.SQL != "" {
		return "result of a query, " + at
	}
	line := fmt.Sprintf("from %s::%s, %s, %s", p.Server, p.Tool, at, p.Source)
	if d.Table.Path != "" && d.Table.Path != "$" {
		line += " " + d.Table.Path
	}
	return line
}

// column describes a column in a line.
func column(c *protocol.Column, rows int64) string {
	parts := []string{shown(sqlName(c.Name), 2*sampleCell) + " " + c.Type}
	if c.Source != "" && c.Source != c.Name {
		parts[0] += " (" + shown(c.Source, sampleCell) + ")"
	}
	switch {
	case c.Nulls == rows && rows > 0:
		return parts[0] + ", all null"
	case c.Distinct == rows && c.Nulls == 0 && rows > 1 && !c.Approx:
		parts = append(parts, "unique")
	case len(c.Top) > 0:
		var top []string
		for _, t := range c.Top[:min(3, len(c.Top))] {
			top = append(top, fmt.Sprintf("%s ×%d", shown(t.Value, 24), t.Count))
		}
		if more := c.Distinct - int64(len(top)); more > 0 {
			top = append(top, fmt.Sprintf("%d more", more))
		}
		parts = append(parts, strings.Join(top, ", "))
	default:
		about := ""
		if c.Approx {
			about = "about "
		}
		parts = append(parts, fmt.Sprintf("%s%d distinct", about, c.Distinct))
	}
	if c.Min != "" && len(c.Top) == 0 && c.Min != c.Max && ordered(c) {
		parts = append(parts, shown(c.Min, 24)+" … "+shown(c.Max, 24))
	}
	if c.Nulls > 0 {
		parts = append(parts, share(c.Nulls, rows)+" null")
	}
	if c.Note != "" {
		parts = append(parts, c.Note)
	}
	return strings.Join(parts, ", ")
}

// ordered reports whether the bounds of a column say something.
func ordered(c *protocol.Column) bool { return c.Type != "VARCHAR" || c.Note != "" }

// share writes a part of a whole in percent.
func share(n, of int64) string {
	p := 100 * float64(n) / float64(max(1, of))
	switch {
	case p < 1:
		return "<1%"
	case p > 99 && n < of:
		return ">99%"
	}
	return strconv.Itoa(int(p+0.5)) + "%"
}

// names lists columns within some bytes.
func names(columns []protocol.Column, room int) string {
	var b strings.Builder
	for i, c := range columns {
		name := sqlName(c.Name)
		if b.Len()+len(name) > room {
			fmt.Fprintf(&b, " and %d more (DESCRIBE lists all)", len(columns)-i)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(name)
	}
	return b.String()
}

// rows shows the first rows, as many as a number of tokens allows, at least one.
// It returns what they cost as well.
func (e *envelope) rows(tokens int) (text string, cost int) {
	p := &e.main.Profile
	if len(p.Sample) == 0 {
		return "", 0
	}
	width := min(len(p.Columns), fullColumns)
	var b strings.Builder
	for i := range width {
		if i > 0 {
			b.WriteByte('\t')
		}
		b.WriteString(shown(p.Columns[i].Name, sampleCell))
	}
	b.WriteByte('\n')
	cells := max(8, min(sampleCell, 2400/max(1, width))) // wide rows have short cells
	for i, row := range p.Sample[:min(sampleRows, len(p.Sample))] {
		line := make([]string, 0, width)
		for _, cell := range row[:min(width, len(row))] {
			switch {
			case cell == nil:
				line = append(line, "")
			case *cell == "":
				line = append(line, `""`)
			default:
				line = append(line, shown(*cell, cells))
			}
		}
		text := strings.Join(line, "\t") + "\n"
		more := estimate.Text([]byte(text))
		if i == 0 { // with the header
			more += estimate.Text([]byte(b.String()))
		}
		if i > 0 && cost+more > tokens {
			break
		}
		cost += more
		b.WriteString(text)
	}
	if width < len(p.Columns) {
		fmt.Fprintf(&b, "(%d of %d columns)\n", width, len(p.Columns))
	}
	return b.String(), cost
}

// after is what stands below the rows: notes, other parts, hints, examples.
func (e *envelope) after() string {
	return strings.TrimRight(e.beside()+joins(e.hints())+e.examples(), "\n")
}

// beside is what a model must know of a result besides its main table.
func (e *envelope) beside() string {
	var b strings.Builder
	for _, n := range e.main.Profile.Notes {
		b.WriteString(shown(n, aroundRoom) + "\n")
	}
	for _, s := range e.siblings {
		fmt.Fprintf(&b, "Also %s (%s): %s: %s\n", s.Ref, s.Table.Path, size(&s.Profile), names(s.Profile.Columns, 200))
	}
	if around := e.around(); around != "" {
		b.WriteString("Around it: " + around + "\n")
	}
	return b.String()
}

// hints are the join hints that say something: what a query made joins what it was
// made of.
func (e *envelope) hints() []protocol.Hint {
	if e.main.Provenance.SQL != "" {
		return nil
	}
	return e.main.Profile.Hints
}

// maxJoins is how many join hints are shown.
const maxJoins = 3

// joins names columns of other tables with the same values.
func joins(hints []protocol.Hint) string {
	if len(hints) == 0 {
		return ""
	}
	var parts []string
	for _, h := range hints[:min(maxJoins, len(hints))] {
		parts = append(parts, fmt.Sprintf("%s = %s.%s (%.0f%%)", sqlName(h.Column), h.Table, sqlName(h.Other), 100*h.Overlap))
	}
	return "Joins by overlap: " + strings.Join(parts, ", ") + "\n"
}

// around names what is in the result beside its tables.
func (e *envelope) around() string {
	if e.found == nil {
		return ""
	}
	var parts []string
	for _, s := range e.found.Context {
		parts = append(parts, strings.TrimPrefix(s.Path, "$.")+" "+s.Value)
	}
	for _, o := range e.found.Others {
		parts = append(parts, o.Path+" ("+o.Kind+")")
	}
	if e.found.Residue != "" {
		parts = append(parts, "text: "+strconv.Quote(shown(e.found.Residue, aroundRoom/2)))
	}
	var b strings.Builder
	for i, p := range parts {
		if b.Len() > 0 && b.Len()+len(p) > aroundRoom {
			fmt.Fprintf(&b, "; and %d more in the exact result", len(parts)-i)
			break
		}
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(shown(p, aroundRoom))
	}
	return b.String()
}

// examples are two calls that fit this table.
func (e *envelope) examples() string {
	d := e.main
	first := fmt.Sprintf("SELECT count(*) FROM %s", sqlName(d.Ref))
	if c := category(d.Profile.Columns); c != "" {
		first = fmt.Sprintf("SELECT %s, count(*) AS n FROM %s GROUP BY ALL ORDER BY 2 DESC", sqlName(c), sqlName(d.Ref))
	}
	text := "read_result " + object("sql", first)
	if d.Capture != "" {
		text += "\nor, exactly as it came, " + object("result_ref", d.Capture) + ", with query to search"
	}
	return text
}

// category is a column that is worth grouping by; "" if there is none.
func category(columns []protocol.Column) string {
	i := slices.IndexFunc(columns, func(c protocol.Column) bool {
		return len(c.Top) > 0 && c.Distinct > 1 && (c.Type == "VARCHAR" || c.Type == "BOOLEAN") && !strings.HasPrefix(c.Top[0].Value, "[")
	})
	if i < 0 {
		return ""
	}
	return columns[i].Name
}

// object writes arguments of a call.
func object(pairs ...string) string {
	var b strings.Builder
	b.WriteByte('{')
	for i := 0; i < len(pairs); i += 2 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%s:%s", quote(pairs[i]), quote(pairs[i+1]))
	}
	b.WriteByte('}')
	return b.String()
}

// sqlName writes a name as SQL takes it.
func sqlName(name string) string {
	if plainName(name) {
		return name
	}
	return `"` + strings.ReplaceAll(oneLine(name), `"`, `""`) + `"`
}

// plainName reports whether a name needs no quotes in SQL. Words of the language
// that are common names of columns do.
func plainName(name string) bool {
	for i, r := range name {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r != '_' && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	_, word := slices.BinarySearch(reserved, strings.ToLower(name))
	return name != "" && !word
}

// reserved are the words that SQL does not take as a name of a column, sorted.
var reserved = strings.Fields(`all analyse analyze and any array as asc asymmetric both case cast check collate column constraint create default
	deferrable desc describe distinct do else end except false fetch for foreign from group having in initially intersect into lambda lateral leading
	limit not null offset on only or order pivot pivot_longer pivot_wider placing primary qualify references returning select show some summarize
	symmetric table then to trailing true union unique unpivot using variadic when where window with`)

// shown is a text within some bytes, in one line.
func shown(s string, room int) string {
	s = strings.Join(strings.Fields(oneLine(s)), " ") // indented JSON is mostly spaces
	if len(s) <= room {
		return s
	}
	cut := room - len("…")
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// oneLine replaces what would break a line or a column.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case r < 0x20 || r == 0x7f:
			return -1
		}
		return r
	}, s)
}
