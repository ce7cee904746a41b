package deliver

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"heddle"
	"heddle/internal/capture"
	"heddle/internal/mcptest"
	"heddle/internal/tokens"
	"heddle/internal/wire"
)

// corpus are results of real servers.
func corpus(t testing.TB) map[string]string {
	t.Helper()
	out := map[string]string{}
	for name, b := range mcptest.Archive(t, "../capture/testdata/results.tar.gz") {
		out[strings.TrimSuffix(name, ".json")] = string(bytes.TrimSpace(b))
	}
	return out
}

// shapes are results that say their texts in other ways than in one block.
func shapes() map[string]string {
	var rows, pretty []string
	for i := range 300 {
		row := fmt.Sprintf(`{"id":%d,"title":"Issue \"%x\" of C:\\temp","open":%v}`, i, i*7919, i%3 == 0)
		rows = append(rows, row)
		pretty = append(pretty, block(strings.NewReplacer(`,"`, ",\n  \"", "{", "{\n  ").Replace(row)))
	}
	list, text := "["+strings.Join(rows, ",")+"]", story(400)
	return map[string]string{
		"blocks":    result(pretty...),
		"list":      `{"content":[` + strings.Join(pretty, ",") + `],"structuredContent":{"result":` + list + `}}`,
		"same":      `{"content":[` + block(`{"items":`+list+`}`) + `],"structuredContent":{"items":` + list + `}}`,
		"other":     `{"content":[` + block(text) + `],"structuredContent":{"items":` + list + `}}`,
		"annotated": `{"content":[{"type":"text","annotations":{"audience":["user"]},"text":` + string(wire.Quote(list)) + `}]}`,
		"resource":  result(embedded(list)),
		"picture":   `{"content":[{"type":"image","mimeType":"image/png","data":"` + strings.Repeat("QUJD", 20_000) + `"},` + block(text) + `],"structuredContent":{"items":` + list + `}}`,
	}
}

// Reading all of a result back costs hardly more than what a host would have had to
// read of it: its texts and its structured content.
func TestReadingBackCosts(t *testing.T) {
	const (
		most     = 1.05
		smallest = 600 // tokens: of less, the line above a page is more than that
	)
	count, err := tokens.New()
	if err != nil {
		t.Fatal(err)
	}
	spoken := func(raw []byte) (n int) {
		p, _ := takeApart(raw)
		for _, it := range p.items {
			n += count.Count(string(it.text))
		}
		return n + count.Count(string(p.structured))
	}
	all := shapes()
	maps.Copy(all, corpus(t))
	captured := 0
	for _, name := range slices.Sorted(maps.Keys(all)) {
		r := newRig(t, Options{Threshold: 500}, capture.Options{})
		d := r.deliver(t, "compact", all[name])
		raw, cost := spoken([]byte(all[name])), 0
		if d.Form == heddle.FormExact || raw < smallest {
			continue
		}
		captured++
		for _, ref := range d.Refs {
			r.pages(t, ref, func(page []byte) { cost += spoken(page) })
		}
		ratio := float64(cost) / float64(raw)
		t.Logf("%s: %d tokens to read, %.3f times the result's %d", name, cost, ratio, raw)
		if ratio > most {
			t.Errorf("%s: reading all costs %.3f times the result, want at most %v", name, ratio, most)
		}
	}
	if captured < 40 {
		t.Errorf("only %d results are captured", captured)
	}
}
