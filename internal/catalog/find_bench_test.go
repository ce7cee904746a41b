package catalog

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"
)

// many returns sources of n tools: the real ones of testdata/search, as often as
// it takes, each time of other servers.
func many(t testing.TB, n int) (sources []Source) {
	real := append(readCatalog(t, "mcp"), readCatalog(t, "bfcl")...)
	for round := 0; n > 0; round++ {
		for _, s := range real {
			s.Server = fmt.Sprintf("%s-%d", s.Server, round)
			s.Definitions = s.Definitions[:min(len(s.Definitions), n)]
			n -= len(s.Definitions)
			sources = append(sources, s)
		}
	}
	return sources
}

// BenchmarkFind answers real queries; p50 and p99 are of one search.
func BenchmarkFind(b *testing.B) {
	for _, n := range []int{700, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := Build(many(b, n), Options{})
			queries := texts(readQueries(b, "mcp/queries.jsonl"))
			s.Find("x", "", 3)
			var took []time.Duration
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				start := time.Now()
				s.Find(queries[i%len(queries)], "", 3)
				took = append(took, time.Since(start))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
		})
	}
}

// BenchmarkIndex is what the first search of a catalog costs, in time and in
// memory that stays.
func BenchmarkIndex(b *testing.B) {
	for _, n := range []int{700, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := Build(many(b, n), Options{})
			var kept *indexed
			for b.Loop() {
				kept = &indexed{tools: s.tools, abouts: abouts(s.servers)}
				kept.build(nil)
			}
			with := heap()
			kept.index = nil
			b.ReportMetric(float64(with-heap())/1e6, "MB")
			runtime.KeepAlive(kept)
		})
	}
}

// BenchmarkReindex is what it costs after one tool has changed.
func BenchmarkReindex(b *testing.B) {
	sources := many(b, 10_000)
	s := Build(sources, Options{})
	old := &indexed{tools: s.tools, abouts: abouts(s.servers)}
	old.build(nil)
	sources[0].Definitions = append(sources[0].Definitions[1:], namedDefinition("fresh"))
	s = Build(sources, Options{})
	for b.Loop() {
		next := &indexed{tools: s.tools, abouts: abouts(s.servers)}
		next.build(old)
	}
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC() // what it finds is freed by the second
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
