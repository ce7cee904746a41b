package estimate

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// calls are results of about size bytes, by what they have.
func calls(t testing.TB, size int) map[string][]byte {
	t.Helper()
	texts := map[string]string{}
	for _, s := range corpus(t) {
		switch s.Name {
		case "fs-read-go", "stripe-list-charge", "k8s-log", "doc-github-readme", "data-birdstrikes":
			texts[s.Name] = parts(t, s.Raw)[0]
		}
	}
	for _, k := range kindsOf(t, "heldout") {
		switch k.Name {
		case "chinese", "korean", "russian", "french", "hex", "email", "number":
			texts[k.Name] = strings.Join(k.Parts, "\n")
		}
	}
	out := map[string][]byte{}
	for name, text := range texts {
		for len(text) < size {
			text += "\n" + text
		}
		lit, err := json.Marshal(strings.ToValidUTF8(text[:size], ""))
		if err != nil {
			t.Fatal(err)
		}
		out[name] = fmt.Appendf(nil, `{"content":[{"type":"text","text":%s}]}`, lit)
	}
	return out
}

func BenchmarkResult(b *testing.B) {
	for _, size := range []int{2 << 10, 8 << 10, 64 << 10} {
		for name, raw := range calls(b, size) {
			b.Run(fmt.Sprintf("%dk/%s", size>>10, name), func(b *testing.B) {
				b.SetBytes(int64(len(raw)))
				b.ReportAllocs()
				for b.Loop() {
					Result(raw)
				}
			})
		}
	}
}

func BenchmarkBelow(b *testing.B) {
	for _, size := range []int{2 << 10, 8 << 10} {
		for name, raw := range calls(b, size) {
			b.Run(fmt.Sprintf("%dk/%s", size>>10, name), func(b *testing.B) {
				b.SetBytes(int64(len(raw)))
				b.ReportMetric(float64(bound(raw, 1<<40))/unit, "most")
				for b.Loop() {
					Below(raw, 2000)
				}
			})
		}
	}
}
