package records

import (
	"bytes"
	"encoding/csv"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// genCell makes texts of which many look like another type.
func genCell() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.SampledFrom([]string{
			"", "007", "01234", "+49", "1e5", "1.10", "0.5", "-0", "-0.0", "0.0", "5.0", "1.0e3", "true", "True", "NULL", "x;y", "a,b", "say \"hi\"",
			"two\nlines", " padded ", "日本", "9223372036854775808", "170141183460469231731687303715884105728", "1,5", "2024-01-02", "0.1", "1e400",
			"0.00001", "123456789012345678.5", "12:30 PM", "|", "\t",
		}),
		rapid.StringMatching(`-?[0-9]{1,20}`),
		rapid.StringMatching(`-?[0-9]{1,4}\.[0-9]{1,3}`),
		rapid.StringMatching(`[a-z ,;"|]{0,8}`),
	)
}

// TestEveryFieldIsItsSource writes rows with encoding/csv and wants them back: each
// value prints as it was written, whatever its type.
func TestEveryFieldIsItsSource(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(2, 5).Draw(t, "width")
		kinds := make([]*rapid.Generator[string], width)
		for i := range kinds {
			kinds[i] = rapid.SampledFrom([]*rapid.Generator[string]{
				genCell(), rapid.StringMatching(`-?(0|[1-9][0-9]{0,20})`), rapid.StringMatching(`-?(0|[1-9][0-9]{0,2})\.[0-9]`), rapid.SampledFrom([]string{"true", "false"}),
			}).Draw(t, "kind")
		}
		var b bytes.Buffer
		w := csv.NewWriter(&b)
		w.Comma = rapid.SampledFrom([]rune{',', ';', '\t', '|'}).Draw(t, "delimiter")
		header := make([]string, width)
		for i := range header {
			header[i] = "c" + strconv.Itoa(i)
		}
		_ = w.Write(header) // a buffer takes all
		want := make([][]string, rapid.IntRange(0, 6).Draw(t, "rows"))
		for n := range want {
			want[n] = make([]string, width)
			for i := range want[n] {
				want[n][i] = kinds[i].Draw(t, "cell")
			}
			_ = w.Write(want[n])
		}
		w.Flush()
		table := Table{Form: FormDelimited, Delimiter: string(w.Comma), Data: b.Bytes()}
		schema, err := table.Schema()
		if err != nil || schema.Count != len(want) {
			t.Fatalf("%q: %v", b.String(), err)
		}
		n := 0
		err = schema.Rows(func(cells []Cell) error {
			for i, c := range cells {
				if got := printed(c, schema.Columns[i].Type); got != want[n][i] {
					t.Fatalf("%s: got %q, want %q", schema.Columns[i].Type, got, want[n][i])
				}
			}
			n++
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

// printed is a cell as SQL prints it; NULL is empty.
func printed(c Cell, typ Type) string {
	switch {
	case c.Null:
		return ""
	case typ == Boolean:
		return strconv.FormatBool(c.Bool)
	case typ == Integer:
		return strconv.FormatInt(c.Int, 10)
	case typ == Double:
		s := strconv.FormatFloat(c.Float, 'f', -1, 64)
		if c.Float == float64(int64(c.Float)) {
			s += ".0"
		}
		return s
	}
	return string(c.Text)
}
