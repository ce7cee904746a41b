package deliver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"heddle"
	"heddle/internal/capture"
	"heddle/internal/deliver/estimate"
	"heddle/internal/deliver/project"
	"heddle/internal/wire"
)

var tool = &heddle.Tool{Ref: heddle.ToolRef{Server: "up", Name: "list_issues"}}

// rig is a deliverer, its store and its log.
type rig struct {
	*Deliverer
	store *capture.Store
	log   *bytes.Buffer
}

func newRig(t testing.TB, o Options, c capture.Options) *rig {
	t.Helper()
	c.TempDir = t.TempDir()
	r := &rig{store: capture.New(c), log: &bytes.Buffer{}}
	t.Cleanup(func() { _ = r.store.Close() })
	if o.Threshold == 0 {
		o.Threshold = 2000
	}
	o.Captures, o.Logger = r.store, slog.New(slog.NewTextHandler(r.log, nil))
	r.Deliverer = New(o)
	return r
}

func (r *rig) deliver(t testing.TB, mode, raw string) heddle.Delivery {
	t.Helper()
	return r.Deliver(t.Context(), &heddle.Call{Principal: heddle.Local, Mode: mode}, tool, heddle.Result{Raw: json.RawMessage(raw)})
}

// read is read_result.
func (r *rig) read(p heddle.Principal, in Reading) (heddle.Delivery, error) {
	return r.Read(context.Background(), &heddle.Call{Principal: p, Mode: "compact"}, in)
}

// wantExact checks that a result went out as it came and nothing is left of it.
func (r *rig) wantExact(t *testing.T, what string, d heddle.Delivery, raw string) {
	t.Helper()
	if string(d.Raw) != raw || d.Form != heddle.FormExact || d.Refs != nil {
		t.Errorf("%s: delivered as %s with %v: %.200s, want the same bytes", what, d.Form, d.Refs, d.Raw)
	}
	if s := r.store.Stats(); s.Captures != 0 || s.Raw != 0 || s.Memory != 0 || s.Disk != 0 {
		t.Errorf("%s: %+v is left behind", what, s)
	}
}

// story is a text of so many lines that are all different.
func story(lines int) string {
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, "Chapter %d tells of the %x and how it came to be %d.\n", i, i*7919, i*31%1009)
	}
	return b.String()
}

func result(blocks ...string) string { return `{"content":[` + strings.Join(blocks, ",") + `]}` }

func block(s string) string { return string(textBlock(s)) }

const picture = `{"type":"image","data":"AA==","mimeType":"image/png"}`

func TestSmallResultsAreTheSameBytes(t *testing.T) {
	r := newRig(t, Options{}, capture.Options{})
	for _, raw := range []string{`{"content":[],"structuredContent":{"n":9007199254740993,"z":1.0}}`, `{ }`, `{"isError":true}`, result(block(story(50)))} {
		in := heddle.Result{Raw: json.RawMessage(raw)}
		d := r.Deliver(t.Context(), &heddle.Call{Mode: "compact"}, tool, in)
		if &d.Raw[0] != &in.Raw[0] {
			t.Errorf("%.50s was copied", raw)
		}
		r.wantExact(t, raw, d, raw)
	}
}

// What has not the form of a result, or could be read in two ways, is the host's to
// understand.
func TestOddResultsPassThrough(t *testing.T) {
	text, q := story(400), string(wire.Quote(story(400)))
	for _, raw := range []string{
		`{"content":` + q + `}`, `{"content":{"text":` + q + `}}`, `{"x":` + q + `}`, `{"structuredContent":` + q + `}`, `[` + q + `]`, q,
		`{"content":[],"content":[` + block(text) + `]}`, `{"structuredContent":{},"structuredContent":{"a":` + q + `}}`,
		`{"content":[` + picture + `,{"type":"later","data":{"text":` + q + `}}]}`, `{"content":[{"type":"resource","resource":` + q + `}]}`,
		`{"content":[7,null,` + q + `]}`, `{"resultType":"input_required","inputRequests":{"a":` + q + `}}`,
	} {
		r := newRig(t, Options{}, capture.Options{})
		r.wantExact(t, raw[:min(60, len(raw))], r.deliver(t, "compact", raw), raw)
	}
}

