package ledger

import (
	"context"
	"path/filepath"
	"testing"

	"heddle"
)

var benchCall = &heddle.Call{Principal: heddle.Local, Session: "0123456789abcdef", Mode: "compact", Tool: "github_create_issue"}

func benchRow(l *Ledger) {
	r := l.Begin(benchCall)
	r.Server, r.Name, r.Form = "github", "create_issue", heddle.FormExact
	r.UpstreamBytes, r.DeliveredBytes = 1234, 1234
	l.End(r)
}

// BenchmarkBeginEnd is what a call pays: with a writer, which drops most rows at
// this speed, and with every row queued.
func BenchmarkBeginEnd(b *testing.B) {
	b.Run("writer", func(b *testing.B) {
		l := New(Options{Path: filepath.Join(b.TempDir(), "ledger.db")})
		ctx, cancel := context.WithCancel(b.Context())
		ended := make(chan error, 1)
		go func() { ended <- l.Run(ctx) }()
		b.ReportAllocs()
		for b.Loop() {
			benchRow(l)
		}
		cancel()
		<-ended
	})
	b.Run("queued", func(b *testing.B) {
		l := New(Options{Path: "never opened"})
		b.ReportAllocs()
		for n := 0; b.Loop(); n++ {
			benchRow(l)
			if n%1000 == 999 { // as at 5,000 calls a second
				taken := l.queue.take(batchRows)
				l.queue.settle(&taken, false)
			}
		}
		if l.Dropped() > 0 {
			b.Error("rows were dropped")
		}
	})
	b.Run("parallel", func(b *testing.B) {
		l := New(Options{Path: "never opened", Queue: 1})
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				benchRow(l)
			}
		})
	})
}

// BenchmarkWrite is what the writer pays for one row, without its pace.
func BenchmarkWrite(b *testing.B) {
	s, err := open(b.Context(), filepath.Join(b.TempDir(), "ledger.db"), "")
	if err != nil {
		b.Fatal(err)
	}
	defer s.close()
	l := New(Options{Path: "never opened"})
	for range batchRows {
		benchRow(l)
	}
	full := l.queue.take(batchRows)
	rows := 0
	b.ReportAllocs()
	for b.Loop() {
		if err := s.insert(b.Context(), &full); err != nil {
			b.Fatal(err)
		}
		rows += batchRows
	}
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(rows), "ns/row")
}
