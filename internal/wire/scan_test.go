package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// texts are JSON and what looks like it.
var texts = []string{
	``, ` `, `{}`, `[]`, ` { } `, "\t[\n]\r", `{"a":1}`, `{"a":1,}`, `{,}`, `{"a"}`, `{"a":}`, `{"a" : 1 , "b":[1, 2,{ }]}`, `{a:1}`, `{"a":1}{}`,
	`[1,]`, `[,1]`, `[1 2]`, `[1}`, `{"a":1]`, `[[[]]]`, `[{}`, `]`, `}`, `{"a":{"b":[{"c":null}]}}`,
	`0`, `-0`, `01`, `-`, `+1`, `1.`, `.5`, `1.5`, `1e5`, `1E+5`, `1e-5`, `1e`, `1e+`, `-1.5e10`, `9007199254740993`, `1.5.5`, `0x1`, `1_000`, `NaN`, `Infinity`,
	`true`, `false`, `null`, `tru`, `truee`, `nul`, `nulll`, `True`, `fals`,
	`""`, `"`, `"a`, `"a"b`, `"\`, `"\"`, `"\""`, `"\\"`, `"\/\b\f\n\r\t"`, `"\x"`, `"\u12"`, `"\u12g4"`, `"\u1234"`, `"\uD800"`, `"\u0000"`,
	"\"a\nb\"", "\"a\tb\"", "\"\x00\"", "\"\x1f\"", "\"\x7f\"", "\"é€𝄞\"", "\"\xff\"", "\"\xb0\xa1 \xff\"", "\xef\xbb\xbf{}",
	`"1234567"`, `"12345678"`, `"123456789"`, `"12345678\"9"`, `"1234567\\"`, `"12345678` + "\x01" + `"`, `"aaaaaaaaaaaaaaaaaaaaaaaa\u00e9bbbbbbbbbbbbbbbb"`,
	"\"\x80\x80\x80\x80\x80\x80\x80\x80\"", "\"       !\"", `"!!!!!!!!"`, "\"\x21\x22", `{"":""}`, `{"a":"` + "\x02" + `"}`, "[1,2]\x00", "// c\n{}", `{'a':1}`,
}

func TestValidAgreesWithEncodingJSON(t *testing.T) {
	for _, s := range texts {
		if got, want := Valid([]byte(s)), json.Valid([]byte(s)); got != want {
			t.Errorf("Valid(%q) = %v, want %v", s, got, want)
		}
	}
}

// TestValidAgreesAtEveryOffset moves the byte that ends a string over all places
// in the words that the scanner reads at once.
func TestValidAgreesAtEveryOffset(t *testing.T) {
	for _, c := range []string{`"`, `\"`, `\\`, "\x1f", "\x20", "\x80", "\xff", `\u00e9`, `\u00g9`, `!`, `#`, `[`, `]`} {
		for n := range 40 {
			for _, fill := range []string{"x", "!", "\xc3", "]"} {
				s := `["` + strings.Repeat(fill, n) + c + strings.Repeat(fill, 20) + `"]`
				if got, want := Valid([]byte(s)), json.Valid([]byte(s)); got != want {
					t.Errorf("Valid(%q) = %v, want %v", s, got, want)
				}
			}
		}
	}
}

func TestValidBoundsDepthAsEncodingJSON(t *testing.T) {
	for _, depth := range []int{1, 255, 256, 257, 9999, 10000, 10001, 100000} {
		for _, s := range []string{
			strings.Repeat("[", depth) + strings.Repeat("]", depth),
			strings.Repeat(`{"a":`, depth) + "1" + strings.Repeat("}", depth),
			strings.Repeat(`[{"a":`, depth/2) + "1" + strings.Repeat("}]", depth/2),
		} {
			if got, want := Valid([]byte(s)), json.Valid([]byte(s)); got != want {
				t.Errorf("Valid at depth %d of %.6q = %v, want %v", depth, s, got, want)
			}
		}
	}
}

