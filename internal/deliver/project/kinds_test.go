package project

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// repeat is n lines of what f makes.
func repeat(n int, f func(i int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(f(i))
	}
	return b.String()
}

// names are n different keys without a digit, which are no ids.
func names(n int) []string {
	var out []string
	for i := range n {
		name := ""
		for k := i; ; k /= 7 {
			name += []string{"cache", "Pool", "Store", "Limit", "Route", "Token", "Queue"}[k%7]
			if k < 7 {
				break
			}
		}
		out = append(out, name)
	}
	return out
}

// object writes an object with keys and values by number.
func object(keys []string, value func(i int) string) string {
	var b strings.Builder
	for i, k := range keys {
		fmt.Fprintf(&b, "%s%q:%s", []string{"", ","}[min(i, 1)], k, value(i))
	}
	return "{" + b.String() + "}"
}

// expect projects in and looks for what must be in the text and what must not.
func expect(t *testing.T, name string, in Input, kind string, want, not []string) Projection {
	t.Helper()
	p, ok := Project(in)
	if !ok || p.Kind != kind {
		t.Errorf("%s: %v, %q, want %q\n%s", name, ok, p.Kind, kind, p.Text)
		return p
	}
	check(t, name, in, p)
	for _, w := range want {
		if !strings.Contains(p.Text+p.Note, w) {
			t.Errorf("%s: no %q in\n%s-- %s", name, w, p.Text, p.Note)
		}
	}
	for _, w := range not {
		if strings.Contains(p.Text+p.Note, w) {
			t.Errorf("%s says %q in\n%s-- %s", name, w, p.Text, p.Note)
		}
	}
	return p
}

// TestMixedRows counts what stands between the objects of an array, and shows it.
func TestMixedRows(t *testing.T) {
	row := func(odd string) func(int) string {
		return func(i int) string {
			if i%6 == 0 {
				return odd
			}
			return fmt.Sprintf(`{"id":%d,"name":"n%d"}`, i, i)
		}
	}
	rows := func(odd string) string {
		return strings.Join(strings.Fields(repeat(3000, func(i int) string { return row(odd)(i) + " " })), ",")
	}
	for odd, want := range map[string]string{`[1,"x"]`: "500 arrays", `7`: "500 ints", `"gone"`: "500 strings", `null`: "500 nulls"} {
		expect(t, odd, Input{JSON: []byte("[" + rows(odd) + "]")}, KindRecords,
			[]string{"array of 2500 objects, " + want, "(500 not objects)", "first 5 of 2500 objects", "1\tn1", "2500 objects, " + want + ", the first 5 shown"}, []string{"record"})
		expect(t, odd+" below a key", Input{JSON: []byte(`{"rows":[` + odd + "," + odd + "," + odd + "," + odd + "," + odd + "," + rows(odd) + "]}")}, KindRecords,
			[]string{"first 5 of 2500 objects", "1\tn1"}, []string{"none shown"})
	}
	expect(t, "pure", Input{JSON: []byte("[" + rows(`{"id":0,"name":"n0"}`) + "]")}, KindRecords, []string{"array of 3000 records", "first 5 of 3000 rows"}, nil)
}

