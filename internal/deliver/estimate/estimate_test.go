package estimate

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// TestBar is the promise: at most 15 % off for 95 % of results above 300 tokens.
func TestBar(t *testing.T) {
	c := counter(t)
	for _, set := range []string{"all", "not fitted on", "own"} {
		var errs []float64
		for i, s := range corpus(t) {
			if set == "not fitted on" && i%2 == 0 || set == "own" && !own(s.Name) {
				continue
			}
			want := exact(t, c, s.Raw)
			if want <= 300 {
				continue
			}
			off := float64(Result(s.Raw))/float64(want) - 1
			errs = append(errs, math.Abs(off))
			if math.Abs(off) > 0.1 {
				t.Logf("%s: %d tokens, estimated %d, %+.1f %%", s.Name, want, Result(s.Raw), off*100)
			}
		}
		slices.Sort(errs)
		p95 := errs[(len(errs)*95+99)/100-1]
		t.Logf("%s: %d results, median error %.1f %%, p95 %.1f %%, worst %.1f %%", set, len(errs), errs[len(errs)/2]*100, p95*100, errs[len(errs)-1]*100)
		if p95 > 0.15 {
			t.Errorf("%s: error of %.1f %% at 95 %% of results, want 15 %%", set, p95*100)
		}
	}
}

// TestParts says what counts and what does not.
func TestParts(t *testing.T) {
	text := `{"content":[{"type":"text","text":"one two three"}]}`
	base := Result([]byte(text))
	for name, c := range map[string]struct {
		raw  string
		more bool
	}{
		"image":      {`{"content":[{"type":"text","text":"one two three"},{"type":"image","mimeType":"image/png","data":"` + strings.Repeat("iVBORw0KGgo", 99) + `"}]}`, false},
		"blob":       {`{"content":[{"type":"text","text":"one two three"},{"type":"resource","resource":{"blob":"AAAAAAAAAAAAAAAA"}}]}`, false},
		"meta":       {`{"_meta":{"a":"a b c d e f g"},"content":[{"text":"one two three","type":"text","annotations":{"audience":["user"]}}],"isError":false}`, false},
		"null":       {`{"structuredContent":null,"content":[{"type":"text","text":"one two three"}]}`, false},
		"escapes":    {`{"content":[{"type":"text","text":"\u006fne\u0020two three"}]}`, false},
		"spaces":     {"{ \"content\" : [ { \"type\" : \"text\" , \"text\" : \"one two three\" } ] }", false},
		"structured": {`{"structuredContent":{"a":1},"content":[{"type":"text","text":"one two three"}]}`, true},
		"resource":   {`{"content":[{"type":"text","text":"one two three"},{"type":"resource","resource":{"text":"four \"five\" six"}}]}`, true},
		"link":       {`{"content":[{"type":"text","text":"one two three"},{"type":"resource_link","uri":"file:///a","name":"seven"}]}`, true},
	} {
		if got := Result([]byte(c.raw)); got != base && !c.more || got <= base && c.more {
			t.Errorf("%s: %d tokens, the text alone %d", name, got, base)
		}
	}
}

func TestNoAllocation(t *testing.T) {
	for _, s := range corpus(t) {
		if n := testing.AllocsPerRun(1, func() { Result(s.Raw); Below(s.Raw, 100) }); n > 0 {
			t.Errorf("%s: %v allocations", s.Name, n)
		}
	}
}

// FuzzResult has whatever comes counted without a panic and never as more than a
// token a byte.
func FuzzResult(f *testing.F) {
	for _, s := range corpus(f) {
		f.Add([]byte(s.Raw[:min(len(s.Raw), 2000)]), 100)
	}
	f.Add([]byte(`{"content":[{"text":"\ud83d\ude00\ud83d"}],"structuredContent":`), 1)
	f.Fuzz(func(t *testing.T, b []byte, limit int) {
		if n := Text(b); n < 0 || n > 2*len(b)+1 {
			t.Errorf("Text of %d bytes = %d", len(b), n)
		}
		checkBound(t, b)
		if n := Result(b); n < 0 || n > 2*len(b)+1 {
			t.Errorf("Result of %d bytes = %d", len(b), n)
		}
		if Below(b, limit) && Result(b) > limit {
			t.Errorf("Below(%d) of %d tokens", limit, Result(b))
		}
	})
}
