package streamable

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// BenchmarkCall is a small call over a connection that is kept.
func BenchmarkCall(b *testing.B) {
	const body = `{"jsonrpc":"2.0","id":"h1","result":{"content":[{"type":"text","text":"hello"}]}}`
	for name, kind := range map[string]string{"json": "application/json", "events": "text/event-stream"} {
		b.Run(name, func(b *testing.B) {
			text := body
			if name == "events" {
				text = "event: message\ndata: " + body + "\n\n"
			}
			client := &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
				return &http.Response{
					StatusCode: 200, Header: http.Header{"Content-Type": {kind}}, Body: io.NopCloser(strings.NewReader(text)),
					ContentLength: int64(len(text)), Request: r,
				}, nil
			})}
			l, err := Open(b.Context(), Config{URL: "http://h/", Client: client, MaxFrame: 1 << 20})
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = l.Close() }()
			frame := []byte(`{"jsonrpc":"2.0","id":"h1","method":"tools/call","params":{"name":"t","arguments":{"a":1},"_meta":{"progressToken":"h1"}}}` + "\n")
			b.ReportAllocs()
			for b.Loop() {
				if _, err := l.Write(frame); err != nil {
					b.Fatal(err)
				}
				if _, err := l.Next(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
