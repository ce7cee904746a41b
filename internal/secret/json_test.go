package secret

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestJSON(t *testing.T) {
	for _, c := range []struct{ raw, want string }{
		{`{"a": 1}`, ``},
		{`{"password" : "¶" , "n":1.50}`, `{"password" : "[redacted]" , "n":1.50}`},
		{`{"PASSWORD":"¶","nested":[{"apiKey":"†"}]}`, `{"PASSWORD":"[redacted]","nested":[{"apiKey":"[redacted]"}]}`},
		{`{"pass\u0077ord":"¶"}`, `{"pass\u0077ord":"[redacted]"}`},
		{`{"\u5bc6\u7801":"¶"}`, `{"\u5bc6\u7801":"[redacted]"}`},
		{`{"tokens":["†","‡"]}`, `{"tokens":["[redacted]","[redacted]"]}`},
		{`{"pin":482913,"max_tokens":4096,"password":12345678}`, `{"pin":"[redacted]","max_tokens":4096,"password":"[redacted]"}`},
		{`{"text":"caf\u00e9\n\"token\": \"†\" \ud83d\ude00"}`, `{"text":"caf\u00e9\n\"token\": \"[redacted]\" \ud83d\ude00"}`},
		{`{"text":"{\"password\": \"¶\", \"n\": 1}"}`, `{"text":"{\"password\": \"[redacted]\", \"n\": 1}"}`},
		{`{"text":"{\"a\":\"{\\\"token\\\":\\\"†\\\"}\"}"}`, `{"text":"{\"a\":\"{\\\"token\\\":\\\"[redacted]\\\"}\"}"}`},
		{`{"text":"{\"pin\": 482913}"}`, `{"text":"{\"pin\": \"[redacted]\"}"}`},
		{`{"url":"https:\/\/ann:†@x.test\/p"}`, `{"url":"https:\/\/ann:[redacted]@x.test\/p"}`},
		{`{"ghp_†":true}`, `{"[redacted]":true}`},
		{`[{"name":"DB_PASSWORD","value":"¶"},{"name":"REGION","value":"abcdef12"}]`, `[{"name":"DB_PASSWORD","value":"[redacted]"},{"name":"REGION","value":"abcdef12"}]`},
		{`[{"value":"†","type":"SecureString","name":"/prod/api/token"}]`, `[{"value":"[redacted]","type":"SecureString","name":"/prod/api/token"}]`},
		{`{"d":"††","kty":"RSA","n":"‡‡"}`, `{"d":"[redacted]","kty":"RSA","n":"‡‡"}`},
		{`{"kty":"RSA","n":"‡‡","e":"AQAB"}`, ``},
		{`{"kind":"Secret","data":{"a":"c2VjcmV0LXZhbHVl"},"metadata":{"name":"x-1234"}}`, `{"kind":"Secret","data":{"a":"[redacted]"},"metadata":{"name":"x-1234"}}`},
		{`{"properties":{"password":{"type":"string","description":"The password"}},"required":["password"]}`, ``},
		{`{"password":null,"token":"","secret":false,"password2":"changeme"}`, ``},
		{`{"usage":{"prompt_tokens":12,"total_tokens":140000000000000}}`, ``},
		{`{"next_page_token":"b2Zmc2V0OjMxNTgxMjM0NTY3","cursor":"†"}`, ``},
		{`{"type":"image","mimeType":"image/png","data":"` + strings.Repeat("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAf", 40) + `"}`, ``},
	} {
		raw := filled.Replace(c.raw)
		want := filled.Replace(c.want)
		if want == "" {
			want = raw
		}
		got, found := MaskJSON([]byte(raw))
		if string(got) != want {
			t.Errorf("%s:\n got %s\nwant %s", c.raw, got, want)
		}
		if (len(found) > 0) != (raw != want) {
			t.Errorf("%s: findings %v", c.raw, found)
		}
		if !json.Valid(got) {
			t.Errorf("%s: not valid", got)
		}
	}
}

func TestJSONPointer(t *testing.T) {
	raw := []byte(filled.Replace(`{"a":[{"b/c":{"password":"¶"}}],"text":"{\"token\":\"†\"}"}`))
	found := FindJSON(raw)
	if len(found) != 2 || found[0].Pointer != "/a/0/b~1c/password" || found[1].Pointer != "/text" {
		t.Fatalf("%+v", found)
	}
	if v := string(raw[found[0].Start:found[0].End]); v != human {
		t.Errorf("place of %s", v)
	}
}

func TestKeepsWhatIsClean(t *testing.T) {
	raw := ordinary(t)
	got, found := MaskJSON(raw)
	if len(found) > 0 || &got[0] != &raw[0] {
		t.Errorf("a copy, or findings: %v", found)
	}
	text := "nothing of note"
	if n := testing.AllocsPerRun(10, func() { Mask(text) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestNotJSON(t *testing.T) {
	raw := filled.Replace(`{"password":"¶", oops`)
	got, found := MaskJSON([]byte(raw))
	if len(found) != 1 || strings.Contains(string(got), human) {
		t.Errorf("%s: %v", got, found)
	}
}

// FuzzMaskJSON: valid JSON stays so, nothing is found twice, and all findings are within
// the bytes.
func FuzzMaskJSON(f *testing.F) {
	for _, r := range corpus(f) {
		if len(r.Payload) < 1000 {
			f.Add([]byte(r.Payload))
		}
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		before := string(raw)
		at := 0
		for _, x := range FindJSON(raw) {
			if x.Start < at || x.End <= x.Start || x.End > len(raw) {
				t.Fatalf("%q: %v", raw, x)
			}
			at = x.End
		}
		got, found := MaskJSON(raw)
		if string(raw) != before {
			t.Fatal("changed its argument")
		}
		if json.Valid(raw) && len(raw) < 10_000 && !json.Valid(got) {
			t.Fatalf("%q became %q", raw, got)
		}
		if again := FindJSON(got); len(found) > 0 && len(again) > 0 {
			t.Fatalf("%q became %q: found again %v", raw, got, again)
		}
		if text := Mask(before); len(Find(text)) > 0 {
			t.Fatalf("%q became %q: found again %v", before, text, Find(text))
		}
	})
}
