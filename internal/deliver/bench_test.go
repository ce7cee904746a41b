package deliver

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"heddle"
	"heddle/internal/capture"
)

// BenchmarkDeliver is what deciding about a result costs, and what a large one
// costs to capture and shorten.
func BenchmarkDeliver(b *testing.B) {
	row := func(i int) string { return fmt.Sprintf(`{"id":%d,"name":"item %08x","ms":%d}`, i, i*7919, i%997) }
	rows := func(n int) string {
		all := make([]string, n)
		for i := range all {
			all[i] = row(i)
		}
		return "[" + strings.Join(all, ",") + "]"
	}
	for _, in := range []struct{ name, raw string }{
		{"1kB", answerText(rows(20))}, {"5kB", answerText(rows(110))}, {"200kB", answerText(rows(4500))}, {"1MB", answerText(rows(22_000))}, {"20MB", answerText(rows(420_000))},
	} {
		b.Run(in.name, func(b *testing.B) {
			r := newRig(b, Options{}, capture.Options{})
			b.SetBytes(int64(len(in.raw)))
			b.ReportAllocs()
			for b.Loop() {
				d := r.Deliver(b.Context(), &heddle.Call{Principal: heddle.Local, Mode: "compact"}, tool, heddle.Result{Raw: json.RawMessage(in.raw)})
				for _, ref := range d.Refs {
					r.store.Drop(heddle.Local, ref)
				}
			}
		})
	}
}

func answerText(text string) string { return result(block(text)) }
