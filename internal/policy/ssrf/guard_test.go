package ssrf

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestLists: what lets a private host pass, and what does not.
func TestLists(t *testing.T) {
	server, err := Hosts([]string{"nas.lan:5000", "intern.example", "*.home", "192.168.1.0/24", "10.0.0.5:8080", "[fd00::1]:80", "172.16.0.0/12:443", "FILE://"})
	if err != nil {
		t.Fatal(err)
	}
	g, err := New(Config{
		BlockPrivateIPs: true, Resolver: names, AllowPrivateHosts: []string{"localhost", "::1", "169.254.169.254", "metadata.goog", "intern.example:81"},
		AllowDomains: []string{"example.com", "*.example.com", "both.example", "8.8.8.8"}, BlockDomains: []string{"evil.example.com", "*.bad.example.com", "192.168.1.66", "x.home"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		`{"url":"http://localhost:3000/"}`:               "",
		`{"url":"http://LOCALHOST./"}`:                   "",
		`{"url":"http://a.localhost/"}`:                  "local name",
		`{"url":"http://127.0.0.1/"}`:                    "loopback address",
		`{"url":"http://[::1]:3000/"}`:                   "",
		`{"url":"http://nas.lan:5000/"}`:                 "",
		`{"url":"http://nas.lan/"}`:                      "local name",
		`{"host":"nas.lan","port":5000}`:                 "",
		`{"port":"5000","host":"nas.lan"}`:               "",
		`{"host":"nas.lan","port":5001}`:                 "local name",
		`{"a":{"host":"nas.lan"},"port":5000}`:           "local name",
		`{"url":"http://intern.example/"}`:               "",
		`{"url":"http://sub.intern.example/"}`:           "not in allow_domains",
		`{"url":"http://tv.home/"}`:                      "",
		`{"url":"http://x.home/"}`:                       "block_domains",
		`{"url":"http://192.168.1.7/"}`:                  "",
		`{"url":"http://3232235783/"}`:                   "", // the same in decimal
		`{"url":"http://[::ffff:192.168.1.7]/"}`:         "",
		`{"url":"http://192.168.1.66/"}`:                 "block_domains",
		`{"url":"http://192.168.2.7/"}`:                  "private address",
		`{"url":"http://10.0.0.5:8080/"}`:                "",
		`{"url":"http://10.0.0.5:08080/"}`:               "",
		`{"url":"http://10.0.0.5/"}`:                     "private address",
		`{"url":"http://[fd00::1]/"}`:                    "", // port 80 is http's own
		`{"url":"https://[fd00::1]/"}`:                   "private address",
		`{"url":"https://172.20.0.1/"}`:                  "",
		`{"url":"http://172.20.0.1/"}`:                   "private address",
		`{"url":"file:///tmp/x"}`:                        "",
		`{"url":"gopher://example.com/"}`:                "scheme gopher",
		`{"url":"http://169.254.169.254/"}`:              "",
		`{"url":"http://169.254.170.2/"}`:                "cloud metadata",
		`{"url":"http://metadata.goog/"}`:                "",
		`{"url":"http://metadata.google.internal/"}`:     "cloud metadata",
		`{"url":"https://example.com/"}`:                 "",
		`{"url":"https://api.example.com/"}`:             "",
		`{"url":"https://evil.example.com/"}`:            "block_domains",
		`{"url":"https://very.evil.example.com/"}`:       "block_domains",
		`{"url":"https://bad.example.com/"}`:             "block_domains",
		`{"url":"https://github.com/"}`:                  "not in allow_domains",
		`{"text":"see https://github.com/ for more"}`:    "not in allow_domains",
		`{"url":"http://8.8.8.8/"}`:                      "",
		`{"url":"http://1.1.1.1/"}`:                      "not in allow_domains",
		`{"url":"http://both.example/"}`:                 "name of a private address", // allowed is not private
		`{"x":"https://example.com/","y":"http://10.1"}`: "private address",
	} {
		got := ""
		if f := g.Check(t.Context(), json.RawMessage(args), server); len(f) > 0 {
			got = f[0].Rule
		}
		if got != want {
			t.Errorf("Check(%s) = %q, want %q", args, got, want)
		}
	}
	if g.Check(t.Context(), json.RawMessage(`{"url":"http://192.168.1.7/"}`), nil) == nil {
		t.Error("the list of one server lets others pass")
	}
}

// TestListedNames: a name that is listed need not resolve, and may not lead to
// metadata all the same.
func TestListedNames(t *testing.T) {
	g, err := New(Config{BlockPrivateIPs: true, Resolver: names, AllowPrivateHosts: []string{"dead.example", "meta.example", "10.0.0.0/8"}})
	if err != nil {
		t.Fatal(err)
	}
	for url, want := range map[string]string{
		"http://dead.example/": "", "http://meta.example/": "name of cloud metadata", "http://intern.example/": "", "http://mapped.example/": "",
		"http://both.example/": "name of a private address",
	} {
		got := ""
		if f := g.CheckURL(t.Context(), url, nil); f != nil {
			got = f.Rule
		}
		if got != want {
			t.Errorf("CheckURL(%s) = %q, want %q", url, got, want)
		}
	}
}

func TestMalformedEntries(t *testing.T) {
	for _, text := range []string{
		"", "*", "*.", "a b", "http://x", "host:0", "host:x", "host:99999", "10.0.0.0/33", "1.2.3", "*example.com", "a..b", "x/y", "*.1.2.3.4", ":80", "a*b.example", "[::1", "host:1:2",
	} {
		if l, err := Hosts([]string{"localhost", text}); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q", text)) {
			t.Errorf("Hosts(%q) = %+v, %v", text, l, err)
		}
	}
	for _, c := range []Config{{AllowDomains: []string{"a b"}}, {BlockDomains: []string{"http://x/"}}, {AllowPrivateHosts: []string{"/"}}} {
		c.Resolver = names
		if _, err := New(c); err == nil || !strings.Contains(err.Error(), "_") {
			t.Errorf("New(%+v): %v, want an error that names the key", c, err)
		}
	}
	if _, err := New(Config{}); err == nil {
		t.Error("a guard without a resolver")
	}
}

// TestMetadataOnly: nothing but metadata is refused, and nobody is asked.
func TestMetadataOnly(t *testing.T) {
	g, err := New(Config{MetadataOnly: true, BlockPrivateIPs: true, BlockDomains: []string{"example.com"}})
	if err != nil {
		t.Fatal(err)
	}
	metadata := 0
	for line := range strings.Lines(strings.TrimSpace(refused + passes)) {
		for _, f := range g.Check(t.Context(), json.RawMessage(line), nil) {
			if f.Rule != "cloud metadata" {
				t.Errorf("Check(%s) = %+v", line, f)
			}
			metadata++
		}
	}
	if metadata < 10 {
		t.Errorf("%d of metadata", metadata)
	}
	listed, err := Hosts([]string{"169.254.169.254", "metadata.google.internal"})
	if err != nil {
		t.Fatal(err)
	}
	wide, err := Hosts([]string{"169.254.0.0/16", "*.internal", "0.0.0.0/0"})
	if err != nil {
		t.Fatal(err)
	}
	for _, url := range []string{"http://169.254.169.254/", "http://0xa9fea9fe/", "http://metadata.google.internal./"} {
		if g.CheckURL(t.Context(), url, listed) != nil {
			t.Errorf("%s is refused although it is listed", url)
		}
		if g.CheckURL(t.Context(), url, wide) == nil {
			t.Errorf("%s passes by a range", url)
		}
	}
}

// TestPrivateAllowed: without block_private_ips metadata stays out of reach, by name
// too, and lists count.
func TestPrivateAllowed(t *testing.T) {
	g, err := New(Config{Resolver: names, BlockDomains: []string{"github.com"}})
	if err != nil {
		t.Fatal(err)
	}
	for url, want := range map[string]bool{
		"http://127.0.0.1/": false, "http://intern.example/": false, "http://redis:6379": false, "http://meta.example/": true,
		"http://169.254.169.254": true, "https://github.com": true, "file:///etc/passwd": true, "https://dead.example/": false,
	} {
		if got := g.CheckURL(t.Context(), url, nil); (got != nil) != want {
			t.Errorf("CheckURL(%s) = %+v, want refused: %v", url, got, want)
		}
	}
}

// TestFindings: each names its text, and no submitted value.
func TestFindings(t *testing.T) {
	g := tableGuard(t)
	got := g.Check(t.Context(), json.RawMessage(`{"a":[{"url":"http://intern.example/"},"http://10.9.8.7/ http://127.0.0.1/"],"http://localhost/":{"b~/":"file:///x"},"host":"q"}`), nil)
	want := []Finding{
		{"/a/1", "private address", keyPrivate},
		{"/http:~1~1localhost~1", "local name", keyPrivate},
		{"/http:~1~1localhost~1/b~0~1", "scheme file", keyPrivate},
		{"/host", "name without a domain", keyPrivate},
		{"/a/0/url", "name of a private address", keyPrivate},
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := g.Check(t.Context(), json.RawMessage(`{"a":`), nil); len(got) != 1 || got[0].Rule != "not valid JSON" {
		t.Errorf("got %v", got)
	}
	if got := g.Check(t.Context(), nil, nil); got != nil {
		t.Errorf("got %v of no arguments", got)
	}
}

// TestBounds: more names than a call may have are refused, whatever they are.
func TestBounds(t *testing.T) {
	known := stub{}
	for i := range 2 * maxLinked {
		known[fmt.Sprintf("n%d.example", i)] = []string{"8.8.8.8"}
	}
	g, err := New(Config{BlockPrivateIPs: true, Resolver: known})
	if err != nil {
		t.Fatal(err)
	}
	list := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "https://n%d.example/ ", i)
		}
		return b.String()
	}
	for n, want := range map[int]bool{maxFetched: false, maxFetched + 1: true} {
		args, _ := json.Marshal(map[string]any{"urls": strings.Fields(list(n))})
		if got := g.Check(t.Context(), args, nil); len(got) > 0 != want {
			t.Errorf("%d URLs: %v", n, got)
		}
	}
	for n, want := range map[int]bool{maxLinked: false, maxLinked + 1: true} {
		args, _ := json.Marshal(map[string]any{"text": list(n)})
		if got := g.Check(t.Context(), args, nil); len(got) > 0 != want {
			t.Errorf("%d links: %v", n, got)
		}
	}
}

