package upstream

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"heddle"
	"heddle/internal/mcptest"

	"github.com/google/go-cmp/cmp"
)

func TestNoiseOnStdoutIsSkippedCountedAndMasked(t *testing.T) {
	processTest(t)
	r := start(t, processConfig("noisy", mcptest.Options{
		Noise:        "\x1b[32mServer ready\x1b[0m\n[db] Connected with s3cr3t-token\nnpm notice new version\r\n\n{not json\n42\n[1,2]\n",
		NoiseBetween: "between\n",
	})).ready()
	r.echo("through")
	st := r.Status()
	want := []string{`\x1b[32mServer ready\x1b[0m`, `[db] Connected with [redacted]`, `npm notice new version`, `{not json`, `42`}
	if d := cmp.Diff(want, st.StrayFirst); d != "" {
		t.Errorf("first stray lines (-want +got):\n%s", d)
	}
	if st.Stray < 8 || st.Stray > 12 {
		t.Errorf("%d stray lines, want the 6 at the start and one before each answer", st.Stray)
	}
}

func TestSecretAtTheCutOfAStrayLineIsMasked(t *testing.T) {
	t.Parallel()
	cfg, _ := memoryConfig("noisy", mcptest.Options{Noise: strings.Repeat("x", strayLength-5) + "s3cr3t-token\n"})
	st := start(t, cfg).ready().Status()
	if len(st.StrayFirst) != 1 || strings.Contains(st.StrayFirst[0], "s3") {
		t.Errorf("stray lines %q show a part of a secret", st.StrayFirst)
	}
}

func TestFloodOnStdoutIsSurvived(t *testing.T) {
	processTest(t)
	for _, line := range []bool{false, true} {
		cfg := processConfig("flood", mcptest.Options{FloodKiB: 50 << 10, FloodLine: line})
		cfg.MaxFrame = 1 << 20
		r := start(t, cfg).ready()
		r.echo("after the flood")
		want := int64(50 << 10)
		if line {
			want = 1
		}
		if got := r.Status().Stray; got != want {
			t.Errorf("one line %v: %d stray lines, want %d", line, got, want)
		}
		r.stop()
	}
}

func TestFloodOnStderrIsDrained(t *testing.T) {
	processTest(t)
	for _, o := range []mcptest.Options{{StderrKiB: 256}, {StderrKiB: 256, StderrLine: true}, {StderrKiB: 25 << 10}, {StderrKiB: 25 << 10, StderrLine: true}} {
		r := start(t, processConfig("loud", o)).ready() // once before the handshake, once again with the call
		r.echo("heard")
		r.stop()
	}
}

func TestOversizedResultFailsItsCallAlone(t *testing.T) {
	t.Parallel()
	cfg, _ := memoryConfig("big", mcptest.Options{})
	cfg.MaxFrame = 200_000
	r := start(t, cfg).ready()
	waiting := r.async(t.Context(), "slow", `{"ms":300}`)
	for _, args := range []string{`{"bytes":200001}`, `{"bytes":3000000,"id_last":true}`, `{"bytes":3000000}`} {
		_, err := r.do(t.Context(), "big", args)
		e := refused(t, err, heddle.KindResultTooLarge, "big", "limit 200000")
		if !e.Invoked {
			t.Errorf("%s: the call is not marked as sent", args)
		}
		r.echo("still here")
	}
	for _, n := range []int{65_536, 199_900} {
		got, err := r.do(t.Context(), "big", fmt.Sprintf(`{"bytes":%d}`, n))
		if err != nil || len(mcptest.TextOf(json.RawMessage(got))) != n {
			t.Errorf("%d bytes: got %d, %v", n, len(got), err)
		}
	}
	if o := receive(t, "the call that waited", waiting); o.err != nil {
		t.Errorf("another call failed: %v", o.err)
	}
	if st := r.Status(); st.Circuit != "closed" || st.Restarts != 0 {
		t.Errorf("circuit %s, %d restarts", st.Circuit, st.Restarts)
	}
}