// TestManyKeys outlines documents with more keys at one place than there is room
// for: each place to depth 3 is there, and what is not named is counted.
func TestManyKeys(t *testing.T) {
	keys := names(300)
	leaf := func(i int) string { return fmt.Sprintf(`{"id":%d,"owner":"o%d","limits":{"cpu":{"max":%d}}}`, i, i, i) }
	tail := `,"last":{"one":{"two":{"three":{"four":1}}}}}`
	for name, c := range map[string]struct {
		doc  string
		want []string
	}{
		"maps of maps of maps": {`{"regions":` + object(keys[:20], func(i int) string {
			return object(keys[:12], func(j int) string {
				return object([]string{fmt.Sprint("h", i, j), fmt.Sprint("g", i, j)}, leaf)
			})
		}), []string{"regions: map of 20", "owner: ", "cpu: object", "max: "}},
		"small maps without a common key": {`{"users":` + object(keys[:50], func(i int) string {
			return object([]string{fmt.Sprint("k", i, "a"), fmt.Sprint("k", i, "b"), fmt.Sprint("k", i, "c")}, leaf)
		}), []string{"map of 50 maps", "(each): maps, 150 keys in all, of objects", "owner: "}},
		"300 scalars": {`{"settings":` + object(keys, func(i int) string { return []string{"1", `"text"`, `"more"`}[i%3] }),
			[]string{"{100 keys: cache, ", "{200 keys: Pool, ", "300 keys put together"}},
		"300 objects of three shapes": {`{"a":{"items":` + object(keys, func(i int) string {
			return []string{`{"id":1,"name":"n"}`, `{"host":"h","port":1}`, `{"left":1,"right":2}`}[i%3]
		}) + "}", []string{"{100 keys: ", "port: ", "right: "}},
		"300 objects that share nothing": {`{"parts":` + object(keys, func(i int) string {
			return object([]string{keys[i], keys[(i*7+1)%300], keys[(i*11+2)%300]}, func(j int) string { return []string{"1", `"s"`, "[1]"}[(i+j)%3] })
		}), []string{"{300 keys: "}},
		"300 keys at the top": {object(keys, func(i int) string { return []string{"1", `{"b":{"c":2}}`}[i%2] })[:1] + object(keys, func(i int) string { return []string{"1", `{"b":{"c":2}}`}[i%2] })[1:],
			[]string{"{150 keys: ", "c: "}},
		"maps and arrays below": {`{"all":` + object(keys[:60], func(i int) string {
			return `[` + object([]string{fmt.Sprint("x", i)}, leaf) + `]`
		}), []string{"map of 60 arrays", "owner: "}},
	} {
		doc := c.doc
		if strings.Count(doc, "{") > strings.Count(doc, "}") {
			doc += tail
			c.want = append(c.want, "three: object")
		}
		for size, in := range map[string]Input{"": {JSON: []byte(doc)}, " small": {JSON: []byte(doc), Budget: 500}} {
			p := expect(t, name+size, in, KindOutline, c.want, []string{outlineCut})
			if n := counter(t).Count(p.Text); n > 1450 {
				t.Errorf("%s: %d tokens", name, n)
			}
		}
	}
}

// TestKeysCut says how many keys it does not name where nothing else helps.
func TestKeysCut(t *testing.T) {
	keys := names(300)
	doc := object(keys[:30], func(i int) string {
		return object(keys[i*9:i*9+9], func(j int) string {
			return []string{`{"a":1}`, "[[1]]", "1", `"s"`, "true", "null", "1.5", `[{"b":1}]`, `["s"]`}[(i+j)%9]
		})
	})
	expect(t, "cut", Input{JSON: []byte(doc), Budget: 120}, KindOutline, []string{"more", "counted only"}, []string{outlineCut})
}

// logOf is a log in which every 40th line is what bad makes.
func logOf(bad func(i int) string) Input {
	var b strings.Builder
	base := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for i := 0; b.Len() < 200<<10; i++ {
		text := fmt.Sprintf("INFO GET /api/items/%d 200 %dms", i*7%999, i%99)
		if i%40 == 39 {
			text = bad(i / 40)
		}
		fmt.Fprintf(&b, "%s %s\n", base.Add(time.Duration(i)*time.Second).Format(time.RFC3339), text)
	}
	return Input{Text: []byte(b.String())}
}

