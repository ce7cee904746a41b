package search

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func index(documents ...Document) *Index {
	return New(All, len(documents), func(i int) Document { return documents[i] })
}

// names returns the names of the best hits.
func names(documents []Document, r Ranking) string {
	var out []string
	for _, h := range r.Hits {
		out = append(out, documents[h.Doc].Name)
	}
	return strings.Join(out, " ")
}

func TestRank(t *testing.T) {
	documents := []Document{
		{Server: "office", Name: "spreadsheet", Description: "Opens a sheet"},
		{Server: "disk", Name: "read_file", Description: "Reads"},
		{Server: "github", Name: "fork", Description: "Forks a repository"},
		{Server: "kitchen", Name: "drawer", Params: []string{"fork"}},
		{Server: "bank", Name: "查询账单", Description: "按月份查询账单"},
		{Server: "bank", Name: "transfer", ParamTexts: []string{"hourly", "weekly"}},
		{Server: "music", Name: "playlist"},
	}
	x := index(documents...)
	cases := []struct {
		query, want string
		fits        bool
	}{
		{"read", "read_file", true},
		{"GitHub fork", "fork drawer", true},
		{"fork", "fork drawer", true},          // its name before a parameter
		{"repos", "fork", true},                // a short form
		{"fetch file", "read_file", true},      // another verb
		{"reposiotry", "fork", true},           // misspelt
		{"spread", "spreadsheet", true},        // cut short
		{"sheet", "spreadsheet", true},         //
		{"weekly", "transfer", true},           // an allowed value
		{"账单", "查询账单", true},                   //
		{"读取文件", "read_file", true},            // an English tool for a Chinese query
		{"bill", "查询账单", true},                 // and the other way round
		{"/home/me/fork/x", "read_file", true}, // a path is a file
		{"read the tea leaves of a horoscope", "read_file", false},
		{"horoscope", "", false},
		{"404", "", false},
		{"the of it", "", false},
		{strings.Repeat("word ", 10_000), "", false},
	}
	for _, c := range cases {
		got := x.Rank(c.query, 3, nil)
		if names := names(documents, got); names != c.want || got.Fits != c.fits {
			t.Errorf("Rank(%.40q) = %s, fits %t; want %s, %t", c.query, names, got.Fits, c.want, c.fits)
		}
	}
}

func TestRankBounds(t *testing.T) {
	x := index(Document{Name: "a_move"}, Document{Name: "b_move"}, Document{Name: "c_move"})
	if got := x.Rank("move", 0, nil).Hits; len(got) != 0 {
		t.Errorf("n = 0 gave %d hits", len(got))
	}
	if got := x.Rank("move", 2, nil).Hits; len(got) != 2 || got[0].Doc != 0 || got[1].Doc != 1 {
		t.Errorf("equal documents: got %v, want the first two in order", got)
	}
	if got := x.Rank("move", 2, func(doc int) bool { return doc == 2 }).Hits; len(got) != 1 || got[0].Doc != 2 {
		t.Errorf("got %v, want the one that is kept", got)
	}
	if got := index().Rank("move", 2, nil); len(got.Hits) != 0 || got.Fits {
		t.Errorf("an empty index has %v", got)
	}
}

// An index that takes documents over is the same as one made anew.
func TestUpdate(t *testing.T) {
	document := func(n int) Document {
		return Document{Server: "s", Name: fmt.Sprintf("get_thing%d_查询", n), Description: fmt.Sprintf("Gets word%d and word%d", n%3, n)}
	}
	of := func(numbers []int) func(i int) Document { return func(i int) Document { return document(numbers[i]) } }
	old := []int{0, 1, 2, 3, 4, 5}
	before := New(All, len(old), of(old))
	for _, now := range [][]int{{0, 1, 2, 3, 4, 5}, {5, 4, 9, 1}, {7, 8}, {}, {9, 0, 1, 2, 3, 4, 5, 10}} {
		read := 0
		got := before.Update(len(now), func(i int) int { return slices.Index(old, now[i]) }, func(i int) Document {
			read++
			return document(now[i])
		})
		want := New(All, len(now), of(now))
		if d := cmp.Diff(want, got, cmp.AllowUnexported(Index{}, posting{}, lexicon{})); d != "" {
			t.Errorf("update to %v (-anew +updated):\n%s", now, d)
		}
		fresh := 0
		for _, n := range now {
			if !slices.Contains(old, n) {
				fresh++
			}
		}
		if read != fresh {
			t.Errorf("update to %v read %d documents, want %d", now, read, fresh)
		}
	}
}

// Whatever a server or a host writes, search neither panics nor finds what is
// not there.
func FuzzRank(f *testing.F) {
	for _, s := range []string{"create issue", "createIssue2", "查询 файл \xff", "/a/b https://x", "ＡＢ ǅ İ", strings.Repeat("x", 100)} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, text, query string) {
		x := index(Document{Name: text, Description: text, Params: []string{text}}, Document{Name: "other", About: text})
		first := x.Rank(query, 2, nil)
		if second := x.Rank(query, 2, nil); !cmp.Equal(first, second, cmp.AllowUnexported(Hit{})) {
			t.Errorf("%v, then %v", first, second)
		}
		for _, h := range first.Hits {
			if h.Doc < 0 || h.Doc > 1 || !(h.Score > 0) || !(h.share > 0 && h.share < 1.001) {
				t.Errorf("hit %+v", h)
			}
		}
	})
}