// Hosts without read_result get everything, whatever its size.
func TestModesWithoutReading(t *testing.T) {
	raw := result(block(story(400)))
	for _, mode := range []string{"", "cli", "mesh"} {
		r := newRig(t, Options{}, capture.Options{})
		r.wantExact(t, mode, r.deliver(t, mode, raw), raw)
	}
	r := newRig(t, Options{Mesh: true}, capture.Options{})
	if d := r.deliver(t, "mesh", raw); d.Form != heddle.FormProjected || len(d.Refs) != 1 {
		t.Errorf("mesh with captures: %s with %v", d.Form, d.Refs)
	}
}

// failures are results that are shortened in different ways.
func failures() map[string]string { return failuresOf(700) }

// failuresOf are those with texts of so many lines.
func failuresOf(lines int) map[string]string {
	text := story(lines)
	return map[string]string{
		"text":     result(block(text)),
		"mixed":    result(block(text), picture, block(text)),
		"failure":  `{"isError":true,"content":[` + block(text) + `]}`,
		"many":     result(strings.Repeat(block(story(lines/7))+",", 12) + picture),
		"form":     `{"content":[` + picture + `],"structuredContent":{"a":` + string(wire.Quote(text)) + `,"b":[1,2,3]}}`,
		"wraps":    `{"content":[` + block(text) + `],"structuredContent":{"result":` + string(wire.Quote(text)) + `}}`,
		"two_text": result(block(text), block(text)),
	}
}

// A projection that panics, the first or a later one, costs nothing but itself.
func TestPanicPassesTheOriginalThrough(t *testing.T) {
	for name, raw := range failures() {
		for at := 1; at <= 2; at++ {
			if at == 2 && name != "mixed" {
				continue
			}
			r := newRig(t, Options{}, capture.Options{})
			n := 0
			r.project = func(in project.Input) (project.Projection, bool) {
				if n++; n == at {
					panic("S3NTINEL")
				}
				return project.Project(in)
			}
			r.wantExact(t, fmt.Sprint(name, " ", at), r.deliver(t, "native", raw), raw)
			if !strings.Contains(r.log.String(), "projecting it failed") || !strings.Contains(r.log.String(), "up::list_issues") {
				t.Errorf("%s: the log does not say so: %s", name, r.log)
			}
		}
	}
}

// A projection that does not pay leaves the original and no capture.
func TestCostGuard(t *testing.T) {
	for name, raw := range failures() {
		for _, mode := range []string{"compact", "extreme"} {
			r := newRig(t, Options{}, capture.Options{})
			r.project = func(in project.Input) (project.Projection, bool) { return project.Projection{Text: story(7000)}, true }
			r.wantExact(t, name+" in "+mode, r.deliver(t, mode, raw), raw)
			r.project = func(project.Input) (project.Projection, bool) { return project.Projection{}, false }
			r.wantExact(t, name+" in "+mode+", none", r.deliver(t, mode, raw), raw)
		}
	}
	// Extreme mode wants half.
	raw := result(block(story(100)))
	tokens := estimate.Result(json.RawMessage(raw))
	for share, want := range map[float64]heddle.Form{0.40: heddle.FormProjected, 0.55: heddle.FormExact} {
		r := newRig(t, Options{}, capture.Options{})
		short := story(100)
		for estimate.Text([]byte(short))+60 > int(share*float64(tokens)) { // what the line above it costs
			short = short[:len(short)-1]
		}
		r.project = func(project.Input) (project.Projection, bool) { return project.Projection{Text: short}, true }
		if d := r.deliver(t, "extreme", raw); d.Form != want || d.Form == heddle.FormProjected && 2*d.DeliveredTokens >= d.UpstreamTokens {
			t.Errorf("%.2f of %d tokens: %s with %d, want %s", share, tokens, d.Form, d.DeliveredTokens, want)
		}
	}
}

