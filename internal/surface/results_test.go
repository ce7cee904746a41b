package surface_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"
	"unicode/utf8"

	"heddle/internal/deliver/estimate"
	"heddle/internal/mcptest"
	"heddle/internal/tokens"
	"heddle/internal/wire"

	"github.com/google/go-cmp/cmp"
)

// capturing is the configuration with which every mode captures large results.
const capturing = "results: {mesh: true}\n"

// eachCapturing runs a test in every mode over one server "up" whose tools return
// these results.
func eachCapturing(t *testing.T, returns map[string]string, test func(t *testing.T, s *stage)) {
	t.Helper()
	eachMode(t, stageOptions{config: capturing, servers: map[string]mcptest.Options{"up": returning(returns)}}, test)
}

// returning is a server with a tool for each result.
func returning(results map[string]string) mcptest.Options {
	return mcptest.Options{Results: rawMap(results), Tools: toolsNamed(sortedKeys(results)...)}
}

// textResult is a result of one text.
func textResult(s string) string { return string(mcptest.Text(s)) }

// short is what a host reads in place of a large result.
type short struct {
	raw     json.RawMessage
	blocks  []json.RawMessage
	texts   []string // of the blocks that heddle wrote
	refs    []string // of these
	members []string // all but content and structuredContent, as "key value"
	form    json.RawMessage
}

var headLine = regexp.MustCompile(`^\[([a-z0-9_]+): about [0-9,]+ tokens(?:, [0-9,]+ lines)?, captured whole\..*\]$`)

// shortOf reads a result and checks what holds for everything that heddle writes.
func shortOf(t testing.TB, m wire.Message) short {
	t.Helper()
	if m.Error != nil {
		t.Fatalf("got the error %s, want a result", m.Error)
	}
	s := short{raw: m.Result}
	if err := wire.Members(m.Result, func(key string, v json.RawMessage) bool {
		switch key {
		case "content":
			s.blocks, _ = wire.Elements(v)
		case "structuredContent":
			s.form = v
		default:
			s.members = append(s.members, key+" "+string(v))
		}
		return true
	}); err != nil {
		t.Fatalf("no result: %v: %.300s", err, m.Result)
	}
	written := 0
	for _, b := range s.blocks {
		text, _ := wire.Unquote(wire.Member(b, "text"))
		first, _, _ := strings.Cut(text, "\n")
		found := headLine.FindStringSubmatch(first)
		if found == nil {
			continue
		}
		s.texts, s.refs = append(s.texts, text), append(s.refs, found[1])
		written += len(b)
		checkLines(t, text)
	}
	if written > 10<<10 {
		t.Errorf("heddle wrote %d bytes, want at most 10 kB", written)
	}
	return s
}

func checkLines(t testing.TB, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		if n := utf8.RuneCountInString(line); n > 2000 {
			t.Errorf("a line of %d characters: %.100s…", n, line)
		}
	}
}

// reading is what read_result is asked for.
func reading(ref, query, cursor string) string {
	out := `{"result_ref":` + string(wire.Quote(ref))
	if query != "" {
		out += `,"query":` + string(wire.Quote(query))
	}
	if cursor != "" {
		out += `,"cursor":` + string(wire.Quote(cursor))
	}
	return out + "}"
}

var nextCursor = regexp.MustCompile(`; next_cursor ([0-9a-z]+)\]$`)

// page reads a page: where it is, its exact text and the next cursor.
func (s *stage) page(ref, cursor string) (where, exact, next string) {
	s.t.Helper()
	m := s.Call("read_result", reading(ref, "", cursor))
	if len(m.Result) > 10<<10 {
		s.t.Errorf("a page of %d bytes, want at most 10 kB", len(m.Result))
	}
	blocks, err := wire.Elements(wire.Member(m.Result, "content"))
	if m.Error != nil || err != nil || len(blocks) != 2 || wire.Member(m.Result, "isError") != nil {
		s.t.Fatalf("a page of %s: %.500s%s", ref, m.Result, m.Error)
	}
	where, _ = wire.Unquote(wire.Member(blocks[0], "text"))
	exact, _ = wire.Unquote(wire.Member(blocks[1], "text"))
	checkLines(s.t, where)
	if found := nextCursor.FindStringSubmatch(where); found != nil {
		next = found[1]
	} else if !strings.HasSuffix(where, "this is the end.]") {
		s.t.Errorf("a page says neither where to go on nor that it is the last: %s", where)
	}
	return where, exact, next
}

