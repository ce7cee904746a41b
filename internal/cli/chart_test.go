package cli

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"heddle"
	"heddle/internal/figures"

	"github.com/google/go-cmp/cmp"
)

func TestTable(t *testing.T) {
	small := table{head: []string{"TOOL", "CALLS"}, words: 1, bars: []int64{8, 1, 0}, barHead: "CALLS"}
	small.add("a::read", "1,000")
	small.add("längst", "1")
	small.add("b", "0")
	for width, want := range map[int]string{
		0:  "TOOL     CALLS\na::read  1,000\nlängst       1\nb            0\n",
		20: "TOOL     CALLS\na::read  1,000\nlängst       1\nb            0\n", // no room
		25: "TOOL     CALLS  CALLS\na::read  1,000  ████████\nlängst       1  █\nb            0\n",
		41: "TOOL     CALLS  CALLS\na::read  1,000  ████████████████████████\nlängst       1  ███\nb            0\n",
	} {
		var b strings.Builder
		small.write(&b, width)
		if diff := cmp.Diff(want, b.String()); diff != "" {
			t.Errorf("at %d columns (-want +got):\n%s", width, diff)
		}
		for line := range strings.Lines(b.String()) {
			if n := utf8.RuneCountInString(line); width > 0 && n > width {
				t.Errorf("at %d columns: %d in %q", width, n, line)
			}
		}
	}
}

func TestBar(t *testing.T) {
	for _, c := range []struct {
		n, most int64
		columns int
		want    string
	}{
		{0, 10, 10, ""}, {-3, 10, 10, ""}, {1, 0, 10, ""}, {10, 10, 4, "████"}, {1, 1000, 4, "▏"}, {5, 10, 5, "██▌"}, {1, 8, 1, "▏"}, {7, 8, 1, "▉"},
	} {
		if got := bar(c.n, c.most, c.columns); got != c.want {
			t.Errorf("bar(%d, %d, %d) = %q, want %q", c.n, c.most, c.columns, got, c.want)
		}
	}
}

func TestNumbers(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -1234567: "-1,234,567", 100: "100"} {
		if got := thousands(n); got != want {
			t.Errorf("thousands(%d) = %s, want %s", n, got, want)
		}
	}
	for ms, want := range map[float64]string{0: "0.00", 0.126: "0.13", 12.34: "12.3", 123.4: "123", 12345: "12,345"} {
		if got := millis(ms); got != want {
			t.Errorf("millis(%v) = %s, want %s", ms, got, want)
		}
	}
	for ms, want := range map[float64]string{3.5: "3.50 ms", 1500: "1.5 s", 61_000: "1 min 1 s", 3_720_000: "1 h 2 min"} {
		if got := lasting(ms); got != want {
			t.Errorf("lasting(%v) = %s, want %s", ms, got, want)
		}
	}
}

func TestSince(t *testing.T) {
	now := time.Date(2026, 3, 30, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"7d": "2026-03-23T12:00:00Z", "2w": "2026-03-16T12:00:00Z", "12h": "2026-03-30T00:00:00Z", "90m": "2026-03-30T10:30:00Z", "2026-01-31": "2026-01-31T00:00:00Z",
	} {
		if got, err := since(text, now); err != nil || got.Format(time.RFC3339) != want {
			t.Errorf("since(%q) = %s, %v; want %s", text, got, err, want)
		}
	}
	if got, err := since("", now); err != nil || !got.IsZero() {
		t.Errorf("since of nothing: %s, %v", got, err)
	}
	for _, text := range []string{"7", "d", "-7d", "7 d", "1.5d", "999999d", "yesterday", "2026-13-01", "7D"} {
		var use *usageError
		if _, err := since(text, now); !errors.As(err, &use) || use.hint == "" {
			t.Errorf("since(%q): %v, want a usage error with a hint", text, err)
		}
	}
}

// TestCard holds the card to its size, whatever is in it.
func TestCard(t *testing.T) {
	huge := int64(1) << 52
	for name, c := range map[string]figures.Card{
		"empty":    {Version: heddle.Version, Mode: "compact"},
		"negative": {Version: heddle.Version, Mode: "native", Calls: 1, ToolsUsed: 1, Tokens: figures.Tokens{Native: 1, Surface: 3, Saved: -2, Percent: -200}},
		"huge": {
			Version: "10.20.30-candidate+1234567", Mode: "extreme", Calls: huge, ToolsUsed: 1 << 40, Length: 1e15,
			Tokens: figures.Tokens{Native: huge, Surface: huge, Shown: huge, Upstream: huge, Delivered: huge, Read: huge, Saved: huge, Percent: 100},
			Forms: []figures.Form{
				{Form: "exact", Calls: huge, Server: 1e12, Heddle: 1e12}, {Form: "projected", Calls: huge}, {Form: "dataset", Calls: huge}, {Form: "own", Calls: huge}, {Form: "failed", Calls: huge},
			},
		},
	} {
		lines := strings.Split(strings.TrimSuffix(card(&c), "\n"), "\n")
		if len(lines) != 14 {
			t.Errorf("%s: %d lines, want 14", name, len(lines))
		}
		for _, l := range lines {
			if n := utf8.RuneCountInString(l); n != cardWidth+2 || n > 80 {
				t.Errorf("%s: %d columns: %s", name, n, l)
			}
		}
	}
}
