package capture

import (
	"fmt"
	"strings"
	"testing"

	"heddle"
)

func sizes(b *testing.B, f func(b *testing.B, text string)) {
	for _, n := range []int{200_000, 20 << 20} {
		b.Run(fmt.Sprintf("%dkB", n>>10), func(b *testing.B) { f(b, logText(n)) })
	}
}

// BenchmarkPut's bytes an operation are what a Put needs beside the content.
func BenchmarkPut(b *testing.B) {
	for name, o := range map[string]Options{"memory": {}, "disk": {Memory: 1, Disk: 8 << 20}, "state": {StateDir: b.TempDir()}} {
		b.Run(name, func(b *testing.B) {
			sizes(b, func(b *testing.B, text string) {
				s, content := newStore(b, o), []byte(text)
				b.ReportAllocs()
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					c, err := s.Put(heddle.Local, listIssues, KindText, content)
					if err != nil {
						b.Fatal(err)
					}
					b.ReportMetric(float64(c.packed), "packed-B")
				}
			})
		})
	}
}

func BenchmarkPage(b *testing.B) {
	sizes(b, func(b *testing.B, text string) {
		c := put(b, newStore(b, Options{}), text)
		cursor := c.Cursor(c.Size * 2 / 3)
		b.ReportAllocs()
		for b.Loop() {
			if _, err := c.Page(cursor, 9_000); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkSearch(b *testing.B) {
	chinese := strings.Repeat("支付服务在上午八点无法连接数据库，已重试三次。\n", 20<<20/70)
	escaped := `{"text":"` + strings.Repeat(`\u652f\u4ed8 \"x\" 8\n`, 20<<20/24) + `"}`
	s := newStore(b, Options{Memory: 1 << 30})
	texts := map[string]*Capture{"200kB": put(b, s, logText(200_000)), "20MB": put(b, s, logText(20<<20)), "20MB-chinese": put(b, s, chinese), "20MB-escaped": put(b, s, escaped)}
	disk := newStore(b, Options{Memory: 1, Disk: 1 << 30})
	texts["20MB-disk"] = put(b, disk, logText(20<<20))
	for name, c := range texts {
		for way, query := range map[string]string{"phrase": "status=300 duration=7", "many": "method=GET", "words": "error path 1000 duration", "none": "absent from all of it 数据", "letters": "e a i t"} {
			b.Run(name+"/"+way, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, _, err := c.Search(query, 3, 3000); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
