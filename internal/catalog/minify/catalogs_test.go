package minify

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"os"
	"testing"

	"heddle"
)

// server is what one real server listed.
type server struct {
	Server string
	Tools  []json.RawMessage
}

// catalogs reads what real servers listed.
func catalogs(t testing.TB) (out []server) {
	t.Helper()
	f, err := os.Open("testdata/catalogs.jsonl.gz")
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
		var s server
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}
	if lines.Err() != nil || len(out) < 30 {
		t.Fatalf("%d catalogs: %v", len(out), lines.Err())
	}
	return out
}

// definition is the part of a definition that models are shown.
type definition struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"inputSchema"`
}

// listed returns a definition as hosts hand it to models: name, description and
// input schema, in JSON without white space.
func listed(t testing.TB, raw json.RawMessage) []byte {
	t.Helper()
	var d definition
	if err := json.Unmarshal(raw, &d); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(d); err != nil {
		t.Fatal(err)
	}
	return bytes.TrimSpace(b.Bytes())
}

// toolOf returns the definition as a tool of the catalog.
func toolOf(t testing.TB, raw json.RawMessage) *heddle.Tool {
	t.Helper()
	var d definition
	if err := json.Unmarshal(raw, &d); err != nil {
		t.Fatal(err)
	}
	return &heddle.Tool{Ref: heddle.ToolRef{Name: d.Name}, Definition: raw, InputSchema: d.InputSchema, Description: d.Description}
}
