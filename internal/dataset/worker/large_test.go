//go:build cgo

package worker

import (
	"fmt"
	"strings"
	"testing"

	"heddle/internal/dataset/protocol"
)

// TestLarge: what is as large as it may be fits, and leaves the process as large as
// it may be.
func TestLarge(t *testing.T) {
	if testing.Short() {
		t.Skip("moves some hundred megabytes")
	}
	c := startChild(t)
	var b strings.Builder
	b.WriteByte('[')
	rows := 0
	for b.Len() < 60<<20 {
		if rows > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":%d,"text":"%d %s"}`, rows, rows, strings.Repeat("some text ", 60))
		rows++
	}
	b.WriteByte(']')
	if p := c.load("big", b.String()); p.Rows != int64(rows) || p.Columns[1].Distinct != int64(rows) {
		t.Errorf("got %+v", p)
	}
	t.Logf("%d rows of %d MB: peak %d MB", rows, b.Len()>>20, c.peak())
	for _, format := range []string{"", "csv", "json"} {
		a := c.must(protocol.Request{Query: &protocol.Query{SQL: "FROM big", Format: format, Inline: map[string]int{"": 1000, "csv": protocol.MaxPayload, "json": protocol.MaxPayload}[format]}}, nil)
		if a.Result.Rows != int64(rows) || len(a.payload) < 50<<20 {
			t.Errorf("%s: got %d bytes, %+v", format, len(a.payload), a.Result)
		}
		t.Logf("read as %q: peak %d MB", format, c.peak())
		if a.Result.Kept != "" {
			c.must(protocol.Request{Drop: []string{a.Result.Kept}}, nil)
		}
	}
	if a, _ := c.do(protocol.Request{Query: &protocol.Query{SQL: "SELECT *, text AS again FROM big"}}, nil); a.Kind != protocol.TooLarge || !strings.Contains(a.Error, "64 MB") {
		t.Errorf("got %s %s", a.Kind, a.Error)
	}
	if peak := c.peak(); peak > maxPeak {
		t.Errorf("%d MB", peak)
	}
	c = startChild(t)
	long := strings.Repeat("x", 17<<20)
	if p := c.load("long", `[{"v":"`+long+`"},{"v":"y"}]`); len(*p.Sample[0][0]) > protocol.MaxCell+3 || len(p.Columns[0].Min) > protocol.MaxCell+3 {
		t.Errorf("got a sample of %d bytes", len(*p.Sample[0][0]))
	}
	if got := c.one("SELECT max(length(v)) FROM long"); got != fmt.Sprint(len(long)) {
		t.Errorf("got %s", got)
	}
	if peak := c.peak(); peak > maxPeak {
		t.Errorf("%d MB", peak)
	}
}

// TestMany: many tables stay within what the engine has, and are all there.
func TestMany(t *testing.T) {
	if testing.Short() {
		t.Skip("loads a million rows")
	}
	c := startChild(t)
	array := string(mixed(5000))
	for i := range 200 {
		c.load(fmt.Sprint("t", i), array)
	}
	for i := range 200 {
		if got := c.one(fmt.Sprint("SELECT count(*) FROM t", i)); got != "5000" {
			t.Errorf("t%d: got %s rows", i, got)
		}
	}
	t.Logf("peak %d MB", c.peak())
	if peak := c.peak(); peak > maxPeak {
		t.Errorf("%d MB", peak)
	}
}