func TestMembersGivesEachMemberInOrder(t *testing.T) {
	in := ` { "a" : 1 , "\u0062":"x", "a":[ {"n":1} ] ,"c\n":null,"":{ } } `
	var got []string
	err := Members([]byte(in), func(k string, v json.RawMessage) bool {
		got = append(got, k+"="+string(v))
		return true
	})
	want := []string{"a=1", `b="x"`, `a=[ {"n":1} ]`, "c\n=null", "={ }"}
	if err != nil {
		t.Errorf("Members: %v", err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("members (-want +got):\n%s", d)
	}
}

func TestMembersStopsWhenToldTo(t *testing.T) {
	n := 0
	if err := Members([]byte(`{"a":1,"b":2}`), func(string, json.RawMessage) bool { n++; return false }); err != nil || n != 1 {
		t.Errorf("got %d members and %v, want 1 and no error", n, err)
	}
}

func TestMembersRefusesWhatIsNoObject(t *testing.T) {
	for _, s := range []string{``, `[]`, `1`, `"a"`, `null`, `{`, `{"a":1`, `{"a":1,}`, `{"a":1} x`, `{"a" 1}`, `{"a":tru}`, `{1:2}`, `{}}`} {
		if err := Members([]byte(s), func(string, json.RawMessage) bool { return true }); err == nil {
			t.Errorf("Members(%q): no error", s)
		}
	}
	deep := `{"a":` + strings.Repeat("[", MaxDepth+1) + strings.Repeat("]", MaxDepth+1) + `}`
	if err := Members([]byte(deep), func(string, json.RawMessage) bool { return true }); err != ErrDepth {
		t.Errorf("Members of a deep object: got %v, want %v", err, ErrDepth)
	}
}

func TestMembersValueCannotBeAppendedInto(t *testing.T) {
	in := []byte(`{"a":1,"b":2}`)
	_ = Members(in, func(_ string, v json.RawMessage) bool {
		_ = append(v, "XXXX"...)
		return true
	})
	if got, want := string(in), `{"a":1,"b":2}`; got != want {
		t.Errorf("the object became %s", got)
	}
}

func TestSpansNamesThePlaceOfEachValue(t *testing.T) {
	in := []byte(`{"a": 12 ,"b":"x"}`)
	var got []string
	if err := Spans(in, func(k string, from, to int) bool {
		got = append(got, fmt.Sprintf("%s %d-%d %s", k, from, to, in[from:to]))
		return true
	}); err != nil {
		t.Fatal(err)
	}
	want := []string{"a 6-8 12", `b 14-17 "x"`}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("spans (-want +got):\n%s", d)
	}
}

func TestMemberReturnsTheLastOfAName(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`{"a":1}`, `1`}, {`{"a":1,"a":2}`, `2`}, {`{"b":1}`, ``}, {`{"\u0061":3}`, `3`}, {`[]`, ``}, {``, ``}, {`{"x":{"a":1}}`, ``},
	} {
		if got := string(Member([]byte(c.in), "a")); got != c.want {
			t.Errorf("Member(%s, a) = %q, want %q", c.in, got, c.want)
		}
	}
}

func TestCleanReplacesEachInvalidByte(t *testing.T) {
	for _, c := range []struct {
		in, want string
		bad      int
	}{
		{"", "", 0}, {"plain", "plain", 0}, {"é€𝄞\uFFFD", "é€𝄞\uFFFD", 0}, {"\xb0\xa1 \xff", "\uFFFD\uFFFD \uFFFD", 3},
		{"a\xe2\x82", "a\uFFFD\uFFFD", 2}, {"\xed\xa0\x80", "\uFFFD\uFFFD\uFFFD", 3}, {"\xc0\x80", "\uFFFD\uFFFD", 2},
	} {
		got, bad := Clean([]byte(c.in))
		if string(got) != c.want || bad != c.bad {
			t.Errorf("Clean(%q) = %q, %d, want %q, %d", c.in, got, bad, c.want, c.bad)
		}
	}
	in := []byte("valid")
	if out, _ := Clean(in); &out[0] != &in[0] {
		t.Error("Clean copied valid input")
	}
}

func TestUnquote(t *testing.T) {
	for _, c := range []struct {
		in, want string
		ok       bool
	}{
		{`"a"`, "a", true}, {`""`, "", true}, {`"\u00e9\n"`, "é\n", true}, {`a`, "", false}, {`1`, "", false}, {``, "", false}, {`"`, "", false}, {`null`, "", false},
	} {
		got, ok := Unquote([]byte(c.in))
		if got != c.want || ok != c.ok {
			t.Errorf("Unquote(%s) = %q, %v, want %q, %v", c.in, got, ok, c.want, c.ok)
		}
	}
}

