package limit

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	type object = map[string]any
	const m, h = time.Minute, time.Hour
	for _, c := range []struct {
		in   any
		want Rate
		text string
	}{
		{"60/min", Rate{60, m, 0}, "60/min"},
		{" 10 / S ", Rate{10, time.Second, 0}, "10/s"},
		{"5/hour", Rate{5, h, 0}, "5/hour"},
		{"100/day", Rate{100, 24 * h, 0}, "100/day"},
		{"20 per minute", Rate{20, m, 0}, "20/min"},
		{"20/5m", Rate{20, 5 * m, 0}, "20/5m"},
		{"20/5min", Rate{20, 5 * m, 0}, "20/5m"},
		{"7/90s", Rate{7, 90 * time.Second, 0}, "7/1m30s"},
		{"7/2h", Rate{7, 2 * h, 0}, "7/2h"},
		{"7/7d", Rate{7, 7 * 24 * h, 0}, "7/168h"},
		{"60", Rate{60, m, 0}, "60/min"},
		{60, Rate{60, m, 0}, "60/min"},
		{int64(60), Rate{60, m, 0}, "60/min"},
		{uint64(60), Rate{60, m, 0}, "60/min"},
		{60.0, Rate{60, m, 0}, "60/min"},
		{json.Number("60"), Rate{60, m, 0}, "60/min"},
		{object{"requests": 60, "per": "1m", "burst": 10}, Rate{60, m, 10}, "60/min, burst 10"},
		{object{"limit": "60", "window": "min"}, Rate{60, m, 0}, "60/min"},
		{object{"limit": 60.0}, Rate{60, m, 0}, "60/min"},
		{object{"rate": "60/hour", "burst": uint64(90)}, Rate{60, h, 90}, "60/hour, burst 90"},
		{"none", Rate{}, "none"},
		{"OFF", Rate{}, "none"},
		{false, Rate{}, "none"},
		{object{"rate": "none"}, Rate{}, "none"},
	} {
		got, limited, err := Parse(c.in)
		if err != nil || got != c.want || limited != (c.want.N > 0) {
			t.Errorf("Parse(%#v) = %+v, %v, %v; want %+v", c.in, got, limited, err, c.want)
		}
		if got.String() != c.text {
			t.Errorf("Parse(%#v) is written %q, want %q", c.in, got, c.text)
		}
	}
}

func TestParseErrors(t *testing.T) {
	type object = map[string]any
	for _, c := range []struct {
		in   any
		want string // in the error
	}{
		{"", "empty"},
		{nil, "empty"},
		{true, "true is not a rate"},
		{"fast", "not a whole number"},
		{"60/fortnight", "s, min, hour or day"},
		{"60/", "s, min, hour or day"},
		{"/min", "not a whole number"},
		{"0/min", "none for no limit"},
		{0, "none for no limit"},
		{"-5/min", "less than no calls"},
		{"1e9/min", "not a whole number"},
		{"99999999999999999999/min", "not a whole number"},
		{10_000_000, "more than 1000000"},
		{0.5, "30/hour"},
		{math.NaN(), "not a whole number"},
		{math.Inf(1), "not a whole number"},
		{"5/0s", "between 1ms and 366d"},
		{"5/-1m", "between 1ms and 366d"},
		{"5/1us", "between 1ms and 366d"},
		{"5/999d", "between 1ms and 366d"},
		{"5/99999999d", "s, min, hour or day"},
		{[]any{60}, "is not a rate"},
		{object{}, "requests is missing"},
		{object{"per": "1m"}, "requests is missing"},
		{object{"requests": 60, "limit": 60}, "twice"},
		{object{"requests": 60, "every": "1m"}, `"every" is not a part`},
		{object{"requests": 60, "per": 60}, "with its unit"},
		{object{"requests": 60, "burst": 0}, "burst: "},
		{object{"rate": "60/min", "per": "1m"}, "leave requests and per out"},
		{object{"rate": object{"rate": 5}}, "rate: write"},
	} {
		got, limited, err := Parse(c.in)
		if err == nil || limited || got != (Rate{}) {
			t.Errorf("Parse(%#v) = %v, %v, %v; want an error", c.in, got, limited, err)
		} else if !strings.Contains(err.Error(), c.want) {
			t.Errorf("Parse(%#v): %q does not say %q", c.in, err, c.want)
		}
	}
}

// FuzzParse wants that whatever is read as a rate is within bounds and can be written
// and read again.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"60/min", "10/s", "1 per 5m", "none", "0/x", "1/1m1s", "9/1.5h", "1/0.001s"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, limited, err := Parse(s)
		if err != nil || !limited {
			return
		}
		if r.N < 1 || r.N > maxN || r.Per < minPer || r.Per > maxPer {
			t.Fatalf("Parse(%q) = %+v is out of bounds", s, r)
		}
		again, _, err := Parse(r.String())
		if err != nil || again != r {
			t.Errorf("Parse(%q) = %+v, is written %q, which is %+v, %v", s, r, r, again, err)
		}
	})
}
