package secret

import (
	"encoding/json"
	"strings"
	"testing"
)

// ordinary returns a result of about a megabyte without secrets: rows, links, prose, a
// text that is JSON itself.
func ordinary(tb testing.TB) []byte {
	rows := make([]map[string]any, 1100)
	for i := range rows {
		rows[i] = map[string]any{
			"id": i, "node_id": "MDQ6SXNzdWUx", "title": "Passing keys of a table, authored \"by\" Ann", "state": "open", "key": "region",
			"url": "https://api.example.com/repos/o/r/issues/12345", "html_url": "https://example.com/o/r/issues/12345?page=2&per_page=100",
			"created_at": "2026-05-04T10:11:12Z", "sha": "d9ff0a3db1f71633ee5dfea3f6181fe4a984acbc", "assignees": []string{"x", "y"},
			"body": strings.Repeat("Steps to reproduce:\n1. Open the page\n2. See that the table has no rows. ", 3),
		}
	}
	inner, err := json.Marshal(rows)
	if err != nil {
		tb.Fatal(err)
	}
	raw, err := json.Marshal(map[string]any{"content": []any{map[string]any{"type": "text", "text": string(inner)}}, "structuredContent": map[string]any{"rows": rows}})
	if err != nil {
		tb.Fatal(err)
	}
	return raw
}

func BenchmarkFindJSON(b *testing.B) {
	raw := ordinary(b)
	if found := FindJSON(raw); len(found) > 0 {
		b.Fatal(found)
	}
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		FindJSON(raw)
	}
}

func BenchmarkFindJSONSmall(b *testing.B) {
	raw := []byte(`{"content":[{"type":"text","text":"{\"id\":12,\"title\":\"A row of a table\",\"state\":\"open\",\"html_url\":\"https://example.com/o/r/issues/12\",\"created_at\":\"2026-05-04T10:11:12Z\",\"body\":\"Steps to reproduce: open the page and see that the table has no rows at all. Key: region.\"}"}],"isError":false}`)
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		FindJSON(raw)
	}
}

func BenchmarkMaskText(b *testing.B) {
	text := strings.Repeat("INFO request 12 to https://api.example.com/items done in 12 ms, 200 OK\n", 14000)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		Mask(text)
	}
}