// A store that cannot keep, from the first text on or from a later one.
func TestPutFails(t *testing.T) {
	for name, raw := range failures() {
		r := newRig(t, Options{}, capture.Options{})
		if err := r.store.Close(); err != nil {
			t.Fatal(err)
		}
		r.wantExact(t, name, r.deliver(t, "native", raw), raw)
		if !strings.Contains(r.log.String(), "could not be captured") {
			t.Errorf("%s: the log does not say so: %s", name, r.log)
		}
	}
	r := newRig(t, Options{}, capture.Options{})
	n := 0
	r.project = func(in project.Input) (project.Projection, bool) {
		if n++; n == 2 {
			_ = r.store.Close()
		}
		return project.Project(in)
	}
	raw := failures()["mixed"]
	r.wantExact(t, "the second of two", r.deliver(t, "native", raw), raw)
}

// What is captured belongs to its principal; to another it does not exist.
func TestCapturesArePrivate(t *testing.T) {
	r := newRig(t, Options{}, capture.Options{})
	ref := r.deliver(t, "compact", result(block(story(400)))).Refs[0]
	for _, in := range []Reading{{Ref: ref}, {Ref: ref, Query: "Chapter"}} {
		if d, err := r.read(heddle.Local, in); err != nil || !strings.Contains(string(d.Raw), "Chapter") {
			t.Errorf("%+v: %s, %v", in, d.Raw, err)
		}
		_, err := r.read("somebody", in)
		_, none := r.read("somebody", Reading{Ref: "list_issues_999", Query: in.Query})
		if heddle.KindOf(err) != heddle.KindResultExpired || public(err) != public(none) {
			t.Errorf("%+v of another: %q, want what is said of none: %q", in, public(err), public(none))
		}
	}
	// To its owner too once it is gone.
	r.store.Drop(heddle.Local, ref)
	_, err := r.read(heddle.Local, Reading{Ref: ref})
	var gone *capture.Gone
	if !errors.As(err, &gone) || gone.Tool != tool.Ref {
		t.Errorf("a capture that is gone: %v", err)
	}
}

func public(err error) string {
	var e *heddle.Error
	if errors.As(err, &e) {
		return e.Public
	}
	return fmt.Sprint(err)
}

