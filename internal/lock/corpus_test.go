package lock

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"heddle"
)

// row is a line of poisoning.jsonl that has a definition which was approved.
type row struct {
	Expect   string          `json:"expect"`
	Why      string          `json:"why"`
	Server   string          `json:"server"`
	Tool     json.RawMessage `json:"tool"`
	Approved json.RawMessage `json:"approved"`
}

func corpus(t *testing.T) (rows []row) {
	t.Helper()
	f, err := os.Open("../policy/testdata/poisoning.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r row
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		if r.Approved != nil {
			rows = append(rows, r)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return rows
}

// TestCorpus compares definitions with those that were approved.
func TestCorpus(t *testing.T) {
	rows := corpus(t)
	right := 0
	for _, r := range rows {
		was, now := ref(t, r.Server, r.Approved), ref(t, r.Server, r.Tool)
		var f File
		if err := f.Approve(Tool{Ref: was, Definition: r.Approved}, time.Now()); err != nil {
			t.Fatal(err)
		}
		statuses, _ := f.Check([]Tool{{Ref: now, Definition: r.Tool}})
		got := "changed"
		if statuses[0].State == Approved {
			got = "unchanged"
		}
		diff := Diff(r.Approved, r.Tool)
		switch {
		case got != r.Expect:
			t.Errorf("%s: %s, want %s", r.Why, got, r.Expect)
		case (diff == "") != (got == "unchanged"):
			t.Errorf("%s: %s with the diff %q", r.Why, got, diff)
		default:
			right++
		}
		if before, after, ok := strings.Cut(diff, "\n+ "); ok && strings.TrimPrefix(before, "- ")+"\n" == after {
			t.Errorf("%s: one cannot see the change:\n%s", r.Why, diff)
		}
	}
	t.Logf("%d of %d right", right, len(rows))
	if len(rows) < 15 {
		t.Errorf("%d rows", len(rows))
	}
}

func ref(t *testing.T, server string, definition json.RawMessage) heddle.ToolRef {
	t.Helper()
	var v struct{ Name string }
	if err := json.Unmarshal(definition, &v); err != nil {
		t.Fatal(err)
	}
	return heddle.ToolRef{Server: server, Name: v.Name}
}
