package surface_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"heddle"
	"heddle/internal/daemon"
	"heddle/internal/deliver/estimate"
	"heddle/internal/mcptest"
	"heddle/internal/wire"

	"github.com/google/go-cmp/cmp"
)

// hardTexts are what is hard to cut into pages.
func hardTexts() map[string]string {
	return map[string]string{
		"cjk":       strings.Repeat("結果は正確に返される。每个字节都必须保留，一个也不能少。한국어도 그대로\n", 600),
		"emoji":     strings.Repeat("👩‍👩‍👧‍👦🏳️‍🌈👍🏽🇩🇪", 4000),
		"combining": strings.Repeat("e\u0301a\u0308o\u0323\u0302 ", 6000),
		"marks":     "x" + strings.Repeat("\u0301", 30_000),
		"crlf":      strings.Repeat("a line of text\r\n\r\n\n\r", 3000),
		"quotes":    strings.Repeat(`"\\"'<&>/`, 5000),
		"controls":  strings.Repeat("\x00\x01\x1f\x7f\u0085\u2028\u2029\ufeff \t\b\f", 3000),
		"no_ends":   strings.Repeat("\n\n\n\nx\n\r", 8000),
		"bom":       "\ufeff" + prose(6000),
		"noncodes":  strings.Repeat("\ufffd\ufffe\uffff\U0010ffff ", 4000),
	}
}

// Pages, put together, are the text exactly as the server sent it, whatever is in
// it and however it was escaped.
func TestPagesAreTheText(t *testing.T) {
	texts, returns := hardTexts(), map[string]string{}
	for name, text := range texts {
		returns[name] = textResult(text)
		returns[name+"_escaped"] = `{"content":[{"type":"text","text":"` + escaped(text) + `"}]}`
	}
	eachCapturing(t, returns, func(t *testing.T, s *stage) {
		for _, name := range sortedKeys(returns) {
			got := shortOf(t, s.run("up_"+name, "{}"))
			if len(got.refs) != 1 {
				t.Errorf("%s: %.200s, want one capture", name, got.raw)
				continue
			}
			sameBytes(t, name, s.readAll(got.refs[0]), texts[strings.TrimSuffix(name, "_escaped")])
		}
		if n := mcptest.Count(s.servers["up"].Events(), "call"); n != len(returns) {
			t.Errorf("the server saw %d calls, want %d", n, len(returns))
		}
	})
}

// escaped writes every character as an escape, in either case.
func escaped(text string) string {
	var b strings.Builder
	for i, r := range text {
		format := `\u%04x`
		if i%2 == 1 {
			format = `\u%04X`
		}
		if r >= 0x10000 {
			r -= 0x10000
			fmt.Fprintf(&b, format, 0xd800+r>>10)
			r = 0xdc00 + r&0x3ff
		}
		fmt.Fprintf(&b, format, r)
	}
	return b.String()
}

// What a text cannot hold is read as the JSON that the server wrote.
func TestHalfPairsAreReadAsJSON(t *testing.T) {
	half := strings.Repeat(`\ud83d\uDE00 \ud800 x\udfff y\uD83D\n`, 2000)
	block := `{"type":"text","text":"` + half + `"}`
	returns := map[string]string{"plain": `{"content":[` + block + `]}`, "failed": `{"content":[` + block + `],"isError":true}`}
	captured := map[string]string{"plain": returns["plain"], "failed": block}
	eachCapturing(t, returns, func(t *testing.T, s *stage) {
		for _, name := range sortedKeys(returns) {
			got := shortOf(t, s.run("up_"+name, "{}"))
			if len(got.refs) != 1 {
				t.Fatalf("%s: %.300s, want one capture", name, got.raw)
			}
			sameBytes(t, name, s.readAll(got.refs[0]), captured[name])
		}
	})
}

