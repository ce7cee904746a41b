package capture

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"heddle"
	"pgregory.net/rapid"
)

// search searches and checks what holds for all fragments.
func searchFor(t testing.TB, c *Capture, query string, most, budget int) ([]Fragment, int) {
	t.Helper()
	out, total, err := c.Search(query, most, budget)
	if err != nil {
		t.Fatalf("Search(%q): %v", query, err)
	}
	all, err := c.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	text, size := string(all), 0
	if len(out) > most || len(out) > total {
		t.Errorf("Search(%q): %d fragments of %d matches, want at most %d", query, len(out), total, most)
	}
	for i, f := range out {
		end := f.Offset + int64(len(f.Text))
		size += JSONSize(f.Text)
		if text[f.Offset:end] != f.Text {
			t.Errorf("Search(%q): the fragment at %d is not what is there", query, f.Offset)
		}
		if want := strings.Count(text[:f.Offset], "\n") + 1; f.Line != want {
			t.Errorf("Search(%q): the fragment at %d says line %d, want %d", query, f.Offset, f.Line, want)
		}
		if f.Match < 0 || f.Match >= len(f.Text) || f.Way == "" {
			t.Errorf("Search(%q): %+v", query, f)
		}
		if utf8.ValidString(text) && !utf8.ValidString(f.Text) {
			t.Errorf("Search(%q): the fragment at %d parts a rune", query, f.Offset)
		}
		p, err := c.Page(f.Cursor, 100)
		if err != nil || p.Offset > f.Offset || f.Offset-p.Offset > lookBack {
			t.Errorf("Search(%q): its cursor pages on from %d, the fragment is at %d: %v", query, p.Offset, f.Offset, err)
		}
		for _, o := range out[:i] {
			if f.Offset < o.Offset+int64(len(o.Text)) && o.Offset < end {
				t.Errorf("Search(%q): fragments overlap: %+v, %+v", query, o, f)
			}
		}
	}
	if size > budget {
		t.Errorf("Search(%q): fragments take %d bytes, budget %d", query, size, budget)
	}
	return out, total
}