func TestQuoteKeepsHTMLAndRoundTrips(t *testing.T) {
	for _, s := range []string{"", "a", `"\`, "<&>", "\x00\n\t", "é€𝄞", "\u2028"} {
		lit := Quote(s)
		if got, ok := Unquote(lit); !ok || got != s {
			t.Errorf("Unquote(Quote(%q)) = %q, %v", s, got, ok)
		}
		if strings.ContainsAny(s, "<&>") && string(lit) != `"`+s+`"` {
			t.Errorf("Quote(%q) = %s, which escapes HTML", s, lit)
		}
	}
}

// Text says what Unquote does.
func FuzzText(f *testing.F) {
	for _, lit := range []string{`""`, `"a"`, `"a\nb\u00e9\"\/"`, `"\ud83d\ude00 \ud83d\uD83D\uDE00 \udc00\ud800x"`, "\"\xff\\n\xfe\"", `"\u12"`, `"\x"`, "\"\n\"", `"a"b"`, `7`, ` "a" `, `"\`, `"\"`} {
		f.Add([]byte(lit))
	}
	f.Fuzz(func(t *testing.T, lit []byte) {
		var want string
		wantOK := json.Unmarshal(lit, &want) == nil && lit[0] == '"'
		if got, ok := Text(lit); ok != wantOK || ok && string(got) != want {
			t.Errorf("Text(%q) = %q, %v; encoding/json has %q, %v", lit, got, ok, want, wantOK)
		}
	})
}

func FuzzScan(f *testing.F) {
	for _, s := range texts {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		valid := json.Valid(b)
		if got := Valid(b); got != valid {
			t.Fatalf("Valid(%q) = %v, want %v", b, got, valid)
		}
		clean, bad := Clean(b)
		if !utf8.Valid(clean) || (bad == 0) != utf8.Valid(b) {
			t.Fatalf("Clean(%q) = %q, %d", b, clean, bad)
		}
		fuzzMembers(t, b, valid)
		if m, err := Parse(b); err == nil && m.IsRequest() == m.IsResponse() && !m.IsNotification() {
			t.Fatalf("Parse(%q) is neither or both", b)
		}
	})
}

// fuzzMembers compares Members with encoding/json.
func fuzzMembers(t *testing.T, b []byte, valid bool) {
	got := map[string]string{}
	err := Members(b, func(k string, v json.RawMessage) bool {
		if !Valid(v) {
			t.Fatalf("Members(%q): %q of %q is not valid", b, v, k)
		}
		got[k] = string(v)
		return true
	})
	object := valid && bytes.HasPrefix(bytes.TrimLeft(b, " \t\r\n"), []byte("{"))
	if (err == nil) != object {
		t.Fatalf("Members(%q): %v, want an error: %v", b, err, !object)
	}
	if !object {
		return
	}
	raw := map[string]json.RawMessage{}
	if err := json.Unmarshal(b, &raw); err != nil {
		t.Fatalf("encoding/json refuses %q: %v", b, err)
	}
	want := map[string]string{}
	for k, v := range raw {
		want[k] = string(v)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Fatalf("members of %q (-want +got):\n%s", b, d)
	}
}

// frame returns a response of about n bytes, mostly text.
func frame(n int) []byte {
	unit := `{"id":12345,"name":"a name \"quoted\"","ok":true,"score":0.25,"text":"` + strings.Repeat("some words of text ", 20) + `"},`
	body := strings.Repeat(unit, max(1, n/len(unit)))
	return []byte(`{"jsonrpc":"2.0","id":"h1","result":{"content":[` + strings.TrimSuffix(body, ",") + `]}}`)
}

func BenchmarkScan(b *testing.B) {
	for _, n := range []int{1 << 10, 1 << 20} {
		data := frame(n)
		b.Run(fmt.Sprintf("Valid/%d", n), func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if !Valid(data) {
					b.Fatal("not valid")
				}
			}
		})
		b.Run(fmt.Sprintf("Parse/%d", n), func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Parse(data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