func TestInvalidUTF8IsReplacedAndCounted(t *testing.T) {
	t.Parallel()
	cfg, _ := memoryConfig("cp949", mcptest.Options{Results: map[string]json.RawMessage{"surrogate": json.RawMessage(`{"content":[{"type":"text","text":"\ud800 \u0000"}]}`)}})
	r := start(t, cfg).ready()
	got, err := r.do(t.Context(), "bad_utf8", `{}`)
	if want := "{\"content\":[{\"type\":\"text\",\"text\":\"\uFFFD\uFFFD \uFFFD\"}]}"; err != nil || got != want {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
	if n := r.Status().BadBytes; n != 3 {
		t.Errorf("BadBytes = %d, want 3", n)
	}
	if got, err := r.do(t.Context(), "surrogate", `{}`); err != nil || !strings.Contains(got, `\ud800 \u0000`) {
		t.Errorf("an escaped surrogate: got %q, %v; want it untouched", got, err)
	}
}

func TestResultsArriveByteForByte(t *testing.T) {
	t.Parallel()
	exact := json.RawMessage(`{ "z":1.0, "content":[ {"type":"text","text":"\u20ac","x":9007199254740993} ], "a":{"b":1e400}, "z":2 }`)
	failed := json.RawMessage(`{"code":-32050,"message":"no","data":{"n":9007199254740993, "z":1}}`)
	cfg, _ := memoryConfig("exact", mcptest.Options{
		Results: map[string]json.RawMessage{"exact": exact}, Errors: map[string]json.RawMessage{"broken": failed}, WrongIDs: true, CRLF: true, Chunk: 7,
	})
	r := start(t, cfg).ready()
	if got, err := r.do(t.Context(), "exact", `{}`); err != nil || got != string(exact) {
		t.Errorf("got %s, %v; want %s", got, err, exact)
	}
	_, err := r.do(t.Context(), "broken", `{}`)
	if e, ok := err.(*heddle.RPCError); !ok || string(e.Raw) != string(failed) {
		t.Errorf("got error %v, want %s", err, failed)
	}
	if n := r.Status().Late; n == 0 {
		t.Error("answers to requests that were never sent are not counted")
	}
}

func TestMultiByteTextSplitAcrossWrites(t *testing.T) {
	processTest(t)
	r := start(t, processConfig("chunks", mcptest.Options{Chunk: 4093})).ready()
	r.echo(strings.Repeat("€", 70_000))
}

func TestArgumentsAndMetaGoUpByteForByte(t *testing.T) {
	t.Parallel()
	cfg, mem := memoryConfig("args", mcptest.Options{})
	r := start(t, cfg).ready()
	for _, c := range []struct{ args, meta, extra, wantArgs, wantMeta string }{
		{``, ``, ``, `{}`, `{"progressToken":"h*"}`},
		{`{ "n":9007199254740993, "f":1.0, "k":{"b":1,"a":2} }`, `{"trace":"x","n":1.0}`, ``, `{ "n":9007199254740993, "f":1.0, "k":{"b":1,"a":2} }`, `{"trace":"x","n":1.0}`},
		{`{"a":1}`, `{ "a":1, "progressToken":7 , "b":2}`, ``, `{"a":1}`, `{"a":1,"progressToken":"h*","b":2}`},
		{`{}`, `{}`, `,"task":{"ttl": 5}`, `{}`, `{}`},
	} {
		call := &heddle.Call{}
		if c.args != "" {
			call.Arguments = json.RawMessage(c.args)
		}
		if c.meta != "" {
			call.Meta = json.RawMessage(c.meta)
		}
		if c.extra != "" {
			call.Extra = json.RawMessage(c.extra)
		}
		got, err := r.with(t.Context(), "args", call)
		if err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		id := `"h` + strings.Trim(lastCall(t, mem.last()).ID, `"h`) + `"`
		want := fmt.Sprintf(`{"arguments":%s,"_meta":%s}`, c.wantArgs, strings.ReplaceAll(c.wantMeta, `"h*"`, id))
		if text := mcptest.TextOf(json.RawMessage(got)); text != want {
			t.Errorf("the server received\n%s\nwant\n%s", text, want)
		}
		if params := string(lastCall(t, mem.last()).Params); c.extra != "" && !strings.Contains(params, c.extra) {
			t.Errorf("params %s lack %s", params, c.extra)
		}
	}
}

func lastCall(t testing.TB, s *mcptest.Server) mcptest.Event {
	t.Helper()
	all := s.WaitEvents(t, "call", 1)
	return all[len(all)-1]
}

func TestServersAreRefusedWhatHeddleCannotAskAtOnce(t *testing.T) {
	t.Parallel()
	cfg, _ := memoryConfig("asking", mcptest.Options{})
	r := start(t, cfg).ready()
	for _, method := range []string{"sampling/createMessage", "elicitation/create", "roots/list", "made/up"} {
		began := time.Now()
		got, err := r.do(t.Context(), "ask", `{"method":"`+method+`","params":{}}`)
		if text := mcptest.TextOf(json.RawMessage(got)); err != nil || !strings.Contains(text, `"code":-32601`) || !strings.HasPrefix(text, `{"jsonrpc":"2.0","id":"ask-`) {
			t.Errorf("%s: the server got %s, %v", method, text, err)
		}
		if d := time.Since(began); d > 5*time.Second {
			t.Errorf("%s: the answer took %s", method, d)
		}
	}
	if got, err := r.do(t.Context(), "ask", `{"method":"ping"}`); err != nil || !strings.Contains(mcptest.TextOf(json.RawMessage(got)), `"result":{}`) {
		t.Errorf("ping: the server got %s, %v", got, err)
	}
}

func TestTailKeepsTheLastLinesOnly(t *testing.T) {
	for _, c := range []struct {
		name   string
		writes []string
		want   []string
	}{
		{"nothing", nil, nil},
		{"few", []string{"a\nb\n"}, []string{"a", "b"}},
		{"five of many", []string{"1\n2\n3\n", "4\n5\r\n6\n\n7"}, []string{"3", "4", "5", "6", "7"}},
		{"carriage returns", []string{"10%\r20%\r30%"}, []string{"10%", "20%", "30%"}},
		{"escapes", []string{"\x1b[31mred\x1b[0m\n"}, []string{`\x1b[31mred\x1b[0m`}},
		{"masked", []string{"token s3cr3t-", "token!\n"}, []string{"token [redacted]!"}},
		{"cut inside a line", []string{strings.Repeat("s3cr3t-token ", 400) + "\nlast\n"}, []string{"last"}},
		{"invalid UTF-8", []string{"a\xff\n"}, []string{"a\uFFFD"}},
	} {
		var tl tail
		for _, w := range c.writes {
			_, _ = tl.Write([]byte(w))
		}
		got := tl.lines(5, Masker([]string{"s3cr3t-token"}))
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
		if len(tl.buf) > tailSize {
			t.Errorf("%s: keeps %d bytes", c.name, len(tl.buf))
		}
	}
}

func TestTailShowsNoPartOfASecretThatItCut(t *testing.T) {
	secret := strings.Repeat("k", 300)
	for cut := range 300 {
		var tl tail
		_, _ = tl.Write([]byte(secret + strings.Repeat(".", tailSize-cut)))
		for _, line := range tl.lines(5, Masker([]string{secret})) {
			if strings.Contains(line, "k") {
				t.Fatalf("cut at %d: the tail shows a part of a secret: %.60s", cut, line)
			}
		}
	}
}