func TestSearchWays(t *testing.T) {
	s := newStore(t, Options{})
	filler := strings.Repeat("nothing to see on this line\n", 300)
	for _, c := range []struct {
		name, text, query string
		kind              Kind
		way               Way
		total             int
		has               string // in the first fragment; "" for no match
		line              int    // of the match
	}{
		{"phrase", filler + "a Connection REFUSED by peer\n" + filler, "connection refused", KindText, WayPhrase, 1, "a Connection REFUSED by peer", 301},
		{"whole word first", "videos\n" + filler + "the id here\n" + filler, "id", KindText, WayPhrase, 2, "the id here", 302},
		{"words on a line", "refused\n" + filler + "peer refused the connection\n" + filler + "connection", "connection refused", KindText, WayWords, 1, "peer refused the connection", 302},
		{"words near", filler + "connection:\n  refused\n", "refused connection", KindText, WayWords, 1, "connection:\n  refused", 301},
		{"one line before many", "timeout\ndatabase\n" + filler + "database had a timeout\n", "timeout, database", KindText, WayWords, 2, "database had a timeout", 303},
		{"some, rare first", strings.Repeat("common\n", 500) + filler + "the rareword\n", "common absent rareword", KindText, WaySome, 501, "the rareword", 801},
		{"some, more of them first", strings.Repeat("payment\n", 400) + filler + strings.Repeat("gateway\n", 400) + filler + strings.Repeat("timeout\n", 400) + filler + "zebra\n" + filler + "payment gateway timeout\n" + filler,
			"payment gateway timeout zebra", KindText, WaySome, 1204, "payment gateway timeout", 2402},
		{"some, on a line first", filler + "connection\nto\nthe\nhost refused\n" + filler + "connection refused\n", "connection refused absent", KindText, WaySome, 4, "connection refused", 605},
		{"none", filler, "absent", KindText, "", 0, "", 0},
		{"chinese", filler + "支付服务连接数据库失败\n" + filler, "数据库失败", KindText, WayPhrase, 1, "支付服务连接数据库失败", 301},
		{"chinese words", filler + "数据库的连接：失败\n" + filler, "数据库连接失败", KindText, WaySome, 4, "数据库的连接：失败", 301},
		{"japanese", filler + "データベースに接続できません\n", "データベース 接続", KindText, WayWords, 1, "データベースに接続", 301},
		{"korean", filler + "데이터베이스 연결 실패\n", "연결 실패", KindText, WayPhrase, 1, "연결 실패", 301},
		{"decomposed", filler + "Cafe\u0301 Zu\u0308rich\n", "CAFÉ ZÜRICH", KindText, WayPhrase, 1, "Cafe\u0301 Zu\u0308rich", 301},
		{"decomposed query", filler + "CAFÉ\n", "cafe\u0301", KindText, WayPhrase, 1, "CAFÉ", 301},
		{"decomposed korean", filler + "\u1112\u1161\u11ab\u1100\u1173\u11af\n", "한글", KindText, WayPhrase, 1, "\u1112\u1161\u11ab", 301},
		{"full width", filler + "ＥＲＲＯＲ ４２\n", "error 42", KindText, WayPhrase, 1, "ＥＲＲＯＲ", 301},
		{"greek", filler + "ΟΔΟΣ οδος οδός\n", "οδοσ", KindText, WayPhrase, 2, "ΟΔΟΣ", 301},
		{"sharp s", filler + "Große Straße\n", "GROSSE STRASSE", KindText, WayPhrase, 1, "Große Straße", 301},
		{"sharp s in the query", filler + "GROSSE STRASSE\n", "große straẞe", KindText, WayPhrase, 1, "GROSSE STRASSE", 301},
		{"sharp s in JSON", `{"p":"Stra\u00dfe"}`, "strasse", KindJSON, WayPhrase, 1, `Stra\u00dfe`, 1},
		{"ligatures", filler + "the ﬁnal oﬃce ﬂow, ﬆill oﬀ\n", "final office flow, still off", KindText, WayPhrase, 1, "oﬃce", 301},
		{"ligature in the query", filler + "file\n", "ﬁle", KindText, WayPhrase, 1, "file", 301},
		{"half of a ligature", filler + "oﬃce\n", "fice", KindText, WayPhrase, 1, "oﬃce", 301},
		{"kelvin", "x\u212ay", "xky", KindText, WayPhrase, 1, "x\u212ay", 1},
		{"emoji", filler + "all good 👍🏽\n", "👍", KindText, WayPhrase, 1, "👍🏽", 301},
		{"path", filler + `C:\new\temp\users`, `c:\new\temp`, KindText, WayPhrase, 1, `C:\new\temp`, 301},
		{"path in JSON", `{"p":"C:\\new\\temp"}`, `c:\new\temp`, KindJSON, WayPhrase, 1, `C:\\new\\temp`, 1},
		{"raw path in JSON", `{"p":"C:\\new\\temp"}`, `C:\\new\\temp`, KindJSON, WayPhrase, 1, `C:\\new\\temp`, 1},
		{"escaped", `{"p":"\u4e2d\u6587 text"}`, `中文`, KindJSON, WayPhrase, 1, `\u4e2d\u6587`, 1},
		{"escaped query", `{"p":"中文 text"}`, `\u4e2d\u6587`, KindJSON, WayPhrase, 1, `中文`, 1},
		{"escaped twice", `{"content":[{"type":"text","text":"{\"p\":\"\\u4e2d\\u6587\"}"}]}`, `中文`, KindJSON, WayPhrase, 1, `\\u4e2d`, 1},
		{"quotes decoded", `{"text":"{\"state\":\"open\"}"}`, `"state":"open"`, KindJSON, WayPhrase, 1, `\"state\":\"open\"`, 1},
		{"surrogates", `["\ud83d\udc4d"]`, `👍`, KindJSON, WayPhrase, 1, `\ud83d\udc4d`, 1},
		{"lines in JSON", `{"text":"one\ntwo words\nthree"}`, "words\nthree", KindJSON, WayPhrase, 1, `two words\nthree`, 1},
		{"after an escape", `{"text":"one\ntwo"}`, "two", KindJSON, WayPhrase, 1, `two`, 1},
		{"text that is JSON", `[{"p":"\u4e2d\n"}]`, "中", KindText, WayPhrase, 1, `\u4e2d`, 1},
		{"punctuation", filler + "x => y\n", "=>", KindText, WayPhrase, 1, "x => y", 301},
		{"invalid", "\xff\xfeneedle\xff", "needle", KindText, WayPhrase, 1, "\xff\xfeneedle\xff", 1},
		{"nul", "a\x00b", "a\x00b", KindText, WayPhrase, 1, "a\x00b", 1},
		{"empty", "", "x", KindText, "", 0, "", 0},
		{"quoted word", filler + "it is here\n", `"here"`, KindText, WayWords, 1, "it is here", 301},
	} {
		t.Run(c.name, func(t *testing.T) {
			capt, err := s.Put(heddle.Local, listIssues, c.kind, []byte(c.text))
			if err != nil {
				t.Fatal(err)
			}
			got, total := searchFor(t, capt, c.query, 3, 3000)
			if total != c.total || (len(got) == 0) != (c.has == "") {
				t.Fatalf("%d fragments, %d in all, want %d: %+v", len(got), total, c.total, got)
			}
			if c.has == "" {
				return
			}
			f := got[0]
			if f.Way != c.way || !strings.Contains(f.Text, c.has) || f.Matches == 0 {
				t.Errorf("got %+v, want %s with %q", f, c.way, c.has)
			}
			if line := f.Line + strings.Count(f.Text[:f.Match], "\n"); line != c.line {
				t.Errorf("match on line %d, want %d", line, c.line)
			}
		})
	}
}