// One line of 5 MB and a result of 20 MB come back whole, an object with a text of
// 17 MB is all there; each costs one call.
func TestHugeResultsComeBack(t *testing.T) {
	line, long := strings.Repeat("0123456789abcdef", 5<<16), logText(20<<20, rareLines)
	object := `{"content":[],"structuredContent":{"id":9007199254740993,"s":"` + strings.Repeat(`0123456789\u00e9\n`, 17<<16) + `"}}`
	s := newStage(t, stageOptions{mode: "native", servers: map[string]mcptest.Options{"up": returning(map[string]string{"line": textResult(line), "long": textResult(long), "object": object})}})
	for name, want := range map[string]string{"line": line, "long": long, "object": object} {
		got := shortOf(t, s.run(name, "{}"))
		if len(got.refs) != 1 {
			t.Fatalf("%s: %.300s, want one capture", name, got.raw)
		}
		if name != "object" {
			sameBytes(t, name, s.readAll(got.refs[0]), want)
			continue
		}
		where, exact, _ := s.page(got.refs[0], "")
		if _, to, of, _, _ := position(t, where); of != len(want) || want[:to] != exact {
			t.Errorf("%s: %s of %d bytes is not what stands there", name, where, len(want))
		}
	}
	if n := mcptest.Count(s.servers["up"].Events(), "call"); n != 3 {
		t.Errorf("the server saw %d calls, want 3", n)
	}
}

var bytesTo = regexp.MustCompile(`: bytes ([0-9]+) to ([0-9]+) of ([0-9]+), lines ([0-9]+) to ([0-9]+)`)

// position reads where a page is.
func position(t testing.TB, where string) (from, to, of, first, last int) {
	t.Helper()
	m := bytesTo.FindStringSubmatch(where)
	if m == nil {
		t.Fatalf("no position: %s", where)
	}
	if _, err := fmt.Sscan(strings.Join(m[1:], " "), &from, &to, &of, &first, &last); err != nil {
		t.Fatal(err)
	}
	return from, to, of, first, last
}

// Any cursor that was given leads to the same bytes at any time, in any order, and
// the position is true.
func TestRandomAccess(t *testing.T) {
	text := logText(300_000, rareLines)
	eachCapturing(t, map[string]string{"log": textResult(text)}, func(t *testing.T, s *stage) {
		ref := shortOf(t, s.run("up_log", "{}")).refs[0]
		cursors := []string{""}
		for next := ""; ; {
			if _, _, next = s.page(ref, next); next == "" {
				break
			}
			cursors = append(cursors, next)
		}
		for _, query := range []string{"lease", "cache: hit", "10.0.", "INFO"} {
			for _, f := range s.fragments(ref, query) {
				cursors = append(cursors, f.cursor)
			}
		}
		r := rand.New(rand.NewPCG(9, 9))
		r.Shuffle(len(cursors), func(i, j int) { cursors[i], cursors[j] = cursors[j], cursors[i] })
		for _, c := range cursors {
			where, exact, _ := s.page(ref, c)
			from, to, of, first, last := position(t, where)
			if of != len(text) || to != from+len(exact) || text[from:to] != exact {
				t.Fatalf("cursor %s: %s is not what stands there", c, where)
			}
			if want := 1 + strings.Count(text[:from], "\n"); first != want || last != want+strings.Count(exact[:len(exact)-1], "\n") {
				t.Errorf("cursor %s: %s, want lines from %d on", c, where, want)
			}
		}
		if n := mcptest.Count(s.servers["up"].Events(), "call"); n != 1 {
			t.Errorf("the server saw %d calls, want 1", n)
		}
	})
}

// fragment is a place that a search shows.
type fragment struct{ cursor, text string }

var fragmentHead = regexp.MustCompile(`(?m)^--- line ([0-9]+), byte ([0-9]+), cursor ([0-9a-z]+)\n`)

