package demo

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// measured is a number with its unit, as the text has them.
var measured = regexp.MustCompile(`[\d,.]+ (?:definitions?|bytes|tokens?|µs|ms)\b|[\d,]+ to the host|circuit \w+`)

// checkText wants that what the text says of each call is what want has, number
// for number and in order, and so for the tables.
func checkText(t *testing.T, text string, want map[string]any) {
	t.Helper()
	var got, expected []string
	for line := range strings.Lines(text) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > width {
			t.Errorf("%d columns: %s", n, line)
		}
		if strings.HasPrefix(line, "      ") && strings.Contains(line, " · ") {
			got = append(got, strings.Join(measured.FindAllString(line, -1), " "))
		}
	}
	for _, step := range want["steps"].([]any) {
		expected = append(expected, notes(step.(map[string]any)["calls"].([]any))...)
	}
	if diff := cmp.Diff(expected, got); diff != "" {
		t.Errorf("numbers in the text (-want +got):\n%s", diff)
	}
	s, l := want["savings"].(map[string]any), want["ledger"].(map[string]any)
	native, compact := want["native"].(map[string]any), want["compact"].(map[string]any)
	failed := 0.0
	for _, n := range l["kinds"].(map[string]any) {
		failed += n.(float64)
	}
	for _, line := range []string{
		fmt.Sprintf("without heddle %s tools %s bytes %s tokens", digits(native["tools"]), digits(native["bytes"]), digits(native["tokens"])),
		fmt.Sprintf("with heddle %s tools %s bytes %s tokens", digits(compact["tools"]), digits(compact["bytes"]), digits(compact["tokens"])),
		fmt.Sprintf("definitions that the host lists %s %s\n", digits(s["native_tokens"]), digits(s["surface_tokens"])),
		fmt.Sprintf("definitions that %s searches showed – %s\n", digits(s["searches"]), digits(s["definition_tokens"])),
		fmt.Sprintf("results of the servers %s %s\n", digits(s["upstream_tokens"]), digits(s["delivered_tokens"].(float64)-s["refusal_tokens"].(float64))),
		fmt.Sprintf("refusals and failures, in words – %s\n", digits(s["refusal_tokens"])),
		fmt.Sprintf("in all %s %s\n", digits(s["native_tokens"].(float64)+s["upstream_tokens"].(float64)),
			digits(s["surface_tokens"].(float64)+s["definition_tokens"].(float64)+s["delivered_tokens"].(float64))),
		fmt.Sprintf("saved %s %v %%\n", digits(s["saved_tokens"]), s["saved_percent"]),
		fmt.Sprintf("Ledger: %s calls, %v refused, failed or cancelled. heddle's own part of a good call: %s (median).\n", digits(l["calls"]), failed, clock(l["heddle_us"])),
	} {
		if !strings.Contains(regexp.MustCompile(` +`).ReplaceAllString(text, " "), line) {
			t.Errorf("the text has no line %q:\n%s", line, text)
		}
	}
}

// notes are the numbers of a step's calls, a string a line; timeouts in a row
// share one.
func notes(calls []any) (out []string) {
	var times []string
	for i, v := range calls {
		c := v.(map[string]any)
		total, used := clock(c["total_us"]), digits(c["answer_tokens"])+" tokens"
		line := used + " " + total
		switch {
		case c["kind"] == "timeout":
			times = append(times, total)
			if calls[i+1].(map[string]any)["kind"] == "timeout" {
				continue
			}
			line = strings.Join(times, " ")
		case c["kind"] == "cancelled":
			line = total
		case c["tool"] == "find_tool":
			line = "3 definitions " + line
		case c["kind"] == "":
			line = digits(c["upstream_bytes"]) + " bytes " + digits(c["delivered_bytes"]) + " to the host " + line
		}
		if circuit, ok := c["circuit"]; ok {
			line += " circuit " + circuit.(string)
		}
		out = append(out, line)
	}
	return out
}

// digits and clock write numbers as the text should.
func digits(v any) string {
	s := fmt.Sprint(int(v.(float64)))
	if len(s) > 3 {
		return s[:len(s)-3] + "," + s[len(s)-3:]
	}
	return s
}

func clock(v any) string {
	switch us := v.(float64); {
	case us < 1000:
		return fmt.Sprintf("%.0f µs", us)
	case us < 10_000:
		return fmt.Sprintf("%.1f ms", us/1000)
	default:
		return digits(float64(int(us/1000+0.5))) + " ms"
	}
}

func TestText(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", -1000: "-1,000", 1234567: "1,234,567", -123: "-123"} {
		if got := number(n); got != want {
			t.Errorf("number(%d) = %q, want %q", n, got, want)
		}
	}
	for us, want := range map[int64]string{0: "0 µs", 999: "999 µs", 1000: "1.0 ms", 9949: "9.9 ms", 10_000: "10 ms", 1_003_499: "1,003 ms"} {
		if got := duration(us); got != want {
			t.Errorf("duration(%d) = %q, want %q", us, got, want)
		}
	}
	for n, want := range map[int]string{1: "1 search", 2: "2 searches"} {
		if got := count(n, "search"); got != want {
			t.Errorf("count(%d) = %q, want %q", n, got, want)
		}
	}
	if got, want := wrap("one two three", 7), []string{"one two", "three"}; !slices.Equal(got, want) {
		t.Errorf("wrap: %q, want %q", got, want)
	}
	if got := shorten("abcdef", 3); got != "ab…" {
		t.Errorf("shorten: %q", got)
	}
	if got := NewText(nil, true).paint(red, "x"); got != "\x1b[31mx\x1b[0m" {
		t.Errorf("paint: %q", got)
	}
	var none *Text
	if err := none.step(1, &Step{}); err != nil {
		t.Error(err)
	}
}