// Two blocks of a page fit what hosts show, whatever has to be escaped.
func TestPagesFit(t *testing.T) {
	for name, text := range map[string]string{
		"quotes": strings.Repeat(`"`, 50_000), "controls": strings.Repeat("\x01", 50_000), "separators": strings.Repeat("\u2028", 50_000),
		"marks": "a" + strings.Repeat("\u0301", 50_000), "backslashes": strings.Repeat(`\`, 50_000), "lines": strings.Repeat("\n", 50_000), "wide": strings.Repeat("𝕏", 50_000),
	} {
		r := newRig(t, Options{}, capture.Options{})
		c, err := r.store.Put(heddle.Local, heddle.ToolRef{Server: "s", Name: strings.Repeat("long", 40)}, capture.KindText, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		back := r.readAll(t, c.Ref)
		if back != text {
			t.Errorf("%s: %d bytes came back, want %d", name, len(back), len(text))
		}
	}
}

func TestTakeApart(t *testing.T) {
	for _, test := range []struct {
		raw                   string
		ok, failed, mixed, ws bool
		rest                  string
	}{
		{raw: result(block("x")), ok: true},
		{raw: `{"content":[{"text":"x","type":"text"}],"a":1.0,"isError":false}`, ok: true, rest: `"a":1.0,"isError":false`},
		{raw: `{"content":[{"type":"text","text":"x","_meta":{}}]}`, ok: true},
		{raw: result(block("x"), block("y")), ok: true},
		{raw: result(picture), ok: true, mixed: true},
		{raw: result(embedded("x")), ok: true, mixed: true},
		{raw: `{"content":[{"type":"text"}]}`, ok: true, mixed: true},
		{raw: `{"content":[],"structuredContent":null}`, ok: true, rest: `"structuredContent":null`},
		{raw: `{"isError":true,"content":[` + block("x") + `]}`, ok: true, failed: true, rest: `"isError":true`},
		{raw: `{"content":[` + block("x\n") + `],"structuredContent":{"result":"x\u000a"}}`, ok: true, ws: true},
		{raw: `{"content":[` + block("x") + `],"structuredContent":{"result":"y"}}`, ok: true},
		{raw: `{"content":[` + block("x") + `],"structuredContent":{"result":"x","n":1}}`, ok: true},
		{raw: `{"content":[` + block("x") + `],"structuredContent":{}}`, ok: true},
		{raw: `{"content":[` + block("1") + `],"structuredContent":{"result":1}}`, ok: true},
		{raw: `{"content":[{"type":"text","text":"\ud800"}]}`, ok: true},
		{raw: `{"content":[],"content":[]}`}, {raw: `[]`}, {raw: `{"content":{}}`},
	} {
		p, ok := takeApart(json.RawMessage(test.raw))
		if ok != test.ok {
			t.Errorf("%s: read %v, want %v", test.raw, ok, test.ok)
		}
		if !ok {
			continue
		}
		if p.failed != test.failed || p.mixed != test.mixed || p.wraps() != test.ws || string(p.rest) != test.rest {
			t.Errorf("%s: failed %v, mixed %v, wraps %v, rest %s; want %+v", test.raw, p.failed, p.mixed, p.wraps(), p.rest, test)
		}
	}
}

// What a model reads is captured as it reads it, where that is all that is said; else
// the JSON is.
func TestLeft(t *testing.T) {
	long := strings.TrimSpace(story(60))
	q := string(wire.Quote(long))
	for _, test := range []struct{ raw, text, says string }{
		{raw: result(block("x")), text: "x"},
		{raw: `{"content":[{"text":"x","type":"text"}],"a":1.0,"isError":false}`, text: "x"},
		{raw: `{"content":[{"type":"text","text":"x","_meta":{}}]}`, text: "x"}, // the rest of it stays in its place
		{raw: result(block("x"), block("y"), block("z\n")), text: "x\ny\nz\n", says: "3 text blocks, joined by line breaks"},
		{raw: result(block("x"), `{"type":"text","text":"y","_meta":{}}`)},
		{raw: result(block("x"), `{"type":"text","text":"y","text":"z"}`)},
		{raw: `{"content":[{"type":"text","text":"\ud800"}]}`},
		{raw: `{"content":[{"type":"text","text":"\ud83d\\ude00"}]}`},
		{raw: `{"content":[{"type":"text","text":"\ufffd \ud83d\ude00 \\ud800"}]}`, text: "\ufffd \U0001f600 \\ud800", says: "1 character is U+FFFD"},
		{raw: result(block("a\ufffd\ufffd")), text: "a\ufffd\ufffd", says: "2 characters are U+FFFD"},
		{raw: `{"content":[],"structuredContent":{"a":1}}`},
		{raw: `{"content":[` + block("Some.") + `],"structuredContent":{"a":` + q + `}}`},
		{raw: `{"content":[` + block(long) + `],"structuredContent":{"a":"` + "\u00e9" + `"}}`, text: long + "\n" + `{"a":"` + "\u00e9" + `"}`, says: "structuredContent follows"},
		{raw: `{"content":[` + block(long) + `],"structuredContent":{"result":` + q + `}}`, text: long, says: "structuredContent says the same"},
		{raw: `{"content":[` + block(`{ "a": [1.0, "é\n"] }`) + `],"structuredContent":{"a":[1.0,"\u00e9\u000a"]}}`, text: `{ "a": [1.0, "é\n"] }`, says: "says the same"},
		{raw: `{"content":[` + block(`[1]`) + `],"structuredContent":{"result":[1]}}`, text: `[1]`, says: "says the same"},
		{raw: `{"content":[` + block(`{"n": 1}`) + `,` + block("two") + `,` + block("3") + `],"structuredContent":{"result":[{"n":1},"two",3]}}`, text: "{\"n\": 1}\ntwo\n3", says: "3 text blocks, joined by line breaks. structuredContent says the same"},
		{raw: `{"content":[` + block("12") + `],"structuredContent":{"result":"1 2"}}`},
		{raw: `{"content":[` + block("1 2") + `],"structuredContent":{"result":12}}`},
		{raw: `{"content":[` + block("1.0") + `],"structuredContent":{"result":1}}`},
		{raw: `{"content":[` + block(`["\ud800"]`) + `],"structuredContent":{"result":["\udfff"]}}`},
		{raw: `{"content":[` + block(`{"a":1}`) + `],"structuredContent":{"a":1,"b":2}}`},
		{raw: `{"content":[` + block("two") + `],"structuredContent":{"result":["two","three"]}}`},
	} {
		p, ok := takeApart(json.RawMessage(test.raw))
		if !ok {
			t.Fatalf("%s is no result", test.raw)
		}
		s := shaper{raw: json.RawMessage(test.raw), parts: p}
		kind, want := capture.KindText, test.text
		if want == "" {
			kind, want = capture.KindJSON, test.raw
		}
		got := s.left(p.all(), p.structured != nil)
		if got.kind != kind || string(got.content) != want || !strings.Contains(got.note, test.says) || test.says == "" && got.note != "" {
			t.Errorf("%s: %s %q, %q; want %s %q, %q", test.raw, got.kind, got.content, got.note, kind, want, test.says)
		}
	}
}

// embedded is an embedded resource.
func embedded(text string) string {
	return `{"type":"resource","annotations":{"priority":1.0},"resource":{"uri":"file:///a.log","mimeType":"text/plain","text":` + string(wire.Quote(text)) + `,"x":[ 1.50 ]}}`
}

// The text of an embedded resource is shortened in its place, whatever stands beside
// it; what a host draws is not, nor is a blob.
func TestEmbeddedResources(t *testing.T) {
	text := story(700)
	r := newRig(t, Options{}, capture.Options{})
	for name, blocks := range map[string][]string{
		"alone": {embedded(text)}, "image": {picture, embedded(text)}, "texts": {block("small"), embedded(text), block(text)},
		"later": {`{"type":"future","text":` + string(wire.Quote(text)) + `,"z":1.0}`}, "failed": {embedded(text)},
	} {
		raw := result(blocks...)
		if name == "failed" {
			raw = raw[:len(raw)-1] + `,"isError":true}`
		}
		d := r.deliver(t, "native", raw)
		var got parts
		if got, _ = takeApart(d.Raw); len(got.items) != len(blocks) || len(d.Refs) == 0 {
			t.Fatalf("%s: %d blocks with %v: %.300s", name, len(got.items), d.Refs, d.Raw)
		}
		refs := d.Refs
		for i, want := range blocks {
			it := got.items[i]
			if string(it.raw) == want {
				continue
			}
			if back := r.readAll(t, refs[0]); back != text || !strings.HasPrefix(string(it.text), "["+refs[0]+": ") {
				t.Errorf("%s: block %d is %.100q, with %d bytes behind it, want %d", name, i, it.text, len(back), len(text))
			}
			if string(it.with(text)) != want {
				t.Errorf("%s: block %d is %.300s, want all but its text as it was", name, i, it.raw)
			}
			refs = refs[1:]
		}
		if len(refs) > 0 {
			t.Errorf("%s: nothing is shown of %v", name, refs)
		}
	}

	// Many large ones share a text, and stay where they are.
	many := result(slices.Repeat([]string{embedded(text)}, 9)...)
	d := r.deliver(t, "native", many)
	got, _ := takeApart(d.Raw)
	if len(d.Refs) != 1 || len(got.items) != 10 || string(got.items[8].with(text)) != embedded(text) || r.readAll(t, d.Refs[0]) != strings.Repeat(text+"\n", 8)+text {
		t.Errorf("nine resources: %d blocks with %v: %.600s", len(got.items), d.Refs, d.Raw)
	}

	for name, raw := range map[string]string{
		"drawn": result(strings.Replace(embedded(text), "file:///a.log", "ui://a", 1)),
		"blob":  result(block(text[:300]), `{"type":"resource","resource":{"uri":"file:///a","blob":"`+strings.Repeat("QUJD", 9000)+`"}}`),
		"sound": result(block(text[:300]), `{"type":"audio","data":"`+strings.Repeat("QUJD", 9000)+`","mimeType":"audio/wav"}`),
	} {
		r := newRig(t, Options{}, capture.Options{})
		r.wantExact(t, name, r.deliver(t, "native", raw), raw)
	}
}

// A picture that the host has is not captured with what it has not.
func TestPicturesAreNotCaptured(t *testing.T) {
	text := story(700)
	form := `{"a":` + string(wire.Quote(text)) + `}`
	for raw, want := range map[string]string{
		`{"content":[` + picture + `],"structuredContent":` + form + `}`:                     form,
		`{"content":[` + picture + `,` + block(text) + `],"structuredContent":` + form + `}`: text + "\n" + form,
	} {
		r := newRig(t, Options{}, capture.Options{})
		d := r.deliver(t, "native", raw)
		if len(d.Refs) != 1 || !strings.Contains(string(d.Raw), picture) || r.readAll(t, d.Refs[0]) != want {
			t.Errorf("%.80s: %v, %.300s", raw, d.Refs, d.Raw)
		}
	}
}

// readAll reads a capture to its end.
func (r *rig) readAll(t testing.TB, ref string) (all string) {
	t.Helper()
	r.pages(t, ref, func(page []byte) {
		p, _ := takeApart(page)
		all += string(p.items[1].text)
	})
	return all
}

// pages shows f every page of a capture.
func (r *rig) pages(t testing.TB, ref string, f func(page []byte)) {
	t.Helper()
	for cursor, more := "", true; more; {
		d, err := r.read(heddle.Local, Reading{Ref: ref, Cursor: cursor})
		if err != nil || len(d.Raw) > maxText || !json.Valid(d.Raw) || d.Form != heddle.FormOwn || d.DeliveredTokens == 0 {
			t.Fatalf("%s: a page of %d bytes, %+v, %v", ref, len(d.Raw), d, err)
		}
		f(d.Raw)
		p, _ := takeApart(d.Raw)
		_, cursor, more = strings.Cut(strings.TrimSuffix(string(p.items[0].text), "]"), "next_cursor ")
	}
}

// A text is exchanged, all else that a block says stays.
func TestWithText(t *testing.T) {
	for raw, want := range map[string]string{
		`{ "annotations":{"priority":1.0} , "text":"a","type":"text","x\u0020y":[ 1 ]}`:                      `{ "annotations":{"priority":1.0} , "text":"b\"","type":"text","x\u0020y":[ 1 ]}`,
		`{"type":"text","text":"a","t\u0065xt": "c"}`:                                                        `{"type":"text","text":"b\"","t\u0065xt": "b\""}`,
		`{"resource": {"text" : "a","uri":"x:"},"type":"resource","text":"title","_meta":{"text":"\u0061"}}`: `{"resource": {"text" : "b\"","uri":"x:"},"type":"resource","text":"title","_meta":{"text":"\u0061"}}`,
	} {
		it := itemOf(json.RawMessage(raw))
		if got := string(it.with(`b"`)); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// FuzzDeliver wants valid JSON that costs no more than what came, and all of it back.
func FuzzDeliver(f *testing.F) {
	for _, raw := range failuresOf(14) {
		f.Add([]byte(raw))
	}
	f.Add([]byte(result(embedded(story(14)), picture, embedded(story(14)))))
	f.Add([]byte(`{"content":[` + block(`{"n":1}`) + `,` + block(story(14)) + `],"structuredContent":{"result":[{"n":1},` + string(wire.Quote(story(14))) + `]}}`))
	f.Add([]byte(`{"content":[{"type":"text","text":"\ud800 ` + strings.Repeat("a b c ", 300) + `"}],"isError":true}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if !wire.Valid(raw) {
			return
		}
		r := newRig(t, Options{Threshold: 100}, capture.Options{})
		d := r.deliver(t, "native", string(raw))
		if strings.Contains(r.log.String(), "projecting it failed") {
			t.Fatalf("a panic: %s", r.log)
		}
		if d.Form == heddle.FormExact {
			r.wantExact(t, "fuzz", d, string(raw))
			return
		}
		if !wire.Valid(d.Raw) || d.DeliveredTokens >= d.UpstreamTokens {
			t.Fatalf("%d tokens in place of %d: %s", d.DeliveredTokens, d.UpstreamTokens, d.Raw)
		}
		for _, ref := range d.Refs {
			c, err := r.store.Get(heddle.Local, ref)
			if err != nil {
				t.Fatal(err)
			}
			if b, err := c.Bytes(); err != nil || int64(len(b)) != c.Size {
				t.Fatalf("%s: %v", ref, err)
			}
		}
	})
}
