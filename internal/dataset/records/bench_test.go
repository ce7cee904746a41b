package records

import (
	"fmt"
	"strings"
	"testing"
)

// benchRows is n rows of eight columns in JSON, about 150 bytes each.
func benchRows(n int) []byte {
	b := []byte("[")
	for i := range n {
		if i > 0 {
			b = append(b, ',')
		}
		b = fmt.Appendf(b, `{"id":%d,"name":"Customer %d","email":"user%d@example.com","total":%d.%02d,"paid":%t,`+
			`"country":"Germany","created_at":"2024-%02d-%02dT10:%02d:00Z","note":null}`,
			1_000_000+i, i, i, i%1000, i%100, i%3 == 0, i%12+1, i%28+1, i%60)
	}
	return append(b, ']')
}

var benchSizes = []struct {
	name string
	rows int
}{{"1k", 1_000}, {"10k", 10_000}, {"100k", 100_000}}

func BenchmarkFind(b *testing.B) {
	for _, size := range benchSizes {
		in := Input{Texts: [][]byte{benchRows(size.rows)}}
		b.Run(size.name, func(b *testing.B) {
			b.SetBytes(int64(len(in.Texts[0])))
			b.ReportAllocs()
			for b.Loop() {
				if found, why := Find(in); found.Main.Count != size.rows {
					b.Fatal(why)
				}
			}
		})
	}
}

func BenchmarkSchema(b *testing.B) {
	for _, size := range benchSizes {
		table := Table{Form: FormArray, Data: benchRows(size.rows)}
		b.Run(size.name, func(b *testing.B) {
			b.SetBytes(int64(len(table.Data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := table.Schema(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkRows(b *testing.B) {
	for _, size := range benchSizes {
		table := Table{Form: FormArray, Data: benchRows(size.rows)}
		schema, err := table.Schema()
		if err != nil {
			b.Fatal(err)
		}
		b.Run(size.name, func(b *testing.B) {
			b.SetBytes(int64(len(table.Data)))
			b.ReportAllocs()
			for b.Loop() {
				if err := schema.Rows(func([]Cell) error { return nil }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkFindText finds tables in text, and finds none in a log.
func BenchmarkFindText(b *testing.B) {
	for name, text := range map[string]string{
		"csv":      "id,name,email,total,paid\n" + strings.Repeat("1000001,Customer 1,user1@example.com,10.25,true\n", 100_000),
		"markdown": "| id | name | total |\n|---|---|---|\n" + strings.Repeat("| 1000001 | Customer 1 | 10.25 |\n", 100_000),
		"ls":       strings.Repeat("-rw-r--r-- 1 root root      14280 Jan 11  2023 411toppm\n", 10_000),
		"log":      strings.Repeat("2024-01-02 10:00:00 INFO [main] request=1 path=/api/v1/x, status=200\n", 100_000),
		"keys":     strings.Repeat("name: Customer 1\nage: 7\ntext: some words\n\n", 10_000),
		"words":    strings.Repeat("some words that say nothing\n", 100_000),
	} {
		in := Input{Texts: [][]byte{[]byte(text)}}
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				Find(in)
			}
		})
	}
}

// BenchmarkTextRows reads 100,000 rows of CSV, and of a snapshot.
func BenchmarkTextRows(b *testing.B) {
	csv := Table{Form: FormDelimited, Delimiter: ",", Data: []byte("id,name,email,total,paid\n" + strings.Repeat("1000001,Customer 1,user1@example.com,10.25,true\n", 100_000))}
	snapshot := Table{Form: FormSnapshot, Data: []byte(`["id","name","email"]` + "\n" + strings.Repeat(`["1000001","Customer 1","user1@example.com"]`+"\n", 100_000))}
	for _, table := range []Table{csv, snapshot} {
		schema, err := table.Schema()
		if err != nil {
			b.Fatal(err)
		}
		b.Run("schema/"+string(table.Form), func(b *testing.B) {
			b.SetBytes(int64(len(table.Data)))
			for b.Loop() {
				if _, err := table.Schema(); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("rows/"+string(table.Form), func(b *testing.B) {
			b.SetBytes(int64(len(table.Data)))
			for b.Loop() {
				if err := schema.Rows(func([]Cell) error { return nil }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
