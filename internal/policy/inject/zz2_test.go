package inject

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func bigJSON() json.RawMessage {
	rows := make([]map[string]any, 4200)
	for i := range rows {
		rows[i] = map[string]any{"id": i, "title": fmt.Sprintf("Release %d of the billing service with two fixes", i), "state": "open", "url": fmt.Sprintf("https://api.example.com/repos/acme/billing/issues/%d", i), "note": strings.Repeat("The nightly job writes its table to disk. ", 2)}
	}
	b, _ := json.Marshal(map[string]any{"content": rows})
	return b
}
func BenchmarkJSON1MB(b *testing.B) {
	raw := bigJSON()
	d := New(Medium)
	d.JSON(Result, raw)
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		if len(d.JSON(Result, raw)) > 0 {
			b.Fatal("found")
		}
	}
}
func BenchmarkText1MB(b *testing.B) {
	raw := bigJSON()
	q, _ := json.Marshal(map[string]any{"content": []any{map[string]any{"type": "text", "text": string(raw)}}})
	d := New(Medium)
	d.JSON(Result, q)
	b.SetBytes(int64(len(q)))
	b.ReportAllocs()
	for b.Loop() {
		if len(d.JSON(Result, q)) > 0 {
			b.Fatal("found")
		}
	}
}
func BenchmarkSmall(b *testing.B) {
	d := New(Medium)
	raw := json.RawMessage(`{"content":[{"type":"text","text":"{\"id\":4711,\"title\":\"Fix the flaky test of the scheduler\",\"state\":\"open\",\"url\":\"https://api.example.com/repos/acme/billing/issues/4711\",\"body\":\"The nightly job fails since Tuesday. It writes its table to disk and then waits for the lock.\"}"}]}`)
	d.JSON(Result, raw)
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		d.JSON(Result, raw)
	}
}