// fragments searches a capture.
func (s *stage) fragments(ref, query string) []fragment {
	s.t.Helper()
	m := s.Call("read_result", reading(ref, query, ""))
	answer := text(s.t, m)
	if len(m.Result) > 10<<10 {
		s.t.Errorf("%q: an answer of %d bytes", query, len(m.Result))
	}
	checkLines(s.t, answer)
	var out []fragment
	heads := fragmentHead.FindAllStringSubmatchIndex(answer, -1)
	for i, h := range heads {
		end := len(answer)
		if i+1 < len(heads) {
			end = heads[i+1][0]
		}
		out = append(out, fragment{answer[h[6]:h[7]], strings.TrimSpace(answer[h[1]:end])})
	}
	return out
}

// A search shows at most three places, whatever the case, and each leads on to the
// exact bytes.
func TestSearchLeadsOn(t *testing.T) {
	var b strings.Builder
	for i := range 4000 {
		fmt.Fprintf(&b, "row %d: nothing of note here\n", i)
		if i == 1234 || i == 3456 {
			fmt.Fprintf(&b, "row %d: Überraschung 東京タワー needle-%d\n", i, i)
		}
	}
	content := b.String()
	eachCapturing(t, map[string]string{"rows": textResult(content)}, func(t *testing.T, s *stage) {
		ref := shortOf(t, s.run("up_rows", "{}")).refs[0]
		for query, want := range map[string]int{"needle-1234": 1, "NEEDLE": 2, "überraschung": 2, "東京タワー": 2, "nothing of note": 3, "needle 3456": 1} {
			found := s.fragments(ref, query)
			if len(found) != want {
				t.Errorf("%q: %d fragments, want %d", query, len(found), want)
				continue
			}
			for _, f := range found {
				where, exact, _ := s.page(ref, f.cursor)
				from, to, _, _, _ := position(t, where)
				first, _, _ := strings.Cut(f.text, "\n")
				if content[from:to] != exact || !strings.HasPrefix(exact, strings.Trim(first, "…")) {
					t.Errorf("%q: the cursor of %.100q leads to %.100q", query, f.text, exact)
				}
			}
		}
		m := s.Call("read_result", reading(ref, "kumquat", ""))
		if got := text(t, m); !strings.Contains(got, ref) || !strings.Contains(got, "nothing fits") {
			t.Errorf("no match: %s", got)
		}
		if got := text(t, s.Call("read_result", reading(ref, "needle kumquat", ""))); !strings.Contains(got, "no place has all of it") || !strings.Contains(got, "needle-") {
			t.Errorf("some of the words: %s", got)
		}
		if n := mcptest.Count(s.servers["up"].Events(), "call"); n != 1 {
			t.Errorf("the server saw %d calls, want 1", n)
		}
	})
}

// What cannot be read says what to do instead, and never repeats what was asked.
func TestReadingRefusals(t *testing.T) {
	returns := map[string]string{"log": textResult(logText(60_000, rareLines)), "rows": textResult(rows(500))}
	eachCapturing(t, returns, func(t *testing.T, s *stage) {
		ref, other := shortOf(t, s.run("up_log", "{}")).refs[0], shortOf(t, s.run("up_rows", "{}")).refs[0]
		_, _, next := s.page(ref, "")
		for _, test := range []struct{ arguments, kind, says string }{
			{reading(ref, sentinel, next), "invalid_arguments", "exclude each other"},
			{`{"result_ref":"` + ref + `","offset":3}`, "invalid_arguments", "are known"},
			{`{"result_ref":"` + ref + `","sql":"select 1"}`, "unavailable", "heddle-sql was found neither"},
			{`{"cursor":"` + next + `"}`, "invalid_arguments", "required"},
			{`{"result_ref":""}`, "invalid_arguments", "required"},
			{`{"result_ref":7}`, "invalid_arguments", "string"},
			{reading(ref, "", sentinel), "invalid_cursor", ref},
			{reading(ref, "", next+"0"), "invalid_cursor", ref},
			{reading(other, "", next), "invalid_cursor", other},
			{reading(sentinel, "", ""), "result_expired", other + ", " + ref},
			{reading(ref, strings.Repeat("x", 257), ""), "invalid_query", "256"},
			{reading(ref, " \n", ""), "invalid_query", ""},
		} {
			m := s.Call("read_result", test.arguments)
			r := refusalOf(t, m)
			if r.Kind != test.kind || !strings.Contains(r.Message+fmt.Sprint(r.Violations), test.says) || *r.Invoked || r.Tool != "read_result" {
				t.Errorf("%.100s: %+v, want %s that says %q", test.arguments, r, test.kind, test.says)
			}
			if strings.Contains(string(m.Result), sentinel) {
				t.Errorf("%.100s: what was asked is repeated: %s", test.arguments, m.Result)
			}
		}
		sameBytes(t, "a ref in quotes", first(s.page(" `"+strings.ToUpper(ref)+"` ", "")), first(s.page(ref, "")))
	})
}

