package lock

import "fmt"

// changes shows two texts from shortly before the first difference to shortly after
// the last.
func changes(a, b string) (before, after string) {
	old, now := runes(a), runes(b)
	start := 0
	for start < len(old) && start < len(now) && old[start] == now[start] {
		start++
	}
	end := 0 // from the end
	for end < len(old)-start && end < len(now)-start && old[len(old)-1-end] == now[len(now)-1-end] {
		end++
	}
	from, rest := max(start-around, 0), max(end-around, 0)
	return excerpt(old, from, len(old)-rest), excerpt(now, from, len(now)-rest)
}

// shorten shows a text that is all new or all gone.
func shorten(s string) string {
	r := runes(s)
	return excerpt(r, 0, len(r))
}

// excerpt shows part of a text. Dots outside of the quotes stand for what is not
// shown: inside they would be the text's own.
func excerpt(r []rune, from, to int) string {
	lead, tail := "", ""
	if from > 0 {
		lead = "…"
	}
	if to < len(r) {
		tail = "…"
	}
	part := r[from:to]
	if len(part) <= maxText {
		return lead + show(part) + tail
	}
	head, foot := part[:maxText*3/4], part[len(part)-maxText/4:]
	return fmt.Sprintf("%s%s … %d characters … %s%s", lead, show(head), len(part)-len(head)-len(foot), show(foot), tail)
}

// runes are the characters of a text, halves of surrogate pairs among them.
func runes(s string) []rune {
	out := make([]rune, 0, len(s))
	for len(s) > 0 {
		r, n := decode(s)
		out = append(out, r)
		s = s[n:]
	}
	return out
}

// clip bounds what is shown of a name or number, by bytes of ASCII or of an escaped
// text.
func clip(s string, limit int) string {
	for i := range s {
		if i >= limit {
			return s[:i] + "…"
		}
	}
	return s
}
