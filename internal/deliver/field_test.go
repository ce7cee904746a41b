package deliver

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"heddle"
	"heddle/internal/capture"
	"heddle/internal/wire"
)

// many joins n copies of a format with their numbers in place of #.
func many(n int, sep, format string) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = strings.ReplaceAll(format, "#", fmt.Sprint(i))
	}
	return strings.Join(parts, sep)
}

// hard are values that others could not store, show or give back.
func hard() map[string]string {
	return map[string]string{
		"10,000 rows":     `[` + many(10_000, ",", `{"id":#,"name":"row #","ok":true}`) + `]`,
		"a cell of 2 MB":  `[{"id":1,"s":"` + strings.Repeat("x", 2<<20) + `"}]`,
		"5,000 columns":   `[{` + many(5000, ",", `"column_#":#`) + `}]`,
		"one column":      `[` + many(200_000, ",", `{"n":#}`) + `]`, // of a million it is the same
		"nested":          strings.Repeat(`{"a":[1,{"b":`, 400) + `"` + strings.Repeat("y", 20_000) + `"` + strings.Repeat(`}]}`, 400),
		"one object":      `{"a":{"b":{"c":{` + many(3000, ",", `"k#":{"v":[#,"#"]}`) + `}}}}`,
		"one long string": `{"s":"` + strings.Repeat(`0123456789 \u00e9\n`, 1<<17) + `"}`,
		"numbers":         `[` + many(2000, ",", `{"id":9007199254740993,"n":#.0,"u":18446744073709551615,"w":123456789012345678901234567890,"e":1e400,"z":-0.0}`) + `]`,
		"codes":           `[` + many(2000, ",", `{"id":"00#","u":"BBD05AE7-1111-4ACA-8280-6D447C97C2BB","d":"25-11-2025","e":"1e5","b":"true","n":"NULL","x":"0x1F"}`) + `]`,
		"keys":            `[` + many(1000, ",", `{"id":1,"Id":#,"ID_1":3,"":4,"select":5,"a b":6,"a.b":7,"q\"x":8,"日本":9,"drop table t;--":10,"o":{"x":1,"X":2},"a":1,"a":2,"`+strings.Repeat("k", 300)+`":0}`) + `]`,
		"controls":        `[` + many(2000, ",", `{"v":"a\u0000b\u001f","n":#}`) + `]`,
	}
}

// Whatever is in a result, and wherever in it, what a host reads first is short and
// names what has all of it, and that is what was sent, to the byte.
func TestHardResults(t *testing.T) {
	texts := hard()
	texts["NaN"] = `[` + many(3000, ",", `{"v":NaN,"w":Infinity}`) + `]`
	texts["clock"] = "a,b,c\n" + many(3000, "\n", "Night,#,2022/01/27 11:04:57 PM")
	texts["ragged"] = "a;b;c\n" + many(3000, "\n", `"x;y",#`) + "\n1,5;2,5\n\"a\nb\",12345678901234567890\n"
	check := func(name, raw, sent string) {
		t.Helper()
		r := newRig(t, Options{}, capture.Options{})
		d := r.deliver(t, "compact", raw)
		if len(d.Raw) > maxText+300 || len(d.Refs) != 1 || !strings.Contains(string(d.Raw), d.Refs[0]+": about ") || !strings.Contains(string(d.Raw), "read_result") {
			t.Errorf("%s: %d bytes with %v: %.300s", name, len(d.Raw), d.Refs, d.Raw)
			return
		}
		c, err := r.store.Get(heddle.Local, d.Refs[0])
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.Bytes()
		if err != nil || sha256.Sum256(got) != sha256.Sum256([]byte(sent)) {
			t.Errorf("%s: %d bytes are captured, %v; want the %d that were sent", name, len(got), err, len(sent))
		}
		if len(sent) < 1<<20 { // many pages are like few
			if back := r.readAll(t, d.Refs[0]); sha256.Sum256([]byte(back)) != sha256.Sum256([]byte(sent)) {
				t.Errorf("%s: %d bytes are read back, want the %d that were sent", name, len(back), len(sent))
			}
		}
	}
	for name, text := range texts {
		check(name, result(block(text)), text)
		check(name+", embedded", result(embedded(text)), text)
	}
	for name, value := range hard() {
		raw := `{"content":[],"structuredContent":{"v":` + value + `}}`
		if !wire.Valid([]byte(raw)) {
			t.Fatalf("%s is no JSON", name)
		}
		check(name+", structured", raw, raw)
	}
}

// A thousand results that are twenty times what there is room for: each is named, the
// last can be read, and the first say that they expired and what to call.
func TestThousandResults(t *testing.T) {
	const size, room = 5 << 10, 256 << 10
	r := newRig(t, Options{Threshold: 500}, capture.Options{Memory: room / 4, Disk: room * 3 / 4})
	random := rand.New(rand.NewPCG(1, 2))
	var refs, texts []string
	for range 1000 {
		b := make([]byte, size)
		for i := range b {
			b[i] = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ \n"[random.IntN(64)]
		}
		d := r.deliver(t, "compact", result(block(string(b))))
		if len(d.Refs) != 1 {
			t.Fatalf("result %d: %s with %v", len(refs), d.Form, d.Refs)
		}
		refs, texts = append(refs, d.Refs[0]), append(texts, string(b))
	}
	if s := r.store.Stats(); s.Memory+s.Disk > room || s.Evicted == 0 || s.Captures+int(s.Evicted) != 1000 {
		t.Errorf("%+v in a room of %d", s, room)
	}
	for i := 960; i < 1000; i++ {
		if r.readAll(t, refs[i]) != texts[i] {
			t.Errorf("%s is another text", refs[i])
		}
	}
	for _, ref := range refs[:100] {
		_, err := r.read(heddle.Local, Reading{Ref: ref})
		if text := public(err); heddle.KindOf(err) != heddle.KindResultExpired || !strings.HasPrefix(text, ref+" expired at ") || !strings.Contains(text, "call up::list_issues again") {
			t.Errorf("%s: %v", ref, err)
		}
	}
}
