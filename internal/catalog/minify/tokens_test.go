package minify

import (
	"slices"
	"testing"

	"heddle/internal/policy/schema"
	"heddle/internal/tokens"
)

// What is saved, in tokens of o200k_base. Compared is what a host would hand to
// its model, {name, description, inputSchema} as the server listed them in JSON
// without white space and without outputSchema, with the minified definition,
// annotations included, and with the signature under the tool's own name.
// docs/minify.md has the figures.
func TestTokensSaved(t *testing.T) {
	if raced {
		t.Skip("counts a million tokens: not with -race")
	}
	count, err := tokens.New()
	if err != nil {
		t.Fatal(err)
	}
	var all, minified, signature int
	var servers, signed []float64
	for _, s := range catalogs(t) {
		var a, m, g int
		for _, raw := range s.Tools {
			tool := toolOf(t, raw)
			a += count.Count(string(listed(t, raw)))
			m += count.Count(string(Definition(raw)))
			g += count.Count(schema.Signature(tool.Ref.Name, tool))
		}
		all, minified, signature = all+a, minified+m, signature+g
		servers, signed = append(servers, saved(m, a)), append(signed, saved(g, a))
	}
	slices.Sort(servers)
	slices.Sort(signed)
	t.Logf("minified: %.1f%% of %d tokens, median server %.1f%%", 100*saved(minified, all), all, 100*servers[len(servers)/2])
	t.Logf("signatures: %.1f%%, median server %.1f%%", 100*saved(signature, all), 100*signed[len(signed)/2])
	if saved(minified, all) < .45 || servers[len(servers)/2] < .30 {
		t.Errorf("minified definitions save %.1f%%, the median server %.1f%%; want 45%% and 30%%", 100*saved(minified, all), 100*servers[len(servers)/2])
	}
	if saved(signature, all) < .60 {
		t.Errorf("signatures save %.1f%%, want 60%%", 100*saved(signature, all))
	}
}

func saved(now, before int) float64 { return 1 - float64(now)/float64(before) }
