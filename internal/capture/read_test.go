package capture

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"heddle"
	"pgregory.net/rapid"
)

// pages reads a capture to its end and checks every page.
func pages(t testing.TB, c *Capture, budget int) string {
	t.Helper()
	var b strings.Builder
	line := 1
	for cursor := ""; ; {
		p, err := c.Page(cursor, budget)
		if err != nil {
			t.Fatalf("Page(%q, %d): %v", cursor, budget, err)
		}
		if n := JSONSize(p.Text); n > max(budget, budgetLeast) {
			t.Fatalf("a page of %d bytes takes %d in JSON, budget %d", len(p.Text), n, budget)
		}
		if p.Offset != int64(b.Len()) || p.End != p.Offset+int64(len(p.Text)) || p.Size != c.Size {
			t.Fatalf("page at %d of %d says %d–%d of %d", b.Len(), c.Size, p.Offset, p.End, p.Size)
		}
		if p.FirstLine != line {
			t.Fatalf("page at %d begins on line %d, want %d", p.Offset, p.FirstLine, line)
		}
		line += strings.Count(p.Text, "\n")
		b.WriteString(p.Text)
		if cursor = p.Next; cursor == "" {
			if p.LastLine != max(1, c.Lines) {
				t.Fatalf("the last page ends on line %d of %d", p.LastLine, c.Lines)
			}
			return b.String()
		}
		if p.Text == "" {
			t.Fatal("an empty page that is not the last")
		}
	}
}

func TestPagesAreTheCapture(t *testing.T) {
	s := newStore(t, Options{})
	for name, text := range map[string]string{
		"empty": "", "one": "a", "cjk": strings.Repeat("数据库连接失败。", 5000), "emoji": strings.Repeat("👩‍👩‍👧‍👦🇩🇪👍🏽", 3000),
		"marks": strings.Repeat("e\u0301\u0323o\u0308", 5000), "crlf": strings.Repeat("a line\r\n", 9000), "nul": strings.Repeat("\x00\x01", 9000),
		"escapes": strings.Repeat(`a "quoted" \u0000 \\`+"\t", 3000), "line": strings.Repeat("minified,", 5<<20/9), "noise": noise(200_000, 1),
		"separators": strings.Repeat("\u2028", 9000), "20MB": logText(20 << 20),
	} {
		if testing.Short() {
			text = text[:min(len(text), 1<<20)]
		}
		c := put(t, s, text)
		short := text[:min(len(text), 3_000)] // tiny pages are many
		for _, budget := range []int{0, 100, 1009} {
			if got := pages(t, put(t, s, short), budget); got != short {
				t.Errorf("%s: pages of %d are not the capture", name, budget)
			}
		}
		for _, budget := range []int{9_000, 300_000} {
			if got := pages(t, c, budget); got != text {
				t.Errorf("%s: pages of %d are not the capture", name, budget)
			}
			if utf8.ValidString(text) && len(text) > 0 {
				if p, _ := c.Page(c.Cursor(0), budget); !utf8.ValidString(p.Text) {
					t.Errorf("%s: a page of %d parts a rune", name, budget)
				}
			}
		}
	}
}

func TestPagesOfRealResults(t *testing.T) {
	s := newStore(t, Options{})
	for name, b := range results(t) {
		c, err := s.Put(heddle.Local, listIssues, KindJSON, b)
		if err != nil {
			t.Fatal(err)
		}
		if got := pages(t, c, 9_000); got != string(b) {
			t.Errorf("%s: pages are not the capture", name)
		}
	}
}