// FuzzCheck: nothing makes it panic, and a private address stays found whatever
// stands around it in prose.
func FuzzCheck(f *testing.F) {
	for line := range strings.Lines(strings.TrimSpace(refused + passes)) {
		f.Add(strings.TrimSpace(line), "url")
	}
	f.Add("http://%zz[::%25]@@:::/\\//\x00", "host")
	f.Fuzz(func(t *testing.T, text, key string) {
		if len(text) > 4096 || len(key) > 64 {
			return
		}
		g := tableGuard(t)
		args, err := json.Marshal(map[string]any{key: text, "n": []any{text, 1.5}})
		if err != nil {
			t.Skip()
		}
		for _, finding := range g.Check(t.Context(), args, nil) {
			if finding.Rule == "" {
				t.Errorf("an empty rule for %q", text)
			}
		}
		_ = g.Check(t.Context(), json.RawMessage(text), nil)
		prose := strings.Map(func(r rune) rune {
			if letter(byte(r)) && r < 0x80 || r == ' ' {
				return r
			}
			return -1
		}, text)
		args, _ = json.Marshal(map[string]string{"note": prose + " http://127.0.0.1/ " + prose})
		if len(g.Check(t.Context(), args, nil)) == 0 {
			t.Errorf("not found in %s", args)
		}
	})
}

