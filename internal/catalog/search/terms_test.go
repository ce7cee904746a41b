package search

import (
	"strings"
	"testing"
)

func TestTerms(t *testing.T) {
	cases := []struct{ text, want string }{
		{"create_issue createIssue Create-Issues create.issue", "creat issu creat issu creat issu creat issu"},
		{"HTTPServer getUserID v2 k8s ms365 IDs", "http server get user id v2 k8 ms 365 id"},
		{"scheduling schedules scheduled schedule", "schedul schedul schedul schedul"},
		{"queries query movies movie classes class", "queri queri movi movi class class"},
		{"running added feeds string filling boxes", "run add feed string fill box"},
		{"actions action act creation version editor", "action action act creat vers editor"},
		{"the tool that does it's thing", "thing"},
		{"查询账单 x データー 한", "查询 询账 账单 x デー ータ ター 한"},
		{"Größe naïv Привет", "größ naïv привет"},
		{"a\xffb \xe6\x9f", "b"},
		{strings.Repeat("ings", 20), strings.Repeat("ings", 20)},
		{"", ""},
	}
	for _, c := range cases {
		if got := strings.Join(Terms(c.text), " "); got != c.want {
			t.Errorf("Terms(%q)\n got %q\nwant %q", c.text, got, c.want)
		}
	}
}

func TestPlain(t *testing.T) {
	cases := []struct{ query, want string }{
		{"write it to /root/papers/list.md", "write it to file"},
		{"open \"~/notes.txt\", then ../x", "open file then file"},
		{"fetch (https://example.com/create/issue)", "fetch url"},
		{"and/or the /metrics page of a/b", "and/or the /metrics page of a/b"},
		{"no  strokes here", "no  strokes here"},
	}
	for _, c := range cases {
		if got := plain(c.query); got != c.want {
			t.Errorf("plain(%q)\n got %q\nwant %q", c.query, got, c.want)
		}
	}
}

func TestDistance(t *testing.T) {
	cases := []struct {
		a, b string
		want int
	}{
		{"issue", "issue", 0},
		{"issue", "isue", 1},
		{"isuse", "issue", 1}, // neighbours swapped
		{"issues", "tissue", 2},
		{"repository", "repostory", 1},
		{"", "ab", 2},
	}
	for _, c := range cases {
		if got := distance(c.a, c.b, 2); got != c.want {
			t.Errorf("distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
	if got := distance("create", "delete", 1); got < 2 {
		t.Errorf("distance of create and delete is %d, beyond the limit of 1", got)
	}
}

func TestCut(t *testing.T) {
	words := readLexicon(All)
	cases := []struct{ text, want string }{
		{"创建拉取请求", "创建(creat) 拉取请求(pull request)"},
		{"请帮我删除这个文件", "删除(delet) 文件(fil)"},
		{"写一首诗", "写(writ) 首诗"},
		{"取消订阅", "取消订阅(unsubscrib)"}, // not 取消 and 订阅
	}
	for _, c := range cases {
		var got []string
		words.cut(c.text, func(w string, means [][]string) {
			var terms []string
			for _, same := range means {
				terms = append(terms, same[0])
			}
			if means != nil {
				w += "(" + strings.Join(terms, " ") + ")"
			}
			got = append(got, w)
		})
		if got := strings.Join(got, " "); got != c.want {
			t.Errorf("cut(%q)\n got %q\nwant %q", c.text, got, c.want)
		}
	}
}

// A word list must not name a word twice where the first would be lost.
func TestLexicon(t *testing.T) {
	seen := map[string]bool{}
	for line := range lines(chineseWords) {
		chinese, english, ok := strings.Cut(line, ":")
		if !ok || strings.TrimSpace(english) == "" {
			t.Errorf("chinese.txt: %q means nothing", line)
		}
		for w := range strings.FieldsSeq(chinese) {
			if seen[w] {
				t.Errorf("chinese.txt has %s twice", w)
			}
			seen[w] = true
		}
	}
	for line := range lines(verbGroups + shortForms) {
		if len(All.all(line)) < 2 {
			t.Errorf("%q stands for nothing else", line)
		}
	}
}