func TestPagesProperty(t *testing.T) {
	s := newStore(t, Options{Memory: 1 << 20, Disk: 64 << 20})
	piece := rapid.OneOf(
		rapid.String(), rapid.StringOf(rapid.RuneFrom([]rune("中é́👩‍🇩\r\n\x00\"\\\u2029a "))),
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
		rapid.Map(rapid.IntRange(0, chunkSize), func(n int) string { return strings.Repeat("x", n) }),
	)
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOfN(piece, 0, 8).Draw(rt, "text"), "")
		budget := rapid.IntRange(0, 3000).Draw(rt, "budget")
		if len(text) > 20*budget {
			budget = len(text)/20 + 1
		}
		c, err := s.Put(heddle.Local, listIssues, KindText, []byte(text))
		if err != nil {
			rt.Fatal(err)
		}
		if got := pages(t, c, budget); got != text {
			rt.Fatalf("pages of %q are %q", text, got)
		}
	})
}

func TestPageEndsWhereItReadsWell(t *testing.T) {
	s := newStore(t, Options{})
	for _, c := range []struct {
		text   string
		budget int
		want   string
	}{
		{"0123456\n89abcdef", 10, "0123456\n"},                                // a line ends in the last quarter
		{"01\n3456789abcdef", 10, "01\n345678"},                               // none does: \n takes two
		{"01234567\r\nabcdef", 10, "01234567"},                                // the \r stays with its \n
		{"0123456e\u0301abcdef", 9, "0123456"},                                // the letter stays with its mark
		{"01234中def", 8, "01234中"},                                            //
		{"012345中def", 8, "012345"},                                           // no room for the rune
		{"012👩‍👧 next", 10, "012"},                                            // the emoji are one
		{strings.Repeat("\u0301", 100), 10, "\u0301\u0301\u0301\u0301\u0301"}, // marks alone: cut all the same
		{"\"\"\"\"\"\"\"\"", 8, "\"\"\"\""},
		{"\xff\xfe\xfd", 13, "\xff\xfe"},
	} {
		p, err := put(t, s, c.text).Page("", c.budget)
		if err != nil || p.Text != c.want {
			t.Errorf("Page of %q, %d bytes: %q, %v; want %q", c.text, c.budget, p.Text, err, c.want)
		}
	}
}

func TestCursorsPointAnywhere(t *testing.T) {
	s := newStore(t, Options{})
	text := logText(3 * chunkSize)
	c := put(t, s, text)
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		off := r.IntN(len(text) + 1)
		p, err := c.Page(c.Cursor(int64(off)), 500)
		if err != nil || !strings.HasPrefix(text[off:], p.Text) || off < len(text) && p.Text == "" {
			t.Fatalf("at %d: %q, %v", off, p.Text, err)
		}
		if want := strings.Count(text[:off], "\n") + 1; p.FirstLine != want && off < len(text) {
			t.Fatalf("at %d: line %d, want %d", off, p.FirstLine, want)
		}
		if len(c.Cursor(int64(off))) > 8 {
			t.Fatalf("cursor %s is long", c.Cursor(int64(off)))
		}
	}
}

func TestWrongCursors(t *testing.T) {
	s := newStore(t, Options{})
	a, b := put(t, s, logText(50_000)), put(t, s, logText(50_000))
	good := a.Cursor(777)
	for _, cursor := range []string{"x", "zz", "0", "-1abc", "ZZZZ", "9999999999999999999999", good + "0", good[1:], strings.ToUpper(a.Cursor(35)), "0" + good, a.Cursor(a.Size + 1), b.Cursor(777), "+" + good, "\x00", "中文中文"} {
		_, err := a.Page(cursor, 100)
		if heddle.KindOf(err) != heddle.KindInvalidCursor || !strings.Contains(err.Error(), "next_cursor") {
			t.Errorf("Page(%q): %v", cursor, err)
		}
	}
	if _, err := a.Page(good, 100); err != nil {
		t.Error(err)
	}
}

func TestJSONSize(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(rt, "s")
		var b strings.Builder
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(s); err != nil {
			rt.Fatal(err)
		}
		if got, want := JSONSize(s), b.Len()-len("\"\"\n"); got != want {
			rt.Fatalf("JSONSize(%q) = %d, encoded in %d: %s", s, got, want, &b)
		}
	})
}