func TestBadQueries(t *testing.T) {
	c := put(t, newStore(t, Options{}), "x")
	for _, q := range []string{"", " \n", strings.Repeat("中", 257)} {
		if _, _, err := c.Search(q, 3, 1000); heddle.KindOf(err) != heddle.KindInvalidQuery {
			t.Errorf("Search(%q): %v", q, err)
		}
	}
	if _, _, err := c.Search(strings.Repeat("中", 256), 3, 1000); err != nil {
		t.Error(err)
	}
	for _, budget := range []int{-1, 0, 1, 5} {
		if f, _, err := c.Search("x", 3, budget); err != nil || len(f) > max(0, budget) {
			t.Errorf("budget %d: %v, %v", budget, f, err)
		}
	}
}

func TestContextLines(t *testing.T) {
	var b strings.Builder
	for i := 1; i <= 1000; i++ {
		fmt.Fprintf(&b, "line %d\r\n", i)
	}
	c := put(t, newStore(t, Options{}), b.String())
	got, _ := searchFor(t, c, "line 500", 3, 3000)
	want := "line 497\r\nline 498\r\nline 499\r\nline 500\r\nline 501\r\nline 502\r\nline 503"
	if len(got) != 1 || got[0].Text != want || got[0].Line != 497 || got[0].Before || got[0].After {
		t.Errorf("got %+v", got)
	}
	// Matches on lines that follow each other are in one fragment.
	got, total := searchFor(t, c, "line 2", 3, 3000)
	if total != 111 || len(got) != 3 || !strings.Contains(got[0].Text, "line 2\r\n") {
		t.Errorf("%d in all, %+v", total, got)
	}
	// The first and the last line have neighbours on one side.
	for q, want := range map[string]string{"line 1\r\n": "line 1\r\nline 2\r\nline 3\r\nline 4", "line 1000": "line 997\r\nline 998\r\nline 999\r\nline 1000"} {
		if got, _ := searchFor(t, c, q, 3, 3000); len(got) == 0 || got[0].Text != want {
			t.Errorf("Search(%q): %+v", q, got)
		}
	}
}