// TestKindsToldApart shows where kinds of errors differ that begin alike.
func TestKindsToldApart(t *testing.T) {
	reasons := []string{"timeout of socket", "schema mismatch", "lock not acquired", "disk quota exceeded", "certificate expired", "unknown currency",
		"balance negative", "duplicate entry", "stale snapshot", "replica behind", "auth rejected", "rate limited"}
	long := strings.Repeat("com.example.billing.Reconciliation: aborted because of a problem of the provider: ", 3)
	for name, bad := range map[string]func(i int) string{
		"one prefix": func(i int) string { return "ERROR " + long + reasons[i%12] },
		"with what varies": func(i int) string {
			return fmt.Sprintf("ERROR [w-%d] job %d of %s%s in shard %d", i%8, i, long, reasons[i%12], i)
		},
		"two prefixes": func(i int) string {
			return fmt.Sprint([]string{"ERROR read ", "WARN write "}[i%2], long, reasons[i%12])
		},
		"the end in brackets": func(i int) string { return "ERROR " + strings.ReplaceAll(long, " ", "_") + "(" + reasons[i%12] + ")" },
		"exceptions below": func(i int) string {
			return "ERROR " + long + "failed\n" + strings.ReplaceAll(reasons[i%12], " ", "") + "Exception: x\n\tat a.b(C.java:1)"
		},
	} {
		in := logOf(bad)
		want := reasons
		if name == "exceptions below" {
			want = nil
			for _, r := range reasons {
				want = append(want, strings.ReplaceAll(r, " ", "")+"Exception")
			}
		}
		for _, budget := range []int{0, 500} {
			in.Budget = budget
			p := expect(t, name, in, KindLog, want, nil)
			if n := counter(t).Count(p.Text); n > 740 {
				t.Errorf("%s: %d tokens", name, n)
			}
		}
	}
}

// TestCodes counts the codes of errors of one kind.
func TestCodes(t *testing.T) {
	for _, c := range []struct {
		bad  func(i int) string
		want string
		not  string
	}{
		{func(i int) string {
			return fmt.Sprintf("ERROR upstream answered HTTP %d after %d ms", []int{500, 404, 500}[i%3], i)
		}, "HTTP *(500 ×", ""},
		{func(i int) string { return fmt.Sprintf("ERROR E%d00 for user %d", 1+i%2, i) }, "E*(", ""},
		{func(i int) string { return fmt.Sprintf("WARN exit status %d", i%2) }, "exit status *(", ""},
		{func(i int) string { return fmt.Sprintf("ERROR ORA-0094%d: no table", i%2) }, "ORA-*(", ""},
		{func(i int) string { return fmt.Sprintf("ERROR status=%d path=/x", 500+i%7) }, "status=*(", ""},
		{func(i int) string { return fmt.Sprintf("ERROR code=%d declined", i*37) }, "code=*(over 8 values)", ""},
		{func(i int) string { return "ERROR answer was HTTP 503" }, "HTTP 503", "*("},
		{func(i int) string { return fmt.Sprintf("ERROR job %d of 7 is late", i%3) }, "job 0 of 7", "*("},
	} {
		var not []string
		if c.not != "" {
			not = []string{c.not}
		}
		expect(t, c.want, logOf(c.bad), KindLog, []string{c.want}, not)
	}
	for i, want := range map[int]string{1: "404 ×", 2: "500 ×"} {
		expect(t, fmt.Sprint("web server ", i), Input{Text: []byte(repeat(300, func(i int) string {
			return fmt.Sprintf("10.0.0.%d - - [01/Mar/2026:12:00:00 +0000] \"GET /a HTTP/1.1\" %d 12%d\n", i%9, []int{200, 404, 403, 500, 502}[i%5], i)
		}))}, KindLog, []string{want}, nil)
	}
}

