package gateway

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"heddle"
	"heddle/internal/catalog"
	"heddle/internal/mcptest"
	"heddle/internal/policy"
)

func TestFindRefusals(t *testing.T) {
	g := newRig(t, mcptest.Options{}, policy.Config{})
	g.Booted(t.Context())
	for query, says := range map[string]string{
		"":                            "Query is empty",
		"  \t":                        "Query is empty",
		strings.Repeat("查", 257):      "257 characters, the limit is 256",
		strings.Repeat("x", 1<<20):    "the limit is 256",
		strings.Repeat("\u0301", 300): "300 characters",
	} {
		_, err := g.Find(heddle.Local, query, "", never)
		var e *heddle.Error
		if !errors.As(err, &e) || e.Kind != heddle.KindInvalidQuery || !strings.Contains(e.Public, says) {
			t.Errorf("%.20q: %v, want %q", query, err, says)
		}
	}
	if _, err := g.Find(heddle.Local, strings.Repeat("查", 256), "", never); err != nil {
		t.Errorf("256 code points: %v", err)
	}
	if _, err := g.Find(heddle.Local, "echo", "nobody", never); heddle.KindOf(err) != heddle.KindInvalidQuery {
		t.Errorf("unknown server: %v", err)
	}
}

// fit gives up on long enums first, then on the schema, then on the end of the
// description; the line is always JSON and within its room.
func TestFit(t *testing.T) {
	values := make([]string, 5000)
	for i := range values {
		values[i] = fmt.Sprintf("region-%05d", i)
	}
	enum, _ := json.Marshal(values)
	deep := strings.Repeat(`{"properties":{"a":`, 100) + `{"enum":` + string(enum) + `}` + strings.Repeat(`}}`, 100)
	schemas := map[string]string{
		"small": `{"type":"object","properties":{"n":{"const":9007199254740993}}}`,
		"enum":  `{"type":"object","properties":{"region":{"enum":` + string(enum) + `}}}`,
		"deep":  deep,
		"large": `{"type":"object","description":"` + strings.Repeat("x", 20000) + `"}`,
		"names": `{"type":"object","properties":{"` + strings.Repeat("é", 20000) + `":{}}}`,
	}
	for name, schema := range schemas {
		for _, description := range []string{"Short.", strings.Repeat("Långt <&> ", 7000), strings.Repeat("\x01", 7000), strings.Repeat("\u2028", 7000)} {
			for _, room := range []int{1000, 4000, maxAnswer} {
				line := fit(&heddle.Tool{Exposed: "t", Description: description, Listed: json.RawMessage(schema)}, room, nil)
				if len(line) > room || !json.Valid([]byte(line)) || strings.Contains(line, "\n") || !utf8.ValidString(line) {
					t.Errorf("%s, description of %d, room %d: %d bytes: %.200s", name, len(description), room, len(line), line)
				}
			}
		}
	}
	if got, want := fit(&heddle.Tool{Exposed: "t", Description: "<d>", Listed: json.RawMessage(schemas["small"])}, 1000, nil), `{"name":"t","description":"<d>","inputSchema":`+schemas["small"]+`}`; got != want {
		t.Errorf("a tool that fits: %s, want %s", got, want)
	}
	got := fit(&heddle.Tool{Exposed: "t", Listed: json.RawMessage(schemas["enum"])}, maxAnswer, kept)
	if !strings.HasSuffix(got, `"result_ref":"`+kept(nil)+`"}`) {
		t.Errorf("a long enum does not say where all of it is: …%s", got[len(got)-300:])
	}
	if !strings.Contains(got, `"5000 values in all, the first 10 are shown"`) || !strings.Contains(got, `"region-00009"]`) || strings.Contains(got, "region-00010") {
		t.Errorf("a long enum: %.400s", got)
	}
}

// An answer stays in its bounds, however the matches before the last fill it.
func TestMatchTextIsBounded(t *testing.T) {
	match := func(name string, schema int, description string) catalog.Match {
		return catalog.Match{Tool: &heddle.Tool{
			Exposed: name + strings.Repeat("n", 120), Description: description,
			Listed: fmt.Appendf(nil, `{"type":"object","description":%q}`, strings.Repeat("y", schema)),
		}}
	}
	for first := 8500; first < 10500; first += 50 {
		for _, second := range []int{0, 100, 500, 1000, 5000} {
			answer := matchText([]catalog.Match{match("a", first, ""), match("b", second, strings.Repeat("\x02", 900)), match("c", 5000, strings.Repeat("report ", 200))}, "", kept)
			if len(answer) > maxAnswer || strings.Count(answer, `"name":"`) != 3 {
				t.Fatalf("schemas of %d and %d bytes: an answer of %d bytes", first, second, len(answer))
			}
		}
	}
}

// kept is where every definition can be captured.
func kept(*heddle.Tool) string { return strings.Repeat("n", 48) + "_definition_123456789" }

// never is a session that has been told of every server.
func never(string) bool { return false }
