package inject

import "heddle/internal/policy/inject/normal"

// hidden judges the invisible characters of a text by themselves. Results are full of
// what programs and web pages leave behind; a description has no business with any.
func hidden(ch Channel, spans []normal.Span) []Finding {
	const (
		certain = 100
		likely  = 60
	)
	var out []Finding
	seen := map[normal.Kind]bool{}
	for _, s := range spans {
		score := 0
		switch s.Kind {
		case normal.Tags:
			score = certain
		case normal.Selectors, normal.Bidi, normal.ZeroWidth:
			score = likely
		case normal.ANSI, normal.Control:
			if ch != Result {
				score = likely
			}
		}
		if score > 0 && !seen[s.Kind] {
			seen[s.Kind] = true
			out = append(out, Finding{hiddenRule, s.Start, s.End, score})
		}
	}
	return out
}