// readAll reads a capture from beginning to end.
func (s *stage) readAll(ref string) string {
	s.t.Helper()
	var b strings.Builder
	for cursor := ""; ; {
		_, exact, next := s.page(ref, cursor)
		b.WriteString(exact)
		if next == "" {
			return b.String()
		}
		if exact == "" {
			s.t.Fatal("an empty page in the middle")
		}
		cursor = next
	}
}

// sameBytes compares what may be too long to print.
func sameBytes(t testing.TB, what, got, want string) {
	t.Helper()
	if got == want {
		return
	}
	i := 0
	for i < min(len(got), len(want)) && got[i] == want[i] {
		i++
	}
	t.Errorf("%s: %d bytes, want %d; they part at %d: got %.60q, want %.60q", what, len(got), len(want), i, got[i:], want[i:])
}

// corpus are results of real servers.
func corpus(t testing.TB) map[string]string {
	t.Helper()
	out := map[string]string{}
	for name, b := range mcptest.Archive(t, "../capture/testdata/results.tar.gz") {
		out[strings.TrimSuffix(name, ".json")] = string(bytes.TrimSpace(b))
	}
	return out
}

// logText is a log of at least so many bytes and of one kind of error or warning
// for each line in rare.
func logText(size int, rare []string) string {
	r := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "2026-03-01T%02d:%02d:%02d.%03dZ ", i/3600%24, i/60%60, i%60, r.IntN(1000))
		switch {
		case i%97 == 50:
			fmt.Fprintf(&b, "%s\n", fmt.Sprintf(rare[i/97%len(rare)], r.IntN(100000)))
		case i%3 == 0:
			fmt.Fprintf(&b, "INFO  http: GET /api/v2/items/%d 200 in %dms (client 10.0.%d.%d)\n", r.IntN(1e6), r.IntN(300), r.IntN(256), r.IntN(256))
		case i%3 == 1:
			fmt.Fprintf(&b, "DEBUG cache: hit key=user:%08x ttl=%ds\n", r.Uint32(), r.IntN(3600))
		default:
			fmt.Fprintf(&b, "INFO  worker-%d: job %016x done after %d tries\n", r.IntN(16), r.Uint64(), 1+r.IntN(3))
		}
	}
	return b.String()
}

// rareLines are the kinds of errors and warnings in a log.
var rareLines = []string{
	"ERROR db: connection to replica-%d lost: broken pipe",
	"ERROR payment: charge %d declined by the issuer",
	"WARN  disk: volume data is at %d blocks free",
	"ERROR auth: token of session %d has expired",
	"WARN  queue: consumer lags by %d messages",
	"FATAL scheduler: lease %d was stolen",
	"ERROR mail: relay refused message %d",
	"WARN  tls: certificate ends in %d days",
	"ERROR search: shard %d does not answer",
	"ERROR upload: part %d has a wrong checksum",
	"WARN  cache: evicting %d entries under pressure",
	"ERROR billing: invoice %d has no lines",
	"CRITICAL raid: drive %d failed",
	"WARN  clock: drift of %d ms",
}