func first(where, _, _ string) string { return where }

// noiseText is text that cannot be compressed much.
func noiseText(n int, seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 1))
	b := make([]byte, n)
	for i := range b {
		b[i] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ+ "[r.IntN(64)]
		if i%80 == 79 {
			b[i] = '\n'
		}
	}
	return string(b)
}

// known is what hosts call the tool "search" of the server "a" where "b" has one
// too, and its tool "fetch".
var known = map[string][2]string{
	"native": {"a_search", "fetch"}, "compact": {"a_search", "a_fetch"}, "extreme": {"a_search", "a_fetch"}, "mesh": {"a::search", "a::fetch"},
	"loom": {"a_search", "a_fetch"},
}

// expiring are two servers that share a tool's name, and little room.
func expiring(t *testing.T) stageOptions {
	a := map[string]string{"search": textResult(noiseText(2<<20, 1)), "fetch": textResult(noiseText(2<<20, 2))}
	return stageOptions{config: "results: {memory: 1MiB, mesh: true}\n", temp: t.TempDir(), servers: map[string]mcptest.Options{
		"a": returning(a), "b": {Results: rawMap(map[string]string{"search": `{}`}), Tools: toolsNamed("search")},
	}}
}

// A capture that had to make room says so, and names the tool to call again as its
// host knows it.
func TestExpiredResultsNameTheirTool(t *testing.T) {
	eachMode(t, expiring(t), func(t *testing.T, s *stage) {
		one := shortOf(t, s.run("a_search", "{}")).refs[0]
		two := shortOf(t, s.run("a_fetch", "{}")).refs[0]
		var last string
		for range 3 {
			last = shortOf(t, s.run("a_search", "{}")).refs[0]
		}
		for i, ref := range []string{one, two} {
			r := refusalOf(t, s.Call("read_result", reading(ref, "", "")))
			if want := "call " + known[s.mode][i] + " again"; r.Kind != "result_expired" || !strings.Contains(r.Message, want) || !strings.Contains(r.Message, last) {
				t.Errorf("%s: %+v, want result_expired that says %q and names %s", ref, r, want, last)
			}
		}
		calls := mcptest.Count(s.servers["a"].Events(), "call")
		s.page(last, "")
		if n := mcptest.Count(s.servers["a"].Events(), "call"); n != calls {
			t.Errorf("reading called the server")
		}
	})
}

// So does one that the disk has lost.
func TestDamagedResultsNameTheirTool(t *testing.T) {
	for _, mode := range modes {
		o := expiring(t)
		o.mode = mode
		s := newStage(t, o)
		ref := shortOf(t, s.run("a_search", "{}")).refs[0]
		files, err := filepath.Glob(filepath.Join(o.temp, "*", "*.zst"))
		if err != nil || len(files) != 1 {
			t.Fatalf("files of captures: %q, %v", files, err)
		}
		if err := os.Truncate(files[0], 1000); err != nil {
			t.Fatal(err)
		}
		r := refusalOf(t, s.Call("read_result", reading(ref, "", "")))
		if want := "call " + known[mode][0] + " again"; r.Kind != "result_expired" || !strings.Contains(r.Message, want) {
			t.Errorf("%s: %+v, want result_expired that says %q", mode, r, want)
		}
	}
}

