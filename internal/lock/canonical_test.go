package lock

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestHashTellsWhatCounts(t *testing.T) {
	for _, c := range []struct {
		name, a, b string
		same       bool
	}{
		{"key order", `{"a":1,"b":{"c":2,"d":3}}`, `{"b":{"d":3,"c":2},"a":1}`, true},
		{"white space", "{\n\t\"a\" : [ 1 , 2 ] }", `{"a":[1,2]}`, true},
		{"escapes", `{"\u0061":"\u00e9\/\ud83d\ude00\u000a"}`, `{"a":"é/😀\n"}`, true},
		{"zeros", `[1.0,10e-1,1E0,0.10,-0,1e2,0e99999999999]`, `[1,1,1,0.1,0,100,0]`, true},
		{"exponents", `[1e400,1.50e-60,0.00015e-56]`, `[10e399,15e-61,15e-61]`, true},
		{"digits", `9007199254740993`, `9007199254740992`, false},
		{"small digits", `0.1`, `0.1000000000000000000000000000000000001`, false},
		{"sign", `1`, `-1`, false},
		{"kinds", `"1"`, `1`, false},
		{"element order", `[1,2]`, `[2,1]`, false},
		{"trailing space", `{"a":"b"}`, `{"a":"b "}`, false},
		{"invisible", `{"a":"b"}`, `{"a":"b\u200b"}`, false},
		{"composition", `"caf\u00e9"`, `"cafe\u0301"`, false},
		{"null and absent", `{"a":null}`, `{}`, false},
		{"the first of two", `{"a":1,"a":2}`, `{"a":1}`, false},
		{"the last of two", `{"a":1,"a":2}`, `{"a":2}`, false},
		{"order of two", `{"a":1,"a":2}`, `{"a":2,"a":1}`, false},
		{"two, one escaped", `{"a":1,"\u0061":2}`, `{"a":1,"a":2}`, true},
		{"half pairs", `"\ud800"`, `"\ud801"`, false},
		{"half a pair and its replacement", `"\ud800"`, `"\ufffd"`, false},
		{"two halves apart", `"\ud83dx\ude00"`, `"\ud83d\ude00x"`, false},
		{"case of keys", `{"A":1}`, `{"a":1}`, false},
		{"borders of keys", `{"a":"b","c":"d"}`, `{"a":"b\",\"c\":\"d"}`, false},
		{"not JSON", `{"a":1`, `{"a":1}`, false},
	} {
		if got := Hash([]byte(c.a)) == Hash([]byte(c.b)); got != c.same {
			t.Errorf("%s: %s and %s the same: %v, want %v", c.name, c.a, c.b, got, c.same)
		}
	}
}

func TestCanonical(t *testing.T) {
	in := `{ "z" : [1.50, -0.0, 1e21, 1e-7, 12345678901234567890123, 1e999, true] , "é\ud800" : "\u007f\u0007\/" }`
	want := `{"z":[1.5,0,1000000000000000000000,0.0000001,12345678901234567890123,1e999,true],"é\ud800":"` + "\x7f" + `\u0007/"}`
	got, err := Canonical([]byte(in))
	if err != nil || string(got) != want {
		t.Errorf("%s, error %v\nwant %s", got, err, want)
	}
	for _, bad := range []string{"", "{", `{"a":}`, `{} {}`, strings.Repeat("[", 20_000)} {
		if got, err := Canonical([]byte(bad)); err == nil {
			t.Errorf("%.20q: %s, want an error", bad, got)
		}
	}
}

// FuzzCanonical: the form is JSON, means the same and is its own form, whichever
// characters are escaped.
func FuzzCanonical(f *testing.F) {
	for _, s := range []string{`{"b":[1.0,{"a":"\ud800\u200b"}],"a":null,"a":-1e-9}`, `"\ud83d\ude00"`, "\"\xff\xed\xa0\x80\"", `1e999999999999`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		form, err := Canonical(b)
		if err != nil {
			return
		}
		if !json.Valid(form) || !utf8.Valid(form) {
			t.Fatalf("%q: %q is not JSON", b, form)
		}
		if again, err := Canonical(form); err != nil || !bytes.Equal(again, form) {
			t.Fatalf("%q: the form of %q is %q, error %v", b, form, again, err)
		}
		n, _ := parse(form)
		if shown := n.append(nil, hidden); Hash(shown) != Hash(b) {
			t.Fatalf("%q: written as %q it is another", b, shown)
		}
		if Diff(b, form) != "" || strings.ContainsFunc(Diff(nil, b), func(r rune) bool { return r != '\n' && hidden(r) }) {
			t.Fatalf("%q: diffs %q and %q", b, Diff(b, form), Diff(nil, b))
		}
	})
}
