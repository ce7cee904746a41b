package walk

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTexts(t *testing.T) {
	raw := []byte(` {"a" : "x\ny", "list":[1.5e3,"two",{"k/~":"\ud83d\ude00"},[]], "":{}, "n":null, "b":true, "half":"\ud800"} `)
	var got []string
	err := Texts(raw, func(x *Text) bool {
		got = append(got, fmt.Sprintf("%d %s %q name=%s", x.Kind, x.Pointer(), x.Value, x.Name))
		if lit := string(raw[x.Start:x.End]); x.Kind != Number {
			var s string
			if err := json.Unmarshal([]byte(lit), &s); err != nil || s != x.Value {
				t.Errorf("%s is not the literal of %q", lit, x.Value)
			}
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`2 /a "a" name=`, `0 /a "x\ny" name=a`,
		`2 /list "list" name=`, `1 /list/0 "1.5e3" name=list`, `0 /list/1 "two" name=list`,
		`2 /list/2/k~1~0 "k/~" name=list`, `0 /list/2/k~1~0 "😀" name=k/~`,
		`2 / "" name=`, `2 /n "n" name=`, `2 /b "b" name=`,
		`2 /half "half" name=`, `0 /half "�" name=half`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestTextsStops(t *testing.T) {
	n := 0
	if err := Texts([]byte(`["a","b"]`), func(*Text) bool { n++; return false }); err != nil || n != 1 {
		t.Errorf("saw %d texts, error %v", n, err)
	}
}

func TestTextsRefuses(t *testing.T) {
	for _, raw := range []string{``, `{`, `{"a"}`, `["a"`, `["a" "b"]`, `"a`, `"a\`, `{"a":"b"}x`, `{a:1}`, `nul`, "\"\x01\"\\", strings.Repeat("[", 20_000)} {
		if err := Texts([]byte(raw), func(*Text) bool { return true }); !errors.Is(err, ErrSyntax) {
			t.Errorf("%.20q: error %v", raw, err)
		}
	}
}

// FuzzTexts compares with the standard library: valid JSON is walked to its end.
func FuzzTexts(f *testing.F) {
	f.Add([]byte(`{"a":["\u00e9",{"b":-1.5}],"c":false}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if err := Texts(raw, func(x *Text) bool { _ = x.Pointer(); return true }); json.Valid(raw) && err != nil && len(raw) < 10_000 {
			t.Errorf("%q: %v", raw, err)
		}
	})
}

// A text of nothing but escapes takes as long as any other of its length.
func BenchmarkEscapes(b *testing.B) {
	raw := []byte(`"` + strings.Repeat(`\\`, 1<<19) + `"`)
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		_ = Texts(raw, func(*Text) bool { return true })
	}
}

func BenchmarkTexts(b *testing.B) {
	rows := make([]map[string]any, 5000)
	for i := range rows {
		rows[i] = map[string]any{"id": i, "title": "A row of a table\nwith two lines", "tags": []string{"x", "y"}, "note": strings.Repeat("plain ", 12)}
	}
	inner, _ := json.Marshal(rows)
	raw, _ := json.Marshal(map[string]any{"content": []any{map[string]any{"type": "text", "text": string(inner)}}, "structuredContent": map[string]any{"rows": rows}})
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		_ = Texts(raw, func(*Text) bool { return true })
	}
}
