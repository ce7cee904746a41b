package project

import (
	"fmt"
	"strings"
	"testing"
)

// TestTables says what is a table, and what is shown of it.
func TestTables(t *testing.T) {
	var csv, semi, md, lines, ragged, prose, odd, codes strings.Builder
	csv.WriteString("Read 40 rows\nid,name,amount\n")
	semi.WriteString("id;preis;ort\n")
	md.WriteString("# Orders\n\n| id | name | paid |\n| --- | --- | ---: |\n")
	ragged.WriteString("id,name,amount\n")
	codes.WriteString("zip,when,n\n")
	odd.WriteString(`{"total":4000,"next_cursor":"abc","items":[`)
	for i := range 40 {
		fmt.Fprintf(&csv, "%d,\"Doe, %d\",%d.50\n", i, i, i)
		fmt.Fprintf(&semi, "%d;%d,50;Köln\n", i, i)
		fmt.Fprintf(&md, "| %d | item %d | yes |\n", i, i%3)
		fmt.Fprintf(&lines, "{\"id\":%d,\"kind\":\"k%d\"}\n", i, i%2)
		fmt.Fprintf(&ragged, "%d,some words of a name that is long,%d%s\n", i, i, strings.Repeat(",y", i/20))
		fmt.Fprintf(&prose, "In week %d, as before, we met, talked%s and left.\n", i, strings.Repeat(", again", i%4))
		fmt.Fprintf(&codes, "0%04d,2022/01/27 11:04:57 PM,%d\n", i, i)
		if i > 0 {
			odd.WriteByte(',')
		}
		fmt.Fprintf(&odd, `{"id":%d,"Id":2,"":4,"select":5,"a b":6,"a.b":7,"q\"x":8,"日本":9,"o":{"x":1,"X":2}}`, i)
	}
	odd.WriteString(`]}`)
	for name, c := range map[string]struct {
		text, kind string
		want       []string
	}{
		"CSV":        {csv.String(), KindTable, []string{"CSV: 40 rows, 3 columns", "before it: Read 40 rows", "id: int 0..39", "amount: float 0.50..39.50", "0\tDoe, 0\t0.50"}},
		"semicolons": {semi.String(), KindTable, []string{"40 rows", "preis: string, 40 distinct", "ort: always Köln"}},
		"Markdown":   {md.String(), KindTable, []string{"Markdown table: 40 rows", "before it: # Orders", "name: string: item 0 ×14", "paid: always yes"}},
		"JSON lines": {lines.String(), KindRecords, []string{"array of 40 records", "id: int 0..39", `kind: string: "k0" ×20, "k1" ×20`, "first 5 of 40 rows"}},
		"codes":      {codes.String(), KindTable, []string{"zip: string, 40 distinct: 00000", "n: int 0..39"}},
		"odd names":  {odd.String(), KindRecords, []string{"total = 4000", `next_cursor = "abc"`, "Id: always 2", `"": always 4`, `"a b": always 6`, "日本: always 9", "items is an array of 40 records"}},
		"ragged":     {ragged.String(), KindHeadTail, nil},
		"prose":      {prose.String(), KindHeadTail, nil},
	} {
		in := Input{Text: []byte(c.text), Budget: 400}
		p, ok := Project(in)
		if !ok || p.Kind != c.kind {
			t.Errorf("%s: %v, %q, want %q\n%s", name, ok, p.Kind, c.kind, p.Text)
			continue
		}
		check(t, name, in, p)
		for _, w := range c.want {
			if !strings.Contains(p.Text, w) {
				t.Errorf("%s: no %q in\n%s", name, w, p.Text)
			}
		}
	}
}

// TestLargeShapes projects values that are large in one way each.
func TestLargeShapes(t *testing.T) {
	var columns, million, mixed strings.Builder
	columns.WriteString(`[{"c0":0`)
	for i := range 5000 {
		fmt.Fprintf(&columns, `,"column_%d":%d`, i, i)
	}
	columns.WriteString(`}]`)
	million.WriteByte('[')
	for i := range 200000 {
		fmt.Fprintf(&million, `{"v":%d},`, i)
	}
	million.WriteString(`{"v":18446744073709551615}]`)
	mixed.WriteString(`{"ids":[`)
	for i := range 5000 {
		fmt.Fprintf(&mixed, `%d,`, 9007199254740993+i)
	}
	mixed.WriteString(`0.1],"price":12.10,"exp":1e400,"zero":-0.0,"wide":123456789012345678901234567890,"text":"` + strings.Repeat("wörter ", 20000) + `"}`)
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"one long string": {`[{"a":"` + strings.Repeat("x", 2<<20) + `"}]`, []string{"(2097152 chars)"}},
		"5,000 columns":   {columns.String(), []string{"map of 5001 ints", `"column_0"`}},
		"many rows":       {million.String(), []string{"array of 200001 records", "v: int 0..18446744073709551615"}},
		"numbers":         {mixed.String(), []string{"9007199254740993", "= 12.10", "= 1e400", "= -0.0", "= 123456789012345678901234567890", "(140000 chars)"}},
	} {
		in := Input{JSON: []byte(c.text)}
		p, ok := Project(in)
		if !ok {
			t.Errorf("%s: no projection", name)
			continue
		}
		check(t, name, in, p)
		for _, w := range c.want {
			if !strings.Contains(p.Text, w) {
				t.Errorf("%s: no %q in\n%s", name, w, p.Text)
			}
		}
	}
}

// What a projection says of a column holds for all of it.
func TestColumnsDoNotLie(t *testing.T) {
	for name, c := range map[string]struct {
		row  func(int) string
		want string
		not  []string
	}{
		"cells that begin like null": {func(i int) string { return fmt.Sprintf("%d,n%d,5", i, i) }, "name: string, 1500 distinct", []string{"always"}},
		"ids that floats confuse":    {func(i int) string { return fmt.Sprintf("%d,x,%d", i, 9007199254740992+i%2) }, "9007199254740992..9007199254740993", nil},
	} {
		lines := []string{"id,name,c"}
		for i := range 1500 {
			lines = append(lines, c.row(i))
		}
		p, ok := Project(Input{Text: []byte(strings.Join(lines, "\n"))})
		if !ok || !strings.Contains(p.Text, c.want) {
			t.Errorf("%s: %v\n%s\nwant %q", name, ok, p.Text, c.want)
		}
		for _, not := range c.not {
			if strings.Contains(p.Text, "name: "+not) {
				t.Errorf("%s says %q:\n%s", name, not, p.Text)
			}
		}
	}
}