// So does one that ended with an earlier heddle, whose names go on.
func TestResultsOfAnEarlierHeddle(t *testing.T) {
	for _, mode := range modes {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			o := expiring(t)
			o.mode, o.state = mode, t.TempDir()
			before := newStage(t, o)
			one := shortOf(t, before.run("a_search", "{}")).refs[0]
			sameBytes(t, one, before.readAll(one), noiseText(2<<20, 1))
			before.close()

			s := newStage(t, o)
			s.boot()
			r := refusalOf(t, s.Call("read_result", reading(one, "", "")))
			if want := "call " + known[mode][0] + " again"; r.Kind != "result_expired" || !strings.Contains(r.Message, "earlier heddle") || !strings.Contains(r.Message, want) {
				t.Errorf("%+v, want result_expired that says %q", r, want)
			}
			if two := shortOf(t, s.run("a_search", "{}")).refs[0]; !strings.HasSuffix(one, "search_1") || !strings.HasSuffix(two, "search_2") {
				t.Errorf("names %s and %s, want search_1 and search_2, with what the mode puts before", one, two)
			}
		})
	}
}

// Reading all of a result costs hardly more than the result: 1.05 times its tokens.
func TestReadingToTheEndCostsNoMore(t *testing.T) {
	table, log := rows(8000), logText(200_000, rareLines)
	few := rows(800)
	q := string(wire.Quote(few))
	returns := map[string]string{
		"rows": textResult(table), "log": textResult(log),
		"pretty": textResult(strings.NewReplacer("{", "\n  {\n    ", `,"`, ",\n    \"").Replace(few)),
		"cjk":    textResult(hardTexts()["cjk"]),
		"form":   `{"content":[],"structuredContent":{"items":` + few + `}}`,
		"both":   `{"content":[{"type":"text","text":` + q + `}],"structuredContent":{"result":` + q + `}}`,
	}
	count := exactly(t)
	s := newStage(t, stageOptions{mode: "compact", servers: map[string]mcptest.Options{"up": returning(returns)}})
	for _, name := range sortedKeys(returns) {
		raw := spoken(count, returns[name])
		ref, cost, pages := shortOf(t, s.run("up_"+name, "{}")).refs[0], 0, 0
		for cursor := ""; ; pages++ {
			where, exact, next := s.page(ref, cursor)
			cost += count.Count(where) + count.Count(exact)
			if cursor = next; next == "" {
				break
			}
		}
		ratio := float64(cost) / float64(raw)
		t.Logf("%s: %d tokens in %d pages, %.3f times the result's %d", name, cost, pages+1, ratio, raw)
		if ratio > 1.05 {
			t.Errorf("%s: reading all costs %.3f times the result, want at most 1.05", name, ratio)
		}
	}
}

// The ledger says what a large result was and what went out instead, and has a row
// for each reading.
func TestLedgerOfLargeResults(t *testing.T) {
	returns := map[string]string{"log": textResult(logText(60_000, rareLines)), "little": textResult("hello"), "failed": `{"isError":true,"content":[{"type":"text","text":` + string(wire.Quote(prose(80_000))) + `}]}`}
	for _, mode := range modes {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "ledger.db")
			s := newStage(t, stageOptions{mode: mode, ledger: path, config: capturing, servers: map[string]mcptest.Options{"up": returning(returns)}})
			log := s.run("up_log", "{}")
			ref := shortOf(t, log).refs[0]
			page := s.Call("read_result", reading(ref, "", ""))
			s.Call("read_result", reading(ref, "lease", ""))
			s.run("up_little", "{}")
			s.run("up_failed", "{}")
			rows := s.rows(path)
			type row struct {
				Tool, Name string
				Form       heddle.Form
				IsError    bool
			}
			var got []row
			for _, r := range rows {
				got = append(got, row{r.Tool, r.Name, r.Form, r.IsError})
			}
			want := []row{{"up_log", "log", "projected", false}, {"read_result", "", "own", false}, {"read_result", "", "own", false}, {"up_little", "little", "exact", false}, {"up_failed", "failed", "projected", true}}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("rows (-want +got):\n%s", diff)
			}
			sizes := [][4]int64{
				{int64(len(returns["log"])), int64(len(log.Result)), int64(estimate.Result(json.RawMessage(returns["log"]))), int64(estimate.Result(log.Result))},
				{0, int64(len(page.Result)), 0, int64(estimate.Result(page.Result))},
			}
			for i, want := range sizes {
				r := rows[i]
				if got := [4]int64{r.UpstreamBytes, r.DeliveredBytes, r.UpstreamTokens.N, r.DeliveredTokens.N}; got != want || !r.DeliveredTokens.Known {
					t.Errorf("%s: bytes and tokens, up and out: %v, want %v", r.Tool, got, want)
				}
			}
		})
	}
}

