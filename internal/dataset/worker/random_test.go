//go:build cgo

package worker

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"heddle/internal/dataset/protocol"
	"heddle/internal/dataset/records"
)

// drawRows makes rows of JSON objects with values of all kinds.
func drawRows(t *rapid.T) []byte {
	keys := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-zA-Z_ .ü"]{1,8}|select|日本`), 1, 6, strings.ToLower).Draw(t, "keys")
	scalars := []*rapid.Generator[string]{
		rapid.Map(rapid.Int64(), func(n int64) string { return fmt.Sprint(n) }),
		rapid.Map(rapid.Int64(), func(n int64) string {
			return new(big.Int).Mul(big.NewInt(n), big.NewInt(1<<62)).String()
		}),
		rapid.Map(rapid.Float64(), func(f float64) string { b, _ := json.Marshal(f); return string(b) }),
		rapid.Map(rapid.String(), func(s string) string { b, _ := json.Marshal(strings.ToValidUTF8(s, "?")); return string(b) }),
		rapid.SampledFrom([]string{"true", "false"}),
		rapid.SampledFrom([]string{"1.0", "0.1", "1e400", "-0.0", "12345678901234567890123456789012345678901234567890", `"007"`, `""`, `"NULL"`, `"\u0000"`, "[1, 2]", `{"x":[]}`}),
	}
	kinds := make([]int, len(keys))
	for i := range kinds {
		kinds[i] = rapid.IntRange(0, len(scalars)).Draw(t, "kind")
	}
	var b bytes.Buffer
	b.WriteByte('[')
	for row := range rapid.IntRange(1, 30).Draw(t, "rows") {
		if row > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('{')
		first := true
		for i, key := range keys {
			if rapid.IntRange(0, 5).Draw(t, "missing") == 0 {
				continue
			}
			if !first {
				b.WriteByte(',')
			}
			first = false
			k, _ := json.Marshal(key)
			b.Write(k)
			b.WriteByte(':')
			kind := kinds[i]
			if kind == len(scalars) { // of all kinds
				kind = rapid.IntRange(0, len(scalars)-1).Draw(t, "of")
			}
			if rapid.IntRange(0, 9).Draw(t, "null") == 0 {
				b.WriteString("null")
			} else {
				b.WriteString(scalars[kind].Draw(t, "value"))
			}
		}
		b.WriteByte('}')
	}
	b.WriteByte(']')
	return b.Bytes()
}

// TestRoundTrip: what was loaded is what comes out: cell by cell as package records
// reads it, and the same again through a snapshot.
func TestRoundTrip(t *testing.T) {
	c := inProcess(t)
	rapid.Check(t, func(r *rapid.T) {
		array := drawRows(r)
		source := records.Table{Form: records.FormArray, Path: "$", Data: array}
		schema, err := source.Schema()
		if err != nil || len(schema.Columns) == 0 {
			r.Skip(err)
		}
		load := &protocol.Load{Name: "t", Table: records.Table{Form: records.FormArray, Path: "$"}}
		if a, _ := c.do(protocol.Request{Load: load}, array); a.Kind != "" {
			r.Fatalf("%s: %s %s", array, a.Kind, a.Error)
		}
		a, _ := c.do(protocol.Request{Query: &protocol.Query{SQL: "FROM t", Keep: true}}, nil)
		if a.Kind != "" {
			r.Fatalf("%s: %s %s", array, a.Kind, a.Error)
		}
		lines := strings.Split(strings.TrimSuffix(string(a.payload), "\n"), "\n")[1:]
		row := 0
		_ = schema.Rows(func(cells []records.Cell) error { // it returns what this does
			var got []*string
			if err := json.Unmarshal([]byte(lines[row]), &got); err != nil || len(got) != len(cells) {
				r.Fatalf("%s: %v", lines[row], err)
			}
			for i, cell := range cells {
				want := ""
				switch schema.Columns[i].Type {
				case records.Boolean:
					want = fmt.Sprint(cell.Bool)
				case records.Integer:
					want = fmt.Sprint(cell.Int)
				case records.Double:
					want = formatDouble(cell.Float)
				default:
					want = string(cell.Text)
				}
				if cell.Null != (got[i] == nil) || !cell.Null && *got[i] != want {
					r.Fatalf("%s: row %d, column %s (%s): got %v, want %q", array, row, schema.Columns[i].Name, schema.Columns[i].Type, lines[row], want)
				}
			}
			row++
			return nil
		})
		if row != len(lines) || int64(row) != a.Result.Rows {
			r.Fatalf("%d rows, want %d", len(lines), row)
		}
		var types []string
		for _, f := range a.Result.Columns {
			types = append(types, f.Type)
		}
		again := &protocol.Load{Name: "again", Table: records.Table{Form: records.FormSnapshot}, Types: types, Quiet: true}
		if a, _ := c.do(protocol.Request{Load: again}, a.payload); a.Kind != "" {
			r.Fatalf("snapshot of %s: %s %s", array, a.Kind, a.Error)
		}
		b, _ := c.do(protocol.Request{Query: &protocol.Query{SQL: "FROM again", Keep: true}}, nil)
		if !bytes.Equal(a.payload, b.payload) {
			r.Fatalf("%s: got %s, want %s", array, b.payload, a.payload)
		}
		c.do(protocol.Request{Drop: []string{a.Result.Kept, b.Result.Kept}}, nil)
	})
}
