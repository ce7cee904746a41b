package search

import "strings"

// plain returns the query with every path and address in it put as what it is:
// "write it to /tmp/papers/list.md" asks for a tool for files, not for papers.
func plain(query string) string {
	if !strings.Contains(query, "/") {
		return query
	}
	words := strings.Fields(query)
	for i, w := range words {
		if kind := literal(strings.Trim(w, "\"'`()[]{}<>,;:")); kind != "" {
			words[i] = kind
		}
	}
	return strings.Join(words, " ")
}

// literal says what a path or an address is; "" for anything else, such as words
// apart by a stroke.
func literal(w string) string {
	switch {
	case strings.Contains(w, "://"):
		return "url"
	case strings.HasPrefix(w, "/") && strings.Count(w, "/") > 1,
		strings.HasPrefix(w, "~/"), strings.HasPrefix(w, "./"), strings.HasPrefix(w, "../"):
		return "file"
	}
	return ""
}
