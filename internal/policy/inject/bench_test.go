package inject

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// issues is a result of about n bytes: structured, or as one text as most servers send it.
func issues(b *testing.B, n int, text bool) json.RawMessage {
	b.Helper()
	var rows []map[string]any
	for i := range n / 240 {
		rows = append(rows, map[string]any{
			"id": i, "state": "open", "title": fmt.Sprintf("Release %d of the billing service with two fixes", i),
			"url": fmt.Sprintf("https://api.example.com/repos/acme/billing/issues/%d", i), "note": strings.Repeat("The nightly job writes its table to disk. ", 2),
		})
	}
	raw, err := json.Marshal(map[string]any{"issues": rows})
	if err != nil {
		b.Fatal(err)
	}
	if text {
		if raw, err = json.Marshal(map[string]any{"content": []any{map[string]any{"type": "text", "text": string(raw)}}}); err != nil {
			b.Fatal(err)
		}
	}
	return raw
}

func BenchmarkJSON(b *testing.B) {
	for _, c := range []struct {
		name string
		size int
		text bool
	}{{"300 B", 300, true}, {"1 MB", 1 << 20, false}, {"1 MB text", 1 << 20, true}} {
		b.Run(c.name, func(b *testing.B) {
			raw, d := issues(b, c.size, c.text), New(Medium)
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			for b.Loop() {
				if found := d.JSON(Result, raw); len(found) > 0 {
					b.Fatal(found)
				}
			}
		})
	}
}

func BenchmarkLanguages(b *testing.B) {
	for name, part := range map[string]string{"chinese": "敏捷的棕色狐狸跳过了懒狗，然后去河边喝水。", "russian": "Съешь ещё этих мягких французских булок. ", "french": "Où est passé l'été à la forêt? "} {
		b.Run(name, func(b *testing.B) {
			text, d := strings.Repeat(part, 1<<20/len(part)), New(Medium)
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				d.Text(Result, text)
			}
		})
	}
}