// fieldCases are results that gateways like this one have lost or flooded hosts
// with.
func fieldCases() map[string]string {
	repeat := func(n int, sep, format string) string {
		parts := make([]string, n)
		for i := range parts {
			parts[i] = strings.ReplaceAll(format, "#", fmt.Sprint(i))
		}
		return strings.Join(parts, sep)
	}
	return map[string]string{
		"long_cell":    `[{"id":1,"s":"` + strings.Repeat("x", 2<<20) + `"}]`,
		"wide_row":     `[{` + repeat(5000, ",", `"column_#":#`) + `}]`,
		"thin_rows":    `[` + repeat(200_000, ",", `{"n":#}`) + `]`,
		"deep":         strings.Repeat(`{"a":[1,{"b":`, 400) + `"` + strings.Repeat("y", 20_000) + `"` + strings.Repeat(`}]}`, 400),
		"big_integers": `[` + repeat(2000, ",", `{"id":9007199254740993,"n":#.0,"u":18446744073709551615,"w":123456789012345678901234567890,"e":1e400,"z":-0.0}`) + `]`,
		"codes":        `[` + repeat(2000, ",", `{"id":"00#","u":"BBD05AE7-1111-4ACA-8280-6D447C97C2BB","d":"25-11-2025","e":"1e5","b":"true","n":"NULL","z":"01234","p":"+4912","x":"0x1F"}`) + `]`,
		"clock":        "a,b,c\n" + repeat(3000, "\n", "Night,#,2022/01/27 11:04:57 PM"),
		"ragged":       "a;b;c\n" + repeat(3000, "\n", `"x;y",#`) + "\n1,5;2,5\n",
		"keys":         `[` + repeat(1000, ",", `{"id":1,"Id":#,"ID_1":3,"":4,"select":5,"a b":6,"a.b":7,"q\"x":8,"日本":9,"drop table t;--":10,"o":{"x":1,"X":2},"a":1,"a":2}`) + `]`,
		"not_numbers":  `[` + repeat(3000, ",", `{"v":NaN,"w":Infinity}`) + `]`,
		"controls":     `[` + repeat(2000, ",", `{"v":"a\u0000b\u001f","n":#}`) + `]`,
		"separators":   strings.Repeat("a\u2028b\u2029c\u0085d\x0b\x0c", 4000),
	}
}

func TestFieldCases(t *testing.T) {
	texts, returns := fieldCases(), map[string]string{}
	for name, text := range texts {
		returns[name] = textResult(text)
	}
	eachCapturing(t, returns, func(t *testing.T, s *stage) {
		for _, name := range sortedKeys(texts) {
			got := shortOf(t, s.run("up_"+name, "{}"))
			if len(got.refs) != 1 || len(got.raw) > 10<<10 {
				t.Errorf("%s: %d bytes with %d captures: %.300s", name, len(got.raw), len(got.refs), got.raw)
				continue
			}
			sameBytes(t, name, s.readAll(got.refs[0]), texts[name])
		}
		if n := mcptest.Count(s.servers["up"].Events(), "call"); n != len(texts) {
			t.Errorf("the server saw %d calls, want %d", n, len(texts))
		}
	})
}

