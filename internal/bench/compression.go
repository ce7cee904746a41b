package bench

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"heddle/internal/inproc"
	"heddle/internal/wire"
)

//go:embed testdata/results.jsonl.gz
var resultsGZ []byte

// Result is one real result and what became of it.
type Result struct {
	Name string `json:"name"`
	What string `json:"what"`
	// Kind is what the delivery says that the result is; "" where it passed as it is.
	Kind string `json:"kind"`
	// Raw and Delivery are tokens of the server's result and of the first delivery.
	Raw      int     `json:"raw_tokens"`
	Delivery int     `json:"delivery_tokens"`
	Saved    float64 `json:"saved_percent"`
	recovery
}

// recovery is a captured result, read back page by page.
type recovery struct {
	// Captured are the tokens of the bytes that were captured: of the text of a result
	// that is one text, else of the result's JSON. Paged are those of all pages, the
	// lines about position included.
	Captured int     `json:"captured_tokens"`
	Paged    int     `json:"paged_tokens"`
	Ratio    float64 `json:"paged_ratio"`
	Pages    int     `json:"pages"`
	// Equal says that the pages together are what the server wrote, byte for byte; of
	// a result that passed, that it did so.
	Equal bool `json:"equal"`
}

// CompressionReport is what `heddle bench compression` measured.
type CompressionReport struct {
	Mode    string    `json:"mode"`
	Results []*Result `json:"results"`
	// Raw, Delivery and Saved are those of all together, Equal how many came back byte
	// for byte, Ratio the largest of those that were paged.
	Raw      int     `json:"raw_tokens"`
	Delivery int     `json:"delivery_tokens"`
	Saved    float64 `json:"saved_percent"`
	Equal    int     `json:"equal"`
	Ratio    float64 `json:"paged_ratio"`
}

// recorded is a result as a server wrote it.
type recorded struct {
	Name string          `json:"name"`
	What string          `json:"what"`
	Raw  json.RawMessage `json:"raw"`
}

// recordings are the results of testdata, in their order.
func recordings() ([]recorded, error) {
	z, err := gzip.NewReader(bytes.NewReader(resultsGZ))
	if err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 8<<20)
	var out []recorded
	for lines.Scan() {
		var r recorded
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, lines.Err()
}

// replayServer has one tool, which answers with a recorded result.
func replayServer(list []recorded) *inproc.Server {
	return &inproc.Server{
		Name: "replay", Instructions: "Recorded results.",
		Definitions: encode([]object{{
			"name": "replay", "description": "Return a recorded result by its name.",
			"inputSchema": object{"type": "object", "properties": object{"name": object{"type": "string"}}, "required": []string{"name"}},
		}}),
		Run: func(_ context.Context, c *inproc.Call) json.RawMessage {
			name, _ := wire.Unquote(wire.Member(c.Arguments, "name"))
			for _, r := range list {
				if r.Name == name {
					return r.Raw
				}
			}
			return nil
		},
	}
}

func runCompression(ctx context.Context, o *Options, m meter) (_ *CompressionReport, err error) {
	list, err := recordings()
	if err != nil {
		return nil, err
	}
	s, err := newStage(replayServer(list), o.Logger)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	r := &CompressionReport{Mode: o.oneMode()}
	err = s.in(ctx, r.Mode, func(ctx context.Context, c *client) error {
		tool := "replay"
		if c.finds() {
			if _, tool, err = c.find(ctx, "replay a recorded result", "replay"); err != nil {
				return err
			}
		}
		for _, rec := range list {
			one, err := rec.measure(ctx, c, m, tool)
			if err != nil {
				return fmt.Errorf("%s: %w", rec.Name, err)
			}
			r.add(one)
		}
		return nil
	})
	return r, err
}

func (r *CompressionReport) add(one *Result) {
	r.Results = append(r.Results, one)
	r.Raw += one.Raw
	r.Delivery += one.Delivery
	r.Saved = saved(r.Raw, r.Delivery)
	r.Ratio = max(r.Ratio, one.Ratio)
	if one.Equal {
		r.Equal++
	}
}

// measure calls for one result and reads it back.
func (rec *recorded) measure(ctx context.Context, c *client, m meter, tool string) (*Result, error) {
	raw, err := parseAnswer(rec.Raw)
	if err != nil {
		return nil, err
	}
	got, err := c.call(ctx, tool, string(encode(object{"name": rec.Name})))
	if err != nil {
		return nil, err
	}
	one := &Result{Name: rec.Name, What: rec.What, Raw: m.of(raw), Delivery: m.of(got)}
	one.Saved = saved(one.Raw, one.Delivery)
	refs := got.refs()
	if len(refs) == 0 {
		one.Equal = bytes.Equal(got.raw, rec.Raw)
		return one, nil
	}
	one.Kind, one.Equal = got.kind(), true
	for _, ref := range refs {
		pages, err := c.pages(ctx, ref)
		if err != nil {
			return nil, err
		}
		one.count(m, pages, raw)
	}
	return one, nil
}

// count adds the pages of a capture of what raw was.
func (r *recovery) count(m meter, pages []*answer, raw *answer) {
	text := exact(pages)
	r.Equal = r.Equal && raw.wrote(text)
	r.Captured += m.text(text)
	r.Pages += len(pages)
	for _, p := range pages {
		r.Paged += m.of(p)
	}
	r.Ratio = ratio(r.Paged, r.Captured)
}

// wrote reports whether a text is all of one block of the server's, or of its
// result.
func (a *answer) wrote(text string) bool {
	for _, t := range a.texts {
		if t == text {
			return true
		}
	}
	return text == string(a.raw) || len(a.texts) > 1 && text == strings.Join(a.texts, "\n")
}

// projected is the line with which a projection says what it took the result for.
var projected = regexp.MustCompile(`(?m)^(JSON|CSV|TSV|log|Markdown|source code|diff|error|text)\b.*$`)

// kind is what a delivery says that its result is.
func (a *answer) kind() string {
	for _, t := range a.texts {
		_, text, _ := strings.Cut(t, "]\n\n") // behind the line about the capture
		m := projected.FindStringSubmatch(text)
		switch {
		case m == nil:
		case m[1] == "JSON" && strings.Contains(m[0], "records"):
			return "JSON records"
		case m[1] == "JSON":
			return "JSON outline"
		default:
			return m[1]
		}
	}
	return ""
}

// ratio is a / b, with three digits, never rounded down.
func ratio(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return float64((a*1000+b-1)/b) / 1000
}