func TestOneHugeLine(t *testing.T) {
	var rows []map[string]any
	for i := range 40_000 {
		rows = append(rows, map[string]any{"id": i, "name": fmt.Sprintf("订单 %d \"x\"", i), "state": "open"})
	}
	b, _ := json.Marshal(map[string]any{"rows": rows})
	c, err := newStore(t, Options{}).Put(heddle.Local, listIssues, KindJSON, b)
	if err != nil {
		t.Fatal(err)
	}
	got, total := searchFor(t, c, `"id":31234,`, 3, 3000)
	if total != 1 || len(got) != 1 || !got[0].Before || !got[0].After || !strings.Contains(got[0].Text, `"id":31234,"name":"订单 31234`) {
		t.Errorf("%d: %+v", total, got)
	}
	if got, _ := searchFor(t, c, "订单 31234", 3, 3000); len(got) != 1 {
		t.Errorf("%+v", got)
	}
	if got, _ := searchFor(t, c, "open 31234 订单", 3, 3000); len(got) == 0 || got[0].Way != WayWords {
		t.Errorf("%+v", got)
	}
	if got, total := searchFor(t, c, "state", 3, 900); len(got) != 3 || total != 40_000 {
		t.Errorf("%d: %+v", total, got)
	}
}

// TestSearchAcrossChunks puts a needle at and around every border.
func TestSearchAcrossChunks(t *testing.T) {
	s := newStore(t, Options{})
	const size = 3*chunkSize + 1000
	r := rand.New(rand.NewPCG(5, 6))
	for _, needle := range []string{"needle word", "针和线", `\u9488\u548c`, `\ud83d\udc4d`, "e\u0301e\u0301"} {
		query := map[string]string{`\u9488\u548c`: "针和", `\ud83d\udc4d`: "👍", "e\u0301e\u0301": "éé"}[needle]
		if query == "" {
			query = needle
		}
		for _, border := range []int{chunkSize, 2 * chunkSize, chunkSize - overlap, 2*chunkSize - overlap, chunkSize + overlap, 3 * chunkSize, 3*chunkSize - overlap} {
			for range 4 {
				at := border - len(needle) - 1 + r.IntN(len(needle)+14)
				at = min(at, size-len(needle))
				text := strings.Repeat("x", at) + needle + strings.Repeat(".", size-at-len(needle))
				c := put(t, s, text)
				got, total := searchFor(t, c, query, 3, 1000)
				if total != 1 || len(got) != 1 || got[0].Offset+int64(got[0].Match) != int64(at) {
					t.Fatalf("%s at %d: %d, %+v", needle, at, total, got)
				}
			}
		}
	}
}

// TestSearchCounts compares the total with a plain search.
func TestSearchCounts(t *testing.T) {
	s := newStore(t, Options{})
	text := logText(700_000)
	c := put(t, s, text)
	for _, q := range []string{"error", "duration=3", "[http]", "GET", "orders/1234 status", "z error"} {
		_, total := searchFor(t, c, q, 3, 3000)
		if want := strings.Count(strings.ToLower(text), strings.ToLower(q)); total != want {
			t.Errorf("Search(%q): %d in all, want %d", q, total, want)
		}
	}
	if got, total := searchFor(t, c, "get orders 1234 status", 3, 3000); total == 0 || got[0].Way != WayWords || !strings.Contains(got[0].Text, "orders/1234") {
		t.Errorf("%d, %+v", total, got)
	}
}