// Fifty results at a time, each read while others are captured, are each its own.
func TestResultsInParallel(t *testing.T) {
	returns := map[string]string{}
	for i := range 10 {
		returns[fmt.Sprint("t", i)] = textResult(noiseText(100_000+i, uint64(i)))
	}
	s := newStage(t, stageOptions{mode: "native", config: "results: {memory: 1MiB}\n", temp: t.TempDir(), servers: map[string]mcptest.Options{"up": returning(returns)}})
	const calls = 50
	waits := make([]<-chan wire.Message, calls)
	for i := range waits {
		waits[i] = s.Start(fmt.Sprintf(`"p%d"`, i), "tools/call", mcptest.CallParams(fmt.Sprint("t", i%10), "{}"))
	}
	refs := map[string]bool{}
	for i, w := range waits {
		got := shortOf(t, s.Wait(w))
		if len(got.refs) != 1 || refs[got.refs[0]] {
			t.Fatalf("call %d: captures %q, want a new one", i, got.refs)
		}
		refs[got.refs[0]] = true
		waits[i] = s.Start(fmt.Sprintf(`"r%d"`, i), "tools/call", mcptest.CallParams("read_result", reading(got.refs[0], "", "")))
	}
	for i, w := range waits {
		m := s.Wait(w)
		blocks, _ := wire.Elements(wire.Member(m.Result, "content"))
		if len(blocks) != 2 {
			// There are 4 MB of room on disk and 1 MB in memory: the first ones had to go.
			if r := refusalOf(t, m); r.Kind != "result_expired" {
				t.Errorf("reading %d: %+v", i, r)
			}
			continue
		}
		exact, _ := wire.Unquote(wire.Member(blocks[1], "text"))
		if want := noiseText(100_000+i%10, uint64(i%10)); exact == "" || !strings.HasPrefix(want, exact) {
			t.Errorf("reading %d: another result: %.100s", i, exact)
		}
	}
	if n := mcptest.Count(s.servers["up"].Events(), "call"); n != calls {
		t.Errorf("the server saw %d calls, want %d", n, calls)
	}
}

// Over HTTP it is the same; the endpoint of one server reads what the one of all
// captured, because it is the same user's.
func TestLargeResultsOverHTTP(t *testing.T) {
	text := logText(60_000, rareLines)
	for _, mode := range modes {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			s := newWebStage(t, stageOptions{mode: mode, config: capturing, servers: map[string]mcptest.Options{"up": returning(map[string]string{"log": textResult(text)})}}, daemon.HTTPOptions{Loopback: true})
			for _, version := range []string{newestHandshake, "-"} {
				meta, read := "", func(h *mcptest.Web, arguments string) wire.Message {
					return h.Request("tools/call", mcptest.CallParams("read_result", arguments))
				}
				if version == "-" {
					meta = modernMeta
					read = func(h *mcptest.Web, arguments string) wire.Message {
						return h.Request("tools/call", callParams("native", "read_result", arguments, meta))
					}
				}
				h, one := s.host("/mcp", version, "{}"), s.host("/mcp/up", version, "{}")
				more := []string{}
				if meta != "" {
					more = append(more, meta)
				}
				got := shortOf(t, h.Request("tools/call", callParams(mode, "up_log", "{}", more...)))
				if len(got.refs) != 1 {
					t.Fatalf("got %.300s, want one capture", got.raw)
				}
				for _, w := range []*mcptest.Web{h, one} {
					blocks, err := wire.Elements(wire.Member(read(w, reading(got.refs[0], "", "")).Result, "content"))
					if err != nil || len(blocks) != 2 {
						t.Fatalf("a page: %d blocks, %v", len(blocks), err)
					}
					if exact, _ := wire.Unquote(wire.Member(blocks[1], "text")); exact == "" || !strings.HasPrefix(text, exact) {
						t.Errorf("a page that is not the beginning: %.200s", exact)
					}
				}
			}
		})
	}
}