// rows are the JSON text of so many records.
func rows(n int) string {
	r := rand.New(rand.NewPCG(3, 4))
	var b strings.Builder
	b.WriteByte('[')
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":%d,"customer":"c-%05d","email":"user%d@example.com","amount":%d.%02d,"status":"%s","created":"2026-%02d-%02d"}`,
			9007199254740993+int64(i), r.IntN(99999), r.IntN(5000), r.IntN(900), r.IntN(100), []string{"paid", "open", "void"}[r.IntN(3)], 1+r.IntN(12), 1+r.IntN(28))
	}
	return b.String() + "]"
}

// prose is a text of so many different words in lines, which no summary stands for.
func prose(words int) string {
	r := rand.New(rand.NewPCG(5, 6))
	var b strings.Builder
	for i := range words {
		for range 2 + r.IntN(3) {
			b.WriteString([]string{"ka", "lo", "mi", "ten", "ru", "sa", "vor", "ne", "pi", "du"}[r.IntN(10)])
		}
		if i%12 == 11 {
			b.WriteString(".\n")
		} else {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// goSource is Go of at least so many bytes.
func goSource(size int) string {
	var b strings.Builder
	b.WriteString("package sample\n\nimport (\n\t\"fmt\"\n\t\"strings\"\n)\n\n")
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "// Do%[1]d joins its arguments.\nfunc Do%[1]d(args []string) (string, error) {\n\tif len(args) < %[1]d {\n\t\treturn \"\", fmt.Errorf(\"want %[1]d arguments, got %%d\", len(args))\n\t}\n\treturn strings.Join(args, %[2]q), nil\n}\n\n", i, strings.Repeat("-", i%5))
	}
	return b.String()
}

// At most the threshold, every byte is the server's, however it is spelled; so it
// is in mesh mode at any size, where there is no read_result.
func TestSmallResultsAreExact(t *testing.T) {
	odd := `{ "n" :1.50e+3,	"content" : [ {"text":"h\u00e9llo \/ \ud800 ` + strings.Repeat(`\u0041bc `, 300) + `","type":"text"} ] , "isError" : false ,"x":[9007199254740993]}`
	returns := map[string]string{"odd": odd, "under": textResult(wordsOf(t, 500)), "image": `{"content":[{"type":"image","data":"` + strings.Repeat("iVBORw0K", 9000) + `","mimeType":"image/png"}]}`}
	eachCapturing(t, returns, func(t *testing.T, s *stage) {
		for _, name := range sortedKeys(returns) {
			sameBytes(t, name, string(s.run("up_"+name, "{}").Result), returns[name])
		}
	})
	large := map[string]string{"log": textResult(logText(200_000, rareLines)), "rows": textResult(rows(1000))}
	t.Run("mesh without captures", func(t *testing.T) {
		s := newStage(t, stageOptions{mode: "mesh", servers: map[string]mcptest.Options{"up": returning(large)}})
		for _, name := range sortedKeys(large) {
			sameBytes(t, name, string(s.run("up_"+name, "{}").Result), large[name])
		}
		if r := refusalOf(t, s.Call("read_result", `{"result_ref":"log_1"}`)); r.Kind != "unknown_tool" {
			t.Errorf("read_result: %+v, want unknown_tool", r)
		}
	})
}

// wordsOf is a text whose result has exactly so many tokens, by estimate.
func wordsOf(t testing.TB, n int) string {
	t.Helper()
	text := prose(n)
	text = text[:sort.Search(len(text), func(i int) bool { return estimate.Result(mcptest.Text(text[:i])) > n })]
	for len(text) > 0 && estimate.Result(mcptest.Text(text)) > n {
		text = text[:len(text)-1]
	}
	for estimate.Result(mcptest.Text(text)) < n {
		text += " a"
	}
	if got := estimate.Result(mcptest.Text(text)); got != n {
		t.Fatalf("no text of exactly %d tokens: %d", n, got)
	}
	return text
}

// The threshold is where it is said to be.
func TestThresholdIsExact(t *testing.T) {
	returns := map[string]string{"at": textResult(wordsOf(t, 2000)), "over": textResult(wordsOf(t, 2001))}
	eachCapturing(t, returns, func(t *testing.T, s *stage) {
		if s.mode == "extreme" {
			return
		}
		sameBytes(t, "2000 tokens", string(s.run("up_at", "{}").Result), returns["at"])
		if got := shortOf(t, s.run("up_over", "{}")); len(got.refs) != 1 {
			t.Errorf("2001 tokens: %.300s, want a short text", got.raw)
		}
	})
}

// blocksOf are the blocks of a result.
func blocksOf(t testing.TB, result string) []json.RawMessage {
	t.Helper()
	blocks, err := wire.Elements(wire.Member([]byte(result), "content"))
	if err != nil {
		t.Fatal(err)
	}
	return blocks
}

const pixel = `{"type":"image","data":"iVBORw0KGgo=","mimeType":"image/png","annotations":{"priority":0.50}}`

// largeResult is a result that every mode shortens.
type largeResult struct {
	result   string
	captured []string // in order; "" is the whole result
	says     []string // what a host must find in the short one
	form     string   // the structured content that stays
	merged   bool     // several blocks become one
}

func largeResults() map[string]largeResult {
	log, table, words := logText(60_000, rareLines), rows(300), prose(4000)
	q := func(s string) string { return string(wire.Quote(s)) }
	block := func(s string) string { return `{"type":"text","text":` + q(s) + `}` }
	return map[string]largeResult{
		"log":               {result: textResult(log), captured: []string{log}, says: []string{"ERROR", "lease"}},
		"rows":              {result: textResult(table), captured: []string{table}, says: []string{"300", "email"}},
		"prose":             {result: textResult(words), captured: []string{words}, says: []string{words[:40]}},
		"vendor":            {result: `{"_meta":{"n":9007199254740993},"content":[` + block(log) + `],"isError":false,"x":[1.50,null]}`, captured: []string{log}, says: []string{"ERROR"}},
		"annotated":         {result: `{"content":[{"type":"text","annotations":{"audience":["user"]},"text":` + q(log) + `,"_meta":{"k":1.0}}]}`, captured: []string{log}, says: []string{`"_meta":{"k":1.0}`, "ERROR"}},
		"lone_surrogate":    {result: `{"content":[{"type":"text","text":"\ud800 ` + strings.ReplaceAll(strings.TrimSpace(words), "\n", `\n`) + `"}]}`, captured: []string{""}},
		"structured":        {result: `{"content":[],"structuredContent":{"total":300,"items":` + table + `}}`, captured: []string{""}, says: []string{"total", "items", "300", "email"}},
		"structured_beside": {result: `{"content":[` + block("Found 300 invoices.") + `],"structuredContent":{"total":300,"items":` + table + `}}`, captured: []string{""}, says: []string{"Found 300 invoices.", "email"}},
		"structured_same":   {result: `{"content":[` + block(`{"total":300,"items":`+table+`}`) + `],"structuredContent":{"total":300,"items":` + table + `}}`, captured: []string{`{"total":300,"items":` + table + `}`}, says: []string{"structuredContent says the same", "email"}},
		"structured_small":  {result: `{"content":[` + block(log) + `],"structuredContent":{"ok":true}}`, captured: []string{log}, says: []string{"ERROR"}, form: `{"ok":true}`},
		"structured_wraps":  {result: `{"content":[` + block(log) + `],"structuredContent":{"result":` + q(log) + `}}`, captured: []string{log}, says: []string{"structuredContent says the same", "ERROR", "lease"}},
		"texts":             {result: `{"content":[` + block(log) + `,` + block(words) + `]}`, captured: []string{log + "\n" + words}, says: []string{"2 text blocks, joined by line breaks"}},
		"texts_annotated":   {result: `{"content":[` + block(log) + `,{"type":"text","_meta":{"k":1.0},"text":` + q(words) + `}]}`, captured: []string{""}},
		"image":             {result: `{"content":[` + pixel + `,` + block(log) + `,{"type":"future","z":1.0}]}`, captured: []string{log}, says: []string{"ERROR"}},
		"image_texts":       {result: `{"content":[` + block(log) + `,` + pixel + `,` + block("small") + `,` + block(words) + `]}`, captured: []string{log, words}, says: []string{"ERROR", words[:40], `"small"`}},
		"image_structured":  {result: `{"content":[` + pixel + `,` + block("Here it is.") + `],"structuredContent":{"items":` + table + `}}`, captured: []string{`{"items":` + table + `}`}, says: []string{"Here it is.", "email"}, merged: true},
		"image_many":        {result: `{"content":[` + strings.Repeat(block(words)+`,`, 12) + pixel + `]}`, captured: []string{strings.Repeat(words+"\n", 11) + words}, says: []string{words[:40]}, merged: true},
		"failure":           {result: `{"content":[` + block("query failed: "+words) + `],"isError":true}`, captured: []string{"query failed: " + words}, says: []string{"query failed"}},
		"failure_form":      {result: `{"isError":true,"content":[` + block("query failed: "+words) + `],"structuredContent":{"code":7.0}}`, captured: []string{"query failed: " + words}, form: `{"code":7.0}`},
		"failure_large":     {result: `{"isError":true,"content":[` + block("query failed") + `],"structuredContent":{"items":` + table + `}}`, captured: []string{""}, says: []string{"query failed", "email"}},
	}
}

// A large result becomes a short one that keeps what is no text, and every byte of
// it can be read without another call of the server.
func TestLargeResultsAreShortened(t *testing.T) {
	all := largeResults()
	returns := map[string]string{}
	for name, l := range all {
		returns[name] = l.result
	}
	eachCapturing(t, returns, func(t *testing.T, s *stage) {
		for _, name := range sortedKeys(all) {
			t.Run(name, func(t *testing.T) { checkLarge(t, s, name, all[name]) })
		}
		if n := mcptest.Count(s.servers["up"].Events(), "call"); n != len(all) {
			t.Errorf("the server saw %d calls, want %d", n, len(all))
		}
	})
}

func checkLarge(t *testing.T, s *stage, name string, l largeResult) {
	got := shortOf(t, s.run("up_"+name, "{}"))
	if len(got.refs) != len(l.captured) {
		t.Fatalf("%d captures, want %d: %.600s", len(got.refs), len(l.captured), got.raw)
	}
	if was, is := estimate.Result(json.RawMessage(l.result)), estimate.Result(got.raw); is > was/2 {
		t.Errorf("%d tokens in place of %d", is, was)
	}
	for _, text := range l.says {
		if !strings.Contains(string(got.raw), strings.Trim(string(wire.Quote(text)), `"`)) && !strings.Contains(string(got.raw), text) {
			t.Errorf("%q is not in it: %s", text, got.raw)
		}
	}
	want := shortOf(t, wire.Message{Result: json.RawMessage(l.result)})
	if diff := cmp.Diff(want.members, got.members); diff != "" {
		t.Errorf("members (-want +got):\n%s", diff)
	}
	if string(got.form) != l.form {
		t.Errorf("structuredContent %.100q, want %q", got.form, l.form)
	}
	other := func(blocks []json.RawMessage) (out []string) {
		for _, b := range blocks {
			if kind, _ := wire.Unquote(wire.Member(b, "type")); kind != "text" {
				out = append(out, string(b))
			}
		}
		return out
	}
	if diff := cmp.Diff(other(want.blocks), other(got.blocks)); diff != "" {
		t.Errorf("blocks that are no text (-want +got):\n%s", diff)
	}
	if len(l.captured) == len(other(want.blocks)) && len(got.blocks) != len(want.blocks) && l.captured[0] != "" && !l.merged {
		t.Errorf("%d blocks, want %d", len(got.blocks), len(want.blocks))
	}
	for i, captured := range l.captured {
		if captured == "" {
			captured = l.result
		}
		sameBytes(t, got.refs[i], s.readAll(got.refs[i]), captured)
	}
}

// Blocks keep their places.
func TestBlocksKeepTheirPlaces(t *testing.T) {
	l := largeResults()["image_texts"]
	eachCapturing(t, map[string]string{"mixed": l.result}, func(t *testing.T, s *stage) {
		got := shortOf(t, s.run("up_mixed", "{}"))
		was := blocksOf(t, l.result)
		if len(got.blocks) != len(was) || len(got.texts) != 2 {
			t.Fatalf("%d blocks and %d short texts, want %d and 2", len(got.blocks), len(got.texts), len(was))
		}
		for _, i := range []int{1, 2} { // an image and a small text
			sameBytes(t, fmt.Sprint("block ", i), string(got.blocks[i]), string(was[i]))
		}
	})
}

// What real servers answered costs no more than it did, in any mode, and is all
// there.
func TestRealResults(t *testing.T) {
	all := corpus(t)
	delete(all, "INDEX")
	count := exactly(t)
	eachCapturing(t, all, func(t *testing.T, s *stage) {
		shortened := 0
		for _, name := range sortedKeys(all) {
			m := s.run("up_"+name, "{}")
			got := shortOf(t, m)
			if len(got.refs) == 0 {
				sameBytes(t, name, string(m.Result), all[name])
				continue
			}
			shortened++
			if s.mode == "compact" {
				if was, is := spoken(count, all[name]), spoken(count, string(m.Result)); is >= was {
					t.Errorf("%s: exactly %d tokens in place of %d", name, is, was)
				}
			}
			was, is := estimate.Result(json.RawMessage(all[name])), estimate.Result(m.Result)
			if is >= was || s.mode == "extreme" && 2*is >= was {
				t.Errorf("%s: %d tokens in place of %d", name, is, was)
			}
			if len(got.refs) > 1 {
				continue // see TestLargeResultsAreShortened
			}
			want := all[name]
			if back := s.readAll(got.refs[0]); back != want && back != mcptest.TextOf(json.RawMessage(want)) && !slices.Contains(textsOf(t, want), back) && back != strings.Join(textsOf(t, want), "\n") {
				t.Errorf("%s: %d bytes came back that are neither the result nor a text of it", name, len(back))
			}
		}
		if n := mcptest.Count(s.servers["up"].Events(), "call"); n != len(all) {
			t.Errorf("the server saw %d calls, want %d", n, len(all))
		}
		t.Logf("%d of %d results are shortened", shortened, len(all))
	})
}

func textsOf(t testing.TB, result string) (out []string) {
	for _, b := range blocksOf(t, result) {
		text, _ := wire.Unquote(wire.Member(b, "text"))
		out = append(out, text)
	}
	return out
}

// spoken counts the tokens that a host receives of a result: its texts and its
// structured content.
func spoken(count *tokens.Counter, result string) int {
	n := count.Count(string(wire.Member([]byte(result), "structuredContent")))
	blocks, _ := wire.Elements(wire.Member([]byte(result), "content"))
	for _, b := range blocks {
		if text, ok := wire.Unquote(wire.Member(b, "text")); ok {
			n += count.Count(text)
		}
		if text, ok := wire.Unquote(wire.Member(wire.Member(b, "resource"), "text")); ok {
			n += count.Count(text)
		}
	}
	return n
}

// A part of source code is worth little: it stays whole up to four times the
// threshold.
func TestSourceCodeStaysWhole(t *testing.T) {
	returns := map[string]string{
		"small": textResult(goSource(4500)), "code": textResult(goSource(20_000)), "long": textResult(goSource(60_000)),
		"diff":     textResult("diff --git a/x.go b/x.go\nindex 1..2 100644\n--- a/x.go\n+++ b/x.go\n@@ -1,9 +1,9 @@\n-" + strings.ReplaceAll(goSource(12_000), "\n", "\n+")),
		"markdown": textResult("# A guide\n\n" + strings.Repeat("## A step\n\nDo *this* with `that`:\n\n- first [link](http://x.example)\n- second\n\n```sh\nmake all\n```\n\n", 150)),
	}
	whole := map[string]bool{"small": true, "code": true, "diff": true, "markdown": true}
	eachCapturing(t, returns, func(t *testing.T, s *stage) {
		for _, name := range sortedKeys(returns) {
			n := estimate.Result(json.RawMessage(returns[name]))
			want := whole[name]
			if s.mode == "extreme" {
				want = name == "small"
			}
			m := s.run("up_"+name, "{}")
			if got := string(m.Result) == returns[name]; got != want {
				t.Errorf("%s of %d tokens: whole %v, want %v: %.300s", name, n, got, want, m.Result)
			}
		}
	})
}

// A host that was told of an output schema gets what it says.
func TestKeptOutputSchemasPassThrough(t *testing.T) {
	raw := `{"content":[],"structuredContent":{"items":` + rows(300) + `}}`
	server := mcptest.Options{Results: rawMap(map[string]string{"typed": raw, "plain": raw}), Tools: []json.RawMessage{
		json.RawMessage(`{"name":"typed","inputSchema":{"type":"object"},"outputSchema":{"type":"object","properties":{"items":{"type":"array"}}}}`), mcptest.Tool("plain"),
	}}
	for _, mode := range modes {
		for _, kept := range []bool{true, false} {
			config := "results: {mesh: true}\n"
			if kept {
				config = "results: {mesh: true, output_schema: keep}\n"
			}
			s := newStage(t, stageOptions{mode: mode, config: config, servers: map[string]mcptest.Options{"up": server}})
			if got, want := string(s.run("up_typed", "{}").Result) == raw, kept && mode == "native"; got != want {
				t.Errorf("%s, kept %v: exact %v, want %v", mode, kept, got, want)
			}
			if string(s.run("up_plain", "{}").Result) == raw {
				t.Errorf("%s, kept %v: a result without a schema is whole", mode, kept)
			}
		}
	}
}

// Extreme mode takes the trouble only where it halves a result at least.
func TestExtremeHalvesOrPasses(t *testing.T) {
	returns := map[string]string{"little": textResult(prose(260)), "more": textResult(prose(1500)), "log": textResult(logText(8000, rareLines))}
	s := newStage(t, stageOptions{mode: "extreme", servers: map[string]mcptest.Options{"up": returning(returns)}})
	for _, name := range sortedKeys(returns) {
		m := s.run("up_"+name, "{}")
		was, is := estimate.Result(json.RawMessage(returns[name])), estimate.Result(m.Result)
		t.Logf("%s: %d of %d tokens", name, is, was)
		switch exact := string(m.Result) == returns[name]; {
		case exact && is > 1000 || !exact && 2*is >= was:
			t.Errorf("%s: %d tokens in place of %d", name, is, was)
		case name == "little" && !exact:
			t.Errorf("%s of %d tokens: %s, want it whole", name, was, m.Result)
		}
	}
	if got := s.daemon.State().Captures.Count; got != 2 {
		t.Errorf("%d captures are held, want 2", got)
	}
}

// Where a result cannot be kept, it goes out as it came, and a ref to nothing is
// never shown.
func TestUnkeptResultsPassThrough(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	noise := make([]byte, 3<<20)
	for i := range noise {
		noise[i] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ+/"[r.IntN(64)]
	}
	file := t.TempDir() + "/file" // no directory can be made in it
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	q := `{"type":"text","text":"` + string(noise) + `"}`
	returns := map[string]string{"text": `{"content":[` + q + `]}`, "mixed": `{"content":[` + string(mcptest.Text(prose(4000))[len(`{"content":[`):len(mcptest.Text(prose(4000)))-2]) + `,` + pixel + `,` + q + `]}`}
	o := stageOptions{config: "results: {memory: 1MiB, mesh: true}\n", temp: file, servers: map[string]mcptest.Options{"up": returning(returns)}}
	eachMode(t, o, func(t *testing.T, s *stage) {
		for _, name := range sortedKeys(returns) {
			sameBytes(t, name, string(s.run("up_"+name, "{}").Result), returns[name])
		}
		if got := s.daemon.State().Captures; got.Count != 0 || got.Bytes != 0 {
			t.Errorf("%+v are left behind", got)
		}
		if !strings.Contains(s.log.String(), "could not be captured") {
			t.Errorf("the log does not say so:\n%s", s.log.String())
		}
	})
}

// exactly counts tokens as models do.
func exactly(t testing.TB) *tokens.Counter {
	t.Helper()
	c, err := tokens.New()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// All that a host reads of a 200 kB log costs at most 780 tokens and has every kind
// of error and warning in it.
func TestLongLog(t *testing.T) {
	text := logText(200_000, rareLines)
	count := exactly(t)
	eachCapturing(t, map[string]string{"log": textResult(text)}, func(t *testing.T, s *stage) {
		got := mcptest.TextOf(s.run("up_log", "{}").Result)
		n, most := count.Count(got), 780
		if s.mode == "extreme" {
			most = 450
		}
		t.Logf("%d of %d tokens", n, count.Count(text))
		if n > most {
			t.Errorf("%d tokens, want at most %d:\n%s", n, most, got)
		}
		for _, line := range rareLines {
			_, words, _ := strings.Cut(line, ": ")
			if words, _, _ = strings.Cut(words, "%d"); !strings.Contains(got, strings.TrimSpace(words)) {
				t.Errorf("%q is not in it:\n%s", words, got)
			}
		}
	})
}

// nested is JSON of about 600 kB that is no table, and all its paths to depth 3.
func nested() (text string, paths []string) {
	var b strings.Builder
	b.WriteByte('{')
	for i := range 6 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"region_%c":{`, 'a'+i)
		for j := range 4 {
			if j > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, `"service_%c%d":{"settings":{`, 'a'+i, j)
			paths = append(paths, fmt.Sprintf("service_%c%d", 'a'+i, j))
			for k := range 330 {
				if k > 0 {
					b.WriteByte(',')
				}
				fmt.Fprintf(&b, `"key_%d":{"value":"%x","history":[%d,%d],"note":{"by":"u%d","text":"changed to %d"}}`, k, i*1000+j*100+k, k, k+1, k%7, k*31)
			}
			fmt.Fprintf(&b, `},"limits":{"cpu":%d,"memory":%d},"only_%c%d":["x","y"]}`, j+1, 1024*j, 'a'+i, j)
			paths = append(paths, fmt.Sprintf("only_%c%d", 'a'+i, j))
		}
		b.WriteByte('}')
		paths = append(paths, fmt.Sprintf("region_%c", 'a'+i))
	}
	return b.String() + "}", append(paths, "settings", "limits")
}

// All that a host reads of 600 kB of nested JSON costs at most 1,500 tokens and
// shows its structure to depth 3.
func TestNestedJSON(t *testing.T) {
	text, paths := nested()
	if len(text) < 600_000 {
		t.Fatalf("%d bytes of JSON", len(text))
	}
	count := exactly(t)
	eachCapturing(t, map[string]string{"text": textResult(text), "form": `{"content":[],"structuredContent":` + text + `}`}, func(t *testing.T, s *stage) {
		for _, name := range []string{"text", "form"} {
			got := mcptest.TextOf(s.run("up_"+name, "{}").Result)
			n := count.Count(got)
			t.Logf("%s: %d of %d tokens", name, n, count.Count(text))
			if n > 1500 {
				t.Errorf("%s: %d tokens, want at most 1500", name, n)
			}
			for _, p := range paths {
				if s.mode != "extreme" && !strings.Contains(got, p) {
					t.Errorf("%s: %s is not in it:\n%s", name, p, got)
				}
			}
		}
	})
}
