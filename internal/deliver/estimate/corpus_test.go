package estimate

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"heddle/internal/tokens"
)

// sample is a result of the corpus. Odd ones are what the costs were fitted on.
type sample struct {
	Name string
	Raw  json.RawMessage
}

// corpus reads the checked-in results.
func corpus(t testing.TB) (out []sample) {
	t.Helper()
	for _, line := range gzLines(t, "testdata/results.jsonl.gz") {
		var s sample
		if err := json.Unmarshal(line, &s); err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}
	return out
}

func gzLines(t testing.TB, path string) (out [][]byte) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 8<<20)
	for lines.Scan() {
		out = append(out, []byte(string(lines.Bytes())))
	}
	if lines.Err() != nil || len(out) == 0 {
		t.Fatalf("%s: %d lines, %v", path, len(out), lines.Err())
	}
	return out
}

// parts returns the texts of a result that a model receives.
func parts(t testing.TB, raw json.RawMessage) (out []string) {
	t.Helper()
	type texts struct{ Text, URI, Name, Description string }
	var r struct {
		Content []struct {
			texts
			Resource texts
		}
		StructuredContent json.RawMessage
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		t.Fatal(err)
	}
	add := func(x texts) { out = append(out, x.Text, x.URI, x.Name, x.Description) }
	for _, c := range r.Content {
		add(c.texts)
		add(c.Resource)
	}
	return append(out, string(r.StructuredContent))
}

// exact counts what [Result] estimates.
func exact(t testing.TB, c *tokens.Counter, raw json.RawMessage) (n int) {
	t.Helper()
	for _, p := range parts(t, raw) {
		if p != "" {
			n += c.Count(p)
		}
	}
	return n
}

func counter(t testing.TB) *tokens.Counter {
	t.Helper()
	c, err := tokens.New()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func own(name string) bool { return strings.HasPrefix(name, "own/") }