func BenchmarkSmall(b *testing.B) {
	g := tableGuard(b)
	args := json.RawMessage(`{"owner":"octocat","repo":"hello-world","title":"Found a bug"}`)
	b.ReportAllocs()
	for b.Loop() {
		if g.Check(b.Context(), args, nil) != nil {
			b.Fatal("found something")
		}
	}
}

func BenchmarkURL(b *testing.B) {
	g := tableGuard(b)
	args := json.RawMessage(`{"url":"https://github.com/a/b?c=d","method":"GET"}`)
	b.ReportAllocs()
	for b.Loop() {
		if g.Check(b.Context(), args, nil) != nil {
			b.Fatal("found something")
		}
	}
}

func BenchmarkProse(b *testing.B) {
	const sentence = "Prices rose by 3% in 2024: the index 'A/B' went to 127.0 at 10:30, and (so to speak) nobody was surprised. "
	for name, text := range map[string]string{
		"link in 2 kB":      strings.Repeat("See https://example.com/a%20b for more. "+strings.Repeat(sentence, 19), 500),
		"link in 150 bytes": strings.Repeat("See https://example.com/a%20b for more. "+sentence, 7_000),
	} {
		b.Run(name, func(b *testing.B) { benchmarkText(b, text) })
	}
}

// BenchmarkHostile has texts that could make a scanner look at everything twice.
func BenchmarkHostile(b *testing.B) {
	for name, unit := range map[string]string{
		"colons": "http:", "backslashes": `x:\\`, "at": "a@", "slashes": "http:////", "percent": "%25%33", "quoted": `"//`, "schemes": "aa:bb.", "escapes": `\u002f`, "json": `[`,
		"dots": "http://a.", "entities": "&#47;", "hosts": "http://ä/", "odd": "http://%ff~é,", "ats": "http://@@?@",
	} {
		b.Run(name, func(b *testing.B) {
			g, text := tableGuard(b), strings.Repeat(unit, 1<<20/len(unit))
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				in := inspection{g: g}
				in.text(text, inText)
			}
		})
	}
}

func benchmarkText(b *testing.B, text string) {
	g := tableGuard(b)
	args, err := json.Marshal(map[string]string{"text": text})
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(args)))
	b.ReportAllocs()
	for b.Loop() {
		g.Check(b.Context(), args, nil)
	}
}
