//go:build cgo

package worker

import (
	"fmt"
	"testing"

	"heddle/internal/dataset/protocol"
	"heddle/internal/dataset/records"
)

var sizes = []int{1_000, 10_000, 100_000}

// BenchmarkLoad is a load of rows of eight columns with its profile, with the way
// there and back.
func BenchmarkLoad(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			c, array := startChild(b), mixed(n)
			b.SetBytes(int64(len(array)))
			for b.Loop() {
				c.must(loadOf("t"), array)
			}
		})
	}
}

// BenchmarkSchema is what package records takes of that, twice over.
func BenchmarkSchema(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			t := records.Table{Form: records.FormArray, Path: "$", Data: mixed(n)}
			for b.Loop() {
				s, err := t.Schema()
				if err != nil {
					b.Fatal(err)
				}
				_ = s.Rows(func([]records.Cell) error { return nil }) // never fails
			}
		})
	}
}

// BenchmarkQuery is a query of a model, with the way there and back.
func BenchmarkQuery(b *testing.B) {
	for name, sql := range map[string]string{
		"group":  "SELECT state, count(*) AS n, sum(amount) FROM t GROUP BY state ORDER BY n DESC",
		"join":   "SELECT u.state, count(*) AS n FROM t JOIN u USING (login) GROUP BY ALL ORDER BY n DESC LIMIT 10",
		"filter": "SELECT id, login, amount FROM t WHERE state = 'alpha' AND ok ORDER BY amount DESC LIMIT 20",
	} {
		for _, n := range sizes {
			b.Run(fmt.Sprint(name, "/", n), func(b *testing.B) {
				c := startChild(b)
				c.must(loadOf("t"), mixed(n))
				c.must(loadOf("u"), mixed(n/10))
				for b.Loop() {
					c.must(protocol.Request{Query: &protocol.Query{SQL: sql, Inline: 1 << 20}}, nil)
				}
			})
		}
	}
}

// BenchmarkKeep is a result that becomes a table.
func BenchmarkKeep(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			c := startChild(b)
			c.must(loadOf("t"), mixed(n))
			for b.Loop() {
				a := c.must(protocol.Request{Query: &protocol.Query{SQL: "FROM t", Inline: 1000}}, nil)
				c.must(protocol.Request{Drop: []string{a.Result.Kept}}, nil)
			}
		})
	}
}