// TestJSONLog takes lines of JSON for a log where they are one, and does not keep
// them as code.
func TestJSONLog(t *testing.T) {
	text := repeat(200, func(i int) string {
		return fmt.Sprintf(`{"level":"%s","time":"2026-03-01T12:00:%02d.000Z","msg":"job %d done","status":%d}`+"\n", []string{"info", "error"}[i%10/9], i%60, i, []int{200, 404, 500}[i%3])
	})
	in := Input{Text: []byte(text)}
	expect(t, "log", in, KindLog, []string{"2026-03-01T12:00:00.000Z to 2026-03-01T12:00:19.000Z", "ERROR 20, INFO 180", "job * done status=*", "404 ×"}, nil)
	if Keep(in.Text) {
		t.Error("a log of JSON is kept as code")
	}
	rows := repeat(40, func(i int) string { return fmt.Sprintf(`{"id":%d,"message":"m%d","date":"2026-03-01"}`+"\n", i, i) })
	expect(t, "records", Input{Text: []byte(rows)}, KindRecords, []string{"array of 40 records"}, nil)
}

// TestJSONInText projects JSON with a few words around it, and shows those.
func TestJSONInText(t *testing.T) {
	one := "[" + strings.TrimSuffix(repeat(60, func(i int) string { return fmt.Sprintf(`{"id":%d,"name":"a \"n\" {%d"},`, i, i) }), ",") + "]"
	indented := string(indent(t, []byte(one)))
	lines := repeat(60, func(i int) string { return fmt.Sprintf(`{"id":%d}`+"\n", i) })
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"a line before":     {"Found 60 items [1]:\n" + one, []string{"before it: Found 60 items [1]:"}},
		"on the same line":  {"Result: " + one + "\n", []string{"before it: Result:"}},
		"a line after":      {indented + "\nUse page=2 for more.\n", []string{"after it: Use page=2 for more."}},
		"a fence":           {"Here it is:\r\n```json\r\n" + indented + "\r\n```\r\nNext?", []string{"before it: Here it is:", "after it: Next?"}},
		"an open fence":     {"~~~\n```json\n" + indented, []string{"record"}},
		"lines and words":   {"Read 60 lines\n" + lines + "Done.", []string{"before it: Read 60 lines", "after it: Done."}},
		"one after another": {strings.ReplaceAll(strings.Trim(indented, "[] \n"), "},\n", "}\n"), []string{"array of 60 records"}},
	} {
		expect(t, name, Input{Text: []byte(c.text)}, KindRecords, append(c.want, "array of 60 records"), []string{"```"})
	}
	for _, text := range []string{strings.Repeat("[1] and {\"a\":1} stand in prose here\n", 200), "x " + one[:len(one)-1], "{\"a\":[\n" + strings.Repeat("[1,\n", 500)} {
		if p, _ := Project(Input{Text: []byte(text)}); p.Kind == KindRecords || p.Kind == KindOutline {
			t.Errorf("%.40q… is taken for %s", text, p.Kind)
		}
	}
}

// TestManyNames names as many keys as the budget allows, and the right size.
func TestManyNames(t *testing.T) {
	keys := names(4000)
	doc := object(keys[:200], func(i int) string {
		at := 200 + i*3
		return object(keys[at:at+1+i%4], func(j int) string {
			return []string{fmt.Sprintf(`{"note":%q}`, strings.Repeat("text ", 300)), fmt.Sprint(j), `"s"`, `[1.5]`}[(i+j)%4]
		})
	})
	p := expect(t, "sections", Input{JSON: []byte(doc)}, KindOutline, nil, []string{outlineCut})
	if n := counter(t).Count(p.Text); n < 1150 || n > 1500 {
		t.Errorf("%d tokens in\n%s-- %s", n, p.Text, p.Note)
	}
	for name, text := range map[string]string{
		"joined": repeat(9000, func(i int) string { return fmt.Sprintf(`{"a":%d}`, i) }),
		"lines":  repeat(900, func(i int) string { return fmt.Sprintf(`{"a":%d}`+"\n", i) }),
		"value":  "[" + repeat(900, func(i int) string { return fmt.Sprintf(`{"a":%d},`, i) }) + `{"a":1}]` + "\n",
	} {
		expect(t, name, Input{Text: []byte(text)}, KindRecords, []string{fmt.Sprintf("JSON, %d bytes", len(text))}, nil)
	}
}