func TestSearchProperty(t *testing.T) {
	s := newStore(t, Options{Memory: 1 << 20, Disk: 64 << 20})
	piece := rapid.OneOf(
		rapid.String(), rapid.StringOfN(rapid.RuneFrom([]rune("中文éÉ\u0301\u3099👍\r\n\x00\"\\un04e2dabAB ")), 0, 200, -1),
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
		rapid.Map(rapid.IntRange(0, 9000), func(n int) string { return strings.Repeat("pad ", n) }),
	)
	rapid.Check(t, func(rt *rapid.T) {
		parts := rapid.SliceOfN(piece, 1, 8).Draw(rt, "text")
		query := rapid.SampledFrom(parts).Draw(rt, "query")
		if n := []rune(query); len(n) > 100 {
			query = string(n[:100])
		}
		text := strings.Join(parts, " ")
		c, err := s.Put(heddle.Local, listIssues, rapid.SampledFrom([]Kind{KindText, KindJSON}).Draw(rt, "kind"), []byte(text))
		if err != nil {
			rt.Fatal(err)
		}
		if strings.TrimSpace(query) == "" {
			query = "x"
		}
		_, total := searchFor(t, c, query, rapid.IntRange(0, 5).Draw(rt, "most"), rapid.IntRange(0, 5000).Draw(rt, "budget"))
		// What stands in the text between spaces is found, as it stands.
		if c.Kind == KindText && total == 0 && utf8.ValidString(text) && strings.Contains(text, query) && !strings.ContainsAny(text, "\\\u0301\u3099") {
			rt.Fatalf("%q is not found in %q", query, text)
		}
	})
}

func TestSearchOfRealResults(t *testing.T) {
	s, all := newStore(t, Options{}), results(t)
	for name, query := range map[string]string{
		"k8s-log.json": "status=500", "fs-read-go.json": "func (s *Server)", "github-issues.json": "created_at", "sh-stack-py.json": "Traceback", "doc-jsonschema.json": `"additionalProperties": {}`,
	} {
		c, err := s.Put(heddle.Local, listIssues, KindJSON, all[name])
		if err != nil {
			t.Fatal(err)
		}
		got, total := searchFor(t, c, query, 3, 3000)
		if len(got) == 0 || got[0].Way != WayPhrase {
			t.Errorf("%s: %d, %+v", name, total, got)
			continue
		}
		t.Logf("%s: %q, %d in all:\n%s", name, query, total, got[0].Text)
	}
}

// TestHeapsOfMarks is a text that is slow where marks are put on a letter one by
// one.
func TestHeapsOfMarks(t *testing.T) {
	s := newStore(t, Options{})
	for _, unit := range []string{"\u0301", "e\u0301\u0323", `\u0301`, `\\\\`, "\u1161", "a"} {
		text := strings.Repeat(unit, 2_000_000/len(unit)) + "needle"
		c := put(t, s, text)
		before := time.Now()
		got, total := searchFor(t, c, "needle", 3, 3000)
		if total != 1 || len(got) != 1 {
			t.Errorf("%q: %d, %+v", unit, total, got)
		}
		if d := time.Since(before); d > 10*time.Second {
			t.Errorf("%q: took %v", unit, d)
		}
		searchFor(t, c, strings.Repeat(unit, 20), 3, 3000)
		t.Logf("%q: %v", unit, time.Since(before))
	}
}

func FuzzFold(f *testing.F) {
	f.Add([]byte(`{"a":"\u4e2d\\u4e2d\ud83d\udc4d\n\"\\"}`), true)
	f.Add([]byte("e\u0301\u0301\xff\u1112\u1161\u11ab\u3099"), false)
	f.Add([]byte("ﬁﬃﬆßẞ\u0301 ß\u0323\u0301 \\u00df\\ufb03"), true)
	f.Add([]byte("00000000000000000000000000000000000000\u0344"), false) // becomes longer
	f.Fuzz(func(t *testing.T, raw []byte, json bool) {
		fold := folder{json: json}
		out := fold.fold(raw)
		last := -1
		for i := range len(out) + 1 {
			at := fold.raw(i)
			if at < last || at > len(raw) || i == len(out) && at != len(raw) {
				t.Fatalf("position %d of %q was at %d of %q, the one before at %d", i, out, at, raw, last)
			}
			last = at
		}
		for i := len(out); i >= 0; i-- { // in any order
			if at := fold.raw(i); at > last {
				t.Fatalf("position %d was at %d, the one after at %d", i, at, last)
			} else {
				last = at
			}
		}
	})
}
